"""The score strip: a stretch of the table, the window around a recalled row, and what a miss would put into the cache, by day."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, ClassVar

import numpy as np

from ilstma_lab.clock import ManualClock
from ilstma_lab.engine import ILSTMA
from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.retention import whole_days
from ilstma_lab.memory.entry import from_microseconds, to_microseconds
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.plots.prefetch import clock_spec, strip_spec
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.selection import ScoredRow, Selection
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.protocols import PrefetchContext, Query
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import chip, chips
from ilstma_lab.reprs.words import count, day, line, score
from ilstma_lab.widgets.controls import choice, press, slider, switch
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick
from ilstma_lab.widgets.prefetch_words import FORMS, away, place_formula, setting_code

DAYS = 60
_REACH = 14  # rows shown at each side of the centre, at least
_MOST = 2**31 - 1


@dataclass(frozen=True)
class StripParameters:
    """The window's parameters and the clock; hidden: the recalled row, and the row whose sum is shown (-1: the best)."""

    days: int = slider(0, 0, DAYS, 1, label="Clock", about="from today on", unit="days")
    offset: int = slider(5, 1, 20, 1, label="Offset", about="rows each side", unit="rows")
    k: int = slider(3, 1, 8, 1, label="k", about="rows cached", unit="rows")
    weight: float = slider(1.0, 0, 3, 0.1, label="Weight of place", unit="× time")
    form: str = choice("nearness", FORMS, label="Place form")
    include_centre: bool = switch(True, label="The recalled row may be cached")
    recall: bool = press(label="Recall the boxed row", about="Put the window around the row in the box")
    recalled: int = slider(
        -1, -1, _MOST, 1, label="Recalled row", shown=False, meaning="the index of a row, or -1 for the last recall"
    )
    row: int = slider(
        -1, -1, _MOST, 1, label="Row whose sum is shown", shown=False, meaning="the index of a row, or -1 for the best"
    )


@dataclass(frozen=True)
class Strip:
    """What a miss would select on the chosen day, on each day, and by each form of the place term; with the rows in view."""

    setting: WindowPrefetch
    now: datetime
    by_day: tuple[Selection, ...]
    by_form: dict[str, Selection]
    selection: Selection
    rows: tuple[int, ...]


class ScoreStrip(Explorable):
    """See each row's score as time plus place, and travel through days to see what a miss then would put into the cache.

    `table`: a MemoryTable, or a lab, whose clock then says what day it is. `recalled`: the index of the row that the miss
    recalled (default: the first row of the last recall). Click a bar for its sum, or go from row to row with the arrow keys.
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
    rows = ((("strip", 1),), (("sum", 1),), (("clock", 1),))

    def __init__(self, table: MemoryTable | ILSTMA, **parameters: Any):
        lab = table if isinstance(table, ILSTMA) else None
        self.table = lab.table if lab else table
        if not isinstance(self.table, MemoryTable):
            raise InputError(
                f"give a lab or a table (got {type(table).__name__}): MemoryTable.load(path) reads a file, "
                "MemoryTable.from_dialogues makes one"
            )
        self.given = "lab" if lab else "table"
        if not len(self.table):
            raise InputError("the table is empty: add a dialogue first, for there is no row to recall")
        last = from_microseconds(int(self.table.last_recall.max()))
        self.now = lab.clock.now() if lab else max(ManualClock.after(self.table).now(), last)
        super().__init__(**parameters)
        self._demand_rows(StripParameters(), self.parameters)
        self._first = self.parameters.recalled
        self.recall.layout.width = "auto"

    def reset(self) -> None:
        """Return to the defaults, and to the row that was recalled at first."""
        self._go(replace(StripParameters(), recalled=self._first if self._first in self.table else -1))

    def settle(self, old: StripParameters, new: StripParameters) -> StripParameters:
        """Return `new`; the button makes the boxed row the recalled one, and k is what the window has room for.

        Raises InputError for a row that is not in the table, unless it was there when it was chosen.
        """
        self._demand_rows(old, new)
        new = replace(new, k=min(new.k, 2 * new.offset + new.include_centre))
        if not new.recall:
            return new
        boxed = new.row if new.row in self.table else _best(self._selections(new, [new.days])[0])
        return replace(new, recall=False, recalled=self._centre(new) if boxed is None else boxed)

    def picked(self, figure: str, pick: Pick, p: StripParameters) -> StripParameters | None:
        """Return the parameters with the row that was picked, or with the day where the clock was."""
        if figure == "clock":
            at = p.days + pick.x if pick.kind == "step" else pick.x
            return replace(p, days=int(np.clip(round(at), 0, DAYS)))
        rows = self._in_view(p)
        if pick.kind == "step":
            at = rows.index(p.row if p.row in rows else self._centre(p)) + int(pick.x)
            return replace(p, row=rows[at]) if 0 <= at < len(rows) else None
        return replace(p, row=round(pick.x)) if round(pick.x) in rows else None

    def compute(self, p: StripParameters) -> Strip:
        """Return what a miss would select around the recalled row, today and on each later day."""
        by_day = self._selections(p, range(DAYS + 1))
        by_form = {name: self._selections(replace(p, form=form), [p.days])[0] for name, form in FORMS.items()}
        now = self.now + timedelta(days=p.days)
        return Strip(setting_of(p), now, by_day, by_form, by_day[p.days], self._in_view(p))

    def draw(self, p: StripParameters, result: Strip) -> Drawing:
        """Return the strip, the sum of the boxed row, and the clock."""
        boxed = p.row if p.row in result.rows else _best(result.selection)
        since = "today" if p.days == 0 else f"{count(p.days, 'day')} from {day(self.now)}"
        centre = result.selection.centre
        return Drawing(
            finding=_finding(result),
            sub=f"Row {centre} is recalled on {day(result.now)}, {since}: “{self._words(centre)}”",
            figures={
                "strip": strip_spec(result.selection, result.rows, chosen=boxed),
                "clock": clock_spec(result.by_day, chosen=p.days, since=day(self.now)),
            },
            panels={"sum": self._sum(result, boxed)},
            live=_live(p, result),
            code=setting_code(result.setting),
        )

    def _selections(self, p: StripParameters, days: Any) -> tuple[Selection, ...]:
        setting, centre, table = setting_of(p), self._centre(p), self.table
        moments = (self.now + timedelta(days=after) for after in days)
        return tuple(setting.select(PrefetchContext(Query("", now, table.embedder), (centre,), table, now)) for now in moments)

    def _demand_rows(self, old: StripParameters, new: StripParameters) -> None:
        for name in ("recalled", "row"):
            row = getattr(new, name)
            if row not in (-1, getattr(old, name)) and row not in self.table:
                raise InputError(f"{name}: there is no row {row} in the table of {count(len(self.table), 'row')}")

    def _centre(self, p: StripParameters) -> int:
        if not len(self.table):
            raise InputError("the table has no row any more: add a dialogue, then move any control")
        if p.recalled in self.table:
            return p.recalled
        log = [record for record in self.table.recalls if record.row in self.table]
        last = (log[-1].at, log[-1].question) if log else None
        return next((record.row for record in log if (record.at, record.question) == last), int(self.table.indices[-1]))

    def _in_view(self, p: StripParameters) -> tuple[int, ...]:
        """The stretch of the table around the centre: the whole window, and as many rows at the ends of the table."""
        reach, at = max(_REACH, p.offset + 2), self.table.position(self._centre(p))
        first = max(0, min(at - reach, len(self.table) - 2 * reach - 1))
        return tuple(self.table.indices[first : first + 2 * reach + 1].tolist())

    def _words(self, index: int) -> str:
        return line(self.table.sides(index)[0] or self.table.sides(index)[1], 76)

    def _sum(self, result: Strip, boxed: int | None) -> Html:
        """The sum of one row: time and place with how each came about."""
        if boxed is None:
            return tag("div", "No row was scored.", cls="eq")
        rank, row = next((pair for pair in enumerate(result.selection.rows, 1) if pair[1].index == boxed), (0, None))
        if row is None:
            why = "it was recalled, and is left out" if boxed == result.selection.centre else "outside the window: it is not read"
            body = join(chip(boxed, "relevant" if boxed == result.selection.centre else "none"), tag("span", why))
        else:
            of = f"place {rank} of {len(result.selection.rows)}{', cached' if row.chosen else ''}"
            place = f"{place_formula(result.setting.place, row.distance)}: {away(row.distance)}"
            body = join(
                chip(boxed, "cache" if row.chosen else ""),
                _term("", "time", score(row.time), self._time_formula(result, row), "t"),
                _term("+", "place", score(row.place), place, "p"),
                _term("=", "score", score(row.score), of, ""),
            )
        said = tag("p", f"“{self._words(boxed)}”", cls="cut", style="margin-top:8px")
        return tag("div", tag("div", body, cls="arith", style="margin:0;gap:6px 18px"), said, cls="eq")

    def _time_formula(self, result: Strip, row: ScoredRow) -> str:
        at = self.table.position(row.index)
        times = int(self.table.recall_times[at])
        idle = max(int(whole_days(to_microseconds(result.now), self.table.last_recall[at])), 0)
        strength = float(result.setting.strength.days(np.array(times)))
        return f"exp(−{idle} / {strength:.3f}): {count(idle, 'day')}, n = {times}"


def setting_of(p: StripParameters) -> WindowPrefetch:
    """Return the prefetcher that the controls describe."""
    place = PlaceTerm(form=p.form, weight=p.weight)
    return WindowPrefetch(k=p.k, offset=p.offset, include_centre=p.include_centre, place=place)


def _best(selection: Selection) -> int | None:
    return selection.rows[0].index if selection.rows else None


def _term(sign: str, name: str, value: str, beneath: str, role: str) -> Html:
    """One term of a sum with how it came about beneath; its sign stays beside it where the line breaks."""
    head = tag("span", f"{name} ", tag("b", value, cls=role or None))
    term = tag("span", head, tag("span", beneath, cls="dim"), style="display:inline-grid")
    before = tag("span", sign, cls="dim") if sign else None
    return tag("span", before, term, style="display:inline-flex;gap:18px;align-items:center")


def _live(p: StripParameters, result: Strip) -> Html:
    """The day, and what each form of the place term would cache on it."""
    after = "days: the miss happens today" if p.days == 0 else f"{'day' if p.days == 1 else 'days'} from now"
    date = tag(
        "div",
        tag("b", day(result.now)),
        tag("span", f"{p.days} {after}"),
        cls="readout",
        style="grid-template-columns:1fr;align-self:start",
    )
    lines = (join(tag("span", name, cls="dim"), tag("span", chips(of.chosen, "cache"))) for name, of in result.by_form.items())
    forms = tag("div", *lines, style="display:grid;grid-template-columns:64px 1fr;row-gap:3px")
    note = tag("p", "Literal is the form that the paper prints; it leaves the offset open.", cls="dim", style="margin-top:6px")
    return join(date, tag("div", forms, note, cls="eq"))


def _finding(result: Strip) -> str:
    cached = [row for row in result.selection.rows if row.chosen]
    if not cached:
        return "A miss caches nothing here: no row is in the window"
    *most, last = (str(row.index) for row in cached)
    names = f"rows {', '.join(most)} and {last}" if most else f"row {last}"
    far = max(row.distance for row in cached)
    reach = "the recalled row alone" if far == 0 else f"at most {count(far, 'row')} away"
    return f"A miss caches {names}, {reach}"
