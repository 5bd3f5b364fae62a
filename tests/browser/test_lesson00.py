"""Lesson 00 in a real JupyterLab: it runs, draws, answers to the keyboard, keeps to itself, and can be read in both themes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook

# The contrast of each visible text with what is painted behind it, by WCAG 2: colours as the browser computed them.
CONTRAST = """([root, least]) => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((part) => part / 255);
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((part, i) => a * part + (1 - a) * below[i]).concat(1);
  const ground = (node) => {
    if (!node) return [1, 1, 1, 1];
    const own = rgba(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own : over(own, ground(node.parentElement));
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  for (const node of root.querySelectorAll('*')) {
    const own = [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim());
    if (!own || node.closest('style, :disabled, .gone') || !node.checkVisibility()) continue;
    const behind = ground(node), text = over(rgba(getComputedStyle(node).color), behind);
    const [low, high] = [light(behind), light(text)].sort((one, other) => one - other);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < least) faint.push(`${ratio.toFixed(2)} ${node.className}: ${node.textContent.trim().slice(0, 40)}`);
  }
  return faint;
}"""
# What ends to the right of the output that it belongs to.
OVERFLOW = """(root) => [...root.querySelectorAll('*')].filter((node) =>
  node.checkVisibility() && !node.closest('.gone, .cut') &&
  node.getBoundingClientRect().right > root.getBoundingClientRect().right + 1
).map((node) => `${node.tagName}.${node.className}: ${node.textContent.trim().slice(0, 40)}`)"""
LEAST = 4.5


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
