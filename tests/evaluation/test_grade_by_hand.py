"""Grades by hand on the disk: what was written is read back, also after a torn line, an undo, or another writer."""

from __future__ import annotations

import json

import pytest

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.evaluation.grade_by_hand import HandGrades
from ilstma_lab.evaluation.grade_side import side_by_side
from ilstma_lab.evaluation.grading import Answered, Exact, Grade
from tests.evaluation.test_grading import BOAT, STENT, TABLETS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "grades.jsonl"


def test_grades_come_back_as_a_grader(path):
    kept = HandGrades(path)
    kept.keep(TABLETS, "150\n“micrograms”", Grade(0.5, 1.0))
    kept.keep(STENT, "二零二一", Grade(1.0))
    read = HandGrades(path)
    assert len(read) == 2
    assert read.grade(TABLETS, "150\n“micrograms”") == Grade(0.5, 1.0, "graded by hand")
    assert read.grade(STENT, "二零二一").coherence is None
    sides = side_by_side([Answered("one", STENT, "二零二一"), Answered("two", STENT, "忘了")], [read, Exact()])
    assert sides.accuracy("by hand") == (1.0, 1)


def test_an_answer_without_a_grade_has_none(path):
    assert HandGrades(path).grade(BOAT, "Havsula").accuracy is None
    assert not path.exists()


def test_the_last_word_counts_and_a_grade_can_be_taken_back(path):
    kept = HandGrades(path)
    for accuracy in (1.0, 0.0):
        kept.keep(BOAT, "Havsula", Grade(accuracy))
    assert HandGrades(path).grade(BOAT, "Havsula").accuracy == 0
    kept.forget(BOAT, "Havsula")
    kept.forget(BOAT, "never graded")
    assert Answered("one", BOAT, "Havsula") not in kept
    assert len(HandGrades(path)) == 0
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4


def test_a_torn_line_is_left_out_and_the_next_stands_by_itself(path):
    HandGrades(path).keep(BOAT, "Havsula", Grade(0.0))
    with path.open("a", encoding="utf-8") as file:
        file.write('{"id": "t", "question": "How str')
    torn = HandGrades(path)
    assert (len(torn), torn.unreadable) == (1, 1)
    torn.keep(TABLETS, "150", Grade(0.5))
    assert len(HandGrades(path)) == 2


@pytest.mark.parametrize(
    "values", [{"accuracy": 0.7}, {"accuracy": True}, {"accuracy": "1"}, {"accuracy": 1, "coherence": "x"}, {}]
)
def test_lines_that_hold_no_grade_are_counted(path, values):
    HandGrades(path).keep(BOAT, "Havsula", Grade(0.0))
    row = {"id": "t", "question": "?", "answer": "a", **values}
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    assert HandGrades(path).unreadable == 1


def test_another_file_is_refused_and_left_alone(path):
    path.write_text('{"question": "?"}\n', encoding="utf-8")
    with pytest.raises(FormatError, match="no grades by hand"):
        HandGrades(path)
    with pytest.raises(InputError, match="cannot be written"):
        HandGrades(path.parent / "missing" / "grades.jsonl").keep(BOAT, "Havsula", Grade(1.0))
    with pytest.raises(InputError, match="accuracy"):
        HandGrades(path.parent / "new.jsonl").keep(BOAT, "Havsula", Grade(None))
