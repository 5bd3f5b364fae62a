"""What a bench measures: each metric of one record, nan where the record has none of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ilstma_lab.evaluation.records import Record

HIT_AT = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure of one record: how it is read off, given the record and the grader's name, and what it means."""

    name: str
    value: Callable[[Record, str], float | None]
    means: str


def _grade(part: str) -> Callable[[Record, str], float | None]:
    return lambda record, grader: getattr(record.grades[grader], part)


def _hit_at(k: int) -> Callable[[Record, str], float | None]:
    return lambda record, grader: None if record.rank is None else 0 < record.rank <= k


def _reciprocal(record: Record, grader: str) -> float | None:
    return None if record.rank is None else 1 / record.rank if record.rank else 0.0


def _false_hit(record: Record, grader: str) -> float | None:
    accuracy = record.grades[grader].accuracy
    return accuracy == 0 if record.hit and accuracy is not None else None


_ALL = (
    Metric("accuracy", _grade("accuracy"), "answer accuracy in {0, .5, 1} by the grader named"),
    Metric(
        "retrieve",
        lambda r, _: r.retrieve,
        "1: a row with the answer is recalled; .5: a text written of it, one of its day or beside it",
    ),
    Metric("A alone", lambda r, _: r.a_alone, "the same of the one row that branch A names, where it read"),
    Metric("coherence", _grade("coherence"), "how naturally the answer responds; only a model or a person grades it"),
    *(Metric(f"hit@{k}", _hit_at(k), f"a row with the answer is among the first {k} found") for k in HIT_AT),
    Metric("MRR", _reciprocal, "1 / place of the first row with the answer"),
    Metric("gold recalled", lambda r, _: None if r.retrieve is None else r.retrieve == 1, "a row with the answer is recalled"),
    Metric("rows", lambda r, _: None if r.recalled is None else len(r.recalled), "rows recalled"),
    Metric("hits", lambda r, _: r.hit, "answered from the cache"),
    Metric("false hits", _false_hit, "of the hits, those whose answer is wrong"),
    Metric("seconds", lambda r, _: None if r.failure else r.seconds, "from the question to the answer"),
    Metric("seconds after", lambda r, _: None if r.failure else r.seconds_after, "after the answer: writes, prefetch, summaries"),
    Metric("tokens", lambda r, _: None if r.failure else r.prompt_tokens + r.reply_tokens, "of all prompts and replies"),
)

METRICS: Mapping[str, Metric] = MappingProxyType({metric.name: metric for metric in _ALL})
"""By name; the order is that of reports."""

OF_MEMORY = ("retrieve", "A alone", *(f"hit@{k}" for k in HIT_AT), "MRR", "gold recalled")
"""Metrics that only questions with gold rows have."""


def values_of(metric: str, records: tuple[Record, ...], *, grader: str) -> np.ndarray:
    """Return the metric of each record, shape (n_records,), nan where a record has none of it."""
    found = (METRICS[metric].value(record, grader) for record in records)
    return np.array([np.nan if value is None else float(value) for value in found])
