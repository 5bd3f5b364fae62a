"""Lesson 08 in a real JupyterLab: turns are guessed, a setting is changed and the session runs again, all can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW
from tests.browser.test_explorables import FIGURE_CONTRAST, press

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = open_lesson("08_whole_machine.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture
def guesses(lesson: Notebook) -> Locator:
    """Twelve turns to be guessed."""
    return lesson.page.locator(".jp-OutputArea .ilab.guesses")


@pytest.fixture
def screen(lesson: Notebook) -> Locator:
    """The what-if with k = 5, run."""
    found = lesson.page.locator(".jp-OutputArea .explorable.what-if")
    found.locator(".fig .main-svg").first.wait_for(state="attached")
    press(found, ".x-presets button:text-is('k = 5')")
    found.locator(".finding", has_text="row 16 would have been cached: turn 11 hits").wait_for()
    return found


def test_all_cells_run_and_everything_draws(lesson: Notebook, guesses: Locator, screen: Locator):
    assert lesson.errors() == []
    assert guesses.locator(".gs-turns button").count() == 12
    assert screen.locator(".fig .scatterlayer .point").count() >= 80
    assert screen.locator(".wi-two").count() >= 5


def test_a_guess_reveals_the_outcome_by_keyboard(lesson: Notebook, guesses: Locator):
    guesses.locator(".gs-turns button").first.click()
    if guesses.locator("[data-do=guess]").count():
        assert guesses.locator(".gs-told").count() == 0
        guesses.locator("[data-do=guess][data-value=miss]").focus()
        lesson.page.keyboard.press("Enter")
    guesses.locator(".gs-told .badge.miss").wait_for()
    guesses.locator(".finding", has_text="1 of 1 right").wait_for()
    lesson.picture("08_guess", guesses)
    guesses.locator(".gs-told .btn.pri").click()
    guesses.locator(".gs-q", has_text="Turn 2").wait_for()


def test_a_setting_is_changed_and_the_session_runs_again(screen: Locator):
    press(screen, ".x-presets button:text-is('k = 1')")
    screen.locator(".finding", has_text="row 79 would not have been cached: turn 4 misses").wait_for()
    assert "14 as recorded, 8 now" in screen.locator(".sub").first.inner_text()
    press(screen, ".ic-reset")
    screen.locator(".finding", has_text="nothing changes in 40 turns").wait_for()


def test_arrow_keys_choose_a_turn(screen: Locator):
    screen.locator(".wi-q", has_text="Turn 11").wait_for()
    screen.locator(".fig-image").focus()
    screen.page.keyboard.press("ArrowRight")
    screen.locator(".wi-q", has_text="Turn 12").wait_for()
    screen.page.keyboard.press("ArrowLeft")
    screen.locator(".wi-q", has_text="Turn 11").wait_for()


def test_prompts_unfold_line_by_line(screen: Locator):
    screen.locator(".wi details summary").first.click()
    assert screen.locator(".wi-diff p.fresh").first.is_visible()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, guesses: Locator, screen: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    for name, shown in (("guesses", guesses), ("what_if", screen)):
        lesson.picture(f"08_{name}_{'dark' if dark else 'light'}", shown)
    outputs = lesson.page.locator(".jp-OutputArea .ilab")
    faint = {text for output in outputs.element_handles() for text in lesson.page.evaluate(CONTRAST, [output, LEAST])}
    figures = screen.locator(".main-svg").element_handles()
    faint |= {text for figure in figures for text in lesson.page.evaluate(FIGURE_CONTRAST, [figure, LEAST])}
    lesson.use_theme(dark=False)
    assert faint == set()


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_sticks_out(lesson: Notebook, guesses: Locator, screen: Locator, width: int):
    size = lesson.page.viewport_size
    lesson.fit(screen, width)
    for name, shown in (("guesses", guesses), ("what_if", screen)):
        lesson.picture(f"08_{name}_{width}", shown)
    found = {text for shown in (guesses, screen) for text in shown.evaluate(OVERFLOW)}
    wide = {text for text in found if text[0].isupper() or text.startswith("text.")}
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert wide == set()


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
