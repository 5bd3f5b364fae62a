"""Lesson 01 in a real JupyterLab: the inspector draws, fades and finds rows by keyboard; all can be read in both themes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook

OUTPUTS = ".jp-OutputArea .ilab"


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = open_lesson("01_memory_table.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture
def inspector(lesson: Notebook) -> Locator:
    """The inspector with row 91 open, looked at today."""
    inspector = lesson.page.locator(".jp-OutputArea .inspector")
    inspector.locator("input[type=range]").focus()
    lesson.page.keyboard.press("Home")
    inspector.get_by_role("heading", name="Row 91", exact=True).wait_for()
    return inspector


def test_all_cells_run_and_row_91_shows_who_asked_for_it(lesson: Notebook, inspector: Locator):
    assert lesson.errors() == []
    assert lesson.page.locator("fieldset.predict").count() == 2
    events = inspector.locator(".events li").all_inner_texts()
    assert len(events) == 3, "told, recalled by the miss, and by the hit"
    assert events[-1].endswith("waiting")
    assert inspector.locator(".finding").inner_text().startswith("10 of 98 rows"), "what is deleted later is deleted elsewhere"


def test_on_the_twelfth_day_less_than_half_of_row_91_is_left(inspector: Locator):
    kept = inspector.locator(".page .r.sel .num").last
    inspector.locator("input[type=range]").focus()
    for _ in range(12):
        inspector.page.keyboard.press("ArrowRight")
    inspector.get_by_text(", today + 12 days").wait_for()
    assert float(kept.inner_text()) < 0.5
    inspector.page.keyboard.press("ArrowLeft")
    inspector.get_by_text(", today + 11 days").wait_for()
    assert float(kept.inner_text()) > 0.5


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, inspector: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    lesson.picture(f"01_inspector_{'dark' if dark else 'light'}", inspector)
    outputs = lesson.page.locator(OUTPUTS).element_handles()
    faint = {text for output in outputs for text in lesson.page.evaluate(CONTRAST, [output, LEAST])}
    assert faint == set()


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_sticks_out(lesson: Notebook, inspector: Locator, width: int):
    size = lesson.page.viewport_size
    lesson.fit(inspector, width)
    wide = {text for output in lesson.page.locator(OUTPUTS).all() for text in output.evaluate(OVERFLOW)}
    lesson.picture(f"01_inspector_{width}", inspector)
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert wide == set()


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
