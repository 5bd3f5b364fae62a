"""The forgetting bank: which pieces of a table MemoryBank's curve has let go of, by day, recalls and form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, ClassVar

import numpy as np

from ilstma_lab.clock import ManualClock
from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.retention import whole_days
from ilstma_lab.memory.entry import to_microseconds
from ilstma_lab.memory.segments import Note
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.plots.memorybank import FORMS, bank_spec, chance, kept_spec
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import chip
from ilstma_lab.reprs.words import MONTHS, count, day, line, score
from ilstma_lab.systems.memorybank import Forgetting, MemoryBank
from ilstma_lab.systems.memorybank.pieces import Pieces
from ilstma_lab.widgets.controls import choice, slider
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick

DAYS = 30
_MOST = 2**31 - 1
_FORMULAS = {"paper": "exp(−t / S)", "inverted": "exp(−t / 5 · S)"}
_WORDS = {"Paper": "paper", "Inverted S": "inverted S", "Redrawn": "redrawn", "Public code": "public code"}


@dataclass(frozen=True)
class BankParameters:
    """The form, the clock, and recalls added to each piece; hidden: the piece whose draw is shown (-1: the last)."""

    form: str = choice("paper", _WORDS, label="Form of forgetting", dropdown=True)
    days: int = slider(0, 0, DAYS, 1, label="Clock", about="from today on", unit="days")
    recalls: int = slider(0, 0, 9, 1, label="Recalls added", about="to each piece", unit="recalls")
    piece: int = slider(
        -1, -1, _MOST, 1, label="Piece whose draw is shown", shown=False, meaning="the place of a piece, or -1 for the last"
    )


@dataclass(frozen=True)
class Bank:
    """The pieces with their t and S by the chosen day, and what each form keeps on each day, shape (days + 1, n)."""

    curve: Forgetting
    pieces: Pieces
    told: tuple[date, ...]
    places: tuple[int, ...]
    interval_days: np.ndarray
    recall_times: np.ndarray
    masked: np.ndarray
    chances: dict[str, np.ndarray]
    now: datetime


class ForgettingBank(Explorable):
    """See which rows and day summaries are masked, as days pass, under the paper's forgetting and its public code's.

    `bank`: a MemoryBank, such as a SiliconFriend, whose clock says what day it is, or a MemoryTable. Nothing is changed: recalls
    are added for the picture alone. Click a piece, or go from one to the next with the arrow keys, for its draw.
    """

    Parameters = BankParameters
    eyebrow = "MemoryBank, forgetting"
    try_this = "Add 9 recalls. How many pieces come back under Paper, and how many under Inverted S?"
    given = "bank"
    presets: ClassVar = {
        "Paper": BankParameters(),
        "9 recalls": BankParameters(recalls=9),
        "9 recalls, inverted S": BankParameters(form="inverted S", recalls=9),
        "9 recalls, redrawn": BankParameters(form="redrawn", recalls=9),
        "Public code": BankParameters(form="public code"),
    }
    rows = ((("bank", 1),), (("piece", 1),), (("kept", 1),))

    def __init__(self, bank: MemoryBank | MemoryTable, **parameters: Any):
        lab = bank if isinstance(bank, MemoryBank) else None
        self.table = lab.table if lab else bank
        if not isinstance(self.table, MemoryTable):
            raise InputError(f"give a MemoryBank or a table (got {type(bank).__name__}): MemoryBank(table) makes one")
        self.given = "bank" if lab else "table"
        if not len(self.table):
            raise InputError("the table is empty: add a dialogue first, for there is nothing to forget")
        self.now = lab.clock.now() if lab else ManualClock.after(self.table).now()
        super().__init__(**parameters)

    def picked(self, figure: str, pick: Pick, p: BankParameters) -> BankParameters | None:
        """Return the parameters with the piece that was picked, or with the day."""
        if figure == "kept":
            at = p.days + pick.x if pick.kind == "step" else pick.x
            return replace(p, days=int(np.clip(round(at), 0, DAYS)))
        told, places = self._stand(Pieces(self.table))
        order = sorted(range(len(told)), key=lambda at: (told[at], places[at]))
        if pick.kind == "step":
            at = order.index(_chosen(p, len(told))) + int(pick.x or pick.y)
            return replace(p, piece=order[at]) if 0 <= at < len(order) else None
        where = min(told) + timedelta(days=round(pick.x)), round(pick.y)
        return next((replace(p, piece=at) for at in order if (told[at], places[at]) == where), None)

    def compute(self, p: BankParameters) -> Bank:
        """Return the pieces as the chosen form leaves them on the chosen day, and what all forms keep on each day."""
        if not len(self.table):
            raise InputError("the table has no row any more: add a dialogue, then move any control")
        pieces, now = Pieces(self.table), self.now + timedelta(days=p.days)
        told, places = self._stand(pieces)
        today = np.maximum(whole_days(to_microseconds(self.now), pieces.last_recall), 0)
        interval = today + np.arange(DAYS + 1)[:, None]  # (days + 1, n)
        times = pieces.recall_times + p.recalls
        chances = {name: self._spared(form, pieces, chance(form, interval, times)) for name, form in FORMS.items()}
        masked = self._masked(FORMS[p.form], pieces, interval, times)
        return Bank(FORMS[p.form], pieces, told, places, interval[p.days], times, masked, chances, now)

    def draw(self, p: BankParameters, result: Bank) -> Drawing:
        """Return the pieces, the draw of one, and how many are kept by day."""
        at = _chosen(p, len(result.pieces))
        kept = (~result.masked).sum(axis=1)
        now = day(result.now)
        since = "today" if p.days == 0 else f"{count(p.days, 'day')} from {day(self.now)}"
        return Drawing(
            finding=f"{_name(p.form)} keeps {kept[p.days]} of {count(len(result.pieces), 'piece')} on {now}",
            sub=f"{since[0].upper()}{since[1:]}. A masked piece is not recalled. It is not deleted.",
            figures={
                "bank": bank_spec(result.told, result.places, result.masked[p.days], chosen=at, now=now),
                "kept": kept_spec(result.chances, chosen=p.form, day=p.days, counted=kept, since=day(self.now)),
            },
            panels={"piece": _draw_of(result, at, masked=bool(result.masked[p.days, at]))},
            live=_live(p, result, kept),
            code=_code(result.curve),
        )

    def _stand(self, pieces: Pieces) -> tuple[tuple[date, ...], tuple[int, ...]]:
        """Return the day that each piece tells of, and its place there: 0 for the summary, from 1 on for rows."""
        counted: dict[date, int] = {}
        told, places = [], []
        for index in self.table.indices.tolist():
            own = self.table.day_of(index)
            counted[own] = counted.get(own, 0) + 1
            told.append(own)
            places.append(counted[own])
        days = [self.table.day_of(note.rows[0]) for note in pieces.notes]
        return (*told, *days), (*places, *(0 for _ in days))

    def _spared(self, curve: Forgetting, pieces: Pieces, chances: np.ndarray) -> np.ndarray:
        if curve.days == "spared":
            chances[:, len(self.table) :] = 1.0
        return chances

    def _masked(self, curve: Forgetting, pieces: Pieces, interval: np.ndarray, times: np.ndarray) -> np.ndarray:
        """Return what the draws mask on each day, shape (days + 1, n)."""
        many = len(interval)
        lost = curve.forgotten(np.tile(pieces.numbers, many), interval.ravel(), np.tile(times, many), topic=self.table.topic)
        lost = lost.reshape(interval.shape)
        if curve.days == "spared":
            lost[:, len(self.table) :] = False
        return lost


def _chosen(p: BankParameters, n: int) -> int:
    return p.piece if 0 <= p.piece < n else n - 1


def _name(form: str) -> str:
    return {"redrawn": "The paper’s curve, redrawn at each login,"}.get(form, f"The {form}")


def _code(curve: Forgetting) -> str:
    usual = Forgetting()
    given = [
        f"{name}={getattr(curve, name)!r}" for name in ("form", "draw", "days") if getattr(curve, name) != getattr(usual, name)
    ]
    made = f"MemoryBankSettings(forgetting=Forgetting({', '.join(given)}))"
    return f"from ilstma_lab.systems.memorybank import Forgetting, MemoryBankSettings\n\n{made}"


def _draw_of(result: Bank, at: int, *, masked: bool) -> Html:
    """One piece: its t and S, R beside u, and what was said."""
    piece, t, n = result.pieces[at], int(result.interval_days[at]), int(result.recall_times[at])
    curve, table = result.curve, result.pieces.table
    told = result.told[at]
    named = tag("b", f"{told.day} {MONTHS[told.month - 1]}") if isinstance(piece, Note) else chip(piece, "none" if masked else "")
    if isinstance(piece, Note) and curve.days == "spared":
        how = tag("span", "a day summary: spared, it never fades")
    elif curve.draw == "once":
        how = _once(result, at, t, n)
    else:
        how = _each_login(result, at, t, n)
    state = tag("b", "masked" if masked else "kept")
    text = table.summary(piece.number).text if isinstance(piece, Note) else table.sides(piece)[0] or table.sides(piece)[1]
    said = tag("p", f"“{line(text, 90)}”", cls="cut", style="margin-top:8px")
    row = tag("div", join(named, how, tag("span", "→ ", state)), cls="arith", style="margin:0;gap:6px 18px")
    return tag("div", row, said, cls="eq")


def _once(result: Bank, at: int, t: int, n: int) -> Html:
    left = float(result.curve.retention(np.array(t), np.array(n)))
    u = float(_u(result, at, n, login=0))
    return join(
        tag("span", f"R = {_FORMULAS[result.curve.form]}, t = {count(t, 'day')}, S = {n}: ", tag("b", score(left), cls="t")),
        tag("span", f"its u {score(u)} is {'above' if left < u else 'not above'}"),
    )


def _each_login(result: Bank, at: int, t: int, n: int) -> Html:
    logins = np.arange(1, t + 1)
    left = result.curve.retention(logins, np.full(t, n))
    us = np.array([_u(result, at, n, login=int(login)) for login in logins])
    all_ = float(np.prod(left))
    lost = np.flatnonzero(left < us)
    said = (
        f"lost at login {lost[0] + 1}: R {score(float(left[lost[0]]))} < u {score(float(us[lost[0]]))}"
        if lost.size
        else "all won"
    )
    return join(
        tag("span", f"{count(t, 'draw')} with S = {n}, all must be won: ", tag("b", score(all_), cls="t")),
        tag("span", said),
    )


def _u(result: Bank, at: int, n: int, *, login: int) -> float:
    number = result.pieces.numbers[at : at + 1]
    return float(result.curve.draws(number, np.array([n]), topic=result.pieces.table.topic, login=login)[0])


def _live(p: BankParameters, result: Bank, kept: np.ndarray) -> Html:
    """The day's count, and what each form keeps on average."""
    head = tag("div", tag("b", int(kept[p.days])), tag("span", f"of {count(len(result.pieces), 'piece')} kept"), cls="readout")
    means = {name: float(each[p.days].sum()) for name, each in result.chances.items()}
    lines = (join(tag("span", name, cls="dim"), tag("b", f"{mean:.1f}")) for name, mean in means.items())
    table = tag("div", *lines, style="display:grid;grid-template-columns:92px 1fr;row-gap:3px")
    return join(head, tag("div", table, tag("p", "means over all draws", cls="dim", style="margin-top:6px"), cls="eq"))
