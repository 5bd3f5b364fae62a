"""MemoryBank: rows and day summaries in one ranking, a portrait and global events, and pieces that fade (Zhong et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, ClassVar

import numpy as np

from ilstma_lab.clock import Clock
from ilstma_lab.lab import Lab
from ilstma_lab.memory.segments import Note, SegmentLimits, ShortTermMemory
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models
from ilstma_lab.models.prompts.messages import Instructions
from ilstma_lab.protocols import Query
from ilstma_lab.running import RunningTurn
from ilstma_lab.systems.memorybank.diary import EVENTS, PORTRAIT, Diary, live_notes
from ilstma_lab.systems.memorybank.pieces import Hit, Piece, Pieces, PieceSearch
from ilstma_lab.systems.memorybank.settings import MemoryBankSettings
from ilstma_lab.systems.memorybank.writers import ExtractiveWriter, PromptedWriter


class BankMemory(ShortTermMemory):
    """Short-term memory whose personality is the global portrait and whose summary the global events, where they are `shown`."""

    system: ClassVar[str] = "MemoryBank"

    def __init__(self, table: MemoryTable, limits: SegmentLimits, *, shown: frozenset[str]):
        super().__init__(table, limits)
        self._kinds = shown

    @property
    def personality(self) -> str:
        """The global portrait, or ""."""
        return self._newest(PORTRAIT)

    @property
    def summary(self) -> str:
        """The global event summary, or ""."""
        return self._newest(EVENTS)

    def _newest(self, kind: str) -> str:
        notes = live_notes(self.table, kind) if kind in self._kinds else ()
        return notes[-1].text if notes else ""


class MemoryBank(Lab):
    """A memory of dated dialogues, of what happened on each day, and of how the user is.

    Its notes are texts that the table keeps of rows, of the kinds "day" (events of one day), "mood" (traits, mood and a way to
    reply on one day), "events" and "portrait" (of all days). They are written when a day has ended: after the first answer of a
    new day, and by `summarise`.

    Paper note: it tunes open models on psychological dialogues as well, which is not done here.
    """

    system: ClassVar[str] = "MemoryBank"
    instructions: ClassVar[Instructions | None] = None

    def __init__(
        self,
        table: MemoryTable,
        config: MemoryBankSettings | None = None,
        *,
        models: Models | None = None,
        clock: Clock | None = None,
    ):
        config = config or MemoryBankSettings()
        super().__init__(table, config, limits=config.short_term, models=models, clock=clock)
        if self.instructions:
            self.models = self.models.instructed(self.instructions)
        shown = frozenset({PORTRAIT, EVENTS} if config.events else {PORTRAIT}) if config.memory else frozenset()
        self.memory = BankMemory(table, config.short_term, shown=shown)
        self.search = PieceSearch(config)
        self.diary = Diary(table, PromptedWriter(self.models.chat) if self.models.chat else ExtractiveWriter())

    def summarise(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Write the notes of all days that have ended by the clock, as after an import; return how many texts were made."""
        with self._lock:
            return self.diary.close_days(self.clock.now(), progress=progress) if self.config.memory else 0

    def forgotten(self, at: datetime | None = None) -> tuple[Piece, ...]:
        """Return the rows, by index, and the day summaries that are forgotten at a moment (default: the clock's)."""
        with self._lock:
            pieces = Pieces(self.table)
            mask = pieces.forgotten(self.config, at or self.clock.now())
            return tuple(pieces[place] for place in np.flatnonzero(mask).tolist())

    def _running(self, question: str, at: datetime, **options: Any) -> RunningTurn:
        return _BankTurn(self, question, at, **options)


class _BankTurn(RunningTurn):
    """One turn of MemoryBank; steps are numbered as `trace.STEP_NAMES` has them."""

    hits: tuple[Hit, ...] = ()

    def reach_answer(self) -> None:
        if self.lab.config.memory:
            self.read_table()
            pieces = Pieces(self.table)
            self.find(pieces, self.forget(pieces))
            self.inject_global()
        self.reply()

    def finish(self) -> None:
        rows = [hit.piece for hit in self.hits if not isinstance(hit.piece, Note)]
        self.write(rows, notes=[hit.piece.number for hit in self.hits if isinstance(hit.piece, Note)])
        self.push()
        if self.lab.config.memory and self.lab.diary.open(self.at):
            self.close_days()

    def read_table(self) -> None:
        with self.record.step(4, otherwise="the search goes on without it") as step:
            waiting = self.table.embed_pending()
            step.read.update(rows=len(self.table), pending=waiting)

    def forget(self, pieces: Pieces) -> np.ndarray:
        """Step 10: what the curve has let go of; without forgetting nothing, and no step."""
        mask = np.zeros(len(pieces), bool)
        if self.lab.config.forgetting is None:
            return mask
        with self.record.step(10, otherwise="nothing counts as forgotten") as step:
            mask = pieces.forgotten(self.lab.config, self.at)
            step.read.update(rows=len(self.table), days=len(pieces.notes))
            step.wrote.update(forgotten=int(mask.sum()), kept=int((~mask).sum()))
            step.note = "masked, never deleted; loading again changes nothing"
        return mask

    def find(self, pieces: Pieces, forgotten: np.ndarray) -> None:
        with self.record.step(6, otherwise="nothing is recalled: the answer is made from the other segments") as step:
            query = self.context()
            hits = self.lab.search.search(query, pieces, forgotten)
            joined = self.lab.search.widened(hits, pieces, forgotten)
            self.hits, self.recalled = hits, self._rows(hits, joined)
            self.memory.fill_relevant(self._relevant(hits, joined))
            self.note_rows(self.memory.relevant)
            step.read.update(rows=len(self.table), days=len(pieces.notes))
            step.wrote["relevant"] = [entry.index for entry in self.memory.relevant]
            step.wrote["days"] = [pieces.name(hit.piece) for hit in hits if isinstance(hit.piece, Note)]
            step.wrote["scores"] = {pieces.name(hit.piece): hit.score for hit in hits}

    def context(self) -> Query:
        """Return what is searched: the question, then what the user said in the last turns, newest first."""
        count = self.lab.config.context_turns
        last = self.memory.history[-count:] if count else ()
        if not last:
            return self.query
        text = "\n".join([self.question, *(turn.user for turn in reversed(last))])
        return Query(text, self.at, self.table.embedder)

    def inject_global(self) -> None:
        """Step 5: portrait and global events stand in the prompt as they were last written."""
        with self.record.step(5) as step:
            step.wrote.update(events=bool(self.memory.summary), portrait=bool(self.memory.personality))

    def close_days(self) -> None:
        diary = self.lab.diary
        with self.record.step(14, otherwise="what is missing is written after the next answer") as step:
            try:
                step.wrote["notes"] = diary.close_days(self.at)
                step.note = "a day has ended: its events and mood are written, the global ones anew"
            finally:
                step.calls += diary.calls

    def _rows(self, hits: tuple[Hit, ...], joined: tuple[int, ...]) -> tuple[int, ...]:
        """Return hits, best first, rows that joined them, and those that recalled notes were written of, masked ones too."""
        notes = [row for hit in hits if isinstance(hit.piece, Note) for row in self.table.summary(hit.piece.number).rows]
        return self.live([*(hit.piece for hit in hits if not isinstance(hit.piece, Note)), *joined, *notes])

    def _relevant(self, hits: tuple[Hit, ...], joined: tuple[int, ...]) -> list[Piece]:
        """Return what goes into the prompt: hits, best first; with widening all in the order of time, a summary after its day."""
        pieces = list(dict.fromkeys([*(hit.piece for hit in hits), *joined]))
        if not self.lab.config.widen_characters:
            return pieces
        return sorted(pieces, key=lambda piece: (self._last_row(piece), isinstance(piece, Note)))

    def _last_row(self, piece: Piece) -> int:
        return max(self.table.summary(piece.number).rows) if isinstance(piece, Note) else piece
