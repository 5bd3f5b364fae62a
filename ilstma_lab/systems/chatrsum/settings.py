"""The parameters of ChatRsum."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ilstma_lab.errors import InputError
from ilstma_lab.memory.segments import SegmentLimits


@dataclass(frozen=True, kw_only=True)
class ChatRsumSettings:
    """When a session ends, and how long the memory may be.

    `session`: it ends with its "day", or after so many "turns". `session_turns`: how many turns a session has; one that ends with
    its day has at most so many, and a longer day makes several. `sentences`: the most that the memory holds, one a line;
    `memory_tokens`: what is longer is cut, with a mark.

    Source: Recursively Summarizing (arXiv 2308.15022): at most 20 sentences; it names no length of a session.
    """

    session: Literal["day", "turns"] = "day"
    session_turns: int = 20
    sentences: int = 20
    memory_tokens: int = 1500
    short_term: SegmentLimits = field(default_factory=lambda: SegmentLimits(history_turns=20))

    def __post_init__(self) -> None:
        if self.session not in ("day", "turns"):
            raise InputError(f"session must be day or turns (got {self.session!r})")
        if min(self.session_turns, self.sentences) < 1:
            raise InputError(f"need session_turns and sentences >= 1 (got {self.session_turns}, {self.sentences})")
        if not 20 <= self.memory_tokens < self.short_term.token_budget:
            raise InputError(
                f"memory_tokens must be >= 20 and leave room for the session in a token budget of {self.short_term.token_budget} "
                f"(got {self.memory_tokens})"
            )
