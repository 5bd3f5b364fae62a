"""Retention R, from 1 (fresh) towards 0 (faded), after a time without recall."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ilstma_lab.protocols import Retention, Strength

MICROSECONDS_PER_DAY = 86_400_000_000


def whole_days(now: int, last_recall: np.ndarray) -> np.ndarray:
    """Return the whole days between `last_recall` and `now` (both in microseconds), negative where it lies in the future.

    Source: ILSTMA, section 3.6.1: t is measured in whole days. The caller clamps at 0 and says so.
    """
    return (now - np.asarray(last_recall, dtype=np.int64)) // MICROSECONDS_PER_DAY


@dataclass(frozen=True)
class ExponentialRetention:
    """Ebbinghaus' curve as both papers write it: R = exp(-t / S).

    Source: ILSTMA, Eq. 1; MemoryBank, section 2.3. t and S in days.

    >>> ExponentialRetention().at(np.array([0, 2]), np.array([5.0, 5.0])).round(3).tolist()
    [1.0, 0.67]
    """

    def at(self, interval_days: np.ndarray, strength_days: np.ndarray) -> np.ndarray:
        """Return R in [0, 1]; shapes broadcast. An interval below 0 counts as 0."""
        interval = np.maximum(np.asarray(interval_days, dtype=np.float64), 0.0)
        return np.exp(-interval / np.asarray(strength_days, dtype=np.float64))


def retention_of(
    last_recall: np.ndarray,
    recall_times: np.ndarray,
    *,
    now: int,
    retention: Retention,
    strength: Strength,
) -> np.ndarray:
    """Return R of rows at `now`: Eq. 3, which is Eq. 2 put into Eq. 1.

    `last_recall` (n,) and `now` in microseconds since 1970-01-01 UTC, `recall_times` (n,); the result is (n,). A last recall
    that lies after `now` counts as 0 days ago.
    """
    return retention.at(np.maximum(whole_days(now, last_recall), 0), strength.days(recall_times))
