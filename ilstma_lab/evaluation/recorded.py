"""One topic's questions asked of a real model with and without prefetch, and what each turn cost (ILSTMA, section 4.3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from ilstma_lab.clock import ManualClock
from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.evaluation.datasets import RecallQuestion, load_topic
from ilstma_lab.memory.segments import SegmentLimits
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.models.always_miss import AlwaysMiss
from ilstma_lab.trace import Turn

NO_PREFIX_CACHE = {"cache_prompt": False}
"""What tells a llama.cpp server to read each prompt afresh: with its cache a repeated prompt of seconds takes milliseconds."""

SMALL = replace(Config.measured(), short_term=SegmentLimits(token_budget=600, history_turns=2))
"""Prompts that a small model on two cores reads in seconds."""

BEFORE_ANSWER = (2, 6, 9)


@dataclass(frozen=True)
class AskedTwice:
    """One question and its two turns."""

    question: RecallQuestion
    prefetched: Turn
    full: Turn

    @cached_property
    def seconds(self) -> tuple[float, float]:
        """The model's seconds until the answer stood, with and without prefetch."""
        return model_seconds(self.prefetched), model_seconds(self.full)

    def __str__(self) -> str:
        with_prefetch, without = self.seconds
        verdict = "hit " if self.prefetched.hit else "miss"
        failed = [turn.failure.message for turn in (self.prefetched, self.full) if turn.failure]
        return f"{self.question.id} {verdict} {with_prefetch:5.1f} s, without prefetch {without:5.1f} s {'; '.join(failed)}"


def ask_both(topic: str, models: Models, *, config: Config = SMALL) -> Iterator[AskedTwice]:
    """Yield the topic's questions in their order as both labs answered them; no question becomes a row.

    Summaries and personality are made offline before the first question, so that both labs spend their time on answers alone.
    """
    data = load_topic(topic)
    table = MemoryTable.from_dialogues(data.dialogues, embedder=models.embedder, topic=topic)
    clock = ManualClock.after(table)
    ILSTMA(table, config, models=offline(models.embedder), clock=clock).summarise()
    prefetched = ILSTMA(table, config, models=models, clock=clock)
    full = ILSTMA(table.fork(), config, models=replace(models, judge=AlwaysMiss()), clock=clock)
    for question in data.questions:
        turns = [lab.ask(question.question, at=question.asked_at, remember=False) for lab in (prefetched, full)]
        yield AskedTwice(question, *turns)


def model_seconds(turn: Turn) -> float:
    """Return the seconds of the turn's calls until its answer stood: judgement, reading, answer."""
    return sum(call.seconds for step in BEFORE_ANSWER for call in turn.calls.get(step, ()))
