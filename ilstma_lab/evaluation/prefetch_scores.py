"""What a prefetch run is worth, in the words of cache research; see `PrefetchScores`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band, bootstrap
from ilstma_lab.evaluation.prefetching import PrefetchRun, Served, replay_policy
from ilstma_lab.evaluation.workload import Workload
from ilstma_lab.protocols import Prefetcher


@dataclass(frozen=True, slots=True)
class PrefetchScores:
    """One policy over one or more workloads, against demand fetching with the same capacity (`baseline`).

    `hit_ratio`: hits / demands; `near_ratio` counts the last seven turns too. `accuracy`: useful / issued rows, each counted
    once for each time that it was brought in. `coverage`: misses removed / misses of the baseline; `coverage_in_run`: useful /
    (useful + misses left). `overprediction`: unused rows / misses of the baseline. `pollution`: misses that hit in the baseline /
    demands. `lateness`: late / (useful + late). `rows` and `tokens` brought in per demand; `wasted`: tokens of unused rows per
    hit.
    """

    n: int
    hit_ratio: float
    near_ratio: float
    accuracy: float
    coverage: float
    coverage_in_run: float
    overprediction: float
    pollution: float
    lateness: float
    rows: float
    tokens: float
    wasted: float

    def to_dict(self) -> dict[str, float]:
        """Return the figures by name."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}


def prefetch_scores(runs: Sequence[PrefetchRun], baseline: Sequence[PrefetchRun]) -> PrefetchScores:
    """Return the scores of one policy's `runs` beside the baseline's on the same workloads; nan where nothing is divided."""
    served, other = _paired(runs, baseline)
    hits = sum(one.hit for one in served)
    misses, misses_before = len(served) - hits, sum(not one.hit for one in other)
    brought = [(run.workload.tokens, one) for run in runs for one in run.served]
    issued = sum(len(one.issued) for _, one in brought)
    useful = sum(len(one.useful) for _, one in brought)
    late = sum(one.late for one in served)
    tokens = sum(known[row] for known, one in brought for row in one.issued)
    spared = sum(known[row] for known, one in brought for row in one.useful)
    return PrefetchScores(
        n=len(served),
        hit_ratio=_share(hits, len(served)),
        near_ratio=_share(sum(one.near for one in served), len(served)),
        accuracy=_share(useful, issued),
        coverage=_share(misses_before - misses, misses_before),
        coverage_in_run=_share(useful, useful + misses),
        overprediction=_share(issued - useful, misses_before),
        pollution=_share(sum(before.hit and not one.hit for one, before in zip(served, other, strict=True)), len(served)),
        lateness=_share(late, useful + late),
        rows=_share(issued, len(served)),
        tokens=_share(tokens, len(served)),
        wasted=_share(tokens - spared, hits),
    )


def hit_band(runs: Sequence[PrefetchRun], *, by: Literal["question", "topic"] = "question") -> Band:
    """Return the hit ratio over all demands of `runs` with its 95 % band, drawn by question or by whole topics."""
    return _band(_hits(_demands(runs)), runs, by)


def hit_difference(
    runs: Sequence[PrefetchRun], others: Sequence[PrefetchRun], *, by: Literal["question", "topic"] = "question"
) -> Band:
    """Return how much more often `runs` hit than `others` on the same questions, with the paired band."""
    served, other = _paired(runs, others)
    return _band(_hits(served) - _hits(other), runs, by)


def miss_ratio_curve(
    workloads: Sequence[Workload], policy_of: Callable[[int], Prefetcher], sizes: Sequence[int] = tuple(range(1, 9))
) -> np.ndarray:
    """Return the miss ratio for each size of the cache, shape (len(sizes),); `policy_of(k)` gives the policy with room for k.

    Each size is replayed: the curve of a policy that refills on a miss may rise, as that of FIFO may (Belady's anomaly).
    """
    runs = ([replay_policy(workload, policy_of(k)) for workload in workloads] for k in sizes)
    return np.array([1 - _hits(_demands(run)).mean() for run in runs])


def _demands(runs: Sequence[PrefetchRun]) -> list[Served]:
    return [served for run in runs for served in run.demands]


def _paired(runs: Sequence[PrefetchRun], others: Sequence[PrefetchRun]) -> tuple[list[Served], list[Served]]:
    served, other = _demands(runs), _demands(others)
    if [one.access for one in served] != [one.access for one in other]:
        raise InputError("the two policies were asked different questions: there are no pairs to compare")
    return served, other


def _hits(served: Sequence[Served]) -> np.ndarray:
    return np.array([one.hit for one in served], float).reshape(-1, 1)  # (n_demands, 1)


def _band(values: np.ndarray, runs: Sequence[PrefetchRun], by: str) -> Band:
    clusters = [run.workload.name for run in runs for _ in run.demands] if by == "topic" else None
    return bootstrap(values, clusters=clusters)[0]


def _share(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")
