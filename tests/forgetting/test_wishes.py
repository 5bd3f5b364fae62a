"""Wishes for S(n), solved for the constants of Eq. 2."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.strength import SigmoidStrength
from ilstma_lab.forgetting.wishes import solve_sigmoid


def test_the_range_that_the_text_names():
    wished = solve_sigmoid({1: 5, 5: 25})
    assert (wished.alpha, wished.beta, wished.limit_days) == pytest.approx((40.199, -15.099, 25.099), abs=5e-4)
    assert wished.days([1, 5]) == pytest.approx([5, 25])


def test_the_printed_constants_were_solved_for_the_limit_instead():
    printed = solve_sigmoid({1: 5, inf: 23.5})
    assert printed == SigmoidStrength()
    assert printed.days([5]) == pytest.approx([23.41], abs=5e-3)


@given(
    first=st.floats(0.5, 20), growth=st.floats(1, 50), rate=st.floats(0.1, 3), middle=st.integers(2, 4), last=st.integers(5, 9)
)
def test_three_wishes_give_back_the_curve_they_were_read_from(first, growth, rate, middle, last):
    truth = SigmoidStrength.from_limits(first_days=first, limit_days=first + growth, rate=rate)
    wishes = dict(zip([1, middle, last], truth.days([1, middle, last]), strict=True))
    if wishes[middle] < wishes[last] * (1 - 1e-6):
        solved = solve_sigmoid(wishes)
        assert solved.days(list(wishes)) == pytest.approx(list(wishes.values()), rel=1e-6)
        assert solved.rate == pytest.approx(rate, rel=1e-2)


@pytest.mark.parametrize(
    ("wishes", "reason"),
    [
        ({1: 5}, "two wishes, or three"),
        ({1: 5, 2: 6, 3: 7, 4: 8}, "two wishes, or three"),
        ({0: 5, 5: 25}, "counted from 1"),
        ({1: 5, 5: 5}, "must grow"),
        ({1: -5, 5: 5}, "positive"),
        ({1: 5, 3: 6, 5: 25}, r"S\(3\) lies between"),
        ({40: 5, 50: 25}, "reached its limit|S\\(1\\) must be positive"),
    ],
)
def test_wishes_that_no_sigmoid_meets_are_refused_with_the_reason(wishes, reason):
    with pytest.raises(InputError, match=reason):
        solve_sigmoid(wishes)
