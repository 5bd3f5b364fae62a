"""The curve and the draws: golden numbers, what more recalls do under both forms, and draws that follow R."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.systems.memorybank import Forgetting

PIECES = np.arange(20_000)
ONCE = np.ones(len(PIECES), np.int64)


def first_lost(curve: Forgetting, recalls: int, u: float) -> float:
    """The day on which a piece with this u is forgotten; infinity where that takes longer than 400 days."""
    days = np.arange(400)
    lost = np.flatnonzero(curve.retention(days, np.full(400, recalls)) < u)
    return float(lost[0]) if len(lost) else np.inf


def test_retention_is_that_of_the_paper():
    assert Forgetting().retention(np.array([5, 5, 5, 0]), np.array([1, 2, 3, 1])).round(3).tolist() == [0.007, 0.082, 0.189, 1.0]
    assert Forgetting(form="inverted").retention(np.array([5, 5]), np.array([1, 2])).round(3).tolist() == [0.368, 0.135]


@given(st.integers(1, 30), st.integers(1, 30), st.floats(0.001, 0.999))
def test_c1_a_piece_recalled_more_often_is_never_forgotten_earlier(recalls: int, more: int, u: float):
    assert first_lost(Forgetting(), recalls, u) <= first_lost(Forgetting(), recalls + more, u)


def test_c1_the_inverted_form_of_the_public_code_fails_the_same_property():
    inverted = Forgetting(form="inverted")
    assert first_lost(inverted, 1, 0.3) > first_lost(inverted, 4, 0.3)


@pytest.mark.parametrize("form", ["paper", "inverted"])
@pytest.mark.parametrize(("day", "recalls"), [(0, 1), (1, 1), (1, 3), (3, 4), (5, 2)])
def test_as_many_are_kept_as_the_curve_says(form: str, day: int, recalls: int):
    curve = Forgetting(form=form)
    kept = ~curve.forgotten(PIECES, np.full(len(PIECES), day), recalls * ONCE)
    share = float(curve.retention(np.array([day]), np.array([recalls]))[0])
    assert abs(kept.mean() - share) < 4 * np.sqrt(share * (1 - share) / len(PIECES)) + 1e-9


def test_draws_are_uniform_and_new_with_each_recall_piece_seed_and_topic():
    u = Forgetting().draws(PIECES, ONCE)
    assert (u >= 0).all()
    assert (u < 1).all()
    assert np.abs(np.sort(u) - (np.arange(len(u)) + 0.5) / len(u)).max() < 1.63 / np.sqrt(len(u)), "Kolmogorov-Smirnov, 1 %"
    others = (
        Forgetting().draws(PIECES, 2 * ONCE),
        Forgetting(seed=1).draws(PIECES, ONCE),
        Forgetting().draws(PIECES, ONCE, topic="Emily"),
        Forgetting().draws(-1 - PIECES, ONCE),
    )
    for other in others:
        assert abs(np.corrcoef(u, other)[0, 1]) < 0.03
    assert len(np.unique(u)) == len(u)


def test_j5_the_same_day_gives_the_same_pieces_and_a_later_one_never_fewer():
    curve = Forgetting(seed=7)
    masks = [curve.forgotten(PIECES, np.full(len(PIECES), day), 3 * ONCE) for day in range(12)]
    assert (masks[4] == curve.forgotten(PIECES, np.full(len(PIECES), 4), 3 * ONCE)).all()
    for earlier, later in pairwise(masks):
        assert (earlier <= later).all(), "what is forgotten stays so until it is recalled"


def test_a_draw_at_each_login_forgets_by_the_product():
    day, strong = 5, 5 * ONCE
    kept = ~Forgetting(draw="each_login").forgotten(PIECES, np.full(len(PIECES), day), strong)
    product = np.exp(-sum(range(1, day + 1)) / 5)
    assert abs(kept.mean() - product) < 4 * np.sqrt(product / len(PIECES))
    once = ~Forgetting().forgotten(PIECES, np.full(len(PIECES), day), ONCE)
    login = ~Forgetting(draw="each_login").forgotten(PIECES, np.full(len(PIECES), day), ONCE)
    assert once.sum() > 80, "exp(-5) of 20,000 are 135"
    assert login.sum() == 0, "exp(-15) of 20,000 are .006"


def test_c2_a_recall_that_lies_ahead_counts_as_today():
    for curve in (Forgetting(), Forgetting.of_code()):
        assert not curve.forgotten(np.arange(50), np.full(50, -3650), np.ones(50, int)).any()


def test_what_is_not_a_form_is_refused():
    with pytest.raises(InputError, match="form must be one of paper, inverted"):
        Forgetting(form="steep")


@pytest.mark.parametrize("seed", ["a", 1.5, None, True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InputError, match="seed must be a whole number"):
        Forgetting(seed=seed)
