"""What the reader did is kept whatever stands in the file, beside other lessons' entries, and without a file too."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ilstma_lab.teaching.progress import FILE, Progress, progress


def test_entries_come_back_by_kind_and_key(folder: Path):
    progress().put("guesses", "00-1", "hit")
    progress().put("solved", "00-1", True)
    again = Progress(folder / FILE)
    assert (again.get("guesses", "00-1"), again.get("solved", "00-1"), again.get("guesses", "00-2")) == ("hit", True, None)


def test_two_lessons_side_by_side_keep_each_others_entries(folder: Path):
    one, other = Progress(folder / FILE), Progress(folder / FILE)
    one.put("guesses", "00-1", "hit")
    other.put("guesses", "01-1", 3)
    one.put("guesses", "00-2", 4)
    assert json.loads((folder / FILE).read_text())["guesses"] == {"00-1": "hit", "00-2": 4, "01-1": 3}


@pytest.mark.parametrize("broken", ["", "{", "[]", "3", '{"guesses": 3}', '{"guesses": null, "solved": []}'])
def test_a_broken_file_holds_nothing_and_is_replaced(folder: Path, broken: str):
    (folder / FILE).write_text(broken)
    assert progress().get("guesses", "00-1") is None
    progress().put("guesses", "00-1", "hit")
    assert Progress(folder / FILE).get("guesses", "00-1") == "hit"


def test_where_nothing_can_be_written_the_kernel_remembers(folder: Path):
    kept = Progress(folder / "missing" / FILE)
    kept.put("guesses", "00-1", "hit")
    assert kept.get("guesses", "00-1") == "hit"
    (folder / "missing").mkdir()
    kept.put("guesses", "00-2", "miss")
    assert Progress(kept.path).get("guesses", "00-1") == "hit", "written when it can be"


def test_it_is_kept_beside_the_lesson(folder: Path, monkeypatch: pytest.MonkeyPatch):
    progress().put("guesses", "00-1", "hit")
    (folder / "other").mkdir()
    monkeypatch.chdir(folder / "other")
    assert progress().get("guesses", "00-1") is None
    assert os.listdir(folder / "other") == []
