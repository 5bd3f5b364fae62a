"""Strength and retention as figures: S(n), R(t) for each n, and the whole map R(t, n).

Each function returns a spec (plots/spec.py); `drawn(spec)` makes it a `go.Figure`. `beside` is a second curve to compare
with, dashed: the paper. `chosen` is a place (days, recalls) that all three mark alike.
"""

from __future__ import annotations

import numpy as np

from ilstma_lab.plots.marks import INK, dots, layout, line, ring, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES
from ilstma_lab.protocols import Retention, Strength
from ilstma_lab.reprs.words import score

_TIME = ROLES["time"]
_SHARES = {"tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0", ".25", ".50", ".75", "1"], "range": [0, 1.03]}


def strength_spec(
    strength: Strength,
    *,
    beside: Strength | None = None,
    chosen: int = 2,
    recalls: int = 8,
    limit_days: float | None = None,
) -> Spec:
    """Return S in days over 1 to `recalls` recalls, a ring around `chosen`, and the limit as a dotted line."""
    n = np.arange(1, recalls + 1)
    fine = np.linspace(1, recalls, 8 * (recalls - 1) + 1)
    days, height = strength.days(n), max(limit_days or 0.0, float(strength.days(n).max()))
    data = []
    if limit_days is not None:
        data.append(line([1, recalls], [limit_days] * 2, uid="limit", color=GREY, width=1, dash="dot"))
    if beside is not None:
        other = beside.days(n)
        height = max(height, float(other.max()))
        data.append(line(fine, beside.days(fine), uid="beside", color=GREY, width=1.5, dash="5px,4px"))
        data.append(dots(n, other, "S in days, paper", uid="hollow", color=GREY, size=5.5, symbol="circle-open"))
    data.append(line(fine, strength.days(fine), uid="curve", color=_TIME, width=2))
    data.append(dots(n, days, "S in days", uid="dot", color=_TIME, size=8))
    if limit_days is not None:
        data.append(
            words(recalls + 0.2, limit_days - 0.06 * height, f"limit S(∞) = {limit_days:.1f}", "bottom left", uid="words-limit")
        )
    at = min(max(chosen, 1), recalls)
    data.append(ring(at, days[at - 1]))
    beneath = f"<br>paper {beside.days(np.array([at]))[0]:.2f}" if beside is not None else ""
    data.append(
        words(at + 0.3, days[at - 1], f"<b>{days[at - 1]:.2f} days</b>{beneath}", _beside_place(at, recalls), uid="words-chosen")
    )
    values = ", ".join(f"{value:.2f}" for value in days)
    frame = layout(
        shape_of(days),
        "S in days, by number of recalls n",
        f"Strength in days after 1 to {recalls} recalls: {values}.",
        height=250,
        xaxis={"tickvals": n.tolist(), "ticktext": _bold(n, at), "range": [0.75, recalls + 0.25], "showgrid": False},
        yaxis={"range": [0, 1.1 * height], "nticks": 6},
        names=("recalls n", "S"),
    )
    return {"data": data, "layout": frame}


def retention_spec(
    strength: Strength,
    retention: Retention,
    *,
    beside: Strength | None = None,
    chosen: tuple[int, int] = (7, 2),
    recalls: int = 5,
    days: int = 30,
) -> Spec:
    """Return R over 0 to `days` days for each number of recalls, thicker with more, and the chosen place as a crosshair."""
    fine = np.linspace(0, days, 4 * days + 1)
    t, at = chosen
    data, ends = [], []
    for n, days_strong in enumerate(strength.days(np.arange(1, recalls + 1)), start=1):
        curve = retention.at(fine, days_strong)
        ends.append(float(curve[-1]))
        width = 1.3 + 1.7 * (n - 1) / max(recalls - 1, 1)
        data.append(line(fine, curve, name=f"n = {n}", uid=f"recall{n}", color=_TIME, width=width))
    value = float(retention.at(t, strength.days(np.array(at))))
    said = f"<b>R({t}, {at}) = {score(value)}</b>"
    if beside is not None:
        other = beside.days(np.array(at))
        data.append(
            line(fine, retention.at(fine, other), name=f"paper, n = {at}", uid="beside", color=GREY, width=1.5, dash="5px,4px")
        )
        said += f"<br>paper {score(float(retention.at(t, other)))}"
    data.append(line([t, t], [0, 1], uid="ink-cross", color=GREY, width=1))
    data.append(dots([t], [value], None, uid="dot-chosen", color=_TIME, size=8))
    data.append(ring(t, value))
    left = t > 0.6 * days
    data.append(
        words(t + (-0.02 if left else 0.02) * days, 1.0, said, "bottom left" if left else "bottom right", uid="words-chosen")
    )
    places = spread(np.array(ends), 0.06)
    across, down = [days, 1.035 * days, None] * recalls, np.c_[ends, places, places].ravel()
    data.append(line(across, down, uid="leaders", color=GREY, width=0.7))
    labels = [f"<b>n = {n}</b>" if n == at else f"n = {n}" for n in range(1, recalls + 1)]
    data.append(words([1.04 * days] * recalls, places, labels, "middle right", uid="words-recalls"))
    frame = layout(
        "More recalls, slower forgetting" if ends[-1] - ends[0] > 0.005 else "Recalls change next to nothing",
        "R by days since the last recall" + (f"; dashed: paper, n = {at}" if beside is not None else ""),
        f"Retention over {days} days. After {_days(t)} and {_recalls(at)} it is {score(value)}; "
        f"at {days} days it is {', '.join(score(end) for end in ends)} for 1 to {recalls} recalls.",
        height=250,
        xaxis={**_day_ticks(t, days), "range": [0, 1.17 * days], "showgrid": False},
        yaxis=_SHARES,
        names=("days", "R"),
    )
    return {"data": data, "layout": frame}


def map_spec(
    strength: Strength,
    retention: Retention,
    *,
    chosen: tuple[int, int] = (7, 2),
    recalls: int = 5,
    days: int = 30,
) -> Spec:
    """Return R for each day and number of recalls as a map, with the lines where half and a quarter are left."""
    t, n = np.arange(days + 1), np.arange(1, recalls + 1)
    values = retention.at(t[None, :], strength.days(n)[:, None])  # (recalls, days + 1)
    heat = {
        "type": "heatmap",
        "name": "R",
        "x": t,
        "y": n,
        "z": values,
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "hoverinfo": "none",
    }
    data = [{**heat, "colorscale": [[0, "rgba(91,91,214,.05)"], [1, "rgba(91,91,214,1)"]]}]
    for share, dash, part, label in ((0.5, "solid", "half", "R = .5"), (0.25, "4px,3px", "quarter", "R = .25")):
        places = until(strength, retention, share, recalls=recalls, days=days + 1)
        x, y = _steps(places)
        data.append(line(x, y, uid=f"ink-{part}", **INK, dash=dash))
        inside = np.flatnonzero(places < 0.82 * days)
        if inside.size:
            data.append(words(places[inside[-1]] + 0.3, n[inside[-1]], label, "middle right", uid=f"plain-{part}"))
    at_t, at_n = chosen
    box = (
        [at_t - 0.5, at_t + 0.5, at_t + 0.5, at_t - 0.5, at_t - 0.5],
        [at_n - 0.5, at_n - 0.5, at_n + 0.5, at_n + 0.5, at_n - 0.5],
    )
    data.append(line(*box, uid="ink-box", **INK))
    frame = layout(
        "The whole map R(t, n)",
        "recalls n by days; lines: half and a quarter left",
        f"Retention for 0 to {days} days and 1 to {recalls} recalls; at {_days(at_t)} and {_recalls(at_n)} "
        f"it is {score(float(values[at_n - 1, at_t]))}.",
        height=210,
        xaxis={**_day_ticks(at_t, days), "range": [-0.5, days + 0.5], "showgrid": False},
        yaxis={"tickvals": n.tolist(), "ticktext": _bold(n, at_n), "range": [0.46, recalls + 0.54], "showgrid": False},
        names=("days", "n ="),
    )
    return {"data": data, "layout": frame}


def shape_of(days: np.ndarray) -> str:
    """Return the shape of S over the recalls 1, 2, ... in words.

    >>> shape_of(np.array([5, 16.75, 21.7, 23.1])), shape_of(np.array([1.0, 2, 3, 4]))
    ('Strength grows fast, then flattens', 'Strength grows by nearly the same step')
    """
    gains = np.diff(days)
    if gains.max() < 0.05:
        return "Recalls add nothing"
    if gains.min() > 0.7 * gains.max():
        return "Strength grows by nearly the same step"
    steepest = int(gains.argmax()) + 2
    return "Strength grows fast, then flattens" if steepest == 2 else f"Slow start: recall {steepest} adds most"


def until(strength: Strength, retention: Retention, share: float, *, recalls: int, days: float) -> np.ndarray:
    """Return the days after which `share` is left, for 1 to `recalls` recalls; `days` where it takes longer than that."""
    fine = np.linspace(0, days, 1001)
    curves = retention.at(fine[None, :], strength.days(np.arange(1, recalls + 1))[:, None])  # (recalls, 1001)
    return np.array([np.interp(-share, -curve, fine) for curve in curves])


def spread(places: np.ndarray, gap: float) -> np.ndarray:
    """Return rising `places` moved up until each stands at least `gap` above the one before.

    >>> spread(np.array([0.1, 0.12, 0.5]), 0.06).round(2).tolist()
    [0.1, 0.16, 0.5]
    """
    moved = np.array(places, dtype=float)
    for at in range(1, len(moved)):
        moved[at] = max(moved[at], moved[at - 1] + gap)
    return moved


def _steps(places: np.ndarray) -> tuple[list[float], list[float]]:
    edges = np.arange(len(places)) + 0.5
    return np.repeat(places, 2).tolist(), np.c_[edges, edges + 1].ravel().tolist()


def _beside_place(at: int, recalls: int) -> str:
    return "bottom right" if at <= 0.6 * recalls else "bottom left"


def _bold(values: np.ndarray, chosen: int) -> list[str]:
    return [f"<b>{value}</b>" if value == chosen else str(value) for value in values.tolist()]


def _day_ticks(chosen: int, days: int) -> dict:
    usual = [tick for tick in (*range(0, days - 3, 7), days) if abs(tick - chosen) > 1 or tick == chosen]
    ticks = np.array(sorted({*usual, chosen}))
    return {"tickvals": ticks.tolist(), "ticktext": _bold(ticks, chosen)}


def _days(number: int) -> str:
    return f"{number} day" if number == 1 else f"{number} days"


def _recalls(number: int) -> str:
    return f"{number} recall" if number == 1 else f"{number} recalls"
