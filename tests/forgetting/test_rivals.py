"""The rival curves: golden numbers, what holds for every one of them, and their bounds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.data import load_forgetting
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.rivals import (
    EbbinghausRetention,
    FsrsRetention,
    LogarithmicRetention,
    PowerRetention,
    StretchedRetention,
    WickelgrenRetention,
)

curves = st.one_of(
    st.just(ExponentialRetention()),
    st.builds(StretchedRetention, shape=st.floats(0.05, 2)),
    st.builds(PowerRetention, scale=st.floats(0.01, 2), exponent=st.floats(0.01, 3)),
    st.builds(WickelgrenRetention, start=st.floats(0.1, 1), speed=st.floats(0.01, 1e5), exponent=st.floats(0.01, 3)),
    st.builds(LogarithmicRetention, after_one=st.floats(0, 1), slope=st.floats(0, 0.5)),
    st.builds(EbbinghausRetention, k=st.floats(0.1, 10), c=st.floats(0.1, 5)),
    st.builds(FsrsRetention, decay=st.floats(0.1, 0.8)),
)
EVERY = [
    ExponentialRetention(),
    StretchedRetention(),
    PowerRetention(),
    WickelgrenRetention(),
    LogarithmicRetention(),
    EbbinghausRetention(),
    FsrsRetention(),
]
by_kind = pytest.mark.parametrize("curve", EVERY, ids=lambda curve: curve.kind)


def test_ebbinghaus_own_curve_gives_the_values_that_he_printed():
    data = load_forgetting("ebbinghaus_1885_time")
    found = 100 * EbbinghausRetention().at(data["counted_minutes"] / 1440, 1.0)
    assert found.round(1).tolist() == [57.0, 46.8, 34.5, 30.4, 28.1, 24.9, 21.2]
    assert np.abs(found - data["calculated_percent"]).max() < 0.1
    assert np.sqrt(np.mean((found - data["savings_percent"]) ** 2)) / 100 == pytest.approx(0.017, abs=5e-4)


@given(strength=st.floats(0.01, 1000), decay=st.floats(0.1, 0.8))
def test_fsrs_keeps_ninety_percent_at_its_stability(strength, decay):
    assert FsrsRetention(decay=decay).at(strength, strength) == pytest.approx(0.9)


def test_special_cases_meet():
    days = np.array([0.01, 0.5, 3, 40])
    assert StretchedRetention(shape=1.0).at(days, 5.0) == pytest.approx(ExponentialRetention().at(days, 5.0))
    far = WickelgrenRetention(start=1.0, speed=1e6, exponent=0.4).at(days, 2.0)
    assert far == pytest.approx(PowerRetention(scale=1e6**-0.4, exponent=0.4).at(days, 2.0), rel=1e-4)


@given(curve=curves, interval=st.floats(0, 1e5), strength=st.floats(0.01, 1e4), more=st.floats(0, 1e4))
def test_c1_every_curve_lies_in_0_1_falls_in_time_and_rises_in_strength(curve, interval, strength, more):
    here = curve.at(interval, strength)
    assert 0 <= here <= 1
    assert curve.at(interval + more, strength) <= here
    assert curve.at(interval, strength + more) >= here


@by_kind
def test_c1_every_curve_strictly_falls_and_rises_within_its_range(curve):
    days, strengths = np.linspace(1, 20, 40), np.array([1.0, 2, 3, 5])
    grid = curve.at(days[:, None], strengths[None])  # (40, 4)
    inside = (grid > 0) & (grid < 1)
    assert inside[1:].mean() > 0.8
    assert (np.diff(grid, axis=0)[inside[1:] & inside[:-1]] < 0).all()
    assert (np.diff(grid, axis=1)[inside[:, 1:] & inside[:, :-1]] > 0).all()


@by_kind
@pytest.mark.parametrize("ahead", [1, 10, 3650])
def test_c2_an_interval_below_0_counts_as_0(curve, ahead):
    assert curve.at(-ahead, 5.0) == curve.at(0, 5.0) == 1


@by_kind
def test_scalars_lists_and_grids_broadcast(curve):
    assert curve.at(3, 2).shape == ()
    assert curve.at([1, 2, 3], 2.0).shape == (3,)
    assert curve.at(np.ones((4, 1)), np.ones((1, 5))).shape == (4, 5)


@by_kind
@pytest.mark.parametrize("strength", [0.0, -1.0, float("nan")])
def test_a_strength_that_is_not_positive_is_refused(curve, strength):
    with pytest.raises(InputError, match="strength_days must be positive"):
        curve.at(1.0, [1.0, strength])


@by_kind
def test_a_strength_near_0_forgets_at_once_without_a_warning(curve):
    assert 0 <= curve.at(1e3, 1e-300) < 0.5


def test_one_error_lists_all_that_is_wrong():
    with pytest.raises(InputError, match=r"start must lie .* speed must lie .* exponent must lie"):
        WickelgrenRetention(start=2.0, speed=-1.0, exponent=float("nan"))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: PowerRetention(exponent=-1.0),
        lambda: FsrsRetention(decay=0.9),
        lambda: EbbinghausRetention(k=0.0),
        lambda: LogarithmicRetention(slope=-0.1),
        lambda: StretchedRetention(shape=float("inf")),
        lambda: PowerRetention(kind="fsrs"),
    ],
)
def test_parameters_out_of_bounds_are_refused(wrong):
    with pytest.raises(InputError, match=r"must lie in|kind is always"):
        wrong()
