"""A bundled conversation played: each question with what it recalled, and the same question without prefetch for the seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ilstma_lab.clock import ManualClock
from ilstma_lab.engine import ILSTMA
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import offline
from ilstma_lab.models.always_miss import AlwaysMiss
from ilstma_lab.trace import Turn

if TYPE_CHECKING:
    from ilstma_lab.config import Config
    from ilstma_lab.memory.table import Progress
    from ilstma_lab.protocols import Embedder

_AGAIN_AFTER = timedelta(minutes=5)


@dataclass(frozen=True)
class Played:
    """One question, its Turn, the rows any of which counts as found, and its seconds on the full way (None: not measured)."""

    question: RecallQuestion
    turn: Turn
    gold: tuple[int, ...]
    seconds_without: float | None = None

    @property
    def found(self) -> bool:
        """Whether a gold row, or one that also gives the answer, was recalled."""
        return not set(self.gold).isdisjoint(self.turn.recalled)

    @property
    def false_hit(self) -> bool:
        """Whether a hit rests on no gold row. Only general knowledge may answer without a row, and only a general question."""
        general = self.question.kind == "general" and not self.turn.recalled
        return self.turn.hit and not self.found and not general

    def to_dict(self) -> dict[str, Any]:
        """Return what happened as plain JSON values."""
        return {
            "id": self.question.id,
            "question": self.question.question,
            "kind": self.question.kind,
            "asked_at": self.turn.at.isoformat(),
            "hit": self.turn.hit,
            "false_hit": self.false_hit,
            "recalled": list(self.turn.recalled),
            "gold": list(self.gold),
            "gold_recalled": self.found if self.gold else None,
            "answer": self.turn.answer,
            "seconds": self.turn.seconds,
            "seconds_without_prefetch": self.seconds_without,
            "steps": [{"number": step.number, "name": step.name, "seconds": step.seconds} for step in self.turn.steps],
        }


class Demo:
    """A topic's table, ready to be asked: `lab.summarise()`, `play`, then `again`."""

    def __init__(
        self, topic: Topic, config: Config | None = None, *, embedder: Embedder | None = None, progress: Progress | None = None
    ):
        table = MemoryTable.from_dialogues(topic.dialogues, embedder=embedder, topic=topic.name, progress=progress)
        self.topic = topic
        self.lab = ILSTMA(table, config, clock=ManualClock.after(table))
        self._rows = {row.source: row.index for row in table}
        self._repeatable: tuple[RecallQuestion, ILSTMA] | None = None

    def play(self, questions: Sequence[RecallQuestion]) -> Iterator[Played]:
        """Yield each question as it was played, in order.

        Each is asked twice: of the lab, and of a fork made before the first question, whose judge never hits. Both have what
        they remember of sentences for themselves, so that neither profits from the other's work.
        """
        lab, table = self.lab, self.lab.table
        lab.retriever.prepare(table)  # no turn pays for branch A's chunks
        without = lab.fork(models=replace(offline(table.embedder), judge=AlwaysMiss()))
        for question in questions:
            turn = lab.ask(question.question, at=question.asked_at)
            seconds_without = without.ask(question.question, at=question.asked_at).seconds
            if turn.kind == "asked":
                self._repeatable = question, lab.fork()
            yield Played(question, turn, self._gold(question), seconds_without)

    def again(self) -> Played | None:
        """Return one played question asked again five minutes later on a fork, None where no question can be."""
        if self._repeatable is None:
            return None
        question, lab = self._repeatable
        turn = lab.ask(question.question, at=question.asked_at + _AGAIN_AFTER)
        return Played(question, turn, self._gold(question))

    def _gold(self, question: RecallQuestion) -> tuple[int, ...]:
        return tuple(row for source, row in self._rows.items() if source in question.finds)


def figures(played: Sequence[Played]) -> dict[str, Any]:
    """Return the closing figures as plain JSON values: hits, false hits, retrieval by kind of question, mean seconds.

    `played` holds one question at least. A kind whose questions have gold rows has an accuracy: the share for which any of them
    was recalled. The others have none, and `recalled_anyway` counts those for which rows were recalled all the same.
    """
    retrieval: dict[str, dict[str, Any]] = {}
    for kind in dict.fromkeys(p.question.kind for p in played):
        of_kind = [p for p in played if p.question.kind == kind]
        if with_gold := [p for p in of_kind if p.gold]:
            found = sum(p.found for p in with_gold)
            retrieval[kind] = {"n": len(with_gold), "found": found, "accuracy": found / len(with_gold)}
        else:
            retrieval[kind] = {"n": len(of_kind), "recalled_anyway": sum(bool(p.turn.recalled) for p in of_kind)}
    return {
        "questions": len(played),
        "hits": sum(p.turn.hit for p in played),
        "hit_rate": _mean([p.turn.hit for p in played]),
        "false_hits": sum(p.false_hit for p in played),
        "retrieval": retrieval,
        "mean_seconds_with_prefetch": _mean([p.turn.seconds for p in played]),
        "of_which_judging": _mean([p.turn.step(2).seconds for p in played]),
        "mean_seconds_without_prefetch": _mean([p.seconds_without for p in played]),
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
