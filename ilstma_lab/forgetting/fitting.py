"""Fits of forgetting curves: to savings, to strengths, to logs of recalls; and what such data cannot say."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.curve import RetentionCurve, StrengthCurve
from ilstma_lab.forgetting.families import Family, constant_family, recall_family, retention_family, strength_family
from ilstma_lab.forgetting.recall_log import RecallLog
from ilstma_lab.forgetting.search import Observed, Search

LEAST_PER_NUMBER = 10  # questions in a log for each free number; with fewer the defaults stand


class FitWarning(UserWarning):
    """The data are too few, or of a kind that cannot tell the numbers."""


@dataclass(frozen=True)
class Fit:
    """The numbers of a family that suit the data best, and how far they can be trusted.

    `values` and `standard_errors` (from the information matrix; inf where nothing holds a number) by name. `unidentified` names
    those that the data do not tell. `fitted` is False where the defaults stand instead. `note` says all this in words.
    """

    family: Family
    observed: Observed = field(repr=False)
    values: Mapping[str, float]
    standard_errors: Mapping[str, float]
    misfit: float
    fitted: bool = True
    unidentified: tuple[str, ...] = ()
    note: str = ""

    def __str__(self) -> str:
        found = (f"{name} {value:.4g} ± {self.standard_errors[name]:.2g}" for name, value in self.values.items())
        return f"{self.family.name}: {', '.join(found)}" + (f" ({self.note})" if self.note else "")

    @property
    def curve(self) -> Any:
        """The fitted curve; of a recall family, the pair (retention, strength). Raises InputError where strength falls with n."""
        return self.family.build(**self.values)

    def predict(self, *columns: np.ndarray) -> np.ndarray:
        """Return what the fit predicts for columns of the family: interval_days, or recall_times, or both."""
        return self.family.predict(*(np.asarray(column, dtype=np.float64) for column in columns), **self.values)

    @property
    def deviance(self) -> float:
        """-2 ln likelihood; for points, up to a constant that all curves share."""
        return float(self.observed.deviance(self.misfit))

    @property
    def aicc(self) -> float:
        """Akaike's criterion with its correction for few data: the lower the better, on the same data only.

        An unknown size of the errors counts as one number more. inf where the data are too few for the correction.
        """
        numbers = len(self.family.free) + (self.observed.kind == "points" and not self.observed.known)
        spare = self.observed.rows - numbers - 1
        return self.deviance + 2 * numbers + 2 * numbers * (numbers + 1) / spare if spare > 0 else np.inf

    @property
    def rmse(self) -> float:
        """Root of the mean squared residual of points, each counted once, in their own unit."""
        return float(np.sqrt(np.mean((self.observed.seen - self.predict(*self.observed.columns)) ** 2)))

    @property
    def r2(self) -> float:
        """Share of the points' variance that the curve explains; below 0 it is worse than their mean."""
        spread = np.mean((self.observed.seen - self.observed.seen.mean()) ** 2)
        return float(1 - self.rmse**2 / spread) if spread > 0 else np.nan


def fit_savings(
    interval_days: np.ndarray,
    savings: np.ndarray,
    *,
    curve: RetentionCurve | Family,
    errors: np.ndarray | None = None,
) -> Fit:
    """Return the fit of a retention curve to savings (or any retention in [0, 1]) by least squares.

    `errors`: standard deviations of the savings (a probable error / 0.6745); with them each point weighs 1 / error^2.
    Source of the practice: forgetting data are fitted in R, not in ln R, or the smallest values decide.

    >>> from ilstma_lab.forgetting.rivals import PowerRetention
    >>> round(fit_savings([1, 2, 4], [0.5, 0.25, 0.125], curve=PowerRetention()).values["exponent"], 6)
    1.0
    """
    family = curve if isinstance(curve, Family) else retention_family(curve)
    return _fit_points(family, interval_days, savings, errors)


def fit_strength(
    recall_times: np.ndarray,
    strength_days: np.ndarray,
    *,
    curve: StrengthCurve | Family,
    errors: np.ndarray | None = None,
) -> Fit:
    """Return the fit of a strength curve to points (n, S in days) by least squares; `errors` as in `fit_savings`.

    >>> from ilstma_lab.forgetting.strength import LinearStrength
    >>> round(fit_strength([1, 2, 3], [2, 5, 8], curve=LinearStrength()).values["step_days"], 6)
    3.0
    """
    family = curve if isinstance(curve, Family) else strength_family(curve)
    return _fit_points(family, recall_times, strength_days, errors)


def fit_recalls(log: RecallLog, *, family: Family | None = None) -> Fit:
    """Return the fit of a family (Eq. 3 unless given) to a log of recalls by maximum likelihood.

    Rows asked on the same instant as the last recall are left out: R is 1 there under every curve. The defaults stand, with a
    FitWarning, where there are fewer than ten questions for each free number, where all or none were recalled, or where all
    intervals are alike.
    """
    family = recall_family() if family is None else family
    log = log.after(0.0)
    observed = observed_of(log)
    if reason := _cannot(log, len(family.free)):
        return _defaults(family, observed, reason)
    return fit_observed(family, observed)


def fit_constant(log: RecallLog) -> Fit:
    """Return the baseline that every model of a log must beat: the share of recalls, whatever the interval."""
    family, observed = constant_family(), observed_of(log.after(0.0))
    return fit_observed(family, observed) if observed.rows else _defaults(family, observed, "the log is empty")


def observed_of(log: RecallLog, weight: np.ndarray | None = None) -> Observed:
    """Return a log as the likelihood needs it: rows with the same interval and number of recalls are counted together."""
    interval, times, asked, recalled = log.cells(weight)
    return Observed((interval, times), recalled / asked, asked, "recalls", rows=round(float(asked.sum())))


def fit_observed(family: Family, observed: Observed) -> Fit:
    """Return the fit with its standard errors, and a note on what the data do not tell."""
    search = Search(family, observed)
    values, misfit = search.run(family.starts)
    errors, loose = search.standard_errors(values)
    notes = [f"not identifiable from these data: {', '.join(loose)}"] if loose else []
    at_bound = [f.name for f in family.free if f.name not in loose and _at_bound(values[f.name], f.low, f.high)]
    notes += [f"at the bound of what is allowed: {', '.join(at_bound)}"] if at_bound else []
    if observed.kind == "points" and observed.rows == len(family.free):
        notes.append("as many points as free numbers: the curve meets them all, and nothing tests it")
    return Fit(family, observed, values, errors, misfit, unidentified=loose, note="; ".join(notes))


def _fit_points(family: Family, x: np.ndarray, y: np.ndarray, errors: np.ndarray | None) -> Fit:
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    sigma = np.ones_like(y) if errors is None else np.asarray(errors, dtype=np.float64)
    problems = []
    if not (x.ndim == 1 and x.shape == y.shape == sigma.shape):
        problems.append(f"points and errors must be columns of one length (got {x.shape}, {y.shape}, {sigma.shape})")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        problems.append("every point must be a finite number")
    if not ((sigma > 0) & np.isfinite(sigma)).all():
        problems.append("every error must be positive and finite")
    if problems:
        raise InputError("points: " + "; ".join(problems))
    observed = Observed((x,), y, sigma**-2, "points", rows=len(y), known=errors is not None)
    if len(np.unique(x)) < len(family.free):
        return _defaults(family, observed, f"{len(np.unique(x))} different points for {len(family.free)} free numbers")
    return fit_observed(family, observed)


def _cannot(log: RecallLog, free: int) -> str:
    """Return why a log cannot tell any number, or nothing."""
    if len(log) < LEAST_PER_NUMBER * free:
        return f"{len(log)} questions, and {LEAST_PER_NUMBER * free} are needed for {free} free numbers"
    if log.recalled.all():
        return "all were recalled, which any great strength explains"
    if not log.recalled.any():
        return "none was recalled, which any small strength explains"
    if np.ptp(log.interval_days) == 0:
        return "all intervals are alike, so nothing shows how recall falls with time"
    return ""


def _defaults(family: Family, observed: Observed, reason: str) -> Fit:
    note = f"not identifiable: {reason}. The defaults stand."
    warnings.warn(note, FitWarning, stacklevel=4)
    misfit = float(observed.misfit(family.predict(*observed.columns, **family.starts)))
    unknown = dict.fromkeys(family.names, np.inf)
    return Fit(family, observed, family.starts, unknown, misfit, fitted=False, unidentified=family.names, note=note)


def _at_bound(value: float, low: float, high: float) -> bool:
    return bool(np.isclose(value, low, rtol=1e-6, atol=1e-9) or np.isclose(value, high, rtol=1e-6, atol=1e-9))
