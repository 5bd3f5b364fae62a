"""The map of the field's words: it runs from a fresh kernel, so what its tables say of the kit holds; it is committed clean."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from ilstma_lab.resources import notebooks_dir
from ilstma_lab.teaching.build import render, stripped
from tests.test_notebooks import CELL_SECONDS, ROOT, code_cells, complaints, failures

PAGE = notebooks_dir() / "field_map.ipynb"
WORDS = "working memory, episodic memory, semantic memory, procedural memory, cache, hit, miss, write-back, prefetch, chunk"


def test_what_the_map_says_of_the_kit_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    page = nbformat.read(PAGE, as_version=4)
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(page, timeout=CELL_SECONDS, store_widget_state=False, allow_errors=True, resources=place).execute()
    assert failures(page) == []
    assert complaints(page) == []
    assert all(cell.outputs for cell in code_cells(page)), "each cell shows what it looked at"


@pytest.mark.parametrize("word", WORDS.split(", "))
def test_the_map_has_the_word_in_a_table(word: str):
    lines = "\n".join(cell.source for cell in nbformat.read(PAGE, as_version=4).cells).splitlines()
    assert any(word in line.split("|")[1] for line in lines if line.startswith("|"))


def test_the_map_is_committed_clean():
    text = PAGE.read_text(encoding="utf-8")
    assert text == render(stripped(json.loads(text)))
