"""Fits as figures: data with the curve, what is left over, the likelihood over two numbers, seen against predicted.

Each function returns a spec (plots/spec.py). A log of recalls is drawn as shares of recalls in groups of number and interval.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ilstma_lab.forgetting.scores import Calibration
from ilstma_lab.forgetting.search import Observed
from ilstma_lab.forgetting.uncertainty import Interval
from ilstma_lab.plots.forgetting import spread
from ilstma_lab.plots.marks import INK, dots, layout, line, ring, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES
from ilstma_lab.reprs.words import count, score

MOST_RECALLS = 5
"""Items recalled more often than this stand in one group."""

_MOST_INTERVALS = 8
_TIME, _PALE = ROLES["time"], "rgba(91,91,214,.55)"
_BAND = "rgba(123,132,148,.18)"
_SHARES = {"range": [0, 1.04], "tickvals": [0, 0.25, 0.5, 0.75, 1], "ticktext": ["0", ".25", ".50", ".75", "1"]}
_BEST_TO_NONE = [[0, "rgba(91,91,214,.03)"], [1, "rgba(91,91,214,.95)"]]


@dataclass(frozen=True, eq=False)
class Groups:
    """Cells of a log put together; each of shape (g,), and `place` says for each cell of the log where it went, (n_cells,).

    `recalls` is 1 to 5, the last for all above; `times` and `days` are the means inside a group; `share` was recalled.
    """

    recalls: np.ndarray
    times: np.ndarray
    days: np.ndarray
    asked: np.ndarray
    share: np.ndarray
    place: np.ndarray
    weight: np.ndarray

    def mean(self, cells: np.ndarray) -> np.ndarray:
        """Return the mean over each group of a value per cell."""
        return np.bincount(self.place, self.weight * cells, len(self.asked)) / self.asked

    @property
    def error(self) -> np.ndarray:
        """How far a share may be off, at 95 %: after Agresti and Coull, which is also wide where all or none was recalled."""
        p = (self.share * self.asked + 2) / (self.asked + 4)
        return 1.96 * np.sqrt(p * (1 - p) / (self.asked + 4))


def grouped(observed: Observed) -> Groups:
    """Return a log's cells by number of recalls and interval; more than eight intervals are put together by their ranks."""
    days, times = observed.columns
    bins, distinct = np.unique(days, return_inverse=True)
    if len(bins) > _MOST_INTERVALS:
        edges = np.unique(np.quantile(np.repeat(days, observed.weight.astype(int)), np.linspace(0, 1, _MOST_INTERVALS + 1)[1:-1]))
        distinct = np.searchsorted(edges, days, side="right")
    recalls = np.minimum(times, MOST_RECALLS).astype(int)
    keys, place = np.unique(np.c_[recalls, distinct], axis=0, return_inverse=True)
    place, weight = place.ravel(), observed.weight
    asked = np.bincount(place, weight, len(keys))
    mean_times, mean_days, share = (
        np.bincount(place, weight * column, len(keys)) / asked for column in (times, days, observed.seen)
    )
    return Groups(keys[:, 0], mean_times, mean_days, asked, share, place, weight)


def recalls_spec(
    groups: Groups,
    curve: Callable[[np.ndarray, np.ndarray], np.ndarray],
    *,
    title: str,
    chosen: int,
    beside: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Spec:
    """Return shares of recalls over the interval, and a curve for each number of recalls; `chosen` in full, with its bars.

    `curve` and `beside` give R for interval_days and recall_times; `beside`, dashed, is drawn for the chosen number only.
    """
    if not len(groups.asked):
        return empty_spec("The log is empty", "No question was asked after a last recall.", height=270)
    low, high = groups.days.min(), max(groups.days.max(), 1.01 * groups.days.min())
    fine = np.geomspace(low, high, 60)
    names = np.unique(groups.recalls)
    data, ends = [], []
    for n in names:
        inside, mine = groups.recalls == n, n == chosen
        times = np.average(groups.times[inside], weights=groups.asked[inside])
        values = curve(fine, np.full_like(fine, times))
        ends.append(float(values[-1]))
        data.append(line(fine, values, name=f"n = {_group(n)}", uid=f"curve{n}", color=_TIME, width=2.8 if mine else 1.2))
        if mine and beside is not None:
            other = beside(fine, np.full_like(fine, times))
            data.append(line(fine, other, name="your guess", uid="beside", color=GREY, width=1.5, dash="5px,4px"))
    for n in sorted(names.tolist(), key=lambda n: n == chosen):  # the chosen ones lie on top
        data.append(_shares(groups, groups.recalls == n, n, mine=n == chosen))
    order = np.argsort(ends)
    labels = [f"<b>n = {_group(n)}</b>" if n == chosen else f"n = {_group(n)}" for n in names[order]]
    reach = np.log10(high / low)
    places = spread(np.array(ends)[order], 0.07)
    data.append(words([high * 10 ** (0.03 * reach)] * len(names), places, labels, "middle right", uid="words-recalls"))
    frame = layout(
        title,
        f"Share recalled by days; bars: 95 % for n = {_group(chosen)}" + ("; dashed: your guess" if beside else ""),
        _shares_said(groups, chosen),
        names=("days", "R"),
        height=270,
        xaxis={**_ticks(low, high, groups.days), "range": _log_range(low, high, 0.05, 0.2), "showgrid": False},
        yaxis=_SHARES,
    )
    return {"data": data, "layout": frame}


def points_spec(
    n: np.ndarray,
    days: np.ndarray,
    curve: Callable[[np.ndarray], np.ndarray],
    *,
    title: str,
    chosen: int,
    beside: Callable[[np.ndarray], np.ndarray] | None = None,
) -> Spec:
    """Return points (n, S in days) with a curve; a ring marks the `chosen`-th point. `beside` is dashed."""
    last = max(6.0, float(n.max()) + 1)
    fine = np.linspace(1, last, 81)
    values = curve(fine)
    others = [beside(fine)] if beside is not None else []
    data = [line(fine, other, name="your guess", uid="beside", color=GREY, width=1.5, dash="5px,4px") for other in others]
    data.append(line(fine, values, name="curve", uid="curve", color=_TIME, width=2.5))
    data.append(dots(n, days, "S seen", uid="hollow", color=GREY, size=9, symbol="circle-open"))
    at = min(max(chosen, 1), len(n)) - 1
    data.append(ring(n[at], days[at]))
    left = n[at] > 0.6 * last
    data.append(
        words(n[at] - 0.15 if left else n[at] + 0.15, days[at], f"<b>{days[at]:.2f} days</b>", _side(left), uid="words-chosen")
    )
    top = 1.12 * max(float(days.max()), *(float(line_[-1]) for line_ in (values, *others)))
    said = ", ".join(f"S({x:g}) = {y:.2f}" for x, y in zip(n, days, strict=True))
    frame = layout(
        title,
        "S in days, by number of recalls n" + ("; dashed: your guess" if others else ""),
        f"Points: {said}. The curve there: {', '.join(f'{y:.2f}' for y in curve(n))}.",
        names=("n", "S"),
        height=270,
        xaxis={"type": "linear", "range": [0.7, last + 0.1], "dtick": max(1, round(last / 8)), "tick0": 1, "showgrid": False},
        yaxis={"range": [0, top], "nticks": 6},
    )
    return {"data": data, "layout": frame}


def recall_residuals_spec(groups: Groups, predicted: np.ndarray, *, chosen: int) -> Spec:
    """Return (share - predicted) / its standard error for each group; grey: where 95 % of them lie if the curve is right."""
    if not len(groups.asked):
        return empty_spec("No residuals", "The log is empty.", height=180)
    error = np.sqrt(np.maximum(groups.mean(predicted * (1 - predicted)), 1e-9) / groups.asked)
    left = np.clip((groups.share - groups.mean(predicted)) / error, -12, 12)
    low, high = groups.days.min(), max(groups.days.max(), 1.01 * groups.days.min())
    ends = [10**end for end in _log_range(low, high, 0.1, 0.1)]
    data = _band(ends, 1.96)
    for n in sorted(np.unique(groups.recalls).tolist(), key=lambda n: n == chosen):
        part, look = groups.recalls == n, {"color": _TIME, "size": 8} if n == chosen else {"color": _PALE, "size": 6}
        data.append(dots(groups.days[part], left[part], f"n = {_group(n)}", uid=f"dot{n}", **look))
    outside = int((np.abs(left) > 1.96).sum())
    frame = layout(
        f"{outside} of {len(left)} lie outside the grey",
        f"In standard errors, by days; chance puts {_chance(len(left))} outside",
        f"Residuals of {len(left)} groups; the largest is {left[np.abs(left).argmax()]:.1f} standard errors.",
        names=("days", "residual"),
        height=180,
        xaxis={**_ticks(low, high, groups.days), "range": np.log10(ends).tolist(), "showgrid": False},
        yaxis={"range": _symmetric(left, 3.0), "nticks": 5},
    )
    return {"data": data, "layout": frame}


def point_residuals_spec(n: np.ndarray, left: np.ndarray) -> Spec:
    """Return what the curve leaves over at each point, in days, as stems."""
    stems = np.c_[np.zeros_like(left), left, np.full_like(left, np.nan)].ravel()
    last = max(6.0, float(n.max()) + 1)
    signs = np.sign(left[np.abs(left) > 1e-6])
    runs = 1 + int((np.diff(signs) != 0).sum()) if len(signs) else 0
    titles = {0: "The curve meets every point", 1: "All points lie on one side of the curve", 2: "One side first, then the other"}
    data = [
        line([0.7, last + 0.1], [0, 0], uid="zero", color=GREY, width=1),
        line(np.repeat(n, 3), stems, uid="stems", color=_TIME, width=1.5),
        dots(n, left, "seen − curve", uid="dot", color=_TIME, size=8),
    ]
    frame = layout(
        titles.get(runs, f"The points change sides {runs - 1} times"),
        "Seen minus curve, in days, by number of recalls",
        f"Residuals: {', '.join(f'{value:.2f}' for value in left)} days.",
        names=("n", "residual"),
        height=180,
        xaxis={"type": "linear", "range": [0.7, last + 0.1], "dtick": max(1, round(last / 8)), "tick0": 1, "showgrid": False},
        yaxis={"range": _symmetric(left, 0.05), "nticks": 5},
    )
    return {"data": data, "layout": frame}


@dataclass(frozen=True, eq=False)
class Surface:
    """The deviance above its lowest over two numbers: `x` (n_x,), `y` (n_y,), `rise` (n_y, n_x)."""

    x: np.ndarray
    y: np.ndarray
    rise: np.ndarray


def surface_spec(
    surface: Surface,
    *,
    labels: tuple[str, str],
    best: tuple[float, float],
    guess: tuple[float, float],
    intervals: Sequence[Interval],
    level: float,
    title: str,
    fitted: bool = True,
) -> Spec:
    """Return the likelihood relative to the best over two numbers; the line joins what is as likely as the intervals' ends.

    A ring marks the `best` numbers, a cross the `guess`; bars along the axes are the two profile intervals.
    """
    heat = {
        "type": "heatmap",
        "name": "likelihood",
        "x": surface.x,
        "y": surface.y,
        "z": np.exp(-0.5 * surface.rise),
        "zmin": 0,
        "zmax": 1,
        "colorscale": _BEST_TO_NONE,
        "showscale": False,
        "hoverinfo": "none",
        "xgap": 0,
        "ygap": 0,
    }
    contour = {
        "type": "contour",
        "x": surface.x,
        "y": surface.y,
        "z": np.minimum(surface.rise, 4 * level),
        "contours": {"start": level, "end": level, "size": 1, "coloring": "none"},
        "line": {"color": GREY, "width": 1.5},
        "showscale": False,
        "hoverinfo": "skip",
        "uid": "contour",
    }
    data = [heat, contour]
    (left, right), (bottom, top) = ((axis[0], axis[-1]) for axis in (surface.x, surface.y))
    if fitted:
        x, y = (
            np.clip([part.low, part.high], axis[0], axis[-1])
            for part, axis in zip(intervals, (surface.x, surface.y), strict=True)
        )
        foot, side = bottom * (top / bottom) ** 0.035, left * (right / left) ** 0.02
        data += [
            line(x, [foot, foot], uid="ink-x", **{**INK, "width": 3}),
            line([side, side], y, uid="ink-y", **{**INK, "width": 3}),
        ]
        data.append(dots([best[0]], [best[1]], None, uid="dot-best", color=_TIME, size=8))
        data.append(ring(*best))
    near = ([float(np.clip(guess[0], left, right))], [float(np.clip(guess[1], bottom, top))])
    data.append(dots(*near, None, uid="ink-guess", color=GREY, size=9, symbol="x-thin"))
    data = [{**part, "cliponaxis": False} if part["type"] == "scatter" else part for part in data]
    frame = layout(
        title,
        f"{labels[1]} by {labels[0]}; " + ("ring: fit, cross: guess, bars: 95 %" if fitted else "cross: guess"),
        f"Likelihood over {labels[0]} and {labels[1]}; the best is at {best[0]:.3g} and {best[1]:.3g}.",
        names=(labels[0], labels[1]),
        height=230,
        xaxis={**_ticks(left, right), "range": np.log10([left, right]).tolist(), "showgrid": False},
        yaxis={**_ticks(bottom, top), "range": np.log10([bottom, top]).tolist(), "showgrid": False},
        margin={"l": 40, "r": 12, "t": 8, "b": 30},
    )
    return {"data": data, "layout": frame}


def calibration_spec(table: Calibration, *, title: str, sub: str) -> Spec:
    """Return the share recalled against the mean prediction, bin by bin, with 95 % bands and the numbers of questions."""
    bars = {
        "type": "data",
        "symmetric": False,
        "array": table.high - table.recalled,
        "arrayminus": table.recalled - table.low,
        "color": _TIME,
        "thickness": 1.2,
        "width": 3,
    }
    unseen = {"low": table.low, "high": table.high, "questions": table.count}  # in the table, not in the picture
    data = [
        line([0, 1], [0, 1], uid="ink-even", **{**INK, "width": 1}, dash="dot"),
        dots(table.predicted, table.recalled, "recalled", uid="dot", color=_TIME, size=8, error_y=bars),
        *(line(table.predicted, values, name=name, uid=name, color=GREY, width=0) for name, values in unseen.items()),
        _counts(table),
    ]
    said = (f"predicted {score(p)}, recalled {score(r)} of {count(int(n), 'question')}" for p, r, n in _rows(table))
    frame = layout(
        title,
        sub,
        "; ".join(said) + ".",
        names=("predicted", "recalled"),
        height=230,
        xaxis={**_SHARES, "type": "linear", "range": [-0.03, 1.03], "showgrid": False},
        yaxis={**_SHARES, "type": "linear"},
    )
    return {"data": data, "layout": frame}


def seen_spec(predicted: np.ndarray, seen: np.ndarray, later: np.ndarray, *, title: str, sub: str) -> Spec:
    """Return S seen against S predicted for points; those `later` (a mask) were not fitted, and are hollow."""
    high = 1.1 * float(max(predicted.max(), seen.max()))
    data = [
        line([0, high], [0, high], uid="ink-even", **{**INK, "width": 1}, dash="dot"),
        dots(predicted[~later], seen[~later], "earlier", uid="dot", color=_TIME, size=8),
        dots(predicted[later], seen[later], "later", uid="hollow-later", color=_TIME, size=9, symbol="circle-open"),
    ]
    frame = layout(
        title,
        sub,
        f"Seen {', '.join(f'{value:.2f}' for value in seen)}; predicted {', '.join(f'{value:.2f}' for value in predicted)} days.",
        names=("predicted", "seen"),
        height=230,
        xaxis={"type": "linear", "range": [0, high], "nticks": 6, "showgrid": False},
        yaxis={"type": "linear", "range": [0, high], "nticks": 6},
    )
    return {"data": data, "layout": frame}


def empty_spec(title: str, said: str, *, height: int) -> Spec:
    """Return a figure that says why there is nothing to see yet."""
    none = {"type": "linear", "range": [0, 1], "showgrid": False, "showticklabels": False}
    frame = layout(title, "", said, names=("x", "y"), height=height, xaxis=none, yaxis=none)
    return {"data": [words(0.5, 0.55, said, "middle center", uid="words-empty")], "layout": frame}


def _shares(groups: Groups, inside: np.ndarray, n: int, *, mine: bool) -> dict:
    share, error = groups.share[inside], groups.error[inside]
    bars = {"type": "data", "array": error, "color": _TIME, "thickness": 1.2, "width": 3}
    more = {"error_y": bars} if mine else {}
    name = f"seen, n = {_group(n)}"
    colour = _TIME if mine else _PALE
    return dots(groups.days[inside], share, name, uid=f"dot{n}", color=colour, size=8.5 if mine else 6, **more)


def _shares_said(groups: Groups, chosen: int) -> str:
    inside = groups.recalls == chosen
    rows = zip(groups.days[inside], groups.share[inside], groups.asked[inside], strict=True)
    said = ", ".join(f"{day:.3g} days {score(share)} of {asked:.0f}" for day, share, asked in rows)
    return f"Share recalled with n = {_group(chosen)}: {said or 'no question'}."


def _band(x: Sequence[float], half: float) -> list[dict]:
    return [
        line(x, [half, half], uid="upper", color=GREY, width=0),
        line(x, [-half, -half], uid="lower", color=GREY, width=0, fill="tonexty", fillcolor=_BAND),
        line(x, [0, 0], uid="zero", color=GREY, width=1),
    ]


def _counts(table: Calibration) -> dict:
    """Return the numbers of questions along the free edge: above on the left, below on the right; where bins crowd, the first."""
    apart = np.diff(table.predicted, prepend=-1.0) > 0.06
    x, text = table.predicted[apart], [f"{number:,}" for number in table.count[apart]]
    return words(x, np.where(x < 0.5, 0.96, 0.06), text, "middle center", uid="words-count")


def _rows(table: Calibration) -> zip:
    return zip(table.predicted.tolist(), table.recalled.tolist(), table.count.tolist(), strict=True)


def _group(n: int) -> str:
    return f"{n}+" if n >= MOST_RECALLS else str(n)


def _side(left: bool) -> str:
    return "top left" if left else "bottom right"


def _chance(groups: int) -> str:
    return f"about {0.05 * groups:.0f}" if groups >= 10 else "hardly one"


def _symmetric(left: np.ndarray, least: float) -> list[float]:
    most = max(least, 1.15 * float(np.abs(left).max()))
    return [-most, most]


def _log_range(low: float, high: float, before: float, after: float) -> list[float]:
    reach = np.log10(high / low)
    return [float(np.log10(low) - before * reach), float(np.log10(high) + after * reach)]


def _ticks(low: float, high: float, places: np.ndarray | None = None) -> dict[str, object]:
    """Return a log axis with a tick at each of a few `places`, else at round numbers, six at most."""
    ticks = np.unique(places) if places is not None else np.empty(0)
    if not 1 < len(ticks) <= 6:
        ticks = _even(low, high) if high < 5 * low else _decades(low, high)
    return {"type": "log", "tickvals": ticks.tolist(), "ticktext": [f"{tick:.3g}" for tick in ticks]}


def _even(low: float, high: float) -> np.ndarray:
    step = 10 ** np.floor(np.log10(high - low))
    step = next(step * size for size in (0.2, 0.5, 1, 2, 5) if (high - low) / (step * size) <= 5)
    return step * np.arange(np.ceil(low / step), np.floor(high / step) + 1)


def _decades(low: float, high: float) -> np.ndarray:
    decades = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    for steps in ((1, 2, 3, 5, 7), (1, 2, 5), (1, 3), (1,)):
        ticks = np.outer(decades, steps).ravel()
        ticks = ticks[(ticks >= 0.999 * low) & (ticks <= 1.001 * high)]
        if len(ticks) <= 6:
            break
    return ticks[:: -(-len(ticks) // 6)]
