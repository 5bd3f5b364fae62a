"""A bench as tables and sentences, written alike as text and as HTML."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.evaluation.bench_metrics import METRICS
from ilstma_lab.evaluation.plain_table import PlainTable
from ilstma_lab.evaluation.tables import ends, share
from ilstma_lab.reprs.words import count
from ilstma_lab.reprs.words import seconds as duration

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bench import Bench, Measured

KIND_NAMES = {"recall": "recall", "general": "general", "never_said": "never said"}
_SHARES = ("hit@1", "hit@2", "hit@5")
_DIFFERENCES = ("accuracy", "retrieve", "MRR")


def asked(bench: Bench) -> str:
    """Return what was asked: how many questions of each kind, about how much, of which model."""
    run = bench.experiment
    kinds = ", ".join(f"{n} {KIND_NAMES[kind]}" for kind, n in bench.kinds.items())
    held = f"{count(len(run.topics), 'topic')}, {count(run.rows, 'row')}"
    return f"{run.data or 'data'}: {count(bench.n, 'question')} ({kinds}), {held}; {run.models}"


def tables(bench: Bench, *, by_kind: bool = False) -> Iterator[tuple[str, PlainTable]]:
    """Yield each table with its title: answers and rows found, hits and time, differences, graders, kinds."""
    yield f"Answers graded by {bench.grader}; 95 % bands by question", _answers(bench)
    yield "Rows found, over the questions with gold rows", _found(bench)
    yield "Time and tokens of a question", _costs(bench)
    if len(bench.systems) - len(bench.broken) > 1 and bench.favourite not in bench.broken:
        yield f"{bench.favourite} less each other, paired by question", _differences(bench)
    if len(bench.experiment.graders) > 1:
        yield "The same answers under each grader", _graders(bench)
    if by_kind:
        for metric in ("accuracy", "hits"):
            yield f"{metric.capitalize()} by kind of question", _by_kind(bench, metric)


def notes(bench: Bench, *, shown: Collection[str] = METRICS) -> Iterator[str]:
    """Yield what is to be known beside the figures: repeats, n of what not all questions have, failures, how it ran.

    Only the metrics in `shown` are explained, and of these those that some system has.
    """
    run = bench.experiment
    if run.deterministic:
        wanted = f", though {run.repeats} repeats were asked for" if run.repeats > 1 else ""
        yield f"No language model takes part: each system is deterministic and ran once{wanted}."
    else:
        yield f"Each question was asked in {count(run.repeats, 'repeat')}, each on a fresh fork; their mean counts once."
    with_gold = sum(bool(question.finds) for _, question in run.questions)
    there = [metric for metric in shown if bench.has(metric)]
    ranks = [head for head, metric in (("hit@k", "hit@1"), ("MRR", "MRR")) if metric in there]
    if found := [*(["retrieve"] if "retrieve" in there else []), *ranks]:
        yield f"{', '.join(found)}: the {count(with_gold, 'question')} with gold rows."
    if "retrieve" in there:
        yield "retrieve is 1 where a row with the answer is recalled; .5 for a text written of it, a row of its day or beside it."
        if "MemoryBank" in bench.systems and "gold recalled" in there:
            yield "MemoryBank's Table 2 counts retrieval whole or nothing: 1 where a row with the answer is recalled, else 0."
    if ranks:
        looks = "look" if len(ranks) > 1 else "looks"
        ranking = f"{' and '.join(ranks)} {looks} at branch B's ranking of all rows"
        yield f"{ranking} where a system has one, else at the rows that it recalls."
    if "tokens" in there:
        yield "tokens: the mean of all prompts and replies of a question; estimated where the model does not count them."
    read = "A alone" in there and _counts(bench, {each: bench.measured(each, "A alone").n for each in bench.systems})
    if read:
        yield f"A alone: where branch A read, which an answer from the cache skips; n = {read}."
    asked_of = [each for each in bench.systems if each not in bench.broken]
    if left := _counts(bench, {each: bench.n - bench.measured(each, "accuracy").n for each in asked_of}):
        yield f"Answers that the grader could not grade are left out: {left}."
    if len(bench.systems) > 1:
        yield "* the 95 % band of the difference excludes 0."
    if len(bench.systems) > 2:
        yield "Each band stands for itself: of twenty differences that are none, one lies outside 0 by chance."
    for system in asked_of:
        if failed := bench.failures(system):
            yield f"{system}: {count(failed, 'answer')} failed, and count as 0. The first: {bench.first_failure(system)}"
        if troubled := [record.trouble for record in run.of(system) if record.trouble]:
            yield f"{system}: in {count(len(troubled), 'answer')} a step failed, and the rest went on. The first: {troubled[0]}"
    if run.jobs != 1:
        yield f"Seconds were taken while {'one process a core' if run.jobs == -1 else f'{run.jobs} processes'} ran."
    yield from run.notes


def banded(measured: Measured, sign: str = "") -> str:
    """Return a share with its band; "-" where there is none. With a sign "*" marks a band that excludes 0."""
    band = measured.band
    star = "*" if sign and (band.low > 0 or band.high < 0) else ""
    return f"{share(band.mean, sign)} {ends(band, sign)}{star}" if measured.n else "-"


def false_hits(bench: Bench, system: str) -> str:
    """Return how many of the hits have a wrong answer; "-" without a graded hit."""
    wrong = bench.values(system, "false hits")
    wrong = wrong[~np.isnan(wrong)]
    return f"{wrong.sum():.0f} of {len(wrong)}" if len(wrong) else "-"


def time_of(measured: Measured) -> str:
    """Return seconds with their band; "-" where there are none."""
    if not measured.n:
        return "-"
    return f"{duration(measured.band.mean)} ({duration(measured.band.low)} - {duration(measured.band.high)})"


def _answers(bench: Bench) -> PlainTable:
    def row(system: str) -> tuple[str, ...]:
        right, coherent, hits = (banded(bench.measured(system, metric)) for metric in ("accuracy", "coherence", "hits"))
        return system, right, _n_graded(bench, system), coherent, hits, false_hits(bench, system)

    return _table(("system", "accuracy", "n", "coherence", "hits", "false hits"), map(row, bench.systems))


def _n_graded(bench: Bench, system: str) -> str:
    n, failed = bench.measured(system, "accuracy").n, bench.failures(system)
    return f"{n} ({failed} failed)" if failed else f"{n}"


def _found(bench: Bench) -> PlainTable:
    def row(system: str) -> tuple[str, ...]:
        retrieve, a_alone, mrr = (bench.measured(system, metric) for metric in ("retrieve", "A alone", "MRR"))
        shares = (bench.measured(system, metric) for metric in _SHARES)
        rows = bench.measured(system, "rows")
        return (
            system,
            banded(retrieve),
            f"{retrieve.n or '-'}",
            banded(a_alone),
            banded(mrr),
            *(share(found.band.mean) if found.n else "-" for found in shares),
            f"{rows.band.mean:.2f}" if rows.n else "-",
        )

    return _table(("system", "retrieve", "n", "A alone", "MRR", *_SHARES, "rows"), map(row, bench.systems))


def _costs(bench: Bench) -> PlainTable:
    def row(system: str) -> tuple[str, ...]:
        after, tokens = bench.measured(system, "seconds after"), bench.measured(system, "tokens")
        return (
            system,
            time_of(bench.median_seconds(system)),
            time_of(bench.measured(system, "seconds")),
            duration(after.band.mean) if after.n else "-",
            f"{tokens.band.mean:,.0f}" if tokens.n else "-",
        )

    heads = ("system", "median to the answer", "mean to the answer", "after it", "tokens")
    return _table(heads, map(row, bench.systems))


def _differences(bench: Bench) -> PlainTable:
    def row(system: str) -> tuple[str, ...]:
        found = [bench.difference(system, metric) for metric in _DIFFERENCES]
        return (f"- {system}", *(cell for each in found for cell in (banded(each, "+"), f"{each.n}" if each.n else "")))

    heads = [head for metric in _DIFFERENCES for head in (metric, "n")]
    return _table(("", *heads), (row(each) for each in bench.systems if each not in (bench.favourite, *bench.broken)))


def _graders(bench: Bench) -> PlainTable:
    views = [bench.graded_by(grader) for grader in bench.experiment.graders]
    rows = ((each, *(banded(view.measured(each, "accuracy")) for view in views)) for each in bench.systems)
    return _table(("system", *bench.experiment.graders), rows)


def _by_kind(bench: Bench, metric: str) -> PlainTable:
    parts = {kind: bench.of_kind(kind) for kind in bench.kinds}
    heads = (f"{KIND_NAMES[kind]} (n = {part.n})" for kind, part in parts.items())
    rows = ((each, *(banded(part.measured(each, metric)) for part in parts.values())) for each in bench.systems)
    return _table(("system", *heads), rows)


def _table(heads: Sequence[str], rows) -> PlainTable:
    return PlainTable(tuple(heads), tuple(rows))


def _counts(bench: Bench, counts: dict[str, int]) -> str:
    """Return the counts by system, once where all that have one have the same."""
    some = {system: n for system, n in counts.items() if n}
    if len(some) == len(bench.systems) and len(set(some.values())) == 1:
        return str(next(iter(some.values())))
    return ", ".join(f"{n} ({system})" for system, n in some.items())
