"""Checks say which property fails and no more; hints come one by one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.teaching import check, hint
from ilstma_lab.teaching.checks import lesson00
from ilstma_lab.teaching.exercises import NOT_YET, Exercise, Property
from ilstma_lab.teaching.progress import progress
from tests.stubs import asking, stub_lab


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> None:
    """An exercise of three properties and two hints."""
    properties = (
        Property("it is a number", lambda answer: isinstance(answer, int)),
        Property("it is even", lambda answer: answer % 2 == 0),
        Property("its half is small", lambda answer: 100 / answer > 5),
    )
    monkeypatch.setitem(lesson00.EXERCISES, "T", Exercise(properties, ("Think.", "Think of two.")))


@pytest.mark.usefixtures("task")
def test_a_check_tells_the_first_property_that_fails():
    checked = check("00-T", 3)
    assert not checked.passed
    assert [state for _, state in checked.properties] == ["holds", "fails", "not looked at"]
    assert str(checked).splitlines()[1:] == ["  ✓ it is a number", "  ✗ it is even", "  · its half is small"]
    assert 'hint("00-T")' in checked.finding


@pytest.mark.usefixtures("task")
def test_a_right_answer_is_kept_as_solved_and_a_later_wrong_one_takes_it_back():
    assert check("00-T", 4).passed
    assert progress().get("solved", "00-T") is True
    check("00-T", 5)
    assert progress().get("solved", "00-T") is False


@pytest.mark.usefixtures("task")
def test_dots_are_no_answer():
    checked = check("00-T", ...)
    assert (checked.passed, checked.finding) == (False, NOT_YET)
    assert progress().get("solved", "00-T") is None


@pytest.mark.usefixtures("task")
def test_g6_an_answer_that_raises_fails_and_what_it_raised_is_told_escaped():
    class Trap(int):
        def __mod__(self, other: int) -> int:
            raise ValueError("<img src=x>")

    checked = check("00-T", Trap(4))
    assert [state for _, state in checked.properties] == ["holds", "fails", "not looked at"]
    assert "ValueError: <img src=x>" in str(checked)
    assert "<img" not in checked._repr_html_()
    assert check("00-T", 0).raised.startswith("Looking at it raised ZeroDivisionError")


@pytest.mark.usefixtures("task")
def test_each_hint_says_one_more_and_the_last_one_says_so():
    assert str(hint("00-T")) == "1. Think.\n(1 more: run it again)"
    for _ in range(3):
        said = str(hint("00-T"))
    assert said.splitlines()[:2] == ["1. Think.", "2. Think of two."]
    assert "that was the last" in said


@pytest.mark.parametrize("key", ["00-Z", "00", "99-A", "x", "", "0-A", "../00-A", "00-A-B"])
def test_an_unknown_key_says_which_there_are(key: str):
    for ask in (hint, lambda unknown: check(unknown, 1)):
        with pytest.raises(InputError, match="there is no exercise"):
            ask(key)


# -- lesson 00 ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [[4, 5, 6, 7], {4, 5, 6}, {3, 4, 5, 6, 7}, set(), {"4"}, {4.0, 5, 6, 7}, None])
def test_lesson_00_a_refuses(answer: object):
    assert not check("00-A", answer).passed
    assert check("00-A", {4, 5, 6, 7}).passed


def test_lesson_00_b_wants_a_hit_in_own_words():
    lab = stub_lab()
    first, turn = lab.ask(asking(3)), lab.ask(asking(4))
    good = replace(turn, hit=True, question="What is in the pot?", answer="So the pot is 5,860.")
    assert check("00-B", good).passed
    copied = "how much is in the POT, after Tomek's two extra Sunday duties in May"
    for bad in (first, turn, turn.answer, replace(good, hit=False), replace(good, question=copied), replace(good, answer="260")):
        assert not check("00-B", bad).passed


@pytest.mark.parametrize(
    ("lost", "passes"), [(0.67, True), (0.6701, True), (0.65, False), (0, False), (-0.67, False), ("0.67", False)]
)
def test_lesson_00_c_wants_the_loss(lost: object, passes: bool):
    assert check("00-C", lost).passed is passes
