"""ChatRsum: answer from one memory text and the current session; make that text anew when a session ends (arXiv 2308.15022)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from ilstma_lab.clock import Clock
from ilstma_lab.lab import Lab
from ilstma_lab.memory.segments import HistoryTurn, shorten
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models
from ilstma_lab.models.call import Call
from ilstma_lab.models.extractive_answer import ExtractiveResponder
from ilstma_lab.running import RunningTurn
from ilstma_lab.systems.chatrsum import prompts
from ilstma_lab.systems.chatrsum.memory_text import ExtractiveMemoryWriter, PromptedMemoryWriter
from ilstma_lab.systems.chatrsum.quoting import SessionResponder
from ilstma_lab.systems.chatrsum.sessions import MEMORY, ended, memory_of, open_rows
from ilstma_lab.systems.chatrsum.settings import ChatRsumSettings


class ChatRsum(Lab):
    """One memory text, at most 20 sentences, of all sessions that ended; the session that goes on stands beside it in the prompt.

    A row that is edited or deleted spoils the memory: it is made anew of what is left, session by session from the first. Until
    then rows that it does not hold stand in the current session, as many of the newest as fit.
    """

    system = "ChatRsum"
    retrieves = False

    def __init__(
        self,
        table: MemoryTable,
        config: ChatRsumSettings | None = None,
        *,
        models: Models | None = None,
        clock: Clock | None = None,
    ):
        config = config or ChatRsumSettings()
        super().__init__(table, config, limits=config.short_term, models=models, clock=clock)
        self.models = _instructed(self.models)
        self.memory.with_personality, self.memory.last_turn_stays = False, True
        chat, count = self.models.chat, config.sentences
        self.writer = ExtractiveMemoryWriter(count) if chat is None else PromptedMemoryWriter(chat, count)

    def summarise(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Take all sessions that ended into the memory, as after an import; return how many there were."""
        with self._lock:
            now = self.clock.now()
            due = ended(self.table, self.config, now=now)
            for done, session in enumerate(due, 1):
                self.end_session(session, at=now)
                if progress:
                    progress(done, len(due))
            return len(due)

    def end_session(self, session: list[int], *, at: datetime) -> tuple[Call, ...]:
        """Make the memory anew of itself and `session`, and return the calls.

        Where a row of either changes while the model still thinks, nothing is stored, and the session stays due.
        """
        memory, notes = memory_of(self.table), self.table.notes(MEMORY)
        rows, seen = (*(memory.rows if memory else ()), *session), len(self.table.changes)
        text, calls = self.writer.write(memory.text if memory else "", [self.table[row] for row in session])
        if set(rows).isdisjoint(self.table.changes[seen:]):
            text, number = shorten(text, self.config.memory_tokens), notes[-1].number if notes else None
            self.table.set_summary(text, rows, at, replaces=number, kind=MEMORY)
        return calls

    def recollect(self, now: datetime) -> None:
        """Put the memory and the session that goes on into short-term memory."""
        memory = memory_of(self.table)
        self.memory.choose_summary(memory.number if memory else None)
        turns = [self._as_turn(row) for row in open_rows(self.table)[-self.config.session_turns :]]
        unstored = [turn for turn in self.memory.history if turn.row is None and self._goes_on(turn, now)]
        self.memory.set_history(sorted([*turns, *unstored], key=lambda turn: turn.at))

    def _as_turn(self, row: int) -> HistoryTurn:
        entry = self.table[row]
        return HistoryTurn(entry.user, entry.assistant, entry.created, row)

    def _goes_on(self, turn: HistoryTurn, now: datetime) -> bool:
        return self.config.session == "turns" or turn.at.date() == now.date()

    def _running(self, question: str, at: datetime, **options: Any) -> RunningTurn:
        return _Turn(self, question, at, **options)


class _Turn(RunningTurn):
    """One turn of ChatRsum: nothing is searched, so no row counts as recalled."""

    def reach_answer(self) -> None:
        self.remember_sessions()
        self.reply()

    def finish(self) -> None:
        self.write(())
        self.push()
        self.end_sessions()

    def remember_sessions(self) -> None:
        """Step 5: the memory, and the session that goes on."""
        with self.record.step(5) as step:
            self.lab.recollect(self.at)
            memory = memory_of(self.table)
            step.read["rows"] = len(memory.rows) if memory else 0
            step.wrote.update(summary=self.memory.summary_number, session=len(self.memory.history))
            self.note_rows(self.table[turn.row] for turn in self.memory.history if turn.row is not None)

    def end_sessions(self) -> None:
        """Step 14: every session that ended; after a row was edited or deleted, all of them once more."""
        if not (due := ended(self.table, self.lab.config, now=self.at)):
            return
        with self.record.step(14, otherwise="the session stays open: tried again after the next answer") as step:
            step.read["sessions"] = len(due)
            try:
                for session in due:
                    step.calls += self.lab.end_session(session, at=self.at)
            finally:
                self.lab.recollect(self.at)
                step.wrote["summary"] = self.memory.summary_number


def _instructed(models: Models) -> Models:
    """Return the models told ChatRsum's instructions; the offline responder quotes memory and session instead of rows."""
    told = models.instructed(prompts.ANSWER)
    offline = isinstance(told.responder, ExtractiveResponder)
    return replace(told, responder=SessionResponder.like(told.responder)) if offline else told
