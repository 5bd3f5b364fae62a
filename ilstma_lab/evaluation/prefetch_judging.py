"""The judge beside the proxy: what it says of the caches that a policy had, and how precision and recall of hits trade off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.judging import JudgeCase, Judged, judged
from ilstma_lab.evaluation.prefetching import PrefetchRun
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.protocols import HitJudge


@dataclass(frozen=True)
class PrecisionRecall:
    """At each threshold, highest first, all of shape (n,): precision and recall of "hit", and how often the judge says it."""

    threshold: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    hit_ratio: np.ndarray

    def at(self, threshold: float) -> tuple[float, float, float]:
        """Return precision, recall and hit ratio where a score of `threshold` or more is a hit; precision nan without hits."""
        passed = np.flatnonzero(self.threshold >= threshold)
        if not len(passed):
            return float("nan"), 0.0, 0.0
        last = passed[-1]
        return float(self.precision[last]), float(self.recall[last]), float(self.hit_ratio[last])


def judged_runs(runs: Sequence[PrefetchRun], judge: HitJudge) -> Judged:
    """Return what `judge` says of each question of `runs` with the cache that lay ready: answerable is the proxy's hit."""
    return judged([case for run in runs for case in _cases(run)], judge)


def precision_recall(table: Judged) -> PrecisionRecall:
    """Return precision and recall of "hit" over the thresholds that make a difference. Raises InputError without a case.

    Every question counts once. Recall is nan where no cache held an answer.
    """
    if not len(table):
        raise InputError("no question was judged: give runs of a workload that has questions")
    down = np.argsort(-table.score, kind="stable")
    score, answerable = table.score[down], table.answerable[down]
    last = np.r_[score[1:] != score[:-1], True] & np.isfinite(score)
    said, right = np.arange(1, len(score) + 1), np.cumsum(answerable)
    with np.errstate(invalid="ignore"):
        recall = right / np.float64(answerable.sum())
    return PrecisionRecall(score[last], (right / said)[last], recall[last], (said / len(score))[last])


def _cases(run: PrefetchRun) -> Iterator[JudgeCase]:
    for served, query in zip(run.served, run.workload.queries, strict=True):
        cached, gold = Selection.of(served.cache), frozenset(served.access.gold)
        yield JudgeCase(run.workload.name, served.access, "replayed", query, run.workload.table, cached, gold)
