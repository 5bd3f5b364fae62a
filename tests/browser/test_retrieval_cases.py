"""The case studies in a real JupyterLab: they draw, obey the keyboard, keep their keys, and can be read in both themes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import LabServer, Notebook

CELLS = (
    "from ilstma_lab.widgets import RetrievalCases\ncases = RetrievalCases.example()\ncases",
    "from ilstma_lab import ILSTMA, ManualClock, MemoryTable, load_dialogues\n"
    "from ilstma_lab.evaluation.datasets import load_topic\n"
    "table = MemoryTable.from_dialogues(load_topic('travel_zh').dialogues)\n"
    "RetrievalCases.of(ILSTMA(table, clock=ManualClock.after(table)), load_topic('travel_zh').questions[0].question)",
)


@pytest.fixture(scope="module")
def notebook(server: LabServer, open_lesson: Callable[[str], Notebook]) -> Notebook:
    """A notebook with the example and one live question, run."""
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}  # without one, Lab asks which
    written = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
    nbformat.write(written, Path(server.root) / "cases.ipynb")
    notebook = open_lesson("cases.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture
def cases(notebook: Notebook) -> Locator:
    """The example, at its first case."""
    cases = notebook.page.locator(".jp-OutputArea .cases").first
    cases.locator(".tile").first.click()
    at(cases, 1)
    return cases


def at(cases: Locator, place: int) -> None:
    """Wait until the case at `place` (from 1) is open."""
    cases.get_by_text(f"case {place} of 21").wait_for()


def press(cases: Locator, control: str, key: str = "Enter") -> None:
    cases.locator(control).first.focus()
    cases.page.keyboard.press(key)


def test_all_that_a_case_has_is_drawn(notebook: Notebook, cases: Locator):
    assert notebook.errors() == []
    assert cases.locator(".tile").count() == 21
    assert cases.locator(".br").count() == 2
    assert cases.locator("blockquote .rc").count() >= 1
    assert cases.locator("table.rules tbody tr").count() == 5
    assert cases.locator(".verdict").is_visible()


def test_arrows_step_through_tiles_and_keep_the_focus(cases: Locator):
    press(cases, ".tile[aria-current]", "ArrowRight")
    cases.page.wait_for_function("() => document.activeElement?.matches('.tile[aria-current]')")
    at(cases, 2)
    cases.page.keyboard.press("ArrowLeft")
    at(cases, 1)


def test_buttons_and_filters_work_by_keyboard(cases: Locator):
    press(cases, ".ic-forth")
    at(cases, 2)
    press(cases, ".chip:has-text('Invented')")
    cases.get_by_text("Scripted: this reading was written by hand").wait_for()
    assert cases.page.evaluate("document.activeElement.textContent").startswith("Invented")
    cases.page.keyboard.press("Enter")
    cases.locator(".chip[aria-pressed=false]:has-text('Invented')").wait_for()


def test_a_text_opens_by_keyboard(cases: Locator):
    press(cases, ".said summary")
    cases.locator(".said[open]").first.wait_for()


@pytest.mark.parametrize("control", [".tile[aria-current]", ".ic-forth", ".said summary", ".w-foot .btn"])
def test_keys_pressed_on_a_control_leave_the_notebook_alone(notebook: Notebook, cases: Locator, control: str):
    before = notebook.cells()
    cases.locator(control).first.focus()
    for key in ("b", "a", "d", "d", "x"):
        notebook.page.keyboard.press(key)
    assert notebook.cells() == before


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_texts_can_be_read(notebook: Notebook, cases: Locator, dark: bool):
    notebook.use_theme(dark=dark)
    notebook.picture(f"cases_{'dark' if dark else 'light'}", cases)
    outputs = notebook.page.locator(".jp-OutputArea .cases").element_handles()
    faint = {text for output in outputs for text in notebook.page.evaluate(CONTRAST, [output, LEAST])}
    notebook.use_theme(dark=False)
    assert faint == set()


@pytest.mark.parametrize("width", [1000, 700])
def test_nothing_sticks_out(notebook: Notebook, cases: Locator, width: int):
    size = notebook.page.viewport_size
    notebook.fit(cases, width)
    found = {text for output in notebook.page.locator(".jp-OutputArea .cases").all() for text in output.evaluate(OVERFLOW)}
    notebook.picture(f"cases_{width}", cases)
    notebook.picture(f"live_{width}", notebook.page.locator(".jp-OutputArea .cases").nth(1))
    notebook.page.set_viewport_size(size)
    notebook.settle()
    assert found == set()


def test_z_nothing_was_complained_of_or_fetched_from_elsewhere(notebook: Notebook):
    assert notebook.errors() == []
    assert notebook.complaints == []
    assert notebook.outside == []
