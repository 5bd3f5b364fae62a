"""Lesson 07 in a real JupyterLab: the stepper goes from group to group, answers a question, and can be read at any width."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW
from tests.browser.test_explorables import FIGURE_CONTRAST, HANDLE, press
from tests.browser.test_lesson05 import COVERED, CUT

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = open_lesson("07_summaries.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture
def stepper(lesson: Notebook) -> Locator:
    """The summary stepper at group 2 of 4, its update worked out."""
    found = lesson.page.locator(".jp-OutputArea .stepper")
    found.locator(HANDLE).first.wait_for()
    at(found, 2)
    return found


def at(stepper: Locator, group: int) -> None:
    """Go to a group by keyboard, and wait for its panels."""
    handle = stepper.locator(HANDLE).first
    handle.focus()
    for _ in range(4):
        stepper.page.keyboard.press("ArrowLeft")
    for _ in range(group - 1):
        stepper.page.keyboard.press("ArrowRight")
    stepper.locator(".finding", has_text=f"Group {group} of").wait_for()
    stepper.locator(".ss-ruling").wait_for()


def test_all_cells_run_and_the_figure_draws(lesson: Notebook, stepper: Locator):
    assert lesson.errors() == []
    figure = lesson.page.locator(".jp-OutputArea .fig").first
    figure.locator(".main-svg").first.wait_for(state="attached")
    assert figure.locator(".main-svg").first.bounding_box()["width"] > 200
    assert "71 % at 2" in figure.locator("[role=img]").get_attribute("aria-label")


def test_arrow_keys_lead_through_the_groups(stepper: Locator):
    stepper.locator(".finding", has_text="1 line of set 1 overwritten").wait_for()
    at(stepper, 3)
    stepper.locator(".ss-ruling", has_text="Two sets.").wait_for()
    at(stepper, 4)
    stepper.locator(".ss-part.overwritten", has_text="aunt Karin").first.wait_for()


def test_a_question_gets_a_set_and_keys_in_the_field_are_text(lesson: Notebook, stepper: Locator):
    before = lesson.cells()
    at(stepper, 4)
    field = stepper.locator(".widget-text input")
    field.fill("")
    field.press_sequentially("added dd bb: what ate slugs?")
    field.press("Enter")
    stepper.locator(".ss-card", has_text="Slugs ate eleven").wait_for()
    assert lesson.cells() == before
    field.fill("")
    field.press("Enter")
    stepper.locator(".ss-card").wait_for(state="detached")


def test_a_preset_changes_what_is_overwritten(stepper: Locator):
    stepper.get_by_role("button", name="Looser, 0.65").press("Enter")
    stepper.locator(".finding", has_text="2 lines of set 1 overwritten").wait_for()
    stepper.get_by_role("button", name="As usual, 0.70").press("Enter")
    stepper.locator(".finding", has_text="1 line of set 1 overwritten").wait_for()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, stepper: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    field = stepper.locator(".widget-text input")
    field.fill("When does my train to Oslo leave?")
    field.press("Enter")
    stepper.locator(".ss-card").wait_for()
    figure = lesson.page.locator(".jp-OutputArea .fig").first
    lesson.picture(f"07_stepper_{'dark' if dark else 'light'}", stepper)
    lesson.picture(f"07_figure_{'dark' if dark else 'light'}", figure)
    outputs = lesson.page.locator(".jp-OutputArea .ilab")
    faint = {text for output in outputs.element_handles() for text in lesson.page.evaluate(CONTRAST, [output, LEAST])}
    figures = figure.locator(".main-svg").element_handles()
    faint |= {text for shown in figures for text in lesson.page.evaluate(FIGURE_CONTRAST, [shown, LEAST])}
    lesson.use_theme(dark=False)
    assert faint == set()


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_sticks_out_is_cut_or_covered(lesson: Notebook, stepper: Locator, width: int):
    size = lesson.page.viewport_size
    lesson.fit(stepper, width)
    at(stepper, 4)
    press(stepper, ".ss-more summary")
    found = {text for output in lesson.page.locator(".jp-OutputArea .ilab").all() for text in output.evaluate(OVERFLOW)}
    wide = {text for text in found if text[0].isupper() or text.startswith("text.")}
    figure = lesson.page.locator(".jp-OutputArea .fig").first
    lesson.picture(f"07_stepper_{width}", stepper)
    lesson.picture(f"07_figure_{width}", figure)
    covered, cut = figure.evaluate(COVERED), figure.evaluate(CUT)
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert (wide, covered, cut) == (set(), [], [])


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
