"""A qualitative study as text and as notebook output: each question with the answers side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.reprs.words import line, plain
from ilstma_lab.terminal import hang

if TYPE_CHECKING:
    from ilstma_lab.evaluation.studies import Case, Said, Study

_ROW, _ANSWER = 160, 1200


def study_text(study: Study) -> str:
    """Return the study as text."""
    return "\n".join([study.title, study.look, *(row for case in study.cases for row in _case_text(case))])


def study_html(study: Study) -> Html:
    """Return the study as HTML."""
    return page(
        head("Study", study.title, sub=study.look),
        *(tag("div", *_case(case), cls="pane") for case in study.cases),
        sections=("turn",),
    )


def _case_text(case: Case) -> Iterator[str]:
    yield ""
    yield from hang("Q  ", case.question)
    if case.remark:
        yield from hang("   ", case.remark)
    for said in case.answers:
        yield from hang(f"   {said.who}: ", said.failure or said.answer)
        for row in said.rows:
            yield from hang("      from ", line(row, _ROW))
        if said.portrait:
            yield from hang("      portrait ", said.portrait)


def _case(case: Case) -> Iterator[Html]:
    columns = "grid-template-columns:repeat(auto-fit,minmax(min(100%,280px),1fr))"
    yield tag("p", tag("b", line(case.question, 600)), dir="auto")
    if case.remark:
        yield tag("p", line(case.remark, 600), cls="dim", dir="auto")
    yield tag("div", *map(_said, case.answers), style=f"display:grid;gap:16px;margin-top:8px;{columns}")


def _said(said: Said) -> Html:
    rows = (tag("li", line(row, _ROW), cls="dim", dir="auto") for row in said.rows)
    return tag(
        "div",
        tag("h3", said.who),
        tag("p", said.failure, cls="alarm") if said.failure else tag("p", plain(said.answer, _ANSWER), cls="answer", dir="auto"),
        tag("ul", *rows) if said.rows else None,
        tag("p", plain(said.portrait, _ANSWER), cls="mid", dir="auto", style="white-space:pre-line") if said.portrait else None,
    )
