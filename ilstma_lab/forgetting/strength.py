"""Memory strength S, in days, as a function of the number of recalls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from ilstma_lab.forgetting.curve import Bounds, StrengthCurve, check_recall_times


@dataclass(frozen=True, kw_only=True)
class SigmoidStrength(StrengthCurve):
    """Strength that grows fast at first and then saturates: S(n) = beta + alpha / (1 + exp(xi (n - mu))), in days.

    Source: ILSTMA, Eq. 2, with its constants as defaults. With mu = 1 only the upper half of the sigmoid is used, so
    S(1) = beta + alpha / 2 and S(inf) = beta + alpha; `from_limits` takes these two and the rate instead.

    Paper note: the text says that S lies in [5, 25] for 1 to 5 recalls; the printed constants give S(5) = 23.41.

    >>> SigmoidStrength().days(np.array([1, 2, 5])).round(3).tolist()
    [5.0, 16.75, 23.409]
    """

    bounds: ClassVar[Bounds] = {"alpha": (0.0, 1e5), "beta": (-1e5, 1e5), "xi": (-20.0, -1e-3), "mu": (-100.0, 100.0)}
    kind: Literal["sigmoid"] = field(default="sigmoid", repr=False)
    alpha: float = 37.0
    beta: float = -13.5
    xi: float = -1.5
    mu: float = 1.0

    def problems(self) -> list[str]:
        """Return what is wrong with the constants: one out of bounds, or an S(1) that is not positive."""
        found = super().problems()
        if not found and self.first_days <= 0:
            found.append(f"S(1) must be positive (got {self.first_days:.3g} days): raise beta or alpha")
        return found

    @classmethod
    def from_limits(cls, *, first_days: float = 5.0, limit_days: float = 23.5, rate: float = 1.5) -> SigmoidStrength:
        """Return the sigmoid with S(1) = `first_days` and S(inf) = `limit_days`, mu = 1, xi = -`rate` a recall."""
        alpha = 2.0 * (limit_days - first_days)
        return cls(alpha=alpha, beta=limit_days - alpha, xi=-rate, mu=1.0)

    @property
    def first_days(self) -> float:
        """S(1), in days."""
        return float(self.formula(1.0, **self.parameters))

    @property
    def limit_days(self) -> float:
        """S(inf), in days."""
        return self.beta + self.alpha

    @property
    def rate(self) -> float:
        """How fast S nears its limit: -xi, a recall."""
        return -self.xi

    @staticmethod
    def formula(
        recall_times: np.ndarray,
        *,
        alpha: np.ndarray | float,
        beta: np.ndarray | float,
        xi: np.ndarray | float,
        mu: np.ndarray | float,
    ) -> np.ndarray:
        """Return beta + alpha / (1 + exp(xi (n - mu)))."""
        with np.errstate(over="ignore"):  # inf far below mu, where the fraction is 0 as it should be
            return beta + alpha / (1.0 + np.exp(xi * (recall_times - mu)))


@dataclass(frozen=True, kw_only=True)
class LinearStrength(StrengthCurve):
    """Strength that grows by the same step with every recall: S(n) = first_days + step_days (n - 1), in days.

    Source: MemoryBank, section 2.3, where S starts at 1 and grows by 1.

    >>> LinearStrength().days(np.array([1, 3])).tolist()
    [1.0, 3.0]
    """

    bounds: ClassVar[Bounds] = {"first_days": (1e-3, 1e5), "step_days": (0.0, 1e5)}
    kind: Literal["linear"] = field(default="linear", repr=False)
    first_days: float = 1.0
    step_days: float = 1.0

    @staticmethod
    def formula(recall_times: np.ndarray, *, first_days: np.ndarray | float, step_days: np.ndarray | float) -> np.ndarray:
        """Return first_days + step_days * (n - 1)."""
        return first_days + step_days * (recall_times - 1.0)


@dataclass(frozen=True, kw_only=True)
class PowerStrength(StrengthCurve):
    """Strength that grows by a power of the recalls: S(n) = first_days n^exponent, in days.

    An exponent below 1 gives each recall less than the one before, without a limit; 1 is proportional.
    Source: the power law of practice, Newell & Rosenbloom 1981, put on strength.

    >>> PowerStrength(first_days=5.0, exponent=0.5).days(np.array([1, 4])).tolist()
    [5.0, 10.0]
    """

    bounds: ClassVar[Bounds] = {"first_days": (1e-3, 1e5), "exponent": (0.0, 5.0)}
    kind: Literal["power"] = field(default="power", repr=False)
    first_days: float = 5.0
    exponent: float = 1.0

    @staticmethod
    def formula(recall_times: np.ndarray, *, first_days: np.ndarray | float, exponent: np.ndarray | float) -> np.ndarray:
        """Return first_days * n^exponent."""
        return first_days * recall_times**exponent


@dataclass(frozen=True, kw_only=True)
class TableStrength(StrengthCurve):
    """Strength read off a table: the n-th of `steps_days`, in days, the last one for every further recall.

    Source: none; for points that a reader drags. Between whole recalls it is a straight line.

    >>> TableStrength(steps_days=(1.0, 3.0, 9.0)).days(np.array([1, 2, 7])).tolist()
    [1.0, 3.0, 9.0]
    """

    kind: Literal["table"] = field(default="table", repr=False)
    steps_days: tuple[float, ...] = (5.0, 16.75, 21.745, 23.093, 23.409)

    def problems(self) -> list[str]:
        """Return what is wrong with the steps: none given, or one that is not positive."""
        steps = enumerate(self.steps_days, 1)
        bad = [f"step {n} must be positive and finite (got {days:g})" for n, days in steps if not 0 < days < np.inf]
        return super().problems() + (bad if self.steps_days else ["give at least one step"])

    def days(self, recall_times: np.ndarray) -> np.ndarray:
        """Return S in days, same shape as `recall_times`. Raises InputError below one recall."""
        return np.asarray(np.interp(check_recall_times(recall_times), np.arange(1, len(self.steps_days) + 1), self.steps_days))


AnyStrength = SigmoidStrength | LinearStrength | PowerStrength | TableStrength
