"""Retention R, from 1 (fresh) towards 0 (faded), after a time without recall: Eq. 1 and Eq. 3."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ilstma_lab.forgetting.curve import RetentionCurve

if TYPE_CHECKING:
    from ilstma_lab.protocols import Retention, Strength

MICROSECONDS_PER_DAY = 86_400_000_000


def whole_days(now: int, last_recall: np.ndarray) -> np.ndarray:
    """Return the whole days between `last_recall` and `now` (both in microseconds), negative where it lies in the future.

    Source: ILSTMA, section 3.6.1: t is measured in whole days. The caller clamps at 0 and says so.
    """
    return (now - np.asarray(last_recall, dtype=np.int64)) // MICROSECONDS_PER_DAY


@dataclass(frozen=True, kw_only=True)
class ExponentialRetention(RetentionCurve):
    """The forgetting curve as both papers write it: R = exp(-t / S).

    Source: ILSTMA, Eq. 1; MemoryBank, section 2.3. t and S in days.

    Paper note: both call it Ebbinghaus' curve; he never wrote it, and it misses his seven points (RMSE .255).

    >>> ExponentialRetention().at(np.array([0, 2]), np.array([5.0, 5.0])).round(3).tolist()
    [1.0, 0.67]
    """

    free: ClassVar[tuple[str, ...]] = ("strength_days",)
    kind: Literal["exponential"] = field(default="exponential", repr=False)

    @staticmethod
    def formula(time: np.ndarray) -> np.ndarray:
        """Return exp(-time)."""
        return np.exp(-time)


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
