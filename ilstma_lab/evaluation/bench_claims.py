"""The papers' tables with our own figures beside them. No figure of one can be held against the other: the caveat says why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ilstma_lab.evaluation.papers import MEMORYBANK_TABLE_2, TABLE_4, TABLE_5, TABLES_2_AND_3
from ilstma_lab.evaluation.tables import share
from ilstma_lab.reprs.words import seconds as duration
from ilstma_lab.terminal import hang

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bench import Bench, Measured

TITLES_4 = {"ILSTMA with prefetch": "ILSTMA", "ILSTMA without prefetch": "without prefetch"}
"""Which of our systems stands beside a row of Table 4 that is named otherwise."""


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One row: what the paper prints and what we measured, in the columns' order; None where there is none."""

    name: str
    claimed: tuple[float | None, ...]
    measured: tuple[Measured | None, ...]


@dataclass(frozen=True, slots=True)
class ClaimTable:
    """One table of a paper; `unit` is "share" or "seconds"."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[ClaimRow, ...]
    unit: str = "share"


def caveat(bench: Bench) -> str:
    """Return why claimed and measured figures cannot be held against each other."""
    return (
        f"The papers measured gpt-3.5-turbo and others on data of their own, graded by GPT-4 or by people; here it is "
        f"{bench.experiment.models} on {bench.experiment.data or 'other data'}, graded by {bench.grader}. Another model, other "
        f"data, another grader: read each column by itself, for the order of the systems at most."
    )


def claim_tables(bench: Bench) -> list[ClaimTable]:
    """Return the papers' tables that something of this bench stands beside."""
    tables = [_table_3(bench), _table_4(bench), _table_5(bench), _memorybank(bench)]
    return [table for table in tables if any(m and m.n for row in table.rows for m in row.measured)]


def claims_text(bench: Bench) -> Iterator[str]:
    """Yield the tables as lines, with the caveat."""
    tables = claim_tables(bench)
    if not tables:
        return
    yield "Claimed beside measured"
    yield from hang("", caveat(bench))
    for table in tables:
        yield ""
        yield f"{table.title}: claimed | measured"
        yield (" " * 26 + "".join(column.ljust(17) for column in table.columns)).rstrip()
        for row in table.rows:
            cells = (pair(*both, unit=table.unit) for both in zip(row.claimed, row.measured, strict=True))
            yield (row.name.ljust(26) + "".join(" | ".join(cell).ljust(17) for cell in cells)).rstrip()


def pair(claimed: float | None, measured: Measured | None, *, unit: str) -> tuple[str, str]:
    """Return what is claimed and what is measured as two texts, "-" for what there is not."""
    one = "-" if claimed is None else f"{claimed:.2f} s" if unit == "seconds" else f"{claimed:.3f}".removeprefix("0")
    if not measured or not measured.n:
        return one, "-"
    return one, duration(measured.band.mean) if unit == "seconds" else share(measured.band.mean)


def _table_3(bench: Bench) -> ClaimTable:
    rows = []
    for topic in TABLES_2_AND_3:
        own = [each for each in bench.experiment.topics if each.name == topic.topic]
        measured = None
        if own and "ILSTMA" in bench.systems:
            part = replace(bench, experiment=replace(bench.experiment, topics=tuple(own), records=_of_topic(bench, topic.topic)))
            measured = part.measured("ILSTMA", "hits")
        rows.append(ClaimRow(topic.topic, (topic.hit_percent / 100,), (measured,)))
    return ClaimTable("ILSTMA, Table 3, hit rate", ("hits",), tuple(rows))


def _of_topic(bench: Bench, topic: str):
    return tuple(record for record in bench.experiment.records if record.topic == topic)


def _table_4(bench: Bench) -> ClaimTable:
    rows = []
    for name, seconds in TABLE_4.items():
        ours = TITLES_4.get(name, name)
        measured = bench.measured(ours, "seconds") if ours in bench.systems else None
        rows.append(ClaimRow(name, (seconds,), (measured,)))
    return ClaimTable("ILSTMA, Table 4, mean seconds to the answer", ("seconds",), tuple(rows), unit="seconds")


def _table_5(bench: Bench) -> ClaimTable:
    metrics = ("accuracy", "retrieve", "A alone", "coherence")
    rows = []
    for scores in TABLE_5:
        claimed = (scores.answer, scores.retrieve, scores.recall, scores.coherence)
        rows.append(ClaimRow(scores.system, claimed, _measured(bench, scores.system, metrics)))
    return ClaimTable("ILSTMA, Table 5", metrics, tuple(rows))


def _memorybank(bench: Bench) -> ClaimTable:
    metrics = ("gold recalled", "accuracy", "coherence")
    rows = []
    for scores in MEMORYBANK_TABLE_2:
        claimed = (scores.retrieval, scores.correctness, scores.coherence, scores.ranking)
        rows.append(ClaimRow(f"{scores.language}, {scores.model}", claimed, (None,) * 4))
    ours = (*_measured(bench, "MemoryBank", metrics), None)
    rows.append(ClaimRow("measured: MemoryBank", (None,) * 4, ours))
    columns = ("retrieval", "correctness", "coherence", "ranking")
    return ClaimTable("MemoryBank, Table 2 (ranking needs two base models or more on one memory)", columns, tuple(rows))


def _measured(bench: Bench, system: str, metrics: tuple[str, ...]) -> tuple[Measured | None, ...]:
    if system not in bench.systems:
        return (None,) * len(metrics)
    return tuple(bench.measured(system, metric) for metric in metrics)
