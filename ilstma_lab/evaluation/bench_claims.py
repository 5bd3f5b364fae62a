"""The papers' tables with our own figures beside them. No figure of one can be held against the other: the caveat says why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ilstma_lab.evaluation.papers import MEMORYBANK_TABLE_2, TABLE_4, TABLE_5, TABLES_2_AND_3
from ilstma_lab.evaluation.plain_table import PlainTable
from ilstma_lab.evaluation.tables import share
from ilstma_lab.reprs.words import seconds as duration

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bench import Bench, Measured

_OURS = {"ILSTMA with prefetch": "ILSTMA", "ILSTMA without prefetch": "without prefetch"}
"""Which of our systems stands beside a row of Table 4 that is named otherwise."""
_TABLE_5 = ("accuracy", "retrieve", "A alone", "coherence")


def caveat(bench: Bench) -> str:
    """Return why claimed and measured figures cannot be held against each other."""
    return (
        "The papers measured gpt-3.5-turbo and other models on data of their own, graded by GPT-4 or by people. Here it is "
        f"{bench.experiment.models} on {bench.experiment.data or 'other data'}, graded by {bench.grader}. Another model, other "
        "data, another grader: at most the order of the systems can be compared."
    )


def claims(bench: Bench) -> Iterator[tuple[str, PlainTable]]:
    """Yield the papers' tables that something of this bench stands beside, each with its title."""
    if "ILSTMA" in bench.systems and (topics := [each for each in TABLES_2_AND_3 if _topic(bench, each.topic)]):
        yield "ILSTMA, Table 3: hit rate", _hit_rates(bench, topics)
    if seconds := [name for name in TABLE_4 if _OURS.get(name, name) in bench.systems]:
        yield "ILSTMA, Table 4: mean seconds to the answer", _seconds(bench, seconds)
    if scores := [each for each in TABLE_5 if each.system in bench.systems]:
        yield "ILSTMA, Table 5: claimed, measured", _scores(bench, scores)
    if "MemoryBank" in bench.systems:
        yield "MemoryBank, Table 2: ranking, 1 / rank, needs two base models or more on one memory", _companion(bench)


def _hit_rates(bench: Bench, topics: Sequence) -> PlainTable:
    rows = (
        (each.topic, f"{each.hit_percent:.2f} %", _percent(_topic(bench, each.topic).measured("ILSTMA", "hits")))
        for each in topics
    )
    return PlainTable(("topic", "claimed", "measured"), tuple(rows))


def _seconds(bench: Bench, names: Sequence[str]) -> PlainTable:
    rows = []
    for name in names:
        measured = bench.measured(_OURS.get(name, name), "seconds")
        ours = f"{duration(measured.band.mean)} (n = {measured.n})" if measured.n else "-"
        rows.append((name, f"{TABLE_4[name]:.2f} s", ours))
    return PlainTable(("system", "claimed", "measured"), tuple(rows))


def _scores(bench: Bench, scores: Sequence) -> PlainTable:
    rows = []
    for each in scores:
        claimed = map(_printed, (each.answer, each.retrieve, each.recall, each.coherence))
        measured = (_share(bench.measured(each.system, metric)) for metric in _TABLE_5)
        rows.append((each.system, *(cell for pair in zip(claimed, measured, strict=True) for cell in pair)))
    return PlainTable(("system", *(head for metric in _TABLE_5 for head in (metric, "measured"))), tuple(rows))


def _companion(bench: Bench) -> PlainTable:
    rows = [
        (
            f"claimed: {each.language}, {each.model}",
            *map(_printed, (each.retrieval, each.correctness, each.coherence, each.ranking)),
        )
        for each in MEMORYBANK_TABLE_2
    ]
    ours = (_share(bench.measured("MemoryBank", metric)) for metric in ("gold recalled", "accuracy", "coherence"))
    rows.append((f"measured: {bench.experiment.models}", *ours, "-"))
    return PlainTable(("", "retrieval", "correctness", "coherence", "ranking"), tuple(rows))


def _topic(bench: Bench, name: str) -> Bench | None:
    """Return the bench on one topic alone, None where it was not asked about."""
    own = tuple(topic for topic in bench.experiment.topics if topic.name == name)
    if not own:
        return None
    records = tuple(record for record in bench.experiment.records if record.topic == name)
    return replace(bench, experiment=replace(bench.experiment, topics=own, records=records))


def _printed(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}".removeprefix("0")


def _share(measured: Measured) -> str:
    return f"{share(measured.band.mean)} (n = {measured.n})" if measured.n else "-"


def _percent(measured: Measured) -> str:
    return f"{100 * measured.band.mean:.1f} % (n = {measured.n})" if measured.n else "-"
