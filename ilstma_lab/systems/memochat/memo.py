"""The memo of a table: topics with summaries and the rows that they were written of; what stands in none of them is recent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.call import Call
from ilstma_lab.models.sentences import tokens
from ilstma_lab.systems.memochat.prompts import NOTO
from ilstma_lab.systems.memochat.settings import MemoChatSettings
from ilstma_lab.systems.memochat.writers import ExtractiveMemoWriter, MemoWriter, Slice

MEMO = "memo"


class Batch(NamedTuple):
    """Rows to be filed next; `waits`: they may as well stay recent for now."""

    rows: tuple[int, ...]
    waits: bool


@dataclass(frozen=True)
class Written:
    """What one writing of the memo made: how many memos, of how many rows, with which calls; `note` says what went amiss."""

    made: int = 0
    rows: int = 0
    calls: tuple[Call, ...] = ()
    note: str = ""


class Memo:
    """Reads and writes the notes of kind "memo": the topic is the first line of a note's text, the rest its summary.

    Every row is either recent or stands in one memo. The rows of a memo that is stale, since one of them was edited or deleted,
    are recent again until they are filed anew.

    Paper note: the public code files all recent lines and keeps the last two as well, so that these are filed twice. Here
    the last dialogue waits for the next time.
    """

    def __init__(self, table: MemoryTable, settings: MemoChatSettings, writer: MemoWriter):
        self.table, self.settings, self.writer = table, settings, writer
        self._offline = ExtractiveMemoWriter(similarity=settings.similarity)

    @property
    def options(self) -> list[Summary]:
        """The memos that can be picked, oldest first: written, of rows that all stand as they did, and not under NOTO."""
        live = (note for note in self._filed() if topic_of(note) != NOTO)
        return sorted(live, key=lambda note: note.rows[0])

    def vectors(self, options: Sequence[Summary]) -> np.ndarray:
        """Return the vectors of some options, shape (n_options, dim); only offline and "joined" look at them."""
        places = {note.number: at for at, note in enumerate(self.table.notes(MEMO))}
        return self.table.note_vectors(MEMO)[[places[memo.number] for memo in options]]

    @property
    def recent(self) -> list[int]:
        """The rows that stand in no memo, oldest first."""
        return [row for run in self._runs() for row in run]

    def due(self) -> Batch:
        """Return the rows to be filed next, () where none are due.

        Of the newest rows these are the fewest, oldest first, that have too many words or lines, but for the last of them. A run
        of rows that lies before a filed one is due as a whole.
        """
        runs = self._runs()
        if not runs:
            return Batch((), waits=True)
        run, newest = runs[0], self.table.position(runs[0][-1]) == len(self.table) - 1
        many = self._too_many(run)
        if not newest:
            return Batch(many or run, waits=False)
        return Batch(many[:-1], waits=not self._too_many(run[len(many) - 1 :]))

    def write(self, batch: Batch) -> Written:
        """File one batch and return what was made; where its rows change while the model thinks, nothing is filed."""
        seen, entries, note = len(self.table.changes), [self.table[row] for row in batch.rows], ""
        slices, calls = self.writer.split(entries)
        if slices is None and self.settings.unreadable == "noto":
            slices, note = [Slice(NOTO, "", 0, len(entries))], f"the ranges could not be read: all is filed under {NOTO}"
        elif slices is None and batch.waits:
            return Written(calls=calls, note="the ranges could not be read: the dialogues stay recent")
        elif slices is None:
            slices, note = self._offline.split(entries)[0], "the ranges could not be read: divided by similarity, as offline"
        if not set(batch.rows).isdisjoint(self.table.changes[seen:]):
            return Written(calls=calls, note="a dialogue was changed meanwhile: nothing is filed")
        for part in slices:
            self._file(part, entries[part.start : part.stop])
        self._drop_spent()
        return Written(len(slices), len(entries), calls, note)

    def _file(self, part: Slice, entries: Sequence) -> None:
        empty = next((note.number for note in self.table.notes(MEMO) if not note.rows), None)
        rows, at = [entry.index for entry in entries], entries[-1].created
        self.table.set_summary(f"{part.topic}\n{part.summary}", rows, at, replaces=empty, kind=MEMO)

    def _drop_spent(self) -> None:
        """Empty the stale memos whose rows have all been filed anew, or are gone."""
        recent = set(self.recent)
        for note in self.table.notes(MEMO):
            if note.stale and recent.isdisjoint(note.rows):
                self.table.set_summary("", (), note.at, replaces=note.number, kind=MEMO)

    def _filed(self) -> list[Summary]:
        return [note for note in self.table.notes(MEMO) if note.rows and note.text and not note.stale]

    def _runs(self) -> list[tuple[int, ...]]:
        """Return the rows that stand in no memo, in runs of neighbours, oldest first."""
        filed = [row for note in self._filed() for row in note.rows]
        places = np.flatnonzero(~np.isin(self.table.indices, filed))
        if not len(places):
            return []
        ends = [0, *(np.flatnonzero(np.diff(places) > 1) + 1), len(places)]
        return [tuple(self.table.indices[places[start:end]].tolist()) for start, end in pairwise(ends)]

    def _too_many(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Return the fewest of `rows` from the first, two at least, that reach a limit; () where they do not."""
        count = 0
        for number, row in enumerate(rows, 1):
            count += sum(len(tokens(side)) for side in self.table.sides(row))
            if number > 1 and (count > self.settings.words or 2 * number >= self.settings.lines):
                return tuple(rows[:number])
        return ()


def topic_of(note: Summary) -> str:
    """Return the topic of a memo."""
    return note.text.partition("\n")[0]


def summary_of(note: Summary) -> str:
    """Return the summary of a memo."""
    return note.text.partition("\n")[2]
