"""The best k, against a full sort."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.retrieval.top import top_k


def full_sort(scores, k):
    return sorted(range(len(scores)), key=lambda at: (-scores[at], -at))[:k]


@given(scores=st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 0.75, 1.0]), max_size=60), k=st.integers(1, 70))
def test_a4_few_scores_with_ties(scores, k):
    assert top_k(np.array(scores, np.float32), k).tolist() == full_sort(scores, k)


@pytest.mark.parametrize("rows", [1_023, 1_024, 5 * 1_024, 20_000])
@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("levels", [3, 10**9])
def test_many_scores_in_blocks(rows, k, levels):
    scores = np.random.default_rng(7).integers(0, levels, rows).astype(np.float64)
    assert top_k(scores, k).tolist() == full_sort(scores.tolist(), k)


def test_the_best_may_stand_in_the_last_unfilled_block():
    scores = np.zeros(3 * 1_024 + 5)
    scores[-1] = 1
    assert top_k(scores, 2)[0] == len(scores) - 1
