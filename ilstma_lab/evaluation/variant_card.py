"""One page about one variant: what it is, what it was measured on, what came out, and its code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bench_tables import KIND_NAMES, asked, banded, time_of
from ilstma_lab.evaluation.plain_table import PlainTable, unbroken
from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.reprs.parts import head

if TYPE_CHECKING:
    from ilstma_lab.evaluation.variants import Leaderboard

_METRICS = ("accuracy", "retrieve", "A alone", "MRR", "hits")
SEED = 0
"""The seed of every band (`bootstrap`)."""


@dataclass(frozen=True)
class Card:
    """The page: a finding, facts as pairs of name and text, a table of scores, remarks, the source code."""

    name: str
    finding: str
    facts: tuple[tuple[str, str], ...]
    scores: PlainTable
    remarks: tuple[str, ...]
    source: str

    def to_markdown(self) -> str:
        """Return the page as Markdown; tables and code are fenced, so that nothing in them is markup."""
        facts = [f"- {name}: {_plain_line(value)}" for name, value in self.facts]
        parts = [f"# {_plain_line(self.name)}", _plain_line(self.finding), "\n".join(facts), _block(self.scores.text())]
        parts += ["\n".join(f"- {_plain_line(remark)}" for remark in self.remarks)]
        return "\n\n".join([*parts, "## Source", _block(self.source)]) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the page to `path`, as HTML where it ends with .html, else as Markdown, and return the path."""
        path = Path(path)
        try:
            path.write_text(self.to_html() if path.suffix == ".html" else self.to_markdown(), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path} cannot be written ({error.strerror}): give another place") from None
        return path

    def to_html(self) -> str:
        """Return the page as HTML that stands alone."""
        title = tag("title", self.name)
        start = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        return f"{start}{title}</head>\n<body>{self._repr_html_()}</body></html>\n"

    def __str__(self) -> str:
        facts = [f"{name}: {value}" for name, value in self.facts]
        return "\n".join([self.name, self.finding, "", *facts, "", self.scores.text(), "", *self.remarks, "", self.source])

    def _repr_html_(self) -> Html:
        facts = (tag("tr", tag("td", name, cls="dim"), tag("td", value)) for name, value in self.facts)
        code = tag("details", tag("summary", "Source code"), tag("pre", self.source, style="white-space:pre-wrap"))
        return page(
            head("Variant", unbroken(f"{self.name}: {self.finding}")),
            tag("div", tag("table", tag("tbody", *facts), cls="grid"), cls="pane"),
            tag("div", self.scores.html(), cls="pane", style="overflow-x:auto"),
            tag("div", *(tag("p", remark, cls="mid") for remark in self.remarks), cls="pane"),
            tag("div", code, cls="pane"),
        )


def card_of(board: Leaderboard, name: str) -> Card:
    """Return the card of one variant of `board`."""
    bench, variant = board.bench, board.variants[name]
    run = bench.experiment
    facts = (
        ("kind", variant.what),
        ("parameters", re.sub(r" at 0x[0-9a-f]+", "", repr(variant.value))),
        ("compared with", board.baseline),
        ("data", asked(bench)),
        ("graded by", bench.grader),
        ("models", run.models),
        ("version", f"ilstma_lab {run.made_of.get('version', '')}"),
        ("seed of the bands", str(SEED)),
        ("date", board.date or "not given"),
    )
    source = variant.source or "Python cannot tell the source of this; keep your cell beside the card."
    finding = f"by accuracy {board.verdict(name)}, by retrieve {board.verdict(name, 'retrieve')}"
    return Card(
        name,
        finding,
        facts,
        PlainTable(_HEADS, tuple(_scores(board, name)), words=(0, 5)),
        tuple(board.notes(name, shown=_METRICS)),
        source,
    )


_HEADS = ("", "this", "baseline", "this less baseline", "n", "verdict")


def _scores(board: Leaderboard, name: str) -> Iterator[tuple[str, ...]]:
    from ilstma_lab.evaluation.variants import said

    bench = board.bench
    for metric in _METRICS:
        gain = board.gain(name, metric)
        pair = (banded(bench.measured(each, metric)) for each in (name, board.baseline))
        if gain.n:
            yield metric, *pair, banded(gain, "+"), f"{gain.n}", said(gain)
    for kind in bench.kinds:
        part = bench.of_kind(kind)
        pair = (banded(part.measured(each, "accuracy")) for each in (name, board.baseline))
        yield f"accuracy, {KIND_NAMES[kind]}", *pair, "", f"{part.n}", ""
    yield "median to the answer", *(time_of(bench.median_seconds(each)) for each in (name, board.baseline)), "", "", ""


def _block(text: str) -> str:
    longest = max((len(run) for run in text.replace("\n", " ").split() if set(run) == {"`"}), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _plain_line(text: str) -> str:
    return "".join(f"\\{character}" if character in "\\`*_{}[]<>#|" else character for character in " ".join(text.split()))
