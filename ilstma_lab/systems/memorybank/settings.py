"""What one may choose of MemoryBank: the paper's form by default, its public code's as switches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ilstma_lab.errors import InputError
from ilstma_lab.memory.segments import SegmentLimits
from ilstma_lab.systems.memorybank.forgetting import Forgetting


@dataclass(frozen=True, kw_only=True)
class MemoryBankSettings:
    """How pieces are found, what stands in the prompt, and whether pieces are forgotten (None: not, as in its public code).

    `top`: how many pieces are recalled. `context_turns`: what the user said in so many of the last turns is searched with the
    question; 0 takes its text alone. `widen_characters`: a recalled row is joined by rows beside it of the same day while they
    have no more characters together, and all is put in the order of time; 0 joins none. `date_header`: rows are encoded with
    their date in front. `events`: the global event summary stands in the prompt. `echoes`: an asked row whose cited rows are
    still there repeats what they hold; "behind" never recalls it, as in ILSTMA's ranking, "as_rows" treats it like any other row.
    `memory`: False answers from the last turns alone, for comparison, and writes nothing of days; what is said is kept all the
    same.

    Paper note: section 2.2 searches with the "current context of conversation", which is no number of turns, section 3 with "the
    user's conversation", its code with the user's text. For questions that have nothing to do with one another, as in its own
    evaluation, the text alone finds far more; a companion is asked on. The paper's prompt holds the global events, its code's
    does not. Widening to 200 characters and the date in front of an encoded row are the code's alone: `of_code` has them all.
    """

    short_term: SegmentLimits = field(default_factory=SegmentLimits)
    top: int = 2
    context_turns: int = 1
    widen_characters: int = 0
    date_header: bool = False
    events: bool = True
    echoes: Literal["behind", "as_rows"] = "behind"
    forgetting: Forgetting | None = None
    memory: bool = True

    def __post_init__(self) -> None:
        if self.top < 1 or self.context_turns < 0 or self.widen_characters < 0:
            raise InputError(
                "need top >= 1, context_turns >= 0 and widen_characters >= 0 "
                f"(got {self.top}, {self.context_turns}, {self.widen_characters})"
            )
        if self.echoes not in ("behind", "as_rows"):
            raise InputError(f"echoes must be 'behind' or 'as_rows' (got {self.echoes!r})")

    @classmethod
    def of_code(cls, *, forgetting: Forgetting | None = None) -> MemoryBankSettings:
        """Return what the public code does where it differs from the paper."""
        return cls(context_turns=0, widen_characters=200, date_header=True, events=False, echoes="as_rows", forgetting=forgetting)
