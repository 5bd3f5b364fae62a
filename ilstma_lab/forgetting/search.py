"""The search for the best numbers of a family: several starts, bounds, gradients, the errors; and how the misfit is counted."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ilstma_lab.forgetting.families import Family

_STEP = 1e-5  # of a central difference, in search coordinates
_FLOOR = 1e-6  # a probability is never exactly 0 or 1: one surprise must not cost an infinite loss
_CANDIDATES = 60


@dataclass(frozen=True)
class Observed:
    """What a curve is fitted to: columns (each (n,)), the value seen in each row (n,), and what each row weighs (n,).

    kind "recalls": `seen` is a share of recalls and `weight` the number of questions it comes from. kind "points": `weight` is
    1 / error^2 where errors are `known`, else relative. `rows`: the number of observations behind it.
    """

    columns: tuple[np.ndarray, ...]
    seen: np.ndarray
    weight: np.ndarray
    kind: Literal["points", "recalls"]
    rows: int
    known: bool = False

    def misfit(self, predicted: np.ndarray) -> np.ndarray:
        """Return what the search makes small, shape (...) for predictions (..., n): chi^2, or -2 ln likelihood of recalls."""
        if self.kind == "points":
            return (self.weight * (self.seen - predicted) ** 2).sum(axis=-1)
        p = _FLOOR + (1 - 2 * _FLOOR) * predicted
        return -2.0 * (self.weight * (self.seen * np.log(p) + (1.0 - self.seen) * np.log1p(-p))).sum(axis=-1)

    def deviance(self, misfit: np.ndarray) -> np.ndarray:
        """Return -2 ln likelihood up to a constant: with unknown errors the likelihood is the one at their best size."""
        if self.kind == "recalls" or self.known:
            return np.asarray(misfit)
        return self.rows * np.log(np.maximum(misfit, 1e-300) / self.rows)

    def variance(self, predicted: np.ndarray, free: int) -> np.ndarray:
        """Return the variance of each seen value, shape (n,), with `free` numbers fitted."""
        if self.kind == "recalls":
            p = np.clip(predicted, _FLOOR, 1 - _FLOOR)
            return p * (1 - p) / self.weight
        spread = 1.0 if self.known else self.misfit(predicted) / max(self.rows - free, 1e-9)
        return spread / self.weight


class Search:
    """Finds the numbers of `family` that suit `observed` best, with some of them held where `fixed` says.

    It moves in search coordinates: the logarithm of what is bounded above 0, else the number itself.
    """

    def __init__(self, family: Family, observed: Observed, *, fixed: Mapping[str, float] | None = None):
        self.family, self.observed, self.fixed = family, observed, dict(fixed or {})
        self.free = [free for free in family.free if free.name not in self.fixed]
        self.log = np.array([free.low > 0 for free in self.free], bool)
        self.low = self.into(np.array([free.low for free in self.free]))
        self.high = self.into(np.array([free.high for free in self.free]))
        level = observed.misfit(np.asarray(np.average(observed.seen, weights=observed.weight)))
        self.scale = observed.rows / max(float(level), 1e-12) if observed.kind == "points" and not observed.known else 1.0

    def into(self, numbers: np.ndarray) -> np.ndarray:
        """Return search coordinates of `numbers` (..., k)."""
        return np.where(self.log, np.log(np.where(self.log, numbers, 1.0)), numbers)

    def out_of(self, places: np.ndarray) -> np.ndarray:
        """Return the numbers at search coordinates (..., k)."""
        return np.where(self.log, np.exp(np.where(self.log, places, 0.0)), places)

    def predict(self, places: np.ndarray) -> np.ndarray:
        """Return predictions (m, n) at places (m, k)."""
        numbers = {free.name: column[:, None] for free, column in zip(self.free, self.out_of(places).T, strict=True)}
        return self.family.predict(*self.observed.columns, **numbers, **self.fixed)  # (m, n)

    def misfit(self, places: np.ndarray) -> np.ndarray:
        """Return the misfit (m,) at places (m, k)."""
        return self.observed.misfit(self.predict(places))

    def jacobian(self, place: np.ndarray) -> np.ndarray:
        """Return the derivative of each prediction by each search coordinate, shape (n, k)."""
        step = _STEP * np.eye(len(place))
        return ((self.predict(place + step) - self.predict(place - step)) / (2 * _STEP)).T

    def descend(self, start: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the lowest place that a descent from `start` reaches, and its misfit."""
        from scipy.optimize import minimize

        steps = np.vstack([np.zeros(len(start)), *(_STEP * np.eye(len(start))), *(-_STEP * np.eye(len(start)))])
        k = len(start)

        def value_and_slope(place: np.ndarray) -> tuple[float, np.ndarray]:
            values = self.scale * self.misfit(place + steps)  # (1 + 2 k,)
            return float(values[0]), (values[1 : k + 1] - values[k + 1 :]) / (2 * _STEP)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # older scipy tells of each step that it clips to the bounds
            # not L-BFGS-B: its tiny matrices wake all threads of the linear algebra, which takes longer than the search
            found = minimize(
                value_and_slope,
                np.clip(start, self.low, self.high),
                jac=True,
                method="SLSQP",
                bounds=np.column_stack([self.low, self.high]),
                options={"maxiter": 300, "ftol": 1e-11},
            )
        return found.x, float(found.fun) / self.scale

    def run(self, start: Mapping[str, float], *, starts: int = 4) -> tuple[dict[str, float], float]:
        """Return the best numbers and their misfit: a descent from `start`, and from the best of places drawn within the bounds.

        The draw is the same each time. With `starts=1` only `start` is tried.
        """
        if not self.free:
            return dict(self.fixed), float(self.misfit(np.zeros((1, 0)))[0])
        places = [self.into(np.array([start[free.name] for free in self.free]))]
        if starts > 1:
            drawn = np.random.default_rng(0).uniform(self.low, self.high, (_CANDIDATES, len(self.free)))
            misfits = np.nan_to_num(self.misfit(drawn), nan=np.inf)
            places += list(drawn[np.argsort(misfits, kind="stable")[: starts - 1]])
        place, misfit = min((self.descend(place) for place in places), key=lambda found: found[1])
        numbers = dict(zip((free.name for free in self.free), self.out_of(place).tolist(), strict=True))
        return {**numbers, **self.fixed}, misfit

    def standard_errors(self, values: Mapping[str, float]) -> tuple[dict[str, float], tuple[str, ...]]:
        """Return standard errors by name at the best numbers, and the names that the data do not tell.

        They come from the information matrix. A number is not told when its error is wider than all that is allowed: inf.
        """
        names = [free.name for free in self.free]
        numbers = np.array([values[name] for name in names])
        place, width = self.into(numbers), self.high - self.low
        slope = self.jacobian(place)  # (n, k)
        variance = np.maximum(self.observed.variance(self.predict(place[None])[0], len(place)), 1e-300)
        information = slope.T @ (slope / variance[:, None]) * np.outer(width, width)
        # a trace of prior knowledge, worth a millionth of the allowed width, keeps a flat direction finite
        errors = width * np.sqrt(np.diag(np.linalg.inv(information + 1e-6 * np.eye(len(place)))))
        loose = errors > width
        natural = np.where(loose, np.inf, np.where(self.log, numbers, 1.0) * errors)
        return dict(zip(names, natural.tolist(), strict=True)), tuple(np.array(names)[loose].tolist())
