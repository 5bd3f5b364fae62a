"""Prefetch policies side by side, question by question."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ilstma_lab.plots.forgetting import spread
from ilstma_lab.plots.marks import INK, layout, line, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES, plain
from ilstma_lab.reprs.words import count
from ilstma_lab.reprs.words import line as one_line

_CACHE = ROLES["cache"]
_DASHES = ("solid", "5px,4px", "2px,3px", "8px,3px,2px,3px")
_NAME = 24  # characters of a policy's name that the margin has room for


def race_spec(hits: Mapping[str, np.ndarray], *, upto: int, chosen: str, oracle: str = "") -> Spec:
    """Return hits so far by question, one line a policy, up to question `upto`; `chosen` is coloured, `oracle` dashed in ink.

    `hits` holds for each policy whether each demand hit, arrays of one length (n_demands,). The axes stay as `upto` moves.
    """
    total = len(next(iter(hits.values())))
    so_far = {name: np.r_[0.0, np.cumsum(one)] for name, one in hits.items()}  # (n_demands + 1,) each
    highest = max(1.0, *(float(one[-1]) for one in so_far.values()))
    gap = 0.064 * 1.1 * highest
    top = max(1.1 * highest, gap * len(hits))
    order = sorted(hits, key=lambda name: so_far[name][upto])
    x = np.arange(upto + 1)
    data = [
        _stepped(line(x, so_far[name][: upto + 1], name=name, **_stroke(number, name == chosen, name == oracle)))
        for number, name in sorted(enumerate(hits), key=lambda pair: pair[1] == chosen)
    ]
    places = _within(np.array([so_far[name][upto] for name in order]), gap, top)
    labels = [_label(name, so_far[name][upto], name == chosen) for name in order]
    data.append(line([upto, upto], [0, top], uid="ink-here", color=GREY, width=1, dash="dot"))
    data.append(words([upto] * len(order), places.tolist(), labels, "middle right", uid="words-policies"))
    most = so_far[order[-1]][upto]
    leading = sum(so_far[name][upto] == most for name in hits)
    frame = layout(
        f"{'One leads' if leading == 1 else f'{leading} lead'} with {count(int(most), 'hit')} after {count(upto, 'question')}",
        "hits so far, by question",
        f"Hits after {count(upto, 'question')}: "
        + ", ".join(f"{name} {so_far[name][upto]:.0f}" for name in reversed(order))
        + ".",
        height=270,
        margin={"l": 36, "r": 162, "t": 8, "b": 24},
        xaxis={"range": [0, total], "nticks": 10, "showgrid": False},
        yaxis={"range": [-0.03 * top, top], **_whole_ticks(highest)},
        names=("question", "hits"),
    )
    return {"data": data, "layout": frame}


def served_spec(hits: Mapping[str, np.ndarray], *, at: int, chosen: str, question: str = "") -> Spec:
    """Return which policy had an answer ready at which question: a full cell is a hit; boxes mark question `at` (from 1).

    `hits` as for `race_spec`; `question` is said to a screen reader.
    """
    names = list(hits)
    grid = np.array([hits[name] for name in names], float)  # (n_policies, n_demands)
    total = grid.shape[1]
    heat = {
        "type": "heatmap",
        "name": "hit",
        "x": np.arange(1, total + 1),
        "y": np.arange(len(names)),
        "z": grid,
        "zmin": 0,
        "zmax": 1,
        "colorscale": [[0, "rgba(123,132,148,.10)"], [1, _CACHE]],
        "showscale": False,
        "xgap": 1.5,
        "ygap": 2,
        "hoverinfo": "none",
        "uid": "grid",
    }
    across, down = [at - 0.5, at + 0.5, at + 0.5, at - 0.5, at - 0.5], [-0.5, -0.5, len(names) - 0.5, len(names) - 0.5, -0.5]
    ready = int(grid[:, at - 1].sum())
    said = f"Question {at}: {f'{ready} of {len(names)} caches had' if ready else 'no cache had'} a row that answers"
    ticks = [f"<b>{_short(name)}</b>" if name == chosen else _short(name) for name in names]
    frame = layout(
        said,
        "a column for each question, a row for each policy; full: the answer lay in the cache",
        f"{said}. {question}".strip(),
        height=21 * len(names) + 34,
        margin={"l": 152, "r": 12, "t": 4, "b": 24},
        xaxis={"range": [0.4, total + 0.6], "nticks": 10, "showgrid": False},
        yaxis={"tickvals": list(range(len(names))), "ticktext": ticks, "range": [len(names) - 0.46, -0.54], "showgrid": False},
        names=("question", "policy"),
    )
    return {"data": [heat, line(across, down, uid="ink-box", **INK)], "layout": frame}


def _stroke(number: int, chosen: bool, oracle: bool) -> dict:
    """Colour, width and dash of one policy; the uid stays with the policy while its rank changes."""
    if chosen:
        return {"uid": "chosen", "color": _CACHE, "width": 2.6}
    if oracle:
        return {"uid": "ink-oracle", **INK, "dash": "5px,4px"}
    return {"uid": f"other{number}", "color": GREY, "width": 1.3, "dash": _DASHES[number % len(_DASHES)]}


def _short(name: str) -> str:
    return plain(one_line(name, _NAME))


def _label(name: str, hits: float, bold: bool) -> str:
    said = f"{hits:.0f}  {_short(name)}"
    return f"\u2002<b>{said}</b>" if bold else f"\u2002{said}"


def _stepped(trace: dict) -> dict:
    return {**trace, "line": {**trace["line"], "shape": "hv"}}


def _within(places: np.ndarray, gap: float, top: float) -> np.ndarray:
    """Rising `places`, spread at least `gap` apart and none above `top`."""
    moved = spread(places, gap)
    if len(moved) and moved[-1] > top:
        moved = (top - spread(top - moved[::-1].clip(max=top), gap))[::-1]
    return moved


def _whole_ticks(highest: float) -> dict:
    step = max(1, round(highest / 5))
    return {"tickvals": list(range(0, int(highest) + 1, step))}
