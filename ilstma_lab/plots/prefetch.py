"""The prefetch score as figures: a stretch of the table with each row's score, and hit ratios over offset and k.

Each function returns a spec (plots/spec.py); `drawn(spec)` makes it a `go.Figure`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ilstma_lab.plots.marks import INK, dots, layout, line, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES
from ilstma_lab.prefetch.selection import ScoredRow, Selection
from ilstma_lab.reprs.words import score

_TIME, _CACHE, _RELEVANT = ROLES["time"], ROLES["cache"], ROLES["relevant"]
_PLACE_FILL, _PLACE_LINE = "#F0E442", ROLES["place"]
_PALE = 0.45
_CACHE_SCALE = [[0, "rgba(0,158,115,.06)"], [1, "rgba(0,158,115,1)"]]


def strip_spec(selection: Selection, rows: Sequence[int], *, chosen: int | None = None) -> Spec:
    """Return the stretch `rows` of a table with the scores of the window's rows, stacked: time below, place above.

    `rows`: indices in creation order; rows outside the window are not read. `chosen`: the row in the ink box.
    """
    scored = {row.index: row for row in selection.rows}
    place_of = {index: at for at, index in enumerate(rows)}
    shown = [scored[index] for index in rows if index in scored]
    top = max([1.0, *(row.score for row in shown)])
    data = [_bars(shown, place_of, part) for part in ("time", "place")]
    cached = [row for row in selection.rows if row.chosen and row.index in place_of]
    if cached:
        x, y = [place_of[row.index] for row in cached], [row.score + 0.085 * top for row in cached]
        data.append(dots(x, y, None, uid="cached", color=_CACHE, size=17))
        data.append(words(x, y, [f"<b>{rank}</b>" for rank in range(1, len(cached) + 1)], "middle center", uid="plain-rank"))
        data += _entry(selection, cached, place_of, len(rows), top)
    data += _centre(selection, scored, place_of, top)
    box = chosen if chosen in place_of else None
    if box is not None:
        at, high = place_of[box], max(scored[box].score if box in scored else 0.0, 0.03) + 0.17 * top
        data.append(line([at - 0.5, at + 0.5, at + 0.5, at - 0.5, at - 0.5], [0, 0, high, high, 0], uid="ink-box", **INK))
    ticks = _ticks(rows, {row.index for row in cached} | {selection.centre, box})
    window = [place_of[row.index] for row in shown]
    shade = [_shade(min(window), max(window))] if window else []
    names = ", ".join(f"row {row.index} at {score(row.score)}" for row in cached) or "none"
    frame = layout(
        "The cache takes " + _joined([row.index for row in cached]) if cached else "Nothing is cached",
        "score = time + place, by row; dotted bars: place",
        f"Scores of {len(shown)} rows around row {selection.centre}. Cached: {names}.",
        height=250,
        barmode="stack",
        bargap=0.3,
        xaxis={"tickvals": [place_of[row] for row in ticks], "ticktext": [_tick(row, cached, box) for row in ticks]}
        | {"range": [-0.7, len(rows) - 0.3], "showgrid": False},
        yaxis={"range": [0, 1.24 * top], "nticks": 5},
        shapes=shade,
        names=("row", "score"),
    )
    frame["meta"]["rows"] = list(rows)
    return {"data": data, "layout": frame}


def tuner_spec(
    ratios: np.ndarray,
    offsets: Sequence[int],
    ks: Sequence[int],
    *,
    chosen: tuple[int, int],
    oracle: Sequence[float],
    beside: Mapping[str, float],
    claimed: float | None = None,
) -> Spec:
    """Return hit ratios over offset and k as a map, and above it the chosen k's row as a line below the window oracle.

    `ratios` has shape (len(ks), len(offsets)), nan where a window has no room for k; `oracle` is the best that any choice in the
    window could reach at the chosen k. `beside`: flat lines by name, such as "next 3"; `claimed` a ratio to mark.
    """
    offset, k = chosen
    at, row = list(offsets).index(offset), ratios[list(ks).index(k)]
    x = np.arange(len(offsets))
    text = np.where(np.isnan(ratios), "", np.char.mod("%.0f", 100 * np.nan_to_num(ratios)))
    data = [
        {
            "type": "heatmap",
            "name": "hits, %",
            "x": x,
            "y": np.arange(len(ks)),
            "z": 100 * ratios,
            "zmin": 0,
            "zmax": float(np.nanmax(np.r_[100 * ratios.ravel(), 1.0])),
            "colorscale": _CACHE_SCALE,
            "showscale": False,
            "text": text.tolist(),
            "texttemplate": "%{text}",
            "textfont": {"size": 11},
            "xgap": 2,
            "ygap": 2,
            "hoverinfo": "none",
            "uid": "map",
            "xaxis": "x",
            "yaxis": "y",
        },
        line(_box_x(at), _box_y(list(ks).index(k)), uid="ink-box", **INK),
        line(x, 100 * np.asarray(oracle), name="window oracle, %", uid="ink-oracle", **INK, dash="5px,4px", yaxis="y2"),
        line(x, 100 * row, name=f"this score, k = {k}, %", uid="mine", color=_CACHE, width=2, yaxis="y2"),
        dots(x, 100 * row, None, uid="dot-mine", color=_CACHE, size=6, yaxis="y2"),
        line([at, at], [0, 100 * float(np.nan_to_num(oracle[at]))], uid="ink-cross", color=GREY, width=1, dash="dot", yaxis="y2"),
    ]
    flat = {**beside, **({f"paper {100 * claimed:.2f}": claimed} if claimed is not None else {})}
    for number, (name, value) in enumerate(flat.items()):
        data.append(
            line([-0.5, len(x) - 0.5], [100 * value] * 2, uid=f"flat{number}", color=GREY, width=1, dash="dot", yaxis="y2")
        )
        data.append({**words(len(x) - 0.5, 100 * value, name, "middle right", uid=f"words-flat{number}"), "yaxis": "y2"})
    data.append({**words(len(x) - 0.5, 100 * float(oracle[-1]), "oracle", "middle right", uid="words-oracle"), "yaxis": "y2"})
    best = float(np.nanmax(row))
    highest = 100 * max(float(np.nanmax(oracle)), best, *flat.values(), 0.1)
    frame = layout(
        _tuner_finding(row, offsets, at),
        f"hit ratio in %; above: at k = {k} by offset; below: offset across, k up",
        f"At offset {offset} and k {k} {_percent(row[at])} of the questions hit; the best offset at this k gives "
        f"{_percent(best)}, the window oracle {_percent(oracle[at])}.",
        height=400,
        margin={"l": 36, "r": 104, "t": 8, "b": 30},
        xaxis={"tickvals": x.tolist(), "ticktext": [f"<b>{one}</b>" if one == offset else str(one) for one in offsets]}
        | {"range": [-0.5, len(x) - 0.5], "showgrid": False, "anchor": "y"},
        yaxis={"tickvals": list(range(len(ks))), "ticktext": [f"<b>{one}</b>" if one == k else str(one) for one in ks]}
        | {"domain": [0, 0.5], "range": [-0.52, len(ks) - 0.48], "showgrid": False},
        names=("offset", "k ="),
    )
    frame["yaxis2"] = {"domain": [0.56, 1], "range": [0, 1.12 * highest], "nticks": 5, "anchor": "x", "automargin": False}
    return {"data": data, "layout": frame}


def _bars(shown: Sequence[ScoredRow], place_of: Mapping[int, int], part: str) -> dict:
    time = part == "time"
    edge = {"color": _TIME if time else _PLACE_LINE, "width": 0 if time else 1}
    marker = {"color": _TIME if time else _PLACE_FILL, "line": edge, "opacity": [1 if row.chosen else _PALE for row in shown]}
    if not time:
        marker["pattern"] = {"shape": "/", "size": 5, "solidity": 0.25, "fgcolor": _PLACE_LINE}
    return {
        "type": "bar",
        "x": [place_of[row.index] for row in shown],
        "y": [getattr(row, part) for row in shown],
        "name": "time R" if time else "place",
        "uid": f"bar-{part}",
        "marker": marker,
        "hoverinfo": "none",
    }


def _entry(selection: Selection, cached: Sequence[ScoredRow], place_of: Mapping[int, int], width: int, top: float) -> list[dict]:
    """The score at which a row enters the cache, and the first that stays out."""
    least = cached[-1].score
    outside = next((row for row in selection.rows if not row.chosen), None)
    said = f"{score(least)} enters" + (f"<br>row {outside.index}, {score(outside.score)}, stays out" if outside else "")
    ends = [place_of[row.index] for row in selection.rows if row.index in place_of]
    right = max(ends) < 0.78 * width
    x = max(ends) + 0.8 if right else min(ends) - 0.8
    return [
        line([min(ends) - 0.5, max(ends) + 0.5], [least, least], uid="entry", color=_CACHE, width=1.3, dash="5px,4px"),
        words(x, min(least, 1.1 * top), said, "middle right" if right else "middle left", uid="words-entry"),
    ]


def _centre(selection: Selection, scored: Mapping[int, ScoredRow], place_of: Mapping[int, int], top: float) -> list[dict]:
    if selection.centre not in place_of:
        return []
    at = place_of[selection.centre]
    high = scored[selection.centre].score if selection.centre in scored else 0.5 * top
    around = [at - 0.4, at + 0.4, at + 0.4, at - 0.4, at - 0.4]
    return [line(around, [0, 0, high, high, 0], uid="centre", color=_RELEVANT, width=1.5, dash="3px,2px")]


def _shade(first: int, last: int) -> dict:
    ground = {"fillcolor": "rgba(123,132,148,.10)", "line": {"width": 0}, "layer": "below"}
    return {"type": "rect", "xref": "x", "yref": "paper", "x0": first - 0.5, "x1": last + 0.5, "y0": 0, "y1": 1, **ground}


def _ticks(rows: Sequence[int], always: set[int | None]) -> list[int]:
    step = max(1, round(len(rows) / 16))
    wanted = [row for at, row in enumerate(rows) if row in always]
    near = {at + d for at, row in enumerate(rows) if row in always for d in (range(-1, 2) if step > 1 else (0,))}
    return sorted({*wanted, *(row for at, row in enumerate(rows) if at % step == 0 and at not in near)}, key=list(rows).index)


def _tick(row: int, cached: Sequence[ScoredRow], box: int | None) -> str:
    return f"<b>{row}</b>" if row == box or any(row == one.index for one in cached) else str(row)


def _joined(rows: Sequence[int]) -> str:
    *most, last = map(str, rows)
    return f"rows {', '.join(most)} and {last}" if most else f"row {last}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _tuner_finding(row: np.ndarray, offsets: Sequence[int], at: int) -> str:
    best = int(np.nanargmax(row))
    if row[at] >= row[best]:
        return f"No other offset does better than ± {offsets[at]}: {_percent(row[at])}"
    return f"± {offsets[best]} rows hit {_percent(row[best])}, ± {offsets[at]} rows {_percent(row[at])}"


def _box_x(at: int) -> list[float]:
    return [at - 0.5, at + 0.5, at + 0.5, at - 0.5, at - 0.5]


def _box_y(at: int) -> list[float]:
    return [at - 0.5, at - 0.5, at + 0.5, at + 0.5, at - 0.5]
