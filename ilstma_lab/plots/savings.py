"""Retention curves beside measured savings, and what they leave over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ilstma_lab.plots.forgetting import spread
from ilstma_lab.plots.marks import dots, layout, line, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES
from ilstma_lab.reprs.words import score

_TIME = ROLES["time"]


def savings_spec(
    days: np.ndarray,
    seen: np.ndarray,
    errors: np.ndarray,
    *,
    fine: np.ndarray,
    curve: np.ndarray,
    name: str,
    beside: Mapping[str, np.ndarray],
    title: str,
    log_time: bool = True,
) -> Spec:
    """Return measured savings with their errors, the chosen `curve` over `fine` days, and other curves in grey.

    `days`, `seen`, `errors` (n,), `fine` and all curves (m,); savings and errors as shares, time in days.
    """
    ends = np.array([values[-1] for values in beside.values()])
    order = np.argsort(ends)
    data = [
        line(fine, values, name=other, uid=f"beside{at}", color=GREY, width=1.2, dash="5px,4px")
        for at, (other, values) in enumerate(beside.items())
    ]
    if beside:
        labels = [list(beside)[at] for at in order]
        high = np.log10(fine[-1]) if log_time else fine[-1]
        x = 10 ** (high + 0.06) if log_time else high * 1.015
        data.append(
            words([x] * len(labels), spread(np.maximum(ends[order], 0.02), 0.05), labels, "middle right", uid="words-beside")
        )
    data.append(line(fine, curve, name=name, uid="curve", color=_TIME, width=2.5))
    bars = {"type": "data", "array": errors, "color": GREY, "thickness": 1.5, "width": 4}
    said = [f"{_time(day)}: {score(value)} ± {score(error)}" for day, value, error in zip(days, seen, errors, strict=True)]
    point = dots(days, seen, "Ebbinghaus", uid="hollow", color=GREY, size=8, symbol="circle-open", error_y=bars, hovertext=said)
    data.append({**point, "hoverinfo": "text"})
    described = f"{name} over Ebbinghaus' seven points: {'; '.join(said)}. The curve there: {_values(days, fine, curve)}."
    frame = layout(
        title,
        "Savings of time in relearning, by time since learning; bars: probable errors",
        described,
        names=("days", "R"),
        height=300,
        xaxis=time_axis(days, log_time=log_time, room=bool(beside)),
        yaxis={"range": [0, 1.03], "tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0", ".25", ".50", ".75", "1"]},
    )
    return {"data": data, "layout": frame}


def residual_spec(days: np.ndarray, left: np.ndarray, errors: np.ndarray, *, log_time: bool = True) -> Spec:
    """Return what the curve leaves over, seen minus curve, as stems, over a band of one probable error."""
    most = max(0.05, 1.15 * float(np.abs(left).max()))
    x = np.repeat(days, 3)
    stems = np.c_[np.zeros_like(left), left, np.full_like(left, np.nan)].ravel()
    outside = int((np.abs(left) > errors).sum())
    data = [
        line(days, errors, uid="upper", color=GREY, width=0),
        line(days, -errors, uid="lower", color=GREY, width=0, fill="tonexty", fillcolor="rgba(123,132,148,.25)"),
        line([days[0] / 2, days[-1] * 2], [0, 0], uid="zero", color=GREY, width=1),
        line(x, stems, uid="stems", color=_TIME, width=1.5),
        dots(days, left, "seen − curve", uid="dot", color=_TIME, size=8),
    ]
    frame = layout(
        f"{outside} of {len(left)} points lie outside the grey",
        "Seen minus curve; grey: ± one probable error",
        f"Residuals: {', '.join(f'{_time(day)} {score(value)}' for day, value in zip(days, left, strict=True))}.",
        names=("days", "residual"),
        height=160,
        xaxis=time_axis(days, log_time=log_time, few=True),
        yaxis={"range": [-most, most], "nticks": 5, "tickformat": ".2f"},
    )
    return {"data": data, "layout": frame}


def time_axis(days: np.ndarray, *, log_time: bool, room: bool = False, few: bool = False) -> dict[str, Any]:
    """Return the axis over `days`, in decades or even; with `room` for labels at its end, or with `few` ticks."""
    if log_time:
        high = np.log10(days[-1]) + (1.0 if room else 0.15)
        shown = days[::2] if few else days
        ticks = {"tickvals": shown.tolist(), "ticktext": [_time(day) for day in shown], "tickangle": 0}
        return {"type": "log", "range": [np.log10(days[0]) - 0.25, high], "showgrid": False, **ticks}
    ticks = {"tickvals": [1, 6, 14, 21, 31], "ticktext": ["1 d", "6 d", "14 d", "21 d", "31 d"]}
    return {"type": "linear", "range": [-0.6, days[-1] * (1.3 if room else 1.03)], "showgrid": False, **ticks}


def _time(day: float) -> str:
    minutes = 1440 * day
    if minutes < 90:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h" if day < 0.9 else f"{day:.0f} d"


def _values(days: np.ndarray, fine: np.ndarray, curve: np.ndarray) -> str:
    return ", ".join(score(float(value)) for value in np.interp(days, fine, curve))
