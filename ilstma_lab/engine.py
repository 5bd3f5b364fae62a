"""ILSTMA: one question through nine steps (ILSTMA, section 3.1 and Figure 1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from numbers import Integral
from typing import Any

from ilstma_lab.clock import Clock, ManualClock
from ilstma_lab.config import Config
from ilstma_lab.errors import InputError
from ilstma_lab.lab import Lab
from ilstma_lab.memory.echo import used_rows
from ilstma_lab.memory.entry import clean_text
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models
from ilstma_lab.models.returned import calls_of, needed
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.protocols import PrefetchContext, Prefetcher, Retriever
from ilstma_lab.retrieval.dual import DualRetriever
from ilstma_lab.retrieval.recall import Recall
from ilstma_lab.running import RunningTurn
from ilstma_lab.summaries import Summaries
from ilstma_lab.trace import Verdict

_NOT_NEEDED = "started with the judge, not needed: the judge answered"


class ILSTMA(Lab):
    """Long- and short-term memory around a language model: ask it, and look at every step of the Turn that comes back.

    Parts that are not given are offline ones. `clock` tells when a question is asked that brings no time of its own.
    """

    system = "ILSTMA"

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
        config = config or Config()
        super().__init__(table, config, limits=config.short_term, models=models, clock=clock)
        self.retriever = retriever or DualRetriever(self._retrieval_settings(), reader=self.models.reader)
        self.prefetcher = prefetcher or config.prefetch
        self.summaries = Summaries(
            config.summaries, summarizer=self.models.summarizer, merger=self.models.merger, profiler=self.models.profiler
        )
        self._given = {"retriever": retriever, "prefetcher": prefetcher}

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
            if isinstance(self.retriever, DualRetriever) and not self._given["retriever"]:
                other.retriever.take_index(self.retriever)
            return self._handed_over(other)

    def _running(self, question: str, at: datetime, **options: Any) -> RunningTurn:
        return _NineSteps(self, question, at, **options)

    def _retrieval_settings(self):
        settings = self.config.retrieval
        if self.config.trace == "full":
            settings = replace(settings, dialogues=replace(settings.dialogues, keep=None))
        return settings


class _NineSteps(RunningTurn):
    """One turn of ILSTMA. The methods are the nine steps, numbered as in the paper; `reach_answer` and `finish` are their order.

    Steps 1, 8 and 9 are those of every system (`RunningTurn`).
    """

    ahead: Future[Recall] | None = None

    def reach_answer(self) -> None:
        with self.recall_ahead():
            self.judge()
            if self.hit:
                self.keep()
            else:
                self.memory.clear_for_miss()
                if self.ahead is None:
                    self.read_table()
                self.find()
                self.inject_summary()
            self.reply()

    def finish(self) -> None:
        """After the answer: write and prefetch in their order (a hit leaves the cache), history, a summary that is due."""
        waits = self.hit and getattr(self.lab.prefetcher, "trigger", self.lab.config.prefetch.trigger) == "miss"
        if self.lab.config.write == "after" and not waits:
            self.prefetch()
        self.write(self.recalled if waits else self.touched(), waits=waits)
        if self.lab.config.write == "before" and not waits:
            self.prefetch()
        self.push()
        self.summarise_when_due()

    @contextmanager
    def recall_ahead(self) -> Iterator[None]:
        """With `overlap`, the table is read and searched while the judge thinks; the search has ended when this has."""
        if not self.lab.config.overlap or self.lab._count == 0:
            yield
            return
        self.read_table()
        with ThreadPoolExecutor(1) as pool:
            self.ahead = pool.submit(self._search)
            try:
                yield
            finally:
                if self.hit:
                    self.drop_recall()

    def judge(self) -> None:
        with self.record.step(2, otherwise="the judge failed, which counts as a miss") as step:
            if self.lab._count == 0:
                step.note = "the first turn skips the judge: nothing has been prefetched"
                return
            step.read["cache"] = [row.index for row in self.memory.cache]
            verdict = _plain(needed("judge", self.models.judge.judge(self.query, self.memory), Verdict))
            step.calls += verdict.calls
            step.note = verdict.reason
            self.verdict, self.hit = verdict, verdict.hit

    def keep(self) -> None:
        with self.record.step(3, otherwise="no row is touched") as step:
            used = self.verdict.used
            self.recalled = self.live([row.index for row in self.memory.cache] if used is None else used)
            step.wrote["waiting"] = list(self.recalled)
            step.note = "all segments but the history stay; touches wait for the next miss"
            self.note_rows(self.table[row] for row in self.recalled)

    def read_table(self) -> None:
        with self.record.step(4, otherwise="the search goes on without it") as step:
            waiting = self.table.embed_pending()
            step.read.update(rows=len(self.table), summaries=len(self.table.summaries), pending=waiting)

    def find(self) -> None:
        with self.record.step(6, otherwise="nothing is recalled: the answer is made from the other segments") as step:
            recall = self.ahead.result() if self.ahead else self._search()
            branch_a, branch_b = recall.branch_a, recall.branch_b
            self.recall, self.recalled = recall, self.live(recall.recalled)
            self.memory.fill_relevant(self.recalled)
            self.note_rows(self.memory.relevant)
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

    def prefetch(self) -> None:
        with self.record.step(7, otherwise="the cache stays as it is") as step:
            context = PrefetchContext(self.query, self.recalled, self.table, self.at, row=self.row)
            selection = needed("prefetcher", self.lab.prefetcher.select(context), Selection)
            if unknown := [row for row in selection.chosen if row not in self.table]:
                raise InputError(f"the prefetcher chose rows that the table does not hold: {unknown[:5]}")
            if selection.chosen or self.recalled:
                self.memory.fill_cache([row for row in selection.rows if row.chosen])
            self.selection = selection
            step.read.update(centre=selection.centre, window=len(selection.rows))
            step.wrote["cache"] = list(selection.chosen)
            step.note = selection.note
            self.note_rows(self.memory.cache)

    def summarise_when_due(self) -> None:
        if self.lab.config.summaries.when == "every_miss" or not self.lab.summaries.due(self.table):
            return
        with self.record.step(5, otherwise="tried again after the next answer") as step:
            step.calls += self.lab.summaries.update(self.table, at=self.at)
            step.note = "a group is full: summarised after the answer"
            step.wrote["summaries"] = len(self.table.summaries)

    def _search(self) -> Recall:
        recall = needed("retriever", self.lab.retriever.retrieve(self.query, self.table, now=self.at), Recall)
        return self.note_recall(_plain_recall(recall))

    def touched(self) -> tuple[int, ...]:
        """Return the rows that count as recalled by this turn."""
        if self.lab.config.touch == "paper":
            return self.live(self.recalled)
        return used_rows(self.answer, self.rows_of_answer())


def _plain(verdict: Verdict) -> Verdict:
    """Return a verdict that JSON can hold, also from a judge that reckons with numpy."""
    score, threshold = (None if number is None else float(number) for number in (verdict.score, verdict.threshold))
    used = None if verdict.used is None else tuple(int(row) for row in verdict.used)
    answer, reason = clean_text(verdict.answer or ""), clean_text(verdict.reason or "")
    plain = {"used": used, "score": score, "threshold": threshold, "calls": calls_of("judge", verdict.calls)}
    return replace(verdict, hit=bool(verdict.hit), answer=answer, reason=reason, **plain)


def _plain_recall(recall: Recall) -> Recall:
    """Return a recall that JSON can hold, also of a reader that reckons with numpy or names what is no index."""
    branch, reading = recall.branch_a, recall.branch_a.reading
    index, said = _index(reading.index), reading.raw or ("" if reading.index is None else str(reading.index))
    plain = {"raw": clean_text(said), "reason": clean_text(reading.reason or ""), "calls": calls_of("reader", reading.calls)}
    scores = {int(row): float(score) for row, score in reading.scores.items()}
    reading = replace(reading, index=index, scores=scores, **plain)
    branch = replace(branch, reading=reading, named=_index(branch.named))
    return replace(recall, recalled=tuple(int(row) for row in recall.recalled), branch_a=branch)


def _index(named: Any) -> int | None:
    return int(named) if isinstance(named, Integral) else None
