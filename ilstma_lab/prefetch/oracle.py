"""A prefetcher that knows the coming questions: what is left to gain when the choice within a window is perfect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from ilstma_lab.errors import InputError
from ilstma_lab.prefetch.ranking import Trigger
from ilstma_lab.prefetch.selection import ScoredRow, Selection

if TYPE_CHECKING:
    from ilstma_lab.protocols import PrefetchContext

Gold = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class WindowOracle:
    """Chooses the rows that answer the longest run of coming questions, within `offset` of the recalled row.

    `future`: for every question in order the rows any of which answers it, () where none does. Whoever replays them calls
    `after(number)` before `select`. `offset` None: the whole table. It makes each run as long as it can, which is greedy:
    `oracle_hits` also leaves a run early, and is never below it.
    """

    future: tuple[Gold, ...]
    k: int = 3
    offset: int | None = 5
    asked: int = 0
    trigger: ClassVar[Trigger] = "miss"

    def __post_init__(self) -> None:
        if self.k < 1 or (self.offset is not None and self.offset < 0):
            raise InputError(f"need k >= 1 and offset >= 0, or None for the whole table (got {self.k}, {self.offset})")

    @property
    def label(self) -> str:
        """The words that a plot shows."""
        return "unlimited oracle" if self.offset is None else f"window oracle ±{self.offset}"

    def after(self, number: int) -> WindowOracle:
        """Return the oracle as it stands when question `number`, from 0, has been asked."""
        return replace(self, asked=number + 1)

    def select(self, context: PrefetchContext) -> Selection:
        """Return the rows that the coming questions need, in that order."""
        table = context.table
        centre = next((index for index in context.recalled if index in table), None)
        if centre is None and self.offset is not None:
            return Selection((), offset=self.offset, note="nothing was recalled, so there is no centre")

        def distance(row: int) -> int:
            return 0 if centre is None else abs(table.position(row) - table.position(centre))

        def inside(row: int) -> bool:
            return row in table and (self.offset is None or distance(row) <= self.offset)

        length, chosen = longest_run(self.future[self.asked :], self.k, inside=inside)
        rows = tuple(ScoredRow(row, 0.0, 0.0, 0.0, distance(row), chosen=True) for row in chosen)
        return Selection(rows, centre=centre, offset=self.offset or 0, note=f"answers the next {length} questions")


def longest_run(coming: Sequence[Gold], k: int, *, inside: Callable[[int], bool] = lambda row: True) -> tuple[int, Gold]:
    """Return how many coming questions `k` rows answer before the first that they do not, and the rows in the order of need.

    Only rows that are `inside` may be taken. Where several answer one question, those are tried of which no other answers
    more of what comes, so the run is the longest there is.

    >>> longest_run([(4,), (5, 6), (6,), (9,)], 2)
    (3, (4, 6))
    """
    uses: dict[int, set[int]] = defaultdict(set)
    for at, gold in enumerate(coming):
        for row in gold:
            uses[row].add(at)

    def extend(at: int, chosen: Gold) -> tuple[int, Gold]:
        while at < len(coming) and any(row in chosen for row in coming[at]):
            at += 1
        if at == len(coming) or len(chosen) == k:
            return at, chosen
        options = {frozenset(use for use in uses[row] if use > at): row for row in coming[at] if inside(row)}
        best = (row for later, row in options.items() if not any(later < other for other in options))
        return max((extend(at + 1, (*chosen, row)) for row in best), key=lambda run: run[0], default=(at, chosen))

    return extend(0, ())
