"""What enters the prompt: activated turns and the last one, dropped or shortened until they fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.segments import Note
from ilstma_lab.tokens import estimate_tokens


@dataclass(frozen=True, slots=True)
class Activated:
    """One turn on its way into the prompt: whole, or `in_short` as its summary. `cosine` is nan for the last turn."""

    row: int
    text: str
    summary: Summary | None = None
    cosine: float = float("nan")
    in_short: bool = False

    @property
    def tokens(self) -> int:
        """What it costs in its present form, as it is stored."""
        return estimate_tokens(self.summary.text if self.in_short else self.text)

    @property
    def content(self) -> int | Note:
        """What short-term memory gets of it."""
        return Note(self.summary.number) if self.in_short else self.row

    def shortened(self) -> Activated:
        """Return it as its summary, if it has one."""
        return replace(self, in_short=self.summary is not None)


class Activation:
    """Activation memory (`turns`, best first) and flash memory (`last`); `spent` tokens go to a last turn that is in no row."""

    def __init__(self, turns: list[Activated], last: Activated | None, *, spent: int = 0):
        self.turns = turns
        self.last = last
        self.spent = spent
        self.dropped: list[int] = []
        self.left_out: list[int] = []

    @property
    def all(self) -> list[Activated]:
        """Activated turns, best first, then the last."""
        return [*self.turns, *([self.last] if self.last else [])]

    @property
    def tokens(self) -> int:
        """What they cost together."""
        return self.spent + sum(turn.tokens for turn in self.all)

    def weigh(self, can: Callable[[Activated, str], bool]) -> None:
        """From the least similar up, all but the most similar: drop what cannot answer, shorten where the summary can.

        `can(turn, summary)` judges the turn where `summary` is "", else its summary. If it fails, what was decided stays.
        """
        for at in range(len(self.turns) - 1, 0, -1):
            turn = self.turns[at]
            if not can(turn, ""):
                self.dropped.append(self.turns.pop(at).row)
            elif turn.summary and can(turn, turn.summary.text):
                self.turns[at] = turn.shortened()

    def fit(self, limit: int) -> None:
        """Put summaries in place of turns, from the least similar up and the last turn at the end, until `limit` tokens suffice.

        Where no summary is left, the least similar turns are left out, all but the best: what is still too long then is cut by
        the token budget of short-term memory. The public code goes round for ever here.
        """
        for at in range(len(self.turns) - 1, -1, -1):
            if self.tokens > limit:
                self.turns[at] = self.turns[at].shortened()
        if self.last and self.tokens > limit:
            self.last = self.last.shortened()
        while self.tokens > limit and len(self.turns) > 1:
            self.left_out.append(self.turns.pop().row)
