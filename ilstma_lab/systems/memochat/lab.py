"""MemoChat on the kit's table: write the memo when much is recent, pick from it, reply (Lu et al. 2023)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from ilstma_lab.clock import Clock
from ilstma_lab.lab import Lab
from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.segments import HistoryTurn, Note
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.models.extractive_answer import nearest_first
from ilstma_lab.protocols import Query
from ilstma_lab.recorder import StepNotes
from ilstma_lab.retrieval.top import top_k
from ilstma_lab.running import RunningTurn
from ilstma_lab.systems.memochat import prompts
from ilstma_lab.systems.memochat.memo import Memo, summary_of, topic_of
from ilstma_lab.systems.memochat.pickers import ExtractivePicker, Picker, PromptedPicker, within
from ilstma_lab.systems.memochat.settings import MemoChatSettings
from ilstma_lab.systems.memochat.writers import ExtractiveMemoWriter, PromptedMemoWriter


class MemoChat(Lab):
    """A memo of topics and the recent dialogues; a model divides, picks and replies, and nothing is embedded for it.

    Recent are the rows of the table that stand in no memo, so a turn that is not remembered is not recent either. Asked rows are
    filed like any others. Offline, dialogues are divided and topics picked by similarity and shared words, and the reply quotes
    the nearest rows.

    Source: Lu et al. 2023, arXiv 2308.08239.
    """

    system = "MemoChat"

    def __init__(
        self,
        table: MemoryTable,
        config: MemoChatSettings | None = None,
        *,
        models: Models | None = None,
        clock: Clock | None = None,
    ):
        config = config or MemoChatSettings()
        models = (models or offline(table.embedder)).instructed(prompts.ANSWER).quoting_nearest()
        super().__init__(table, config, limits=config.short_term, models=models, clock=clock)
        offline_writer = ExtractiveMemoWriter(similarity=config.similarity)
        self.memo = Memo(table, config, PromptedMemoWriter(models.chat) if models.chat else offline_writer)
        self.memory.with_personality = False
        self.show_recent()

    def summarise(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Write the memo of the whole table in order, as turn by turn, and return how many memos were made.

        `progress(done, total)` in rows. Where the model's ranges cannot be read and nothing waits behind them, rows stay recent.
        """
        with self._lock:
            self.table.embed_pending()
            made, done, total = 0, 0, len(self.memo.recent)
            while (batch := self.memo.due()).rows:
                written = self.memo.write(batch)
                if not written.rows:
                    break
                made, done = made + written.made, done + written.rows
                if progress:
                    progress(done, total)
            self.show_recent()
            return made

    def show_recent(self) -> None:
        """Put the recent dialogues into the history."""
        rows = self.memo.recent[-self.config.short_term.history_turns :] if self.config.short_term.history_turns else []
        self.memory.set_history([HistoryTurn(*self.table.sides(row), self.table[row].created, row) for row in rows])

    def _running(self, question: str, at: datetime, **options: Any) -> RunningTurn:
        return _MemoChatTurn(self, question, at, **options)


class _MemoChatTurn(RunningTurn):
    """One turn: the memo is written before the answer, as in the paper."""

    lab: MemoChat

    def reach_answer(self) -> None:
        self.write_memo()
        self.lab.show_recent()
        self.pick()
        self.reply()

    def finish(self) -> None:
        self.write(())
        self.lab.show_recent()

    def write_memo(self) -> None:
        batch = self.lab.memo.due()
        if not batch.rows:
            return
        with self.record.step(13, otherwise="the dialogues stay recent") as step:
            step.read["rows"] = list(batch.rows)
            written = self.lab.memo.write(batch)
            step.calls += written.calls
            step.note = written.note
            step.wrote.update(memos=written.made, rows=written.rows)

    def pick(self) -> None:
        with self.record.step(12, otherwise="the reply is made from the recent dialogues alone") as step:
            self.table.embed_pending()
            options = self.lab.memo.options
            step.read["memos"] = len(options)
            if not options:
                step.note = "the memo is empty: all is recent"
                return
            if self.lab.config.find == "joined":
                memos, self.recalled = self.joined(options)
                self.memory.fill_relevant([*(Note(memo.number) for memo in memos), *self.recalled])
            else:
                memos = self.picked(options, step)
                self.recalled = self.nearest(self.live(row for memo in memos for row in memo.rows))
                self.memory.fill_relevant([item for memo in memos for item in (Note(memo.number), *self.live(memo.rows))])
            self.note_rows(self.memory.relevant)
            step.wrote.update(topics=[topic_of(memo) for memo in memos], relevant=list(self.recalled))

    def picked(self, options: Sequence[Summary], step: StepNotes) -> list[Summary]:
        """Return the memos that were picked from the list of options, best first."""
        texts = [f"{topic_of(memo)}. {summary_of(memo)}" for memo in options]
        offered = within(self.question, texts, self.lab.config.option_tokens)
        shown = [options[at] for at in offered]
        places, calls = self.picker(shown).pick(self.query, [texts[at] for at in offered])
        step.calls += calls
        step.read["offered"] = len(offered)
        step.note = "the pick could not be read: none is taken" if places is None else ""
        return [shown[place] for place in places or ()]

    def picker(self, shown: Sequence[Summary]) -> Picker:
        if self.models.chat:
            return PromptedPicker(self.models.chat)
        return ExtractivePicker(self.lab.memo.vectors(shown), picks=self.lab.config.picks)

    def nearest(self, rows: Sequence[int]) -> tuple[int, ...]:
        """Return the rows of the picked memos nearest first, where an order is known: a model picks memos, and ranks no rows."""
        if self.models.chat:
            return tuple(rows)
        return tuple(row.index for row in nearest_first(self.query, [self.table[row] for row in rows]))

    def joined(self, options: Sequence[Summary]) -> tuple[list[Summary], tuple[int, ...]]:
        """Return the nearest memo, and the dialogues most similar to its summary and the question together."""
        nearest = options[top_k(self.lab.memo.vectors(options) @ self.query.vector, 1)[0]]
        query = Query(f"{summary_of(nearest)}\n{self.question}", self.at, self.table.embedder)
        score = np.where(np.isin(self.table.indices, self.lab.memo.recent), -np.inf, self.table.vectors @ query.vector)
        best = [at for at in top_k(score, self.lab.config.rows) if score[at] > -np.inf]
        return [nearest], self.live(self.table.indices[best])
