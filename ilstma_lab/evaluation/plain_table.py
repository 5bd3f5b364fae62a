"""A small table that is written alike as text and as HTML: words to the left, figures to the right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.terminal import fit, width

_CELLS = 64
_SHORT = 24
_UNBROKEN = "white-space:nowrap"


@dataclass(frozen=True)
class PlainTable:
    """`heads` and `rows` of text; the columns whose places stand in `words` hold words, the others figures."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[int, ...] = (0,)

    def text(self) -> str:
        """Return the table as lines of text, its columns as wide as they must be."""
        lines = [[fit(cell, _CELLS) for cell in row] for row in (self.heads, *self.rows)]
        widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(self._padded, range(len(widths)), line, widths)).rstrip() for line in lines)

    def html(self) -> Html:
        """Return the table as HTML."""
        heads, *rows = (self._row(cells, "td" if at else "th") for at, cells in enumerate((self.heads, *self.rows)))
        return tag("table", tag("thead", heads), tag("tbody", *rows), cls="grid")

    def _padded(self, at: int, cell: str, room: int) -> str:
        blank = " " * (room - width(cell))
        return cell + blank if at in self.words else blank + cell

    def _row(self, cells: tuple[str, ...], name: str) -> Html:
        return tag("tr", *(self._cell(at, cell, name) for at, cell in enumerate(cells)))

    def _cell(self, at: int, cell: str, name: str) -> Html:
        if at in self.words:
            return tag(name, cell, style=_UNBROKEN if len(cell) <= _SHORT else None)
        return tag(name, cell, cls="num")


def unbroken(text: str) -> str:
    """Return `text` so that no line ends within "n = 48".

    >>> unbroken("at n = 48") == "at n\\u00a0=\\u00a048"
    True
    """
    return text.replace("n = ", "n\u00a0=\u00a0")


def tables_html(eyebrow: str, title: str, tables: Iterable[PlainTable], notes: Iterable[str] = ()) -> Html:
    """Return tables one below the other as notebook output, and what is to be said about them."""
    panes = (tag("div", table.html(), cls="pane", style="overflow-x:auto") for table in tables)
    said = [tag("p", note, cls="dim") for note in notes]
    return page(head(eyebrow, title), *panes, tag("div", *said, cls="pane") if said else None)
