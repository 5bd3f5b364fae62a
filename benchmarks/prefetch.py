"""Prefetch selection at a million rows beside that at a thousand: it looks at a window, so the table's size must not tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from benchmarks import stubs
from benchmarks.measure import Result, interleaved, seconds
from ilstma_lab import ManualClock, MemoryTable
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.protocols import PrefetchContext, Query

BOUND = 1.5
_SMALL = 1_000
_DIM = 2  # selection reads no vectors


def run(*, rows: int = 1_000_000, n: int = 2_000) -> Iterator[Result]:
    """Yield the ratio; each selection is around another row."""
    taken = interleaved(
        {"small": _selection(stubs.table(_SMALL, dim=_DIM)), "large": _selection(stubs.table(rows, dim=_DIM))},
        n=n,
        warm_up=n // 10,
    )
    details = {f"at {_SMALL:,} rows, us": 1e6 * taken["small"], f"at {rows:,} rows, us": 1e6 * taken["large"]}
    yield Result(f"prefetch at {rows:,} rows, of that at {_SMALL:,}", taken["large"] / taken["small"], BOUND, "times", n, details)


def _selection(table: MemoryTable) -> Callable[[], float]:
    prefetcher, now, centres = WindowPrefetch(), ManualClock.after(table).now(), np.random.default_rng(1)
    query = Query(stubs.question(0), now, table.embedder)

    def select() -> float:
        context = PrefetchContext(query, (int(centres.integers(len(table))),), table, now)
        return seconds(lambda: prefetcher.select(context))

    return select
