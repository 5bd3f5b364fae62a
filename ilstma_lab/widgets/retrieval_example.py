"""Cases to study: a bundled topic as the offline reader reads it, and beside it readings that no reader gave, written by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ilstma_lab.config import Config
from ilstma_lab.evaluation.cases import Case, cases_of
from ilstma_lab.evaluation.datasets import load_topic
from ilstma_lab.evaluation.referee import RefereeReport, evaluate_referee
from ilstma_lab.evaluation.retrieval import embed_once
from ilstma_lab.models import Models, offline
from ilstma_lab.protocols import Query
from ilstma_lab.retrieval.recall import Chunk, Reading

TOPIC = "poetry"
SCRIPT = {
    "poetry-05": Reading(-1, "-1", "counts from the end, as a program would"),
    "poetry-08": Reading(412, "412", "names a number that the table does not hold"),
    "poetry-16": Reading(None, "the dialogue about it", "names no number at all"),
}
"""What the stub says, by the question's id. The extractive reader invents no row: it quotes numbers that it was shown."""


class ScriptedReader:
    """A stub in the reader's place: it says what is written for a question, and reads nothing."""

    def __init__(self, said: Mapping[str, Reading]):
        self.said = said

    def read(self, query: Query, chunks: Sequence[Chunk]) -> Reading:
        """Return the reading that is written for the question."""
        return self.said[query.text]


def example_report(config: Config | None = None, *, models: Models | None = None) -> RefereeReport:
    """Return the cases of one topic, read offline, followed by the scripted ones, which no table counts."""
    config, models = config or Config(), embed_once(models or offline())
    report = evaluate_referee([load_topic(TOPIC)], config, models=models, data=TOPIC)
    return replace(report, cases=report.cases + scripted_cases(config, models=models))


def scripted_cases(config: Config | None = None, *, models: Models | None = None) -> tuple[Case, ...]:
    """Return the questions of `SCRIPT` as cases, with the readings that are written there; each is marked as scripted."""
    config, models = config or Config(), models or offline()
    topic = load_topic(TOPIC)
    questions = tuple(question for question in topic.questions if question.id in SCRIPT)
    reader = ScriptedReader({question.question: SCRIPT[question.id] for question in questions})
    cases = cases_of(replace(topic, questions=questions), config, models=replace(models, reader=reader))
    return tuple(replace(case, id=f"{case.id}, scripted", scripted=True) for case in cases)
