"""Figures of fits: groups of a log, numbers in the traces, sentences, tables, empty states."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.forgetting.fitting import observed_of
from ilstma_lab.forgetting.recall_log import RecallLog
from ilstma_lab.forgetting.scores import calibration
from ilstma_lab.forgetting.simulation import simulate_log
from ilstma_lab.forgetting.uncertainty import Interval
from ilstma_lab.plots import fits
from ilstma_lab.plots.spec import drawn, tables, titles

LOG = simulate_log(items=30, questions=5)
GROUPS = fits.grouped(observed_of(LOG))
EMPTY = fits.grouped(observed_of(RecallLog(*np.empty((5, 0)))))
N, DAYS = np.array([1.0, 2.0, 4.0]), np.array([5.0, 16.0, 23.0])


def curve(days: np.ndarray, times: np.ndarray) -> np.ndarray:
    return np.exp(-days / (5 * times))


def surface(fitted: bool = True) -> dict:
    x, y = np.geomspace(5, 50, 21), np.geomspace(0.2, 4, 17)
    rise = 20 * (np.log(x / 20)[None, :] ** 2 + np.log(y)[:, None] ** 2)
    ends = [Interval(15, 30), Interval(0.4, 10, high_closed=False)]
    given = {"labels": ("S(∞)", "rate"), "best": (20.0, 1.0), "guess": (90.0, 1.5), "intervals": ends, "level": 3.84}
    return fits.surface_spec(fits.Surface(x, y, rise), title="t", fitted=fitted, **given)


def table() -> object:
    return calibration(LOG.recalled, curve(LOG.interval_days, LOG.recall_times))


SPECS = {
    "recalls": lambda: fits.recalls_spec(GROUPS, curve, title="t", chosen=2, beside=curve),
    "empty recalls": lambda: fits.recalls_spec(EMPTY, curve, title="t", chosen=2),
    "points": lambda: fits.points_spec(N, DAYS, lambda n: 5 * n, title="t", chosen=3, beside=lambda n: 6 * n),
    "recall residuals": lambda: fits.recall_residuals_spec(GROUPS, np.full(len(GROUPS.place), 0.5), chosen=2),
    "empty residuals": lambda: fits.recall_residuals_spec(EMPTY, np.empty(0), chosen=2),
    "point residuals": lambda: fits.point_residuals_spec(N, np.array([0.1, -0.2, 0.0])),
    "surface": surface,
    "surface of defaults": lambda: surface(fitted=False),
    "calibration": lambda: fits.calibration_spec(table(), title="t", sub="s"),
    "seen": lambda: fits.seen_spec(DAYS + 1, DAYS, np.array([False, False, True]), title="t", sub="s"),
}


@pytest.mark.parametrize("make", SPECS.values(), ids=SPECS)
def test_each_is_a_figure_with_title_and_sentence(make):
    spec = make()
    title, _, description = titles(spec)
    assert title
    assert description
    uids = [trace.uid for trace in drawn(spec).data if trace.uid]
    assert len(uids) == len(set(uids))
    assert all(uid.replace("-", "").isalnum() for uid in uids), "plotly uses them as selectors"


@given(st.integers(1, 60), st.integers(1, 9), st.booleans())
def test_groups_keep_every_question_and_every_recall(items, questions, even):
    gaps = (1.0, 2.0, 4.0) if even else np.random.default_rng(0).uniform(0.1, 60, 40)
    log = simulate_log(items=items, questions=questions, gaps_days=gaps)
    observed = observed_of(log)
    groups = fits.grouped(observed)
    assert groups.asked.sum() == pytest.approx(len(log))
    assert (groups.share * groups.asked).sum() == pytest.approx(log.recalled.sum())
    assert groups.recalls.max(initial=1) <= fits.MOST_RECALLS
    assert max((np.bincount(groups.recalls)), default=0) <= 8
    assert groups.mean(observed.seen) == pytest.approx(groups.share)


def test_the_band_of_a_share_is_wide_where_all_were_recalled():
    log = simulate_log(items=5, questions=1, gaps_days=(1e-3,))
    groups = fits.grouped(observed_of(log))
    assert groups.share.tolist() == [1.0]
    assert groups.error[0] > 0.2


def test_shares_stand_at_their_intervals():
    spec = fits.recalls_spec(GROUPS, curve, title="t", chosen=1)
    seen = next(trace for trace in spec["data"] if trace.get("name") == "seen, n = 1")
    asked = (LOG.recall_times == 1) & (LOG.interval_days == 1)
    assert seen["y"][seen["x"] == 1].tolist() == pytest.approx([LOG.recalled[asked].mean()])
    line = next(trace for trace in spec["data"] if trace.get("name") == "n = 1")
    assert line["y"] == pytest.approx(np.exp(-line["x"] / 5))


def test_residuals_are_in_standard_errors():
    log = RecallLog(np.arange(100), np.zeros(100), np.ones(100), np.ones(100), np.arange(100) < 65)
    groups = fits.grouped(observed_of(log))
    spec = fits.recall_residuals_spec(groups, np.full(len(groups.place), 0.5), chosen=1)
    dot = next(trace for trace in spec["data"] if trace.get("name") == "n = 1")
    assert dot["y"].tolist() == pytest.approx([3.0])
    assert titles(spec)[0] == "1 of 1 lie outside the grey"


def test_the_surface_marks_fit_guess_and_intervals():
    spec = surface()
    heat = spec["data"][0]
    best = np.unravel_index(heat["z"].argmax(), heat["z"].shape)
    assert (heat["x"][best[1]], heat["y"][best[0]]) == (pytest.approx(20, rel=0.1), pytest.approx(1, rel=0.1))
    by_uid = {trace.get("uid"): trace for trace in spec["data"]}
    assert by_uid["ink-x"]["x"].tolist() == [15, 30]
    assert by_uid["ink-y"]["y"].tolist() == [0.4, 4.0], "an open interval runs to the edge"
    assert by_uid["ink-guess"]["x"] == [pytest.approx(50)], "a guess outside stands at the edge"
    assert by_uid["contour"]["contours"]["start"] == 3.84
    assert "ink-x" not in {trace.get("uid") for trace in surface(fitted=False)["data"]}


def test_the_calibration_table_has_bands_and_counts():
    seen = table()
    shown = next(part for part in tables(fits.calibration_spec(seen, title="t", sub="s")))
    assert shown.head == ("predicted", "recalled", "low", "high", "questions")
    assert [row[-1] for row in shown.rows] == [str(number) for number in seen.count]
    assert sum(seen.count) == len(LOG)


@pytest.mark.parametrize(("low", "high"), [(21.7, 39.0), (0.05, 134.0), (0.9, 1.1), (3.0, 14.0), (1e-3, 1e4), (5.0, 5.25)])
def test_axes_have_two_to_six_round_ticks(low, high):
    ticks = fits._ticks(low, high)["tickvals"]
    assert 2 <= len(ticks) <= 6
    assert low * 0.999 <= min(ticks) < max(ticks) <= high * 1.001
