"""Several systems on one data set, side by side: as a table of text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.retrieval import RetrievalReport
from ilstma_lab.terminal import fit

_LEVELS = ("A@1", "B@1", "B@2", "B@5", "found", "MRR", "rows")
_DIFFERENCES = ("B@1", "B@2", "B@5", "MRR")


@dataclass(frozen=True)
class Comparison:
    """Reports of several systems on the same questions of one data set; `favourite` is compared with each of the others."""

    data: str
    rows: int
    reports: tuple[RetrievalReport, ...]
    favourite: str

    @property
    def n(self) -> int:
        """How many questions have gold."""
        return len(self.reports[0])

    @property
    def mine(self) -> RetrievalReport:
        """The favourite's report."""
        return next(report for report in self.reports if report.system == self.favourite)

    @property
    def others(self) -> tuple[RetrievalReport, ...]:
        """The reports that the favourite is compared with."""
        return tuple(report for report in self.reports if report.system != self.favourite)

    def by_kind(self) -> Iterator[tuple[str, Comparison]]:
        """Yield each kind of question with the comparison on its questions."""
        for kind in self.reports[0].kinds:
            yield kind, replace(self, reports=tuple(report.of_kind(kind) for report in self.reports))

    def text(self, *, by_kind: bool = False) -> str:
        """Return the tables as text of at most 120 columns; with `by_kind` also one for each kind of question, if several."""
        topics, left_out = len(self.reports[0].topics), self.reports[0].left_out
        bands = "95 % bands by question, in the line below by topic" if topics > 1 else "95 % bands by question"
        lines = [
            f"{fit(self.data, 40)}: {self.n} questions with gold, {topics} topic{'s' * (topics != 1)}, {self.rows} rows; {bands}",
            *self._levels(),
            *self._differences(),
            *self._notes(left_out),
        ]
        for kind, part in self.by_kind() if by_kind and len(self.reports[0].kinds) > 1 else ():
            lines += ["", f"{fit(self.data, 40)}, {fit(kind or 'no kind', 40)}: {part.n} questions", *part._levels()]
        return "\n".join(lines)

    def to_dict(self, *, by_kind: bool = False) -> dict[str, Any]:
        """Return the figures as JSON values: mean and ends of the band by question and by topic; None for what is not there."""
        first = self.reports[0]
        figures = {
            "data": self.data,
            "questions": self.n,
            "left_out": first.left_out,
            "topics": list(first.topics),
            "rows": self.rows,
            "systems": {report.system: _figures(report.bands, topics=len(report.topics)) for report in self.reports},
            "differences": {
                f"{self.favourite} - {other.system}": _figures(self.mine.difference, other, topics=len(other.topics))
                for other in self.others
            },
            "lost_by_referee": {report.system: report.lost_by_referee for report in self.reports if report.dual},
        }
        if by_kind:
            figures["kinds"] = {kind: part.to_dict() for kind, part in self.by_kind()}
        return figures

    def _levels(self) -> Iterator[str]:
        yield _head(_LEVELS, width=14)
        for report in self.reports:
            yield from _lines(report.system, _LEVELS, _both(report.bands, topics=len(report.topics)), width=14)

    def _differences(self) -> Iterator[str]:
        if self.others:
            yield ""
            yield _head(_DIFFERENCES, width=17)
        for other in self.others:
            bands = _both(self.mine.difference, other, topics=len(other.topics))
            yield from _lines(f"{self.favourite} - {other.system}", _DIFFERENCES, bands, width=17, sign="+")

    def _notes(self, left_out: int) -> Iterator[str]:
        yield ""
        for report in self.reports:
            if report.dual:
                lost = report.lost_by_referee
                yield f"{fit(report.system, 40)}: the referee loses {lost} of the questions that branch B has in its top two"
            if failed := sum(bool(outcome.error) for outcome in report.outcomes):
                yield f"{fit(report.system, 40)}: a branch failed on {failed} questions"
        yield f"{left_out} questions without gold are left out"


def _both(bands: Callable[..., Mapping[str, Band]], *arguments: Any, topics: int) -> list[Mapping[str, Band]]:
    return [bands(*arguments, by=by) for by in (("question", "topic") if topics > 1 else ("question",))]


def _head(metrics: Sequence[str], *, width: int) -> str:
    return (" " * 24 + "".join(metric.ljust(width) for metric in metrics)).rstrip()


def _lines(
    name: str, metrics: Sequence[str], bands: Sequence[Mapping[str, Band]], *, width: int, sign: str = ""
) -> Iterator[str]:
    """Yield a line with means and bands by question and, where there are such bands, one below it with those by topic."""
    for number, by in enumerate(bands):
        cells = [_cell(metric, by[metric], sign=sign, below=number > 0).ljust(width) for metric in metrics]
        yield (fit(name if number == 0 else "", 23).ljust(24) + "".join(cells)).rstrip()


def _cell(metric: str, band: Band, *, sign: str, below: bool) -> str:
    if np.isnan(band.mean) or metric == "rows":
        return "" if below else "-" if np.isnan(band.mean) else f"{band.mean:.2f}"
    mean = _share(band.mean, sign)
    ends = f"{_share(band.low, sign)}{'..' if sign else '-'}{_share(band.high, sign)}"
    return f"{' ' * len(mean) if below else mean} {ends}"


def _share(value: float, sign: str) -> str:
    """Return a share between -1 and 1, always as wide: ".87", "1.0"; with a sign "+.09"."""
    text = f"{value + 0.0:{sign}.2f}"
    return text[:-1] if text.endswith("1.00") else text.replace("0.", ".", 1)


def _figures(bands: Callable[..., Mapping[str, Band]], *arguments: Any, topics: int) -> dict[str, dict[str, float | None]]:
    by_question, by_topic = [*_both(bands, *arguments, topics=topics), None][:2]
    figures = {}
    for metric, band in by_question.items():
        ends = {"mean": band.mean, "low": band.low, "high": band.high}
        if by_topic:
            ends |= {"topic_low": by_topic[metric].low, "topic_high": by_topic[metric].high}
        figures[metric] = {name: None if np.isnan(value) else round(value, 6) for name, value in ends.items()}
    return figures
