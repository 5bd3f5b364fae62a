"""One topic's questions asked of a real model with and without prefetch, and what each turn cost (ILSTMA, section 4.3.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ilstma_lab.clock import ManualClock
from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band, bootstrap
from ilstma_lab.evaluation.datasets import RecallQuestion, load_topic
from ilstma_lab.evaluation.grade_text import holds
from ilstma_lab.evaluation.prefix_cache import CacheEffect, Speeds, calls_of, fit_speeds, with_prefix_cache
from ilstma_lab.evaluation.timing import TimeModel, call_seconds, model_seconds, time_model
from ilstma_lab.memory.segments import SegmentLimits
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.models.always_miss import AlwaysMiss
from ilstma_lab.recorder import Event
from ilstma_lab.trace import Turn

NO_PREFIX_CACHE = {"cache_prompt": False}
"""What tells a llama.cpp server to read each prompt afresh: with its cache a repeated prompt of seconds takes milliseconds."""

SMALL = replace(Config.measured(), short_term=SegmentLimits(token_budget=600, history_turns=2))
"""Prompts that a small model on two cores reads in seconds."""

BRIEF = replace(
    Config.measured(),
    short_term=SegmentLimits(token_budget=400, history_turns=2),
    retrieval=replace(Config.measured().retrieval, read_chunks=2),
)
"""Shorter prompts still, for a conversation."""


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


# -- what it comes to --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HitAnswer:
    """A hit's answer and the label's facts that it does not hold, word for word; without facts only a reader can judge it."""

    question: RecallQuestion
    answer: str
    missing: tuple[str, ...]


@dataclass(frozen=True)
class RecordedReport:
    """What `n` questions of a recording come to. Seconds are the model's, until the answer stood.

    `difference`: with prefetch less without, paired by question; bands are drawn by question. `judge_hit_seconds` and
    `judge_miss_seconds`: the judgement where it said yes, which writes the answer too, and where it said no. `parts`: the means
    J, F and A. `tokens`: prompt and reply tokens a question with and without prefetch. `false_hits` lack a fact of the label,
    `unchecked` hits have a label without facts. `facts_held`: answers that hold all facts, with and without prefetch, of the
    `with_facts` questions whose label has some. `cached`: the same turns behind an endpoint that remembers every prefix.
    """

    model: str
    n: int
    hits: int
    judged: int
    with_prefetch: Band
    without: Band
    difference: Band
    judge_hit_seconds: float
    judge_miss_seconds: float
    parts: TimeModel
    tokens: tuple[float, float]
    speeds: Speeds
    cached: CacheEffect
    false_hits: tuple[HitAnswer, ...]
    unchecked: tuple[HitAnswer, ...]
    facts_held: tuple[int, int]
    with_facts: int
    failed: int

    @property
    def hit_rate(self) -> float:
        """Hits by all questions, the first too, which is not judged."""
        return self.hits / self.n

    def __str__(self) -> str:
        from ilstma_lab.reprs.recorded import recorded_text

        return recorded_text(self)

    def _repr_html_(self) -> str:
        from ilstma_lab.reprs.recorded import recorded_html

        return recorded_html(self)


def recorded_chat(
    topic: str, models: Models, *, turns: int = 10, config: Config = BRIEF, on_event: Callable[[Event], None] | None = None
) -> Iterator[Turn]:
    """Yield the turns of a chat: the topic's first questions in their order, each answer streamed and stored as a row."""
    data = load_topic(topic)
    table = MemoryTable.from_dialogues(data.dialogues, embedder=models.embedder, topic=topic)
    clock = ManualClock.after(table)
    ILSTMA(table, config, models=offline(models.embedder), clock=clock).summarise()
    lab = ILSTMA(table, config, models=models, clock=clock)
    for question in data.questions[:turns]:
        yield lab.ask(question.question, at=question.asked_at, on_event=on_event)


def recorded_report(asked: Iterable[AskedTwice]) -> RecordedReport:
    """Return what a recording comes to. Raises InputError where nothing was asked, or no judgement was made."""
    asked = tuple(asked)
    if not asked:
        raise InputError("nothing was asked: give what ask_both yields")
    prefetched, full = [one.prefetched for one in asked], [one.full for one in asked]
    seconds = np.array([one.seconds for one in asked])  # (n_questions, 2)
    with_prefetch, without, difference = bootstrap(np.column_stack([seconds, seconds[:, 0] - seconds[:, 1]]))
    parts = time_model(prefetched, full)
    speeds = fit_speeds(list({(call.model, call.messages): call for call in calls_of(prefetched + full)}.values()))
    hits = [_hit_answer(one) for one in asked if one.prefetched.hit]
    return RecordedReport(
        model=prefetched[0].models,
        n=len(asked),
        hits=len(hits),
        judged=sum(bool(turn.calls.get(2)) for turn in prefetched),
        with_prefetch=with_prefetch,
        without=without,
        difference=difference,
        judge_hit_seconds=_mean(call_seconds(turn, 2) for turn in prefetched if turn.hit),
        judge_miss_seconds=_mean(call_seconds(turn, 2) for turn in prefetched if not turn.hit and turn.calls.get(2)),
        parts=parts,
        tokens=(_mean(sum(turn.tokens.values()) for turn in prefetched), _mean(sum(turn.tokens.values()) for turn in full)),
        speeds=speeds,
        cached=with_prefix_cache(prefetched, full, speeds=speeds),
        false_hits=tuple(hit for hit in hits if hit.missing),
        unchecked=tuple(hit for hit in hits if not hit.question.facts),
        facts_held=(_facts_held(asked, prefetched), _facts_held(asked, full)),
        with_facts=sum(bool(one.question.facts) for one in asked),
        failed=sum(bool(turn.failure) for turn in prefetched + full),
    )


def missing_facts(answer: str, facts: Iterable[str]) -> tuple[str, ...]:
    """Return the facts that do not stand in `answer`, compared without regard to case, spacing and width.

    >>> missing_facts("150  Micrograms, morning and evening.", ["150 micrograms", "nineteen"])
    ('nineteen',)
    """
    return tuple(fact for fact in facts if not holds(answer, fact))


def _hit_answer(one: AskedTwice) -> HitAnswer:
    return HitAnswer(one.question, one.prefetched.answer, missing_facts(one.prefetched.answer, one.question.facts))


def _facts_held(asked: Iterable[AskedTwice], turns: Iterable[Turn]) -> int:
    facts = [one.question.facts for one in asked]
    return sum(bool(wanted) and not missing_facts(turn.answer, wanted) for wanted, turn in zip(facts, turns, strict=True))


def _mean(values: Iterable[float]) -> float:
    values = list(values)
    return float(np.mean(values)) if values else float("nan")
