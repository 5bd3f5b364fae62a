"""What the prefetch looked at and what it chose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One row of the window with its arithmetic: `score` = `time` (retention R) + `place` (Eq. 4 of the ILSTMA paper).

    `distance` is in rows, in creation order, over live rows; 0 is the centre.
    """

    index: int
    score: float
    time: float
    place: float
    distance: int
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """Rows of the window, best first; the chosen ones refill the cache."""

    rows: tuple[ScoredRow, ...]
    centre: int | None = None
    offset: int = 0
    note: str = ""

    @property
    def chosen(self) -> tuple[int, ...]:
        """Indices that go into the cache, best first."""
        return tuple(row.index for row in self.rows if row.chosen)

    @classmethod
    def of(cls, indices: Sequence[int], *, note: str = "") -> Selection:
        """Return a selection of `indices` in this order, for a prefetcher that has no scores."""
        return cls(tuple(ScoredRow(int(i), 0.0, 0.0, 0.0, 0, chosen=True) for i in indices), note=note)
