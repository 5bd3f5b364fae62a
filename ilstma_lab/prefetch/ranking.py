"""Policies that rank rows by where they stand or by what they say, and the base that all such policies share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.prefetch.selection import ScoredRow, Selection
from ilstma_lab.retrieval.top import top_k

if TYPE_CHECKING:
    from ilstma_lab.protocols import PrefetchContext

Trigger = Literal["miss", "every"]


@dataclass(frozen=True, kw_only=True)
class RankedPolicy:
    """Base of a policy that ranks positions; the first `k` fill the cache. A subclass gives `ranked`, and a `label` for plots.

    `trigger`: "miss" refills after a miss, "every" after every question. `needs_centre`: whether nothing is chosen where
    nothing was recalled. The row of the turn that ends is never chosen.
    """

    k: int = 3
    trigger: Trigger = "miss"
    needs_centre: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise InputError(f"k must be >= 1 (got {self.k}); NoPrefetch() holds no row")
        if self.trigger not in ("miss", "every"):
            raise InputError(f"trigger must be 'miss' or 'every' (got {self.trigger!r})")

    def ranked(self, context: PrefetchContext, at: int | None, end: int) -> Iterable[int]:
        """Return positions below `end`, best first; `at` is the centre's, None where nothing was recalled."""
        raise NotImplementedError

    def select(self, context: PrefetchContext) -> Selection:
        """Return the `k` best rows, all of them chosen; they carry no scores."""
        table = context.table
        centre = next((index for index in context.recalled if index in table), None)
        if centre is None and self.needs_centre:
            return Selection((), note="nothing was recalled, so there is no centre")
        at = None if centre is None else table.position(centre)
        end = len(table) if context.row is None else table.position(context.row)
        best = islice(self.ranked(context, at, end), self.k)
        rows = (ScoredRow(int(table.indices[p]), 0.0, 0.0, 0.0, 0 if at is None else abs(p - at), chosen=True) for p in best)
        return Selection(tuple(rows), centre=centre)


@dataclass(frozen=True, kw_only=True)
class NextRows(RankedPolicy):
    """The `k` rows after the recalled one, without it: what sequential prefetch brings. Fewer at the table's end."""

    @property
    def label(self) -> str:
        """The words that a plot shows."""
        return f"next {self.k}"

    def ranked(self, context: PrefetchContext, at: int, end: int) -> Iterable[int]:
        """Return the positions after the centre."""
        return range(at + 1, end)


@dataclass(frozen=True, kw_only=True)
class PreviousRows(RankedPolicy):
    """The `k` rows before the recalled one, without it. Fewer at the table's beginning."""

    @property
    def label(self) -> str:
        """The words that a plot shows."""
        return f"previous {self.k}"

    def ranked(self, context: PrefetchContext, at: int, end: int) -> Iterable[int]:
        """Return the positions before the centre, the nearest first."""
        return range(at - 1, -1, -1)


@dataclass(frozen=True, kw_only=True)
class NearestRows(RankedPolicy):
    """The rows around the recalled one by distance, first itself if `include_centre`.

    Of two at one distance the later comes first, as in WindowPrefetch.
    """

    include_centre: bool = True

    @property
    def label(self) -> str:
        """The words that a plot shows."""
        return f"nearest {self.k}" + ("" if self.include_centre else ", centre out")

    def ranked(self, context: PrefetchContext, at: int, end: int) -> Iterable[int]:
        """Return all positions by distance."""
        return islice(nearest(at, end), 0 if self.include_centre else 1, None)


@dataclass(frozen=True, kw_only=True)
class SimilarRows(RankedPolicy):
    """The `k` rows most similar to the last question by cosine, wherever they stand; ties go to the later row.

    Rows that wait for their vector are left out.
    """

    label: ClassVar[str] = "similar to the question"
    needs_centre: ClassVar[bool] = False

    def ranked(self, context: PrefetchContext, at: int | None, end: int) -> Iterable[int]:
        """Return the positions with the highest cosine."""
        waits = context.table.pending[:end]
        cosine = np.where(waits, -np.inf, context.table.vectors[:end] @ context.query.vector)  # (end,)
        return [int(position) for position in top_k(cosine, self.k) if not waits[position]]


@dataclass(frozen=True, kw_only=True)
class RandomRows(RankedPolicy):
    """Rows drawn with equal chances, from the whole table or from within `offset` of the recalled row: the floor.

    The draw hangs on `seed`, the centre and the length of the log of recalls alone: the same turn always draws the same.
    """

    offset: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.seed < 0 or (self.offset is not None and self.offset < 0):
            raise InputError(f"need seed >= 0 and offset >= 0, or None for all rows (got {self.seed}, {self.offset})")

    @property
    def label(self) -> str:
        """The words that a plot shows."""
        return "random" if self.offset is None else f"random within {self.offset}"

    @property
    def needs_centre(self) -> bool:
        """Only a window needs one."""
        return self.offset is not None

    def ranked(self, context: PrefetchContext, at: int | None, end: int) -> Iterable[int]:
        """Return `k` positions in the order drawn."""
        low, high = (0, end) if self.offset is None else (max(0, at - self.offset), min(end, at + self.offset + 1))
        rng = np.random.default_rng([self.seed, len(context.table.recalls), 0 if at is None else at + 1])
        return (low + rng.choice(high - low, min(self.k, high - low), replace=False)).tolist()


def nearest(at: int, end: int) -> Iterator[int]:
    """Yield the positions from 0 to `end` by their distance from `at`; at a tie the later first.

    >>> list(nearest(1, 4))
    [1, 2, 0, 3]
    """
    for distance in range(end):
        yield from (p for p in dict.fromkeys((at + distance, at - distance)) if 0 <= p < end)
