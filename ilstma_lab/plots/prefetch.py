"""The prefetch score as figures: a stretch of the table with each row's score, and what would be cached as days pass.

Each function returns a spec (plots/spec.py); `drawn(spec)` makes it a `go.Figure`. Rows stand at their index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ilstma_lab.plots.marks import INK, dots, layout, line, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import HAIRLINE, ROLES
from ilstma_lab.prefetch.selection import ScoredRow, Selection
from ilstma_lab.reprs.words import count, score

_TIME, _CACHE, _RELEVANT = ROLES["time"], ROLES["cache"], ROLES["relevant"]
_PLACE_FILL, _PLACE_LINE = "#F0E442", ROLES["place"]
_PALE = 0.45
_GROUND, _LAST_PLACE = "rgba(123,132,148,.10)", "rgba(0,158,115,.42)"
_NARROWEST = 600  # pixels: how wide the strip is where a screen is 700 wide
_DIGIT = 6.6  # pixels of a bold digit on an axis
_BESIDE = 5  # rows that words need beside the window


def strip_spec(selection: Selection, rows: Sequence[int], *, chosen: int | None = None) -> Spec:
    """Return the stretch `rows` of a table with the scores of the window's rows, stacked: time below, place above.

    `rows`: indices in creation order; those outside the window are not read. `chosen`: the row in the ink box.
    """
    shown = [row for row in selection.rows if row.index in set(rows)]
    cached = [row for row in shown if row.chosen]
    high = {row.index: row.score for row in shown}
    unread = [row for row in rows if row not in high and row != selection.centre]
    top = max([1.0, *high.values()])
    data = [_unread(unread, top), *(_bars(shown, part) for part in ("time", "place"))]
    data += [*_cached(cached, top), *_window(selection, shown, rows, top)]
    if selection.centre in rows:
        data.append(_box(selection.centre, high.get(selection.centre, 0.5 * top), uid="centre", color=_RELEVANT, dash="3px,2px"))
    if chosen in rows:
        above = 0.2 if any(row.index == chosen for row in cached) else 0.05
        data.append(_box(chosen, high.get(chosen, 0.0) + above * top, uid="ink-box", around=0.5, **INK))
    bold = [row.index for row in cached]
    ticks = _ticks(rows, [index for index in (chosen, selection.centre, *bold) if index in rows])
    left_out = "left out" if selection.centre not in high else "recalled"
    frame = layout(
        _last_in(selection),
        "score by row: time R (plain) + place (hatched); a dot and its place: cached",
        f"Scores of {count(len(shown), 'row')} around row {selection.centre}. "
        f"Cached: {', '.join(f'row {row.index} at {score(row.score)}' for row in cached) or 'none'}.",
        height=270,
        margin={"l": 36, "r": 12, "t": 8, "b": 44},
        barmode="stack",
        bargap=0.28,
        hovermode="x",  # all of a column answers, also above a low bar
        xaxis={"tickvals": ticks, "ticktext": [_tick(row, bold, chosen, {selection.centre: left_out}) for row in ticks]}
        | {"range": [rows[0] - 0.7, rows[-1] + 0.7], "showgrid": False, "tickangle": 0},
        yaxis={"range": [0, 1.36 * top], "nticks": 5},
        shapes=[_shade([row.index for row in shown] + [selection.centre])] if shown else [],
        names=("row", "score"),
    )
    return {"data": data, "layout": frame}


def clock_spec(selections: Sequence[Selection], *, chosen: int, since: str) -> Spec:
    """Return which rows of the window a miss would cache, by days from now: `selections` has one for each day, from 0 on.

    `chosen`: the day in the ink box; `since`: the date of day 0, in words.
    """
    rows = sorted({row.index for selection in selections for row in selection.rows})
    days = np.arange(len(selections))
    place = np.zeros((len(rows), len(days)))  # 0: not cached
    for day, selection in enumerate(selections):
        for rank, index in enumerate(selection.chosen, 1):
            place[rows.index(index), day] = rank
    last = max(place.max(initial=0), 2.0)
    first = 0.5 / last
    heat = {
        "type": "heatmap",
        "name": "place in the cache",
        "x": days,
        "y": np.array(rows),
        "z": place,
        "zmin": 0,
        "zmax": last,
        "colorscale": [[0, _GROUND], [first, _GROUND], [first, _CACHE], [1, _LAST_PLACE]],
        "showscale": False,
        "xgap": 1,
        "ygap": 1.5,
        "hoverinfo": "none",
        "uid": "clock",
    }
    low, high = (rows[0] - 0.5, rows[-1] + 0.5) if rows else (0, 1)
    around = [chosen - 0.5, chosen + 0.5, chosen + 0.5, chosen - 0.5, chosen - 0.5]
    frame = layout(
        _changes(selections),
        f"row by days from {since}; the stronger the green, the higher its place in the cache",
        f"{_changes(selections)}. On day {chosen}: {', '.join(map(str, selections[chosen].chosen)) or 'none'}.",
        height=200,
        margin={"l": 36, "r": 12, "t": 8, "b": 24},
        xaxis={"range": [-0.6, len(days) - 0.4], "nticks": 8, "showgrid": False},
        yaxis={"range": [low - 0.1, high + 0.1], "tickvals": _spaced(rows, 6), "showgrid": False},
        names=("day", "row"),
    )
    return {"data": [heat, line(around, [low, low, high, high, low], uid="ink-box", **INK)], "layout": frame}


def _bars(shown: Sequence[ScoredRow], part: str) -> dict:
    time = part == "time"
    edge = {"color": _TIME if time else _PLACE_LINE, "width": 0 if time else 1}
    marker = {"color": _TIME if time else _PLACE_FILL, "line": edge, "opacity": [1 if row.chosen else _PALE for row in shown]}
    if not time:
        marker["pattern"] = {"shape": "/", "size": 5, "solidity": 0.25, "fgcolor": _PLACE_LINE, "bgcolor": _PLACE_FILL}
    return {
        "type": "bar",
        "x": np.array([row.index for row in shown], int),
        "y": np.array([getattr(row, part) for row in shown], float),
        "name": "time R" if time else "place",
        "uid": f"bar-{part}",
        "marker": marker,
        "hoverinfo": "none",
    }


def _unread(rows: Sequence[int], top: float) -> dict:
    marker = {"color": HAIRLINE, "line": {"width": 0}}
    stub = {"x": list(rows), "y": [0.022 * top] * len(rows), "marker": marker}
    return {"type": "bar", "uid": "unread", "hoverinfo": "none", **stub}


def _cached(cached: Sequence[ScoredRow], top: float) -> list[dict]:
    if not cached:
        return []
    x, y = [row.index for row in cached], np.array([row.score for row in cached])
    ranks = [f"<b>{rank}</b>" for rank in range(1, len(cached) + 1)]
    return [
        dots(x, y + 0.055 * top, None, uid="dot-cached", color=_CACHE, size=9),
        words(x, (y + 0.135 * top).tolist(), ranks, "middle center", uid="words-place"),
    ]


def _window(selection: Selection, shown: Sequence[ScoredRow], rows: Sequence[int], top: float) -> list[dict]:
    """The window's name, the score at which a row enters, and what stands outside."""
    if not shown:
        return []
    inside = [row.index for row in shown]
    ends = min(inside), max(inside)
    sides = {side: [row for row in rows if (row < ends[0], row > ends[1])[side]] for side in (0, 1)}
    name = f"window: row {selection.centre} ± {selection.offset}"
    marks = [words(ends[0] - 0.5, 1.29 * top, name, "middle right", uid="words-window")]
    marks += [
        words((side[0] + side[-1]) / 2, 0.075 * top, "not read", "middle center", uid=f"words-unread{number}")
        for number, side in sides.items()
        if len(side) >= _BESIDE
    ]
    least = min((row.score for row in shown if row.chosen), default=None)
    if least is None or selection.rows[-1].chosen:
        return marks
    marks.append(line([ends[0] - 0.5, ends[1] + 0.5], [least] * 2, uid="entry", color=_CACHE, width=1.3, dash="5px,4px"))
    side = max(sides, key=lambda number: len(sides[number]))
    if len(sides[side]) >= _BESIDE and least > 0.15 * top:
        x, place = ((ends[0] - 0.7, "middle left"), (ends[1] + 0.7, "middle right"))[side]
        marks.append(words(x, least, f"enters at {score(least)}", place, uid="words-entry"))
    return marks


def _box(row: int, high: float, *, uid: str, around: float = 0.42, color: str, dash: str = "solid", width: float = 1.5) -> dict:
    x = [row - around, row + around, row + around, row - around, row - around]
    return line(x, [0, 0, high, high, 0], uid=uid, color=color, width=width, dash=dash)


def _shade(rows: Sequence[int]) -> dict:
    ground = {"fillcolor": _GROUND, "line": {"width": 0}, "layer": "below"}
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": min(rows) - 0.5,
        "x1": max(rows) + 0.5,
        "y0": 0,
        "y1": 1,
        **ground,
    }


def _ticks(rows: Sequence[int], first: Iterable[int]) -> list[int]:
    """The rows whose index has room on the axis: `first` those that matter, then one in so many."""
    slot = _NARROWEST / (rows[-1] - rows[0] + 1.4)
    apart = (_DIGIT * len(str(rows[-1])) + 1) / slot
    taken: list[int] = []
    for row in [*first, *rows[:: max(1, round(len(rows) / 16))]]:
        if row not in taken and all(abs(row - other) >= apart for other in taken):
            taken.append(row)
    return sorted(taken)


def _tick(row: int, bold: Sequence[int], chosen: int | None, below: dict[int | None, str]) -> str:
    index = f"<b>{row}</b>" if row == chosen or row in bold else str(row)
    return f"{index}<br>{below[row]}" if row in below else index


def _spaced(rows: Sequence[int], most: int) -> list[int]:
    return list(rows[:: -(-len(rows) // most)]) if rows else []


def _last_in(selection: Selection) -> str:
    """What stands on both sides of the border of the cache."""
    inside, outside = ([row for row in selection.rows if row.chosen is chosen] for chosen in (True, False))
    if not inside or not outside:
        return "All rows of the window are cached" if inside else "Nothing is cached"
    last, next_ = inside[-1], outside[0]
    if last.score == next_.score:
        rule = "the nearer row enters" if last.distance < next_.distance else "the later row enters"
        return f"Rows {last.index} and {next_.index} tie at {score(last.score)}: {rule}, {last.index}"
    inner, outer = score(last.score), score(next_.score)
    if inner == outer:
        return f"Row {last.index} is the last to enter, less than .001 ahead of row {next_.index}"
    return f"Row {last.index} is the last to enter, with {inner}; row {next_.index} stays out with {outer}"


def _changes(selections: Sequence[Selection]) -> str:
    sets = [set(selection.chosen) for selection in selections]
    if not any(sets):
        return f"Within {len(sets) - 1} days nothing is cached"
    days = [day for day in range(1, len(sets)) if sets[day] != sets[day - 1]]
    if not days:
        return f"Within {len(sets) - 1} days the choice stays the same"
    last = f"; from day {days[-1]} on it stays" if days[-1] < len(sets) - 1 else ""
    return f"The choice changes {'once' if len(days) == 1 else f'{len(days)} times'} in {len(sets) - 1} days{last}"
