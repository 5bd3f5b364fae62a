"""Strict, lenient and exact graders on the same answers: means and agreement by hand, n beside each."""

from __future__ import annotations

import numpy as np
import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.grade_side import side_by_side
from ilstma_lab.evaluation.grading import Answered, Exact, Grade, offline_graders
from tests.evaluation.test_grading import BOAT, SKY, STENT, TABLETS, UNLABELLED


class Stub:
    """Gives each question's grade by its id, 1 if it is not named."""

    def __init__(self, name, **grades):
        self.name, self.grades = name, grades

    def grade(self, question, answer):
        return Grade(self.grades.get(question.id, 1), reason="" if question.id in self.grades else "stub")


ANSWERS = [Answered("one", question, "150 micrograms") for question in (TABLETS, STENT, BOAT, SKY)]
STRICT, LENIENT = Stub("strict", t=0, s=0), Stub("lenient", t=0.5, s=0)


@pytest.fixture
def sides():
    return side_by_side(ANSWERS, [STRICT, LENIENT, Exact()])


def test_i2_strict_lenient_and_exact_on_the_same_answers(sides):
    assert [sides.accuracy(name) for name in ("strict", "lenient", "exact")] == [(0.5, 4), (0.625, 4), (0, 4)]
    assert sides.accuracy("lenient", "recall") == (0.25, 2)
    assert sides.agreement("strict", "lenient") == (0.75, 4)
    assert sides.agreement("strict", "lenient", "recall") == (0.5, 2)
    assert sides.kinds == ("recall", "never_said", "general", "all")


def test_both_twins_print_n_by_every_figure(sides):
    lines = str(sides).splitlines()
    assert lines[0] == "4 answers of 1 system under 3 graders"
    assert [line.split() for line in lines if line.startswith("lenient  ")] == [
        ["lenient", ".25", "n", "2", "1.0", "n", "1", "1.0", "n", "1", ".62", "n", "4"]
    ]
    html = sides._repr_html_()
    assert ".62 n 4" in html
    assert "strict = lenient" in html


def test_without_grades_there_is_no_mean_and_the_reason_is_told():
    sides = side_by_side([Answered("one", UNLABELLED, "Jaws")], [Exact(), LENIENT])
    assert np.isnan(sides.accuracy("exact")[0])
    assert np.isnan(sides.agreement("exact", "lenient")[0])
    assert "exact left 1 answer without a grade: the question has no label" in str(sides)


def test_the_frame_holds_every_grade_with_its_reason(sides):
    frame = sides.to_frame()
    assert list(frame["lenient"]) == [0.5, 0, 1, 1]
    assert frame["exact: why"][0] == "the label does not stand in the answer"
    assert frame["exact"].dtype == float


@pytest.mark.parametrize(("answers", "graders"), [([], [STRICT]), (ANSWERS, []), (ANSWERS, [STRICT, STRICT])])
def test_what_cannot_be_compared_is_refused(answers, graders):
    with pytest.raises(InputError):
        side_by_side(answers, graders)


def test_text_in_html_stays_text():
    sides = side_by_side([Answered("one", BOAT, "<b>x</b>")], [Stub("<i>mine</i>"), *offline_graders()])
    assert "<i>mine" not in sides._repr_html_()
