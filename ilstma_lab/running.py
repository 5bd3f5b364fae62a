"""One turn of any memory system while it runs: the steps that are alike, and the record of them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ilstma_lab.memory.echo import kind_of_turn
from ilstma_lab.memory.entry import Dialogue, Kind, MemoryEntry, clean_text
from ilstma_lab.memory.segments import HistoryTurn
from ilstma_lab.memory.withdrawal import TAKEN_OUT, WRITTEN, Source, repeated_rows
from ilstma_lab.models.returned import calls_of
from ilstma_lab.models.sentences import language
from ilstma_lab.protocols import Query
from ilstma_lab.recorder import Event, Recorder, StepNotes
from ilstma_lab.retrieval.recall import Recall
from ilstma_lab.trace import Failure, RowView, SegmentView, Turn, Verdict

if TYPE_CHECKING:
    from ilstma_lab.lab import Lab

_SHOWING = {2, 6, 9}  # the steps whose prompts hold what the segments and the search show


class RunningTurn(ABC):
    """One turn while it runs. A system fills short-term memory in `reach_answer`; the rest is alike.

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
        self.shown_to_judge: frozenset[Source] = frozenset()
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
            self.shown_to_judge = self.memory.sources()
            self.sources |= self.shown_to_judge
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
                self.answer_sources |= self.shown_to_judge
                self.record.tell("piece", self.answer)
                step.note = "the judge's own answer"
            else:
                self.answer = self._from_responder(step)
            step.wrote["answer"] = self.answer
        self.answered = time.perf_counter()

    def write(self, touched: Iterable[int], *, notes: Sequence[int] = (), waits: bool = False) -> None:
        """Step 8: the finished dialogue becomes a row and touches are recorded, in one journal line; `waits` defers touches.

        `notes`: numbers of summaries that were recalled too. Where something that the answer was made from was edited or deleted
        since the turn began, the row has the mark of what is taken out in place of the answer; the turn keeps the answer, which
        was seen already, until the table is compacted.
        """
        with self.record.step(8) as step, self.table._lock:  # what is deleted meanwhile, by another thread, waits for the row
            rests_on, touched = self.rows_of_answer(), self.live(touched)
            told = {"notes": notes, "deferred": waits}
            touch = self.table.touched(touched, self.at, self.question, **told) if touched or notes else None
            holds = self.holds()
            answer = self.answer if holds else TAKEN_OUT[language(self.answer)]
            dialogue = Dialogue(self.question, answer, self.at) if self.remember else None
            self.kind = kind_of_turn(self.question, self.answer, rests_on) if self.remember else None
            cites = [row.index for row in rests_on] if self.kind == "asked" else []
            rows = repeated_rows(self.answer, self.question, self.rests_on, self.table) if holds and self.remember else ()
            quotes = [row for row in rows if row not in cites]
            step.wrote["deferred"] = 0 if waits else len(self.table.waiting)
            self.row = self.table.close_turn(
                dialogue, touch, kind=self.kind or "told", cites=cites, quotes=quotes, write_waiting=not waits
            )
            if self.row is not None:
                self.table.embed_pending()
            step.wrote.update(touched=list(touched), row=self.row, waiting=sorted(self.table.waiting))
            step.note = "" if holds else "what the answer was made from was edited or deleted meanwhile: it is not stored"

    def push(self) -> None:
        """Put the finished turn into the history."""
        rests_on = self.rests_on if self.row is None else frozenset()
        self.memory.push(HistoryTurn(self.question, self.answer, self.at, self.row, rests_on, self.seen))

    @property
    def rests_on(self) -> frozenset[Source]:
        """All that the answer was made from."""
        return self.answer_sources.union(self.recalled)

    def holds(self) -> bool:
        """Tell whether nothing that the answer was made from was edited or deleted since the turn began."""
        return self.rests_on.isdisjoint(self.table.withdrawn[self.seen :])

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
            step.calls += calls_of("responder", (call,))
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
