"""What every memory around a language model does alike: ask, retry, undo, keep the record of a turn, close."""

from __future__ import annotations

import threading
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, ClassVar

from ilstma_lab.clock import Clock, ManualClock, SystemClock
from ilstma_lab.errors import InputError
from ilstma_lab.memory.echo import kind_of_turn
from ilstma_lab.memory.entry import Dialogue, Kind, MemoryEntry, clean_text, is_blank, to_moment
from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.segments import HistoryTurn, SegmentLimits, ShortTermMemory
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.memory.withdrawal import WRITTEN, Source, repeated_rows
from ilstma_lab.models import Models, offline
from ilstma_lab.models.call import Call
from ilstma_lab.models.sentences import language, saying
from ilstma_lab.protocols import Query
from ilstma_lab.recorder import Event, Recorder, StepNotes
from ilstma_lab.retrieval.recall import Recall
from ilstma_lab.trace import Failure, RowView, SegmentView, Turn, Verdict

_LONG_AGO = timedelta(days=30)
_MOST_UNDONE = 100
_SHOWING = {2, 6, 9}  # the steps whose prompts hold what the segments and the search show


class ClockWarning(UserWarning):
    """The system's clock is far from the table's dialogues."""


@dataclass(frozen=True)
class _Before:
    """How table and short-term memory stood before a turn, for undo."""

    segments: tuple
    summaries: tuple[Summary, ...]
    personality: str


@dataclass
class _Beside:
    """What a lab keeps beside a turn: all that it showed, how much had been withdrawn and changed by then, what undo needs."""

    sources: frozenset[Source]
    seen: int
    changes: int
    next_index: int
    before: _Before | None


class Lab(ABC):
    """A memory around a language model: a table, its short-term memory, and the Turns that come back from `ask`.

    A system says what stands in short-term memory when the answer is made, and what is written after it. `retrieves` tells
    whether it recalls rows, which can be compared with the right ones. Parts that are not given are offline ones. `clock` tells
    when a question is asked that brings no time of its own.
    """

    system: ClassVar[str]
    retrieves: ClassVar[bool] = True

    def __init__(
        self, table: MemoryTable, config: Any, *, limits: SegmentLimits, models: Models | None = None, clock: Clock | None = None
    ):
        self.table = table
        self.config = config
        self.models = models or offline(table.embedder)
        self.clock = clock or SystemClock()
        self.memory = ShortTermMemory(table, limits)
        self.turns: list[Turn] = []
        self._beside: list[_Beside] = []
        self._count = 0
        self._lock = threading.RLock()
        table.kept_by(self)
        if clock is None:
            self._warn_of_old_table()

    def ask(
        self,
        question: str,
        *,
        at: datetime | None = None,
        remember: bool = True,
        on_event: Callable[[Event], None] | None = None,
    ) -> Turn:
        """Return the finished Turn; when it is there, it is on the disk if the table has a file.

        `at`: when the question is asked (default: the clock's time). `remember=False` answers, touches and prefetches, but
        stores no new row. `on_event` gets each step and each piece of the answer as they come. A model that fails
        gives a Turn with `failure`; the question is kept, and `retry` asks it again. Raises InputError for a blank question.
        """
        question = clean_text(question, name="the question")
        if is_blank(question):
            raise InputError("the question is blank: type something to ask; nothing was changed")
        with self._lock:
            moment = to_moment(at) if at is not None else self.clock.now()
            running = self._running(question, moment, remember=remember, on_event=on_event)
            try:
                turn = running.run()
            except BaseException:
                self.memory.restore(running.segments)
                raise
            self.turns.append(turn)
            before = _Before(running.segments, *running.told)
            beside = _Beside(running.sources, running.seen, len(self.table.changes), self.table.next_index, before)
            self._beside.append(beside)
            if len(self._beside) > _MOST_UNDONE:
                self._beside[-_MOST_UNDONE - 1].before = None
            return turn

    async def aask(self, question: str, **options) -> Turn:
        """Return what `ask` returns, without holding up the event loop."""
        import asyncio

        return await asyncio.to_thread(self.ask, question, **options)

    def retry(self, *, on_event: Callable[[Event], None] | None = None) -> Turn:
        """Ask the question that was left unanswered, by a failing model or a crash, once more."""
        if self.table.unanswered is None:
            raise InputError("no question is left unanswered")
        question, at = self.table.unanswered
        return self.ask(question, at=at, on_event=on_event)

    def undo(self) -> Turn:
        """Take back the last turn of this lab, and return it: its row and its touches go, short-term memory is as it was before.

        So are summaries and personality. What waited before it and was written by it stays written. A turn that failed left its
        question open: that goes. Raises InputError where no turn is left; at most 100 are remembered.
        """
        with self._lock:
            if not self._beside or self._beside[-1].before is None:
                raise InputError("no turn of this lab is left to take back")
            turn, beside = self.turns.pop(), self._beside.pop()
            touched = next((step.wrote.get("touched", ()) for step in turn.steps if step.number == 8), ())
            before = beside.before
            told = {"summaries": before.summaries, "personality": before.personality, "changed": self._changed_since(beside)}
            self.table.undo_turn(turn.row, touched, turn.at, **told)
            self.memory.restore(before.segments)
            self._count -= not turn.failure
            return turn

    def forget(self, texts: Sequence[str] = ()) -> None:
        """Drop the turns that showed what was deleted or edited since, or what was written of it; `table.compact()` calls this.

        So are those whose prompts or replies say one of the sentences `texts`. Their replies leave the cassette too. Other turns
        keep their numbers; those before the last that was dropped can no longer be taken back.
        """
        with self._lock:
            says = saying(texts)
            goes = [self._shows_withdrawn(kept) or _says(turn, says) for turn, kept in zip(self.turns, self._beside, strict=True)]
            calls = [call for turn, gone in zip(self.turns, goes, strict=True) if gone for call in _calls(turn)]
            self.models.forget(calls, texts)
            last = max((at for at, gone in enumerate(goes) if gone), default=-1)
            for at, kept in enumerate(self._beside):
                kept.before = self._without_withdrawn(kept) if kept.before and at > last else None
            self.turns[:] = [turn for turn, gone in zip(self.turns, goes, strict=True) if not gone]
            self._beside = [kept for kept, gone in zip(self._beside, goes, strict=True) if not gone]
            self.memory.forget()

    def _shows_withdrawn(self, kept: _Beside) -> bool:
        return not kept.sources.isdisjoint(self.table.withdrawn[kept.seen :])

    def _without_withdrawn(self, kept: _Beside) -> _Before:
        """Return what undo needs, without what it would not bring back."""
        changed, before = self._changed_since(kept), kept.before
        summaries = tuple(one for one in before.summaries if changed.isdisjoint(one.rows))
        return _Before(self.memory.standing(before.segments), summaries, "" if changed else before.personality)

    def _changed_since(self, kept: _Beside) -> set[int]:
        """Return the rows of then that were changed since."""
        return {row for row in self.table.changes[kept.changes :] if row < kept.next_index}

    @abstractmethod
    def summarise(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Write all that the system writes of rows and that is due, as after an import; return how many texts were made."""

    def fork(self, config: Any = None, *, models: Models | None = None) -> Lab:
        """Return a lab over a copy of the table, with the same short-term memory, for what-if; nothing comes back here."""
        with self._lock:
            table, clock = self.table.fork(), ManualClock(self.clock.now())
            return self._handed_over(type(self)(table, config or self.config, models=models or self.models, clock=clock))

    @abstractmethod
    def _running(self, question: str, at: datetime, **options: Any) -> RunningTurn:
        """Return the turn that `ask` runs."""

    def _handed_over(self, other: Lab) -> Lab:
        """Give a fork this lab's short-term memory and its number of turns, and return it."""
        other.memory.restore(self.memory.state())
        other._count = self._count
        return other

    def close(self) -> None:
        """Write what waits, and let go of the table's file."""
        with self._lock:
            self.table.close()

    def __enter__(self):
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{self.system} over {self.table!r}, {self.models.name}, {self._count} turns>"

    def _warn_of_old_table(self) -> None:
        if len(self.table) and self.clock.now() - self.table.last_created > _LONG_AGO:
            warnings.warn(
                f"the table's last dialogue is of {self.table.last_created:%Y-%m-%d}, so by today's clock nearly all has faded. "
                "To go on from there, give clock=ManualClock.after(table), or at= with each question.",
                ClockWarning,
                stacklevel=4,
            )


def _calls(turn: Turn) -> list[Call]:
    return [call for calls in turn.calls.values() for call in calls]


def _says(turn: Turn, says: Callable[[str], bool]) -> bool:
    return says(turn.answer) or any(says(call.reply) or any(says(text) for _, text in call.messages) for call in _calls(turn))


class RunningTurn(ABC):
    """One turn while it runs. A system fills short-term memory in `recall_for`; the rest is alike.

    Steps are numbered as ILSTMA's nine where they do the same; `trace.STEP_NAMES` names the others too.
    """

    def __init__(self, lab: Lab, question: str, at: datetime, *, remember: bool, on_event: Callable[[Event], None] | None):
        self.lab, self.table, self.memory, self.models = lab, lab.table, lab.memory, lab.models
        self.question, self.at, self.remember = question, at, remember
        self.language = language(question)
        self.record = Recorder(on_event)
        self.segments = self.memory.state()
        self.told = (lab.table.written, lab.table.personality)
        self.seen = len(lab.table.withdrawn)
        self.sources: frozenset[Source] = frozenset()
        self.query = Query(question, at, lab.table.embedder)
        self.before: tuple[SegmentView, ...] = ()
        self.hit = False
        self.verdict: Verdict | None = None
        self.recall: Recall | None = None
        self.selection = None
        self.answer = ""
        self.answered = 0.0
        self.recalled: tuple[int, ...] = ()
        self.row: int | None = None
        self.kind: Kind | None = None
        self.failure: Failure | None = None
        self.rows: dict[int, RowView] = {}
        self.answered_from: tuple[SegmentView, ...] = ()
        self.answer_sources: frozenset[Source] = frozenset()

    @abstractmethod
    def reach_answer(self) -> None:
        """Fill short-term memory for the question, then `reply`."""

    @abstractmethod
    def finish(self) -> None:
        """What comes after the answer: `write`, the history, what is due."""

    def run(self) -> Turn:
        """Return the finished turn."""
        begun = time.perf_counter()
        self.collect()
        try:
            self.reach_answer()
        except Exception as error:
            message = str(error) or "no message came with it; the question is kept, and retry() asks it again"
            self.failure = Failure(9, type(error).__name__, message)
            self.memory.restore(self.segments)
            self.answered = time.perf_counter()
        if not self.failure:
            self.finish()
        return self._turn(begun)

    def collect(self) -> None:
        """Step 1: the question is kept before it is answered."""
        with self.record.step(1) as step:
            self.memory.begin_turn()
            self.table.open_question(self.question, self.at)
            self.before = self.memory.views(self.language)
            self.sources |= self.memory.sources()
            self.note_rows(self.memory.cache)
            step.read["question"] = self.question
            step.wrote["cleared"] = ["relevant"]

    def reply(self) -> None:
        """Step 9: the answer, from short-term memory as it stands."""
        with self.record.step(9) as step:
            self.answered_from = self.memory.views(self.language)
            self.answer_sources = self.memory.sources()
            step.read["tokens"] = sum(view.tokens for view in self.answered_from)
            if self.verdict and self.verdict.hit and self.verdict.answer:
                self.answer = self.verdict.answer
                self.record.tell("piece", self.answer)
                step.note = "the judge's own answer"
            else:
                self.answer = self._from_responder(step)
            step.wrote["answer"] = self.answer
        self.answered = time.perf_counter()

    def write(self, touched: Iterable[int], *, notes: Sequence[int] = (), waits: bool = False) -> None:
        """Step 8: the finished dialogue becomes a row and touches are recorded, in one journal line; `waits` defers touches.

        `notes`: numbers of summaries that were recalled too.
        """
        with self.record.step(8) as step:
            rests_on, touched = self.rows_of_answer(), self.live(touched)
            told = {"notes": notes, "deferred": waits}
            touch = self.table.touched(touched, self.at, self.question, **told) if touched or notes else None
            dialogue = Dialogue(self.question, self.answer, self.at) if self.remember else None
            self.kind = kind_of_turn(self.question, self.answer, rests_on) if self.remember else None
            cites = [row.index for row in rests_on] if self.kind == "asked" else []
            rows = repeated_rows(self.answer, self.question, self.answer_sources.union(self.recalled), self.table)
            quotes = [row for row in rows if row not in cites]
            step.wrote["deferred"] = 0 if waits else len(self.table.waiting)
            self.row = self.table.close_turn(
                dialogue, touch, kind=self.kind or "told", cites=cites, quotes=quotes, write_waiting=not waits
            )
            if self.row is not None:
                self.table.embed_pending()
            step.wrote.update(touched=list(touched), row=self.row, waiting=sorted(self.table.waiting))

    def push(self) -> None:
        """Put the finished turn into the history."""
        rests_on = self.answer_sources.union(self.recalled) if self.row is None else frozenset()
        self.memory.push(HistoryTurn(self.question, self.answer, self.at, self.row, rests_on, self.seen))

    def rows_of_answer(self) -> list[MemoryEntry]:
        """Return the recalled rows as they stand."""
        return [self.table[row] for row in self.recalled if row in self.table]

    def live(self, rows: Iterable[int]) -> tuple[int, ...]:
        """Return those of `rows` that the table holds, each once, in order."""
        return tuple(dict.fromkeys(int(row) for row in rows if row in self.table))

    def note_rows(self, entries: Iterable[MemoryEntry]) -> None:
        """Keep rows as they stood before the turn touched them, for the Turn."""
        for e in entries:
            if e.index not in self.rows:
                view = RowView(e.index, e.created, e.last_recall, e.recall_times, e.user, e.assistant, e.source, e.kind)
                self.rows[e.index] = view

    def _from_responder(self, step: StepNotes) -> str:
        said = self.models.responder.answer(self.query, self.memory)
        pieces = [said] if isinstance(said, str) else said
        answer = ""
        for piece in pieces:
            answer += piece
            self.record.tell("piece", piece)
        if call := getattr(said, "call", None):
            step.calls.append(call)
        return clean_text(answer, name="the answer")

    def note_recall(self, recall: Recall) -> Recall:
        """Note the rows that a search showed, and return what it found."""
        self.sources |= {row for chunk in recall.branch_a.chunks if chunk.text for row in chunk.rows}
        self.sources |= {candidate.index for candidate in recall.branch_b.candidates}
        return recall

    def _all_sources(self) -> frozenset[Source]:
        """Return all that the turn shows: rows, and what was written of rows, or of which its prompts may have been written."""
        written = {WRITTEN} if self.record.calls.keys() - _SHOWING else set()
        own = {self.row} - {None}
        return self.sources.union(self.answer_sources, self.memory.sources(), self.rows, self.recalled, own, written)

    def _turn(self, begun: float) -> Turn:
        if not self.failure:
            self.lab._count += 1
        self.sources = self._all_sources()
        turn = Turn(
            number=self.lab._count + bool(self.failure),
            question=self.question,
            at=self.at,
            hit=self.hit and not self.failure,
            answer=self.answer,
            recalled=self.recalled,
            steps=tuple(self.record.steps),
            seconds=self.answered - begun,
            seconds_after=time.perf_counter() - self.answered,
            verdict=self.verdict,
            recall=self.recall,
            prefetch=self.selection,
            calls=self.record.calls,
            segments_before=self.before,
            answered_from=self.answered_from,
            segments_after=self.memory.views(self.language),
            rows=self.rows,
            waiting=tuple(sorted(self.table.waiting)),
            kind=self.kind,
            row=self.row,
            table_size=len(self.table),
            token_budget=self.memory.limits.token_budget,
            models=self.models.name,
            failure=self.failure,
            system=self.lab.system,
        )
        self.record.tell("turn", turn)
        return turn
