"""Scores of predicted recalls: closed forms, the decomposition, the bands, and how RMSE(bins) is gamed."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.fitting import fit_constant, fit_recalls
from ilstma_lab.forgetting.scores import brier, calibration, log_loss, rmse_bins
from ilstma_lab.forgetting.simulation import simulate_log

pairs = st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=60).map(
    lambda rows: (np.array([r for r, _ in rows], float), np.array([p for _, p in rows]))
)


def test_log_loss_by_hand():
    assert log_loss([1, 1, 0, 1, 0], [0.9, 0.6, 0.2, 0.5, 0.7]) == pytest.approx(
        -(math.log(0.9) + math.log(0.6) + math.log(0.8) + math.log(0.5) + math.log(0.3)) / 5
    )
    assert log_loss([1], [0.0]) == pytest.approx(-math.log(1e-6))


@given(pairs=pairs)
def test_no_constant_beats_the_share_of_recalls(pairs):
    seen, p = pairs
    assert log_loss(seen, seen.mean()) <= log_loss(seen, p.mean()) + 1e-9
    assert brier(seen, seen.mean()).score <= brier(seen, p.mean()).score + 1e-12


@given(pairs=pairs, bins=st.integers(1, 20))
def test_the_parts_of_brier_add_up(pairs, bins):
    seen, p = pairs
    found = brier(seen, p, bins=bins)
    assert found.score == pytest.approx(np.mean((seen - p) ** 2))
    assert found.score == pytest.approx(found.reliability - found.resolution + found.uncertainty + found.within)
    assert 0 <= found.resolution <= found.uncertainty + 1e-12 <= 0.25 + 1e-9
    middle = (np.minimum((p * bins).astype(int), bins - 1) + 0.5) / bins
    assert brier(seen, middle, bins=bins).within == pytest.approx(0, abs=1e-12)


@given(pairs=pairs)
def test_the_calibration_table_holds_every_question_and_its_bands_hold_the_share(pairs):
    seen, p = pairs
    table = calibration(seen, p, bins=5)
    assert table.count.sum() == len(seen)
    assert (table.count > 0).all()
    assert table.count @ table.recalled == pytest.approx(seen.sum())
    assert table.count @ table.predicted == pytest.approx(p.sum())
    assert ((table.low <= table.recalled + 1e-12) & (table.recalled <= table.high + 1e-12)).all()
    assert ((table.low >= 0) & (table.high <= 1)).all()


def test_wilsons_band_has_the_known_value():
    table = calibration([1] * 8 + [0] * 2, np.full(10, 0.75), bins=1)
    assert (table.low[0], table.high[0]) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_bands_cover_as_often_as_they_say():
    rng = np.random.default_rng(0)
    tables = [calibration(rng.random(60) < 0.8, np.full(60, 0.8)) for _ in range(1500)]
    inside = [table.low[0] <= 0.8 <= table.high[0] for table in tables]
    assert np.mean(inside) == pytest.approx(0.95, abs=0.025)


def test_a_true_model_is_calibrated_and_beats_the_constant_on_the_future():
    past, future = simulate_log(items=600, seed=9).split(0.6)
    model, constant = fit_recalls(past), fit_constant(past)
    p = model.predict(future.interval_days, future.recall_times)
    level = constant.predict(future.interval_days, future.recall_times)
    assert log_loss(future.recalled, p) < log_loss(future.recalled, level) - 0.05
    assert calibration(future.recalled, p).error < 0.03


def test_rmse_bins_against_a_slow_derivation():
    log = simulate_log(items=40, seed=3)
    p = np.random.default_rng(1).random(len(log))
    gathered = defaultdict(list)
    for row in range(len(log)):
        lapses = int(log.lapses[row])
        key = (
            round(2.48 * 3.62 ** math.floor(math.log(log.interval_days[row]) / math.log(3.62)), 2),
            round(1.99 * 1.89 ** math.floor(math.log(1 + log.recall_times[row] + lapses) / math.log(1.89)), 2),
            round(1.65 * 1.73 ** math.floor(math.log(lapses) / math.log(1.73)), 2) if lapses else 0,
        )
        gathered[key].append(log.recalled[row] - p[row])
    slow = math.sqrt(sum(len(gaps) * np.mean(gaps) ** 2 for gaps in gathered.values()) / len(log))
    assert rmse_bins(log, p) == pytest.approx(slow)


def test_rmse_bins_is_beaten_by_a_prediction_that_is_worse():
    log = simulate_log(items=400, seed=6)
    p = fit_recalls(log).predict(log.interval_days, log.recall_times)
    keys = np.column_stack([np.floor(np.log(log.interval_days) / np.log(3.62)), 1 + log.recall_times + log.lapses, log.lapses])
    _, cell = np.unique(keys, axis=0, return_inverse=True)
    share = np.bincount(cell.ravel(), log.recalled) / np.bincount(cell.ravel())
    ones = (np.random.default_rng(0).random(len(log)) < share[cell.ravel()]).astype(float)  # sure of each, right on average
    assert rmse_bins(log, ones) < 0.06
    assert rmse_bins(log, share[cell.ravel()]) < rmse_bins(log, p)
    assert log_loss(log.recalled, ones) > 5 * log_loss(log.recalled, p)


@pytest.mark.parametrize(
    ("seen", "p", "reason"),
    [([], [], "at least one"), ([1, 2], [0.5, 0.5], "0 or 1"), ([1], [1.5], r"lie in \[0, 1\]"), ([1], [float("nan")], "lie in")],
)
def test_columns_without_sense_are_refused(seen, p, reason):
    with pytest.raises(InputError, match=reason):
        log_loss(seen, p)
