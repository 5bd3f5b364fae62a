"""Retrieval metrics of one question, worked out by hand, and 1 / rank with ties."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab import Dialogue
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import RecallQuestion
from ilstma_lab.evaluation.grading import Grade
from ilstma_lab.evaluation.retrieved import (
    false_hit,
    hit_at,
    memorybank_retrieval,
    near_rows,
    ranking_scores,
    reciprocal_rank,
    retrieve_accuracy,
)
from tests.stubs import DAY_0

# two rows a day: a0 a1 b0 b1 c0 c1 d0 d1
ROWS = tuple(
    Dialogue(f"said {day}{n}", "", DAY_0 + timedelta(days="abcd".index(day), hours=n), f"{day}{n}")
    for day in "abcd"
    for n in (0, 1)
)
B1 = RecallQuestion("q", "?", DAY_0 + timedelta(days=9), gold=("b1",))
BOTH = RecallQuestion("q", "?", DAY_0 + timedelta(days=9), gold=("b1",), alt_gold=("d0",))
NONE = RecallQuestion("q", "?", DAY_0 + timedelta(days=9), kind="never_said")


def test_near_rows_are_those_of_the_day_and_beside():
    assert near_rows(B1, ROWS) == {"b0", "b1", "c0"}
    assert near_rows(B1, tuple(reversed(ROWS))) == {"b0", "b1", "c0"}
    assert near_rows(BOTH, ROWS) == {"b0", "b1", "c0", "c1", "d0", "d1"}
    assert near_rows(NONE, ROWS) == frozenset()


@pytest.mark.parametrize(
    ("recalled", "accuracy"), [(("a0", "b1"), 1), (("b0",), 0.5), (("c0", "a0"), 0.5), (("a1", "c1"), 0), ((), 0)]
)
def test_retrieve_accuracy(recalled, accuracy):
    assert retrieve_accuracy(B1, recalled, dialogues=ROWS) == accuracy
    assert memorybank_retrieval(B1, recalled) == (accuracy == 1)


def test_the_day_is_the_speakers():
    late = Dialogue("late", "", "2023-05-01T23:30:00+10:00", "late")
    early = Dialogue("early", "", "2023-05-02T07:00:00+10:00", "early")  # the same day in UTC
    between = Dialogue("between", "", "2023-05-02T02:00:00+10:00", "between")
    question = RecallQuestion("q", "?", DAY_0, gold=("late",))
    assert near_rows(question, (late, between, early)) == {"late", "between"}


def test_without_gold_there_is_nothing_to_measure():
    assert retrieve_accuracy(NONE, ("a0",), dialogues=ROWS) is None
    assert {memorybank_retrieval(NONE, ("a0",)), hit_at(NONE, ("a0",), k=1), reciprocal_rank(NONE, ("a0",))} == {None}


def test_hit_at_and_reciprocal_rank():
    recalled = ("a0", "d0", "b1")
    assert [hit_at(BOTH, recalled, k=k) for k in (0, 1, 2, 3, 9)] == [0, 0, 1, 1, 1]
    assert (reciprocal_rank(BOTH, recalled), reciprocal_rank(B1, recalled), reciprocal_rank(B1, ("a0",))) == (1 / 2, 1 / 3, 0)


@pytest.mark.parametrize(
    ("accuracy", "hit", "false"), [(0, True, True), (0.5, True, False), (1, True, False), (0, False, None), (None, True, None)]
)
def test_false_hits(accuracy, hit, false):
    assert false_hit(Grade(accuracy), hit=hit) is false


def test_ranking_by_hand():
    graded = {
        "large": [Grade(1), Grade(1), Grade(0.5, 0.9), Grade(0)],
        "middle": [Grade(0.5), Grade(1), Grade(0.5, 0.2), Grade(None)],
        "small": [Grade(0), Grade(0), Grade(0.5, 0.6), Grade(1)],
    }
    found = ranking_scores(graded)
    assert found.models == ("large", "middle", "small")
    assert (len(found), found.left_out) == (3, 1)
    np.testing.assert_allclose(found.values, [[1, 1 / 2, 1 / 3], [3 / 4, 3 / 4, 1 / 3], [1, 1 / 3, 1 / 2]])
    assert found.bands()["large"].mean == pytest.approx((1 + 3 / 4 + 1) / 3)


def test_coherence_breaks_ties_only_where_all_have_one():
    found = ranking_scores({"one": [Grade(1, 0.1)], "two": [Grade(1)]})
    np.testing.assert_allclose(found.values, [[3 / 4, 3 / 4]])


@given(st.lists(st.tuples(*[st.sampled_from([0, 0.5, 1])] * 4), min_size=1))
def test_every_question_gives_out_the_same(rows):
    found = ranking_scores({f"model {n}": [Grade(row[n]) for row in rows] for n in range(4)})
    np.testing.assert_allclose(found.values.sum(axis=1), 1 + 1 / 2 + 1 / 3 + 1 / 4)


@pytest.mark.parametrize("graded", [{}, {"one": [Grade(1)]}, {"one": [Grade(1)], "two": []}])
def test_ranking_needs_two_models_on_the_same_questions(graded):
    with pytest.raises(InputError, match="two base models"):
        ranking_scores(graded)


def test_a_text_written_of_the_gold_row_counts_half():
    days = [Dialogue(f"row {day}", "", DAY_0 + timedelta(days=day), f"r{day}") for day in range(6)]
    wanted = RecallQuestion("q", "?", DAY_0 + timedelta(days=9), gold=("r0",))
    assert retrieve_accuracy(wanted, ["r5"], dialogues=days) == 0
    assert retrieve_accuracy(wanted, ["r5"], dialogues=days, written_of=["r0", "r5"]) == 0.5
    assert retrieve_accuracy(wanted, ["r5", "r0"], dialogues=days, written_of=["r0"]) == 1
