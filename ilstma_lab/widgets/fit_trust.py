"""A fit and how far it can be trusted, computed together: intervals, the likelihood around it, the split by time, the scores."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import numpy as np

from ilstma_lab.forgetting.families import STRENGTH_DAYS, Family, constant_family
from ilstma_lab.forgetting.fitting import Fit, FitWarning, fit_constant, fit_observed, fit_recalls, fit_strength
from ilstma_lab.forgetting.scores import brier, log_loss
from ilstma_lab.forgetting.search import Observed
from ilstma_lab.forgetting.uncertainty import Interval, bootstrap_by_item, likelihood_surface, profile, profile_interval
from ilstma_lab.plots.fits import Surface
from ilstma_lab.widgets.fit_data import FitData

_CHI2 = 3.841  # the 95 % quantile for one number
_GRID = (25, 61)  # places along each number: fewer for a log of many cells, so that the surface fits in memory
_EVALUATIONS = 1e7


@dataclass(frozen=True, eq=False)
class Trust:
    """The fit to all data; profile-likelihood intervals; surfaces by pair of names; the fit to the earlier data; the bootstrap.

    `level` is the rise of the deviance at the ends of the intervals. `drawn` holds the refits by name, {} where none were asked.
    """

    fit: Fit
    intervals: Mapping[str, Interval]
    surfaces: Mapping[tuple[str, str], Surface]
    level: float
    early: Fit
    drawn: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Score:
    """How well one curve does. Of a log, `miss` is the log loss in nats and `second` the Brier score; of points, RMSE and R^2."""

    aicc: float
    miss: float
    second: float
    later_miss: float
    later_second: float


def trust(data: FitData, family: Family, *, draws: int = 0) -> Trust:
    """Return the fit of `family` and what is to be known of it, with `draws` bootstrap refits by item."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # its words are in fit.note, and on the screen
        fit, early = fitted(data, family), fitted(data.halves[0], family)
        intervals = {name: profile_interval(fit, name) for name in family.names}
        drawn = bootstrap_by_item(data.log, fit, draws=draws) if draws and data.log is not None else {}
    surfaces = {pair: _surface(fit, intervals, pair) for pair in combinations(family.names, 2)}
    return Trust(fit, intervals, surfaces, _level(fit, intervals), early, drawn)


def fitted(data: FitData, family: Family) -> Fit:
    """Return the fit; to points by least squares, to a log by maximum likelihood."""
    return fit_strength(data.n, data.days, curve=family) if data.log is None else fit_recalls(data.log, family=family)


@lru_cache(maxsize=16)
def constant(data: FitData) -> Fit:
    """Return the baseline: the same value everywhere."""
    if data.log is None:
        share = constant_family()
        days = replace(share.free[0], low=STRENGTH_DAYS[0], high=STRENGTH_DAYS[1])
        return fit_observed(replace(share, free=(days,)), data.observed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        return fit_constant(data.log)


def held(family: Family, observed: Observed, numbers: Mapping[str, float]) -> Fit:
    """Return a guess as a fit without a free number, so that it is scored as fits are."""
    fixed = Family(family.name, (), lambda *columns: family.predict(*columns, **numbers), lambda: None)
    return Fit(fixed, observed, {}, {}, float(observed.misfit(fixed.predict(*observed.columns))), fitted=False)


def scores(data: FitData, whole: Fit, early: Fit) -> Score:
    """Return the scores of `whole` on all data, and of `early` on the later ones, which it has not seen."""
    later = data.halves[1]
    return Score(whole.aicc, *_pair(data, whole), *_pair(later, early))


def _pair(data: FitData, fit: Fit) -> tuple[float, float]:
    if not len(data):
        return np.nan, np.nan
    if data.log is not None:
        seen, predicted = data.log.recalled, fit.predict(data.log.interval_days, data.log.recall_times)
        return log_loss(seen, predicted), brier(seen, predicted).score
    left, spread = data.days - fit.predict(data.n), float(np.var(data.days))
    return float(np.sqrt(np.mean(left**2))), 1 - float(np.mean(left**2)) / spread if spread > 0 else np.nan


def _level(fit: Fit, intervals: Mapping[str, Interval]) -> float:
    for name, interval in intervals.items():
        if fit.fitted and interval.high_closed:
            return float(profile(fit, name, [interval.high])[0])
    return _CHI2


def _surface(fit: Fit, intervals: Mapping[str, Interval], pair: tuple[str, str]) -> Surface:
    places = int(np.clip(np.sqrt(_EVALUATIONS / max(len(fit.observed.seen), 1)), *_GRID))
    x, y = (_around(fit, name, intervals[name], places) for name in pair)
    rise = likelihood_surface(fit, (pair[0], x), (pair[1], y))
    return Surface(x, y, np.maximum(rise - min(float(rise.min()), 0.0), 0.0))


def _around(fit: Fit, name: str, interval: Interval, places: int) -> np.ndarray:
    """Return `places` values to look at: the interval and some more; where it has no end, several times as far as the fit."""
    free = next(free for free in fit.family.free if free.name == name)
    least, best = max(free.low, 1e-3), max(fit.values[name], 1e-3)
    low = max(interval.low, least) if interval.low_closed else best / 6
    high = interval.high if interval.high_closed else best * 6
    room = (high / low) ** 0.25
    low = max(low / room if interval.low_closed else low, least)
    return np.geomspace(low, max(min(high * room, free.high), 1.05 * low), places)
