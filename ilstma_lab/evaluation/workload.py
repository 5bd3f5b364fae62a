"""A workload: the questions asked of one conversation in their order, and the rows that hold each answer.

In the field's words a question with gold rows is a demand access, a row is a block; see `Workload`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

import numpy as np

from ilstma_lab.config import Config
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import Topic, load_dataset
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.protocols import Query
from ilstma_lab.replay import Session
from ilstma_lab.retrieval.dual import DualRetriever
from ilstma_lab.trace import Turn


@dataclass(frozen=True, slots=True)
class Access:
    """One question. `gold`: rows any of which answers it; empty for one that no row answers, which is no demand.

    `recalled`: the rows that step 6 brings when it misses, best first. `kind` is the data set's kind of question.
    """

    id: str
    question: str
    at: datetime
    gold: tuple[int, ...]
    recalled: tuple[int, ...]
    kind: str = ""

    @property
    def demand(self) -> bool:
        """Whether some row answers this question."""
        return bool(self.gold)


@dataclass(frozen=True)
class Workload:
    """The table as it was before the first question, and the accesses in order; `order` says where that order comes from."""

    name: str
    table: MemoryTable
    accesses: tuple[Access, ...]
    order: str = "as the data set lists them"

    def __len__(self) -> int:
        """How many questions have gold."""
        return sum(access.demand for access in self.accesses)

    @cached_property
    def queries(self) -> tuple[Query, ...]:
        """The questions with their vectors, embedded once."""
        return tuple(Query(access.question, access.at, self.table.embedder) for access in self.accesses)

    @cached_property
    def tokens(self) -> dict[int, int]:
        """The tokens of each row's text, estimated."""
        from ilstma_lab.tokens import estimate_tokens

        return {int(row): estimate_tokens(self.table.text(at)) for at, row in enumerate(self.table.indices)}

    @property
    def demands(self) -> tuple[Access, ...]:
        """The questions that have gold."""
        return tuple(access for access in self.accesses if access.demand)

    @property
    def golds(self) -> tuple[tuple[int, ...], ...]:
        """The gold rows of every question, () where no row answers it: what an oracle is given as its future."""
        return tuple(access.gold for access in self.accesses)

    @property
    def gold_positions(self) -> tuple[tuple[int, ...], ...]:
        """`golds` as positions in creation order, in which the bounds count distances."""
        return tuple(tuple(map(self.table.position, gold)) for gold in self.golds)

    @cached_property
    def data_hash(self) -> str:
        """What identifies rows, questions, gold, recall and order: 16 hexadecimal digits of a SHA-256."""
        digest = hashlib.sha256()
        for at in range(len(self.table)):
            digest.update(f"{self.table.text(at)}\0{self.table.created[at]}\0".encode("utf-8", "surrogatepass"))
        for access in self.accesses:
            digest.update(repr((access.question, access.at.isoformat(), access.gold, access.recalled)).encode())
        return digest.hexdigest()[:16]


def workload_of(topic: Topic, *, models: Models | None = None) -> Workload:
    """Return a topic's questions with perfect recall: a miss brings the first gold row. Questions without gold recall nothing."""
    models = models or offline()
    table = MemoryTable.from_dialogues(topic.dialogues, embedder=models.embedder, topic=topic.name)
    rows = {entry.source: entry.index for entry in table}
    accesses = []
    for question in topic.questions:
        gold = tuple(dict.fromkeys(rows[source] for source in question.gold + question.alt_gold))
        accesses.append(
            Access(question.id, question.question, question.asked_at, gold, gold[:1], question.group or question.kind)
        )
    return Workload(topic.name, table, tuple(accesses))


def load_workloads(name: str, data_dir: str | os.PathLike[str] | None = None, *, models: Models | None = None) -> list[Workload]:
    """Return the workloads of a data set, one a topic, in its order and with perfect recall; `name` as for `load_dataset`."""
    models = models or offline()
    return [workload_of(topic, models=models) for topic in load_dataset(name, data_dir=data_dir)]


def workload_of_session(
    session: Session | Sequence[Turn], table: MemoryTable | None = None, *, name: str = "your chat"
) -> Workload:
    """Return the questions of a chat; gold is what each answer rested on (`turn.recalled`), a proxy that nobody has checked.

    Turns without their session need `table`, as it was before the first of them. Rows that the chat itself added are not in it:
    a question that rests on them alone is no demand. Failed turns are left out. Raises InputError where there is no table.
    """
    turns = session.turns if isinstance(session, Session) else session
    table = session.start.table if isinstance(session, Session) else table
    if table is None:
        raise InputError("turns do not hold the rows they recalled: give the table as it was before the first of them")
    accesses = []
    for turn in turns:
        if not turn.failure:
            rows = tuple(row for row in turn.recalled if row in table)
            accesses.append(Access(f"turn {turn.number}", turn.question, turn.at, rows, rows, "hit" if turn.hit else "miss"))
    order = "as you asked them; what answers each is taken to be what its answer rested on, a proxy"
    return Workload(name, table.fork(), tuple(accesses), order=order)


def with_retrieval(workload: Workload, config: Config | None = None, *, models: Models | None = None) -> Workload:
    """Return the workload with what step 6 really recalls in the place of perfect recall, for every question."""
    settings = (config or Config.measured()).retrieval
    retriever = DualRetriever(settings, reader=(models or offline(workload.table.embedder)).reader)
    found = [retriever.retrieve(query, workload.table, now=query.at).recalled for query in workload.queries]
    accesses = tuple(replace(access, recalled=rows) for access, rows in zip(workload.accesses, found, strict=True))
    return replace(workload, accesses=accesses)


def gold_steps(workload: Workload) -> np.ndarray:
    """Return for each demand after the first how many rows its first gold lies after that of the demand before, int64."""
    first = np.array([workload.table.position(access.gold[0]) for access in workload.demands], np.int64)
    return np.diff(first)


def demand_rows(workloads: Sequence[Workload]) -> list[list[tuple[int, ...]]]:
    """Return the gold rows of each demand, one list a workload."""
    return [[access.gold for access in workload.demands] for workload in workloads]
