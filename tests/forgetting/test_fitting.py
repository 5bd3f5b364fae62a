"""Fits: Ebbinghaus' seven points, his chapter VIII, known numbers given back, and what cannot be known."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as dataclass_field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.curve import RetentionCurve
from ilstma_lab.forgetting.data import load_forgetting
from ilstma_lab.forgetting.families import Family, Free, constant_family, recall_family, retention_family, strength_family
from ilstma_lab.forgetting.fitting import FitWarning, fit_constant, fit_recalls, fit_savings, fit_strength
from ilstma_lab.forgetting.recall_log import RecallLog
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.rivals import (
    EbbinghausRetention,
    FsrsRetention,
    LogarithmicRetention,
    PowerRetention,
    StretchedRetention,
    WickelgrenRetention,
)
from ilstma_lab.forgetting.savings import PROBABLE_ERROR, daily_strength, savings
from ilstma_lab.forgetting.simulation import simulate_log
from ilstma_lab.forgetting.strength import LinearStrength, PowerStrength, SigmoidStrength
from ilstma_lab.forgetting.uncertainty import bootstrap_by_item, profile_interval


def seven_points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    data = load_forgetting("ebbinghaus_1885_time")
    errors = data["probable_error_percent"] / PROBABLE_ERROR / 100
    return data["counted_minutes"] / 1440, data["savings_percent"] / 100, errors


def chapter_viii(syllables: int) -> np.ndarray:
    data = load_forgetting("ebbinghaus_1885_daily")
    return data["repetitions"][data["syllables"] == syllables]


@dataclass(frozen=True, kw_only=True)
class Scaled(RetentionCurve):
    """A curve that a reader writes in a cell: a exp(-t / S)."""

    bounds = {"start": (0.01, 1.0)}  # noqa: RUF012
    free = ("start", "strength_days")
    kind: str = dataclass_field(default="scaled", repr=False)
    start: float = 0.5

    @staticmethod
    def formula(time, *, start):
        return start * np.exp(-time)


# -- the one-page comparison ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("curve", "rmse", "r2", "aicc"),
    [
        (ExponentialRetention(), 0.255, -3.73, -12.1),
        (Scaled(), 0.091, 0.40, -19.6),
        (LogarithmicRetention(), 0.030, 0.94, -35.2),
        (StretchedRetention(), 0.029, 0.94, -35.5),
        (FsrsRetention(), 0.027, 0.947, -43.6),
        (PowerRetention(), 0.019, 0.973, -41.4),
        (WickelgrenRetention(), 0.019, 0.973, -41.3),
        (EbbinghausRetention(), 0.016, 0.980, -43.5),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_the_comparison_on_ebbinghaus_seven_points(curve, rmse, r2, aicc):
    days, kept, _ = seven_points()
    fit = fit_savings(days, kept, curve=curve)
    assert fit.rmse == pytest.approx(rmse, abs=5.1e-4)
    assert fit.r2 == pytest.approx(r2, abs=6e-3)
    assert fit.aicc == pytest.approx(aicc, abs=0.06)
    assert not fit.unidentified


@pytest.mark.parametrize(
    ("curve", "numbers"),
    [
        (PowerRetention(), {"scale": 0.318, "exponent": 0.131}),
        (LogarithmicRetention(), {"after_one": 0.336, "slope": 0.045}),
        (EbbinghausRetention(), {"k": 1.82, "c": 1.21}),
        (WickelgrenRetention(), {"exponent": 0.131}),
        (StretchedRetention(), {"shape": 0.128}),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_the_fitted_numbers(curve, numbers):
    days, kept, _ = seven_points()
    values = fit_savings(days, kept, curve=curve).values
    assert {name: values[name] for name in numbers} == pytest.approx(numbers, abs=6e-3)


def test_eq_1_is_worse_than_a_constant():
    days, kept, _ = seven_points()
    assert fit_savings(days, kept, curve=ExponentialRetention()).rmse > fit_savings(days, kept, curve=constant_family()).rmse


@pytest.mark.parametrize("kind", ["power", "logarithm of savings"])
def test_a_power_fit_against_brute_force_and_against_the_wrong_turn(kind):
    days, kept, _ = seven_points()
    fit = fit_savings(days, kept, curve=PowerRetention())
    if kind == "power":
        grid = np.exp(-np.linspace(0.05, 0.25, 2001) * np.log(days)[:, None])  # (7, 2001): scale has a closed form
        scale = (grid * kept[:, None]).sum(0) / (grid**2).sum(0)
        assert fit.misfit == pytest.approx(((kept[:, None] - scale * grid) ** 2).sum(0).min(), rel=1e-5)
    else:
        slope, level = np.polyfit(np.log(days), np.log(kept), 1)
        assert np.sqrt(np.mean((kept - np.exp(level) * days**slope) ** 2)) > fit.rmse


def test_errors_weigh_the_points():
    days, kept, errors = seven_points()
    plain, weighted = (fit_savings(days, kept, curve=PowerRetention(), errors=e) for e in (None, errors))
    assert weighted.misfit == pytest.approx(np.sum(((kept - weighted.predict(days)) / errors) ** 2))
    assert weighted.misfit < np.sum(((kept - plain.predict(days)) / errors) ** 2)
    assert weighted.rmse > plain.rmse


def test_standard_errors_are_those_of_linear_regression():
    n, days = np.arange(1, 8), np.array([2.0, 4.5, 6.1, 8.4, 9.7, 12.2, 14.3])
    fit = fit_strength(n, days, curve=LinearStrength())
    design = np.column_stack([np.ones(7), n - 1])
    best, rest, *_ = np.linalg.lstsq(design, days)
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * rest[0] / 5)
    assert list(fit.values.values()) == pytest.approx(best, rel=1e-5)
    assert list(fit.standard_errors.values()) == pytest.approx(errors, rel=1e-4)
    t = 2.5705818  # the 97.5 % point of t with 5 degrees of freedom
    interval = profile_interval(fit, "step_days")
    assert (interval.low, interval.high) == pytest.approx((best[1] - t * errors[1], best[1] + t * errors[1]), rel=1e-3)


# -- chapter VIII --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("syllables", "saved", "strengths", "r2"),
    [
        (12, [0.310, 0.525, 0.646, 0.766, 0.804], [0.85, 1.55, 2.29, 3.75, 4.58], 0.981),
        (24, [0.470, 0.701, 0.813, 0.873, 0.896], [1.33, 2.82, 4.84, 7.37, 9.06], 0.993),
        (36, [0.571, 0.786, 0.848, 0.902, 0.920], [1.79, 4.15, 6.07, 9.67, 11.94], 0.991),
    ],
)
def test_strength_grows_in_a_line_in_chapter_viii(syllables, saved, strengths, r2):
    work = chapter_viii(syllables)
    days = daily_strength(work)
    assert savings(work[0], work[1:]).round(3) == pytest.approx(saved, abs=1.1e-3)
    assert days.round(2).tolist() == strengths
    fit = fit_strength(np.arange(1, 6), days, curve=LinearStrength(first_days=1.0, step_days=1.0))
    assert fit.r2 == pytest.approx(r2, abs=5e-4)


@pytest.mark.parametrize(
    ("syllables", "line", "sigmoid", "printed"), [(12, 0.021, 0.080, 0.343), (24, 0.012, 0.049, 0.205), (36, 0.006, 0.034, 0.143)]
)
def test_a_line_beats_the_printed_sigmoid_in_savings(syllables, line, sigmoid, printed):
    work = chapter_viii(syllables)
    n, kept = np.arange(1.0, 6.0), savings(work[0], work[1:])

    def after_a_day(strength: Family) -> Family:
        return Family("a day", strength.free, lambda n, **s: np.exp(-1.0 / strength.predict(n, **s)), strength.build)

    scaled = Family("scaled", (Free("scale", 0.3, 0.01, 10.0),), lambda n, scale: scale * SigmoidStrength().days(n), dict)
    fits = [fit_savings(n, kept, curve=after_a_day(family)).rmse for family in (strength_family(LinearStrength()), scaled)]
    assert fits == pytest.approx([line, sigmoid], abs=6e-4)
    assert np.sqrt(np.mean((kept - np.exp(-1 / SigmoidStrength().days(n))) ** 2)) == pytest.approx(printed, abs=6e-4)


# -- known numbers -------------------------------------------------------------------------------------------------------


@given(scale=st.floats(0.05, 0.9), exponent=st.floats(0.05, 1.5))
@settings(max_examples=15)
def test_a_power_law_is_given_back(scale, exponent):
    days = np.array([1, 2, 4, 8, 16, 32.0])
    fit = fit_savings(days, PowerRetention(scale=scale, exponent=exponent).at(days, 1.0), curve=PowerRetention())
    assert (fit.values["scale"], fit.values["exponent"]) == pytest.approx((scale, exponent), rel=1e-3)


@given(first=st.floats(1, 20), growth=st.floats(5, 60), rate=st.floats(0.3, 2))
@settings(max_examples=15)
def test_a_sigmoid_is_given_back(first, growth, rate):
    truth = SigmoidStrength.from_limits(first_days=first, limit_days=first + growth, rate=rate)
    n = np.arange(1, 9)
    fit = fit_strength(n, truth.days(n), curve=SigmoidStrength())
    assert fit.curve.days(n) == pytest.approx(truth.days(n), rel=1e-3)
    assert list(fit.values.values()) == pytest.approx([first, first + growth, rate], rel=0.02)


def test_a_log_gives_back_its_curve_within_three_standard_errors():
    truth = {"first_days": 3.0, "limit_days": 15.0, "rate": 1.0}
    log = simulate_log(items=1500, strength=SigmoidStrength.from_limits(**truth), seed=5)
    fit = fit_recalls(log)
    for name, value in truth.items():
        assert abs(fit.values[name] - value) < 3 * fit.standard_errors[name]
    retention, strength = fit.curve
    assert isinstance(retention, ExponentialRetention)
    assert strength.first_days == pytest.approx(fit.values["first_days"])
    assert fit.predict([1.0], [1]) == pytest.approx(retention.at([1.0], strength.days([1])))


def test_another_curve_wins_where_it_is_the_truth():
    log = simulate_log(items=400, retention=FsrsRetention(decay=0.3), strength=PowerStrength(first_days=2.0), seed=3)
    families = [recall_family(), recall_family(FsrsRetention(), PowerStrength(), free=("decay",))]
    wrong, right = (fit_recalls(log, family=family) for family in families)
    assert right.aicc < wrong.aicc - 10
    assert abs(right.values["decay"] - 0.3) < 3 * right.standard_errors["decay"]
    assert right.aicc < fit_constant(log).aicc - 10


def test_a_log_of_one_interval_cell_has_the_closed_form():
    log = simulate_log(items=4000, questions=1, gaps_days=(2.0, 6.0), seed=1)
    fit = fit_recalls(log, family=recall_family(strength=strength_family(LinearStrength(), free=("first_days",))))
    grid = np.linspace(3, 8, 5001)
    p = np.exp(-log.interval_days[None, :50] / grid[:, None])
    assert p.shape == (5001, 50)
    hits = {t: log.recalled[log.interval_days == t] for t in (2.0, 6.0)}
    likelihood = sum(h.sum() * -t / grid + (~h).sum() * np.log1p(-np.exp(-t / grid)) for t, h in hits.items())
    assert fit.values["first_days"] == pytest.approx(grid[likelihood.argmax()], abs=2e-3)


def test_the_constant_is_the_share_of_recalls():
    log = simulate_log(items=50, seed=2)
    assert fit_constant(log).values["level"] == pytest.approx(log.recalled.mean(), abs=1e-6)


# -- what cannot be known ------------------------------------------------------------------------------------------------


def a_log(rows: int, *, recalled, interval_days=None) -> RecallLog:
    interval = np.arange(rows) % 7 + 1.0 if interval_days is None else np.full(rows, interval_days)
    return RecallLog(np.arange(rows), np.arange(rows), interval, np.arange(rows) % 5 + 1, np.resize(recalled, rows))


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (a_log(90, recalled=[1]), "all were recalled"),
        (a_log(90, recalled=[0]), "none was recalled"),
        (a_log(1, recalled=[1]), "1 questions, and 30 are needed"),
        (a_log(0, recalled=[1]), "0 questions"),
        (a_log(90, recalled=[1, 0, 1], interval_days=4.0), "all intervals are alike"),
        (a_log(90, recalled=[1, 0, 1], interval_days=0.0), "0 questions"),
    ],
    ids=["all hits", "all misses", "one row", "no row", "one interval", "all at once"],
)
def test_c11_what_a_log_cannot_tell_is_said_and_the_defaults_stand(log, reason):
    with pytest.warns(FitWarning, match=f"not identifiable: {reason}"):
        fit = fit_recalls(log)
    assert fit.curve == (ExponentialRetention(), SigmoidStrength())
    assert (fit.fitted, fit.unidentified) == (False, ("first_days", "limit_days", "rate"))
    assert "not identifiable" in str(fit)
    for free in fit.family.free:
        interval = profile_interval(fit, free.name)
        assert (interval.low, interval.high, interval.identified) == (free.low, free.high, False)
    assert np.isnan(bootstrap_by_item(log, fit, draws=3)["rate"]).all()


def test_c11_one_number_of_recalls_tells_only_the_first_strength():
    fit = fit_recalls(simulate_log(items=400, questions=1, seed=4))
    assert fit.fitted
    assert fit.unidentified == ("limit_days", "rate")
    assert np.isfinite(fit.standard_errors["first_days"])
    assert profile_interval(fit, "first_days").identified
    assert not profile_interval(fit, "limit_days").identified


def test_the_four_constants_are_a_flat_valley():
    names = ("alpha", "beta", "xi", "mu")
    n = np.arange(1, 6)
    fit = fit_strength(n, SigmoidStrength().days(n), curve=strength_family(SigmoidStrength(), free=names), errors=np.full(5, 0.5))
    limits = fit_strength(n, SigmoidStrength().days(n), curve=SigmoidStrength(), errors=np.full(5, 0.5))
    assert fit.standard_errors["alpha"] > 5 * limits.standard_errors["limit_days"]


def test_fewer_points_than_numbers_give_the_defaults_and_a_warning():
    with pytest.warns(FitWarning, match="2 different points for 3 free numbers"):
        fit = fit_strength([1, 2], [5, 9], curve=SigmoidStrength())
    assert fit.curve == SigmoidStrength()
    assert "nothing tests it" in fit_strength([1, 2, 3], [5, 9, 10], curve=SigmoidStrength()).note
    assert fit_strength([1, 2, 3], [5, 9, 10], curve=SigmoidStrength()).aicc == np.inf


def test_a_strength_that_falls_is_no_sigmoid():
    fit = fit_strength([1, 2, 3, 4], [9.0, 5.0, 4.0, 3.5], curve=SigmoidStrength())
    assert fit.predict([1, 4]) == pytest.approx([9.0, 3.5], abs=0.3)
    with pytest.raises(InputError, match="strength falls with recalls in these data"):
        _ = fit.curve


def test_a_number_at_its_bound_is_told():
    days = np.array([1.0, 2, 4, 8])
    assert (
        "at the bound of what is allowed: decay"
        in fit_savings(days, np.exp(-days), curve=retention_family(FsrsRetention(), free=("strength_days", "decay"))).note
    )


@pytest.mark.parametrize(
    ("points", "reason"),
    [
        (([1, 2], [0.5]), "one length"),
        (([1, 2], [0.5, float("nan")]), "finite"),
        (([1, 2], [0.5, 0.4], [0.1, 0.0]), "error must be positive"),
    ],
)
def test_points_without_sense_are_refused(points, reason):
    with pytest.raises(InputError, match=reason):
        fit_savings(*points[:2], curve=PowerRetention(), errors=points[2] if len(points) > 2 else None)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: retention_family(PowerRetention(), free=("decay",)),
        lambda: strength_family(LinearStrength(), free=("rate",)),
        lambda: recall_family(PowerRetention(), PowerStrength(), free=("exponent",)),
    ],
)
def test_unknown_or_shared_names_are_refused(wrong):
    with pytest.raises(InputError, match=r"no parameter|both have a parameter exponent"):
        wrong()
