"""Several memory systems asked the same questions: each on its own fork of a topic's table, question after question.

A topic's table is built once. Each system writes what it has to write of it (`Lab.summarise`), then every question is asked in
the set's order at its own time, and no question becomes a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.asking import Asking, Factory
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic
from ilstma_lab.evaluation.fingerprint import fingerprint
from ilstma_lab.evaluation.record_store import RecordStore
from ilstma_lab.evaluation.records import Record
from ilstma_lab.evaluation.tally import reported, tick
from ilstma_lab.models import Models, offline
from ilstma_lab.protocols import Grader

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Experiment:
    """What several systems answered to the questions of one data set.

    `records` are in the order of systems, topics, repeats, questions. `repeats` as asked for; `deterministic` tells that no
    language model took part, so that each system ran once all the same. `jobs`: how many processes ran at once. `notes`: what is
    to be known of how it ran. `made_of`: its fingerprint.
    """

    data: str
    topics: tuple[Topic, ...]
    systems: tuple[str, ...]
    records: tuple[Record, ...]
    graders: tuple[str, ...]
    repeats: int = 1
    deterministic: bool = True
    models: str = ""
    jobs: int = 1
    notes: tuple[str, ...] = ()
    made_of: Mapping[str, Any] = field(default_factory=dict)

    @property
    def questions(self) -> tuple[tuple[str, RecallQuestion], ...]:
        """Each question with its topic's name, in order."""
        return tuple((topic.name, question) for topic in self.topics for question in topic.questions)

    @property
    def rows(self) -> int:
        """How many rows the tables held."""
        return sum(len(topic.dialogues) for topic in self.topics)

    def __repr__(self) -> str:
        counts = f"{len(self.systems)} systems, {len(self.questions)} questions, {len(self.records)} records"
        return f"Experiment({self.data!r}: {counts})"

    def of(self, system: str) -> tuple[Record, ...]:
        """Return the records of one system."""
        return tuple(record for record in self.records if record.system == system)


def run_systems(
    topics: Sequence[Topic],
    systems: Mapping[str, Factory],
    *,
    graders: Sequence[Grader],
    models: Models | None = None,
    repeats: int = 1,
    data: str = "",
    store: str | Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
) -> Experiment:
    """Return every system's answers to every question of `topics`, graded.

    `models`: parts for all systems; None is offline parts, fresh for each system and topic. Without a language model behind them
    a system is deterministic, and runs once whatever `repeats` says. Each repeat is a fresh fork of what the system had prepared.
    With `store` each record is kept in that file, and a run that was stopped goes on: what had come to its end of (system, topic,
    repeat) is not asked again, the rest of them from its first question. `jobs` processes take a topic each, where the parts are
    offline; then `progress` is called from a thread. `say` is told at the start what the file had. A system that fails is
    recorded, graded 0, and stops no other. Raises InputError for a bad call or a file of another experiment, ModelError where
    the rows cannot be embedded.
    """
    topics = tuple(topics)
    _check(topics, systems, graders, models, repeats, jobs)
    deterministic = models is None or models.chat is None
    asking = Asking(dict(systems), tuple(graders), models, 1 if deterministic else repeats)
    made_of = fingerprint(topics, systems, graders, models or offline())
    kept = RecordStore(store, made_of, questions={topic.name: len(topic.questions) for topic in topics}) if store else None
    records = [record for record in kept.records if record.repeat < asking.repeats] if kept else []
    notes = kept.notes() if kept else ()
    for note in notes if say else ():
        say(note)
    total = len(systems) * asking.repeats * sum(len(topic.questions) for topic in topics)
    tell = (lambda done: progress(done, total)) if progress else (lambda done: None)
    tell(len(records))
    apart = jobs != 1 and len(topics) > 1
    known = {record.unit for record in records}
    for record in _apart(asking, topics, known, jobs, tell, len(records)) if apart else _here(asking, topics, known):
        records.append(record)
        if kept:
            kept.add(record)
        if not apart or len(records) == total:
            tell(len(records))
    return Experiment(
        data=data,
        topics=topics,
        systems=tuple(systems),
        records=_in_order(records, systems, topics),
        graders=tuple(grader.name for grader in graders),
        repeats=repeats,
        deterministic=deterministic,
        models=(models or offline()).name,
        jobs=jobs,
        notes=notes,
        made_of=made_of,
    )


def first_questions(topics: Sequence[Topic], count: int) -> list[Topic]:
    """Return `topics` with the first `count` questions of each."""
    return [replace(topic, questions=topic.questions[:count]) for topic in topics]


def _here(asking: Asking, topics: Sequence[Topic], known: set[tuple]) -> Iterator[Record]:
    """Yield the records that are not known, as they come."""
    for topic in topics:
        yield from asking.records(topic, known=known)


def _apart(
    asking: Asking, topics: Sequence[Topic], known: set[tuple], jobs: int, tell: Callable[[int], None], done: int
) -> Iterator[Record]:
    """Yield the records that are not known, a topic at a time from other processes; `tell` how many answers they came to."""
    from joblib import Parallel, delayed

    with reported(lambda count: tell(done + count)) as file:
        work = (delayed(_topic)(asking, topic, known, file) for topic in topics)
        for records in Parallel(n_jobs=jobs, return_as="generator_unordered")(work):
            yield from records


def _topic(asking: Asking, topic: Topic, known: set[tuple], file: Path) -> list[Record]:
    records = []
    for record in asking.records(topic, known=known):
        records.append(record)
        tick(file)
    return records


def _in_order(records: Sequence[Record], systems: Mapping[str, Factory], topics: Sequence[Topic]) -> tuple[Record, ...]:
    by_system = {name: at for at, name in enumerate(systems)}
    by_topic = {topic.name: at for at, topic in enumerate(topics)}
    asked = [(topic.name, question.id) for topic in topics for question in topic.questions]
    by_question = {key: at for at, key in enumerate(asked)}

    def place(record: Record) -> tuple[int, ...]:
        question = by_question[record.topic, record.id]
        return by_system[record.system], by_topic[record.topic], record.repeat, question

    return tuple(sorted(records, key=place))


def _check(
    topics: Sequence[Topic],
    systems: Mapping[str, Factory],
    graders: Sequence[Grader],
    models: Models | None,
    repeats: int,
    jobs: int,
) -> None:
    if not systems or not graders or not any(topic.questions for topic in topics):
        raise InputError("an experiment needs at least one system, one grader and one question")
    if repeats < 1 or (jobs < 1 and jobs != -1):
        raise InputError(f"need repeats >= 1, and jobs >= 1 or -1 for one a core (got {repeats}, {jobs})")
    if jobs != 1 and models is not None:
        raise InputError("several processes make their own offline parts: with models of yours leave jobs at 1")
    names = [topic.name for topic in topics]
    if len(set(names)) < len(names):
        raise InputError(f"topics need names of their own (got {', '.join(names)})")
    for topic in topics:
        if len({question.id for question in topic.questions}) < len(topic.questions):
            raise InputError(f"{topic.name}: two questions have one id")
