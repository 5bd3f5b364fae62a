"""A small table that is written alike as text and as HTML: words at the left, figures at the right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.terminal import fit, width

_NAME_CELLS = 44


@dataclass(frozen=True)
class PlainTable:
    """`heads` and `rows` of text; each row begins with its name."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """Return the table as lines of text, its columns as wide as they must be."""
        lines = [[fit(row[0], _NAME_CELLS), *row[1:]] for row in (self.heads, *self.rows)]
        widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
        return "\n".join(_line(line, widths) for line in lines)

    def html(self) -> Html:
        """Return the table as HTML."""
        heads = (tag("th", name, cls="num" if at else None) for at, name in enumerate(self.heads))
        body = (tag("tr", *(tag("td", cell, cls="num" if at else None) for at, cell in enumerate(row))) for row in self.rows)
        return tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body), cls="grid")


def tables_html(eyebrow: str, title: str, tables: Iterable[PlainTable], notes: Iterable[str] = ()) -> Html:
    """Return tables one below the other as notebook output, and what is to be said about them."""
    panes = (tag("div", table.html(), cls="pane") for table in tables)
    said = [tag("p", note, cls="dim") for note in notes]
    return page(head(eyebrow, title), *panes, tag("div", *said, cls="pane") if said else None)


def _line(line: Sequence[str], widths: Sequence[int]) -> str:
    name, *figures = line
    shown = [name + " " * (widths[0] - width(name))]
    shown += [" " * (room - width(figure)) + figure for figure, room in zip(figures, widths[1:], strict=True)]
    return "  ".join(shown).rstrip()
