"""Grading by hand without a browser: what keys and buttons say, what is on the disk, what stays hidden."""

from __future__ import annotations

import json

import pytest

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.evaluation.grade_by_hand import HandGrades
from ilstma_lab.evaluation.grade_side import side_by_side
from ilstma_lab.evaluation.grading import Answered, Exact
from ilstma_lab.widgets.hand_grader import HandGrader
from tests.evaluation.test_grading import BOAT, SKY, STENT, TABLETS

ATTACK = "</script><img src=x onerror=alert(1)>"
ANSWERS = [
    Answered(system, question, f"{answer} {question.id}")
    for system, answer in (("ILSTMA", "It was"), ("SCM", "Perhaps"))
    for question in (TABLETS, STENT, BOAT, SKY)
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "grades.jsonl"


@pytest.fixture
def grader(path):
    return HandGrader(ANSWERS, path=path, seed=3)


def keys(grader, *pressed):
    for do, value in pressed:
        grader._receive(grader, {"do": do, "value": value}, [])


def test_two_keys_grade_an_answer_and_the_next_is_shown(grader, path):
    first = grader.current
    keys(grader, ("rate", "0.5"))
    assert grader.current is first
    assert "Accuracy" not in grader.html().split("hg-scale now")[1]
    keys(grader, ("rate", "1"))
    assert grader.current is not first
    grade = HandGrades(path).grade(first.question, first.answer)
    assert (grade.accuracy, grade.coherence, grader.graded) == (0.5, 1.0, 1)


def test_buttons_choose_in_any_order_and_may_be_changed(grader):
    first = grader.current
    keys(grader, ("coherence", "0"), ("coherence", "0.5"), ("accuracy", "1"))
    grade = grader.grades.grade(first.question, first.answer)
    assert (grade.accuracy, grade.coherence) == (1, 0.5)


def test_accuracy_alone_can_be_kept(grader):
    first = grader.current
    keys(grader, ("keep", ""))
    assert grader.current is first
    keys(grader, ("rate", "0"), ("keep", ""))
    grade = grader.grades.grade(first.question, first.answer)
    assert (grade.accuracy, grade.coherence) == (0, None)


def test_the_order_is_the_seeds(path):
    orders = [[each.answer for each in HandGrader(ANSWERS, path=path, seed=seed).answers] for seed in (3, 3, 4)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == sorted(orders[2]) == sorted(each.answer for each in ANSWERS)


def test_the_system_is_hidden_until_it_is_asked_for(grader):
    assert not any(name in grader.html() + grader.text() + str(grader.view) for name in ("ILSTMA", "SCM"))
    keys(grader, ("reveal", ""))
    assert grader.current.system in grader.html()
    assert grader.current.system in grader.text()
    grader.reveal = False
    assert not any(name in str(grader.view) for name in ("ILSTMA", "SCM"))


def test_what_two_systems_answered_alike_is_graded_once(path):
    alike = [Answered(system, BOAT, "Havsula") for system in ("one", "two")]
    grader = HandGrader(alike, path=path)
    keys(grader, ("rate", "0"), ("rate", "1"))
    assert "All 1 answer graded" in grader.text()
    assert side_by_side(alike, [grader.grades]).accuracy("by hand") == (0, 2)


def test_skipped_answers_come_again_after_the_others(grader):
    first = grader.current
    keys(grader, ("rate", "1"), ("skip", ""))
    shown = []
    while grader.current is not first:
        shown.append(grader.current)
        keys(grader, ("rate", "1"), ("rate", "1"))
    assert len(set(shown)) == len(ANSWERS) - 1
    keys(grader, ("skip", ""))
    assert grader.current is first


def test_undo_takes_grades_back_one_by_one(grader, path):
    shown = []
    for _ in range(3):
        shown.append(grader.current)
        keys(grader, ("rate", "1"), ("rate", "1"))
    for graded, expected in ((2, shown[2]), (1, shown[1]), (0, shown[0]), (0, shown[0])):
        keys(grader, ("undo", ""))
        assert (grader.graded, grader.current) == (graded, expected)
        assert len(HandGrades(path)) == graded


def test_the_end_tells_the_mean_with_n_and_only_the_end(grader):
    for number in range(len(ANSWERS)):
        assert "accuracy" not in grader.text()
        grader.grade(number % 2)
    assert grader.current is None
    assert "All 8 answers graded: accuracy .50 on average (n 8)" in grader.text()
    assert "All 8 answers graded" in grader.html()
    keys(grader, ("rate", "1"), ("keep", ""), ("skip", ""))
    with pytest.raises(InputError, match="undo"):
        grader.grade(1)
    keys(grader, ("undo", ""))
    assert grader.current is not None


def test_what_was_graded_before_is_not_asked_again(grader, path):
    keys(grader, ("rate", "1"), ("rate", "1"))
    again = HandGrader(ANSWERS, path=path, **grader.state())
    assert (again.graded, again.current) == (1, grader.current)
    assert json.loads(json.dumps(again.state())) == grader.state()
    assert side_by_side(ANSWERS, [again.grades, Exact()]).accuracy("by hand") == (1, 1)


def test_what_cannot_be_kept_is_told_and_the_answer_stays(tmp_path):
    grader = HandGrader(ANSWERS, path=tmp_path / "missing" / "grades.jsonl")
    first = grader.current
    keys(grader, ("rate", "1"), ("rate", "1"))
    assert grader.current is first
    assert "cannot be written" in grader.text()
    assert "cannot be written" in grader.html()
    keys(grader, ("rate", "1"))
    assert "cannot be written" not in grader.text()
    assert "Accuracy" not in grader.html().split("hg-scale now")[1]


def test_g1_text_of_others_stays_text(path):
    hostile = Answered(ATTACK, BOAT, f"{ATTACK} שלום \x1b[31m")
    grader = HandGrader([hostile], path=path, reveal=True)
    assert "<img" not in grader.html()
    assert "<img" not in grader.static()
    assert "\x1b" not in grader.text()


@pytest.mark.parametrize("value", ["2", "", "nan", "0.50", "1; drop"])
def test_other_values_are_left_alone(grader, value):
    keys(grader, ("rate", value), ("accuracy", value), ("coherence", value), ("no such", value))
    assert grader._desk().chosen == {}


@pytest.mark.parametrize("answers", [[], "text", 3, ["text"]])
def test_without_answers_there_is_nothing_to_grade(path, answers):
    with pytest.raises(InputError, match="give answers"):
        HandGrader(answers, path=path)


def test_a_file_of_another_kind_is_refused(path):
    path.write_text("hello\n", encoding="utf-8")
    with pytest.raises(FormatError):
        HandGrader(ANSWERS, path=path)
    with pytest.raises(InputError, match="no answer 8"):
        HandGrader(ANSWERS, path=path.with_name("new.jsonl"), at=8)
