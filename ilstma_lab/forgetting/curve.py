"""What all curves share: named parameters, each within its bounds, and one message that lists all that are not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from ilstma_lab.errors import InputError

Bounds = Mapping[str, tuple[float, float]]


class Curve:
    """Base of the frozen dataclasses in this package.

    `bounds` names the parameters and says where each may lie; a search and a slider stay within them too. `formula` takes the
    parameters as numbers or as arrays that broadcast. `kind` names the curve in JSON.
    """

    bounds: ClassVar[Bounds] = {}
    kind: str

    def __post_init__(self) -> None:
        if problems := self.problems():
            raise InputError(f"{type(self).__name__}: " + "; ".join(problems))

    @property
    def parameters(self) -> dict[str, float]:
        """The curve's numbers by name."""
        return {name: getattr(self, name) for name in self.bounds}

    def problems(self) -> list[str]:
        """Return what is wrong with the parameters, one sentence each."""
        found = [f"kind is always {type(self).kind!r} here (got {self.kind!r})"] if self.kind != type(self).kind else []
        for name, (low, high) in self.bounds.items():
            value = getattr(self, name)
            if not low <= value <= high:
                found.append(f"{name} must lie in [{low:g}, {high:g}] (got {value:g})")
        return found


def relative_time(interval_days: np.ndarray, strength_days: np.ndarray) -> np.ndarray:
    """Return t / S, at least 0; shapes broadcast. Raises InputError where a strength is not positive."""
    interval = np.maximum(np.asarray(interval_days, dtype=np.float64), 0.0)
    strength = np.asarray(strength_days, dtype=np.float64)
    if not (strength > 0).all():
        raise InputError(f"strength_days must be positive (got {np.min(strength):g}): R is not defined without strength")
    with np.errstate(over="ignore"):  # a tiny strength: inf, where R is 0 as it should be
        return interval / strength


class RetentionCurve(Curve):
    """A retention R that depends on t / S: a memory that is twice as strong fades half as fast.

    A rival that has a time scale of its own is meant for S = 1 day; a greater S stretches it.
    """

    free: ClassVar[tuple[str, ...]] = ()

    def at(self, interval_days: np.ndarray, strength_days: np.ndarray) -> np.ndarray:
        """Return R in [0, 1]; shapes broadcast. An interval below 0 counts as 0. Raises InputError where S is not positive."""
        with np.errstate(over="ignore", divide="ignore"):
            return np.clip(self.formula(relative_time(interval_days, strength_days), **self.parameters), 0.0, 1.0)

    @staticmethod
    def formula(time: np.ndarray, **parameters: np.ndarray | float) -> np.ndarray:
        """Return the curve at t / S = `time` >= 0, not yet clipped."""
        raise NotImplementedError


class StrengthCurve(Curve):
    """A strength S, in days, that depends on the number of recalls."""

    def days(self, recall_times: np.ndarray) -> np.ndarray:
        """Return S in days, same shape as `recall_times`. Raises InputError below one recall."""
        return np.asarray(self.formula(check_recall_times(recall_times), **self.parameters))

    @staticmethod
    def formula(recall_times: np.ndarray, **parameters: np.ndarray | float) -> np.ndarray:
        """Return S in days for `recall_times` >= 1."""
        raise NotImplementedError


def check_recall_times(recall_times: np.ndarray) -> np.ndarray:
    """Return `recall_times` as float64. Raises InputError where one is below 1: Eq. 2 is negative there."""
    times = np.asarray(recall_times, dtype=np.float64)
    if times.size and not (times >= 1).all():
        raise InputError(f"recall_times must be >= 1 (got {times.min():g}): Eq. 2 is negative below 1")
    return times
