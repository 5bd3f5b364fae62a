"""The sigmoid explorer: what Eq. 2's constants do to strength, and through it to forgetting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.strength import SigmoidStrength
from ilstma_lab.plots.forgetting import map_spec, retention_spec, strength_spec
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.words import count, score
from ilstma_lab.widgets.controls import choice, slider
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick

PAPER = SigmoidStrength()
RETENTION = ExponentialRetention()
RECALLS = 5
DAYS = 30
_ORDINALS = ("second", "third", "fourth", "fifth")
_BREAK = Html("<br>")
_WISHES, _CONSTANTS = ("form", "wishes"), ("form", "constants")


@dataclass(frozen=True)
class SigmoidParameters:
    """S(n) by three wishes or by its four constants, and the chosen place (t, n); the defaults are the paper's."""

    form: str = choice("wishes", {"Three wishes": "wishes", "Four constants": "constants"})
    first_days: float = slider(5.0, 1, 20, 0.1, label="S(1)", about="strength when new", unit="days", when=_WISHES)
    limit_days: float = slider(23.5, 10, 60, 0.1, label="S(∞)", about="the limit", unit="days", when=_WISHES)
    rate: float = slider(1.5, 0.1, 3, 0.1, label="Rate", about="how soon it flattens", unit="per recall", when=_WISHES)
    alpha: float = slider(37.0, 0, 120, 0.1, label="α", about="what recalls can add", unit="days", when=_CONSTANTS)
    beta: float = slider(-13.5, -60, 20, 0.1, label="β", about="where it starts from", unit="days", when=_CONSTANTS)
    xi: float = slider(-1.5, -3, -0.1, 0.1, label="ξ", about="steepness", unit="per recall", when=_CONSTANTS)
    mu: float = slider(1.0, -1, 6, 0.1, label="μ", about="where it is steepest", unit="recalls", when=_CONSTANTS)
    t: int = slider(7, 0, DAYS, 1, label="t", about="days since the last recall", unit="days", shown=False)
    n: int = slider(2, 1, RECALLS, 1, label="n", about="recalls", shown=False)


class SigmoidExplorer(Explorable):
    """Drag S(1), S(∞) and the rate, or Eq. 2's four constants, and see S(n), R(t) for each n, and the map R(t, n).

    Point at a place in any of the three figures, click it, or move it with the arrow keys: all three follow.
    """

    Parameters = SigmoidParameters
    eyebrow = "Memory strength, Eq. 2 and 3"
    try_this = "Set the rate to 0.3. Which of the five curves moves least, and why does S(1) stay where it is?"
    presets: ClassVar = {
        "Paper": SigmoidParameters(),
        "Linear-like": SigmoidParameters(limit_days=60.0, rate=0.1),
        "Slow start, μ = 3": SigmoidParameters(form="constants", alpha=19.4, beta=4.1, mu=3.0),
        # fitted to what relearning six series of 36 syllables on successive days gives under Eq. 1 (Ebbinghaus, ch. VIII)
        "Ebbinghaus, 36": SigmoidParameters(form="constants", alpha=17.2, beta=-0.7, xi=-0.7, mu=3.5),
    }
    rows = ((("strength", 300), ("retention", 382)), (("map", 424), ("numbers", 258)))

    def settle(self, old: SigmoidParameters, new: SigmoidParameters) -> SigmoidParameters:
        """Return `new`; where the form changes the other sliders take over the curve, as far as they reach."""
        if (old.form, new.form) == ("wishes", "constants") and old == replace(new, form="wishes"):
            same = strength_of(old)
            return replace(new, alpha=round(same.alpha, 2), beta=round(same.beta, 2), xi=same.xi, mu=same.mu)
        if (old.form, new.form) == ("constants", "wishes") and old == replace(new, form="constants"):
            same = strength_of(old)
            first, limit = np.clip([same.first_days, same.limit_days], [1, 10], [20, 60]).round(2).tolist()
            return replace(new, first_days=first, limit_days=limit, rate=same.rate)
        return new

    def picked(self, figure: str, pick: Pick, p: SigmoidParameters) -> SigmoidParameters:
        """Return the parameters with the place that was picked; S(n) knows no days."""
        if pick.kind == "step":
            across = (0, int(pick.x or pick.y)) if figure == "strength" else (int(pick.x), int(pick.y))
            return _at(p, p.t + across[0], p.n + across[1])
        if figure == "strength":
            return _at(p, p.t, pick.x)
        n = pick.trace.removeprefix("n = ") if figure == "retention" else pick.y
        return _at(p, pick.x, float(n) if str(n).replace(".", "").isdigit() else p.n)

    def compute(self, p: SigmoidParameters) -> SigmoidStrength:
        """Return the strength that the sliders describe."""
        return strength_of(p)

    def draw(self, p: SigmoidParameters, result: SigmoidStrength) -> Drawing:
        """Return the three linked views and the numbers."""
        place = (p.t, p.n)
        return Drawing(
            finding=_finding(result),
            sub="Solid: your curve. Dashed, and the tick on each slider: the paper.",
            figures={
                "strength": strength_spec(result, beside=PAPER, chosen=p.n, limit_days=result.limit_days),
                "retention": retention_spec(result, RETENTION, beside=PAPER, chosen=place, recalls=RECALLS, days=DAYS),
                "map": map_spec(result, RETENTION, chosen=place, recalls=RECALLS, days=DAYS),
            },
            panels={"numbers": _numbers(result, p)},
            live=_live(result, p),
            code=f"from ilstma_lab.forgetting.strength import SigmoidStrength\n\n{result!r}",
        )


def strength_of(p: SigmoidParameters) -> SigmoidStrength:
    """Return the strength that `p` describes. Raises InputError where there is none."""
    if p.form == "constants":
        return SigmoidStrength(alpha=p.alpha, beta=p.beta, xi=p.xi, mu=p.mu)
    if p.first_days > p.limit_days:
        raise InputError(f"S(1) = {p.first_days:g} days lies above the limit of {p.limit_days:g}: lower S(1) or raise S(∞)")
    wished = SigmoidStrength.from_limits(first_days=p.first_days, limit_days=p.limit_days, rate=p.rate)
    return replace(wished, alpha=round(wished.alpha, 6), beta=round(wished.beta, 6))


def _at(p: SigmoidParameters, t: float, n: float) -> SigmoidParameters:
    return replace(p, t=int(np.clip(round(t), 0, DAYS)), n=int(np.clip(round(n), 1, RECALLS)))


def _finding(strength: SigmoidStrength) -> str:
    gains = np.diff(strength.days(np.arange(1, RECALLS + 1)))
    most = int(gains.argmax())
    if most > 0 and gains[most] > 1.1 * gains[0]:
        return f"The {_ORDINALS[most]} recall adds most, {gains[most]:.1f} days of strength; the second {gains[0]:.1f}"
    only = "only " if gains[-1] < 0.5 * gains[0] else ""
    return f"A second recall adds {gains[0]:.1f} days of strength, a fifth {only}{gains[-1]:.1f}"


def _live(strength: SigmoidStrength, p: SigmoidParameters) -> Html:
    mine, papers = (float(RETENTION.at(p.t, kind.days(np.array(p.n)))) for kind in (strength, PAPER))
    where = f"R after {count(p.t, 'day')}, {count(p.n, 'recall')}"
    big = tag("div", tag("b", score(mine)), tag("span", where, _BREAK, f"paper: {score(papers)}"), cls="readout")
    if p.form == "wishes":
        cells = {"α": strength.alpha, "β": strength.beta, "ξ": strength.xi, "μ": strength.mu}
        note = ("The same curve, four constants:", _BREAK, "α = 2 (S(∞) − S(1)),", _BREAK, "β = S(∞) − α, while μ = 1.")
    else:
        cells = {"S(1)": strength.first_days, "S(∞)": strength.limit_days, "rate": strength.rate}
        note = ("What these constants mean, in days. Up to n = μ each recall adds more than the one before.",)
    shown = (tag("span", name, tag("b", f"{value:.1f}".replace("-", "−"))) for name, value in cells.items())
    return join(big, tag("div", tag("div", *shown, cls="cells"), *note, cls="eq"))


def _numbers(strength: SigmoidStrength, p: SigmoidParameters) -> Html:
    titles = tag("p", "Live numbers", cls="fig-title") + tag("p", "S and half-life in days", cls="fig-sub")
    heads = ("n", "S", "paper", "half-life", f"R, {count(p.t, 'day')}")
    top = tag("tr", *(tag("th", name, scope="col", cls="num" if at else None) for at, name in enumerate(heads)))
    rows = [
        _row(str(n), *(float(kind.days(np.array(n))) for kind in (strength, PAPER)), p, on=n == p.n)
        for n in range(1, RECALLS + 1)
    ]
    rows.append(_row("∞", strength.limit_days, PAPER.limit_days, p, on=False))
    return join(Html(titles), tag("table", tag("thead", top), tag("tbody", *rows), cls="grid live-numbers"))


def _row(n: str, days: float, papers: float, p: SigmoidParameters, *, on: bool) -> Html:
    cells = (tag("td", n), tag("td", f"{days:.2f}", cls="num key"), tag("td", f"{papers:.2f}", cls="num dim"))
    more = (f"{days * np.log(2):.1f}", score(float(RETENTION.at(p.t, days))))
    return tag("tr", *cells, *(tag("td", text, cls="num") for text in more), cls="on" if on else None)
