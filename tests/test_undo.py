"""Undo: a turn that is taken back leaves the table as if it had not been asked, but for its index."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ilstma_lab import MemoryTable
from ilstma_lab.errors import InputError
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.replay import start_session
from ilstma_lab.trace import Verdict
from tests.stubs import DAY_0, THINGS, StubJudge, StubResponder, asking, quoting, stub_lab

LATER = DAY_0 + timedelta(days=30)


def hits_on_cached(query, memory) -> Verdict:
    used = tuple(entry.index for entry in memory.cache if query.text.rstrip("?") in entry.text)
    return Verdict(bool(used), answer="yes", used=used)


def lab_of(table=8):
    return stub_lab(table, judge=StubJudge(default=hits_on_cached), responder=StubResponder(default=quoting))


def state(lab) -> tuple:
    table = lab.table
    columns = (table.indices, table.last_recall, table.recall_times, table.created)
    log = [(record.row, record.at, record.hit) for record in table.recalls]
    return *(column.tolist() for column in columns), log, dict(table.waiting), lab.memory.state()


@given(st.lists(st.integers(0, 7), min_size=1, max_size=8), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_turns_taken_back_leave_the_table_as_it_was(asked, undone):
    lab = lab_of()
    states = []
    for day, number in enumerate(asked):
        states.append((state(lab), lab.table.next_index))
        lab.ask(asking(number), at=LATER + timedelta(days=day))
    written = set()
    for before, _ in reversed(states[-undone:]):
        turn = lab.undo()
        written |= {step.wrote["deferred"] for step in turn.steps if step.number == 8}
        if written <= {0}:  # nothing that had waited was written by a turn that was taken back
            assert state(lab) == before
    assert lab.table.next_index == 8 + len(asked), "an index is not used again"
    assert lab.table.indices.tolist()[:8] == list(range(8))


def test_what_waited_and_was_written_meanwhile_stays_written():
    lab = lab_of()
    lab.ask(asking(3), at=LATER)
    hit = lab.ask(asking(3), at=LATER + timedelta(days=1))
    assert hit.hit
    lab.ask(asking(7), at=LATER + timedelta(days=2))
    assert not lab.table.waiting
    times = lab.table.recall_times.tolist()
    lab.undo()
    assert lab.table.recall_times.tolist()[3] == times[3] == 3
    assert lab.table.recall_times.tolist()[7] == 1
    assert lab.undo() is hit
    assert lab.table[3].recall_times == 2
    assert lab.table[3].last_recall == LATER


def test_summaries_and_personality_are_as_before():
    lab = lab_of(12)
    lab.models.profiler.text = "likes kites"
    lab.summarise()
    lab.models.profiler.text = "changed"
    summaries, personality = lab.table.summaries, lab.table.personality
    for day in range(6):
        lab.ask(f"a new fact number {day} about kites.", at=LATER + timedelta(days=day))
    assert lab.table.personality == "changed"
    for _ in range(6):
        lab.undo()
    assert lab.table.personality == personality == "likes kites"
    assert lab.table.summaries[: len(summaries)] == summaries
    assert all(not made.text and not made.rows for made in lab.table.summaries[len(summaries) :])
    assert lab.table.unsummarised_count == 2, "rows 10 and 11 wait for a group again"


def test_a_session_that_begins_between_ask_and_undo_collects_what_comes():
    lab = lab_of()
    lab.ask(asking(1), at=LATER)
    lab.ask(asking(2), at=LATER)
    session = start_session(lab)
    lab.undo()
    turn = lab.ask(asking(3), at=LATER)
    assert session.turns == (turn,)


def test_undo_is_on_the_disk(tmp_path):
    lab_of().table.save(tmp_path / "t.json")
    with MemoryTable.load(tmp_path / "t.json", embedder=HashedEmbedder(dim=64)) as table:
        lab = lab_of(table)
        lab.ask(asking(3), at=LATER)
        lab.undo()
        told = table.indices.tolist()
    with MemoryTable.load(tmp_path / "t.json", embedder=HashedEmbedder(dim=64)) as again:
        assert again.indices.tolist() == told == list(range(8))
        assert again.recall_times.tolist() == [1] * 8
        assert again.recalls == ()
        assert again.next_index == 9


def test_the_first_turn_after_undo_skips_the_judge_again():
    lab = lab_of()
    first = lab.ask(asking(3), at=LATER)
    lab.undo()
    assert lab.turns == []
    again = lab.ask(asking(3), at=LATER)
    assert (again.number, again.recalled, again.hit) == (first.number, first.recalled, False)


def test_a_failed_turn_is_taken_back_with_its_open_question():
    lab = lab_of()
    lab.models.responder.script[asking(2)] = RuntimeError("no answer today")
    assert lab.ask(asking(2), at=LATER).failure
    assert lab.table.unanswered is not None
    lab.undo()
    assert lab.table.unanswered is None


def test_without_a_turn_there_is_nothing_to_take_back():
    with pytest.raises(InputError, match="no turn of this lab"):
        lab_of().undo()


def test_rows_deleted_meanwhile_are_no_trouble():
    lab = lab_of()
    turn = lab.ask(asking(3), at=LATER)
    lab.table.delete(3)
    assert turn.row not in lab.table, "the echo of a deleted row goes with it"
    lab.undo()
    assert lab.table.indices.tolist() == [0, 1, 2, 4, 5, 6, 7]


def test_what_was_written_of_a_row_deleted_since_is_not_brought_back():
    lab = lab_of(9)
    lab.summarise()
    lab.ask(asking(3), at=LATER)  # fills the second group
    lab.table.delete(3)
    lab.undo()
    written = "".join([lab.table.personality, *(one.text for one in lab.table.written)])
    assert THINGS[3] not in written
    lab.summarise()
    assert THINGS[3] not in lab.table.personality
