"""The memory pieces of a table, rows and day summaries, in one ranking (MemoryBank, section 2.2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from ilstma_lab.forgetting.retention import whole_days
from ilstma_lab.memory.entry import to_instant, to_microseconds
from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.segments import Note
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.protocols import Query
from ilstma_lab.retrieval.dialogues import word_shares
from ilstma_lab.retrieval.row_vectors import RowVectors
from ilstma_lab.retrieval.top import top_k
from ilstma_lab.systems.memorybank.diary import DAY, day_number, live_notes
from ilstma_lab.systems.memorybank.settings import MemoryBankSettings

Piece = int | Note


@dataclass(frozen=True, slots=True)
class Hit:
    """A recalled piece with its own cosine to what is searched with (see `MemoryBankSettings.context_turns`)."""

    piece: Piece
    score: float


class Pieces:
    """What can be recalled of a table as it stands: its rows, then the summaries of its days, as columns of one length."""

    def __init__(self, table: MemoryTable):
        self.table = table
        self.notes: tuple[Summary, ...] = live_notes(table, DAY)
        recalled = [to_microseconds(max(note.last_recall or note.at, note.at)) for note in self.notes]
        self.last_recall = np.concatenate([table.last_recall, np.array(recalled, np.int64)])
        self.recall_times = np.concatenate([table.recall_times, np.array([n.recall_times for n in self.notes], np.int32)])
        days = np.array([-1 - day_number(note, table) for note in self.notes], np.int64)
        self.numbers = np.concatenate([table.indices, days])  # a day summary made anew is the same piece

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, at: int) -> Piece:
        rows = len(self.table)
        return int(self.table.indices[at]) if at < rows else Note(self.notes[at - rows].number)

    def forgotten(self, settings: MemoryBankSettings, now: datetime) -> np.ndarray:
        """Return which pieces are forgotten at `now`, shape (n,), bool: none without forgetting."""
        curve = settings.forgetting
        if curve is None or not len(self):
            return np.zeros(len(self), bool)
        interval = whole_days(to_microseconds(to_instant(now)), self.last_recall)
        lost = curve.forgotten(self.numbers, interval, self.recall_times, topic=self.table.topic)
        if curve.days == "spared":
            lost[len(self.table) :] = False
        return lost

    def name(self, piece: Piece) -> str:
        """Return a piece as a trace names it: a row's index, or the day that a summary tells of."""
        if isinstance(piece, Note):
            return str(self.table.day_of(self.table.summary(piece.number).rows[0]))
        return str(piece)


class PieceSearch:
    """Ranks all pieces by their cosine to what is searched with."""

    def __init__(self, settings: MemoryBankSettings):
        self.settings = settings
        self._headed: RowVectors | None = None

    def search(self, query: Query, pieces: Pieces, forgotten: np.ndarray) -> tuple[Hit, ...]:
        """Return the best `top` pieces that are not forgotten, best first; ties go to the later one."""
        scores = np.where(forgotten, -np.inf, self._cosines(query, pieces))
        hits: list[Hit] = []
        for at in top_k(scores, len(scores)).tolist():
            if len(hits) == self.settings.top or scores[at] == -np.inf:
                break
            if not self._is_echo(pieces[at], pieces.table):
                hits.append(Hit(pieces[at], float(scores[at])))
        return tuple(hits)

    def widened(self, hits: Iterable[Hit], pieces: Pieces, forgotten: np.ndarray) -> tuple[int, ...]:
        """Return the rows that join the hits, in order: from each recalled row outwards, of its day, in its room, none forgotten.

        A row that joins has no score and counts as no recall: the hit's score stays the hit's. Day summaries are not widened.
        """
        joined: dict[int, None] = {}
        if self.settings.widen_characters:
            gone = set(pieces.numbers[forgotten].tolist())
            for hit in hits:
                if not isinstance(hit.piece, Note):
                    joined |= dict.fromkeys(_beside(hit.piece, pieces.table, gone, self.settings.widen_characters))
        return tuple(joined)

    def _cosines(self, query: Query, pieces: Pieces) -> np.ndarray:
        table = pieces.table
        rows = self._headers(table).best(query.vector, table) if self.settings.date_header else table.vectors @ query.vector
        if table.pending_count:
            waiting = np.flatnonzero(table.pending)
            rows[waiting] = word_shares(query.text, table, waiting)
        places = {note.number: at for at, note in enumerate(table.notes(DAY))}
        days = table.note_vectors(DAY)[[places[note.number] for note in pieces.notes]] @ query.vector if pieces.notes else ()
        return np.concatenate([rows, days])

    def _headers(self, table: MemoryTable) -> RowVectors:
        if self._headed is None:
            self._headed = RowVectors(lambda index, text: [f"{table.day_of(index)}\n{text}"])
        return self._headed

    def _is_echo(self, piece: Piece, table: MemoryTable) -> bool:
        if isinstance(piece, Note) or self.settings.echoes == "as_rows":
            return False
        return any(row in table for row in table.cites(piece))


def _beside(row: int, table: MemoryTable, gone: set[int], room: int) -> list[int]:
    """Return the rows around `row`, nearest first, the later first, until one does not fit or the day ends on both sides."""
    at, day, found = table.position(row), table.day_of(row), []
    left = room - len(table.text(at))
    sides = {1: True, -1: True}
    for step in range(1, len(table)):
        for side in sides:
            place = at + side * step
            index = int(table.indices[place]) if 0 <= place < len(table) else None
            sides[side] &= index is not None and table.day_of(index) == day
            if not sides[side] or index in gone:
                continue
            left -= len(table.text(place))
            if left < 0:
                return found
            found.append(index)
        if not any(sides.values()):
            break
    return found
