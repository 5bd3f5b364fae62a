"""ILSTMA: one question through nine steps (ILSTMA, section 3.1 and Figure 1)."""

from __future__ import annotations

import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta

from ilstma_lab.clock import Clock, ManualClock, SystemClock
from ilstma_lab.config import Config
from ilstma_lab.errors import InputError
from ilstma_lab.memory.echo import kind_of_turn, used_rows
from ilstma_lab.memory.entry import Dialogue, MemoryEntry, clean_text, is_blank, to_moment
from ilstma_lab.memory.segments import HistoryTurn, ShortTermMemory
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.models.sentences import language
from ilstma_lab.protocols import PrefetchContext, Prefetcher, Query, Retriever
from ilstma_lab.recorder import Event, Recorder
from ilstma_lab.retrieval.dual import DualRetriever
from ilstma_lab.retrieval.recall import Recall
from ilstma_lab.summaries import Summaries
from ilstma_lab.trace import Failure, RowView, Turn, Verdict

_LONG_AGO = timedelta(days=30)
_MOST_UNDONE = 100
_NOT_NEEDED = "started with the judge, not needed: the judge answered"


class ClockWarning(UserWarning):
    """The system's clock is far from the table's dialogues."""


class ILSTMA:
    """Long- and short-term memory around a language model: ask it, and look at every step of the Turn that comes back.

    Parts that are not given are offline ones. `clock` tells when a question is asked that brings no time of its own.
    """

    def __init__(
        self,
        table: MemoryTable,
        config: Config | None = None,
        *,
        models: Models | None = None,
        clock: Clock | None = None,
        retriever: Retriever | None = None,
        prefetcher: Prefetcher | None = None,
    ):
        self.table = table
        self.config = config or Config()
        self.models = models or offline(table.embedder)
        self.clock = clock or SystemClock()
        self.memory = ShortTermMemory(table, self.config.short_term)
        self.retriever = retriever or DualRetriever(self._retrieval_settings(), reader=self.models.reader)
        self.prefetcher = prefetcher or self.config.prefetch
        self.summaries = Summaries(
            self.config.summaries, summarizer=self.models.summarizer, merger=self.models.merger, profiler=self.models.profiler
        )
        self._given = {"retriever": retriever, "prefetcher": prefetcher}
        self.turns: list[Turn] = []
        self._before: deque[tuple] = deque(maxlen=_MOST_UNDONE)
        self._count = 0
        self._lock = threading.RLock()
        if clock is None:
            self._warn_of_old_table()

    # -- the nine steps ----------------------------------------------------------------------------------------------

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
            running = _RunningTurn(self, question, moment, remember=remember, on_event=on_event)
            try:
                turn = running.run()
            except BaseException:
                self.memory.restore(running.segments)
                raise
            self.turns.append(turn)
            self._before.append((running.segments, *running.told))
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
            if not self._before:
                raise InputError("no turn of this lab is left to take back")
            turn, (segments, summaries, personality) = self.turns.pop(), self._before.pop()
            touched = next((step.wrote.get("touched", ()) for step in turn.steps if step.number == 8), ())
            self.table.undo_turn(turn.row, touched, turn.at, summaries=summaries, personality=personality)
            self.memory.restore(segments)
            self._count -= not turn.failure
            return turn

    # -- around the turns --------------------------------------------------------------------------------------------

    def summarise(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Summarise all full groups that have no summary yet, as after an import; return how many were made."""
        with self._lock:
            return self.summaries.update_all(self.table, at=self.clock.now(), progress=progress)

    def fork(self, config: Config | None = None, *, models: Models | None = None) -> ILSTMA:
        """Return a lab over a copy of the table, with the same short-term memory, for what-if; nothing comes back here."""
        with self._lock:
            other = ILSTMA(
                self.table.fork(),
                config or self.config,
                models=models or self.models,
                clock=ManualClock(self.clock.now()),
                **self._given,
            )
            other.memory.restore(self.memory.state())
            other._count = self._count
            if isinstance(self.retriever, DualRetriever) and not self._given["retriever"]:
                other.retriever.take_index(self.retriever)
            return other

    def close(self) -> None:
        """Write what waits, and let go of the table's file."""
        with self._lock:
            self.table.close()

    def __enter__(self) -> ILSTMA:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ILSTMA over {self.table!r}, {self.models.name}, {self._count} turns>"

    def _retrieval_settings(self):
        settings = self.config.retrieval
        if self.config.trace == "full":
            settings = replace(settings, dialogues=replace(settings.dialogues, keep=None))
        return settings

    def _warn_of_old_table(self) -> None:
        if len(self.table) and self.clock.now() - self.table.last_created > _LONG_AGO:
            warnings.warn(
                f"the table's last dialogue is of {self.table.last_created:%Y-%m-%d}, so by today's clock nearly all has faded. "
                "To go on from there, give clock=ManualClock.after(table), or at= with each question.",
                ClockWarning,
                stacklevel=3,
            )


class _RunningTurn:
    """One turn while it runs. The methods are the nine steps, numbered as in the paper; `run` is their order."""

    def __init__(self, lab: ILSTMA, question: str, at: datetime, *, remember: bool, on_event: Callable[[Event], None] | None):
        self.lab, self.table, self.memory, self.models = lab, lab.table, lab.memory, lab.models
        self.question, self.at, self.remember = question, at, remember
        self.language = language(question)
        self.record = Recorder(on_event)
        self.segments = self.memory.state()
        self.told = (lab.table.summaries, lab.table.personality)
        self.query = Query(question, at, lab.table.embedder)
        self.verdict: Verdict | None = None
        self.recall: Recall | None = None
        self.ahead: Future[Recall] | None = None
        self.selection = None
        self.answer = ""
        self.recalled: tuple[int, ...] = ()
        self.row: int | None = None
        self.kind = None
        self.failure: Failure | None = None
        self.rows: dict[int, RowView] = {}
        self.answered_from = ()

    def run(self) -> Turn:
        begun = time.perf_counter()
        self.collect()
        with self.recall_ahead():
            hit = self.judge()
            try:
                if hit:
                    self.keep()
                else:
                    self.memory.clear_for_miss()
                    if self.ahead is None:
                        self.read_table()
                    self.find()
                    self.inject_summary()
                self.reply()
            except Exception as error:
                message = str(error) or "no message came with it; the question is kept, and retry() asks it again"
                self.failure = Failure(9, type(error).__name__, message)
                self.memory.restore(self.segments)
            answered = time.perf_counter()
        if not self.failure:
            self.finish(hit)
        return self._turn(hit and not self.failure, begun, answered)

    def finish(self, hit: bool) -> None:
        """After the answer: write and prefetch in their order (a hit leaves the cache), history, a summary that is due."""
        waits = hit and getattr(self.lab.prefetcher, "trigger", self.lab.config.prefetch.trigger) == "miss"
        if self.lab.config.write == "after" and not waits:
            self.prefetch()
        self.write(waits)
        if self.lab.config.write == "before" and not waits:
            self.prefetch()
        self.memory.push(HistoryTurn(self.question, self.answer, self.at, self.row))
        self.summarise_when_due()

    def collect(self) -> None:
        with self.record.step(1) as step:
            self.memory.begin_turn()
            self.table.open_question(self.question, self.at)
            self.before = self.memory.views(self.language)
            self._note_rows(self.memory.cache)
            step.read["question"] = self.question
            step.wrote["cleared"] = ["relevant"]

    @contextmanager
    def recall_ahead(self) -> Iterator[None]:
        """With `overlap`, the table is read and searched while the judge thinks; the search has ended when this has."""
        if not self.lab.config.overlap or self.lab._count == 0:
            yield
            return
        self.read_table()
        with ThreadPoolExecutor(1) as pool:
            self.ahead = pool.submit(self._search)
            yield
            if self.verdict and self.verdict.hit:
                self.drop_recall()

    def judge(self) -> bool:
        with self.record.step(2, otherwise="the judge failed, which counts as a miss") as step:
            if self.lab._count == 0:
                step.note = "the first turn skips the judge: nothing has been prefetched"
                return False
            step.read["cache"] = [row.index for row in self.memory.cache]
            verdict = self.models.judge.judge(self.query, self.memory)
            if not isinstance(verdict, Verdict):
                raise TypeError(f"the judge returned {type(verdict).__name__} where a Verdict is needed")
            verdict = _plain(verdict)
            step.calls += verdict.calls
            step.note = verdict.reason
            self.verdict = verdict
        return bool(self.verdict and self.verdict.hit)

    def keep(self) -> None:
        with self.record.step(3, otherwise="no row is touched") as step:
            used = self.verdict.used
            self.recalled = self._live([row.index for row in self.memory.cache] if used is None else used)
            step.wrote["waiting"] = list(self.recalled)
            step.note = "all segments but the history stay; touches wait for the next miss"
            self._note_rows(self.table[row] for row in self.recalled)

    def read_table(self) -> None:
        with self.record.step(4, otherwise="the search goes on without it") as step:
            waiting = self.table.embed_pending()
            step.read.update(rows=len(self.table), summaries=len(self.table.summaries), pending=waiting)

    def find(self) -> None:
        with self.record.step(6, otherwise="nothing is recalled: the answer is made from the other segments") as step:
            recall = self.ahead.result() if self.ahead else self._search()
            branch_a, branch_b = recall.branch_a, recall.branch_b
            self.recall, self.recalled = recall, self._live(recall.recalled)
            self.memory.fill_relevant(self.recalled)
            self._note_rows(self.memory.relevant)
            step.read.update(vectors=len(self.table), chunks=branch_a.read)
            step.wrote["relevant"] = list(self.recalled)
            step.calls += branch_a.reading.calls
            step.note = "; ".join(filter(None, [recall.reason, branch_a.error, branch_b.error]))

    def drop_recall(self) -> None:
        """A hit needs no recall: of the one that was started, what it asked is noted, and nothing else."""
        with self.record.step(6, otherwise=_NOT_NEEDED) as step:
            step.note = _NOT_NEEDED
            step.calls += self.ahead.result().branch_a.reading.calls

    def inject_summary(self) -> None:
        with self.record.step(5, otherwise="the answer is made without a summary") as step:
            while self.lab.config.summaries.when == "every_miss" and self.lab.summaries.due(self.table):
                step.calls += self.lab.summaries.update(self.table, at=self.at)
            number, cosine = self.lab.summaries.choose(self.query, self.table)
            self.memory.choose_summary(number)
            step.read["summaries"] = len(self.table.summaries)
            step.wrote.update(summary=number, cosine=cosine, personality=bool(self.memory.personality))

    def reply(self) -> None:
        with self.record.step(9) as step:
            self.answered_from = self.memory.views(self.language)
            step.read["tokens"] = sum(view.tokens for view in self.answered_from)
            if self.verdict and self.verdict.hit and self.verdict.answer:
                self.answer = self.verdict.answer
                self.record.tell("piece", self.answer)
                step.note = "the judge's own answer"
            else:
                self.answer = self._from_responder(step)
            step.wrote["answer"] = self.answer

    def _from_responder(self, step) -> str:
        said = self.models.responder.answer(self.query, self.memory)
        pieces = [said] if isinstance(said, str) else said
        answer = ""
        for piece in pieces:
            answer += piece
            self.record.tell("piece", piece)
        if call := getattr(said, "call", None):
            step.calls.append(call)
        return clean_text(answer, name="the answer")

    def write(self, waits: bool) -> None:
        """The finished dialogue becomes a row and touches are recorded, all in one journal line; a hit's touches wait."""
        with self.record.step(8) as step:
            rests_on = self._rows_of_answer()
            touched = self.recalled if waits else self._touched()
            touch = self.table.touched(touched, self.at, self.question, deferred=waits) if touched else None
            dialogue = Dialogue(self.question, self.answer, self.at) if self.remember else None
            self.kind = kind_of_turn(self.question, self.answer, rests_on) if self.remember else None
            cites = [row.index for row in rests_on] if self.kind == "asked" else []
            step.wrote["deferred"] = 0 if waits else len(self.table.waiting)
            self.row = self.table.close_turn(dialogue, touch, kind=self.kind or "told", cites=cites, write_waiting=not waits)
            if self.row is not None:
                self.table.embed_pending()
            step.wrote.update(touched=list(touched), row=self.row, waiting=sorted(self.table.waiting))

    def prefetch(self) -> None:
        with self.record.step(7, otherwise="the cache stays as it is") as step:
            context = PrefetchContext(self.query, self.recalled, self.table, self.at, row=self.row)
            selection = self.lab.prefetcher.select(context)
            if unknown := [row for row in selection.chosen if row not in self.table]:
                raise InputError(f"the prefetcher chose rows that the table does not hold: {unknown[:5]}")
            if selection.chosen or self.recalled:
                self.memory.fill_cache([row for row in selection.rows if row.chosen])
            self.selection = selection
            step.read.update(centre=selection.centre, window=len(selection.rows))
            step.wrote["cache"] = list(selection.chosen)
            step.note = selection.note
            self._note_rows(self.memory.cache)

    def summarise_when_due(self) -> None:
        if self.lab.config.summaries.when == "every_miss" or not self.lab.summaries.due(self.table):
            return
        with self.record.step(5, otherwise="tried again after the next answer") as step:
            step.calls += self.lab.summaries.update(self.table, at=self.at)
            step.note = "a group is full: summarised after the answer"
            step.wrote["summaries"] = len(self.table.summaries)

    def _search(self) -> Recall:
        return self.lab.retriever.retrieve(self.query, self.table, now=self.at)

    def _rows_of_answer(self) -> list[MemoryEntry]:
        return [self.table[row] for row in self.recalled if row in self.table]

    def _live(self, rows: Iterable[int]) -> tuple[int, ...]:
        """Return those of `rows` that the table holds, each once, in order."""
        return tuple(dict.fromkeys(int(row) for row in rows if row in self.table))

    def _touched(self) -> tuple[int, ...]:
        if self.lab.config.touch == "paper":
            return self._live(self.recalled)
        return used_rows(self.answer, self._rows_of_answer())

    def _note_rows(self, entries) -> None:
        for e in entries:
            if e.index not in self.rows:
                view = RowView(e.index, e.created, e.last_recall, e.recall_times, e.user, e.assistant, e.source, e.kind)
                self.rows[e.index] = view

    def _turn(self, hit: bool, begun: float, answered: float) -> Turn:
        if not self.failure:
            self.lab._count += 1
        turn = Turn(
            number=self.lab._count + bool(self.failure),
            question=self.question,
            at=self.at,
            hit=hit,
            answer=self.answer,
            recalled=self.recalled,
            steps=tuple(self.record.steps),
            seconds=answered - begun,
            seconds_after=time.perf_counter() - answered,
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
            token_budget=self.lab.config.short_term.token_budget,
            models=self.models.name,
            failure=self.failure,
        )
        self.record.tell("turn", turn)
        return turn


def _plain(verdict: Verdict) -> Verdict:
    """Return a verdict that JSON can hold, also from a judge that reckons with numpy."""
    score, threshold = (None if number is None else float(number) for number in (verdict.score, verdict.threshold))
    used = None if verdict.used is None else tuple(int(row) for row in verdict.used)
    answer, reason = clean_text(verdict.answer or ""), clean_text(verdict.reason or "")
    return replace(verdict, hit=bool(verdict.hit), answer=answer, used=used, reason=reason, score=score, threshold=threshold)
