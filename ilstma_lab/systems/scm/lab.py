"""SCM: collect, activate, control, answer, write (SCM, arXiv 2304.13343, after its public code)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from ilstma_lab.clock import Clock
from ilstma_lab.lab import Lab
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models
from ilstma_lab.retrieval.dialogues import DialogueSearch, DialogueSettings
from ilstma_lab.running import RunningTurn
from ilstma_lab.systems.scm import prompts
from ilstma_lab.systems.scm.activation import Activated, Activation
from ilstma_lab.systems.scm.controller import ExtractiveController, PromptedController
from ilstma_lab.systems.scm.settings import SCMSettings
from ilstma_lab.systems.scm.turn_summaries import ExtractiveTurnWriter, PromptedTurnWriter, TurnSummaries
from ilstma_lab.tokens import estimate_tokens

_LOOP = "no summary is left to use, where the public code goes round for ever: the least similar are left out, the rest is cut"


class SCM(Lab):
    """A memory stream: each turn with its vector and, where it is long, its summary.

    The turns nearest to the question and the last turn stand in the prompt, in the order of time. Where they are too long
    together, the controller asks of each whether it, or its summary, can answer.
    """

    system = "SCM"

    def __init__(
        self, table: MemoryTable, config: SCMSettings | None = None, *, models: Models | None = None, clock: Clock | None = None
    ):
        config = config or SCMSettings()
        super().__init__(table, config, limits=config.short_term, models=models, clock=clock)
        self.models = self.models.instructed(prompts.ANSWER)
        self.memory.by_time, self.memory.with_personality, self.memory.last_turn_stays = True, False, True
        chat = self.models.chat
        self.controller = ExtractiveController() if chat is None else PromptedController(chat)
        writer = ExtractiveTurnWriter() if chat is None else PromptedTurnWriter(chat)
        self.summaries = TurnSummaries(table, writer, over=config.summary_over)
        keep = None if config.recency else config.top + 1  # one more: the last turn is none of them
        self.search = DialogueSearch(DialogueSettings(winners=config.top + 1, keep=keep, echoes="as_rows"))

    def summarise(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Write the summaries of all long turns that have none, as after an import; return how many were made."""
        with self._lock:
            return self.summaries.write_all(at=self.clock.now(), progress=progress)

    def _running(self, question: str, at: datetime, **options: Any) -> RunningTurn:
        return _Turn(self, question, at, **options)


class _Turn(RunningTurn):
    """One turn of SCM. With no row yet it answers plainly, with one from that alone."""

    activation = Activation([], None)

    def reach_answer(self) -> None:
        self.read_table()
        self.activate()
        if self.activation.tokens > self.lab.config.control_over:
            self.control()
        self.fill()
        self.reply()

    def finish(self) -> None:
        self.write(())
        self.push()
        self.summarise_when_due()

    def read_table(self) -> None:
        with self.record.step(4, otherwise="the search goes on without it") as step:
            waiting = self.table.embed_pending()
            step.read.update(rows=len(self.table), pending=waiting)

    def activate(self) -> None:
        """Step 6: activation memory and flash memory."""
        with self.record.step(6, otherwise="nothing is recalled but the last turn") as step:
            summaries = self.lab.summaries.by_row()
            last, spent = self._last(), 0
            if last is None and self.memory.history:
                turn = self.memory.history[-1]
                spent = estimate_tokens(f"{turn.user}\n{turn.assistant}")
            flash = None
            if last is not None:
                self.memory.set_history(())
                flash = Activated(last, "\n".join(self.table.sides(last)), summaries.get(last))
                flash = flash.shortened() if flash.tokens > self.lab.config.flash_over else flash
            self.activation = Activation([], flash, spent=spent)
            ranked, error = self._ranked(leave_out=last)
            for row, cosine in ranked:
                self.activation.turns.append(Activated(row, "\n".join(self.table.sides(row)), summaries.get(row), cosine))
            step.read.update(vectors=len(self.table), summaries=len(summaries))
            step.wrote.update(activated=[row for row, _ in ranked], cosines=[cosine for _, cosine in ranked], last=last)
            step.note = error

    def control(self) -> None:
        """Step 11: only where activated turns and the last are too long together."""
        with self.record.step(11, otherwise="not all were judged: summaries are used until the rest fits") as step:
            activation, limit = self.activation, self.lab.config.control_over
            step.read.update(tokens=activation.tokens, limit=limit)

            def can(turn: Activated, summary: str) -> bool:
                verdict, calls = self.lab.controller.can(self.query, self.table[turn.row], summary)
                step.calls += calls
                return verdict

            try:
                activation.weigh(can)
            finally:
                activation.fit(limit)
                in_short = [turn.row for turn in activation.all if turn.in_short]
                step.wrote.update(dropped=activation.dropped, in_short=in_short, left_out=activation.left_out)
                step.wrote["tokens"] = activation.tokens
            if activation.left_out or activation.tokens > limit:
                step.note = _LOOP

    def fill(self) -> None:
        """Put what is left into short-term memory; the last turn counts as recalled, after the activated ones."""
        turns = self.activation.all
        self.memory.fill_relevant([turn.content for turn in turns])
        self.recalled = self.live(turn.row for turn in turns)
        self.note_rows(self.table[row] for row in self.recalled)

    def summarise_when_due(self) -> None:
        """Step 5: the newest long turn without a summary, one after each answer."""
        if not (due := self.lab.summaries.due()):
            return
        with self.record.step(5, otherwise="tried again after the next answer") as step:
            step.calls += self.lab.summaries.write(due[-1], at=self.at)
            step.note = "a long turn: summarised after the answer"
            step.wrote["row"] = due[-1]

    def _last(self) -> int | None:
        """Return the row of the last turn, None where it was not stored (it stands in the history then) or there is none."""
        if self.memory.history:
            return self.memory.history[-1].row
        return int(self.table.indices[-1]) if len(self.table) else None

    def _ranked(self, *, leave_out: int | None) -> tuple[list[tuple[int, float]], str]:
        """Return the `top` rows other than the last with their scores, best first, and what failed in the search."""
        config, newest = self.lab.config, len(self.table) - 1
        if len(self.table) <= (leave_out is not None):
            return [], ""
        found = self.lab.search.search(self.query, self.table)
        scores = {c.index: c.score for c in found.candidates if c.index != leave_out}
        if config.recency:
            ages = {row: newest - self.table.position(row) for row in scores}
            scores = {row: score + config.recency * config.decay ** ages[row] for row, score in scores.items()}
        best = sorted(scores, key=lambda row: (-scores[row], -row))[: config.top]
        return [(row, scores[row]) for row in best], found.error
