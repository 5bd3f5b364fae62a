"""Lesson 06 in a real JupyterLab: recall and case studies draw, lost agreements are found by keyboard, all can be read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW
from tests.browser.test_retrieval_cases import press

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook

CASES = 36 + 3  # questions with gold, and scripted readings
AGREED_AND_LOST = (2, 5, 7, 11, 17, 19, 20, 22, 23, 25, 27)
OUTPUTS = ".jp-OutputArea .ilab"


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = open_lesson("06_two_searches.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture
def cases(lesson: Notebook) -> Locator:
    """The case studies, with no filter, at their first case."""
    cases = lesson.page.locator(".jp-OutputArea .cases").first
    for name in ("Agree", "Gold lost"):
        pressed = cases.locator(f".chip[aria-pressed=true]:has-text('{name}')")
        if pressed.count():
            pressed.click()
            pressed.wait_for(state="detached")
    cases.locator(".tile").first.click()
    cases.get_by_text(f"case 1 of {CASES}").wait_for()
    return cases


def test_all_cells_run_and_both_searches_are_drawn(lesson: Notebook, cases: Locator):
    assert lesson.errors() == []
    assert cases.locator(".tile").count() == CASES
    assert cases.locator(".tile.scripted").count() == 3
    assert lesson.page.locator(f"{OUTPUTS} .referee").count() == 2, "the first question's recall, and the open case"
    assert lesson.page.locator("fieldset.predict").count() == 3


def test_the_two_agreements_that_drop_the_right_row_are_found_by_keyboard(cases: Locator):
    press(cases, ".chip:has-text('Agree')")
    press(cases, ".chip:has-text('Gold lost')")
    told = []
    for place in AGREED_AND_LOST:
        cases.get_by_text(f"case {place} of {CASES}").wait_for()
        told.append(cases.locator(".finding").inner_text())
        press(cases, ".ic-forth")
    assert told.count("They agree on the wrong one of B’s two") == 2


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, cases: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    lesson.picture(f"06_cases_{'dark' if dark else 'light'}", cases)
    outputs = lesson.page.locator(OUTPUTS).element_handles()
    faint = {text for output in outputs for text in lesson.page.evaluate(CONTRAST, [output, LEAST])}
    lesson.use_theme(dark=False)
    assert faint == set()


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_sticks_out(lesson: Notebook, cases: Locator, width: int):
    size = lesson.page.viewport_size
    lesson.fit(cases, width)
    found = {text for output in lesson.page.locator(OUTPUTS).all() for text in output.evaluate(OVERFLOW)}
    lesson.picture(f"06_cases_{width}", cases)
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert found == set()


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
