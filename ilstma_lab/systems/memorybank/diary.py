"""What MemoryBank writes of days: events and mood of each, and from these, anew, global events and portrait (section 2.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import NamedTuple

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.call import Call
from ilstma_lab.systems.memorybank.writers import Writer, Written

DAY, MOOD, EVENTS, PORTRAIT = "day", "mood", "events", "portrait"
MADE_FROM = {EVENTS: DAY, PORTRAIT: MOOD}
"""What is global, and the daily notes that it is made from."""

_EPOCH = datetime(1970, 1, 1).toordinal()


class Due(NamedTuple):
    """A note of one day that is to be written: its rows, and the note whose place it takes."""

    day: int
    kind: str
    rows: tuple[int, ...]
    old: Summary | None


class Diary:
    """Keeps the notes of a table's days up to date. `calls` are those of the last `close_days`.

    A day is due once it has ended and has no note, or rows of it were added, edited or deleted since. What is global is made anew
    from the notes of all days whenever one of them is.
    """

    def __init__(self, table: MemoryTable, writer: Writer):
        self.table, self.writer = table, writer
        self.calls: list[Call] = []

    def due(self, today: datetime) -> list[Due]:
        """Return the notes of days before `today` that are to be written, oldest day first."""
        found = []
        for kind in MADE_FROM.values():
            notes = self._by_day(kind)
            for day, rows in self._ended(today).items():
                old = notes.get(day)
                if not _holds(old, rows):
                    found.append(Due(day, kind, rows, old))
        return sorted(found, key=lambda due: due.day)

    def open(self, today: datetime) -> bool:
        """Tell whether there is anything to write."""
        return bool(self.due(today)) or any(map(self._is_due, MADE_FROM))

    def close_days(self, today: datetime, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Write all that is due of the days before `today`, and return how many texts were made; each is kept when it is there.

        Of rows that are edited or deleted while the writer thinks, nothing is kept: their day stays due.
        """
        self.calls = []
        days, made = self.due(today), 0
        total = len(days) + len(MADE_FROM)
        for due in days:
            write = self.writer.day if due.kind == DAY else self.writer.mood
            self._keep(due.kind, due.rows, due.old, write)
            made += 1
            if progress:
                progress(made, total)
        for kind in filter(self._is_due, MADE_FROM):
            notes = self._daily(kind)
            write = partial(self.writer.events if kind == EVENTS else self.writer.portrait, notes)
            self._keep(kind, _rows_of(notes), self._latest(kind), write)
            made += 1
        if progress and made:
            progress(total, total)
        return made

    def _keep(self, kind: str, rows: tuple[int, ...], old: Summary | None, write: Callable[[list[MemoryEntry]], Written]) -> None:
        seen = len(self.table.changes)
        rows = tuple(row for row in rows if row in self.table)  # the writer has thought about other days meanwhile
        entries = [self.table[row] for row in rows]
        if not entries:
            return
        text, calls = write(entries)
        self.calls += calls
        if set(rows).isdisjoint(self.table.changes[seen:]):
            at = max(entry.created for entry in entries)
            self.table.set_summary(text, rows, at, replaces=old.number if old else self._unused(kind), kind=kind)

    def _is_due(self, kind: str) -> bool:
        """Tell whether what is global was not made from the daily notes as they stand."""
        rows = _rows_of(self._daily(kind))
        return bool(rows) and not _holds(self._latest(kind), rows)

    def _daily(self, kind: str) -> tuple[Summary, ...]:
        """Return the daily notes that something global is made from, oldest day first."""
        return tuple(sorted(live_notes(self.table, MADE_FROM[kind]), key=lambda note: day_number(note, self.table)))

    def _latest(self, kind: str) -> Summary | None:
        return next(iter(self.table.notes(kind)), None)

    def _unused(self, kind: str) -> int | None:
        """Return the number of a note that an undone turn left empty."""
        return next((note.number for note in self.table.notes(kind) if not note.rows), None)

    def _ended(self, today: datetime) -> dict[int, tuple[int, ...]]:
        """Return the rows of each day before `today`."""
        limit, found = today.toordinal() - _EPOCH, defaultdict(list)
        for day, row in zip(self.table.days.tolist(), self.table.indices.tolist(), strict=True):
            if day < limit:
                found[day].append(row)
        return {day: tuple(rows) for day, rows in found.items()}

    def _by_day(self, kind: str) -> dict[int, Summary]:
        found = {}
        for note in self.table.notes(kind):
            row = next((row for row in note.rows if row in self.table), None)
            if row is not None:
                found[_day(row, self.table)] = note
        return found


def live_notes(table: MemoryTable, kind: str) -> tuple[Summary, ...]:
    """Return the notes of `kind` that hold: written, and none of their rows was edited or deleted since."""
    return tuple(note for note in table.notes(kind) if note.text and not note.stale)


def day_number(note: Summary, table: MemoryTable) -> int:
    """Return the day that a note tells of, counted from 1970-01-01."""
    return _day(note.rows[0], table)


def _day(row: int, table: MemoryTable) -> int:
    return table.day_of(row).toordinal() - _EPOCH


def _rows_of(notes: tuple[Summary, ...]) -> tuple[int, ...]:
    return tuple(row for note in notes for row in note.rows)


def _holds(note: Summary | None, rows: tuple[int, ...]) -> bool:
    return note is not None and bool(note.text) and not note.stale and note.rows == rows
