"""Figures of forgetting: the numbers in their traces, their sentences, their tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.strength import LinearStrength, SigmoidStrength
from ilstma_lab.plots.forgetting import map_spec, retention_spec, spread, strength_spec, until
from ilstma_lab.plots.savings import residual_spec, savings_spec
from ilstma_lab.plots.spec import drawn, tables, titles

PAPER, R = SigmoidStrength(), ExponentialRetention()
SPECS = {
    "strength": lambda strength: strength_spec(strength, beside=PAPER, limit_days=23.5),
    "retention": lambda strength: retention_spec(strength, R, beside=PAPER),
    "map": lambda strength: map_spec(strength, R),
}


@pytest.mark.parametrize("make", SPECS.values(), ids=SPECS)
@pytest.mark.parametrize("strength", [PAPER, LinearStrength(), SigmoidStrength(alpha=0.0, beta=3.0)])
def test_each_is_a_figure_with_title_and_sentence(make, strength):
    spec = make(strength)
    figure = drawn(spec)
    assert all(titles(spec))
    assert figure.layout.template.layout.showlegend is False
    uids = [trace.uid for trace in figure.data if trace.uid]
    assert len(uids) == len(set(uids))
    assert all(uid.replace("-", "").isalnum() for uid in uids), "plotly uses them as selectors"


def test_the_map_holds_the_papers_table():
    heat = map_spec(PAPER, R)["data"][0]
    for t, n, value in ((2, 1, 0.670), (0, 1, 1.0), (6, 4, 0.771), (9, 2, 0.584), (3, 3, 0.871)):  # ILSTMA, Table 1
        assert heat["z"][n - 1, t] == pytest.approx(value, abs=5e-4)


def test_half_is_left_after_s_ln_2():
    n = np.arange(1, 6)
    assert until(PAPER, R, 0.5, recalls=5, days=31) == pytest.approx(PAPER.days(n) * np.log(2), abs=1e-3)
    assert until(PAPER, R, 0.01, recalls=2, days=31).tolist()[1] == 31, "longer than the map"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8).map(sorted))
def test_labels_are_spread_and_keep_their_order(places):
    moved = spread(np.array(places), 0.06)
    assert (np.diff(moved) >= 0.06 - 1e-12).all()
    assert (moved >= np.array(places)).all()


def test_tables_hold_the_named_traces_only():
    (curves,) = tables(retention_spec(PAPER, R, beside=PAPER, chosen=(7, 2)))
    assert curves.head == ("days", "n = 1", "n = 2", "n = 3", "n = 4", "n = 5", "paper, n = 2")
    assert curves.rows[7][:3] == ("7", "0.247", "0.658")
    assert len(curves.rows) == 31
    (whole,) = tables(map_spec(PAPER, R))
    assert whole.rows[1][0] == "n = 2"
    assert whole.rows[1][8] == "0.658"


def test_residuals_count_what_lies_outside_the_probable_error():
    days, errors = np.array([0.1, 1.0, 31.0]), np.full(3, 0.01)
    spec = residual_spec(days, np.array([0.005, -0.02, 0.03]), errors)
    assert titles(spec)[0] == "2 of 3 points lie outside the grey"
    assert "−.020" in titles(spec)[2]
    drawn(spec)


def test_savings_with_other_curves_beside():
    days, fine = np.array([0.1, 1.0, 31.0]), np.geomspace(0.05, 31, 20)
    shared = {"fine": fine, "curve": np.exp(-fine), "name": "mine", "title": "t", "beside": {"flat": np.full(20, 0.3)}}
    for log_time in (True, False):
        spec = savings_spec(days, np.array([0.5, 0.4, 0.2]), np.full(3, 0.01), log_time=log_time, **shared)
        assert drawn(spec).layout.xaxis.type == ("log" if log_time else "linear")
        assert {trace["name"] for trace in spec["data"] if trace.get("name")} == {"flat", "mine", "Ebbinghaus"}
