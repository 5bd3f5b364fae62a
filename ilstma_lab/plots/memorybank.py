"""MemoryBank's forgetting as figures: how many pieces are kept as days pass, and which pieces of a table are masked.

Each function returns a spec (plots/spec.py); `drawn(spec)` makes it a `go.Figure`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import numpy as np

from ilstma_lab.plots.forgetting import spread
from ilstma_lab.plots.marks import dots, layout, line, ring, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES
from ilstma_lab.reprs.words import MONTHS, count
from ilstma_lab.systems.memorybank import Forgetting

FORMS: Mapping[str, Forgetting] = {
    "paper": Forgetting(),
    "inverted S": Forgetting(form="inverted"),
    "redrawn": Forgetting(draw="each_login"),
    "public code": Forgetting.of_code(),
}
"""The paper's forgetting, each departure of its public code alone, and the code's with all of them."""

_LOOKS = (("time", "solid"), ("b", "6px,4px"), ("relevant", "2px,3px"), ("history", "8px,3px,2px,3px"))
_BAND = "rgba(91,91,214,.14)"
_EXACT = 300  # pieces, up to which the band is exact within a drag of a slider


def chance(curve: Forgetting, interval_days: np.ndarray, recall_times: np.ndarray) -> np.ndarray:
    """Return the probability that pieces are kept which were last recalled `interval_days` ago, with one login on each day.

    `interval_days`: whole days, shape (..., n); `recall_times`: shape (n,).

    >>> once = np.array([1])
    >>> [float(chance(FORMS[name], np.array([2]), once)[0].round(4)) for name in ("paper", "redrawn")]
    [0.1353, 0.0498]
    """
    interval = np.maximum(interval_days, 0)
    if curve.draw == "once" or not interval.size:
        return curve.retention(interval, recall_times)
    by_day = curve.retention(np.arange(interval.max() + 1)[:, None], recall_times)  # (days, n), R(0) = 1
    return np.cumprod(by_day, axis=0)[interval, np.arange(len(recall_times))]


def kept_spec(
    chances: Mapping[str, np.ndarray], *, chosen: str, day: int, counted: np.ndarray | None = None, since: str = "now"
) -> Spec:
    """Return how many pieces are kept as days pass: a line of the mean for each form, for the chosen one its 95 % band.

    `chances`: of each form the probability that a piece is kept, shape (days + 1, n), from day 0 on. `counted`: how many the
    draws of the chosen form keep, shape (days + 1,). `day` is marked; `since` names day 0.
    """
    days, n = len(chances[chosen]) - 1, chances[chosen].shape[1]
    x = np.arange(days + 1)
    means = {name: each.sum(axis=1) for name, each in chances.items()}
    low, high = band(chances[chosen])
    edge = {"fill": "toself", "fillcolor": _BAND, "line": {"width": 0}}
    data = [line([*x, *x[::-1]], [*low, *high[::-1]], uid="band", color=_BAND, width=0) | edge]
    for (name, mean), (role, dash) in zip(means.items(), _LOOKS, strict=False):
        width = 2.4 if name == chosen else 1.4
        data.append(line(x, mean, name=f"{name}, mean", uid=_uid(name), color=ROLES[role], width=width, dash=dash))
    if counted is not None:
        data.append(dots(x, counted, f"{chosen}, counted", uid="dot-counted", color=GREY, size=5))
    top = max(1.0, *(float(mean.max()) for mean in (*means.values(), high, counted if counted is not None else high)))
    data.append(line([day, day], [0, top], uid="ink-day", color=GREY, width=1))
    data += _labels(means, chosen, days, top)
    at = {name: _number(mean[day]) for name, mean in means.items()}
    when = f"After {count(day, 'day')}" if day else "At first"
    frame = layout(
        f"{when} {_said(chosen)} keeps {at[chosen]} of {n} on average",
        f"pieces kept by days from {since}; lines: means, shaded: 95 % of draws" + ("" if counted is None else ", dots: counted"),
        f"Of {count(n, 'piece')}, kept on average on day {day}: {', '.join(f'{name} {much}' for name, much in at.items())}.",
        height=250,
        margin={"l": 36, "r": 12, "t": 8, "b": 30},
        xaxis={"range": [0, 1.24 * days], "tickvals": _ticks(days), "showgrid": False},
        yaxis={"range": [-0.03 * top, 1.06 * top], "nticks": 6},
        names=("day", "pieces"),
    )
    return {"data": data, "layout": frame}


def bank_spec(days: Sequence[date], places: Sequence[int], masked: np.ndarray, *, chosen: int, now: str = "") -> Spec:
    """Return the pieces of a table by the day that they tell of: filled where they are kept, hollow where they are masked.

    `places`: where a piece stands on its day, 0 for the summary of the day, from 1 on for its rows. `masked`: bool, shape (n,).
    `chosen` is the place of the piece in the ring, among all.
    """
    first, last = min(days), max(days)
    x, y = np.array([(day - first).days for day in days]), np.asarray(places)
    long = max((last - first).days, 1)
    size = float(np.clip(480 / (long + 2), 3.5, 10))
    data = []
    for name, here, symbol in (("row", y > 0, "square"), ("day summary", y == 0, "diamond")):
        for state, part in (("masked", here & masked), ("kept", here & ~masked)):
            color, shape = (GREY, f"{symbol}-open") if state == "masked" else (ROLES["time"], symbol)
            label = {"name": f"{name}, {state}", "uid": f"{'hollow' if state == 'masked' else 'dot'}-{name.split()[0]}"}
            marks = dots(x[part], y[part], label["name"], uid=label["uid"], color=color, size=size, symbol=shape)
            data.append(marks)
    data.append(ring(int(x[chosen]), int(y[chosen])))
    lost = int(masked.sum())
    ticks = np.unique(np.linspace(0, long, min(7, long + 1)).astype(int))
    frame = layout(
        f"{count(len(masked) - lost, 'piece')} of {len(masked)} kept, {lost} masked" + (f" on {now}" if now else ""),
        "pieces by day told; squares: rows, diamonds: day summaries; filled: kept, hollow: masked",
        f"Of {count(len(masked), 'piece')} {len(masked) - lost} are kept and {lost} are masked.",
        height=190,
        margin={"l": 36, "r": 12, "t": 8, "b": 30},
        xaxis={"range": [-1, long + 1], "tickvals": ticks, "ticktext": _dates(first, ticks), "showgrid": False},
        yaxis={"range": [-0.7, max(int(y.max()), 1) + 0.7], "tickvals": [0], "ticktext": ["day"], "showgrid": False},
        names=("day", "place"),
    )
    return {"data": data, "layout": frame}


def band(chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return between which counts of kept pieces 95 % of draws lie, each shape (days,); `chances` (days, n) are independent.

    Exact up to 300 pieces, by adding one piece after the other; beyond that by the normal law.
    """
    n = chances.shape[1]
    if n > _EXACT:
        mean, error = chances.sum(axis=1), 1.96 * np.sqrt((chances * (1 - chances)).sum(axis=1))
        return np.clip(mean - error, 0, n), np.clip(mean + error, 0, n)
    law = np.zeros((len(chances), n + 1))  # of each day the probability of each count
    law[:, 0] = 1
    for p in chances.T[:, :, None]:
        law[:, 1:], law[:, :1] = law[:, 1:] * (1 - p) + law[:, :-1] * p, law[:, :1] * (1 - p)
    below = law.cumsum(axis=1)
    return (below < 0.025).sum(axis=1), (below < 0.975).sum(axis=1)


def _labels(means: Mapping[str, np.ndarray], chosen: str, days: int, top: float) -> list[dict]:
    """The forms' names at the right, clear of each other, led there from the ends of their lines."""
    names = sorted(means, key=lambda name: means[name][-1])
    ends = np.array([means[name][-1] for name in names])
    places = spread(ends, 0.085 * top)
    leaders = line(
        [days, 1.03 * days, None] * len(names), np.c_[ends, places, places].ravel(), uid="leaders", color=GREY, width=0.7
    )
    said = [f"<b>{name}</b>" if name == chosen else name for name in names]
    return [leaders, words([1.035 * days] * len(names), places.tolist(), said, "middle right", uid="words-forms")]


def _said(name: str) -> str:
    return f"the {name}" if name in ("paper", "inverted S", "public code") else f"the {name} form"


def _number(value: float) -> str:
    return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"


def _uid(name: str) -> str:
    return f"form-{name.replace(' ', '-').lower()}"


def _ticks(days: int) -> list[int]:
    step = 1 if days <= 10 else 7 if days >= 21 else 2
    return list(range(0, days + 1, step))


def _dates(first: date, after: np.ndarray) -> list[str]:
    days = [first + timedelta(days=int(days)) for days in after]
    return [f"{day.day} {MONTHS[day.month - 1]}" for day in days]
