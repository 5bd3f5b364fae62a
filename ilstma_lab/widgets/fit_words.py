"""What the fit lab says: its finding, its numbers with their intervals, its scores, and what cannot be known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.forgetting.uncertainty import Interval
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.words import count, score
from ilstma_lab.widgets.fit_trust import Score, Trust, constant
from ilstma_lab.widgets.fit_trust import scores as scored

if TYPE_CHECKING:
    from ilstma_lab.widgets.fit_lab import FitView

LABELS = {
    "first_days": "S(1)",
    "limit_days": "S(∞)",
    "rate": "rate",
    "step_days": "step",
    "exponent": "exponent",
    "shape": "shape",
    "decay": "decay",
}
_BREAK = Html("<br>")


def finding(view: FitView) -> str:
    """Return the sentence at the head."""
    unit = "nats a question" if view.data.log is not None else "days"
    if not len(view.data):
        return "There is no question to fit"
    if view.trust is None:
        return f"Your guess misses by {_miss(view, view.guess)} {unit}, a constant by {_miss(view, constant(view.data))}"
    fit = view.trust.fit
    if not fit.fitted:
        return "Not identifiable: the defaults stand"
    if lost := loose(view.trust):
        return f"These data do not tell {_and(lost)}"
    factors = {name: part.high / max(part.low, 1e-9) for name, part in view.trust.intervals.items()}
    best, worst = min(factors, key=factors.get), max(factors, key=factors.get)
    return f"{LABELS[best]} is known within a factor of {factors[best]:.1f}, {LABELS[worst]} within {factors[worst]:.1f}"


def curve_title(view: FitView) -> str:
    """Return the title of the first figure."""
    if view.trust is None:
        return "Your guess beside the data"
    return "The fitted curve beside the data" if view.trust.fit.fitted else "The defaults beside the data"


def later_title(view: FitView, miss: float) -> str:
    """Return the title of the comparison with later points, which are missed by `miss` days."""
    if np.isnan(miss):
        return "No later point to test the curve"
    return (
        f"Fitted to the earlier points, it misses the later by {miss:.2f} days"
        if view.trust
        else f"Later points: {miss:.2f} days off"
    )


def valley(trust: Trust, pair: tuple[str, str]) -> str:
    """Return what the likelihood over two numbers looks like."""
    if not trust.fit.fitted:
        return "No fit: the likelihood around the defaults"
    if lost := [name for name in pair if name in loose(trust)]:
        return f"A flat valley: {_and(lost)} could be many values"
    surface = trust.surfaces[pair]
    inside = surface.rise < trust.level
    if inside.sum() < 8:
        return "One narrow peak"
    y, x = np.nonzero(inside)
    tie = float(np.corrcoef(x, y)[0, 1])
    a, b = (LABELS[name] for name in pair)
    if abs(tie) < 0.3:
        return f"One peak: {a} and {b} go their own ways"
    return f"{'More' if tie < 0 else 'Less'} {a} makes up for less {b}"


def loose(trust: Trust) -> list[str]:
    """Return the numbers that the data do not tell, or limit on one side at most."""
    return [name for name, part in trust.intervals.items() if name in trust.fit.unidentified or not part.identified]


def live(view: FitView) -> Html:
    """Return the big number with what to compare it with."""
    log = view.data.log is not None
    what = "log loss" if log else "RMSE, days,"
    others = [f"constant: {_miss(view, constant(view.data))}"]
    others += [f"your guess: {_miss(view, view.guess)}"] if view.trust else []
    who = f"of the {_name(view.trust)}" if view.trust else "of your guess"
    said = (f"{what} {who}", *(part for other in others for part in (_BREAK, other)))
    return tag("div", tag("b", _miss(view, view.judged)), tag("span", *said), cls="readout")


def numbers(view: FitView) -> Html:
    """Return the table of numbers: guess, fit with standard error, profile interval, bootstrap; and in words what is not told."""
    found = view.trust
    heads, sub = ["", "guess"], "Press Fit for the best ones and their intervals"
    if found:
        heads, sub = ["", "guess", _name(found), "95 %"], "± standard error; 95 %: profile likelihood"
    if found and found.drawn:
        heads, sub = ["", _name(found), "95 %", "by item"], "95 %: profile likelihood; by item: bootstrap"
    rows = [_number(view, name) for name in view.family.names]
    return join(_titles("Numbers", sub), _table(heads, rows), _said(view))


def scores(view: FitView) -> Html:
    """Return the table of scores: a constant, the guess and the fit, on all data and on the later ones."""
    base, early = constant(view.data), constant(view.data.halves[0])
    columns = {"constant": scored(view.data, base, early), "guess": scored(view.data, view.guess, view.guess)}
    if view.trust:
        columns[_name(view.trust)] = scored(view.data, view.trust.fit, view.trust.early)
    log = view.data.log is not None
    names = ("log loss", "Brier") if log else ("RMSE, days", "R²")
    later = len(view.data.halves[1])
    rows = [
        _scores("AICc", [column.aicc for column in columns.values()], digits=1),
        _scores(names[0], [column.miss for column in columns.values()]),
        _scores(names[1], [column.second for column in columns.values()], most=not log),
        _scores(f"{names[0]}, later", [column.later_miss for column in columns.values()]),
    ]
    if log:  # of a few later points a share of their variance says nothing
        rows.append(_scores(f"{names[1]}, later", [column.later_second for column in columns.values()]))
    unit = "question" if log else "point"
    sub = f"later: fitted to the first 60 %, tested on {count(later, unit)}"
    return join(_titles(_verdict(view, columns), sub), _table(["", *columns], rows))


def _name(trust: Trust) -> str:
    return "fit" if trust.fit.fitted else "defaults"


def _number(view: FitView, name: str) -> Html:
    label, guess = tag("td", LABELS[name]), tag("td", f"{view.numbers[name]:.3g}", cls="num dim")
    if (found := view.trust) is None:
        return tag("tr", label, guess)
    value, error = found.fit.values[name], found.fit.standard_errors[name]
    shown = f"{value:.3g} ± {error:.2g}" if np.isfinite(error) else f"{value:.3g}"
    best = (tag("td", shown, cls="num key"), tag("td", interval_words(found.intervals[name]), cls="num"))
    if not found.drawn:
        return tag("tr", label, guess, *best)
    ends = np.quantile(found.drawn[name], [0.025, 0.975])
    by_item = f"{ends[0]:.3g} to {ends[1]:.3g}" if np.isfinite(ends).all() else "–"
    return tag("tr", label, *best, tag("td", by_item, cls="num"))


def interval_words(part: Interval) -> str:
    """Return an interval in words; an end that the data do not set is left out.

    >>> interval_words(Interval(1.0, 2.5)), interval_words(Interval(1.0, 9.0, high_closed=False))
    ('1 to 2.5', 'above 1')
    """
    if part.identified:
        return f"{part.low:.3g} to {part.high:.3g}"
    if part.low_closed:
        return f"above {part.low:.3g}"
    return f"below {part.high:.3g}" if part.high_closed else "anything"


def _said(view: FitView) -> Html | None:
    if view.trust is None:
        return None
    fit, note = view.trust.fit, view.trust.fit.note
    for name, label in LABELS.items():
        note = note.replace(name, label)
    words = [_sentence(note)] if note else []
    one_sided = [name for name in loose(view.trust) if name not in fit.unidentified]
    words += [f"The data limit {_and(one_sided)} on one side at most: not identifiable."] if one_sided else []
    if not loose(view.trust) and _skewed(view.trust):
        words.append("An interval is lopsided: believe it rather than the standard error.")
    return tag("p", " ".join(words), cls="said") if words else None


def _skewed(trust: Trust) -> bool:
    sides = ((part.high - value, value - part.low) for part, value in _with_values(trust))
    return any(max(side) > 2 * min(side) for side in sides)


def _with_values(trust: Trust) -> list[tuple[Interval, float]]:
    return [(part, trust.fit.values[name]) for name, part in trust.intervals.items()]


def _scores(name: str, values: Sequence[float], *, digits: int = 3, most: bool = False) -> Html:
    known = [value for value in values if np.isfinite(value)]
    best = (max if most else min)(known) if known else None
    cells = [tag("td", _text(value, digits), cls="num key" if value == best else "num") for value in values]
    return tag("tr", tag("td", name), *cells)


def _verdict(view: FitView, columns: dict[str, Score]) -> str:
    if view.trust is None or not len(view.data.halves[1]):
        return "Scores beside a constant"
    if not (view.trust.fit.fitted and view.trust.early.fitted):
        return "Nothing was fitted to the earlier data"
    better = columns["fit"].later_miss < columns["constant"].later_miss
    return "On later data the fit beats a constant" if better else "On later data a constant does better"


def _miss(view: FitView, fit: object) -> str:
    if not len(view.data):
        return "–"
    if view.data.log is None:
        return f"{fit.rmse:.2f}"
    return score(float(fit.misfit) / (2 * len(view.data)))


def _text(value: float, digits: int) -> str:
    if not np.isfinite(value):
        return "–"
    return score(value) if digits == 3 else f"{value:.{digits}f}".replace("-", "−")


def _titles(title: str, sub: str) -> Html:
    return join(tag("p", title, cls="fig-title"), tag("p", sub, cls="fig-sub"))


def _table(heads: Sequence[str], rows: Sequence[Html]) -> Html:
    top = tag("tr", *(tag("th", name, scope="col", cls="num" if at else None) for at, name in enumerate(heads)))
    return tag("table", tag("thead", top), tag("tbody", *rows), cls="grid live-numbers")


def _and(names: Sequence[str]) -> str:
    *most, last = (LABELS.get(name, name) for name in names)
    return f"{', '.join(most)} and {last}" if most else last


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")
