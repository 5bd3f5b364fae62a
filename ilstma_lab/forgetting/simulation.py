"""Recall logs drawn from a known curve, by a stated design: what a fit must be able to give back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.recall_log import RecallLog
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.strength import SigmoidStrength

if TYPE_CHECKING:
    from ilstma_lab.protocols import Retention, Strength

GAPS_DAYS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


def simulate_log(
    *,
    items: int = 200,
    questions: int = 8,
    gaps_days: Sequence[float] = GAPS_DAYS,
    strength: Strength | None = None,
    retention: Retention | None = None,
    spread: float = 0.0,
    seed: int = 0,
) -> RecallLog:
    """Return the log of an experiment on `items` that are each asked `questions` times; the same for the same `seed`.

    The design: an item starts with one recall. Each question comes a gap after the one before, drawn from `gaps_days` with equal
    chances whatever the item's strength, so that intervals are not confounded with memory, as a scheduler's are. It is recalled
    with probability R(gap, S(n)) and then counts one recall more; if not, it is told again: its clock restarts, its count stays.
    `spread`: standard deviation of ln S between items. The curve is Eq. 3 unless another is given.
    """
    if items < 1 or questions < 1 or spread < 0 or not len(gaps_days) or min(gaps_days) < 0:
        raise InputError("simulate_log needs items, questions >= 1, spread >= 0 and gaps_days >= 0")
    strength, retention = strength or SigmoidStrength(), retention or ExponentialRetention()
    rng = np.random.default_rng(seed)
    ease = np.exp(spread * rng.standard_normal(items)) if spread else np.ones(items)
    times, clock, rounds = np.ones(items, np.int64), np.zeros(items), []
    for _ in range(questions):
        gap = rng.choice(np.asarray(gaps_days, dtype=np.float64), items)
        clock = clock + gap
        recalled = rng.random(items) < retention.at(gap, ease * strength.days(times))
        rounds.append((np.arange(items), clock, gap, times, recalled))
        times = times + recalled
    return RecallLog(*(np.concatenate(column) for column in zip(*rounds, strict=True)))
