"""A referee's report in words: the papers' claims taken apart, tables of text, JSON values."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import fill
from typing import Any

from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.referee import A_ALONE, B_FIRST, B_TWO, DECISIONS, METRICS, REFEREE, RULES, UNION, Bands, RefereeReport
from ilstma_lab.evaluation.tables import both_bands, ends, figures_of, share, table_head, table_lines
from ilstma_lab.reprs.words import count
from ilstma_lab.terminal import fit

_WIDTH = 17
_PAIRS = ((REFEREE, A_ALONE), (REFEREE, B_FIRST), (REFEREE, B_TWO), (UNION, A_ALONE))
ACCURACY = "accuracy: 1 for a gold row, .5 for one of its day or next to it; of A alone the paper's Recall Accuracy"


def claims(report: RefereeReport) -> Iterator[tuple[str, str]]:
    """Yield each claim of the paper and what these questions say to it."""
    if not len(report):
        return
    yield "3.4, one row or always two", _narrowing(report)
    yield "4.2, .663 -> .938", _over_a(report)
    yield "agreeing as a proof", agreement(report)
    if report.with_summary:
        yield "4.3.3, question and summary as query", _summary(report, report.with_summary)


def agreement(report: RefereeReport) -> str:
    """Return in how many agreements no gold row was recalled."""
    kept, lost = report.confusion["agree"]
    return f"{count(lost, 'agreement')} of {kept + lost:,} {'loses' if lost == 1 else 'lose'} the gold row"


def referee_text(report: RefereeReport) -> str:
    """Return the report as text of at most 120 columns."""
    return "\n".join(
        [
            _headline(report),
            "",
            *_confusion(report),
            "",
            *_levels(report),
            "",
            *_differences(report),
            *_summary_lines(report),
            "",
            *(fill(f"{claim}: {said}", 118, subsequent_indent="  ") for claim, said in claims(report)),
            fill(f"found: a gold row is among the rows; {ACCURACY}", 118, subsequent_indent="  "),
            *([f"a branch failed on {count(report.failed, 'question')}"] if report.failed else []),
        ]
    )


def referee_figures(report: RefereeReport) -> dict[str, Any]:
    """Return the report as JSON values."""
    topics = len(report.topics)
    gained = {
        f"{rule} - {base}": dict(zip(("gained", "lost"), report.exchanged(rule, base), strict=True)) for rule, base in _PAIRS
    }
    figures = {
        "data": report.data,
        "system": report.system,
        "reader": report.reader,
        "questions": len(report),
        "left_out": report.left_out,
        "topics": list(report.topics),
        "rows": report.rows,
        "seen_by_reader": report.seen,
        "failed": report.failed,
        "confusion": {decision: {"recalled": kept, "lost": lost} for decision, (kept, lost) in report.confusion.items()},
        "rules": {rule: figures_of(_of(report.bands, rule), topics=topics) for rule in RULES},
        "differences": {
            f"{rule} - {base}": figures_of(_of(report.differences, rule), base, topics=topics) for rule, base in _PAIRS
        },
        "exchanged": gained,
        "claims": dict(claims(report)),
    }
    if other := report.with_summary:
        figures["with_summary"] = {
            "rules": {rule: figures_of(_of(other.bands, rule), topics=topics) for rule in RULES},
            "change": {rule: figures_of(_of(other.change, rule), report, topics=topics) for rule in RULES},
        }
    return figures


def named_band(band: Band, sign: str = "") -> str:
    """Return a mean and its band.

    >>> named_band(Band(0.5, 0.4, 0.625)), named_band(Band(-0.03, -0.1, 0.04), "+")
    ('.50 (.40-.62)', '-.03 (-.10..+.04)')
    """
    return f"{share(band.mean, sign)} ({ends(band, sign)})"


def _narrowing(report: RefereeReport) -> str:
    rows, change = report.bands(), report.differences(B_TWO)[REFEREE]["found"]
    lost = report.exchanged(REFEREE, B_TWO)[1]
    return (
        f"the referee recalls {rows[REFEREE]['rows'].mean:.2f} rows a question where B's two are {rows[B_TWO]['rows'].mean:.2f}, "
        f"and loses {lost} of the {report.found(B_TWO)} answers that they hold: {named_band(change, '+')}; it can add none"
    )


def _over_a(report: RefereeReport) -> str:
    gained, lost = report.exchanged(REFEREE, A_ALONE)
    change, alone = report.differences(A_ALONE), share(report.branch_a_accuracy.mean)
    return (
        f"A alone finds {report.found(A_ALONE)} of {len(report)} (accuracy {alone}); the referee finds {gained} that A misses "
        f"and misses {lost} that A finds: {named_band(change[REFEREE]['found'], '+')} "
        f"(accuracy {share(report.retrieve_accuracy.mean)}); no ruling between A and B's two could add more than "
        f"{share(change[UNION]['found'].mean, '+')}"
    )


def _summary(report: RefereeReport, other: RefereeReport) -> str:
    change = other.change(report)[B_TWO]["found"]
    return (
        f"with the nearest summary in the query B's two hold the answer for {other.found(B_TWO)} of {len(report)} "
        f"in place of {report.found(B_TWO)}: {named_band(change, '+')}"
    )


def _headline(report: RefereeReport) -> str:
    topics = len(report.topics)
    bands = "95 % bands by question, in the line below by topic" if topics > 1 else "95 % bands by question"
    name = ", ".join(filter(None, (fit(report.data, 20), fit(report.system, 20)))) or "cases"
    return f"{name}: {len(report)} questions with gold, {count(topics, 'topic')}, {count(report.rows, 'row')}; {bands}"


def _confusion(report: RefereeReport) -> Iterator[str]:
    yield table_head(("gold recalled", "gold lost"), width=_WIDTH)
    for decision in DECISIONS:
        kept, lost = report.confusion[decision]
        yield f"{decision:<24}{kept:<{_WIDTH}}{lost}"
    yield f"A's reader ({fit(report.reader, 40)}) was shown part of a gold row for {report.seen} of {len(report)}"


def _levels(report: RefereeReport) -> Iterator[str]:
    yield table_head(METRICS, width=_WIDTH)
    bands = both_bands(report.bands, topics=len(report.topics))
    for rule in RULES:
        yield from table_lines(rule, METRICS, [by[rule] for by in bands], width=_WIDTH)


def _differences(report: RefereeReport) -> Iterator[str]:
    yield table_head((*METRICS, "gained, lost"), width=_WIDTH)
    for rule, base in _PAIRS:
        bands = both_bands(report.differences, base, topics=len(report.topics))
        first, *below = table_lines(f"{rule} - {base}", METRICS, [by[rule] for by in bands], width=_WIDTH, sign="+")
        gained, lost = report.exchanged(rule, base)
        yield f"{first:<{24 + 3 * _WIDTH}}{gained}, {lost}"
        yield from below


def _summary_lines(report: RefereeReport) -> Iterator[str]:
    if other := report.with_summary:
        yield ""
        yield "question and summary - question alone"
        bands = both_bands(other.change, report, topics=len(report.topics))
        for rule in RULES:
            yield from table_lines(rule, METRICS, [by[rule] for by in bands], width=_WIDTH, sign="+")


def _of(bands, rule: str):
    """Return `bands` for one rule."""

    def one(*arguments: Any, by: str) -> dict[str, Band]:
        found: Bands = bands(*arguments, by=by)
        return found[rule]

    return one
