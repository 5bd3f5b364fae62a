"""The policies that ILSTMA's score is compared with, under one roof: `standard_policies()` names them all.

Each fits `Prefetcher`: `select(context)` returns what the cache shall hold. ILSTMA's own is `WindowPrefetch`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from ilstma_lab.prefetch.logged import CoRecall, DemandLfu, DemandLru
from ilstma_lab.prefetch.ranking import NearestRows, NextRows, PreviousRows, RandomRows, RankedPolicy, SimilarRows, Trigger
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.prefetch.window import WindowPrefetch

if TYPE_CHECKING:
    from ilstma_lab.protocols import PrefetchContext, Prefetcher

__all__ = [
    "CoRecall",
    "DemandLfu",
    "DemandLru",
    "NearestRows",
    "NextRows",
    "NoPrefetch",
    "PreviousRows",
    "RandomRows",
    "RankedPolicy",
    "SimilarRows",
    "WorstOf",
    "standard_policies",
]


@dataclass(frozen=True, kw_only=True)
class WorstOf:
    """The lowest scored rows of another's window: how much a score can spoil, where the window and `k` stay the same."""

    of: WindowPrefetch = field(default_factory=WindowPrefetch)
    label: ClassVar[str] = "pessimal"

    @property
    def k(self) -> int:
        """How many rows it chooses."""
        return self.of.k

    @property
    def trigger(self) -> Trigger:
        """When it refills."""
        return self.of.trigger

    def select(self, context: PrefetchContext) -> Selection:
        """Return the window of `of`, best first, with its last `k` rows chosen."""
        window = self.of.select(context)
        first = len(window.rows) - self.k
        rows = tuple(replace(row, chosen=rank >= first) for rank, row in enumerate(window.rows))
        return replace(window, rows=rows)


@dataclass(frozen=True, kw_only=True)
class NoPrefetch:
    """Nothing is chosen, so the cache stays empty: a miss clears it, and an empty selection does not fill it."""

    k: ClassVar[int] = 0
    trigger: ClassVar[Trigger] = "miss"
    label: ClassVar[str] = "no prefetch"

    def select(self, context: PrefetchContext) -> Selection:
        """Return an empty selection."""
        return Selection((), note="nothing is prefetched")


def standard_policies(k: int = 3, offset: int = 5, *, seed: int = 0) -> dict[str, Prefetcher]:
    """Return the policies of tables and races by the names they are shown under, all with room for `k` rows.

    `offset`: the window of ILSTMA's score, of its worst choice, and of a random choice within it. `seed`: of the random ones.
    Raises InputError where the window has no room for `k` rows.

    >>> list(standard_policies())[:4]
    ['ILSTMA', 'ILSTMA, rescaled', 'ILSTMA, literal', 'ILSTMA, every question']
    """
    score = WindowPrefetch(k=k, offset=offset)
    others = (
        NextRows(k=k),
        NearestRows(k=k),
        NearestRows(k=k, include_centre=False),
        PreviousRows(k=k),
        SimilarRows(k=k),
        CoRecall(k=k),
        DemandLru(k=k),
        DemandLfu(k=k),
        RandomRows(k=k, offset=offset, seed=seed),
        RandomRows(k=k, seed=seed),
        WorstOf(of=score),
        NoPrefetch(),
    )
    return {
        "ILSTMA": score,
        "ILSTMA, rescaled": replace(score, place=PlaceTerm(form="rescaled")),
        "ILSTMA, literal": replace(score, place=PlaceTerm(form="literal")),
        "ILSTMA, every question": replace(score, trigger="every"),
        **{policy.label: policy for policy in others},
    }
