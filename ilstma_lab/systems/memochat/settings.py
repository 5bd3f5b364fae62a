"""What one may choose of MemoChat: the paper's form by default, others' as switches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ilstma_lab.errors import InputError
from ilstma_lab.memory.segments import SegmentLimits

_LEAST_OPTION_TOKENS = 200


@dataclass(frozen=True, kw_only=True)
class MemoChatSettings:
    """When the memo is written, how it is searched, and what happens to ranges that cannot be read.

    The memo is written when the recent dialogues have more than `words` words or at least `lines` lines; a dialogue is two lines.
    Words are those of `models.sentences.tokens`: each Chinese character is one, where the public code's split at blanks would
    take a whole Chinese sentence for one.

    `find`: "options" lets the model pick from the list of all topics with their summaries, as in the paper. "joined" is
    MemoChat as the ILSTMA paper describes it (section 4.3.3): the nearest summary is joined to the question, and the `rows`
    dialogues most similar to both are recalled.

    `unreadable`: what becomes of dialogues that the model could not divide. "recent" leaves them recent, to be tried again at the
    next turn; where as many wait behind them, they are divided as offline, so that none falls out of the prompt unseen. "noto"
    files them all under NOTO, which is never offered again.

    `option_tokens` bounds the list of options: over it, those that share the rarest words with the question are offered. `picks`
    and `similarity` are the offline parts' own: how many topics are picked at most, and the cosine of neighbouring dialogues
    under which a new topic begins.

    Paper note: the public code files under NOTO. It lists all options, however many: a long memo outgrows its model.
    """

    words: int = 1024
    lines: int = 10
    find: Literal["options", "joined"] = "options"
    unreadable: Literal["recent", "noto"] = "recent"
    rows: int = 2
    option_tokens: int = 2_000
    picks: int = 2
    similarity: float = 0.3
    short_term: SegmentLimits = field(default_factory=lambda: SegmentLimits(history_turns=20))

    def __post_init__(self) -> None:
        if self.words < 1 or self.lines < 4 or min(self.rows, self.picks) < 1:
            raise InputError(
                "need words >= 1, lines >= 4 (two dialogues, of which one stays recent), rows >= 1 and picks >= 1 "
                f"(got {self.words}, {self.lines}, {self.rows}, {self.picks})"
            )
        if self.option_tokens < _LEAST_OPTION_TOKENS or not -1 <= self.similarity <= 1:
            raise InputError(
                f"need option_tokens >= {_LEAST_OPTION_TOKENS} and a similarity from -1 to 1 "
                f"(got {self.option_tokens}, {self.similarity})"
            )
        for name, allowed in (("find", ("options", "joined")), ("unreadable", ("recent", "noto"))):
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} must be one of {', '.join(allowed)} (got {getattr(self, name)!r})")
