"""Grades by hand-checked answers, English and Chinese: what is right, right in part, honest, invented, or cannot be graded."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import FIVE_TOPICS, RecallQuestion, load_topic
from ilstma_lab.evaluation.grade_refusal import says_unknown
from ilstma_lab.evaluation.grade_text import folded, holds
from ilstma_lab.evaluation.grading import Exact, Facts, Grade, TokenF1, offline_graders, token_f1
from ilstma_lab.models.extractive_answer import quote
from tests.models.stand_in import Asked

AT = datetime(2026, 3, 16, tzinfo=UTC)
TABLETS = RecallQuestion(
    "t", "How strong are his tablets?", AT, label="150 micrograms, at nineteen o'clock.", facts=("150 micrograms", "nineteen")
)
STENT = RecallQuestion("s", "支架是哪年哪月放的？", AT, label="支架是2021年11月放的。", facts=("2021年11月",))
BOAT = RecallQuestion("b", "What was the boat called?", AT, kind="never_said", label="Its name was never mentioned.")
SKY = RecallQuestion("g", "How many bar are 60 psi?", AT, kind="general", label="60 psi is about 4.1 bar.")
UNLABELLED = RecallQuestion("u", "Which film?", AT, gold=("day1",))
SETS = [load_topic(name) for name in (*FIVE_TOPICS, "travel_zh")]
BUNDLED = [question for topic in SETS for question in topic.questions]


def accuracies(question, answer):
    return [grader.grade(question, answer).accuracy for grader in offline_graders()]


@pytest.mark.parametrize(
    ("question", "answer", "exact", "strict", "lenient"),
    [
        (TABLETS, "He gets １５０  Micrograms, at nineteen.", 0, 1, 1),
        (TABLETS, "Well: 150 micrograms, at Nineteen o’clock!", 1, 1, 1),
        (TABLETS, "150 micrograms, in the morning.", 0, 0, 0.5),
        (TABLETS, "1150 micrograms.", 0, 0, 0),
        (TABLETS, "150 micrograms' worth, by nineteens", 0, 1, 1),
        (TABLETS, "  ", 0, 0, 0),
        (STENT, "爸爸的支架是 2021 年 11 月放的。", 1, 1, 1),
        (STENT, "支架是2012年11月放的。", 0, 0, 0),
    ],
)
def test_exact_and_facts(question, answer, exact, strict, lenient):
    assert [g.grade(question, answer).accuracy for g in (Exact(), Facts(), Facts("lenient"))] == [exact, strict, lenient]


def test_strict_asks_for_every_fact_and_tells_which_is_missing():
    grade = Facts("strict").grade(TABLETS, "150 micrograms.")
    assert (grade.accuracy, grade.reason) == (0.0, "1 of 2 facts, missing: nineteen")


def test_token_f1_by_hand():
    # shares 4.1 as two tokens with "bar": 3 of 3 said, 3 of 7 wanted -> 2 * 3 / (3 + 7)
    assert token_f1("4.1 bar", SKY.label) == pytest.approx(2 * 3 / 10)
    assert token_f1("二零二一", "二零一一") == pytest.approx(3 / 4)
    assert [TokenF1().grade(SKY, said).accuracy for said in ("60 psi is 4.1 bar", "4.1 bar", "blue")] == [1, 0.5, 0]
    with pytest.raises(InputError, match="half"):
        TokenF1(half=0.8, whole=0.5)


def test_a_label_without_facts_is_graded_by_f1_and_says_so():
    grade = Facts().grade(SKY, "60 psi is about 4.1 bar")
    assert grade.accuracy == 1
    assert "no facts" in grade.reason
    assert "F1" in grade.reason


def test_without_a_label_there_is_no_grade():
    assert accuracies(UNLABELLED, "Jaws.") == [None] * 4
    assert Exact().grade(UNLABELLED, "Jaws.").reason == "the question has no label"


@pytest.mark.parametrize("question", BUNDLED, ids=lambda question: question.id)
def test_a_label_as_the_answer_is_right_by_every_grader(question):
    assert accuracies(question, question.label) == [1] * 4


def test_no_label_is_taken_for_a_refusal_but_those_of_what_was_never_said():
    assert [q.id for q in BUNDLED if says_unknown(q.label) != (q.kind == "never_said")] == []


HONEST = [
    "I don't remember that you told me its name.",
    "I do not recall.",
    "Sorry, I couldn’t find anything about that in our conversations.",
    "You never mentioned what it was called, only that she has one.",
    "You haven't told me.",
    "There is no record of its name.",
    "Its name has not been mentioned so far.",
    "Based on the memory, I cannot answer: there's no mention of a name.",
    "I'm not sure, you didn't say.",
    "I have no information about that.",
    "I don't have any information on that.",
    "The name of the boat is not specified in the given information.",
    "The memory does not contain the name of the boat.",
    "我不记得你说过船的名字。",
    "抱歉，记忆里没有找到相关的内容。",
    "你从来没有提过这件事，只说过他的价格是550。",
    "我没有关于这件事的记录。",
    "这个我不知道。",
]
INVENTED = [
    "It was called Havsula.",
    "You said it was the Sunbeam, and that you like it.",
    "I don't remember for certain, but I think it was Havsula.",
    "You never told me outright, but it was probably Havsula.",
    'On 5 April (row 3) you said: "I do not remember her name" I answered: "You never told me."',
    'You told me: "I don\'t know, call it Havsula."',
    'I noted: "The name was never mentioned."',
    "We do not have to give it a name: it is Havsula.",
    "The boat is Havsula; don't forget the paint.",
    "你说过它叫海燕。",
    "我不太记得了，不过应该是海燕号。",
    "4月5日（第 3 行）你说：“我不记得了。”我回答：“你没有说过。”",
]


@pytest.mark.parametrize("answer", HONEST)
def test_honest_about_what_was_never_said(answer):
    assert accuracies(BOAT, answer) == [1] * 4


@pytest.mark.parametrize("answer", INVENTED)
def test_invented_what_was_never_said(answer):
    assert accuracies(BOAT, answer) == [0] * 4


@pytest.mark.parametrize("question", ["What was the boat called?", "船叫什么名字？"])
def test_the_offline_answerers_own_sentence_is_honest(question):
    assert says_unknown(quote(Asked(question), (), None))


def test_offline_graders_leave_coherence_to_models_and_people():
    assert {g.grade(TABLETS, "150").coherence for g in offline_graders()} == {None}


@pytest.mark.parametrize("values", [{"accuracy": 0.7}, {"accuracy": 1, "coherence": 1.2}, {"accuracy": True, "coherence": -1}])
def test_a_grade_holds_only_what_the_scales_have(values):
    with pytest.raises(InputError):
        Grade(**values)


@given(st.text(), st.text(max_size=20), st.text(max_size=20))
def test_what_was_put_between_spaces_is_found_again(text, before, after):
    wanted = folded(text).strip()
    assert folded(folded(text)) == folded(text)
    if holds(wanted, wanted):
        assert holds(f"{before} \n {wanted} \n {after}", wanted)


@given(st.text(), st.text())
def test_graders_never_fail_and_stay_on_their_scales(label, answer):
    for kind in ("recall", "general", "never_said"):
        question = RecallQuestion("q", "?", AT, kind=kind, label=label, facts=(label[:3],) if label else ())
        assert set(accuracies(question, answer)) <= {0, 0.5, 1, None}
