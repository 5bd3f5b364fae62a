"""The offline judge: what counts, what the reason says, and that its constants hold on the kit's own topics."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from ilstma_lab.evaluation.datasets import load_topic
from ilstma_lab.evaluation.judging import confusion, judge_cases, judged
from ilstma_lab.models import default_embedder
from ilstma_lab.models.extractive_judge import CALIBRATED_FOR, THRESHOLD, ExtractiveJudge
from ilstma_lab.protocols import Query
from tests.models.stand_in import AT, Asked, Memory, row

USE = default_embedder()
VIOLIN = row(41, "I bought a violin in Cremona.", "A violin from Cremona is special.", embedder=USE)
DENTIST = row(42, "My dentist is Dr. Wu.", "Noted.", embedder=USE)
POEM = row(43, "我在写一首关于桂花的诗。", "桂花的香气很适合写诗。", embedder=USE)


def verdict(question, *cached):
    return ExtractiveJudge().judge(Asked(question, embedder=USE), Memory(cache=cached))


def test_the_reason_shows_the_arithmetic_and_names_the_greatest_part_first():
    found = verdict("Where did I buy my violin?", DENTIST, VIOLIN)
    assert found.hit
    assert found.reason.startswith("row 41 is near enough: meaning 0.")
    assert "words (violin) 0.25" in found.reason
    assert found.reason.endswith(f"= {found.score:.2f}")
    far = verdict("Which colour has my new bicycle?", DENTIST, VIOLIN)
    assert not far.hit
    assert "too far" in far.reason
    assert far.score < far.threshold


def test_chinese_questions_are_judged_too():
    found = verdict("我在写的诗是关于什么花的？", DENTIST, POEM)
    assert found.hit
    assert found.used == (43,)
    assert "- Chinese 0.06" in found.reason
    assert not verdict("我的牙医叫什么名字？", POEM).hit


def test_a_sentence_that_asks_tells_nothing():
    asks = row(7, "Where did I buy my violin?", "“Where did you buy your violin?”", embedder=USE)
    found = verdict("Where did I buy my violin?", asks)
    assert not found.hit
    assert found.score == 0


def test_a_question_that_names_a_day_looks_at_rows_of_that_day_alone():
    assert VIOLIN.created.day == 5
    assert not verdict("Where did I buy my violin on April 7th?", VIOLIN).hit
    assert "day that the question names" in verdict("Where did I buy my violin on April 7th?", VIOLIN).reason
    of_the_day = verdict("Where did I buy my violin on April 5th?", VIOLIN)
    assert of_the_day.hit
    assert "its day 0.20" in of_the_day.reason


def test_a18_a_row_that_waits_for_its_embedding_is_judged_by_its_sentences():
    assert verdict("Where did I buy my violin?", replace(VIOLIN, vector=None)).hit


def test_judging_takes_under_three_milliseconds_once_the_sentences_are_known():
    judge, cached = ExtractiveJudge(), tuple(row(n, f"Sentence {n}. " * 12, "It rains. " * 12, embedder=USE) for n in range(3))
    query, memory, seconds = Query("Where did I buy my violin?", AT, USE), Memory(cache=cached), []
    for _ in range(9):
        begun = time.process_time()
        judge.judge(query, memory)
        seconds.append(time.process_time() - begun)
    assert min(seconds) < 0.006  # twice the aim: this machine may be shared


def test_the_constants_belong_to_the_default_embedder():
    assert USE.name == CALIBRATED_FOR
    assert ExtractiveJudge().threshold == THRESHOLD


@pytest.mark.slow
def test_on_topics_of_the_kit_few_hits_are_false():
    topics = [load_topic(name) for name in ("legal", "poetry", "travel_zh")]
    table = judged(judge_cases(topics), ExtractiveJudge())
    assert confusion(table.where(table.origin == "natural")).false_hit_rate <= 0.04  # .01, .02, .01 at .45
    assert table.hit[table.origin == "gold"].mean() >= 0.2  # .11, .33, .28
    assert table.hit[table.origin == "hard"].mean() <= 0.2  # .06, .22, .06
