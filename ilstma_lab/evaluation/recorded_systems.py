"""One topic's questions answered by several systems with the same real model and the same token budget, from a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ilstma_lab.clock import ManualClock
from ilstma_lab.engine import ILSTMA
from ilstma_lab.evaluation.bootstrap import Band, bootstrap
from ilstma_lab.evaluation.datasets import RecallQuestion, load_topic
from ilstma_lab.evaluation.grading import Facts
from ilstma_lab.evaluation.recorded import SMALL
from ilstma_lab.evaluation.timing import model_seconds
from ilstma_lab.lab import Lab
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.systems.memorybank import MemoryBank, MemoryBankSettings
from ilstma_lab.systems.yardsticks import PlainBm25, PlainBm25Settings
from ilstma_lab.trace import Turn

Made = Callable[..., Lab]

SAME_BUDGET: Mapping[str, Made] = {
    "ILSTMA": lambda table, **parts: ILSTMA(table, SMALL, **parts),
    "MemoryBank": lambda table, **parts: MemoryBank(table, MemoryBankSettings(short_term=SMALL.short_term), **parts),
    "BM25": lambda table, **parts: PlainBm25(table, PlainBm25Settings(short_term=SMALL.short_term), **parts),
}
"""Systems whose prompts hold at most 600 tokens of memory, which a small model on two cores reads in seconds."""


@dataclass(frozen=True, slots=True)
class RecordedSystem:
    """What one system's answers to `n` questions come to.

    `strict` and `lenient` grade the answers by the facts of their labels; `difference` is the strict grade less ILSTMA's, paired
    by question. `hits` is None for a system that judges none. `seconds` a question are the model's, until the answer stood.
    """

    system: str
    n: int
    strict: Band
    lenient: Band
    hits: int | None
    seconds: Band
    difference: Band


def ask_each(topic: str, models: Models, systems: Mapping[str, Made] = SAME_BUDGET) -> Iterator[tuple[str, RecallQuestion, Turn]]:
    """Yield each system's name, question and turn, system by system; no question becomes a row.

    What a system writes of rows is written offline before the first question, so that the model spends its time on answers alone.
    """
    data = load_topic(topic)
    rows = MemoryTable.from_dialogues(data.dialogues, embedder=models.embedder, topic=topic)
    for name, made in systems.items():
        table = rows.fork()
        clock = ManualClock.after(table)
        made(table, models=offline(models.embedder), clock=clock).summarise()
        lab = made(table, models=models, clock=clock)
        for question in data.questions:
            yield name, question, lab.ask(question.question, at=question.asked_at, remember=False)


def recorded_systems(topic: str, models: Models) -> tuple[RecordedSystem, ...]:
    """Return what a recording of `ask_each` comes to, ILSTMA first."""
    asked: dict[str, list[tuple[RecallQuestion, Turn]]] = {}
    for name, question, turn in ask_each(topic, models):
        asked.setdefault(name, []).append((question, turn))
    values = {name: _values(turns) for name, turns in asked.items()}
    found = []
    for name, turns in asked.items():
        columns = np.column_stack([values[name], values[name][:, 0] - values["ILSTMA"][:, 0]])  # (n_questions, 4)
        strict, lenient, seconds, difference = bootstrap(columns)
        hits = sum(turn.hit for _, turn in turns) if any(turn.step(2) for _, turn in turns) else None
        found.append(RecordedSystem(name, len(turns), strict, lenient, hits, seconds, difference))
    return tuple(found)


def _values(turns: list[tuple[RecallQuestion, Turn]]) -> np.ndarray:
    """Return strict grade, lenient grade and seconds of each turn, shape (n_questions, 3)."""
    graders = Facts("strict"), Facts("lenient")
    return np.array([[*(g.grade(q, turn.answer).accuracy for g in graders), model_seconds(turn)] for q, turn in turns], float)
