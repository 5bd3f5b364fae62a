"""The summaries of long turns: one sentence a speaker, kept in the table as notes of one row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from ilstma_lab.errors import ModelError
from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.asking import Chat, ask_json, text_of
from ilstma_lab.models.call import Call
from ilstma_lab.models.extractive_summary import one_line, said_in, telling
from ilstma_lab.models.sentences import content_words
from ilstma_lab.models.unsent import unsent
from ilstma_lab.systems.scm import prompts
from ilstma_lab.tokens import estimate_tokens

TURN = "turn"
_SIDES = ("user", "assistant")
_CHARACTERS = 600


class TurnWriter(Protocol):
    """Writes a turn in short."""

    def write(self, turn: MemoryEntry) -> tuple[str, tuple[Call, ...]]:
        """Return one line a speaker, and the calls that made them."""
        ...


class ExtractiveTurnWriter:
    """Keeps of each speaker the sentence that tells most: names, numbers, times, words that the turn repeats."""

    def write(self, turn: MemoryEntry) -> tuple[str, tuple[Call, ...]]:
        """Return the two sentences, dated, and the record of the prompt."""
        said = said_in(turn)
        repeated = Counter(word for _, sentence in said for word in content_words(sentence))
        best: dict[str, str] = {}
        for side in _SIDES:
            own = [sentence for who, sentence in said if who == side]
            best[side] = max(own, key=lambda sentence: telling(sentence, repeated, user=False), default="")
        text = _lines(turn, best)
        return text, (unsent("turn summary", prompts.summarise(turn), text),)


class PromptedTurnWriter:
    """Asks a language model for one sentence a speaker."""

    def __init__(self, chat: Chat):
        self.chat = chat

    def write(self, turn: MemoryEntry) -> tuple[str, tuple[Call, ...]]:
        """Return the two sentences, dated, and the calls. Raises ModelError where no reply holds any."""
        found, calls = ask_json(self.chat, prompts.summarise(turn), "turn summary", _says_something)
        if found is None:
            raise ModelError(f"{self.chat.model} wrote no summary of row {turn.index}: summarise again, or use another model")
        return _lines(turn, {side: text_of(found.get(side), _CHARACTERS) for side in _SIDES}), calls


class TurnSummaries:
    """Which turns of a table are long, and the summaries that they have; what changes in the table is looked at once."""

    def __init__(self, table: MemoryTable, writer: TurnWriter, *, over: int):
        self.table = table
        self.writer = writer
        self.over = over
        self._long: set[int] = set()
        self._seen = 0

    def by_row(self) -> dict[int, Summary]:
        """Return the summaries that hold, by their row."""
        notes = self.table.notes(TURN)
        return {row: note for note in notes if note.text and not note.stale for row in note.rows}

    def due(self) -> list[int]:
        """Return the long turns without a summary that holds, oldest first."""
        self._look()
        written = self.by_row()
        return sorted(row for row in self._long if row not in written)

    def write(self, row: int, *, at: datetime) -> tuple[Call, ...]:
        """Write the summary of a turn and return the calls; nothing is kept where the turn changes meanwhile."""
        seen = len(self.table.changes)
        text, calls = self.writer.write(self.table[row])
        if row not in self.table.changes[seen:]:
            old = next((note.number for note in self.table.notes(TURN) if note.rows == (row,)), None)
            self.table.set_summary(text, (row,), at, replaces=old, kind=TURN)
        return calls

    def write_all(self, *, at: datetime, progress: Callable[[int, int], None] | None = None) -> int:
        """Write all that are due and return how many; `progress(done, total)` after each."""
        rows = self.due()
        for done, row in enumerate(rows, 1):
            self.write(row, at=at)
            if progress:
                progress(done, len(rows))
        return len(rows)

    def _look(self) -> None:
        changed = dict.fromkeys(self.table.changes[self._seen :])
        self._seen = len(self.table.changes)
        for row in changed:
            self._long.discard(row)
            if row in self.table and estimate_tokens("\n".join(self.table.sides(row))) > self.over:
                self._long.add(row)


def _lines(turn: MemoryEntry, best: dict[str, str]) -> str:
    return "\n".join(f"{turn.created.date()}, {side}: {one_line(best[side])}" for side in _SIDES if best[side])


def _says_something(reply: dict) -> bool:
    return any(text_of(reply.get(side), _CHARACTERS) for side in _SIDES)
