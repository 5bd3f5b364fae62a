"""What a fit may vary: families of curves, with the numbers that are free, where each may lie, and where the search begins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.curve import RetentionCurve, StrengthCurve
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.strength import SigmoidStrength

STRENGTH_DAYS = (1e-6, 1e5)


@dataclass(frozen=True)
class Free:
    """One number that a fit may vary: its name, where the search starts, its bounds. Above 0 it is searched on a log scale."""

    name: str
    start: float
    low: float
    high: float


@dataclass(frozen=True)
class Family:
    """A curve whose `free` numbers are open.

    `predict(*columns, **numbers)` broadcasts columns (n,) against numbers (m, 1); `build(**numbers)` returns the curve, or
    the (retention, strength) pair of a recall family.
    """

    name: str
    free: tuple[Free, ...]
    predict: Callable[..., np.ndarray] = field(repr=False)
    build: Callable[..., Any] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the free numbers."""
        return tuple(free.name for free in self.free)

    @property
    def starts(self) -> dict[str, float]:
        """Where the search begins, which is also what stands where data cannot say: the defaults."""
        return {free.name: free.start for free in self.free}


def constant_family(start: float = 0.5) -> Family:
    """Return the baseline that every curve must beat: the same value everywhere."""
    free = (Free("level", start, 1e-6, 1 - 1e-6),)
    return Family("constant", free, lambda *columns, level: level + 0.0 * columns[0], lambda *, level: level)


def retention_family(curve: RetentionCurve, *, free: Sequence[str] | None = None, strength_days: float = 1.0) -> Family:
    """Return the family of a retention curve; its column is interval_days.

    `free`: names of the curve's parameters, or "strength_days"; the curve's own choice unless given. What is not free keeps
    the value that `curve` or `strength_days` has. Raises InputError for an unknown name.
    """
    bounds = {"strength_days": STRENGTH_DAYS, **curve.bounds}
    fixed = {"strength_days": strength_days, **curve.parameters}
    chosen = _free(curve.free if free is None else free, fixed, bounds)

    def predict(interval_days: np.ndarray, **numbers: np.ndarray) -> np.ndarray:
        given = {**fixed, **numbers}
        with np.errstate(over="ignore", divide="ignore"):
            time = np.maximum(interval_days, 0.0) / given.pop("strength_days")
            return np.clip(curve.formula(time, **given), 0.0, 1.0)

    def build(strength_days: float = strength_days, **numbers: float) -> RetentionCurve:
        return type(curve)(**{**curve.parameters, **numbers})

    return Family(_name(curve), chosen, predict, build)


def strength_family(curve: StrengthCurve, *, free: Sequence[str] | None = None) -> Family:
    """Return the family of a strength curve; its column is recall_times. Raises InputError for an unknown name.

    A sigmoid is free in first_days, limit_days and rate (mu = 1) unless `free` names some of alpha, beta, xi, mu: these four
    are tied to one another, and data seldom tell them apart.
    """
    if isinstance(curve, SigmoidStrength) and free is None:
        return _sigmoid_by_limits(curve)
    chosen = _free(curve.bounds if free is None else free, curve.parameters, curve.bounds)

    def predict(recall_times: np.ndarray, **numbers: np.ndarray) -> np.ndarray:
        return np.maximum(curve.formula(recall_times, **{**curve.parameters, **numbers}), STRENGTH_DAYS[0])

    return Family(_name(curve), chosen, predict, lambda **numbers: type(curve)(**{**curve.parameters, **numbers}))


def recall_family(
    retention: RetentionCurve | None = None, strength: StrengthCurve | Family | None = None, *, free: Sequence[str] = ()
) -> Family:
    """Return the family of Eq. 3: the probability of recall after `interval_days` with `recall_times`, its two columns.

    The strength's numbers are free, and of the retention's those that `free` names (such as "decay"). Without arguments it is the
    paper's: exponential retention of a sigmoid strength.
    """
    retention = ExponentialRetention() if retention is None else retention
    strength = strength if isinstance(strength, Family) else strength_family(strength or SigmoidStrength())
    shape = retention_family(retention, free=free)
    if shared := set(shape.names) & set(strength.names):
        raise InputError(f"retention and strength both have a parameter {', '.join(sorted(shared))}: free only one of them")

    def predict(interval_days: np.ndarray, recall_times: np.ndarray, **numbers: np.ndarray) -> np.ndarray:
        days = strength.predict(recall_times, **{name: numbers[name] for name in strength.names})
        return shape.predict(interval_days, strength_days=days, **{name: numbers[name] for name in shape.names})

    def build(**numbers: float) -> tuple[RetentionCurve, StrengthCurve]:
        return tuple(part.build(**{name: numbers[name] for name in part.names}) for part in (shape, strength))

    return Family(f"{shape.name}, {strength.name} strength", strength.free + shape.free, predict, build)


def _sigmoid_by_limits(curve: SigmoidStrength) -> Family:
    free = (
        Free("first_days", curve.first_days, 0.05, 1000.0),
        Free("limit_days", curve.limit_days, 0.05, 5000.0),
        Free("rate", curve.rate, 0.05, 10.0),
    )

    def predict(recall_times: np.ndarray, *, first_days: np.ndarray, limit_days: np.ndarray, rate: np.ndarray) -> np.ndarray:
        # Eq. 2 with mu = 1 in other words; a limit below the start is a strength that falls, which a fit may want and meet
        return first_days + (limit_days - first_days) * np.tanh(0.5 * rate * (recall_times - 1.0))

    def build(*, first_days: float, limit_days: float, rate: float) -> SigmoidStrength:
        if limit_days < first_days:
            raise InputError(
                f"strength falls with recalls in these data, from {first_days:.3g} to {limit_days:.3g} days: that is no sigmoid "
                "of Eq. 2. Use fit.predict, or look for what is wrong with the data."
            )
        return SigmoidStrength.from_limits(first_days=first_days, limit_days=limit_days, rate=rate)

    return Family(_name(curve), free, predict, build)


def _free(names: Sequence[str], values: Mapping[str, float], bounds: Mapping[str, tuple[float, float]]) -> tuple[Free, ...]:
    if unknown := [name for name in names if name not in bounds]:
        raise InputError(f"no parameter {', '.join(unknown)}; there are: {', '.join(bounds)}")
    return tuple(Free(name, values[name], *bounds[name]) for name in names)


def _name(curve: object) -> str:
    return getattr(curve, "kind", type(curve).__name__)
