"""Eq. 2 and its rival: golden numbers, and what holds for every parameter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.strength import LinearStrength, PowerStrength, SigmoidStrength, TableStrength

recalls = st.integers(1, 10_000)
sigmoids = st.builds(
    lambda first, growth, rate: SigmoidStrength.from_limits(first_days=first, limit_days=first + growth, rate=rate),
    st.floats(0.1, 100),
    st.floats(0.1, 500),
    st.floats(0.05, 3),
)


def test_eq_2_golden_numbers():
    days = SigmoidStrength().days(np.arange(1, 6))
    assert days.round(3).tolist() == [5.000, 16.750, 21.745, 23.093, 23.409]
    assert SigmoidStrength().days(np.array([10_000])) == pytest.approx([23.5])


def test_eq_2_is_a_hyperbolic_tangent_in_disguise():
    n = np.arange(1, 40)
    assert SigmoidStrength().days(n) == pytest.approx(5 + 18.5 * np.tanh(0.75 * (n - 1)))


def test_solved_for_the_range_that_the_text_names():
    solved = SigmoidStrength(alpha=40.199, beta=-15.099)
    assert solved.days(np.array([1, 5])) == pytest.approx([5, 25], abs=2e-3)
    assert solved.days(np.array([1_000])) == pytest.approx([25.099], abs=2e-3)


def test_from_limits_defaults_are_the_papers_constants():
    assert SigmoidStrength.from_limits() == SigmoidStrength()


@given(first=st.floats(0.1, 100), growth=st.floats(0, 500), rate=st.floats(0.01, 10))
def test_from_limits_starts_and_ends_where_it_says(first, growth, rate):
    strength = SigmoidStrength.from_limits(first_days=first, limit_days=first + growth, rate=rate)
    assert strength.days(np.array([1, 1_000_000])) == pytest.approx([first, first + growth])


@given(strength=sigmoids)
def test_strength_strictly_rises_while_it_can_and_is_bounded(strength):
    n = np.arange(1, 12)
    days = strength.days(n)
    below_limit = days < (strength.beta + strength.alpha) * (1 - 1e-12)
    assert (np.diff(days)[below_limit[:-1]] > 0).all()
    assert (np.diff(strength.days(np.arange(1, 2_000))) >= 0).all()
    assert (days > 0).all()
    assert (strength.days(np.array([1, 10**9])) <= (strength.beta + strength.alpha) * (1 + 1e-12)).all()


@given(times=st.lists(recalls, min_size=1, max_size=9))
def test_shape_is_kept(times):
    assert SigmoidStrength().days(np.array(times)).shape == (len(times),)
    assert SigmoidStrength().days(np.array(times).reshape(1, -1)).shape == (1, len(times))
    assert np.isscalar(float(SigmoidStrength().days(times[0])))


@pytest.mark.parametrize("strength", [SigmoidStrength(), LinearStrength(), PowerStrength(), TableStrength()])
@pytest.mark.parametrize("times", [[0], [1, -3], [0.5], [float("nan")]])
def test_j10_fewer_than_one_recall_is_refused(strength, times):
    with pytest.raises(InputError, match="recall_times must be >= 1"):
        strength.days(np.array(times))


def test_no_rows_have_no_strength():
    assert SigmoidStrength().days(np.array([], int)).shape == (0,)


@pytest.mark.parametrize(
    "constants",
    [{"xi": 1.0}, {"xi": 0.0}, {"alpha": -1.0}, {"beta": -40.0}, {"mu": float("nan")}, {"alpha": float("inf")}],
)
def test_constants_that_break_the_curve_are_refused(constants):
    with pytest.raises(InputError, match="SigmoidStrength"):
        SigmoidStrength(**constants)


@given(first=st.floats(0.1, 50), step=st.floats(0, 50), n=recalls)
def test_linear_strength_grows_by_its_step(first, step, n):
    days = LinearStrength(first_days=first, step_days=step).days(np.array([1, n, n + 1]))
    assert days[0] == first
    assert days[2] - days[1] == pytest.approx(step, abs=1e-6)


@pytest.mark.parametrize("parameters", [{"first_days": 0.0}, {"step_days": -1.0}, {"first_days": float("nan")}])
def test_a_linear_strength_that_falls_is_refused(parameters):
    with pytest.raises(InputError, match="LinearStrength"):
        LinearStrength(**parameters)


def test_one_error_lists_all_constants_that_are_wrong():
    with pytest.raises(InputError, match=r"alpha must lie .*; xi must lie"):
        SigmoidStrength(alpha=-1.0, xi=2.0)


@given(first=st.floats(0.1, 100), growth=st.floats(0.1, 500), rate=st.floats(0.05, 3))
def test_both_parametrisations_say_the_same(first, growth, rate):
    strength = SigmoidStrength.from_limits(first_days=first, limit_days=first + growth, rate=rate)
    assert (strength.first_days, strength.limit_days, strength.rate) == pytest.approx((first, first + growth, rate))


@given(first=st.floats(0.1, 50), exponent=st.floats(0, 2), n=st.integers(1, 500))
def test_power_strength_multiplies(first, exponent, n):
    days = PowerStrength(first_days=first, exponent=exponent).days(np.array([1, n, 2 * n]))
    assert days[0] == first
    assert days[2] / days[1] == pytest.approx(2**exponent)


def test_table_strength_reads_its_steps_and_holds_the_last():
    strength = TableStrength(steps_days=(2.0, 4.0, 4.5))
    assert strength.days([1, 2, 3, 4, 99]).tolist() == [2.0, 4.0, 4.5, 4.5, 4.5]
    assert strength.days([1.5]).tolist() == [3.0]


@pytest.mark.parametrize("steps", [(), (1.0, 0.0), (-1.0,), (float("nan"),), (float("inf"),)])
def test_tables_without_sense_are_refused(steps):
    with pytest.raises(InputError, match="TableStrength"):
        TableStrength(steps_days=steps)
