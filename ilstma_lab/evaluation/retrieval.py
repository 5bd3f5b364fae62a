"""How often retrieval finds the dialogue that holds the answer: one outcome a question, and a report with bands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from ilstma_lab.config import Config
from ilstma_lab.errors import InputError, ModelError
from ilstma_lab.evaluation.baselines import Bm25
from ilstma_lab.evaluation.bootstrap import Band, bootstrap
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.protocols import Embedder
from ilstma_lab.retrieval.dual import DualRetriever
from ilstma_lab.retrieval.recall import Recall

if TYPE_CHECKING:
    import pandas as pd

METRICS = ("A@1", "B@1", "B@2", "B@5", "found", "rows", "MRR")
_TOP = 5

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one system found for one question; rows are named by their source.

    `kind` is the data set's kind of question; `finds` are the rows any of which counts as found; `rank` is the place of the
    first of them in branch B's ranking of all rows, from 1. `named` is branch A's row, `recalled` what the referee let through:
    None for a system without these. `error` says what failed in a branch.
    """

    topic: str
    id: str
    question: str
    kind: str
    finds: frozenset[str]
    rank: int
    top: tuple[str, ...]
    named: str | None = None
    recalled: tuple[str, ...] | None = None
    error: str = ""

    @property
    def values(self) -> tuple[float, ...]:
        """The values of `METRICS` for this question, nan for what the system does not have."""
        a, found, rows = np.nan, np.nan, np.nan
        if self.recalled is not None:
            a, found, rows = self.named in self.finds, not self.finds.isdisjoint(self.recalled), len(self.recalled)
        return (a, self.rank <= 1, self.rank <= 2, self.rank <= _TOP, found, rows, 1 / self.rank)


@dataclass(frozen=True)
class RetrievalReport:
    """The outcomes of one system on one data set. `left_out` counts the questions without gold: they have no row to find.

    A@1: branch A names a row that holds the answer. B@k: one is among branch B's best k. found: one is among the rows that
    the referee recalls. rows: how many those are. MRR: 1 / rank of the first in branch B, averaged.
    """

    system: str
    outcomes: tuple[Outcome, ...]
    left_out: int = 0

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def dual(self) -> bool:
        """Whether the system has branch A and a referee."""
        return any(outcome.recalled is not None for outcome in self.outcomes)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of question, in alphabetical order."""
        return tuple(sorted({outcome.kind for outcome in self.outcomes}))

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that the questions are about, in their order."""
        return tuple(dict.fromkeys(outcome.topic for outcome in self.outcomes))

    @property
    def lost_by_referee(self) -> int:
        """How many questions branch B has in its top two, and the referee's rows have not."""
        return sum(outcome.values[2] and not outcome.values[4] for outcome in self.outcomes)

    def of_kind(self, kind: str) -> RetrievalReport:
        """Return the report on the questions of one kind."""
        return replace(self, outcomes=tuple(o for o in self.outcomes if o.kind == kind), left_out=0)

    def values(self) -> np.ndarray:
        """Return `METRICS` for every question, shape (n_questions, 7)."""
        return np.array([outcome.values for outcome in self.outcomes], float).reshape(-1, len(METRICS))

    def bands(self, *, by: Literal["question", "topic"] = "question") -> dict[str, Band]:
        """Return the mean of each metric with its 95 % band, drawn by question or by whole topics."""
        return self._bands(self.values(), by)

    def difference(self, other: RetrievalReport, *, by: Literal["question", "topic"] = "question") -> dict[str, Band]:
        """Return the paired difference to `other` of each metric, with its band. Raises InputError if the questions differ."""
        if [(o.topic, o.id) for o in self.outcomes] != [(o.topic, o.id) for o in other.outcomes]:
            raise InputError(f"{self.system} and {other.system} were asked different questions: there are no pairs to compare")
        return self._bands(self.values() - other.values(), by)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a question, with every value of `METRICS` and what was found."""
        import pandas as pd

        rows = [
            {
                "system": self.system,
                "topic": o.topic,
                "id": o.id,
                "kind": o.kind,
                "question": o.question,
                "rank": o.rank,
                **dict(zip(METRICS, o.values, strict=True)),
                "finds": sorted(o.finds),
                "top": list(o.top),
                "named": o.named,
                "recalled": None if o.recalled is None else list(o.recalled),
                "error": o.error,
            }
            for o in self.outcomes
        ]
        return pd.DataFrame(rows).astype(dict.fromkeys(METRICS, float) if rows else {})

    def _bands(self, values: np.ndarray, by: str) -> dict[str, Band]:
        clusters = [outcome.topic for outcome in self.outcomes] if by == "topic" else None
        return dict(zip(METRICS, bootstrap(values, clusters=clusters), strict=True))


def evaluate_retrieval(
    topics: Sequence[Topic],
    config: Config,
    *,
    models: Models | None = None,
    system: str = "",
    progress: Progress | None = None,
) -> RetrievalReport:
    """Return what step 6 finds with `config` for each question of `topics` that has gold.

    Each question is asked of a fresh table, so no question is helped by one before. `progress(done, total)` counts rows and
    questions. Raises ModelError where a row cannot be embedded; a branch that fails is kept in the outcome's `error`.
    """
    models = models or offline()
    settings = replace(config.retrieval, dialogues=replace(config.retrieval.dialogues, keep=None))
    total = sum(len(topic.dialogues) + len(_with_gold(topic)) for topic in topics)
    done, outcomes = 0, []
    for topic in topics:
        before = done
        told = (lambda rows, _, before=before: progress(before + rows, total)) if progress else None
        table = _table(topic, models.embedder, told)
        retriever = DualRetriever(settings, reader=models.reader)
        done += len(table)
        for question in _with_gold(topic):
            recall = retriever.retrieve(question.question, table, now=question.asked_at)
            outcomes.append(_outcome(topic, question, recall, table))
            done += 1
            if progress:
                progress(done, total)
    return RetrievalReport(system, tuple(outcomes), _left_out(topics))


def evaluate_bm25(topics: Sequence[Topic], *, stemmed: bool = False, system: str = "") -> RetrievalReport:
    """Return what BM25 finds among the same rows; see `baselines.Bm25`."""
    outcomes = []
    for topic in topics:
        rows = sorted(topic.dialogues, key=lambda dialogue: dialogue.at)
        index = Bm25([row.text for row in rows], stemmed=stemmed)
        for question in _with_gold(topic):
            ranked = [rows[at].source for at in index.ranked(question.question)]
            outcomes.append(_ranked_outcome(topic, question, ranked))
    return RetrievalReport(system or ("BM25 stemmed" if stemmed else "BM25"), tuple(outcomes), _left_out(topics))


def embed_once(models: Models) -> Models:
    """Return `models` whose embedder keeps every vector, so that several configs on the same topics embed each text once."""
    return replace(models, embedder=_Remembering(models.embedder))


class _Remembering:
    def __init__(self, embedder: Embedder):
        self.name, self.dim = embedder.name, embedder.dim
        self._embedder = embedder
        self._known: dict[tuple[str, str], np.ndarray] = {}

    def embed(self, texts: Sequence[str], kind: Literal["row", "query"]) -> np.ndarray:
        fresh = [text for text in dict.fromkeys(texts) if (kind, text) not in self._known]
        if fresh:
            self._known.update(zip([(kind, text) for text in fresh], self._embedder.embed(fresh, kind), strict=True))
        return np.array([self._known[kind, text] for text in texts], np.float32).reshape(len(texts), self.dim)


def _with_gold(topic: Topic) -> list[RecallQuestion]:
    return [question for question in topic.questions if question.finds]


def _left_out(topics: Sequence[Topic]) -> int:
    return sum(len(topic.questions) - len(_with_gold(topic)) for topic in topics)


def _table(topic: Topic, embedder: Embedder, progress: Progress | None) -> MemoryTable:
    table = MemoryTable.from_dialogues(topic.dialogues, embedder=embedder, topic=topic.name, progress=progress)
    if table.pending_count:
        raise ModelError(f"{topic.name}: {table.pending_count} rows could not be embedded by {embedder.name}; try again")
    return table


def _outcome(topic: Topic, question: RecallQuestion, recall: Recall, table: MemoryTable) -> Outcome:
    ranked = [table[candidate.index].source for candidate in recall.branch_b.candidates]
    named = recall.branch_a.named
    return replace(
        _ranked_outcome(topic, question, ranked),
        named=None if named is None else table[named].source,
        recalled=tuple(table[index].source for index in recall.recalled),
        error="; ".join(filter(None, (recall.branch_a.error, recall.branch_b.error))),
    )


def _ranked_outcome(topic: Topic, question: RecallQuestion, ranked: Sequence[str]) -> Outcome:
    rank = next(place for place, source in enumerate(ranked, 1) if source in question.finds)
    return Outcome(topic.name, question.id, question.question, question.group, question.finds, rank, tuple(ranked[:_TOP]))
