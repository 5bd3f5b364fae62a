"""Memory strength S, in days, as a function of the number of recalls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ilstma_lab.errors import InputError


def check_recall_times(recall_times: np.ndarray) -> np.ndarray:
    """Return `recall_times` as float64. Raises InputError where one is below 1: Eq. 2 is negative there."""
    times = np.asarray(recall_times, dtype=np.float64)
    if times.size and not (times >= 1).all():
        raise InputError(f"recall_times must be >= 1 (got {times.min():g}): Eq. 2 is negative below 1")
    return times


@dataclass(frozen=True, kw_only=True)
class SigmoidStrength:
    """Strength that grows fast at first and then saturates: S(n) = beta + alpha / (1 + exp(xi (n - mu))), in days.

    Source: ILSTMA, Eq. 2, with its constants as defaults. With mu = 1 only the upper half of the sigmoid is used, so
    S(1) = beta + alpha / 2 and S(inf) = beta + alpha; `from_limits` takes these two and the rate instead.

    Paper note: the text says that S lies in [5, 25] for 1 to 5 recalls; the printed constants give S(5) = 23.41.

    >>> SigmoidStrength().days(np.array([1, 2, 5])).round(3).tolist()
    [5.0, 16.75, 23.409]
    """

    alpha: float = 37.0
    beta: float = -13.5
    xi: float = -1.5
    mu: float = 1.0

    def __post_init__(self) -> None:
        problems = []
        if not all(np.isfinite([self.alpha, self.beta, self.xi, self.mu])):
            problems.append("every constant must be a finite number")
        elif self.xi >= 0:
            problems.append(f"xi must be negative (got {self.xi:g}), or strength falls with every recall")
        elif self.alpha < 0:
            problems.append(f"alpha must be >= 0 (got {self.alpha:g}), or strength falls with every recall")
        elif self._at(1.0) <= 0:
            problems.append(f"S(1) must be positive (got {self._at(1.0):.3g} days): raise beta or alpha")
        if problems:
            raise InputError("SigmoidStrength: " + "; ".join(problems))

    @classmethod
    def from_limits(cls, *, first_days: float = 5.0, limit_days: float = 23.5, rate: float = 1.5) -> SigmoidStrength:
        """Return the sigmoid with S(1) = `first_days` and S(inf) = `limit_days`, mu = 1, xi = -`rate` a recall."""
        alpha = 2.0 * (limit_days - first_days)
        return cls(alpha=alpha, beta=limit_days - alpha, xi=-rate, mu=1.0)

    def _at(self, n: np.ndarray | float) -> np.ndarray | float:
        # exp overflows to inf far below mu, where the fraction is 0 as it should be
        with np.errstate(over="ignore"):
            return self.beta + self.alpha / (1.0 + np.exp(self.xi * (n - self.mu)))

    def days(self, recall_times: np.ndarray) -> np.ndarray:
        """Return S in days, same shape as `recall_times`. Raises InputError below one recall."""
        return np.asarray(self._at(check_recall_times(recall_times)))


@dataclass(frozen=True, kw_only=True)
class LinearStrength:
    """Strength that grows by the same step with every recall: S(n) = first + step (n - 1), in days.

    Source: MemoryBank, section 2.3, where S starts at 1 and grows by 1.

    >>> LinearStrength().days(np.array([1, 3])).tolist()
    [1.0, 3.0]
    """

    first_days: float = 1.0
    step_days: float = 1.0

    def __post_init__(self) -> None:
        if not (self.first_days > 0 and self.step_days >= 0):
            raise InputError(
                f"LinearStrength needs first_days > 0 and step_days >= 0 (got {self.first_days:g}, {self.step_days:g})"
            )

    def days(self, recall_times: np.ndarray) -> np.ndarray:
        """Return S in days, same shape as `recall_times`. Raises InputError below one recall."""
        return self.first_days + self.step_days * (check_recall_times(recall_times) - 1.0)
