"""`start` looks for trouble, says the cure, and gives labs that do not disturb each other."""

from __future__ import annotations

import warnings

import pytest

from ilstma_lab import Config, doctor
from ilstma_lab.clock import DAY
from ilstma_lab.errors import InputError
from ilstma_lab.lab import ClockWarning
from ilstma_lab.teaching import lesson as lessons
from ilstma_lab.teaching import start


@pytest.fixture(autouse=True)
def _own_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lessons, "troubles", lambda: iter(()))


@pytest.mark.usefixtures("healthy")
def test_labs_begin_afresh_and_one_line_says_what_is_there(capsys: pytest.CaptureFixture[str]):
    lesson = start("travel", summarise=False)
    printed = capsys.readouterr().out
    assert printed.count("\n") == 1
    assert printed.startswith("Ready: travel, 96 dialogues from 2 Feb 2026 to 15 Mar 2026, 0 summaries")
    one, other = lesson.new_lab(), lesson.new_lab(Config())
    turn = one.ask(lesson.question("travel-08").question)
    assert not turn.hit
    assert (len(one.table), len(other.table), other.memory.history) == (97, 96, ())
    one.clock.advance(days=3)
    assert lesson.new_lab().clock.now() == other.clock.now() == lesson.topic.dialogues[-1].at + DAY
    assert (one.config, other.config) == (Config.measured(), Config())


@pytest.mark.usefixtures("healthy")
def test_warnings_are_one_line_without_a_path(capsys: pytest.CaptureFixture[str]):
    start("travel", summarise=False)
    assert warnings.formatwarning(ClockWarning("old"), ClockWarning, "/a/long/path.py", 3, "code") == "ClockWarning: old\n"


def test_a_trouble_is_told_with_its_cure_and_the_lesson_begins_all_the_same(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    bad = doctor.Finding("anywidget in JupyterLab", "bad", "is not found: widgets show as text", "pip install anywidget")
    fine = doctor.Finding("numpy", "ok", "2.4")
    monkeypatch.setattr(doctor, "check_packages", lambda: iter([fine]))
    monkeypatch.setattr(doctor, "check_files", lambda: fine)
    monkeypatch.setattr(doctor, "check_widgets", lambda: iter([fine, bad]))
    start("travel", summarise=False)
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == ["anywidget in JupyterLab is not found: widgets show as text", "    -> pip install anywidget"]
    assert printed[2].startswith("Ready")


@pytest.mark.usefixtures("healthy")
def test_an_unknown_topic_names_those_that_there_are():
    with pytest.raises(InputError, match="travel"):
        start("no such topic")
