"""What every memory around a language model does alike: ask, retry, undo, keep the record of a turn, close."""

from __future__ import annotations

import threading
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar

from ilstma_lab.clock import Clock, ManualClock, SystemClock
from ilstma_lab.errors import InputError
from ilstma_lab.memory.entry import clean_text, is_blank, to_moment
from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.segments import SegmentLimits, ShortTermMemory
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.memory.withdrawal import Source
from ilstma_lab.models import Models, offline
from ilstma_lab.models.call import Call
from ilstma_lab.models.sentences import saying
from ilstma_lab.recorder import Event
from ilstma_lab.running import RunningTurn
from ilstma_lab.trace import Turn

_LONG_AGO = timedelta(days=30)
_MOST_UNDONE = 100


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
        stores no new row; the log of recalls names its question all the same. `on_event` gets each step and each piece of the
        answer as they come. A model that fails gives a Turn with `failure`; the question is kept, and `retry` asks it again. What
        is deleted or edited while the answer is made: the Turn shows the answer as you saw it, until `table.compact()` drops it;
        its row has "[taken out ...]" instead.
        Raises InputError for a blank question.
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
        kept_notes = (one for one in before.summaries if changed.isdisjoint(one.rows))
        summaries = tuple(replace(one, text="") if one.stale else one for one in kept_notes)
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
        from ilstma_lab.reprs.words import line

        return f"<{self.system} over {self.table!r}, {line(self.models.name)}, {self._count} turns>"

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
