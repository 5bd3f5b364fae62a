"""Learners' notebooks come from the solutions: worked lines leave, everything else stays, and nothing that was run is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ilstma_lab import resources
from ilstma_lab.teaching import build

WORKED = "answer = ...\n# solution\nanswer = 42\nassert answer\n# end of solution\ncheck('00-A', answer)"
INDENTED = "def half(x):\n    # solution\n    return x / 2\n    # end of solution\n\n\nhalf(3)"


def cell(kind: str, source: str, *tags: str) -> dict[str, Any]:
    made = {
        "cell_type": kind,
        "id": f"c{abs(hash(source)) % 999}",
        "metadata": {"tags": list(tags), "scrolled": True},
        "source": source,
    }
    return made | ({"outputs": [{"output_type": "stream"}], "execution_count": 3} if kind == "code" else {})


@pytest.fixture
def notebook() -> dict[str, Any]:
    cells = [cell("markdown", "# A"), cell("code", "x = 1", "keep"), cell("code", WORKED, "solution")]
    cells += [cell("markdown", "Why 42.", "solution"), cell("code", INDENTED, "solution")]
    return {"cells": cells, "metadata": {"widgets": {}}, "nbformat": 4, "nbformat_minor": 5}


def sources(notebook: dict[str, Any]) -> list[str]:
    return ["".join(cell["source"]) for cell in notebook["cells"]]


def test_worked_lines_become_your_turn_and_other_solution_cells_leave(notebook: dict[str, Any]):
    made = build.learner(notebook)
    assert sources(made) == [
        "# A",
        "x = 1",
        "answer = ...\n# your turn\ncheck('00-A', answer)",
        "def half(x):\n    # your turn\n\n\nhalf(3)",
    ]
    assert [cell["metadata"]["tags"] for cell in made["cells"]] == [[], ["keep"], ["exercise"], ["exercise"]]
    assert len(notebook["cells"]) == 5, "the source is not changed"


def test_what_was_run_is_not_kept(notebook: dict[str, Any]):
    made = build.stripped(notebook)
    assert "widgets" not in made["metadata"]
    assert {(cell.get("execution_count"), len(cell.get("outputs", []))) for cell in made["cells"]} == {(None, 0)}
    assert made["cells"][1]["metadata"] == {"tags": ["keep"]}
    assert sources(made) == sources(notebook)
    assert build.stripped(made) == made


def test_the_tool_writes_what_is_out_of_date_and_names_it(
    notebook: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(resources, "notebooks_dir", lambda: tmp_path)
    (tmp_path / "solutions").mkdir()
    (tmp_path / "solutions" / "07_x.ipynb").write_text(json.dumps(notebook))
    assert build.main(["--check"]) == 1
    assert not (tmp_path / "07_x.ipynb").exists()
    assert build.main([]) == 0
    assert build.main(["--check"]) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == ["written: solutions/07_x.ipynb", "written: 07_x.ipynb"]
    assert "42" not in (tmp_path / "07_x.ipynb").read_text()
