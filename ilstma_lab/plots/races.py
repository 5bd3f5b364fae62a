"""Prefetch policies side by side, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ilstma_lab.plots.forgetting import spread
from ilstma_lab.plots.marks import INK, layout, line, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES

_CACHE = ROLES["cache"]
_DASHES = ("solid", "5px,4px", "2px,3px", "8px,3px,2px,3px")


def race_spec(hits: Mapping[str, np.ndarray], *, upto: int, chosen: str, oracle: str = "") -> Spec:
    """Return hits so far by question, one line a policy, up to question `upto`; `chosen` is coloured, `oracle` dashed in ink.

    `hits` holds for each policy whether each demand hit, arrays of one length (n_demands,).
    """
    total = len(next(iter(hits.values())))
    x = np.arange(upto + 1)
    so_far = {name: np.r_[0.0, np.cumsum(one)[:upto]] for name, one in hits.items()}
    order = sorted(so_far, key=lambda name: so_far[name][-1])
    data = []
    for number, name in enumerate(order):
        data.append(line(x, so_far[name], name=name, uid=_uid(name, chosen, oracle), **_stroke(name, number, chosen, oracle)))
    top = max(1.0, *(float(line_[-1]) for line_ in so_far.values()))
    places = spread(np.array([so_far[name][-1] for name in order]), 0.075 * top)
    labels = [f"<b>{name} {so_far[name][-1]:.0f}</b>" if name == chosen else f"{name} {so_far[name][-1]:.0f}" for name in order]
    data.append(words([upto + 0.015 * total] * len(order), places, labels, "middle right", uid="words-policies"))
    leader = order[-1]
    frame = layout(
        f"After {upto} of {total} questions “{leader}” leads with {so_far[leader][-1]:.0f} hits",
        "hits so far, by question",
        "Hits after " + f"{upto} questions: " + ", ".join(f"{name} {so_far[name][-1]:.0f}" for name in reversed(order)) + ".",
        height=290,
        margin={"l": 36, "r": 150, "t": 8, "b": 30},
        xaxis={"range": [0, max(upto, 1)], "nticks": 6, "showgrid": False},
        yaxis={"range": [0, max(1.08 * top, float(places[-1]) + 0.05 * top)], "nticks": 5},
        names=("question", "hits"),
    )
    return {"data": data, "layout": frame}


def served_spec(hits: Mapping[str, np.ndarray], *, at: int, questions: Sequence[str]) -> Spec:
    """Return which policy had the answer ready at which question: a full cell is a hit; the box marks question `at` (from 1)."""
    names = list(hits)
    grid = np.array([hits[name] for name in names])  # (n_policies, n_demands)
    total = grid.shape[1]
    x = np.arange(1, total + 1)
    heat = {
        "type": "heatmap",
        "name": "hit",
        "x": x,
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
    box_x = [at - 0.5, at + 0.5, at + 0.5, at - 0.5, at - 0.5]
    data = [heat, line(box_x, [-0.5, -0.5, len(names) - 0.5, len(names) - 0.5, -0.5], uid="ink-box", **INK)]
    ready = [name for name in names if hits[name][at - 1]]
    said = f"Question {at}: ready in {len(ready)} of {len(names)} caches" if ready else f"Question {at}: no policy had it ready"
    frame = layout(
        said,
        "each column a question, each row a policy; full: the answer lay in the cache",
        f"{said}. {questions[at - 1][:200]}",
        height=24 * len(names) + 46,
        margin={"l": 118, "r": 12, "t": 8, "b": 30},
        xaxis={"range": [0.4, total + 0.6], "nticks": 8, "showgrid": False},
        yaxis={"tickvals": list(range(len(names))), "ticktext": names, "range": [-0.52, len(names) - 0.48], "showgrid": False},
        names=("question", "policy"),
    )
    return {"data": data, "layout": frame}


def _uid(name: str, chosen: str, oracle: str) -> str:
    return "chosen" if name == chosen else "ink-oracle" if name == oracle else f"other-{name}"


def _stroke(name: str, number: int, chosen: str, oracle: str) -> dict:
    if name == chosen:
        return {"color": _CACHE, "width": 2.6}
    if name == oracle:
        return {**INK, "dash": "5px,4px"}
    return {"color": GREY, "width": 1.3, "dash": _DASHES[number % len(_DASHES)]}
