"""MemoryBank's three qualitative studies (section 4.1), for any system: answers to be read, not scores.

With and without memory; recall, with something that was never discussed; one question to two personalities. The questions are our
own, about the bundled topics; yours go in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.asking import Factory, prepared, table_of
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic, load_topic
from ilstma_lab.lab import Lab
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.trace import Turn

if TYPE_CHECKING:
    from ilstma_lab.reprs.markup import Html

SUNDAY = "I have a free Sunday and no plan. What would you suggest that I do with it?"
"""The question that is asked of two personalities."""
_RECALLED, _NEVER = 3, 1


@dataclass(frozen=True, slots=True)
class Said:
    """One answer: by whom, the rows it was made from with their dates, the portrait that stood in the prompt, what failed."""

    who: str
    answer: str
    rows: tuple[str, ...] = ()
    portrait: str = ""
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One question with the answers to it; `remark` says what to look for."""

    question: str
    answers: tuple[Said, ...]
    remark: str = ""


@dataclass(frozen=True)
class Study:
    """One study: `look` tells what the reader is to compare."""

    title: str
    look: str
    cases: tuple[Case, ...]

    def __str__(self) -> str:
        from ilstma_lab.reprs.studies import study_text

        return study_text(self)

    def _repr_html_(self) -> Html:
        from ilstma_lab.reprs.studies import study_html

        return study_html(self)


def with_and_without_memory(
    make: Factory,
    topic: Topic | str = "love",
    questions: Sequence[RecallQuestion] | None = None,
    *,
    without: Factory | None = None,
    models: Models | None = None,
) -> Study:
    """Return the answers of one system with its memory and without: `without`'s, or its own over an empty table."""
    topic, models = _topic(topic), models or offline()
    asked = _chosen(topic, questions)
    table = table_of(topic, models.embedder)
    knows = prepared(make, table, models)
    empty = MemoryTable(embedder=models.embedder, topic=topic.name)
    blank = prepared(without, table, models) if without else prepared(make, empty, models)
    cases = [Case(q.question, (_said("with memory", knows, q), _said("without memory", blank, q)), _label(q)) for q in asked]
    return Study("With and without memory", f"{knows.system} on {topic.name}: what does memory add?", tuple(cases))


def recall_study(
    make: Factory,
    topic: Topic | str = "love",
    questions: Sequence[RecallQuestion] | None = None,
    *,
    models: Models | None = None,
) -> Study:
    """Return a system's answers to what was said, and to something that was never discussed."""
    topic, models = _topic(topic), models or offline()
    lab = prepared(make, table_of(topic, models.embedder), models)
    cases = [Case(q.question, (_said(lab.system, lab, q),), _label(q)) for q in _chosen(topic, questions)]
    look = f"{lab.system} on {topic.name}: are the facts right, and does it say so where nothing was ever said?"
    return Study("Recall, and something never discussed", look, tuple(cases))


def two_personalities(
    make: Factory,
    topics: tuple[Topic | str, Topic | str] = ("love", "poetry"),
    question: str = SUNDAY,
    *,
    models: Models | None = None,
) -> Study:
    """Return what a system answers to one question that two people ask, each with a memory of their own."""
    models = models or offline()
    people = [_topic(topic) for topic in topics]
    if len(people) != 2:
        raise InputError(f"two personalities are needed (got {len(people)})")
    answers = []
    for topic in people:
        lab = prepared(make, table_of(topic, models.embedder), models)
        turn = lab.ask(question, at=lab.clock.now(), remember=False)
        answers.append(_of_turn(topic.name, lab, turn, portrait=True))
    look = "Does the answer suit whom it is given to? The portrait that stood in the prompt is beside it."
    return Study("One question to two personalities", look, (Case(question, tuple(answers)),))


def _topic(topic: Topic | str) -> Topic:
    return load_topic(topic) if isinstance(topic, str) else topic


def _chosen(topic: Topic, questions: Sequence[RecallQuestion] | None) -> list[RecallQuestion]:
    """Return `questions`, or the topic's first three about what was said and the first about what was not."""
    if questions is not None:
        return list(questions)
    of_kind = {kind: [q for q in topic.questions if q.kind == kind] for kind in ("recall", "never_said")}
    return of_kind["recall"][:_RECALLED] + of_kind["never_said"][:_NEVER]


def _label(question: RecallQuestion) -> str:
    head = "Never said" if question.kind == "never_said" else "Label"
    return f"{head}: {question.label}" if question.label else ""


def _said(who: str, lab: Lab, question: RecallQuestion) -> Said:
    return _of_turn(who, lab, lab.ask(question.question, at=question.asked_at, remember=False))


def _of_turn(who: str, lab: Lab, turn: Turn, *, portrait: bool = False) -> Said:
    rows = [lab.table[row] for row in turn.recalled if row in lab.table]
    shown = tuple(f"{row.created:%Y-%m-%d}: {row.user}" for row in rows)
    text = lab.memory.personality if portrait else ""
    return Said(who, turn.answer, shown, text, turn.failure.message if turn.failure else "")
