"""The curve picker: which forgetting curve goes through Ebbinghaus' seven points, by hand and by least squares."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ilstma_lab.forgetting.curve import RetentionCurve
from ilstma_lab.forgetting.data import load_forgetting
from ilstma_lab.forgetting.fitting import Fit, fit_savings
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.rivals import (
    EbbinghausRetention,
    FsrsRetention,
    LogarithmicRetention,
    PowerRetention,
    StretchedRetention,
    WickelgrenRetention,
)
from ilstma_lab.plots.savings import residual_spec, savings_spec
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.words import score
from ilstma_lab.widgets.controls import choice, slider, switch
from ilstma_lab.widgets.explorable import Drawing, Explorable

CURVES: dict[str, tuple[str, RetentionCurve]] = {
    "exponential": ("Exponential, Eq. 1", ExponentialRetention()),
    "stretched": ("Stretched", StretchedRetention()),
    "power": ("Power law", PowerRetention()),
    "wickelgren": ("Wickelgren", WickelgrenRetention()),
    "logarithmic": ("Logarithmic", LogarithmicRetention()),
    "ebbinghaus": ("Ebbinghaus 1885", EbbinghausRetention()),
    "fsrs": ("FSRS-6", FsrsRetention()),
}
_FINE = np.geomspace(1 / 144, 31, 160)  # days, from ten minutes on


def _only(kind: str) -> dict:
    return {"when": ("curve", kind)}


@dataclass(frozen=True)
class PickerParameters:
    """The chosen curve with its numbers, named kind_number; the defaults are the published ones, for Eq. 1
    the paper's S(1)."""

    curve: str = choice("exponential", {words: kind for kind, (words, _) in CURVES.items()}, label="Curve", dropdown=True)
    fit: bool = switch(False, label="Best fit, by least squares")
    exponential_strength_days: float = slider(
        5.0, 0.01, 50, 0.01, label="S", about="strength", unit="days", digits=2, log=True, **_only("exponential")
    )
    stretched_strength_days: float = slider(
        5.0, 0.01, 50, 0.01, label="S", about="strength", unit="days", digits=2, log=True, **_only("stretched")
    )
    stretched_shape: float = slider(0.5, 0.02, 1.5, 0.01, label="Shape", about="1 is Eq. 1", digits=2, **_only("stretched"))
    power_scale: float = slider(0.318, 0.05, 1, 0.001, label="a", about="R after a day", digits=3, **_only("power"))
    power_exponent: float = slider(0.131, 0.01, 1, 0.001, label="b", about="exponent", digits=3, **_only("power"))
    wickelgren_speed: float = slider(
        6300.0, 1, 1e5, 0.01, label="h", about="speed", unit="per day", digits=2, log=True, **_only("wickelgren")
    )
    wickelgren_exponent: float = slider(0.131, 0.01, 1, 0.001, label="f", about="exponent", digits=3, **_only("wickelgren"))
    logarithmic_after_one: float = slider(0.336, 0, 1, 0.001, label="a", about="R after a day", digits=3, **_only("logarithmic"))
    logarithmic_slope: float = slider(0.045, 0, 0.2, 0.001, label="b", about="lost per e-fold", digits=3, **_only("logarithmic"))
    ebbinghaus_k: float = slider(1.84, 0.1, 5, 0.01, label="k", about="his 1.84", digits=2, **_only("ebbinghaus"))
    ebbinghaus_c: float = slider(1.25, 0.1, 3, 0.01, label="c", about="his 1.25", digits=2, **_only("ebbinghaus"))
    fsrs_strength_days: float = slider(
        1.0, 1e-4, 50, 0.01, label="S", about="until 90 % is left", unit="days", digits=2, log=True, **_only("fsrs")
    )
    axis: str = choice("log", {"Log time": "log", "Even time": "even"})
    others: bool = switch(False, label="Show the others, each at its best")


class CurvePicker(Explorable):
    """Pick a curve and drag its numbers, or let least squares set them; what is left over stands below."""

    Parameters = PickerParameters
    eyebrow = "What forgetting data say, Ebbinghaus 1885, p. 76"
    try_this = "Drag S until Eq. 1 meets the point at 20 minutes. Where is it at 31 days, and where is Ebbinghaus?"
    presets: ClassVar = {
        "Eq. 1, S = 5 days": PickerParameters(),
        "Eq. 1 at its best": PickerParameters(fit=True),
        "Power law at its best": PickerParameters(curve="power", fit=True),
        "Ebbinghaus' own": PickerParameters(curve="ebbinghaus"),
        "All at their best": PickerParameters(curve="ebbinghaus", fit=True, others=True),
    }
    rows = ((("curves", 1),), (("residuals", 360), ("numbers", 300)))

    def settle(self, old: PickerParameters, new: PickerParameters) -> PickerParameters:
        """Return `new` with the fitted numbers while "best fit" is on; a reader who drags a number turns it off."""
        if not new.fit:
            return new
        if old.fit and old.curve == new.curve and numbers_of(old) != numbers_of(new):
            return replace(new, fit=False)
        return replace(new, **{f"{new.curve}_{name}": float(value) for name, value in best(new.curve).values.items()})

    def compute(self, p: PickerParameters) -> tuple[np.ndarray, np.ndarray]:
        """Return the curve over the fine days, and at the seven points."""
        days, _, _ = points()
        curve, strength_days = curve_of(p)
        return curve.at(_FINE, strength_days), curve.at(days, strength_days)

    def draw(self, p: PickerParameters, result: tuple[np.ndarray, np.ndarray]) -> Drawing:
        """Return curve and points, the residuals, and all curves by their fit."""
        days, seen, errors = points()
        fine, there = result
        name, log_time = CURVES[p.curve][0], p.axis == "log"
        beside = {CURVES[kind][0]: best(kind).predict(_FINE) for kind in CURVES if p.others and kind != p.curve}
        rmse = float(np.sqrt(np.mean((seen - there) ** 2)))
        title, least = _where(there - seen), min(best(kind).rmse for kind in CURVES)
        curves = savings_spec(
            days, seen, errors, fine=_FINE, curve=fine, name=name, beside=beside, title=title, log_time=log_time
        )
        return Drawing(
            finding=f"{name} misses the seven points by {score(rmse)}",
            sub=f"Root mean square error in R. The best curve here, fitted, misses by {score(least)}.",
            figures={"curves": curves, "residuals": residual_spec(days, seen - there, errors, log_time=log_time)},
            panels={"numbers": _numbers(p.curve)},
            live=_live(rmse, p.curve),
            code=_code(p),
        )


@lru_cache(maxsize=1)
def points() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Ebbinghaus' seven points: days, savings of time and their probable errors, as shares."""
    table = load_forgetting("ebbinghaus_1885_time")
    return table["counted_minutes"] / 1440, table["savings_percent"] / 100, table["probable_error_percent"] / 100


@lru_cache(maxsize=len(CURVES))
def best(kind: str) -> Fit:
    """Return the least-squares fit of a curve to the seven points."""
    days, seen, _ = points()
    return fit_savings(days, seen, curve=CURVES[kind][1])


def numbers_of(p: PickerParameters) -> dict[str, float]:
    """Return the chosen curve's numbers by their own names."""
    start = f"{p.curve}_"
    return {name.removeprefix(start): value for name, value in asdict(p).items() if name.startswith(start)}


def curve_of(p: PickerParameters) -> tuple[RetentionCurve, float]:
    """Return the chosen curve and the strength in days to take it at."""
    numbers = numbers_of(p)
    strength_days = numbers.pop("strength_days", 1.0)
    return replace(CURVES[p.curve][1], **numbers), strength_days


def _where(over: np.ndarray) -> str:
    early, late = float(over[:3].mean()), float(over[3:].mean())
    if max(abs(early), abs(late)) < 0.02:
        return "The curve runs through the points"
    how = ["too high" if value > 0.02 else "too low" if value < -0.02 else "about right" for value in (early, late)]
    return (
        f"The curve is {how[0]} all along"
        if how[0] == how[1]
        else f"The curve is {how[0]} within nine hours, {how[1]} after a day"
    )


def _live(rmse: float, kind: str) -> Html:
    least = best(kind)
    said = ("RMSE: the typical miss in R", Html("<br>"), f"at its best: {score(least.rmse)}")
    return tag("div", tag("b", score(rmse)), tag("span", *said), cls="readout")


def _numbers(chosen: str) -> Html:
    heads = (("curve", None), ("free", "num"), ("RMSE", "num"), ("AICc", "num"))
    top = tag("tr", *(tag("th", name, scope="col", cls=cls) for name, cls in heads))
    rows = []
    for kind, fit in sorted(((kind, best(kind)) for kind in CURVES), key=lambda pair: pair[1].rmse):
        cells = (str(len(fit.values)), score(fit.rmse), f"{fit.aicc:.1f}".replace("-", "−"))
        row = (tag("td", CURVES[kind][0]), *(tag("td", cell, cls="num") for cell in cells))
        rows.append(tag("tr", *row, cls="on" if kind == chosen else None))
    titles = join(
        tag("p", "Each curve at its best", cls="fig-title"), tag("p", "least squares in R, seven points", cls="fig-sub")
    )
    return join(titles, tag("table", tag("thead", top), tag("tbody", *rows), cls="grid live-numbers"))


def _code(p: PickerParameters) -> str:
    curve, strength_days = curve_of(p)
    load = (
        f"from ilstma_lab.forgetting.data import load_forgetting\nfrom {type(curve).__module__} import {type(curve).__name__}\n\n"
    )
    data = 'days = load_forgetting("ebbinghaus_1885_time")["counted_minutes"] / 1440\n'
    return f"{load}{data}{curve!r}.at(days, {strength_days!r})"
