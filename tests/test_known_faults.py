"""Reported faults that have no test beside the parts concerned: what cannot occur here, and why."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from ilstma_lab import ILSTMA, ManualClock, MemoryTable, load_dialogues
from ilstma_lab.errors import IlstmaError
from tests.stubs import DAY_0, THINGS, StubMerger, StubProfiler, StubSummarizer, asking, said, stub_lab, stub_models, table_of


def test_a16_the_same_rows_come_first_by_cosine_by_inner_product_and_by_distance():
    table = table_of(12)
    lab = ILSTMA(table, models=stub_models(), clock=ManualClock.after(table))
    for number in range(12):
        recall = lab.retriever.retrieve(asking(number), table, now=DAY_0)
        question = table.embed([asking(number)])[0]
        products, distances = table.vectors @ question, np.linalg.norm(table.vectors - question, axis=1)
        first = recall.branch_b.candidates[0].index
        assert first == number == int(np.argmax(products)) == int(np.argmin(distances))


def test_b8_the_portrait_has_one_writer_and_what_another_knew_is_not_written_over(tmp_path):
    """The portrait is one text: there are no fields to merge. A second writer is refused, and says so."""
    place = tmp_path / "mine.json"
    table_of(3).save(place)
    one, other = (MemoryTable.load(place, embedder=table_of(0).embedder) for _ in range(2))
    other.wait_seconds = 0.05
    one.set_personality("Likes it short.")
    with pytest.raises(IlstmaError):
        other.set_personality("Likes it long.")
    one.close()
    assert MemoryTable.load(place, embedder=one.embedder).personality == "Likes it short."


def test_b13_what_one_user_takes_away_leaves_the_other_users_rows(tmp_path):
    """A table is one user's. There is no call that clears several, and a row that was deleted by a turn comes back by undo."""
    places = [tmp_path / "ann.json", tmp_path / "bob.json"]
    for place in places:
        table_of(4).save(place)
    ann, bob = (MemoryTable.load(place, embedder=table_of(0).embedder) for place in places)
    for row in ann.indices.tolist():
        ann.delete(row)
    ann.close()
    assert (len(ann), len(bob), [row.text for row in bob]) == (0, 4, [said(n).text for n in range(4)])


def test_c9_rows_are_never_merged_and_a_merged_summary_keeps_every_row_with_its_own_day():
    """Only summaries merge: the rows of day 1 and day 9 keep their days and their recalls."""
    from ilstma_lab.summaries import Summaries, SummarySettings

    table = table_of(10)
    table.touch([0], DAY_0)
    parts = {"summarizer": StubSummarizer(), "merger": StubMerger("both in one"), "profiler": StubProfiler("")}
    Summaries(SummarySettings(), **parts).update_all(table, at=DAY_0)
    assert [summary.rows for summary in table.summaries] == [tuple(range(10))]
    assert [row.created for row in table] == [said(number).at for number in range(10)]
    assert [row.recall_times for row in table] == [2, *[1] * 9]


def test_f8_a_chat_that_was_exported_twice_comes_in_once_where_that_is_asked_for(tmp_path):
    place = tmp_path / "chat.jsonl"
    rows = [
        ("I moved to Oslo.", "Oh!"),
        ("i  MOVED to Ｏｓｌｏ.", "Oh!"),
        ("Caf\u00e9", "."),
        ("Cafe\u0301", "."),
        ("I moved.", "Oh!"),
    ]
    lines = [{"user": user, "assistant": assistant, "at": "2024-01-01"} for user, assistant in rows]
    place.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert len(load_dialogues(place)) == 5
    kept = load_dialogues(place, drop_repeats=True)
    assert [dialogue.user for dialogue in kept] == [rows[0][0], rows[2][0], rows[4][0]]
    assert kept.notes[-1].startswith("2 left out")


def test_j8_the_package_imports_from_any_folder_and_asks_for_no_pinned_numpy(tmp_path):
    code = "import ilstma_lab, numpy; print(ilstma_lab.MemoryTable.__name__)"
    child = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert child.stdout.strip() == "MemoryTable", child.stderr


def test_j9_the_first_row_on_an_empty_folder_is_kept(tmp_path):
    lab = stub_lab(0)
    lab.table.save(tmp_path / "new.json")
    with MemoryTable.load(tmp_path / "new.json", embedder=lab.table.embedder) as table:
        assert table.add(said(0)) == 0
    again = MemoryTable.load(tmp_path / "new.json", embedder=table.embedder)
    assert [row.user for row in again] == [f"{THINGS[0]}."]
