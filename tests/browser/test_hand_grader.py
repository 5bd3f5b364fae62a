"""Grading by hand in a real JupyterLab: by keyboard alone, in both themes, on a wide and a narrow page."""

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

ATTACK = "</script><img src=x onerror=alert(1)>"
CELL = f"""from ilstma_lab.evaluation.datasets import load_topic
from ilstma_lab.evaluation.grading import Answered
from ilstma_lab.widgets.hand_grader import HandGrader
questions = (*load_topic("travel").questions[:4], *load_topic("travel_zh").questions[:2])
said = "On 7 March (row 71) you said: “He gets it at seven and at nineteen o'clock.” I answered: “Noted.” " + {ATTACK!r}
answers = [Answered("SCM", question, said) for question in questions]
HandGrader(answers, path="grades.jsonl", seed=1)"""


@pytest.fixture(scope="module")
def notebook(server: LabServer, open_lesson: Callable[[str], Notebook]) -> Notebook:
    """A notebook with six answers to grade, run."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}  # else Lab asks for one
    cells = [nbformat.v4.new_code_cell(CELL)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), Path(server.root) / "grading.ipynb")
    notebook = open_lesson("grading.ipynb")
    notebook.run_all()
    return notebook


@pytest.fixture
def desk(notebook: Notebook) -> Locator:
    """The widget."""
    return notebook.page.locator(".jp-OutputArea .ilab.hand-grader").first


def graded(desk: Locator, number: int) -> None:
    """Wait until so many answers are graded."""
    desk.locator(".finding", has_text=f"{number} of 6").wait_for()


def test_the_keyboard_alone_grades_skips_and_takes_back(notebook: Notebook, desk: Locator, server: LabServer):
    keyboard, cells = desk.page.keyboard, notebook.cells()
    assert notebook.errors() == []
    graded(desk, 0)
    desk.locator(".w").focus()
    keyboard.press("1")
    desk.locator("[data-do=accuracy][data-value='1'][aria-pressed=true]").wait_for()
    notebook.picture("hand_grader_chosen", desk)
    keyboard.press("5")
    graded(desk, 1)
    question = desk.locator(".hg-q").inner_text()
    keyboard.press("s")
    desk.locator(".hg-q").filter(has_not_text=question).wait_for()
    keyboard.press("0")
    keyboard.press("n")
    graded(desk, 2)
    keyboard.press("u")
    graded(desk, 1)
    assert "SCM" not in desk.inner_text()
    keyboard.press("r")
    desk.get_by_text("The answer of SCM").wait_for()
    keyboard.press("r")
    assert notebook.cells() == cells, "no key reached the notebook"
    lines = (Path(server.root) / "grades.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4  # the head, two grades, one taken back


@pytest.mark.parametrize("width", [1000, 700])
@pytest.mark.parametrize("dark", [False, True])
def test_it_can_be_read(notebook: Notebook, desk: Locator, dark: bool, width: int):
    notebook.use_theme(dark=dark)
    notebook.fit(desk, width)
    notebook.picture(f"hand_grader_{'dark' if dark else 'light'}_{width}", desk)
    assert notebook.page.evaluate(CONTRAST, [desk.element_handle(), LEAST]) == []
    assert desk.evaluate(OVERFLOW) == []


def test_nothing_was_loaded_from_elsewhere(notebook: Notebook):
    assert notebook.complaints == []
    assert notebook.outside == []
