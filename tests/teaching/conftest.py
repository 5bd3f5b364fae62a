"""Each test has a folder and a kernel of its own, so that no guess or hint of another is found."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ilstma_lab.teaching import exercises, predictions


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, the present one, and a kernel that has asked and hinted nothing yet."""
    monkeypatch.chdir(tmp_path)
    restart(monkeypatch)
    return tmp_path


def restart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "_asked", {})
    monkeypatch.setattr(exercises, "_hinted", Counter())
