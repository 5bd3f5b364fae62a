"""Lesson 13 in a real JupyterLab: all cells run, the bench and the grading desk can be read, three grades change the table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW
from tests.browser.test_explorables import FIGURE_CONTRAST
from tests.browser.test_lesson09 import OVERLAPS

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import Notebook


@pytest.fixture(scope="module")
def lesson(open_lesson: Callable[[str], Notebook]) -> Notebook:
    """The lesson, all its cells run."""
    notebook = open_lesson("13_five_systems.ipynb")
    notebook.run_all()
    return notebook


def output(lesson: Notebook, source: str) -> Locator:
    """Return the outputs of the cell that holds `source`."""
    return lesson.page.locator(".jp-CodeCell", has_text=source).first.locator(".jp-OutputArea").first


@pytest.fixture
def figure(lesson: Notebook) -> Locator:
    """The Chinese systems' bands, drawn."""
    found = output(lesson, 'accuracy_spec(zh, metric="retrieve")').locator(".fig").first
    found.locator(".main-svg").first.wait_for(state="attached")
    return found


def test_all_cells_run(lesson: Notebook):
    assert lesson.errors() == []


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(lesson: Notebook, figure: Locator, dark: bool):
    lesson.use_theme(dark=dark)
    shade = "dark" if dark else "light"
    outputs = {
        "bench": output(lesson, 'Bench(run, favourite="ILSTMA"'),
        "desk": output(lesson, "desk = HandGrader("),
        "graders": output(lesson, "side_by_side(desk.answers"),
        "claims": output(lesson, "bench_claims.caveat(bench)"),
    }
    faint = set(lesson.page.evaluate(FIGURE_CONTRAST, [figure.locator(".main-svg").first.element_handle(), LEAST]))
    lesson.picture(f"13_bands_{shade}", figure)
    for name, shown in outputs.items():
        lesson.picture(f"13_{name}_{shade}", shown)
        faint |= set(lesson.page.evaluate(CONTRAST, [shown.element_handle(), LEAST]))
    lesson.use_theme(dark=False)
    assert faint == set()


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_sticks_out_and_no_label_lies_on_another(lesson: Notebook, figure: Locator, width: int):
    size = lesson.page.viewport_size
    bench = output(lesson, 'Bench(run, favourite="ILSTMA"').locator(".ilab").first
    lesson.fit(bench, width)
    wide = [text for text in bench.evaluate(OVERFLOW) if not text.startswith(("TD", "TH", "TR", "TBODY", "THEAD", "TABLE"))]
    overlaps = figure.evaluate(OVERLAPS)
    lesson.picture(f"13_bench_{width}", bench)
    lesson.picture(f"13_bands_{width}", figure)
    lesson.page.set_viewport_size(size)
    lesson.settle()
    assert wide == [], "tables scroll by themselves, all else fits"
    assert overlaps == []


def test_three_grades_fill_the_row_by_hand(lesson: Notebook):
    desk = output(lesson, "desk = HandGrader(").locator(".ilab.hand-grader")
    desk.locator(".w").focus()
    for number in (1, 2, 3):
        for key in "15":
            desk.page.keyboard.press(key)
        desk.locator(".finding", has_text=f"{number} of 3" if number < 3 else "3").first.wait_for()
    cell = lesson.page.locator(".jp-CodeCell", has_text="side_by_side(desk.answers").first
    cell.locator(".cm-content").click()
    lesson.command("notebook:run-cell")
    cell.locator("tr", has_text="by hand").first.filter(has_text="1.0").wait_for()


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(lesson: Notebook):
    assert lesson.errors() == []
    assert lesson.complaints == []
    assert lesson.outside == []
