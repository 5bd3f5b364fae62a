"""Bands: against normal theory, against drawing one by one, and that clusters count as one."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.evaluation.bootstrap import bootstrap


def test_a_share_of_many_questions_has_the_band_of_normal_theory():
    values = np.repeat([[1.0], [0.0]], [240, 160], axis=0)
    (band,) = bootstrap(values)
    half = 1.96 * np.sqrt(0.6 * 0.4 / 400)
    assert band.mean == 0.6
    np.testing.assert_allclose([band.low, band.high], [0.6 - half, 0.6 + half], atol=0.006)


def test_it_draws_as_one_would_by_hand():
    values = np.random.default_rng(5).random((30, 1))
    by_hand = np.random.default_rng(6)
    means = [values[by_hand.integers(30, size=30)].mean() for _ in range(4000)]
    (band,) = bootstrap(values)
    np.testing.assert_allclose([band.low, band.high], np.quantile(means, [0.025, 0.975]), atol=0.01)


def test_copies_within_a_topic_add_nothing_to_what_is_known():
    topics = [str(number) for number in range(8)]
    values = np.arange(8.0)[:, None]
    (once,) = bootstrap(values, clusters=topics)
    (copied,) = bootstrap(np.repeat(values, 20, axis=0), clusters=np.repeat(topics, 20))
    (taken_as_independent,) = bootstrap(np.repeat(values, 20, axis=0))
    assert copied == once
    assert taken_as_independent.high - taken_as_independent.low < (copied.high - copied.low) / 3


def test_a_large_topic_weighs_by_its_questions():
    values = np.array([[1.0]] * 9 + [[0.0]])
    (band,) = bootstrap(values, clusters=["big"] * 9 + ["small"])
    assert (band.mean, band.low, band.high) == (0.9, 0.0, 1.0)


def test_nan_stays_nan_and_no_questions_give_no_band():
    known, unknown = bootstrap(np.array([[1.0, np.nan], [1.0, np.nan]]))
    assert (known.low, known.high) == (1.0, 1.0)
    assert np.isnan([unknown.mean, unknown.low, unknown.high]).all()
    assert all(np.isnan(band.mean) for band in bootstrap(np.empty((0, 2))))


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=40), st.integers(0, 3))
def test_a_band_lies_within_the_values_and_repeats(values, seed):
    column = np.array(values)[:, None]
    (band,) = bootstrap(column, draws=200, seed=seed)
    assert min(values) - 1e-9 <= band.low <= band.high <= max(values) + 1e-9
    assert bootstrap(column, draws=200, seed=seed) == [band]
