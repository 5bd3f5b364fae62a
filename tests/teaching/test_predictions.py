"""Guesses: kept at once, back after a restart, shown beside the truth, and never run or drawn as HTML."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.teaching import predict, predictions, reveal
from ilstma_lab.teaching.progress import FILE

ATTACK = "</script><img src=x onerror=alert(1)>"


def test_a_guess_stands_beside_the_truth():
    asked = predict("00-1", "Hit or miss?", ["hit", "miss"])
    asked.guess = "hit"
    revealed = reveal("00-1", "miss", note="Nothing was at hand.")
    assert (revealed.guess, revealed.truth) == ("hit", "miss")
    assert str(revealed).splitlines() == ["Your guess: hit", "The truth:  miss", "Not what you guessed.", "Nothing was at hand."]
    assert asked.told == "It is: miss"
    assert reveal("00-1", "hit").verdict == "You guessed it."


def test_without_a_guess_a_lesson_goes_on():
    predict("00-1", "Hit or miss?", ["hit", "miss"])
    assert reveal("00-1", "miss").guess is None
    assert "no guess yet" in str(reveal("00-1", "miss"))
    assert "no guess yet" in str(reveal("never asked", 3))


def test_a_number_says_how_far_it_was_off():
    predict("00-2", "How many?", unit="steps").guess = 6
    assert reveal("00-2", 4).verdict == "Off by 2 steps."
    assert reveal("00-2", 6).verdict == "You guessed it."


@pytest.mark.parametrize("guess", ["maybe", 3, True, ["hit"]])
def test_a_guess_is_one_of_the_options(guess: object):
    with pytest.raises(InputError, match="'hit', 'miss'"):
        predict("00-1", "Hit or miss?", ["hit", "miss"]).guess = guess


@pytest.mark.parametrize("guess", ["4", True, float("nan"), float("inf")])
def test_a_guess_without_options_is_a_finite_number(guess: object):
    with pytest.raises(InputError, match="finite number"):
        predict("00-2", "How many?").guess = guess


def test_a_guess_survives_a_restart_of_the_kernel(monkeypatch: pytest.MonkeyPatch):
    predict("00-1", "Hit or miss?", ["hit", "miss"]).guess = "hit"
    predict("00-2", "How many?").guess = 2.5
    monkeypatch.setattr(predictions, "_asked", {})
    assert predict("00-1", "Hit or miss?", ["hit", "miss"]).guess == "hit"
    assert reveal("00-2", 2).verdict == "Off by 0.5."


def test_a_kept_guess_that_no_longer_fits_is_left_out():
    predict("00-1", "Hit or miss?", ["hit", "miss"]).guess = "hit"
    assert predict("00-1", "Which?", ["a", "b"]).guess is None
    assert predict("00-1", "How many?").guess is None


def test_a_guess_can_be_taken_back():
    asked = predict("00-1", "Hit or miss?", ["hit", "miss"])
    asked.guess = "hit"
    asked.guess = None
    assert reveal("00-1", "miss").guess is None


def test_g6_what_stands_in_for_the_widget_and_the_truth_is_escaped(folder: Path):
    asked = predict("x", ATTACK, [ATTACK], unit=ATTACK)
    asked.guess = ATTACK
    revealed = reveal("x", ATTACK, note=ATTACK)
    bundle, _ = asked._repr_mimebundle_()
    for html in (bundle["text/html"], revealed._repr_html_()):
        assert "<img" not in html
        assert "<script" not in html
        assert "alert(1)" in html
    assert ATTACK in bundle["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
    (folder / FILE).write_text('{"guesses": {"x": "<img src=y>"}}')
    assert "<img" not in reveal("x", 1)._repr_html_()


def test_g6_the_browser_part_writes_text_only_and_loads_nothing():
    source = (files("ilstma_lab") / "teaching" / "static" / "predict.js").read_text(encoding="utf-8")
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "http:", "https:", "import "):
        assert forbidden not in source
