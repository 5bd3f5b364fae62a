"""What the inspector shows around the open row, as plain JSON values: finding, filters, a page of rows, map, what waits."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.reprs.words import MONTHS, count, day, line, plain, score, spelled, weekday
from ilstma_lab.widgets.inspector_look import SLIDER_DAYS, Look
from ilstma_lab.widgets.inspector_panel import speaks_to_model
from ilstma_lab.widgets.inspector_rows import InspectedRows, Shown

PAGE_ROWS = 72
_LEAD = 24
_CELLS = 132
_LINE = 160
_NAMED = 2
_DOTS = 40
TRY_THIS = f"Slide {SLIDER_DAYS} days on. Which rows are still coloured, and what have they in common?"


def view_of(rows: InspectedRows, look: Look, shown: Shown, *, title: str = "") -> dict[str, Any]:
    """Return all that the frame shows; of the rows only the page around `look.first`."""
    table = rows.table
    start = min(max(0, look.first - _LEAD), max(0, len(shown.positions) - 1))
    return {
        "eyebrow": _eyebrow(rows, title),
        "finding": finding_of(rows, look, shown),
        "sub": _sub(rows),
        "size": len(table),
        "found": len(shown.positions),
        "found_words": f"{len(shown.positions):,} of {count(len(table), 'row')}",
        "empty": _empty(rows, look),
        "chips": [[name, name.capitalize(), number] for name, number in rows.counts().items()],
        "day": _day(rows, look),
        "first": look.first,
        "start": start,
        "rows": page_of(rows, shown, start),
        "place": _place(rows, look, shown),
        "map": _map(rows, shown),
        "waiting": waiting_words(rows),
        "try_this": TRY_THIS,
    }


def finding_of(rows: InspectedRows, look: Look, shown: Shown) -> str:
    """Return how much of the table is kept, today and on the day looked at."""
    if not len(rows.table):
        return "No row yet: add one, or import dialogues"
    today = int((rows.kept() > 0.5).sum())
    be = "is" if today == 1 else "are"
    first = f"{today:,} of {count(len(rows.table), 'row')} {be} more than half kept today"
    if not look.days:
        return first
    later = int((shown.kept > 0.5).sum())
    ahead = f"{spelled(look.days).lower()} {'day' if look.days == 1 else 'days'} on"
    return f"{first}; {ahead}, {f'{later:,}' if later else 'none'} {'is' if later == 1 else 'are'}"


def page_of(rows: InspectedRows, shown: Shown, start: int, size: int = PAGE_ROWS) -> list[dict[str, Any]]:
    """Return `size` rows from place `start` of the order shown, each with its texts and numbers as they are written."""
    today, waiting = rows.moment(), rows.table.waiting
    ranks = {index: rank for rank, index in enumerate(rows.cached(), 1)}
    page = []
    for at in shown.positions[start : start + size]:
        entry = rows.table[int(rows.table.indices[at])]
        more, _ = waiting.get(entry.index, (0, None))
        numbers = {"S": f"{shown.strength_days[at]:.1f}", "R": score(shown.kept[at]), "kept": round(100 * float(shown.kept[at]))}
        page.append({**_row(entry, ranks.get(entry.index, 0), more, today), **numbers})
    return page


def marks_of(entry: MemoryEntry, rank: int, more: int) -> list[list[str]]:
    """Return what stands beside a row: the name of a look, and a word."""
    marks = [["cached", f"cached {rank}"]] if rank else []
    marks += [["waiting", "waiting"]] if more else []
    marks += [["plain", "asked"]] if entry.kind == "asked" else []
    marks += [["plain", "no vector yet"]] if entry.pending else []
    return marks + ([["plain", "flagged"]] if speaks_to_model(entry.user, entry.assistant) else [])


def short_day(moment: datetime, today: datetime) -> str:
    """Return the day of a moment of this year, else its month and year."""
    if moment.year == today.year:
        return f"{moment.day} {MONTHS[moment.month - 1]}"
    return f"{MONTHS[moment.month - 1]} {moment.year}"


def waiting_words(rows: InspectedRows) -> list[str]:
    """Return what the deferred write holds, and what it will change; [] where nothing waits."""
    waiting = sorted(rows.table.waiting.items())
    if not waiting:
        return []
    touches = sum(more for _, (more, _) in waiting)
    head = f"{count(touches, 'touch waits', 'touches wait')} in short-term memory."
    changes = [_change(rows, index, more) for index, (more, _) in waiting[:_NAMED]]
    rest = len(waiting) - len(changes)
    also = f"; and {count(rest, 'row')} more" if rest else ""
    return [head, f"The columns do not have {'it' if touches == 1 else 'them'} yet: {'; '.join(changes)}{also}."]


def _change(rows: InspectedRows, index: int, more: int) -> str:
    times = rows.table[index].recall_times
    before, after = rows.strength.days(np.array([times, times + more]))
    return f"S of row {index} is {before:.2f} days there, and {after:.2f} once written"


def _row(entry: MemoryEntry, rank: int, more: int, today: datetime) -> dict[str, Any]:
    created, last = entry.created, entry.last_recall.astimezone(entry.created.tzinfo)
    return {
        "index": entry.index,
        "text": line(entry.user, _LINE) or line(entry.assistant, _LINE),
        "role": "cache" if rank else "",
        "marks": marks_of(entry, rank, more),
        "created": [short_day(created, today), day(created)],
        "last": [short_day(last, today), day(last)],
        "recalls": entry.recall_times,
        "more": more,
    }


def _eyebrow(rows: InspectedRows, title: str) -> str:
    topic = line(title or rows.table.topic, 80) or "no topic"
    file = [plain(rows.table.path.name, 80)] if rows.table.path else ["in memory"]
    return " · ".join(["Long-term memory", topic, *file])


def _sub(rows: InspectedRows) -> str:
    ahead = rows.ahead_of_clock()
    if not ahead:
        return ""
    were = "row was" if ahead == 1 else "rows were"
    return f"{ahead:,} {were} last recalled after {day(rows.moment())}, the clock’s day: that counts as 0 days ago."


def _empty(rows: InspectedRows, look: Look) -> str:
    if not len(rows.table):
        return "The table is empty. Add a row, or ask the lab something."
    if look.find.strip():
        return f"No row holds “{line(look.find, 60)}”. Search for a part of a word, or choose All."
    return f"No row is {look.only}. Choose All to see every row."


def _day(rows: InspectedRows, look: Look) -> dict[str, Any]:
    looked_at, today = rows.moment(look.days), rows.moment()
    name = weekday(looked_at)
    ahead = f"today + {count(look.days, 'day')}" if look.days else "today"
    same_year = looked_at.year == today.year
    return {"name": name.rpartition(" ")[0] if same_year else name, "ahead": ahead, "most": max(SLIDER_DAYS, look.days)}


def _place(rows: InspectedRows, look: Look, shown: Shown) -> int:
    """Where the open row stands in the order shown; -1 where it is not shown."""
    if look.row is None:
        return -1
    places = np.flatnonzero(shown.positions == rows.table.position(look.row))
    return int(places[0]) if len(places) else -1


def _map(rows: InspectedRows, shown: Shown) -> dict[str, Any]:
    """All rows in the order shown as at most 132 cells: R in percent, its mean where rows share a cell."""
    kept = shown.kept[shown.positions]
    if not len(kept):
        return {"cells": [], "waiting": []}
    edges = np.linspace(0, len(kept), min(len(kept), _CELLS) + 1).astype(int)
    means = np.add.reduceat(kept, edges[:-1]) / np.diff(edges)
    waiting = [rows.table.position(index) for index in rows.table.waiting]
    places = np.flatnonzero(np.isin(shown.positions, waiting))[:_DOTS]
    return {"cells": np.rint(100 * means).astype(int).tolist(), "waiting": ((places + 0.5) / len(kept)).round(4).tolist()}
