"""The table looks at itself: a sound one has nothing to say, and each promise that is broken by hand is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ilstma_lab.memory.records import GROUP, RecallRecord, Summary
from tests.memory.kit import abandon, at, load, load_noted, said, saved, table_of
from tests.stubs import asking, stub_lab


def lived_in():
    """A table in memory with told and asked rows, groups, a personality, recalls, waiting touches and a stale summary."""
    table = table_of(*(f"thing {number}" for number in range(12)))
    table.add(said("which?", day=12), kind="asked", cites=[3], quotes=[4])
    table.set_summary("five", range(5), at(13))
    table.set_summary("more", [5, 6, 7], at(13))
    table.set_summary("a day", [8], at(13), kind="day")
    table.set_personality("calm", [0, 1])
    table.touch([2, 3], at(14), "two?")
    table.touch([2, 9], at(15), "waits?", deferred=True)
    table.open_question("and?", at(16))
    table.delete(6)
    table.edit(8, user="another thing")
    return table


def test_all_is_well_with_tables_that_were_lived_in(tmp_path):
    assert table_of().check() == ()
    assert lived_in().check() == ()
    lived_in().save(tmp_path / "t.json")
    table = load(tmp_path / "t.json")
    table.add(said("in the journal", day=20))
    assert table.check() == ()
    lab = stub_lab(12)
    for number in range(8):
        lab.ask(asking(number))
        assert lab.table.check() == ()
    lab.undo()
    lab.table.delete(2)
    assert lab.table.check() == ()


def change_summary(which, **change):
    def spoil(columns, contents):
        contents.summaries[which] = replace(contents.summaries[which], **change)

    return spoil


@pytest.mark.parametrize(
    ("spoil", "what"),
    [
        (lambda columns, contents: columns.index.__setitem__(3, 2), "row 2 follows row 2: indices must rise, each once"),
        (lambda columns, contents: columns.index.__setitem__(0, -5), "an index lies outside 0 to 12"),
        (lambda columns, contents: setattr(contents, "next_index", 3), "an index lies outside 0 to 2"),
        (lambda columns, contents: contents.users.pop(), "there are 12 rows, and 11 of users"),
        (lambda columns, contents: contents.sources.append("x"), "there are 12 rows, and 13 of sources"),
        (lambda columns, contents: setattr(columns, "vectors", columns.vectors[:, :9]), "the embedder 64"),
        (lambda columns, contents: setattr(columns, "pending", columns.pending[:9]), "9 of pending"),
        (lambda columns, contents: columns.created.__setitem__(1, 2**62), "row 1: created is no moment of the calendar"),
        (lambda columns, contents: columns.last_recall.__setitem__(1, 5), "row 1: its last recall lies before its creation"),
        (lambda columns, contents: columns.recall_times.__setitem__(1, 0), "row 1: recall_times is below 1"),
        (lambda columns, contents: columns.recall_times.__setitem__(2, 1), "row 2: the log holds more recalls than it counts"),
        (lambda columns, contents: columns.offset.__setitem__(1, 5_000), "row 1: its clock is a day or more from UTC"),
        (lambda columns, contents: columns.kind.__setitem__(1, 7), "row 1: it is neither told nor asked"),
        (lambda columns, contents: columns.vectors.__setitem__(1, np.nan), "row 1: its vector is not finite"),
        (lambda columns, contents: columns.vectors.__setitem__(1, np.inf), "row 1: its vector is not finite"),
        (lambda columns, contents: columns.vectors.__setitem__(1, 0.5), "row 1: its vector is not of length 1"),
        (lambda columns, contents: columns.vectors.__setitem__(1, 2.0), "row 1: its vector is not of length 1"),
        (lambda columns, contents: columns.pending.__setitem__(1, True), "row 1: it waits for its vector, and has one"),
        (lambda columns, contents: contents.cites.update({12: (3, 6)}), "row 12 cites row 6, not there"),
        (
            lambda columns, contents: contents.quotes.update({99: (3,)}),
            "one whose quotes are kept, but which is not there row 99",
        ),
        (lambda columns, contents: contents.recalls.append(RecallRecord(50, at(1))), "the log of recalls names row 50"),
        (lambda columns, contents: contents.waiting.update({6: (1, 0)}), "the deferred write names row 6, not there"),
        (change_summary(0, rows=(0, 1, 2, 3, 4, 77)), "summary 0 is of row 77, never there"),
        (change_summary(1, stale=False), "summary 1 is not stale, but of row 6, deleted"),
        (change_summary(1, number=4), "another number than its own"),
        (lambda columns, contents: contents.stale.clear(), "the set of stale summaries is not what the summaries say"),
        (lambda columns, contents: contents.loose.pop(9), "the rows that wait for a summary are not the told rows"),
        (lambda columns, contents: contents.loose.update({3: None}), "the rows that wait for a summary are not the told rows"),
        (lambda columns, contents: contents.profiled.add(2), "row 2: taken in by the personality, and waiting for it"),
        (lambda columns, contents: contents.unprofiled.pop(2), "row 2: summarised, but neither taken in by the personality"),
        (
            lambda columns, contents: contents.unprofiled.update({9: None}),
            "row 9: waiting for the personality, but in no summary",
        ),
    ],
)
def test_a_broken_promise_is_named(spoil, what):
    table = lived_in()
    spoil(table._columns, table._contents)
    assert any(what in said for said in table.check()), table.check()


def test_many_rows_are_named_in_short():
    table = table_of(*(f"thing {number}" for number in range(9)))
    table._columns.recall_times[:] = 0
    assert "rows 0, 1, 2, 3, 4 and 4 more: recall_times is below 1" in table.check()


def test_b12_memory_that_differs_from_its_file_is_named(tmp_path):
    path = tmp_path / "t.json"
    table = saved(path)
    table.touch([1], at(9), "which?")
    table._contents.users[3] = "swapped"
    table._contents.recalls.clear()
    table._contents.personality = "changed"
    assert table.check() == (
        "t.json holds another personality than memory",
        "t.json holds other entries than memory, from number 3 on",
        "t.json holds other recalls than memory, from number 0 on",
    )
    abandon(table)
    path.write_bytes(b"{")
    assert "cannot be read back" in table.check()[0]


def test_a_file_that_others_went_on_with_is_said_to_be_ahead(tmp_path):
    behind = saved(tmp_path / "t.json")
    ahead = load(tmp_path / "t.json")
    ahead.add(said("theirs", day=9))
    assert "t.json holds another seq than memory" in behind.check()
    assert ahead.check() == ()


def test_a_torn_line_is_told_until_the_journal_is_folded(tmp_path):
    saved(tmp_path / "t.json")
    (tmp_path / "t.json.journal").write_bytes(b'{"seq"')
    table, _ = load_noted(tmp_path / "t.json")
    assert len(table.check()) == 1
    assert "torn" in table.check()[0]
    table.save()
    assert table.check() == ()


def test_a_summary_of_a_row_that_goes_while_it_is_written_is_named_until_it_is_stale():
    table = table_of("a", "b", "c")
    table.delete(1)
    table.set_summary("of a row that is gone", [0, 1], at(9))
    assert table.check() == ("summary 0 is not stale, but of row 1, deleted",)
    assert Summary(0, "of a row that is gone", (0, 1), at(9), kind=GROUP) == table.summary(0)
