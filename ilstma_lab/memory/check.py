"""Whether a table keeps its promises: the invariants of its parts one by one, and its file beside its memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.errors import IlstmaError
from ilstma_lab.memory.columns import ASKED, TOLD, Columns
from ilstma_lab.memory.entry import to_microseconds
from ilstma_lab.memory.records import GROUP, Summary
from ilstma_lab.memory.storage import TableFile

if TYPE_CHECKING:
    from ilstma_lab.memory.table import MemoryTable

_FIRST, _LAST = (to_microseconds(end.replace(tzinfo=UTC)) for end in (datetime.min, datetime.max))
_DAY_MINUTES = 24 * 60
_TOLERANCE = 1e-3
_MOST = 5


def check(table: MemoryTable) -> tuple[str, ...]:
    """Return what is wrong with a table, a sentence each; () when all is well. Nothing is changed.

    Where its parts do not even fit together, the rest is not looked at.
    """
    with table._lock:
        found = tuple(_shape(table))
        return found or (*_times(table), *_vectors(table), *_references(table), *_summaries(table), *_file(table))


def _shape(table: MemoryTable) -> Iterator[str]:
    columns, contents = table._columns, table._contents
    parts = {name: getattr(columns, name) for name in columns._arrays}
    parts |= {name: getattr(contents, name) for name in ("users", "assistants", "sources")}
    for name, part in parts.items():
        if len(part) != columns.size:
            yield f"there are {columns.size} rows, and {len(part)} of {name}"
    if columns.vectors.shape[1:] != (table.embedder.dim,):
        yield f"vectors have {columns.dim} dimensions, and the embedder {table.embedder.dim}"
    for at in islice(np.flatnonzero(np.diff(columns.index) <= 0), _MOST):
        yield f"row {columns.index[at + 1]} follows row {columns.index[at]}: indices must rise, each once"
    if columns.size and not 0 <= columns.index.min() <= columns.index.max() < contents.next_index:
        yield f"an index lies outside 0 to {contents.next_index - 1}: the next is {contents.next_index}"


def _times(table: MemoryTable) -> Iterator[str]:
    columns, contents = table._columns, table._contents
    for name in ("created", "last_recall"):
        moments = getattr(columns, name)
        yield from _rows(columns, (moments < _FIRST) | (moments > _LAST), f"{name} is no moment of the calendar")
    yield from _rows(columns, np.abs(columns.offset.astype(int)) >= _DAY_MINUTES, "its clock is a day or more from UTC")
    yield from _rows(columns, columns.last_recall < columns.created, "its last recall lies before its creation")
    yield from _rows(columns, columns.recall_times < 1, "recall_times is below 1")
    yield from _rows(columns, ~np.isin(columns.kind, (TOLD, ASKED)), "it is neither told nor asked")
    logged = Counter(record.row for record in contents.recalls)
    counts = zip(columns.index.tolist(), columns.recall_times.tolist(), strict=True)
    few = [logged[row] > times - 1 + contents.waiting.get(row, (0, 0))[0] for row, times in counts]
    yield from _rows(columns, np.array(few, bool), "the log holds more recalls than it counts")


def _vectors(table: MemoryTable) -> Iterator[str]:
    columns = table._columns
    with np.errstate(all="ignore"):
        lengths = np.sqrt(np.einsum("nd,nd->n", columns.vectors, columns.vectors, dtype=float))
    finite = np.isfinite(columns.vectors).all(axis=1)
    yield from _rows(columns, ~finite, "its vector is not finite")
    yield from _rows(columns, finite & columns.pending & (lengths != 0.0), "it waits for its vector, and has one")
    whole = (np.abs(lengths - 1.0) < _TOLERANCE) | (lengths == 0.0)  # an embedder may give zeros, and does for a blank text
    yield from _rows(columns, finite & ~columns.pending & ~whole, "its vector is not of length 1")


def _references(table: MemoryTable) -> Iterator[str]:
    contents, live = table._contents, set(table._columns.index.tolist())
    for name in ("cites", "quotes"):
        for row, others in getattr(contents, name).items():
            yield from _missing({row}, live, f"one whose {name} are kept, but which is not there")
            yield from _missing(others, live, f"row {row} {name}")
    yield from _missing(contents.waiting, live, "the deferred write names")
    yield from _missing({record.row for record in contents.recalls}, live, "the log of recalls names")
    for summary in contents.summaries.values():
        never = {row for row in summary.rows if row >= contents.next_index}
        yield from _missing(never, live, f"summary {summary.number} is of", "never there")
        if not summary.stale:
            yield from _missing(set(summary.rows) - never, live, f"summary {summary.number} is not stale, but of", "deleted")


def _summaries(table: MemoryTable) -> Iterator[str]:
    contents, columns = table._contents, table._columns
    groups: list[Summary] = [summary for summary in contents.summaries.values() if summary.kind == GROUP]
    if any(number != summary.number for number, summary in contents.summaries.items()):
        yield "a summary stands under another number than its own"
    if contents.stale != {summary.number for summary in contents.summaries.values() if summary.stale}:
        yield "the set of stale summaries is not what the summaries say"
    held = {row for summary in groups for row in summary.rows}
    told = columns.index[columns.kind == TOLD].tolist()
    if list(contents.loose) != [row for row in told if row not in held]:
        yield "the rows that wait for a summary are not the told rows that stand in none"
    if both := contents.profiled & contents.unprofiled.keys():
        yield f"{_named(both)}: taken in by the personality, and waiting for it"
    known = contents.profiled | contents.unprofiled.keys()
    if neither := held.intersection(columns.index.tolist()) - known:
        yield f"{_named(neither)}: summarised, but neither taken in by the personality nor waiting for it"
    if strangers := contents.unprofiled.keys() - held:
        yield f"{_named(strangers)}: waiting for the personality, but in no summary"


def _file(table: MemoryTable) -> Iterator[str]:
    """What a load of the file would find, where the table is tied to one."""
    if table._file is None:
        return
    name, stored, notes = table._file.path.name, type(table)(embedder=table.embedder), []
    try:
        found = TableFile(table._file.path).read()
        stored.topic = found.head.get("topic", "")
        stored._take_over(found, notes, vectors=False)
    except IlstmaError as error:
        yield f"{name} cannot be read back: {error}"
        return
    yield from (f"{name}: {note}" for note in (*found.notes, *notes))
    (head, sections), (told, others) = table._snapshot(vectors=False), stored._snapshot(vectors=False)
    for key in head:
        if head[key] != told[key]:
            yield f"{name} holds another {key} than memory"
    for part in sections:
        pairs = zip_longest(sections[part], others[part])
        if (at := next((at for at, (mine, its) in enumerate(pairs) if mine != its), None)) is not None:
            yield f"{name} holds other {part} than memory, from number {at} on"


def _rows(columns: Columns, wrong: np.ndarray, what: str) -> Iterator[str]:
    if wrong.any():
        yield f"{_named(columns.index[wrong].tolist())}: {what}"


def _missing(rows: Collection[int], live: set[int], what: str, why: str = "not there") -> Iterator[str]:
    if gone := [row for row in rows if row not in live]:
        yield f"{what} {_named(gone)}, {why}"


def _named(rows: Collection[int]) -> str:
    first = ", ".join(map(str, sorted(rows)[:_MOST]))
    more = f" and {len(rows) - _MOST} more" if len(rows) > _MOST else ""
    return f"row{'s' * (len(rows) > 1)} {first}{more}"
