"""How far fitted numbers can be trusted: profile likelihood, its intervals, the bootstrap by item, the likelihood surface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.fitting import Fit, observed_of
from ilstma_lab.forgetting.recall_log import RecallLog
from ilstma_lab.forgetting.search import Search


@dataclass(frozen=True)
class Interval:
    """Where a number may lie. An end that is not `closed` is only the bound of what was allowed: the data set no limit there."""

    low: float
    high: float
    low_closed: bool = True
    high_closed: bool = True

    @property
    def identified(self) -> bool:
        """Whether the data limit the number on both sides."""
        return self.low_closed and self.high_closed

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def profile(fit: Fit, name: str, values: Sequence[float]) -> np.ndarray:
    """Return the deviance above the best fit at each value of one number, the others fitted anew; shape (n_values,).

    Half of it is the loss in ln likelihood. It does not go below 0 by more than the search's precision.
    """
    _check_name(fit, name)
    return np.array([_Profile(fit, name).above(float(value)) for value in values])


def profile_interval(fit: Fit, name: str, *, level: float = 0.95) -> Interval:
    """Return the values of one number that the data do not reject: those whose profile rises by less than the chi^2 quantile.

    For points of unknown error the quantile is that of t, so that seven points are not taken for many. Where the fit is made
    of defaults, the interval is all that is allowed, and open.

    Source: Venzon & Moolgavkar 1988, Applied Statistics 37, 87-94.
    """
    _check_name(fit, name)
    free = next(free for free in fit.family.free if free.name == name)
    if not fit.fitted:
        return Interval(free.low, free.high, low_closed=False, high_closed=False)
    walk = _Profile(fit, name)
    low, high = (walk.end(limit, rise=_rise(fit, level)) for limit in (free.low, free.high))
    return Interval(low[0], high[0], low_closed=low[1], high_closed=high[1])


def bootstrap_by_item(log: RecallLog, fit: Fit, *, draws: int = 200, seed: int = 0) -> dict[str, np.ndarray]:
    """Return the numbers of refits to logs in which whole items are drawn with replacement, each of shape (draws,).

    Questions about one item hang together (some items are easier), which the likelihood does not know: where these spread
    wider than the profile interval says, believe these. Quantiles of each array give its interval. A fit made of defaults gives
    no spread, so its arrays are nan.
    """
    if not fit.fitted:
        return {name: np.full(draws, np.nan) for name in fit.family.names}
    log = log.after(0.0)
    items, owner = np.unique(log.item, return_inverse=True)
    rng = np.random.default_rng(seed)
    found = np.empty((draws, len(fit.family.free)))
    for draw in range(draws):
        times = rng.multinomial(len(items), np.full(len(items), 1 / len(items)))
        search = Search(fit.family, observed_of(log, times[owner]))
        values, _ = search.run(fit.values, starts=1)
        found[draw] = [values[name] for name in fit.family.names]
    return dict(zip(fit.family.names, found.T, strict=True))


def likelihood_surface(fit: Fit, x: tuple[str, Sequence[float]], y: tuple[str, Sequence[float]]) -> np.ndarray:
    """Return the deviance above the best fit over a grid of two numbers, shape (n_y, n_x), the others held at their best.

    A slice, not a profile: it is computed at once, and is never below the profile.
    """
    (x_name, across), (y_name, up) = x, y
    _check_name(fit, x_name)
    _check_name(fit, y_name)
    grid = np.meshgrid(np.asarray(across, dtype=np.float64), np.asarray(up, dtype=np.float64))
    numbers = {x_name: grid[0].reshape(-1, 1), y_name: grid[1].reshape(-1, 1)}
    misfit = fit.observed.misfit(fit.family.predict(*fit.observed.columns, **{**fit.values, **numbers}))
    return (fit.observed.deviance(misfit) - fit.deviance).reshape(grid[0].shape)


class _Profile:
    """The profile of one number, walked outwards from the best fit; each search begins where the last one ended."""

    def __init__(self, fit: Fit, name: str):
        self.fit, self.name = fit, name
        self.values = dict(fit.values)

    def above(self, value: float) -> float:
        search = Search(self.fit.family, self.fit.observed, fixed={self.name: value})
        self.values, misfit = search.run(self.values, starts=1)
        return float(self.fit.observed.deviance(misfit)) - self.fit.deviance

    def end(self, limit: float, *, rise: float) -> tuple[float, bool]:
        """Return the value towards `limit` at which the profile has risen by `rise`, and whether it does so before the limit."""
        from scipy.optimize import brentq

        self.values = dict(self.fit.values)
        whole = Search(self.fit.family, self.fit.observed)
        at = self.fit.family.names.index(self.name)
        log = bool(whole.log[at])
        best, wall = ((np.log(v) if log else v) for v in (self.fit.values[self.name], limit))
        step = self._first_step(log, wall - best, np.sqrt(rise))

        def missing(place: float) -> float:
            # the root of the rise is nearly straight, which the search for its crossing likes
            value = float(np.exp(place) if log else place)
            return float(np.sqrt(max(self.above(value), 0.0)) - np.sqrt(rise))

        inside, outside = best, best
        while outside != wall:
            inside, outside = outside, outside + step
            if (outside - wall) * np.sign(step) >= 0:
                outside = wall
            if missing(outside) > 0:
                break
            step *= 1.5
        else:
            return limit, False
        place = brentq(missing, inside, outside, xtol=1e-3 * abs(outside - inside), rtol=1e-12)
        return float(np.exp(place) if log else place), True

    def _first_step(self, log: bool, room: float, far: float) -> float:
        error = self.fit.standard_errors[self.name] / (abs(self.fit.values[self.name]) if log else 1.0)
        size = far * error if np.isfinite(error) and error > 0 else abs(room) / 8
        return float(np.sign(room) * min(max(size, 1e-6), max(abs(room) / 4, 1e-12)))


def _rise(fit: Fit, level: float) -> float:
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1 (got {level:g})")
    observed = fit.observed
    if observed.kind == "recalls" or observed.known:
        return NormalDist().inv_cdf(0.5 + level / 2) ** 2
    from scipy.special import stdtrit

    spare = observed.rows - len(fit.family.free)
    return float(observed.rows * np.log1p(stdtrit(spare, 0.5 + level / 2) ** 2 / spare)) if spare > 0 else np.inf


def _check_name(fit: Fit, name: str) -> None:
    if name not in fit.family.names:
        raise InputError(f"{name!r} is not a free number of this fit; there are: {', '.join(fit.family.names)}")
