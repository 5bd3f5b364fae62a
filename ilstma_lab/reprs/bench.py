"""A bench of memory systems as text, as notebook output, and as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ilstma_lab.evaluation.bench_claims import caveat, claims
from ilstma_lab.evaluation.bench_tables import asked, notes, tables
from ilstma_lab.evaluation.bench_verdict import broken_lines, finding
from ilstma_lab.reprs.markup import Html, join, page, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.terminal import hang

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bench import Bench
    from ilstma_lab.evaluation.plain_table import PlainTable


def bench_text(bench: Bench, *, by_kind: bool = False) -> str:
    """Return the report as text."""
    lines = [row for line in broken_lines(bench) for row in (*hang("", line), "")]
    lines += [*hang("", asked(bench)), "", *hang("", finding(bench))]
    lines += [line for title, table in tables(bench, by_kind=by_kind) for line in ("", title, table.text())]
    if claimed := list(claims(bench)):
        lines += ["", "Claimed beside measured", *hang("", caveat(bench))]
        lines += [line for title, table in claimed for line in ("", title, table.text())]
    return "\n".join([*lines, "", *(row for note in notes(bench) for row in hang("- ", note))])


def bench_html(bench: Bench) -> Html:
    """Return the report as HTML; kinds of question and the papers' claims are folded away."""
    shown = list(tables(bench))
    by_kind = list(tables(bench, by_kind=True))[len(shown) :]
    claimed = list(claims(bench))
    return page(
        head("Memory systems", finding(bench), sub=asked(bench)),
        *(tag("div", tag("b", line), cls="pane") for line in broken_lines(bench)),
        *panes(shown),
        _folded("By kind of question", panes(by_kind, cls=None)),
        _folded("Claimed beside measured", [tag("p", caveat(bench), cls="mid"), *panes(claimed, cls=None)]) if claimed else None,
        tag("div", *(tag("p", note, cls="mid") for note in notes(bench)), cls="pane"),
    )


def bench_page(benches: Sequence[Bench]) -> str:
    """Return a page that stands alone with several reports."""
    style = "body{margin:24px;background:light-dark(#fff,#111);color-scheme:light dark}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Memory systems</title>'
        f'<meta name="color-scheme" content="light dark"><style>{style}</style></head>\n'
        f"<body>{join(*map(bench_html, benches))}</body></html>\n"
    )


def panes(titled: Iterable[tuple[str, PlainTable]], *, cls: str | None = "pane") -> Iterator[Html]:
    """Yield each table below its title; one that is too wide scrolls by itself."""
    for title, table in titled:
        yield tag("div", tag("h3", title) if title else None, table.html(), cls=cls, style="overflow-x:auto")


def _folded(title: str, content: Iterable[Html]) -> Html:
    return tag("div", tag("details", tag("summary", title), *content), cls="pane")
