"""The place term of Eq. 4 in its three forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.prefetch.score import PlaceTerm

FORMS = ("nearness", "rescaled", "literal")


@pytest.mark.parametrize(
    ("form", "golden"),
    [
        ("literal", [0, 1.234, 1.739, 1.962, 2.083, 2.157]),
        ("rescaled", [0, 0.5, 0.705, 0.795, 0.844, 0.874]),
        ("nearness", [1, 0.5, 0.295, 0.205, 0.156, 0.126]),
    ],
)
def test_eq_4_golden_numbers(form, golden):
    assert PlaceTerm(form=form).of(np.arange(6)).round(3).tolist() == golden


@pytest.mark.parametrize(("form", "limit"), [("literal", 2.467), ("rescaled", 1.0), ("nearness", 0.0)])
def test_j10_limits_far_away(form, limit):
    assert PlaceTerm(form=form).of(np.array(1e12)) == pytest.approx(limit, abs=5e-4)


@given(near=st.integers(0, 10_000), more=st.integers(1, 10_000), weight=st.floats(0.1, 10))
def test_j10_only_nearness_falls_with_distance(near, more, weight):
    falls = {form: np.diff(PlaceTerm(form=form, weight=weight).of(np.array([near, near + more])))[0] < 0 for form in FORMS}
    assert falls == {"nearness": True, "rescaled": False, "literal": False}


@given(distance=st.integers(0, 10**6))
def test_rescaled_and_nearness_are_each_others_rest(distance):
    pair = PlaceTerm(form="rescaled").of(np.array(distance)) + PlaceTerm(form="nearness").of(np.array(distance))
    assert pair == pytest.approx(1.0)


def test_weight_scales_and_zero_switches_place_off():
    assert PlaceTerm(weight=3).of(np.array([1])).tolist() == [1.5]
    assert PlaceTerm(weight=0).of(np.arange(5)).tolist() == [0.0] * 5


@pytest.mark.parametrize("wrong", [{"form": "far"}, {"weight": -1.0}, {"weight": float("nan")}])
def test_unknown_forms_and_weights_are_refused(wrong):
    with pytest.raises(InputError):
        PlaceTerm(**wrong)
