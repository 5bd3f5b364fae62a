"""Recalls of what was written of rows: counted with the turn's one line, kept on the disk, taken over by a new text, undone."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from ilstma_lab import Dialogue, MemoryTable
from ilstma_lab.errors import FormatError
from ilstma_lab.models.embedders import HashedEmbedder

EMBEDDER = HashedEmbedder(dim=64)
DAY = datetime(2023, 5, 1, tzinfo=UTC)
LATER = DAY + timedelta(days=3)


def table_of() -> MemoryTable:
    rows = [Dialogue(f"row {n}", "", DAY + timedelta(minutes=n)) for n in range(3)]
    return MemoryTable.from_dialogues(rows, embedder=EMBEDDER)


@pytest.fixture
def path(tmp_path):
    table = table_of()
    table.set_summary("a day", (0, 1, 2), DAY, kind="day")
    table.save(tmp_path / "t.json")
    return tmp_path / "t.json"


def test_a_recall_is_one_journal_line_with_the_rows_and_survives_journal_and_snapshot(path):
    with MemoryTable.load(path, embedder=EMBEDDER) as table:
        table.touch([1], LATER, "what was it?", notes=[0])
        lines = (path.parent / f"{path.name}.journal").read_text(encoding="utf-8").splitlines()
        assert len([line for line in lines if "touch" in line]) == 1
        crashed = MemoryTable.load(path, embedder=EMBEDDER)  # reads the journal that the first has not folded
        assert crashed.summary(0).recall_times == 2
    with MemoryTable.load(path, embedder=EMBEDDER) as table:
        (note,) = table.notes("day")
        assert (note.recall_times, note.last_recall) == (2, LATER)
        assert table[1].recall_times == 2
        assert [record.row for record in table.recalls] == [1]


def test_a_text_made_anew_has_been_recalled_as_often():
    table = table_of()
    table.set_summary("a day", (0,), DAY, kind="day")
    table.touch([], LATER, notes=[0])
    table.edit(0, user="other")
    assert table.set_summary("the day anew", (0,), DAY, replaces=0, kind="day").recall_times == 2
    assert table.set_summary("another", (1,), DAY, kind="day").recall_times == 1


def test_undo_takes_back_the_recall_of_a_note():
    table = table_of()
    table.set_summary("a day", (0,), DAY, kind="day")
    table.touch([], DAY + timedelta(days=1), notes=[0])
    before, vectors = table.written, table.note_vectors("day")
    table.touch([2], LATER, notes=[0])
    table.undo_turn(None, [2], LATER, summaries=before, personality="")
    assert table.written == before
    assert table[2].recall_times == 1
    assert (table.note_vectors("day") == vectors).all()


def test_an_earlier_moment_never_puts_the_last_recall_back():
    table = table_of()
    table.set_summary("a day", (0,), DAY, kind="day")
    table.touch([], LATER, notes=[0])
    table.touch([], DAY, notes=[0])
    assert (table.summary(0).recall_times, table.summary(0).last_recall) == (3, LATER)


def test_a_note_that_is_not_there_cannot_be_recalled():
    with pytest.raises(KeyError, match="no summary 4"):
        table_of().touch([0], LATER, notes=[4])


def test_a_file_with_a_count_that_is_none_is_refused(path):
    snapshot = path.read_text(encoding="utf-8").replace('"kind": "day"', '"kind": "day", "recall_times": 0')
    if '"recall_times": 0' not in snapshot:
        snapshot = path.read_text(encoding="utf-8").replace('"kind":"day"', '"kind":"day","recall_times":0')
    assert json.loads(snapshot)
    path.write_text(snapshot, encoding="utf-8")
    with pytest.raises(FormatError, match="recall_times must be a whole number"):
        MemoryTable.load(path, embedder=EMBEDDER)
