"""Eq. 1 and Eq. 3: golden numbers, Table 1's rows, and what holds at every time and strength."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.forgetting.retention import MICROSECONDS_PER_DAY, ExponentialRetention, retention_of, whole_days
from ilstma_lab.forgetting.strength import LinearStrength, SigmoidStrength

days = st.floats(0, 10_000)
strengths = st.floats(0.01, 10_000)


def eq_3(interval: list[int], recalls: list[int]) -> list[float]:
    now = 20_000 * MICROSECONDS_PER_DAY
    last = now - np.array(interval) * MICROSECONDS_PER_DAY
    found = retention_of(last, np.array(recalls), now=now, retention=ExponentialRetention(), strength=SigmoidStrength())
    return found.round(3).tolist()


def test_eq_3_on_the_rows_of_table_1():
    assert eq_3([2, 0, 6, 9, 3], [1, 1, 4, 2, 3]) == [0.670, 1.0, 0.771, 0.584, 0.871]


@pytest.mark.parametrize(
    ("recalls", "golden"), [(1, [0.819, 0.670, 0.247, 0.061, 0.002]), (2, [0.942, 0.887, 0.658, 0.434, 0.167])]
)
def test_eq_3_over_a_month(recalls, golden):
    assert eq_3([1, 2, 7, 14, 30], [recalls] * 5) == golden


def test_memory_banks_numbers():
    strength = LinearStrength().days(np.array([1, 2, 3]))
    assert ExponentialRetention().at(np.array(5), strength).round(3).tolist() == [0.007, 0.082, 0.189]


@given(interval=days, strength=strengths)
def test_c1_retention_lies_between_0_and_1(interval, strength):
    assert 0 <= ExponentialRetention().at(np.array(interval), np.array(strength)) <= 1


@given(interval=st.floats(0.01, 50), strength=st.floats(0.5, 500), more=st.floats(0.01, 50))
def test_c1_retention_rises_in_strength_and_falls_in_time(interval, strength, more):
    at = ExponentialRetention().at
    here = at(np.array(interval), np.array(strength))
    assert at(np.array(interval), np.array(strength + more)) > here
    assert at(np.array(interval + more), np.array(strength)) < here


@pytest.mark.parametrize("ahead_days", [1, 10, 3_650])
def test_c2_a_last_recall_in_the_future_counts_as_now(ahead_days):
    class Bare:
        """A retention of a reader's own, which does not clamp."""

        def at(self, interval_days, strength_days):
            return np.exp(-interval_days / strength_days)

    now = 20_000 * MICROSECONDS_PER_DAY
    last = np.array([now + ahead_days * MICROSECONDS_PER_DAY])
    for retention in (ExponentialRetention(), Bare()):
        assert retention_of(last, np.array([1]), now=now, retention=retention, strength=SigmoidStrength()).tolist() == [1.0]


@given(micro=st.integers(-(10**15), 10**15))
def test_intervals_are_whole_days_rounded_down(micro):
    now = 10**16
    whole = int(whole_days(now, np.array([now - micro]))[0])
    assert whole * MICROSECONDS_PER_DAY <= micro < (whole + 1) * MICROSECONDS_PER_DAY


def test_shapes_broadcast():
    grid = ExponentialRetention().at(np.arange(4)[:, None], SigmoidStrength().days(np.arange(1, 6))[None])
    assert grid.shape == (4, 5)
