"""Whatever is done to a table, in whatever order: memory, disk and a plain model of it say the same."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ilstma_lab.memory.records import RecallRecord, Summary
from tests.memory.kit import EMBEDDER, abandon, at, at_call, load_noted, said, state, table_of

TEXTS = st.sampled_from(["violin", "dentist", "我对花生过敏", 'a "quote"\nand {braces}', "garden"])
DAYS = st.integers(0, 40)


class Life(RuleBasedStateMachine):
    """`rows`: index -> [user, assistant, source, kind, cites, created, last recall, recall times], as `state` has it."""

    @initialize()
    def begin(self):
        self.folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        self.path = self.folder / "t.json"
        table_of().save(self.path)
        self.table, _ = load_noted(self.path)
        self.at_once = table_of()  # the same life, every touch written at once
        self.rows, self.waiting, self.recalls, self.summaries = {}, {}, [], {}
        self.personality, self.unanswered, self.next = "", None, 0
        self.syncless = at_call(0, None)
        self.syncless.__enter__()

    def teardown(self):
        if hasattr(self, "syncless"):
            self.syncless.__exit__(None, None, None)
            abandon(self.table)
            shutil.rmtree(self.folder)

    def _pick(self, data, **size):
        return data.draw(st.lists(st.sampled_from(sorted(self.rows)), unique=True, **size))

    def _store(self, text, day, kind, cites):
        self.rows[self.next] = [text, "I see.", f"day {day}", kind, tuple(cites), at(day), at(day), 1]
        self.next += 1
        return said(text, day=day)

    @rule(text=TEXTS, day=DAYS, data=st.data())
    def add(self, text, day, data):
        cites = self._pick(data, max_size=2) if self.rows else []
        dialogue = self._store(text, day, "asked" if cites else "told", cites)
        for table in (self.table, self.at_once):
            assert table.add(dialogue, kind="asked" if cites else "told", cites=cites) == self.next - 1

    @precondition(lambda self: self.rows)
    @rule(text=TEXTS, data=st.data())
    def edit(self, text, data):
        (index,) = self._pick(data, min_size=1, max_size=1)
        self._forget(self.rows[index][0])
        self.rows[index][0] = text
        self._spoil(index)
        for table in (self.table, self.at_once):
            table.edit(index, user=text)

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def delete(self, data):
        (index,) = self._pick(data, min_size=1, max_size=1)
        for table in (self.table, self.at_once):
            table.delete(index)
        gone = [index]
        for row in gone:
            gone += [other for other, held in self.rows.items() if row in held[4] and other not in gone]
        for row in gone:
            self._forgotten(row)

    def _forgotten(self, index):
        self._forget(self.rows[index][0])
        del self.rows[index]
        self.waiting.pop(index, None)
        asked = {record.question for record in self.recalls if record.row == index}
        self.recalls = [record for record in self.recalls if record.row != index]
        for question in asked - {row[0] for row in self.rows.values()}:
            self._forget(question)
        for row in self.rows.values():
            row[4] = tuple(cited for cited in row[4] if cited != index)
        self._spoil(index, text="")

    def _forget(self, text):
        self.recalls = [replace(record, question="") if record.question == text else record for record in self.recalls]

    def _spoil(self, index, **change):
        for number, summary in self.summaries.items():
            if index in summary.rows:
                self.summaries[number] = replace(summary, stale=True, **change)

    @precondition(lambda self: self.rows)
    @rule(day=DAYS, question=TEXTS, deferred=st.booleans(), data=st.data())
    def touch(self, day, question, deferred, data):
        rows = self._pick(data, min_size=1, max_size=3)
        self._touched(rows, day, question, deferred=deferred)
        self.table.touch(rows, at(day), question, deferred=deferred)
        self.at_once.touch(rows, at(day), question)

    def _touched(self, rows, day, question, *, deferred):
        for row in rows:
            self.recalls.append(RecallRecord(row, at(day), question, hit=deferred))
            count, last = self.waiting.pop(row, (0, at(day)))
            self.waiting[row] = (count + 1, max(last, at(day)))
            if not deferred:
                self._write(row, self.waiting.pop(row))

    def _write(self, row, change):
        self.rows[row][7] += change[0]
        self.rows[row][6] = max(self.rows[row][6], change[1])

    @rule()
    def write_waiting(self):
        for row, change in self.waiting.items():
            self._write(row, change)
        assert self.table.write_waiting() == len(self.waiting)
        self.waiting = {}

    @rule(question=TEXTS, day=DAYS)
    def open_question(self, question, day):
        self.unanswered = (question, at(day))
        self.table.open_question(question, at(day))

    @rule(text=TEXTS, day=DAYS, remember=st.booleans(), data=st.data())
    def close_turn(self, text, day, remember, data):
        rows = self._pick(data, max_size=2) if self.rows else []
        if rows:
            self._touched(rows, day, text, deferred=True)
        touch = self.table.touched(rows, at(day), text, deferred=True) if rows else None
        dialogue = self._store(text, day, "told", ()) if remember else None
        self.unanswered = None
        self.table.close_turn(dialogue, touch)
        self.at_once.close_turn(dialogue, touch and {**touch, "deferred": False})

    @precondition(lambda self: self.rows)
    @rule(text=TEXTS, day=DAYS, data=st.data())
    def summarise(self, text, day, data):
        rows = tuple(self._pick(data, min_size=1, max_size=5))
        number = data.draw(st.sampled_from([None, *self.summaries]))
        self.summaries[len(self.summaries) if number is None else number] = Summary(
            len(self.summaries) if number is None else number, text, rows, at(day)
        )
        for table in (self.table, self.at_once):
            table.set_summary(text, rows, at(day), replaces=number)

    @rule(text=TEXTS)
    def profile(self, text):
        self.personality = text
        self.table.set_personality(text)

    @rule(vectors=st.booleans())
    def save(self, vectors):
        self.table.save(vectors=vectors)

    @rule()
    def compact(self):
        self.table.compact()
        for number, summary in self.summaries.items():
            if summary.stale:
                self.summaries[number] = replace(summary, text="")

    @rule(bytes_=st.sampled_from([1, 500, 1 << 20]))
    def fold_at(self, bytes_):
        self.table._fold_at = bytes_

    @rule()
    def close_and_load(self):
        held = self.table._file.held
        self.table.close()
        if held:
            for row, change in self.waiting.items():
                self._write(row, change)
            self.waiting = {}
        self._load("")

    @rule(torn=st.booleans())
    def crash_and_load(self, torn):
        abandon(self.table)
        if torn:
            with open(f"{self.path}.journal", "ab") as out:
                out.write(b'{"seq":')
        self._load("torn" if torn else "")

    @rule()
    def lose_the_cache(self):
        self.path.with_name("t.json.vectors.npy").unlink(missing_ok=True)

    @precondition(lambda self: self.path.with_name("t.json.bak").exists())
    @rule()
    def damage_the_snapshot(self):
        abandon(self.table)
        self.path.write_bytes(self.path.read_bytes()[:50])
        self._load("backup")

    def _load(self, note):
        self.table, notes = load_noted(self.path)
        assert note in notes

    @rule()
    def fork(self):
        assert state(self.table.fork()) == self._expected()

    @invariant()
    def memory_is_as_expected(self):
        if hasattr(self, "syncless"):
            assert state(self.table) == self._expected()

    @invariant()
    def every_promise_is_kept(self):
        if hasattr(self, "syncless"):
            assert [said for said in self.table.check() if "torn" not in said and "backup was read" not in said] == []

    @invariant()
    def deferred_touches_end_as_those_written_at_once(self):
        if hasattr(self, "syncless"):
            done = self.table.fork()
            done.write_waiting()
            assert done.recall_times.tolist() == self.at_once.recall_times.tolist()
            assert done.last_recall.tolist() == self.at_once.last_recall.tolist()

    def _expected(self):
        held = {row for summary in self.summaries.values() for row in summary.rows}
        return {
            "rows": {index: tuple(row) for index, row in self.rows.items()},
            "summaries": tuple(self.summaries.values()),
            "personality": self.personality,
            "recalls": tuple(self.recalls),
            "waiting": self.waiting,
            "unanswered": self.unanswered,
            "next_index": self.next,
            "loose": tuple(i for i, row in self.rows.items() if row[3] == "told" and i not in held),
        }


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)


def test_the_model_uses_the_same_embedder():
    assert table_of().embedder is EMBEDDER
