"""Lesson 00 in a real JupyterLab: it runs, draws, answers to the keyboard, keeps to itself, and can be read in both themes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = open_lesson("00_start_here.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture(scope="module")
def chat(lesson: Notebook) -> Locator:
    """The chat widget, drawn."""
    chat = lesson.page.locator(".jp-OutputArea .ilab:has(.chat)")
    chat.locator("textarea").wait_for()
    return chat


def test_all_cells_run_without_an_error(lesson: Notebook):
    assert lesson.errors() == []
    assert len(lesson.page.query_selector_all(".jp-OutputArea .ilab")) >= 10


def test_a_guess_is_chosen_with_the_keyboard_and_shown_beside_the_truth(lesson: Notebook):
    options = lesson.page.locator("fieldset.predict").first
    options.locator("input").first.focus()
    lesson.page.keyboard.press("Space")
    lesson.page.keyboard.press("ArrowRight")
    options.get_by_text("It is: miss").wait_for()
    assert options.locator("input:checked").input_value() == "miss"


def test_a_number_is_guessed_and_shown_beside_the_truth(lesson: Notebook):
    asked = lesson.page.locator("fieldset.predict").nth(1)
    asked.get_by_text("No guess yet").wait_for()
    asked.locator("input").focus()
    lesson.page.keyboard.type("3")
    lesson.page.keyboard.press("Enter")
    asked.get_by_text("It is: 4 steps").wait_for()


def test_the_player_plays_the_miss_and_then_both_turns(lesson: Notebook):
    players = lesson.page.locator(".jp-OutputArea .ilab.player")
    assert players.count() == 2
    players.first.locator(".tl-cell[data-value='9']").focus()
    lesson.page.keyboard.press("Enter")
    players.first.locator(".tl-cell.here[data-value='9']").wait_for()
    assert "the pot is 5,860" in players.first.inner_text()
    assert players.last.locator(".pl-turns .chip").count() == 2


def test_the_chat_shows_five_segments_and_suggestions(chat: Locator):
    names = chat.locator(".segs .sg h3").all_inner_texts()
    assert names == ["Cache", "Summary", "Personality", "History", "Relevant"]
    assert chat.locator("button.chip").count() == 3


def test_a_question_is_asked_and_answered_by_keyboard_alone(lesson: Notebook, chat: Locator):
    keyboard, turns = lesson.page.keyboard, chat.locator(".turns > li")
    chat.locator("textarea").focus()
    keyboard.type("How much is in the pot after the extra duties?")
    chat.evaluate(  # what streams in is there only for a moment: note it as it comes
        "root => { window.streamed = []; const seen = () => { const live = root.querySelector('.pipes');"
        " if (live) window.streamed.push(live.querySelectorAll('.done').length) };"
        " new MutationObserver(seen).observe(root, { childList: true, subtree: true }) }"
    )
    keyboard.press("Enter")
    turns.locator(".badge.miss").wait_for()
    answered = turns.last.locator(".answer").inner_text()
    assert "row" in answered
    assert lesson.page.evaluate("Math.max(...window.streamed)") > 0, "steps light up while the turn runs"

    keyboard.type("How much is in the pot after the extra duties?")
    keyboard.press("Enter")
    turns.nth(1).locator(".badge.hit").wait_for()
    assert turns.nth(1).locator(".answer").inner_text() == answered
    assert chat.locator(".is-cache li").count() == 3


@pytest.mark.parametrize("control", ["button.btn.pri", "button.chip", ".segd button"])
def test_keys_pressed_on_a_focused_button_leave_the_notebook_alone(lesson: Notebook, chat: Locator, control: str):
    before = lesson.cells()
    chat.locator(control).first.focus()
    for key in ("b", "a", "d", "d", "x"):
        lesson.page.keyboard.press(key)
    assert lesson.cells() == before


def test_keys_pressed_on_a_guess_leave_the_notebook_alone(lesson: Notebook):
    before = lesson.cells()
    lesson.page.locator("fieldset.predict input").first.focus()
    for key in ("b", "a", "d", "d", "x"):
        lesson.page.keyboard.press(key)
    assert lesson.cells() == before


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, dark: bool):
    lesson.use_theme(dark=dark)
    outputs = lesson.page.locator(".jp-OutputArea .ilab")
    faint = {text for output in outputs.element_handles() for text in lesson.page.evaluate(CONTRAST, [output, LEAST])}
    assert faint == set()


@pytest.mark.parametrize("width", [1100, 700])
def test_nothing_sticks_out(lesson: Notebook, width: int):
    size = lesson.page.viewport_size
    outputs = lesson.page.locator(".jp-OutputArea .ilab")
    lesson.fit(outputs.first, width)
    wide = {text for output in outputs.all() for text in output.evaluate(OVERFLOW)}
    lesson.picture(f"lesson00_{width}")
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert wide == set()


def test_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
