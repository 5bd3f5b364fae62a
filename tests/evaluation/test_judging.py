"""Cases, ROC, confusion, bands and calibration of a hit judge."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab import Config, Dialogue
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic
from ilstma_lab.evaluation.judging import (
    Judged,
    bands,
    calibrate,
    confusion,
    judge_cases,
    judged,
    out_of_fold,
    rejudged,
    roc,
    threshold_for,
)
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.trace import Verdict
from tests.stubs import THINGS, StubJudge

DAY = datetime(2024, 3, 1, 9, tzinfo=UTC)
TOPIC = Topic(
    "stub",
    tuple(Dialogue(f"{thing}.", "Noted.", DAY + timedelta(days=n), f"d{n}") for n, thing in enumerate(THINGS)),
    (
        RecallQuestion("q0", "violin lessons tuesday?", DAY + timedelta(days=30), gold=("d2",)),
        RecallQuestion("q1", "passport renewal office?", DAY + timedelta(days=30), gold=("d3",), alt_gold=("d4",)),
        RecallQuestion("q2", "how tall is a giraffe?", DAY + timedelta(days=30), kind="general"),
    ),
)


def made(answerable, score, *, topic=None, question=None, hit=None):
    n = len(score)
    score = np.asarray(score, float)
    hit = score >= 0.5 if hit is None else np.asarray(hit)
    answerable = np.asarray(answerable, bool)
    text = np.array(topic or ["t"] * n), np.array(question or [str(i) for i in range(n)])
    return Judged(*text, np.array(["recall"] * n), np.array(["natural"] * n), answerable, score, hit, hit & answerable)


@pytest.fixture(scope="module")
def cases():
    return judge_cases([TOPIC], config=Config(), embedder=HashedEmbedder(dim=256))


def test_cases_are_the_caches_that_earlier_questions_left_and_the_gold_window_with_and_without_gold(cases):
    assert [(c.question.id, c.origin, c.answerable) for c in cases] == [
        ("q0", "gold", True),
        ("q0", "hard", False),
        ("q1", "natural", True),  # row 3 is the neighbour of row 2, which the first question recalled
        ("q1", "gold", True),
        ("q1", "hard", False),
        ("q2", "natural", False),
        ("q2", "natural", False),
    ]


def test_a_cache_holds_k_rows_around_its_centre_and_a_hard_one_holds_no_gold(cases):
    for case in cases:
        assert len(case.memory().cache) == Config().prefetch.k
    assert 2 in cases[0].cached.chosen
    assert cases[0].gold.isdisjoint(cases[1].cached.chosen)
    assert cases[4].gold == {3, 4}
    assert cases[4].gold.isdisjoint(cases[4].cached.chosen)
    assert all(entry.recall_times == 1 for entry in cases[0].table)  # touches belong to copies


def test_judged_keeps_scores_and_tells_which_hits_rest_on_gold(cases):
    script = {
        "violin lessons tuesday?": Verdict(True, "x", (2,), score=0.9, threshold=0.5),
        "passport renewal office?": Verdict(True, "x", (2,), score=0.7, threshold=0.5),
        "how tall is a giraffe?": Verdict(False, score=None, threshold=0.5),
    }
    table = judged(cases, StubJudge(script))
    assert table.score.tolist() == [0.9, 0.9, 0.7, 0.7, 0.7, -np.inf, -np.inf]
    assert table.right.tolist() == [True, True, False, False, False, False, False]
    assert judged(cases, StubJudge()).score.tolist() == [0.0] * 7
    assert table.to_frame().shape == (7, 8)


def test_each_question_counts_once_on_each_side():
    table = made([False, False, False, True], [0.9, 0.1, 0.1, 0.8], question=["a", "a", "b", "a"])
    assert table.weight.tolist() == [0.5, 0.5, 1.0, 1.0]
    found = confusion(table)
    assert (found.hits, found.false_misses, found.false_hits, found.right_misses) == (1, 0, 0.5, 1.5)
    assert (found.accuracy, found.false_hit_rate, found.false_miss_rate) == (2.5 / 3, 0.25, 0)


def test_roc_of_a_judge_that_is_never_wrong_of_one_that_is_blind_and_of_one_by_hand():
    assert roc(made([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1])).area == 1
    assert roc(made([1, 0, 1, 0], [0.5] * 4)).area == 0.5
    curve = roc(made([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.1]))
    assert curve.threshold.tolist() == [0.9, 0.8, 0.7, 0.1]
    assert curve.hit_rate.tolist() == [0.5, 0.5, 1, 1]
    assert curve.false_hit_rate.tolist() == [0, 0.5, 0.5, 1]
    with pytest.raises(InputError, match="needs answerable cases and others"):
        roc(made([1, 1], [0.1, 0.2]))


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=2, max_size=30), st.floats(0, 1))
def test_the_threshold_keeps_its_promise_and_none_lower_does(drawn, allowed):
    answerable, score = [a for a, _ in drawn] + [True, False], [s / 10 for _, s in drawn] + [0.5, 0.5]
    table = made(answerable, score)
    threshold = threshold_for(table, false_hits=allowed)
    assert confusion(rejudged(table, threshold)).false_hit_rate <= allowed
    for lower in {s for s in score if s < threshold}:
        assert confusion(rejudged(table, lower)).false_hit_rate > allowed


def test_out_of_fold_a_group_is_judged_by_the_others_threshold():
    table = made([1, 0, 1, 0], [0.9, 0.3, 0.5, 0.7], topic=["a", "a", "b", "b"])
    outside = out_of_fold(table, groups=table.topic, false_hits=0.0)
    assert outside.hit.tolist() == [True, False, False, False]  # b's: 0.5 asks for a's 0.9; a's: b gives just above 0.7
    found = calibrate(table, embedder="e", target=0.0)
    assert (found.threshold, found.hit_rate, found.false_hit_rate) == (0.9, 0.5, 0)
    assert (found.hit_rate_out_of_fold, found.false_hit_rate_out_of_fold) == (0.5, 0)
    assert (found.n_cases, found.n_questions, found.embedder) == (4, 4, "e")


def test_bands_hold_the_rate_widen_by_topic_and_are_the_same_each_time():
    rng = np.random.default_rng(5)
    topic = np.repeat([f"t{i}" for i in range(8)], 25)
    answerable = np.tile([True, False, False, True, False], 40)
    easy = np.repeat(rng.random(8), 25)  # topics differ
    table = made(answerable, rng.random(200), topic=topic.tolist(), hit=rng.random(200) < easy)
    found, by_topic = bands(table), bands(table, by="topic")
    for rate in ("accuracy", "false_hit_rate", "false_miss_rate"):
        low, high = found[rate]
        assert low <= getattr(confusion(table), rate) <= high
        assert (
            by_topic["false_hit_rate"][1] - by_topic["false_hit_rate"][0]
            > found["false_hit_rate"][1] - found["false_hit_rate"][0]
        )
    assert bands(table) == found


def test_concatenated_tables_and_chosen_rows_keep_their_order():
    table = made([1, 0], [0.9, 0.1])
    both = Judged.concatenated([table, replace(table, score=table.score + 1)])
    assert both.score.tolist() == [0.9, 0.1, 1.9, 1.1]
    assert both.where(both.score > 1).score.tolist() == [1.9, 1.1]
