"""Hit ratios of a window over offset and k: a map, and above it one of its rows beside bounds and rivals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ilstma_lab.plots.forgetting import spread
from ilstma_lab.plots.marks import INK, dots, layout, line, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES
from ilstma_lab.reprs.words import count

_CACHE = ROLES["cache"]
_FAINT_TO_FULL = [[0, "rgba(0,158,115,.04)"], [1, "rgba(0,158,115,.46)"]]  # no darker: the theme's text stands on it


def hit_map_spec(
    ratios: np.ndarray,
    offsets: Sequence[int],
    ks: Sequence[int],
    *,
    chosen: tuple[int, int],
    room: np.ndarray,
    oracle: Sequence[float],
    beside: Mapping[str, float],
    usual: tuple[int, int] | None = None,
    papers_k: int | None = None,
) -> Spec:
    """Return hit ratios over offset and k as a map, and above it the chosen k's row as a line below the window oracle.

    `ratios` and `room` have shape (len(ks), len(offsets)): nan where nothing is computed yet, False where a window has no room
    for k. `oracle`: the best that any choice in the window could reach at the chosen k. `beside`: level lines by name, such as
    "next 3". `usual`: a setting to mark with a dashed box; `papers_k`: a row of the map to mark with one.
    """
    offset, k = chosen
    x, row = np.asarray(offsets), 100 * ratios[list(ks).index(k)]
    known = np.isfinite(row)
    waits = room & ~np.isfinite(ratios)
    best = np.asarray(oracle, float) * 100
    levels = {name: 100 * value for name, value in beside.items()}
    top = max([*best, *row[known], *levels.values(), 1.0])
    data = [_map(ratios, x, ks), *_missing(~room, waits, x, ks), *_boxes(x, ks, usual, papers_k)]
    data.append(_box((offset, offset), (k, k), uid="ink-box", **INK))
    data += [_above(part) for part in _lines(x, row, known, best, levels, chosen, top)]
    frame = layout(
        _finding(row, x, chosen, int(waits.sum()), int(room.sum())),
        f"hit ratio in %; above: at k = {k}; below: offset across, k up; hatched: no room; dashed box: a usual guess",
        _sentence(row, best, list(offsets).index(offset), chosen),
        height=420,
        margin={"l": 36, "r": 118, "t": 8, "b": 30},
        xaxis={"tickvals": x, "ticktext": [f"<b>{one}</b>" if one == offset else str(one) for one in offsets]}
        | {"range": [x[0] - 0.5, x[-1] + 0.5], "showgrid": False, "anchor": "y"},
        yaxis={"tickvals": list(ks), "ticktext": [f"<b>{one}</b>" if one == k else str(one) for one in ks]}
        | {"domain": [0, 0.5], "range": [ks[0] - 0.54, ks[-1] + 0.54], "showgrid": False},
        names=("offset", "k ="),
    )
    frame["yaxis2"] = {"domain": [0.56, 1], "range": [0, 1.1 * top], "nticks": 5, "anchor": "x", "automargin": False}
    return {"data": data, "layout": frame}


def _map(ratios: np.ndarray, x: np.ndarray, ks: Sequence[int]) -> dict:
    """The map; a cell without a number is the empty text, in plotly a gap and in tables nothing."""
    percent = [[100 * value if np.isfinite(value) else "" for value in row] for row in ratios.tolist()]
    return {
        "type": "heatmap",
        "name": "hits, %",
        "x": x,
        "y": np.asarray(ks),
        "z": np.array(percent, dtype=object),
        "zmin": 0,
        "zmax": max(1.0, 100 * float(np.nanmax(ratios))) if np.isfinite(ratios).any() else 1.0,
        "colorscale": _FAINT_TO_FULL,
        "showscale": False,
        "text": [[f"{value:.0f}" if value != "" else "" for value in row] for row in percent],
        "texttemplate": "%{text}",
        "textfont": {"size": 11},
        "xgap": 2,
        "ygap": 2,
        "hoverinfo": "none",
        "uid": "map",
    }


def _missing(none: np.ndarray, waits: np.ndarray, x: np.ndarray, ks: Sequence[int]) -> list[dict]:
    """Hatching where the window has no room for k, and a dot in each cell that is not computed yet."""
    marks = []
    for number, row in enumerate(none):
        if row.any():
            width = int(row.sum())  # small windows: the first of a row
            marks.append(_hatched(x[0] - 0.5, x[width - 1] + 0.5, ks[number]))
    at = np.argwhere(waits)
    if len(at):
        places = x[at[:, 1]].tolist(), [ks[number] for number in at[:, 0]]
        marks.append(words(*places, ["·"] * len(at), "middle center", uid="words-waits"))
    return marks


def _hatched(low: float, high: float, k: int) -> dict:
    pattern = {"shape": "/", "size": 6, "solidity": 0.12, "fgcolor": GREY, "bgcolor": "rgba(0,0,0,0)"}
    edges = {"x": [low, high, high, low, low], "y": [k - 0.46, k - 0.46, k + 0.46, k + 0.46, k - 0.46]}
    look = {"fill": "toself", "fillpattern": pattern, "line": {"width": 0, "color": GREY}, "hoverinfo": "skip"}
    return {"type": "scatter", "mode": "lines", "uid": f"none{k}", **edges, **look}


def _boxes(x: np.ndarray, ks: Sequence[int], usual: tuple[int, int] | None, papers_k: int | None) -> list[dict]:
    marks = []
    if papers_k in ks:
        marks.append(_box((x[0], x[-1]), (papers_k, papers_k), uid="ink-paper", color=GREY, width=1, dash="3px,3px"))
        marks.append(words(x[-1] + 0.5, papers_k, f" paper: k = {papers_k}", "middle right", uid="words-paper"))
    if usual:
        marks.append(_box((usual[0],) * 2, (usual[1],) * 2, uid="ink-usual", color=GREY, width=1.5, dash="3px,2px"))
    return marks


def _box(x: tuple[float, float], y: tuple[float, float], *, uid: str, color: str, width: float, dash: str = "solid") -> dict:
    (left, right), (low, high) = x, y
    around = [left - 0.5, right + 0.5, right + 0.5, left - 0.5, left - 0.5]
    return line(around, [low - 0.5, low - 0.5, high + 0.5, high + 0.5, low - 0.5], uid=uid, color=color, width=width, dash=dash)


def _lines(
    x: np.ndarray,
    row: np.ndarray,
    known: np.ndarray,
    best: np.ndarray,
    levels: Mapping[str, float],
    chosen: tuple[int, int],
    top: float,
) -> list[dict]:
    offset, k = chosen
    at, ends = x.tolist().index(offset), [x[0] - 0.5, x[-1] + 0.5]
    marks = [
        line([offset, offset], [0, best[at]], uid="ink-cross", color=GREY, width=1, dash="dot"),
        *(
            line(ends, [value, value], uid=f"level{number}", color=GREY, width=1, dash="2px,3px")
            for number, value in enumerate(levels.values())
        ),
        line(x, best, name="window oracle, %", uid="ink-oracle", **INK, dash="5px,4px"),
        line(x[known], row[known], name=f"this score, k = {k}, %", uid="mine", color=_CACHE, width=2),
        dots(x[known], row[known], None, uid="dot-mine", color=_CACHE, size=6),
        {**dots([offset], [row[at]], None, uid="ink-here", color=GREY, size=13, symbol="circle-open")},
    ]
    labels = {f"{name} {value:.0f}": value for name, value in levels.items()}
    labels[f"oracle {best[-1]:.0f}"] = best[-1]
    if known[-1]:
        labels[f"<b>this score {row[-1]:.0f}</b>"] = row[-1]
    order = sorted(labels, key=labels.__getitem__)
    places = spread(np.array([labels[name] for name in order], float), 0.1 * top)
    marks.append(
        words([x[-1] + 0.5] * len(order), places.tolist(), [f" {name}" for name in order], "middle right", uid="words-levels")
    )
    return marks


def _above(trace: dict) -> dict:
    return {**trace, "yaxis": "y2"}


def _finding(row: np.ndarray, x: np.ndarray, chosen: tuple[int, int], waits: int, cells: int) -> str:
    offset, k = chosen
    mine = row[x.tolist().index(offset)]
    if waits:
        return f"± {offset} rows hit {mine:.1f} % at k = {k}; computing the map, {count(cells - waits, 'cell')} of {cells}"
    best = int(np.nanargmax(row))
    if mine >= row[best]:
        return f"At k = {k} no window hits more than ± {offset}: {mine:.1f} %"
    return f"At k = {k}, ± {x[best]} rows hit {row[best]:.1f} %, ± {offset} rows {mine:.1f} %"


def _sentence(row: np.ndarray, best: np.ndarray, at: int, chosen: tuple[int, int]) -> str:
    most = f"the best offset at this k gives {np.nanmax(row):.1f} %, " if np.isfinite(row).sum() > 1 else ""
    return (
        f"At offset {chosen[0]} and k {chosen[1]} {row[at]:.1f} % of the questions hit; {most}the window oracle {best[at]:.1f} %."
    )
