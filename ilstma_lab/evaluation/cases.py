"""One question put to both searches: what each found, what the referee ruled, and where the answer stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ilstma_lab.config import Config
from ilstma_lab.errors import ModelError
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models
from ilstma_lab.protocols import Query
from ilstma_lab.retrieval.dual import DualRetriever
from ilstma_lab.retrieval.recall import Decision, Recall
from ilstma_lab.summaries import Summaries

SMALL_READING = 3
"""Chunks a small model on two cores reads in seconds: what a recorded reading was shown."""

_LOOKED_AT = 8


@dataclass(frozen=True, slots=True)
class Case:
    """One question, and all that step 6 made of it. Rows are indices of the topic's table.

    `gold`: rows any of which holds the answer; () where none is known. `near`: rows of a gold row's day, or next to one in
    creation order, which count half. `rows`: what user and assistant said in the rows that are looked at. `scripted`: A's reading
    was written by hand, to study what no reader did here; such a case is shown and never counted.
    """

    topic: str
    id: str
    question: str
    recall: Recall
    gold: tuple[int, ...] = ()
    near: frozenset[int] = frozenset()
    rows: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    scripted: bool = False

    @property
    def decision(self) -> Decision:
        """What the referee saw: agree, disagree, invented, unread."""
        return self.recall.decision

    @property
    def named(self) -> int | None:
        """Branch A's row."""
        return self.recall.branch_a.named

    @property
    def winners(self) -> tuple[int, ...]:
        """Branch B's rows, best first."""
        return self.recall.branch_b.winners

    @property
    def found(self) -> bool:
        """Whether a gold row was recalled."""
        return self.holds(self.recall.recalled)

    @property
    def seen(self) -> bool:
        """Whether a gold row reaches into the chunks that A's reader saw: what it could have named."""
        branch_a = self.recall.branch_a
        return self.holds(row for chunk in branch_a.chunks[: branch_a.read] for row in chunk.rows)

    def holds(self, rows: Iterable[int]) -> bool:
        """Return whether a gold row is among `rows`."""
        return not set(self.gold).isdisjoint(rows)

    def grade(self, rows: Iterable[int]) -> float:
        """Return 1 where a gold row is among `rows`, .5 where only one of the right day or a neighbour is, else 0.

        Source: the scale {0, .5, 1} of ILSTMA, section 4.2. Paper note: the paper lets GPT-4 grade; here rows are compared.
        """
        rows = tuple(rows)
        return 1.0 if self.holds(rows) else 0.0 if self.near.isdisjoint(rows) else 0.5


def case_of(recall: Recall, table: MemoryTable, *, id: str = "", question: str = "", gold: Iterable[int] = ()) -> Case:
    """Return a recall over `table` as a case, with the texts of the rows that one looks at."""
    gold = tuple(dict.fromkeys(gold))
    looked_at = {*gold, *recall.recalled, *recall.branch_b.winners}
    looked_at |= {candidate.index for candidate in recall.branch_b.candidates[:_LOOKED_AT]}
    if recall.branch_a.named is not None:
        looked_at.add(recall.branch_a.named)
    rows = {row: table.sides(row) for row in sorted(looked_at) if row in table}
    return Case(table.topic, id, question or recall.question, recall, gold, _near(gold, table), rows)


def cases_of(topic: Topic, config: Config, *, models: Models, with_summary: bool = False) -> Iterator[Case]:
    """Yield each question of `topic` that has gold as a case, in order; no question becomes a row or touches one.

    The referee rules as the paper has it, whatever `config.retrieval.narrow` says. `with_summary`: both searches look for the
    question joined with the summary nearest to it (ILSTMA, section 4.3.3); the summaries are made first. Raises ModelError where
    a row cannot be embedded; a branch that fails is kept in the recall.
    """
    table = MemoryTable.from_dialogues(topic.dialogues, embedder=models.embedder, topic=topic.name)
    if table.pending_count:
        raise ModelError(f"{topic.name}: {table.pending_count} rows could not be embedded by {table.embedder.name}; try again")
    retriever = DualRetriever(replace(config.retrieval, narrow="agree"), reader=models.reader)
    summaries = _summarised(table, config, models) if with_summary else None
    rows = {entry.source: entry.index for entry in table}
    for asked in topic.questions:
        if asked.finds:
            recall = retriever.retrieve(_query(asked, table, summaries), table, now=asked.asked_at)
            gold = (rows[source] for source in asked.gold + asked.alt_gold)
            yield case_of(recall, table, id=asked.id, question=asked.question, gold=gold)


def _summarised(table: MemoryTable, config: Config, models: Models) -> Summaries:
    summaries = Summaries(config.summaries, summarizer=models.summarizer, merger=models.merger, profiler=models.profiler)
    summaries.update_all(table, at=table.last_created)
    return summaries


def _query(asked: RecallQuestion, table: MemoryTable, summaries: Summaries | None) -> Query:
    query = Query(asked.question, asked.asked_at, table.embedder)
    number = summaries.choose(query, table)[0] if summaries else None
    return query if number is None else Query(f"{query.text}\n{table.summary(number).text}", query.at, table.embedder)


def _near(gold: tuple[int, ...], table: MemoryTable) -> frozenset[int]:
    at = np.array([table.position(row) for row in gold], np.int64)
    beside = np.concatenate([at - 1, at + 1])
    same_day = np.flatnonzero(np.isin(table.days, table.days[at]))
    near = np.union1d(same_day, beside[(beside >= 0) & (beside < len(table))])
    return frozenset(table.indices[near].tolist()) - set(gold)
