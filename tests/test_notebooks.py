"""The lessons: made from their solutions, within the rules for lessons, committed clean, and executed from a fresh kernel."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import nbformat
import pytest
from nbclient import NotebookClient

from ilstma_lab.resources import notebooks_dir
from ilstma_lab.teaching import build
from ilstma_lab.teaching.exercises import exercise
from ilstma_lab.teaching.progress import FILE

LESSONS = sorted(path.name for path in notebooks_dir().glob("[0-9]*.ipynb"))
ROOT = Path(__file__).parent.parent
CELL_SECONDS = 60


def read(name: str) -> nbformat.NotebookNode:
    return nbformat.read(notebooks_dir() / name, as_version=4)


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def exercises(notebook: nbformat.NotebookNode) -> set[str]:
    """Return the keys that are checked in cells made from a solution."""
    cells = [cell.source for cell in code_cells(notebook) if {"exercise", "solution"} & set(cell.metadata.get("tags", []))]
    return set(re.findall(r'check\("(\d\d-\w+)"', "\n".join(cells)))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator:
    """Execute a notebook in a folder of its own, with the kit from this checkout, and return it with the exercises solved."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    lesson_folder = tmp_path / "lesson"
    lesson_folder.mkdir()

    def execute(name: str) -> tuple[nbformat.NotebookNode, set[str]]:
        notebook = read(name)
        shutil.rmtree(lesson_folder)
        lesson_folder.mkdir()
        place = {"metadata": {"path": str(lesson_folder)}}
        NotebookClient(notebook, timeout=CELL_SECONDS, store_widget_state=False, allow_errors=True, resources=place).execute()
        kept = lesson_folder / FILE
        solved = json.loads(kept.read_text()).get("solved", {}) if kept.exists() else {}
        return notebook, {key for key, passed in solved.items() if passed}

    return execute


def failures(notebook: nbformat.NotebookNode) -> list[str]:
    """Return the errors among the outputs, but for those of cells that are meant to fail."""
    cells = (cell for cell in code_cells(notebook) if "raises-exception" not in cell.metadata.get("tags", []))
    return [
        f"{cell.id}: {output.ename}: {output.evalue}"
        for cell in cells
        for output in cell.outputs
        if output.output_type == "error"
    ]


def complaints(notebook: nbformat.NotebookNode) -> list[str]:
    """Return what was written to stderr, such as warnings."""
    outputs = (output for cell in code_cells(notebook) for output in cell.outputs)
    return [output.text for output in outputs if output.output_type == "stream" and output.name == "stderr"]


def test_there_are_lessons():
    assert LESSONS


def test_learners_notebooks_are_made_from_their_solutions():
    stale = [path.name for path, text in build.files(notebooks_dir()) if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run: python -m ilstma_lab.teaching.build"
    assert {path.name for path in (notebooks_dir() / "solutions").glob("*.ipynb")} == set(LESSONS)


@pytest.mark.parametrize("name", LESSONS)
def test_a_learner_runs_a_lesson_from_top_to_bottom_and_no_exercise_is_solved_yet(run, name: str):
    notebook, solved = run(name)
    assert failures(notebook) == []
    assert complaints(notebook) == []
    assert solved == set()
    assert exercises(notebook), "a lesson has exercises"


@pytest.mark.parametrize("name", LESSONS)
def test_the_solution_of_a_lesson_solves_every_exercise(run, name: str):
    notebook, solved = run(f"solutions/{name}")
    assert failures(notebook) == []
    assert complaints(notebook) == []
    assert solved == exercises(notebook)


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_keeps_to_its_size(name: str):
    notebook = read(name)
    lines = [len(cell.source.splitlines()) for cell in code_cells(notebook)]
    words = sum(len(cell.source.split()) for cell in notebook.cells if cell.cell_type == "markdown")
    assert 15 <= len(lines) <= 30
    assert max(lines) <= 15
    assert median(lines) <= 4
    assert 900 <= words <= 1_800


@pytest.mark.parametrize("name", LESSONS)
def test_a_lesson_has_its_parts(name: str):
    notebook = read(name)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    titles = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert notebook.cells[0].source.startswith("# ")
    for part in ("You will", "You need", "Minutes"):
        assert f"**{part}**" in notebook.cells[0].source
    order = [titles.index(part) for part in ("Explore", "Exercises", "What could go wrong", "Summary", "Next, and sources")]
    assert order == sorted(order)
    source = "\n".join(cell.source for cell in code_cells(notebook))
    guessed, revealed = (re.findall(rf'\b{name}\(\s*"(.*?)"', source) for name in ("predict", "reveal"))
    assert len(set(guessed)) >= 2
    assert set(revealed) <= set(guessed)
    for key in re.findall(r'(?:check|hint)\("(.*?)"', source):
        assert exercise(key).hints
    for word in ("simply", "obviously", "just"):
        assert not re.search(rf"\b{word}\b", text, re.I), word
