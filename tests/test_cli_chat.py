"""The terminal chat: answers, commands, what it says when something goes wrong, and what is on the disk afterwards."""

from __future__ import annotations

import io
from datetime import timedelta

import pytest

from ilstma_lab import Dialogue, MemoryTable, cli, cli_chat, models
from ilstma_lab.clock import SystemClock
from ilstma_lab.models.embedders import HashedEmbedder
from tests.stubs import StubResponder, stub_lab, table_of

EMBEDDER = HashedEmbedder(dim=64)


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(models, "default_embedder", lambda: EMBEDDER)
    monkeypatch.setenv("COLUMNS", "90")


@pytest.fixture
def path(tmp_path):
    table_of(8).save(tmp_path / "t.json")
    return tmp_path / "t.json"


@pytest.fixture
def talk(path, monkeypatch, capsys):
    def typed(*lines: str) -> tuple[str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert cli.main(["chat", "--table", str(path)]) == 0
        return capsys.readouterr()

    return typed


def rows(path) -> list[str]:
    with MemoryTable.load(path, embedder=EMBEDDER) as table:
        return [entry.user for entry in table]


def test_a_question_is_answered_and_kept(talk, path):
    out, err = talk("violin lessons tuesday?", ":why", ":segments", ":quit")
    assert "violin lessons tuesday" in out
    assert "miss, " in err
    assert "rows [2]" in err
    assert "history" in out.lower()
    assert rows(path)[-1] == "violin lessons tuesday?"


def test_undo_takes_the_turn_off_the_disk(talk, path):
    _, err = talk("violin lessons tuesday?", ":undo", ":undo", ":quit")
    assert "Taken back: “violin lessons tuesday?”" in err
    assert "no turn of this lab is left" in err
    assert len(rows(path)) == 8


def test_days_pass_and_are_said(talk):
    _, err = talk(":days 3", ":days soon")
    assert "It is Fri 12 May 2023." in err
    assert ":days needs a number of days" in err


def test_the_chat_goes_on_where_an_old_table_ended(talk, path):
    _, err = talk("violin lessons tuesday?")
    assert "The table ended on" in err
    with MemoryTable.load(path, embedder=EMBEDDER) as table:
        assert table.last_created - table[7].created < timedelta(days=2)


def test_a_table_of_today_keeps_todays_clock():
    table = MemoryTable.from_dialogues([Dialogue("hello", "hi", SystemClock().now())], embedder=EMBEDDER)
    assert abs(cli_chat.clock_for(table).now() - SystemClock().now()) < timedelta(minutes=1)


def test_unknown_commands_blank_lines_and_help_leave_the_chat_running(talk, path):
    _, err = talk("", ":nonsense", ":help", ":why")
    assert "there is no :nonsense" in err
    assert "take back the last turn" in err
    assert "nothing was asked yet" in err
    assert len(rows(path)) == 8


def test_text_that_would_command_the_terminal_is_shown(talk):
    out, err = talk("violin \x1b[31m lessons?", ":why all")
    assert "\x1b" not in out + err


def test_a_failing_model_is_said_and_the_question_can_be_asked_again(capsys):
    lab = stub_lab(responder=StubResponder({"violin?": RuntimeError("the model sleeps")}))
    chat = cli_chat.TerminalChat(lab)
    chat.take("violin?")
    assert "the model sleeps" in capsys.readouterr().err
    lab.models.responder.script.clear()
    chat.take(":retry")
    assert capsys.readouterr().err.startswith("miss")


def test_ctrl_c_stops_the_answer_and_keeps_the_question(capsys):
    lab = stub_lab(responder=StubResponder({"violin?": KeyboardInterrupt()}))
    chat = cli_chat.TerminalChat(lab)
    chat.take("violin?")
    assert "Stopped. The question is kept" in capsys.readouterr().err
    assert lab.table.unanswered[0] == "violin?"
    chat.greet()
    assert "Left unanswered: “violin?”" in capsys.readouterr().err
    chat.take("astronomy?")
    chat.lab.models.responder.script["chess?"] = KeyboardInterrupt()
    chat.take("chess?")
    chat.take(":undo")
    assert "Let go of what was left unanswered: “chess?”" in capsys.readouterr().err
    assert [turn.question for turn in chat.lab.turns] == ["astronomy?"]


def test_a_chat_that_travelled_goes_on_from_there_and_time_has_an_end(path, capsys):
    table = table_of(3)
    table.add(Dialogue("tomorrow never dies", "so it is said", SystemClock().now() + timedelta(days=40)))
    chat = cli_chat.TerminalChat(stub_lab(table, clock=cli_chat.clock_for(table)))
    assert chat.lab.clock.now() >= table.last_created
    chat.greet()
    assert "goes on from" in capsys.readouterr().err
    for _ in range(90):
        chat.take(":days 36500")
    assert "time ends with the year 9999" in capsys.readouterr().err
    chat.take("violin?")


def test_one_talks_to_the_companion(path, monkeypatch, capsys):
    typed = ("I planted tomatoes, slugs ate them.", ":why", ":segments", ":undo", ":quit")
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in typed)))
    assert cli.main(["chat", "--table", str(path), "--system", "friend"]) == 0
    out, err = capsys.readouterr()
    assert "SiliconFriend; extractive" in " ".join(err.split())
    assert "recalled, " in err
    assert "were compared; nearest: " in " ".join(err.split())
    assert "Portrait" in out
    assert "Taken back: " in err
    assert cli.main(["chat", "--table", str(path), "--system", "eliza"]) != 0
    assert "friend_forgets" in capsys.readouterr().err
