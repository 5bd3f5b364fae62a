"""The fit lab: fit Eq. 2 and 3, or their rivals, to data, and learn how far the numbers can be trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from ilstma_lab.forgetting.curve import RetentionCurve, StrengthCurve
from ilstma_lab.forgetting.families import Family, recall_family, strength_family
from ilstma_lab.forgetting.fitting import Fit
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.rivals import FsrsRetention, StretchedRetention
from ilstma_lab.forgetting.scores import calibration
from ilstma_lab.forgetting.strength import LinearStrength, PowerStrength, SigmoidStrength
from ilstma_lab.plots.fits import (
    calibration_spec,
    empty_spec,
    point_residuals_spec,
    points_spec,
    recall_residuals_spec,
    recalls_spec,
    seen_spec,
    surface_spec,
)
from ilstma_lab.plots.spec import Spec
from ilstma_lab.reprs.words import score
from ilstma_lab.widgets import fit_data, fit_words
from ilstma_lab.widgets.controls import choice, press, slider
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick
from ilstma_lab.widgets.fit_data import FitData
from ilstma_lab.widgets.fit_trust import Trust, held, trust
from ilstma_lab.widgets.point_table import Points

STRENGTHS: dict[str, StrengthCurve] = {"sigmoid": SigmoidStrength(), "linear": LinearStrength(), "power": PowerStrength()}
RETENTIONS: dict[str, tuple[RetentionCurve, tuple[str, ...]]] = {
    "exponential": (ExponentialRetention(), ()),
    "stretched": (StretchedRetention(shape=1.0), ("shape",)),
    "fsrs": (FsrsRetention(), ("decay",)),
}
LABELS = fit_words.LABELS
_DATA = {
    "Simulated recall log": "simulated",
    "Ebbinghaus, 12 syllables": "daily12",
    "Ebbinghaus, 24 syllables": "daily24",
    "Ebbinghaus, 36 syllables": "daily36",
    "Your own points": "points",
    "Your own log": "yours",
}
_PAIRS = {"S(∞), rate": "limit_days rate", "S(1), S(∞)": "first_days limit_days", "S(1), rate": "first_days rate"}
_RECALLS = 8
_DRAWS = 200
_KEPT = 12  # fits that are remembered
_SIGMOID, _LINEAR, _POWER = (("strength", kind) for kind in STRENGTHS)


@dataclass(frozen=True)
class FitParameters:
    """Data, model, the reader's guess (the paper's numbers at first), and what was asked for: fit, bootstrap.

    `kind` follows from the data; `n` is the chosen number of recalls, or the chosen point.
    """

    data: str = choice("simulated", _DATA, label="Data", dropdown=True)
    kind: str = choice("recalls", {"Recalls": "recalls", "Points": "points"}, shown=False)
    items: int = slider(200, 1, 200, 1, label="Items", about="of the 200 in the log", live=False, when=("data", "simulated"))
    points: str = field(
        default="1 5, 2 12, 3 18, 4 22, 5 25",
        metadata={"control": Points(label="Points: edit, add, remove", when=("data", "points"))},
    )
    strength: str = choice("sigmoid", {"Sigmoid": "sigmoid", "Linear": "linear", "Power": "power"}, label="Strength S(n)")
    retention: str = choice(
        "exponential",
        {"Eq. 1": "exponential", "Stretched": "stretched", "Power": "fsrs"},
        label="Retention R(t / S)",
        when=("kind", "recalls"),
    )
    sigmoid_first_days: float = slider(5.0, 0.1, 20, 0.1, label="S(1)", about="strength when new", unit="days", when=_SIGMOID)
    sigmoid_limit_days: float = slider(23.5, 1, 60, 0.1, label="S(∞)", about="the limit", unit="days", when=_SIGMOID)
    sigmoid_rate: float = slider(1.5, 0.1, 5, 0.1, label="Rate", about="how soon it flattens", unit="per recall", when=_SIGMOID)
    linear_first_days: float = slider(5.0, 0.1, 20, 0.1, label="S(1)", about="strength when new", unit="days", when=_LINEAR)
    linear_step_days: float = slider(4.6, 0, 20, 0.1, label="Step", about="what a recall adds", unit="days", when=_LINEAR)
    power_first_days: float = slider(5.0, 0.1, 20, 0.1, label="S(1)", about="strength when new", unit="days", when=_POWER)
    power_exponent: float = slider(1.0, 0, 3, 0.05, label="Exponent", about="1 is proportional", digits=2, when=_POWER)
    stretched_shape: float = slider(
        1.0, 0.05, 2, 0.05, label="Shape", about="1 is exponential", digits=2, when=("retention", "stretched")
    )
    fsrs_decay: float = slider(
        0.1542, 0.1, 0.8, 0.01, label="Decay", about="FSRS-6; S is the days until 90 %", digits=2, when=("retention", "fsrs")
    )
    fit: bool = press(label="Fit", about="Find the best numbers for these data")
    bootstrap: bool = press(label="Bootstrap by item", about=f"Fit {_DRAWS} logs of items drawn anew", when=("kind", "recalls"))
    pair: str = choice("limit_days rate", _PAIRS, label="Likelihood over", when=_SIGMOID)
    n: int = slider(2, 1, _RECALLS, 1, label="n", about="recalls", shown=False)


@dataclass(frozen=True, eq=False)
class FitView:
    """What one set of parameters comes to: the data, the guess and, once it is there, the fit with its trust."""

    data: FitData
    family: Family
    numbers: Mapping[str, float]
    guess: Fit
    trust: Trust | None

    @property
    def judged(self) -> Fit:
        """The fit where there is one, else the guess."""
        return self.trust.fit if self.trust else self.guess

    @property
    def unseen(self) -> Fit:
        """The fit to the earlier data, which has not seen the later; a guess has seen none."""
        return self.trust.early if self.trust else self.guess


class FitLab(Explorable):
    """Guess a curve by hand, then press Fit: data, residuals, likelihood, intervals, calibration and scores follow.

    `log`: the reader's own, which is then fitted: a RecallLog, a table with its columns, the turns of a session, or a lab's
    memory table (`lab.table`; it keeps recalls only, and the lab says what that means). Point at the likelihood map to see
    the curve of any two numbers; arrow keys in the first figure choose n, and move the chosen one of your own points.
    """

    Parameters = FitParameters
    eyebrow = "Fit the curve to data, Eq. 2 and 3"
    try_this = "Press Fit, then lower the items to 20. Which number is lost first, and what do its words say?"
    reset_words = "Reset"
    presets: ClassVar = {
        "Paper's curve": FitParameters(),
        "Fitted": FitParameters(fit=True),
        "Only 20 items": FitParameters(items=20, fit=True),
        "Too little": FitParameters(items=2, fit=True),
        "Ebbinghaus, sigmoid": FitParameters(data="daily36", fit=True),
        "Ebbinghaus, linear": FitParameters(data="daily36", strength="linear", fit=True),
    }
    rows = ((("data", 1), ("numbers", 1)), (("surface", 1), ("residuals", 1)), (("calibration", 1), ("scores", 1)))

    def __init__(self, log: Any = None, **parameters: Any):
        self._own = None if log is None else fit_data.own(log)
        self._found: dict[tuple, Trust] = {}
        super().__init__(**({"data": "yours"} if log is not None else {}) | parameters)
        self.controls["fit"].add_class("fit-button")

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | str, *, log: Any = None) -> FitLab:
        """Return the lab that `state` describes; a state does not hold the reader's own log, so give that as well."""
        lab = super().from_state(state)
        if log is not None:
            lab.give(log)
        return lab

    def give(self, log: Any) -> None:
        """Take `log` as the reader's own, and fit it."""
        self._own = fit_data.own(log)
        self._found.clear()
        self.set(data="yours")

    def python(self) -> str:
        """Return code that builds this lab as it stands; `log` stands for the reader's own."""
        self.given = "" if self._own is None else "log"
        return super().python().replace(", kind='points'", "")  # it follows from the data

    # -- parameters ----------------------------------------------------------------------------------------------------------

    def settle(self, old: FitParameters, new: FitParameters) -> FitParameters:
        """Return `new` with its kind; points know no retention, and a bootstrap is asked for anew with each model and data."""
        kind = "recalls" if new.data in ("simulated", "yours") else "points"
        new = replace(new, kind=kind, retention=new.retention if kind == "recalls" else "exponential")
        same = old == new or _model(old) == _model(new)
        return new if same and kind == "recalls" else replace(new, bootstrap=False)

    def picked(self, figure: str, pick: Pick, p: FitParameters) -> FitParameters | None:
        """Return the parameters that were picked: n in the first figure, two numbers of the guess in the likelihood map."""
        if figure == "surface":
            return _guessed(self, p, pick)
        if figure not in ("data", "residuals"):
            return None
        if pick.kind == "step":
            return _stepped(p, pick)
        if p.kind == "points":
            at = int(np.abs(self._data(p).n - pick.x).argmin())
            return replace(p, n=min(at + 1, _RECALLS))
        name = pick.trace.removeprefix("seen, ").removeprefix("n = ").rstrip("+")
        return replace(p, n=int(name)) if name.isdigit() else p

    # -- numbers -------------------------------------------------------------------------------------------------------------

    def compute(self, p: FitParameters) -> FitView:
        """Return the data, the guess, and the fit if it was asked for and is there."""
        data, family, numbers = self._data(p), family_of(p), numbers_of(p)
        found = self._found.get(self._key(p)) if p.fit else None
        return FitView(data, family, numbers, held(family, data.observed, numbers), found)

    def _data(self, p: FitParameters) -> FitData:
        if p.data == "simulated":
            return fit_data.simulated(p.items)
        if p.data == "points":
            return fit_data.written(p.points)
        if p.data != "yours":
            return fit_data.daily(int(p.data.removeprefix("daily")))
        return fit_data.NONE if self._own is None else self._own

    def _key(self, p: FitParameters) -> tuple:
        return (*_model(p), p.bootstrap)

    def _update(self) -> None:
        super()._update()
        if self.parameters.fit and self.error is None and self._key(self.parameters) not in self._found:
            self._worker.submit(self.parameters)

    def _refine(self, request: FitParameters) -> None:
        """Fit in the thread. A fit is kept, and stands while a guess is dragged."""
        try:
            key = self._key(request)
            if key not in self._found:
                found = trust(self._data(request), family_of(request), draws=_DRAWS if request.bootstrap else 0)
                self._found = {**dict(list(self._found.items())[1 - _KEPT :]), key: found}
        except Exception as error:
            self._fail(error)
        else:
            self._show(self.parameters)

    # -- what is shown -------------------------------------------------------------------------------------------------------

    def draw(self, p: FitParameters, result: FitView) -> Drawing:
        """Return the four figures, the numbers and the scores."""
        draw = _recalls_figures if p.kind == "recalls" else _points_figures
        return Drawing(
            finding=fit_words.finding(result),
            sub=f"{result.data.words}.",
            figures={**draw(p, result), "surface": _surface(p, result)},
            panels={"numbers": fit_words.numbers(result), "scores": fit_words.scores(result)},
            live=fit_words.live(result),
            code=_code(p, result.data),
        )


def _model(p: FitParameters) -> tuple:
    return p.data, p.data == "simulated" and p.items, p.data == "points" and p.points, p.strength, p.retention


def family_of(p: FitParameters) -> Family:
    """Return the family that `p` chooses."""
    if p.kind == "points":
        return strength_family(STRENGTHS[p.strength])
    retention, free = RETENTIONS[p.retention]
    return recall_family(retention, STRENGTHS[p.strength], free=free)


def numbers_of(p: FitParameters) -> dict[str, float]:
    """Return the reader's guess by the family's own names."""
    starts = (f"{p.strength}_", f"{p.retention}_")
    return {name.removeprefix(start): value for start in starts for name, value in asdict(p).items() if name.startswith(start)}


def _pair_of(p: FitParameters, family: Family) -> tuple[str, str]:
    return tuple(p.pair.split()) if p.strength == "sigmoid" else next(combinations(family.names, 2))


def _guessed(lab: FitLab, p: FitParameters, pick: Pick) -> FitParameters | None:
    """Return the guess with the two numbers that were pointed at, as far as their sliders reach."""
    if not p.fit:
        return None
    new = {}
    for name, place in zip(_pair_of(p, family_of(p)), (pick.x, pick.y), strict=True):
        control, value = lab._wanted[f"{p.strength}_{name}"], getattr(p, f"{p.strength}_{name}")
        wished = value * 1.05**place if pick.kind == "step" else place
        new[f"{p.strength}_{name}"] = float(np.clip(float(f"{wished:.4g}"), control.low, control.high))
    return replace(p, **new)


def _stepped(p: FitParameters, pick: Pick) -> FitParameters:
    """Return `p` with the next n; up and down move the chosen one of the reader's own points by half a day."""
    if p.data != "points":
        return replace(p, n=int(np.clip(p.n + (pick.x or pick.y), 1, _RECALLS if p.kind == "points" else 5)))
    points = fit_data.written(p.points)
    at = int(np.clip(p.n + pick.x, 1, min(len(points), _RECALLS)))
    days = points.days + np.where(np.arange(len(points)) == at - 1, 0.5 * pick.y, 0.0)
    text = ", ".join(f"{n:g} {max(value, 0.1):g}" for n, value in zip(points.n, days, strict=True))
    return replace(p, n=at, points=text if pick.y else p.points)


def _recalls_figures(p: FitParameters, view: FitView) -> dict[str, Spec]:
    fit, log = view.judged, view.data.log
    chosen = min(p.n, 5)
    beside = view.guess.predict if view.trust else None
    cells = fit.predict(*view.data.observed.columns)
    figures = {
        "data": recalls_spec(view.data.groups, fit.predict, title=fit_words.curve_title(view), chosen=chosen, beside=beside),
        "residuals": recall_residuals_spec(view.data.groups, cells, chosen=chosen),
    }
    later = view.data.halves[1].log
    if not len(later):
        return {**figures, "calibration": empty_spec("No calibration", f"{len(log)} questions: none is later.", height=230)}
    table = calibration(later.recalled, view.unseen.predict(later.interval_days, later.recall_times))
    title = f"Predictions are off by {score(table.error)} on average"
    fitted = (
        "fitted to the earlier" if view.trust and view.trust.early.fitted else "your guess" if not view.trust else "by defaults"
    )
    sub = f"Recalled by predicted, later questions; {fitted}"
    return {**figures, "calibration": calibration_spec(table, title=title, sub=sub)}


def _points_figures(p: FitParameters, view: FitView) -> dict[str, Spec]:
    data, fit = view.data, view.judged
    beside = view.guess.predict if view.trust else None
    later = np.arange(len(data)) >= len(data.halves[0])
    unseen = view.unseen.predict(data.n)
    title = fit_words.later_title(view, float(np.sqrt(np.mean((data.days - unseen)[later] ** 2))) if later.any() else np.nan)
    sub = "S seen by S predicted, days; hollow: later points" + (", not fitted" if view.trust else "")
    return {
        "data": points_spec(data.n, data.days, fit.predict, title=fit_words.curve_title(view), chosen=p.n, beside=beside),
        "residuals": point_residuals_spec(data.n, data.days - fit.predict(data.n)),
        "calibration": seen_spec(unseen, data.days, later, title=title, sub=sub),
    }


def _surface(p: FitParameters, view: FitView) -> Spec:
    if view.trust is None:
        return empty_spec("The likelihood over two numbers", "Press Fit to see it.", height=230)
    pair = _pair_of(p, view.family)
    surface = view.trust.surfaces[pair]
    return surface_spec(
        surface,
        labels=tuple(LABELS[name] for name in pair),
        best=tuple(view.trust.fit.values[name] for name in pair),
        guess=tuple(view.numbers[name] for name in pair),
        intervals=[view.trust.intervals[name] for name in pair],
        level=view.trust.level,
        title=fit_words.valley(view.trust, pair),
        fitted=view.trust.fit.fitted,
    )


def _code(p: FitParameters, data: FitData) -> str:
    strength = STRENGTHS[p.strength]
    kinds = [strength]
    if p.kind == "points":
        call, names = f"fit_strength(n, days, curve={type(strength).__name__}())", "fit_strength"
    else:
        retention, free = RETENTIONS[p.retention]
        kinds.append(retention)
        call = f"fit_recalls(log, family=recall_family({retention!r}, {type(strength).__name__}()" + (
            f", free={free!r}))" if free else "))"
        )
        names = "fit_recalls"
    loads = [f"from {type(curve).__module__} import {type(curve).__name__}" for curve in kinds]
    if p.kind == "recalls":
        loads += [
            "from ilstma_lab.forgetting.families import recall_family",
            "from ilstma_lab.forgetting.recall_log import RecallLog",
        ]
    return "\n".join([f"from ilstma_lab.forgetting.fitting import {names}", *loads, data.code + call])
