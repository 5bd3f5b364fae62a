"""ILSTMA's prefetcher: the best rows of a window around the recalled row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.retention import ExponentialRetention, retention_of
from ilstma_lab.forgetting.rivals import AnyRetention
from ilstma_lab.forgetting.strength import AnyStrength, SigmoidStrength
from ilstma_lab.memory.entry import to_microseconds
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.selection import ScoredRow, Selection

if TYPE_CHECKING:
    from ilstma_lab.protocols import PrefetchContext


@dataclass(frozen=True, kw_only=True)
class WindowPrefetch:
    """Scores the rows within `offset` of the best recalled row by Eq. 4 and chooses the top `k`: O(offset), at any table size.

    Ties go to the nearer row, then to the later one. `trigger`: "miss" refills after a miss (the paper), "every"
    after every question. `include_centre`: whether the recalled row itself may be cached.
    `score_refresh`: "now" computes R for the rows of the window when it is needed; "on_touch" keeps the R that a row
    had when it was created or last recalled, as section 3.6.2 prints it.

    Paper note: the offset is never stated and k <= 2 offset fits a window without its centre; here 5, with its centre.
    A kept R is 1 for ever, since t = 0 at creation and at recall: "on_touch" shows what that does.
    """

    k: int = 3
    offset: int = 5
    include_centre: bool = True
    trigger: Literal["miss", "every"] = "miss"
    score_refresh: Literal["now", "on_touch"] = "now"
    place: PlaceTerm = field(default_factory=PlaceTerm)
    strength: AnyStrength = field(default_factory=SigmoidStrength)
    retention: AnyRetention = field(default_factory=ExponentialRetention)

    def __post_init__(self) -> None:
        room = 2 * self.offset + self.include_centre
        if self.k < 1 or self.offset < 0 or self.k > room:
            raise InputError(f"need 1 <= k <= rows of the window (got k {self.k}, offset {self.offset}, room for {room})")
        if self.trigger not in ("miss", "every") or self.score_refresh not in ("now", "on_touch"):
            raise InputError("trigger must be 'miss' or 'every', score_refresh 'now' or 'on_touch'")

    def select(self, context: PrefetchContext) -> Selection:
        """Return the rows of the window, best first, the top `k` chosen; empty when nothing was recalled."""
        table = context.table
        centre = next((index for index in context.recalled if index in table), None)
        if centre is None:
            return Selection((), offset=self.offset, note="nothing was recalled, so there is no centre")
        at = table.position(centre)
        end = len(table) if context.row is None else table.position(context.row)
        positions = np.arange(max(0, at - self.offset), min(end, at + self.offset + 1))
        if not self.include_centre:
            positions = positions[positions != at]
        distance = np.abs(positions - at)
        now = to_microseconds(context.now)
        time = self._retention(table, positions, now)
        place = self.place.of(distance)
        score = time + place
        best = np.lexsort((-positions, distance, -score))
        columns = (table.indices[positions], score, time, place, distance)
        rows = zip(*(column[best].tolist() for column in columns), strict=True)
        return Selection(
            tuple(ScoredRow(*row, chosen=rank < self.k) for rank, row in enumerate(rows)),
            centre=centre,
            offset=self.offset,
            note=_clamped(int((table.last_recall[positions] > now).sum())),
        )

    def _retention(self, table, positions: np.ndarray, now: int) -> np.ndarray:
        if self.score_refresh == "on_touch":
            return np.ones(len(positions))
        return retention_of(
            table.last_recall[positions],
            table.recall_times[positions],
            now=now,
            retention=self.retention,
            strength=self.strength,
        )


def _clamped(rows: int) -> str:
    return f"{rows} of the rows were last recalled after this moment: that counts as 0 days ago" if rows else ""
