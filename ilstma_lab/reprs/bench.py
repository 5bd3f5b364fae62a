"""A bench of memory systems as text, as notebook output, and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ilstma_lab.evaluation.bench_claims import caveat, claims
from ilstma_lab.evaluation.bench_tables import asked, notes, tables
from ilstma_lab.reprs.markup import Html, join, page, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.terminal import hang

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bench import Bench
    from ilstma_lab.evaluation.plain_table import PlainTable


def bench_text(bench: Bench, *, by_kind: bool = False) -> str:
    """Return the report as text."""
    lines = [*hang("", asked(bench)), "", finding(bench)]
    lines += [line for title, table in tables(bench, by_kind=by_kind) for line in ("", title, table.text())]
    if claimed := list(claims(bench)):
        lines += ["", "Claimed beside measured", *hang("", caveat(bench))]
        lines += [line for title, table in claimed for line in ("", title, table.text())]
    return "\n".join([*lines, "", *(row for note in notes(bench) for row in hang("- ", note))])


def bench_html(bench: Bench) -> Html:
    """Return the report as HTML; the papers' claims are folded away."""
    claimed = list(claims(bench))
    folded = tag(
        "details", tag("summary", "Claimed beside measured"), tag("p", caveat(bench), cls="mid"), *_panes(claimed, cls=None)
    )
    return page(
        head("Memory systems", finding(bench), sub=asked(bench)),
        *_panes(tables(bench, by_kind=True), cls="pane"),
        tag("div", folded, cls="pane") if claimed else None,
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


def finding(bench: Bench) -> str:
    """Return in one sentence whom the favourite's answers are better than, as far as the bands tell."""
    others = [system for system in bench.systems if system != bench.favourite]
    if not others:
        return f"{bench.favourite} alone: nothing to compare it with"
    gains = {system: bench.difference(system, "accuracy").band for system in others}
    better = [system for system, band in gains.items() if band.low > 0]
    worse = [system for system, band in gains.items() if band.high < 0]
    open_ = [system for system in others if system not in better and system not in worse]
    parts = [("answers more than", better), ("less than", worse), ("cannot be told from", open_)]
    said = "; ".join(f"{how} {', '.join(whom)}" for how, whom in parts if whom)
    return f"{bench.favourite} {said if better else said.replace('less than', 'answers less than', 1)}"


def _panes(titled: Iterator[tuple[str, PlainTable]] | Sequence[tuple[str, PlainTable]], *, cls: str | None) -> Iterator[Html]:
    for title, table in titled:
        yield tag("div", tag("h3", title), table.html(), cls=cls, style="overflow-x:auto")
