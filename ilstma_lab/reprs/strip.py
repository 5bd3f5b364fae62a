"""Long-term memory as a strip of cells, a row or a few rows each, with what a turn looked at and found marked on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ilstma_lab.reprs.film import reached, rows_at, rows_of
from ilstma_lab.reprs.markup import Html, tag
from ilstma_lab.reprs.parts import width
from ilstma_lab.reprs.words import count, score
from ilstma_lab.trace import Turn

CELLS = 100
_TICKS = 5


class Scale(NamedTuple):
    """Where a row's index stands on the strip: 0 is its beginning, 1 its end."""

    rows: int

    def start(self, index: int) -> float:
        """Return where the row's place begins."""
        return index / self.rows

    @property
    def apart(self) -> float:
        """How far apart labels must stand, for all their digits to be read."""
        return 0.03 + 0.013 * len(f"{self.rows:,}")

    def middle(self, index: int) -> float:
        """Return the middle of the row's place."""
        return (index + 0.5) / self.rows


def strip_html(turn: Turn, now: int) -> Html:
    """Return the strip as it stands at step `now`; of a table of any size, the same few cells."""
    scale = Scale(max(size_at(turn, now), 1 + max(rows_of(turn), default=-1)))
    if not size_at(turn, now):
        return tag("p", "The table is empty.", cls="dim")
    return tag(
        "div",
        tag("div", *_chunks(turn, now, scale), cls="lm-a"),
        tag("div", *_cells(turn, now, scale), *_found(turn, now, scale), cls="lm-cells"),
        tag("div", *_ranked(turn, now, scale), cls="lm-b"),
        tag("div", *_labels(turn, now, scale), cls="lm-axis"),
        cls="lm",
        role="img",
        aria_label=aloud(turn, now),
    )


def size_at(turn: Turn, now: int) -> int:
    """Return how many rows the table holds at step `now`: step 8 adds the new one."""
    added = turn.row is not None and not reached(turn, 8, now)
    return turn.table_size - added


def aloud(turn: Turn, now: int) -> str:
    """Return what the strip shows, as a sentence."""
    cached, found = rows_at(turn, "cache", now), rows_at(turn, "relevant", now)
    parts = [count(size_at(turn, now), "row")]
    parts += [f"in the cache: {_list(cached)}"] if cached else []
    parts += [f"recalled: {_list(found)}"] if found else []
    return "Long-term memory, " + "; ".join(parts)


def kept_by_window(turn: Turn) -> dict[int, float]:
    """Return the retention R of the rows that the prefetch looked at, as it was reckoned then."""
    return {row.index: row.time for row in turn.prefetch.rows} if turn.prefetch and turn.prefetch.centre is not None else {}


def _cells(turn: Turn, now: int, scale: Scale) -> list[Html]:
    number = min(CELLS, scale.rows)
    cached = {int(scale.start(row) * number) for row in rows_at(turn, "cache", now)}
    sums: dict[int, list[float]] = {}
    if reached(turn, 7, now):
        for row, kept in kept_by_window(turn).items():
            sums.setdefault(int(scale.start(row) * number), []).append(kept)
    return [_cell(sums.get(at, ()), at in cached) for at in range(number)]


def _cell(kept: Sequence[float], cached: bool) -> Html:
    if not kept:
        return tag("i", cls="in-cache" if cached else None)
    mean = sum(kept) / len(kept)
    return tag("i", cls="kept in-cache" if cached else "kept", style=f"--kept:{100 * mean:.0f}%", title=f"R {score(mean)}")


def _found(turn: Turn, now: int, scale: Scale) -> list[Html]:
    taken = rows_at(turn, "relevant", now) if reached(turn, 6, now) else ()
    added = [turn.row] if turn.row is not None and reached(turn, 8, now) else []
    rings = [(row, "lm-ring") for row in taken] + [(row, "lm-ring lm-new") for row in added]
    return [tag("b", cls=cls, style=f"left:{width(scale.middle(row))}") for row, cls in rings]


def _chunks(turn: Turn, now: int, scale: Scale) -> list[Html]:
    if not turn.recall or not reached(turn, 6, now):
        return []
    shown = [chunk for chunk in turn.recall.branch_a.chunks[: turn.recall.branch_a.read] if chunk.rows]
    return [tag("i", style=f"left:{width(scale.start(c.rows[0]))};right:{width(1 - scale.start(c.rows[-1] + 1))}") for c in shown]


def _ranked(turn: Turn, now: int, scale: Scale) -> list[Html]:
    if not turn.recall or not reached(turn, 6, now):
        return []
    return [tag("i", style=f"left:{width(scale.middle(row))}") for row in turn.recall.branch_b.winners]


def _labels(turn: Turn, now: int, scale: Scale) -> list[Html]:
    marked = rows_at(turn, "relevant", now)[:1] or rows_at(turn, "cache", now)[:1]
    ticks = [row for row in _ticks(scale) if all(abs(row - other) / scale.rows > scale.apart for other in marked)]
    return [_label(row, scale, "") for row in ticks] + [_label(row, scale, "now") for row in marked]


def _label(row: int, scale: Scale, cls: str) -> Html:
    at = scale.middle(row)
    looks = " ".join(filter(None, (cls, "at-end" if at > 1 - scale.apart / 2 else "")))
    return tag("span", f"{row:,}", cls=looks or None, style=f"left:{width(at)}")


def _ticks(scale: Scale) -> list[int]:
    """The first and last row, and round numbers between them that stay clear of the last."""
    last = scale.rows - 1
    step = next(base * 10**power for power in range(12) for base in (1, 2, 5) if scale.rows <= _TICKS * base * 10**power)
    return [*(row for row in range(0, last, step) if (last - row) / scale.rows > scale.apart), last]


def _list(rows: Sequence[int]) -> str:
    return f"{'row' if len(rows) == 1 else 'rows'} {', '.join(map(str, rows))}"
