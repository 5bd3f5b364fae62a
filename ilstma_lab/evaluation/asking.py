"""One topic asked of several systems: each prepares on a fork of the table, then answers question after question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ilstma_lab.clock import ManualClock
from ilstma_lab.errors import InputError, ModelError
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic
from ilstma_lab.evaluation.records import Record, graded, rank_of, ranked_sources, shown_rows, sources
from ilstma_lab.evaluation.rehearsed import Rehearsed
from ilstma_lab.evaluation.retrieved import retrieve_accuracy
from ilstma_lab.lab import Lab
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.protocols import Embedder, Grader
from ilstma_lab.recorder import describe
from ilstma_lab.trace import Turn

Factory = Callable[..., Lab]
"""What makes a system's labs: called as `factory(table, models=..., clock=...)`."""

TRIED_ROWS = 12
"""How many rows a system is tried on before it is measured."""


@dataclass(frozen=True)
class Asking:
    """How systems are asked: with which parts (None: offline ones, fresh for each system and topic), graders and repeats."""

    systems: Mapping[str, Factory]
    graders: tuple[Grader, ...]
    models: Models | None = None
    repeats: int = 1

    def records(self, topic: Topic, *, known: Collection[tuple[str, str, int]] = ()) -> Iterator[Record]:
        """Yield the topic's records, system by system; the units in `known` are not asked again."""
        embedder = Rehearsed((self.models or offline()).embedder)
        table = None
        for system, factory in self.systems.items():
            repeats = [number for number in range(self.repeats) if (system, topic.name, number) not in known]
            if repeats:
                table = table or table_of(topic, embedder)
                yield from self._system(system, factory, topic, table, embedder, repeats)

    def _system(
        self, system: str, factory: Factory, topic: Topic, table: MemoryTable, embedder: Rehearsed, repeats: Sequence[int]
    ) -> Iterator[Record]:
        try:
            prepared = self._lab(factory, table, embedder).table if len(repeats) > 1 else table
        except Exception as error:
            for number in repeats:
                yield from self._failed(system, number, topic, topic.questions, describe(error), retrieves=_retrieves(factory))
            return
        for number in repeats:
            yield from self._unit(system, number, factory, topic, prepared, embedder)

    def _unit(
        self, system: str, repeat: int, factory: Factory, topic: Topic, table: MemoryTable, embedder: Rehearsed
    ) -> Iterator[Record]:
        try:
            lab = self._lab(factory, table, embedder)
        except Exception as error:
            yield from self._failed(system, repeat, topic, topic.questions, describe(error), retrieves=_retrieves(factory))
            return
        for question in topic.questions:
            try:
                with embedder.on_stage():
                    turn = lab.ask(question.question, at=question.asked_at, remember=False)
            except Exception as error:
                yield from self._failed(system, repeat, topic, [question], describe(error), retrieves=lab.retrieves)
            else:
                yield self._record(system, repeat, topic, question, turn, lab)

    def _lab(self, factory: Factory, table: MemoryTable, embedder: Embedder) -> Lab:
        return prepared(factory, table, offline(embedder) if self.models is None else replace(self.models, embedder=embedder))

    def _record(self, system: str, repeat: int, topic: Topic, question: RecallQuestion, turn: Turn, lab: Lab) -> Record:
        if turn.failure:
            failure = f"{turn.failure.kind}: {turn.failure.message}"
            return next(self._failed(system, repeat, topic, [question], failure, retrieves=lab.retrieves))
        recalled = sources(shown_rows(turn), lab.table) if lab.retrieves else None
        written_of = sources(turn.recalled, lab.table)
        branch = turn.recall.branch_a if turn.recall else None
        named = sources([branch.named], lab.table) if branch and branch.named is not None else ()
        found = lab.retrieves and question.finds
        calls = [call for step in turn.calls.values() for call in step]
        return Record(
            system=system,
            topic=topic.name,
            repeat=repeat,
            id=question.id,
            kind=question.kind,
            answer=turn.answer,
            recalled=recalled,
            named=named[0] if named else None,
            a_alone=retrieve_accuracy(question, named, dialogues=topic.dialogues)
            if branch and branch.read and _reads(lab)
            else None,
            rank=rank_of(question, ranked_sources(turn, lab.table)) if found else None,
            hit=turn.hit if turn.step(2) else None,
            retrieve=retrieve_accuracy(question, recalled, written_of=written_of, dialogues=topic.dialogues) if found else None,
            seconds=turn.seconds,
            seconds_after=turn.seconds_after,
            prompt_tokens=sum(call.prompt_tokens for call in calls),
            reply_tokens=sum(call.reply_tokens for call in calls),
            trouble="; ".join(f"{step.name}: {step.error}" for step in turn.steps if step.error),
            grades=graded(question, turn.answer, self.graders, failure=""),
        )

    def _failed(
        self,
        system: str,
        repeat: int,
        topic: Topic,
        questions: Sequence[RecallQuestion],
        failure: str,
        *,
        retrieves: bool,
    ) -> Iterator[Record]:
        """Yield records without an answer: graded 0, and nothing recalled."""
        for question in questions:
            found = retrieves and question.finds
            yield Record(
                system=system,
                topic=topic.name,
                repeat=repeat,
                id=question.id,
                kind=question.kind,
                recalled=() if retrieves else None,
                rank=0 if found else None,
                retrieve=0.0 if found else None,
                failure=failure,
                grades=graded(question, "", self.graders, failure=failure),
            )


def prepared(factory: Factory, table: MemoryTable, models: Models) -> Lab:
    """Return a lab over a fork of `table` that has written all that is due, a day after the table's last dialogue."""
    own = table.fork()
    lab = factory(own, models=models, clock=ManualClock.after(own))
    lab.summarise()
    if prepare := getattr(getattr(lab, "retriever", None), "prepare", None):
        prepare(lab.table)
    return lab


def try_out(systems: Mapping[str, Factory], topics: Sequence[Topic], models: Models) -> None:
    """Ask each system the first question, over a few rows, so that one that cannot work is told of before a whole run.

    Raises InputError that names the system and says what went wrong.
    """
    topic = next((topic for topic in topics if topic.questions), None)
    if topic is None:
        return
    table, question = table_of(replace(topic, dialogues=topic.dialogues[:TRIED_ROWS]), models.embedder), topic.questions[0]
    for system, factory in systems.items():
        try:
            turn = prepared(factory, table, models).ask(question.question, at=question.asked_at, remember=False)
            failure = turn.failure.message if turn.failure else ""
        except Exception as error:
            failure = describe(error)
        if failure:
            raise InputError(f"{system} fails at the first question: {failure}")


def _reads(lab: Lab) -> bool:
    """Tell whether branch A's reader can name a row at all."""
    return getattr(getattr(getattr(lab, "retriever", None), "reader", None), "reads", True)


def _retrieves(factory: Factory) -> bool:
    return getattr(factory, "retrieves", True)


def table_of(topic: Topic, embedder: Embedder) -> MemoryTable:
    """Return the topic's table. Raises ModelError where a row cannot be embedded."""
    table = MemoryTable.from_dialogues(topic.dialogues, embedder=embedder, topic=topic.name)
    if table.pending_count:
        raise ModelError(f"{topic.name}: {table.pending_count} rows could not be embedded by {embedder.name}; try again")
    return table
