"""The score strip: a stretch of the table, the window around a recalled row, and what a miss now would put into the cache."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar

import numpy as np

from ilstma_lab.clock import ManualClock
from ilstma_lab.engine import ILSTMA
from ilstma_lab.errors import InputError
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.plots.prefetch import strip_spec
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.protocols import PrefetchContext, Query
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import chip
from ilstma_lab.reprs.words import count, day, line, score
from ilstma_lab.widgets.controls import choice, press, slider, switch
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick

FORMS = {"Nearness": "nearness", "Rescaled": "rescaled", "Literal": "literal"}
_REACH = 16  # rows shown at each side of the centre
_MOST = 2**31 - 1


@dataclass(frozen=True)
class StripParameters:
    """The window's parameters and the clock; hidden: the recalled row, and the row whose arithmetic is shown (-1: the best)."""

    offset: int = slider(5, 1, 20, 1, label="Offset", about="rows each side", unit="rows")
    k: int = slider(3, 1, 8, 1, label="k", about="rows cached", unit="rows")
    weight: float = slider(1.0, 0, 3, 0.1, label="Weight of place", unit="× time")
    days: int = slider(0, 0, 60, 1, label="Clock", about="a miss so many days from now", unit="days")
    form: str = choice("nearness", FORMS, label="Place form")
    include_centre: bool = switch(True, label="The recalled row may be cached")
    recall: bool = press(label="Recall the boxed row", about="Centre the window on the row in the box")
    recalled: int = slider(-1, -1, _MOST, 1, label="Recalled row", shown=False)
    row: int = slider(-1, -1, _MOST, 1, label="Row", about="whose arithmetic is shown", shown=False)


@dataclass(frozen=True)
class Strip:
    """What a miss at `now` would select, with the rows in view."""

    selection: Selection
    setting: WindowPrefetch
    now: datetime
    rows: tuple[int, ...]


class ScoreStrip(Explorable):
    """See each row's score as time plus place, and travel through days to see what a miss then would select.

    `table`: a MemoryTable, or a lab, whose clock is then "now". `recalled`: the index of the row that the miss recalled (default:
    the row recalled last). Click a bar for its arithmetic, or move along the rows with the arrow keys.
    """

    Parameters = StripParameters
    eyebrow = "The prefetch score, Eq. 4"
    try_this = "Choose Literal, the form that is printed. Which rows of the window win, and how far away are they?"
    given = "table"
    presets: ClassVar = {
        "Paper as meant": StripParameters(),
        "As printed": StripParameters(form="literal", include_centre=False),
        "Time alone": StripParameters(weight=0.0),
        "A month later": StripParameters(days=30),
    }
    rows = ((("strip", 1),), (("sum", 1),))

    def __init__(self, table: MemoryTable | ILSTMA, **parameters: Any):
        lab = table if isinstance(table, ILSTMA) else None
        self.table = lab.table if lab else table
        if not len(self.table):
            raise InputError("the table is empty: add a dialogue first, for there is no row to recall")
        self.now = lab.clock.now() if lab else ManualClock.after(self.table).now()
        super().__init__(**parameters)

    def settle(self, old: StripParameters, new: StripParameters) -> StripParameters:
        """Return `new`; the button makes the boxed row the recalled one, and k is what the window has room for."""
        if new.recall:
            new = replace(new, recalled=new.row if new.row >= 0 else new.recalled, recall=False)
        return replace(new, k=min(new.k, 2 * new.offset + new.include_centre))

    def picked(self, figure: str, pick: Pick, p: StripParameters) -> StripParameters | None:
        """Return the parameters with the row that was picked."""
        rows = self.drawing.figures[figure]["layout"]["meta"]["rows"]
        if pick.kind == "step":
            shown = p.row if p.row in rows else self._centre(p)
            at = rows.index(shown) + int(pick.x)
        else:
            at = round(pick.x)
        return replace(p, row=rows[at]) if 0 <= at < len(rows) else None

    def compute(self, p: StripParameters) -> Strip:
        """Return what a miss `days` from now would select around the recalled row."""
        centre = self._centre(p)
        place = PlaceTerm(form=p.form, weight=p.weight)
        setting = WindowPrefetch(k=p.k, offset=p.offset, include_centre=p.include_centre, place=place)
        now = self.now + timedelta(days=p.days)
        selection = setting.select(PrefetchContext(Query("", now, self.table.embedder), (centre,), self.table, now))
        at = self.table.position(centre)
        first = max(0, min(at - _REACH, len(self.table) - 2 * _REACH - 1))
        return Strip(selection, setting, now, tuple(self.table.indices[first : first + 2 * _REACH + 1].tolist()))

    def draw(self, p: StripParameters, result: Strip) -> Drawing:
        """Return the strip and the arithmetic of the boxed row."""
        best = result.selection.rows[0].index if result.selection.rows else None
        boxed = p.row if p.row in result.rows else best
        return Drawing(
            finding=_finding(result),
            sub=f"row {result.selection.centre} was recalled on {day(result.now)}: “{self._words(result.selection.centre)}”",
            figures={"strip": strip_spec(result.selection, result.rows, chosen=boxed)},
            panels={"sum": self._sum(result, boxed)},
            code=f"from ilstma_lab.prefetch.window import WindowPrefetch\n\n{result.setting!r}",
        )

    def _centre(self, p: StripParameters) -> int:
        if p.recalled in self.table:
            return p.recalled
        return int(self.table.indices[int(np.argmax(self.table.last_recall + self.table.recall_times))])

    def _words(self, index: int) -> str:
        return line(self.table.sides(index)[0] or self.table.sides(index)[1], 60)

    def _sum(self, result: Strip, boxed: int | None) -> Html:
        row = next((row for row in result.selection.rows if row.index == boxed), None)
        if row is None:
            where = "outside the window: it is not read" if boxed is not None else "no row was scored"
            return tag("div", chip(boxed) if boxed is not None else None, tag("span", where), cls="sumrow")
        rank = result.selection.rows.index(row) + 1
        entry = self.table[row.index]
        strength = float(result.setting.strength.days(np.array(entry.recall_times)))
        idle = max((result.now - entry.last_recall).days, 0)
        time = f"exp(−{idle} / {strength:.2f}): {count(idle, 'day')}, n = {entry.recall_times}"
        cells = (
            _term("time", score(row.time), time, "time"),
            tag("span", "+"),
            _term("place", score(row.place), f"{_formula(result.setting.place, row.distance)}: {_away(row.distance)}", "place"),
            tag("span", "="),
            _term("score", score(row.score), f"{rank} of {len(result.selection.rows)}{', cached' if row.chosen else ''}", ""),
        )
        text = tag("p", f"“{self._words(row.index)}”", cls="mid")
        return join(tag("div", chip(row.index, "cache" if row.chosen else ""), *cells, cls="sumrow"), text)


def _term(name: str, value: str, beneath: str, role: str) -> Html:
    return tag(
        "span", tag("span", name, " ", tag("b", value), cls=f"is-{role}" if role else None), tag("small", beneath), cls="term"
    )


def _formula(place: PlaceTerm, distance: int) -> str:
    weight = "" if place.weight == 1 else f"{place.weight:g} · "
    forms = {"nearness": "(1 − (2/π) arctan {})", "rescaled": "(2/π) arctan {}", "literal": "(π/2) arctan {}"}
    return weight + forms[place.form].format(distance)


def _away(distance: int) -> str:
    return "the recalled row" if distance == 0 else f"{count(distance, 'row')} away"


def _finding(result: Strip) -> str:
    cached = [row for row in result.selection.rows if row.chosen]
    if not cached:
        return "Nothing is cached"
    far = max(row.distance for row in cached)
    by_time = sum(row.time > row.place for row in cached)
    led = "time" if 2 * by_time > len(cached) else "place"
    names = " and ".join(filter(None, [", ".join(str(row.index) for row in cached[:-1]), str(cached[-1].index)]))
    near = "the recalled row alone" if far == 0 else f"at most {count(far, 'row')} away"
    return f"The cache takes {'rows' if len(cached) > 1 else 'row'} {names}, {near}: mostly for {led}"
