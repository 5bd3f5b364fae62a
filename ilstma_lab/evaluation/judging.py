"""The hit judge on questions whose gold is known: cases as the engine makes them, ROC, confusion, bands, a threshold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

import numpy as np

from ilstma_lab.config import Config
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic
from ilstma_lab.memory.segments import ShortTermMemory
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import offline
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.protocols import Embedder, HitJudge, PrefetchContext, Query
from ilstma_lab.retrieval.dual import DualRetriever

if TYPE_CHECKING:
    import pandas as pd

    from ilstma_lab.evaluation.workload import Access

Origin = Literal["natural", "gold", "hard", "replayed"]


@dataclass(frozen=True)
class JudgeCase:
    """One question and the cached rows that the judge sees with it, best first.

    `origin`: "natural", the cache that an earlier question of the topic left; "gold", the window around the question's own gold
    row; "hard", that window with every gold row taken out and the next rows in their place; "replayed", the cache that a policy
    had when the question came.
    """

    topic: str
    question: RecallQuestion | Access
    origin: Origin
    query: Query
    table: MemoryTable
    cached: Selection
    gold: frozenset[int]

    @property
    def answerable(self) -> bool:
        """Whether a gold row lies in the cache."""
        return not self.gold.isdisjoint(self.cached.chosen)

    def memory(self) -> ShortTermMemory:
        """Return short-term memory that holds this cache and no history."""
        memory = ShortTermMemory(self.table)
        memory.fill_cache([row for row in self.cached.rows if row.chosen])
        return memory


def judge_cases(topics: Sequence[Topic], *, config: Config | None = None, embedder: Embedder | None = None) -> list[JudgeCase]:
    """Return the cases of all questions: the cache after each earlier question (a miss), the gold window, the hard window.

    Rows are found and prefetched as `config` says (default: `Config.measured()`), from a table that holds the dialogues alone.
    """
    return [case for topic in topics for case in _cases_of(topic, config or Config.measured(), embedder)]


def _cases_of(topic: Topic, config: Config, embedder: Embedder | None) -> Iterator[JudgeCase]:
    table = MemoryTable.from_dialogues(topic.dialogues, embedder=embedder, topic=topic.name)
    retriever = DualRetriever(config.retrieval, reader=offline(table.embedder).reader)
    index_of = {entry.source: entry.index for entry in table}
    left: list[Selection] = []
    for question in topic.questions:
        query = Query(question.question, question.asked_at, table.embedder)
        gold = frozenset(index_of[source] for source in question.finds)
        for earlier in left:
            yield JudgeCase(topic.name, question, "natural", query, table, earlier, gold)
        if gold:
            around = _prefetched((index_of[(question.gold + question.alt_gold)[0]],), query, table, config.prefetch)
            others = [row.index for row in around.rows if row.index not in gold]
            yield JudgeCase(topic.name, question, "gold", query, table, around, gold)
            yield JudgeCase(topic.name, question, "hard", query, table, Selection.of(others[: config.prefetch.k]), gold)
        left.append(_prefetched(retriever.retrieve(query, table, now=query.at).recalled, query, table, config.prefetch))


def _prefetched(recalled: Sequence[int], query: Query, table: MemoryTable, prefetch: WindowPrefetch) -> Selection:
    """Return what lies in the cache after a miss: the recalled rows are touched first, as in the engine."""
    touched = table.fork()
    touched.touch(recalled, query.at, query.text)
    return prefetch.select(PrefetchContext(query, tuple(recalled), touched, query.at))


@dataclass(frozen=True)
class Judged:
    """What a judge said of cases, a column each, shape (n_cases,). `right`: a hit whose used rows include a gold row."""

    topic: np.ndarray
    question: np.ndarray
    kind: np.ndarray
    origin: np.ndarray
    answerable: np.ndarray
    score: np.ndarray
    hit: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.topic)

    def where(self, chosen: np.ndarray) -> Judged:
        """Return the cases that `chosen` (n_cases,) marks."""
        return Judged(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})

    @classmethod
    def concatenated(cls, parts: Sequence[Judged]) -> Judged:
        """Return the cases of all `parts`, in order."""
        return cls(**{field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(cls)})

    @property
    def weight(self) -> np.ndarray:
        """So much that each question counts once among the answerable cases and once among the others, in however many caches."""
        place = np.unique(np.stack([self.topic, self.question, self.answerable.astype(str)]), axis=1, return_inverse=True)[
            1
        ].ravel()
        return 1.0 / np.bincount(place)[place] if len(self) else np.zeros(0)

    def to_frame(self) -> pd.DataFrame:
        """Return the columns as a pandas table."""
        import pandas as pd

        return pd.DataFrame({field.name: getattr(self, field.name) for field in fields(self)})


def judged(cases: Sequence[JudgeCase], judge: HitJudge) -> Judged:
    """Return what `judge` says of each case; a judge without scores gets 1 for a hit and 0 for a miss."""
    columns: dict[str, list] = {field.name: [] for field in fields(Judged)}
    for case in cases:
        verdict = judge.judge(case.query, case.memory())
        score = float(verdict.hit) if verdict.threshold is None else -np.inf if verdict.score is None else verdict.score
        right = verdict.hit and not case.gold.isdisjoint(verdict.used or ())
        row = (case.topic, case.question.id, case.question.kind, case.origin, case.answerable, score, verdict.hit, right)
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return Judged(**{name: np.array(values) for name, values in columns.items()})


@dataclass(frozen=True)
class Roc:
    """Each threshold, highest first, with the rates that judging `score >= threshold` a hit has; all of shape (n,)."""

    threshold: np.ndarray
    false_hit_rate: np.ndarray
    hit_rate: np.ndarray

    @property
    def area(self) -> float:
        """The area under the curve: 0.5 for a coin, 1 for a judge that is never wrong."""
        return float(np.trapezoid(np.r_[0.0, self.hit_rate], np.r_[0.0, self.false_hit_rate]))


def roc(table: Judged) -> Roc:
    """Return the ROC curve over the thresholds that make a difference. Raises InputError where one side has no case."""
    if table.answerable.all() or not table.answerable.any():
        raise InputError("a ROC curve needs answerable cases and others")
    down = np.argsort(-table.score, kind="stable")
    score, weight, answerable = table.score[down], table.weight[down], table.answerable[down]
    last = np.r_[score[1:] != score[:-1], True]  # of equal scores
    hits, false = np.cumsum(weight * answerable), np.cumsum(weight * ~answerable)
    return Roc(score[last], (false / false[-1])[last], (hits / hits[-1])[last])


@dataclass(frozen=True)
class Confusion:
    """How many questions went where; a question in several caches is shared out among the four."""

    hits: float
    false_misses: float
    false_hits: float
    right_misses: float

    @property
    def accuracy(self) -> float:
        """Share of verdicts that are right."""
        return (self.hits + self.right_misses) / (self.hits + self.false_misses + self.false_hits + self.right_misses)

    @property
    def false_hit_rate(self) -> float:
        """Share of hits where no cached row holds the answer."""
        return self.false_hits / ((self.false_hits + self.right_misses) or 1.0)

    @property
    def false_miss_rate(self) -> float:
        """Share of misses where a cached row holds the answer."""
        return self.false_misses / ((self.hits + self.false_misses) or 1.0)


def confusion(table: Judged) -> Confusion:
    """Return the confusion table of the verdicts."""
    weight, answerable, hit = table.weight, table.answerable, table.hit
    shares = [(answerable & hit), (answerable & ~hit), (~answerable & hit), (~answerable & ~hit)]
    return Confusion(*(float(weight[share].sum()) for share in shares))


def bands(
    table: Judged, *, by: Literal["question", "topic"] = "question", repeats: int = 2000, seed: int = 0
) -> dict[str, tuple[float, float]]:
    """Return 95 % bands of accuracy, false_hit_rate and false_miss_rate: whole questions, or whole topics, drawn anew."""
    names = table.topic if by == "topic" else np.char.add(np.char.add(table.topic, "/"), table.question)
    unit = np.unique(names, return_inverse=True)[1]
    answerable, wrong, weight = table.answerable, table.hit != table.answerable, table.weight
    drawn = np.random.default_rng(seed).integers(unit.max() + 1, size=(repeats, unit.max() + 1))  # (repeats, n_units)
    found = {}
    for name, among, counted in (
        ("accuracy", np.ones(len(table), bool), ~wrong),
        ("false_hit_rate", ~answerable, wrong),
        ("false_miss_rate", answerable, wrong),
    ):
        counts, totals = (np.bincount(unit, weight * part)[drawn].sum(axis=1) for part in (among & counted, among))
        low, high = np.quantile(counts[totals > 0] / totals[totals > 0], [0.025, 0.975])
        found[name] = (float(low), float(high))
    return found


@dataclass(frozen=True)
class Calibration:
    """A threshold for one embedder, with the rates that it has in the sample and out of fold."""

    threshold: float
    embedder: str
    target: float
    n_cases: int
    n_questions: int
    false_hit_rate: float
    hit_rate: float
    false_hit_rate_out_of_fold: float
    hit_rate_out_of_fold: float


def threshold_for(table: Judged, *, false_hits: float) -> float:
    """Return the lowest threshold that keeps the false-hit rate of `table` at or under `false_hits`."""
    curve = roc(table)
    allowed = np.flatnonzero(curve.false_hit_rate <= false_hits)
    return float(curve.threshold[allowed[-1]]) if len(allowed) else float(np.nextafter(curve.threshold[0], np.inf))


def rejudged(table: Judged, threshold: float | np.ndarray) -> Judged:
    """Return `table` with hits by `threshold`, one for all or one a case, shape (n_cases,)."""
    hit = table.score >= threshold
    columns = {field.name: getattr(table, field.name) for field in fields(table)}
    return Judged(**{**columns, "hit": hit, "right": table.right & hit})


def out_of_fold(table: Judged, *, groups: np.ndarray, false_hits: float) -> Judged:
    """Return `table` with each case judged by the threshold that the other groups' cases give; `groups` of shape (n_cases,)."""
    thresholds = np.empty(len(table))
    for group in np.unique(groups):
        thresholds[groups == group] = threshold_for(table.where(groups != group), false_hits=false_hits)
    return rejudged(table, thresholds)


def calibrate(table: Judged, *, embedder: str, target: float = 0.05, groups: np.ndarray | None = None) -> Calibration:
    """Return the threshold that keeps false hits at or under `target`, chosen on all cases, and how it does out of fold.

    `groups` (n_cases,): what must not stand on both sides of a fold; default, the topics.
    """
    threshold = threshold_for(table, false_hits=target)
    within = confusion(rejudged(table, threshold))
    outside = confusion(out_of_fold(table, groups=table.topic if groups is None else groups, false_hits=target))
    return Calibration(
        threshold=threshold,
        embedder=embedder,
        target=target,
        n_cases=len(table),
        n_questions=len(set(zip(table.topic.tolist(), table.question.tolist(), strict=True))),
        false_hit_rate=within.false_hit_rate,
        hit_rate=1 - within.false_miss_rate,
        false_hit_rate_out_of_fold=outside.false_hit_rate,
        hit_rate_out_of_fold=1 - outside.false_miss_rate,
    )
