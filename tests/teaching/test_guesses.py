"""Guessing turns: a guess is kept and counted, nothing is told before it, and what users wrote is text."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import load_topic
from ilstma_lab.teaching.forty_turns import flow_of, forty_turns, wrong_flow
from ilstma_lab.teaching.guesses import Guesses
from tests.test_what_if import ATTACK, QUESTIONS, WIDE, new_lab, recorded


@pytest.fixture
def turns():
    return recorded(new_lab(config=WIDE)).turns


def test_nothing_is_told_before_the_guess(turns):
    guesses = Guesses(turns, key="t")
    assert QUESTIONS[0] in guesses.html()
    assert "badge" not in guesses.html()
    assert turns[0].answer not in guesses.html()
    assert "not guessed yet" in guesses.text()


def test_guesses_are_counted_kept_and_taken_back(turns):
    guesses = Guesses(turns, key="t")
    guesses.pressed("guess", "hit")
    guesses.pressed("turn", "2")
    guesses.pressed("guess", "hit")
    assert [turn.hit for turn in turns[:2]] == [False, True]
    assert guesses.score == (1, 2)
    assert "1 of 2 right" in guesses.html()
    guesses.guess(1, "miss")
    assert guesses.guessed(1) == "hit", "a guess once made stays"
    again = Guesses(turns, key="t")
    assert (again.score, again.at) == ((1, 2), 3)
    for number in (3, 4):
        again.guess(number, "miss")
    again.pressed("again", "")
    assert (again.score, again.at) == ((0, 0), 1)


def test_what_is_no_guess_is_refused_or_left_alone(turns):
    guesses = Guesses(turns, key="t")
    for number, end in ((9, "hit"), (1, "perhaps")):
        with pytest.raises(InputError, match='guess "hit" or "miss"'):
            guesses.guess(number, end)
    for do, value in (("guess", "perhaps"), ("turn", "99"), ("turn", "²"), ("jump", "1")):
        guesses.pressed(do, value)
    assert guesses.score == (0, 0)
    with pytest.raises(InputError, match="give the turns"):
        Guesses((), key="t")


def test_what_others_wrote_is_text():
    turns = recorded(new_lab(config=WIDE), (f"What leaks {ATTACK}?",)).turns
    guesses = Guesses(turns, key="t")
    guesses.guess(1, "miss")
    for html in (guesses.html(), guesses.static()):
        assert "<img" not in html
        assert "&lt;/script&gt;" in html


def test_forty_turns_are_the_topics_questions_in_order_and_others_between():
    topic = load_topic("travel")
    asked = forty_turns(topic)
    texts = [one.question for one in asked]
    own = [question.question for question in topic.questions]
    assert len(asked) == 40
    assert [text for at, text in enumerate(texts) if text in own and text not in texts[:at]] == own
    assert len(set(texts)) == 39, "one is repeated word for word"
    assert all(one.at < other.at for one, other in pairwise(asked))


def test_a_flow_reads_nothing_that_a_miss_has_cleared(turns):
    flow = flow_of(turns[0])
    assert list(flow) == [1, 2, 4, 6, 5, 9, 8, 7]
    assert "cache" not in flow[9][0]
    assert flow[7] == (("table",), ("cache",))
    assert flow_of(turns[1])[9] == (("verdict",), ("answer",)), "on a hit the judge has answered"


def test_the_wrong_flow_differs_in_one_thing():
    turns = recorded(new_lab(), (QUESTIONS[0], "Who wrote the letter about the harbour?")).turns
    assert [turn.hit for turn in turns] == [False, False]
    wrong = wrong_flow(turns)
    assert "cache" in wrong[9][0]
    assert set(wrong[9][0]) - {"cache"} == set(flow_of(turns[1])[9][0])
    assert {step: parts for step, parts in wrong.items() if step != 9} == {
        step: parts for step, parts in flow_of(turns[1]).items() if step != 9
    }
