"""Several systems on one data set, side by side: as a table of text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ilstma_lab.evaluation.retrieval import RetrievalReport
from ilstma_lab.evaluation.tables import both_bands, figures_of, table_head, table_lines
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
            "systems": {report.system: figures_of(report.bands, topics=len(report.topics)) for report in self.reports},
            "differences": {
                f"{self.favourite} - {other.system}": figures_of(self.mine.difference, other, topics=len(other.topics))
                for other in self.others
            },
            "lost_by_referee": {report.system: report.lost_by_referee for report in self.reports if report.dual},
        }
        if by_kind:
            figures["kinds"] = {kind: part.to_dict() for kind, part in self.by_kind()}
        return figures

    def _levels(self) -> Iterator[str]:
        yield table_head(_LEVELS, width=14)
        for report in self.reports:
            yield from table_lines(report.system, _LEVELS, both_bands(report.bands, topics=len(report.topics)), width=14)

    def _differences(self) -> Iterator[str]:
        if self.others:
            yield ""
            yield table_head(_DIFFERENCES, width=17)
        for other in self.others:
            bands = both_bands(self.mine.difference, other, topics=len(other.topics))
            yield from table_lines(f"{self.favourite} - {other.system}", _DIFFERENCES, bands, width=17, sign="+")

    def _notes(self, left_out: int) -> Iterator[str]:
        yield ""
        for report in self.reports:
            if report.dual:
                lost = report.lost_by_referee
                yield f"{fit(report.system, 40)}: the referee loses {lost} of the questions that branch B has in its top two"
            if failed := sum(bool(outcome.error) for outcome in report.outcomes):
                yield f"{fit(report.system, 40)}: a branch failed on {failed} questions"
        yield f"{left_out} questions without gold are left out"
