"""The first line of a lesson: look whether everything is there, and load a conversation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from ilstma_lab import doctor
from ilstma_lab.clock import ManualClock
from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic, load_topic
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models
from ilstma_lab.reprs.words import count, day


@dataclass(frozen=True)
class Lesson:
    """A conversation in a table, ready to be asked. Nothing that a lab does changes it: each `new_lab` begins afresh."""

    topic: Topic
    _beginning: ILSTMA

    def new_lab(self, config: Config | None = None, *, models: Models | None = None) -> ILSTMA:
        """Return a lab over a copy of the table, its short-term memory empty and its clock one day after the last dialogue."""
        return self._beginning.fork(config, models=models)

    def question(self, name: str) -> RecallQuestion:
        """Return one of the topic's questions, such as "travel-08". Raises KeyError for an unknown one."""
        return {question.id: question for question in self.topic.questions}[name]

    def __str__(self) -> str:
        table = self._beginning.table
        first, last = day(self.topic.dialogues[0].at), day(self.topic.dialogues[-1].at)
        summaries, models = count(len(table.summaries), "summary", "summaries"), self._beginning.models.name
        return f"Ready: {self.topic.name}, {count(len(table), 'dialogue')} from {first} to {last}, {summaries}; models: {models}."

    __repr__ = __str__


def start(topic: str = "travel", *, config: Config | None = None, summarise: bool = True) -> Lesson:
    """Return a lesson over a bundled topic, and print one line when all is well, else what is wrong with its cure.

    `config`: the labs' own, where `new_lab` is given none (default: `Config.measured()`). `summarise=False` leaves the
    summaries and the personality out, which saves most of the time. Warnings become one line each from here on.
    """
    warnings.formatwarning = _one_line
    for trouble in troubles():
        print(f"{trouble.name} {trouble.detail}\n    -> {trouble.cure}")
    loaded = load_topic(topic)
    table = MemoryTable.from_dialogues(loaded.dialogues, topic=loaded.name)
    lab = ILSTMA(table, config or Config.measured(), clock=ManualClock.after(table))
    if summarise:
        lab.summarise()
    lab.retriever.retrieve(loaded.questions[0].question, table, now=lab.clock.now())  # builds the chunks once, for all labs
    lesson = Lesson(loaded, lab)
    print(lesson)
    return lesson


def troubles() -> Iterator[doctor.Finding]:
    """Yield what ails this installation as far as a lesson needs it: Python, packages, files, widgets. Quick, and offline."""
    for findings in ([doctor.check_python()], doctor.check_packages(), [doctor.check_files()], doctor.check_widgets()):
        yield from (finding for finding in findings if finding.state != "ok")


def _one_line(message: Warning | str, category: type[Warning], *_: object, **__: object) -> str:
    return f"{category.__name__}: {message}\n"
