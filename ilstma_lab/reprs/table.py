"""A memory table as notebook output: Table 1 of the ILSTMA paper, first and last rows, above it how well all are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ilstma_lab.reprs.markup import Html, join, page, tag
from ilstma_lab.reprs.parts import chip, head
from ilstma_lab.reprs.words import count, line, score

if TYPE_CHECKING:
    from ilstma_lab.memory.table import MemoryTable

_ENDS = 4
_CELLS = 96
_COLUMNS = ("index", "interval", "recalls", "user said", "kind")


class _Line(NamedTuple):
    index: int
    interval: str
    recalls: int
    user: str
    kind: str
    waiting: bool


def table_html(table: MemoryTable) -> Html:
    """Return a table as HTML."""
    top = head(f"Memory table · {line(table.topic, 80) or 'no topic'}", _finding(table), sub=_pending_note(table))
    if not len(table):
        return page(top, sections=("table",))
    return page(top, tag("div", _strip(table), _grid(table), cls="pane"), sections=("table",))


def table_text(table: MemoryTable) -> str:
    """Return a table as text."""
    note = _pending_note(table)
    lines = [f"Memory table {line(table.topic, 80)}".rstrip() + f": {_finding(table)}" + (f"\n{note}" if note else "")]
    if len(table):
        lines.append(f"{'index':>7}  {'interval':>9}  {'recalls':>7}  kind   user said")
    for row in _lines(table):
        if row is None:
            lines.append(f"{'…':>7}  {count(len(table) - 2 * _ENDS, 'row')} between")
        else:
            lines.append(_text_of(row))
    return "\n".join(lines)


def _text_of(row: _Line) -> str:
    mark = "*" if row.waiting else " "
    return f"{row.index:>7}{mark} {row.interval:>9}  {row.recalls:>7}  {row.kind:<5}  {line(row.user, 80)}"


def _finding(table: MemoryTable) -> str:
    return f"{count(len(table), 'row')}; the next index is {table.next_index:,}"


def _pending_note(table: MemoryTable) -> str:
    waiting, pending = len(table.waiting), int(table.pending.sum())
    notes = [f"Recalls of {count(waiting, 'row')} wait to be written into the columns." if waiting else ""]
    notes.append(f"{count(pending, 'row waits', 'rows wait')} for a vector, to be found by words until then." if pending else "")
    return " ".join(filter(None, notes))


def _lines(table: MemoryTable) -> list[_Line | None]:
    """The first and the last rows; None stands for those between."""
    size = len(table)
    if not size:
        return []
    places = list(range(size)) if size <= 2 * _ENDS + 1 else [*range(_ENDS), None, *range(size - _ENDS, size)]
    indices, recalls, intervals, pending, waiting = (
        table.indices,
        table.recall_times,
        _intervals(table),
        table.pending,
        table.waiting,
    )
    shown: list[_Line | None] = []
    for at in places:
        if at is None:
            shown.append(None)
            continue
        entry = table[int(indices[at])]
        kind = entry.kind + (", no vector yet" if pending[at] else "")
        shown.append(
            _Line(
                entry.index,
                count(int(intervals[at]), "day"),
                int(recalls[at]),
                line(entry.user, 180),
                kind,
                entry.index in waiting,
            )
        )
    return shown


def _intervals(table: MemoryTable) -> np.ndarray:
    """Whole days since each row's last recall, at the last moment that the table knows; shape (n,)."""
    from ilstma_lab.forgetting.retention import whole_days

    known = max(int(table.last_recall.max()), int(table.created.max()))
    return whole_days(known, table.last_recall)


def _grid(table: MemoryTable) -> Html:
    rows = [_row(table, row) for row in _lines(table)]
    heads = tag(
        "tr",
        *(
            tag("th", name, cls={"recalls": "num", "interval": "num", "user said": "wide"}.get(name), scope="col")
            for name in _COLUMNS
        ),
    )
    return tag("table", tag("thead", heads), tag("tbody", *rows), cls="grid")


def _row(table: MemoryTable, row: _Line | None) -> Html:
    if row is None:
        return tag("tr", tag("td", f"… {count(len(table) - 2 * _ENDS, 'row')} between", colspan=len(_COLUMNS)), cls="more")
    return tag(
        "tr",
        tag("td", chip(row.index, waiting=row.waiting)),
        tag("td", row.interval, cls="num"),
        tag("td", row.recalls, cls="num"),
        tag("td", row.user, cls="wide cut", dir="auto"),
        tag("td", row.kind, cls="dim", style="white-space:nowrap"),
    )


def _strip(table: MemoryTable) -> Html:
    """All rows as cells, fuller where better kept: R of Eq. 3 with the paper's constants; many rows share cells."""
    from ilstma_lab.forgetting.retention import ExponentialRetention
    from ilstma_lab.forgetting.strength import SigmoidStrength

    kept = ExponentialRetention().at(_intervals(table), SigmoidStrength().days(table.recall_times))
    edges = np.linspace(0, len(kept), min(len(kept), _CELLS) + 1).astype(int)[:-1]
    means = np.add.reduceat(kept, edges) / np.diff([*edges, len(kept)])
    cells = (tag("i", style=f"--kept:{100 * mean:.0f}%") for mean in means)
    label = f"Rows in order of creation. Fuller is better kept; R is {score(float(kept.mean()))} on average."
    return join(
        tag("div", *cells, cls="strip", role="img", aria_label=label), tag("p", label, cls="scale", style="margin-bottom:8px")
    )
