"""A bench as text: what was asked, answers and retrieval, time and cost, paired differences, and what to know of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.evaluation.bench_claims import claims_text
from ilstma_lab.evaluation.tables import NAME_WIDTH, ends, share
from ilstma_lab.reprs.words import count
from ilstma_lab.reprs.words import seconds as duration
from ilstma_lab.terminal import fit, hang

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bench import Bench, Measured

ANSWERS = ("accuracy", "retrieve", "A alone", "coherence", "MRR")
FOUND = ("hit@1", "hit@2", "hit@5", "rows")
DIFFERENCES = ("accuracy", "retrieve", "MRR")
KIND_NAMES = {"recall": "recall", "general": "general", "never_said": "never said"}


def bench_text(bench: Bench, *, by_kind: bool = False) -> str:
    """Return the whole report."""
    lines = [*heading(bench), "", *_answers(bench), "", *_costs(bench), *_differences(bench), *_graders(bench)]
    if by_kind:
        lines += _kinds(bench)
    lines += ["", *claims_text(bench), "", *(row for note in notes(bench) for row in hang("- ", note))]
    return "\n".join(lines)


def heading(bench: Bench) -> Iterator[str]:
    """Yield what was asked of whom: the n of each kind, and how often."""
    run = bench.experiment
    kinds = ", ".join(f"{n} {KIND_NAMES[kind]}" for kind, n in bench.kinds.items())
    held = f"{count(len(run.topics), 'topic')}, {count(run.rows, 'row')}"
    yield f"{fit(run.data or 'data', 40)}: {count(bench.n, 'question')} ({kinds}), {held}; {run.models}"
    yield f"answers graded by {bench.grader}; 95 % bands by question"


def notes(bench: Bench) -> Iterator[str]:
    """Yield what is to be known beside the figures: repeats, n of what not all questions have, failures, how it ran."""
    run = bench.experiment
    if run.deterministic:
        asked = f" (asked for: {run.repeats} repeats)" if run.repeats > 1 else ""
        yield f"No language model takes part, so each system is deterministic and ran once{asked}."
    else:
        yield f"Each question was asked in {count(run.repeats, 'repeat')}, each on a fresh fork; its mean counts once."
    yield f"retrieve, hit@k and MRR: the {max(bench.measured(s, 'retrieve').n for s in bench.systems)} questions with gold rows."
    read = {system: bench.measured(system, "A alone").n for system in bench.systems}
    if some := [f"{system} {n}" for system, n in read.items() if n]:
        yield f"A alone: where branch A read, which a hit from the cache skips: {', '.join(some)} questions."
    ungraded = {system: bench.n - bench.measured(system, "accuracy").n for system in bench.systems}
    if some := [f"{system} {n}" for system, n in ungraded.items() if n]:
        yield f"Without a grade: {', '.join(some)} questions."
    for system in bench.systems:
        if failed := bench.failures(system):
            first = next(record.failure for record in run.of(system) if record.failure)
            yield f"{system}: {count(failed, 'answer')} failed and count as 0. The first: {first}"
    if run.jobs != 1:
        yield f"Seconds were taken with several processes at once ({'one a core' if run.jobs == -1 else run.jobs})."
    yield from run.notes


def banded(measured: Measured, sign: str = "") -> str:
    """Return a share with its band; "-" where there is none."""
    return f"{share(measured.band.mean, sign)} {ends(measured.band, sign)}" if measured.n else "-"


def number(measured: Measured) -> str:
    """Return a mean with two digits; "-" where there is none."""
    return f"{measured.band.mean:.2f}" if measured.n else "-"


def false_hits(bench: Bench, system: str) -> str:
    """Return how many of the hits have a wrong answer."""
    wrong = bench.values(system, "false hits")
    wrong = wrong[~np.isnan(wrong)]
    return f"{wrong.sum():.0f} of {len(wrong)}" if len(wrong) else "-"


def time_of(measured: Measured) -> str:
    """Return seconds with their band; "-" where there are none."""
    if not measured.n:
        return "-"
    low, high = duration(measured.band.low), duration(measured.band.high)
    low = low.removesuffix(" ms") if low.endswith(" ms") and high.endswith(" ms") else low
    low = low.removesuffix(" s") if low.endswith(" s") and high.endswith(" s") and not low.endswith(" ms") else low
    return f"{duration(measured.band.mean)} ({low}-{high})"


def line(name: str, cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return one line of a table."""
    padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
    return (fit(name, NAME_WIDTH - 1).ljust(NAME_WIDTH) + "".join(padded)).rstrip()


def _answers(bench: Bench) -> Iterator[str]:
    widths = (14,) * len(ANSWERS) + (7,) * len(FOUND)
    yield line("", (*ANSWERS, *FOUND), widths)
    for system in bench.systems:
        levels = [banded(bench.measured(system, metric)) for metric in ANSWERS]
        found = [_found(bench, system, metric) for metric in FOUND]
        yield line(system, (*levels, *found), widths)


def _found(bench: Bench, system: str, metric: str) -> str:
    measured = bench.measured(system, metric)
    if metric == "rows" or not measured.n:
        return number(measured)
    return share(measured.band.mean)


def _costs(bench: Bench) -> Iterator[str]:
    widths = (15, 11, 26, 26, 10, 8)
    yield line("", ("hits", "false", "median seconds", "mean seconds", "after", "tokens"), widths)
    for system in bench.systems:
        after, tokens = bench.measured(system, "seconds after"), bench.measured(system, "tokens")
        cells = (
            banded(bench.measured(system, "hits")),
            false_hits(bench, system),
            time_of(bench.median_seconds(system)),
            time_of(bench.measured(system, "seconds")),
            duration(after.band.mean) if after.n else "-",
            f"{tokens.band.mean:,.0f}" if tokens.n else "-",
        )
        yield line(system, cells, widths)


def _differences(bench: Bench) -> Iterator[str]:
    others = [system for system in bench.systems if system != bench.favourite]
    if not others:
        return
    yield ""
    yield f"{bench.favourite} less each other, paired by question:"
    widths = (19,) * len(DIFFERENCES) + (8,)
    yield line("", (*DIFFERENCES, "n"), widths)
    for system in others:
        cells = [banded(bench.difference(system, metric), "+") for metric in DIFFERENCES]
        counts = dict.fromkeys(str(n) for metric in DIFFERENCES if (n := bench.difference(system, metric).n))
        yield line(f"- {system}", (*cells, "/".join(counts)), widths)


def _graders(bench: Bench) -> Iterator[str]:
    graders = bench.experiment.graders
    if len(graders) < 2:
        return
    yield ""
    yield "The same answers under each grader:"
    widths = (18,) * len(graders)
    yield line("", graders, widths)
    for system in bench.systems:
        yield line(system, [banded(bench.graded_by(grader).measured(system, "accuracy")) for grader in graders], widths)


def _kinds(bench: Bench) -> Iterator[str]:
    parts = {kind: bench.of_kind(kind) for kind in bench.kinds}
    heads = [f"{KIND_NAMES[kind]} (n = {part.n})" for kind, part in parts.items()]
    for metric in ("accuracy", "hits"):
        yield ""
        yield line(metric, heads, (22,) * len(heads))
        for system in bench.systems:
            yield line(system, [banded(part.measured(system, metric)) for part in parts.values()], (22,) * len(heads))
