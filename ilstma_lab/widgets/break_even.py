"""The break-even chart: from which hit ratio on a cache saves time, and what moves that point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from numbers import Real
from typing import Any, ClassVar

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.claims import half_width
from ilstma_lab.evaluation.papers import MEAN_HIT_PERCENT
from ilstma_lab.evaluation.timing import TimeModel
from ilstma_lab.plots.pays import even_words, pays_spec
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.widgets.controls import choice, slider, switch
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick

_PAPER = TimeModel.from_table4()
_YOURS = "this ratio"


@dataclass(frozen=True)
class BreakEvenParameters:
    """The seconds of the parts and the hit ratio, at first those that the paper's Tables 3 and 4 imply; A is our guess."""

    judge: float = slider(round(_PAPER.judge_seconds, 2), 0, 40, 0.01, label="J", about="the judgement", unit="s", digits=2)
    full: float = slider(_PAPER.full_seconds, 0.1, 60, 0.01, label="F", about="the full path", unit="s", digits=2)
    answer: float = slider(2.0, 0, 40, 0.01, label="A", about="the answer, a part of F", unit="s", digits=2)
    ratio: float = slider(MEAN_HIT_PERCENT, 0, 100, 0.05, label="Hits", about="of all questions", unit="%", digits=2)
    n: int = slider(259, 0, 2000, 1, label="n", about="questions behind that ratio; 0: exact")
    calls: int = choice(1, {"One call": 1, "Two calls": 2}, label="Judgement and a hit's answer")
    overlap: bool = switch(False, label="Recall while the judge thinks")


class BreakEven(Explorable):
    """Set how long judgement and full path take, and see from which hit ratio on a cache pays.

    `ratios`: measured hit ratios by name, shares from 0 to 1 or bands of them, shown on the line. Click a place on it, or use
    the arrow keys, to set the hit ratio. Raises InputError for ratios that are none, and for one named "this ratio".
    """

    Parameters = BreakEvenParameters
    eyebrow = "Does the cache pay? Tables 3 and 4"
    try_this = "Double J. Which hit ratio is needed now, and does any policy that you have measured reach it?"
    presets: ClassVar = {
        "Paper's Table 4": BreakEvenParameters(),
        "A slow judge": BreakEvenParameters(judge=2.0),
        "Two calls": BreakEvenParameters(calls=2),
        "Overlapped": BreakEvenParameters(overlap=True),
    }
    rows = ((("pays", 430), ("numbers", 240)),)

    def __init__(self, ratios: Mapping[str, Band | float] | None = None, **parameters: Any):
        self.ratios = _by_name(ratios)
        self.given = "ratios" if self.ratios else ""
        super().__init__(**parameters)

    def settle(self, old: BreakEvenParameters, new: BreakEvenParameters) -> BreakEvenParameters:
        """Return `new` with an answer that is a part of the full path."""
        return replace(new, answer=min(new.answer, new.full))

    def picked(self, figure: str, pick: Pick, p: BreakEvenParameters) -> BreakEvenParameters:
        """Return the parameters with the hit ratio that was picked; an arrow key moves it by a point."""
        percent = p.ratio + pick.x if pick.kind == "step" else 100 * pick.x
        return replace(p, ratio=round(min(max(percent, 0.0), 100.0), 2))

    def compute(self, p: BreakEvenParameters) -> TimeModel:
        """Return the time model of the controls."""
        return TimeModel(p.judge, p.full, answer_seconds=p.answer, judge_calls=p.calls, overlap=p.overlap)

    def draw(self, p: BreakEvenParameters, result: TimeModel) -> Drawing:
        """Return the chart and its sums."""
        band = ratio_band(p.ratio / 100, p.n)
        return Drawing(
            finding=_finding(result, band),
            sub="Every question pays the judgement. A hit is spared the rest of the full path, a miss pays it on top.",
            figures={"pays": pays_spec(result, {**self.ratios, _YOURS: band if p.n else band.mean}, chosen=_YOURS, height=410)},
            panels={"numbers": _numbers(result, band)},
            code=f"from ilstma_lab.evaluation.timing import TimeModel\n\n{result!r}",
        )


def ratio_band(ratio: float, n: int) -> Band:
    """Return a share of `n` independent questions with its 95 % band (normal approximation); without width at n = 0."""
    half = half_width(ratio, n) if n else 0.0
    return Band(ratio, max(0.0, ratio - half), min(1.0, ratio + half))


def _by_name(ratios: Any) -> dict[str, Band | float]:
    if ratios is not None and not isinstance(ratios, Mapping):
        raise InputError(f"give ratios by name: {{'next 3': 0.3}} (got {type(ratios).__name__})")
    named = dict(ratios or {})
    for name, ratio in named.items():
        shares = astuple(ratio) if isinstance(ratio, Band) else (ratio,)
        if not isinstance(name, str) or name == _YOURS:
            raise InputError(f"a ratio needs a name of its own, a text that is not {_YOURS!r} (got {name!r})")
        if not all(isinstance(share, Real) and 0 <= share <= 1 for share in shares):
            raise InputError(f"ratios are shares from 0 to 1: {name!r} is {ratio!r}")
    return named


def _finding(model: TimeModel, band: Band) -> str:
    if model.break_even > 1:
        return "It can never pay: even if every question hit, it would not be faster than without"
    if model.break_even > 0 and band.low < band.high and band.low <= model.break_even <= band.high:
        return _kept(f"Too close to call: it {even_words(model)} of hits, inside the band of this ratio")
    gain = model.full_seconds - model.mean_seconds(band.mean)
    word = "saves" if gain > 0 else "costs"
    said = f"At {100 * band.mean:.2f} % of hits the cache {word} {abs(gain):.2f} s a question"
    return _kept(f"{said}; it {even_words(model)}")


def _kept(words: str) -> str:
    """Return `words` with each number kept on one line with its unit."""
    return words.replace(" %", "\u00a0%").replace(" s ", "\u00a0s ")


def _numbers(model: TimeModel, band: Band) -> Html:
    mean = model.band(band)
    rows = (
        ("A hit takes", f"{model.hit_seconds:.2f} s"),
        ("A miss takes", f"{model.miss_seconds:.2f} s"),
        ("Without a cache", f"{model.full_seconds:.2f} s"),
        ("With it, at these hits", f"{mean.mean:.2f} s"),
        ("95 % band", f"{mean.low:.2f} to {mean.high:.2f} s"),
        ("Saving", f"{100 * model.saving(band.mean):.1f} %".replace("-", "−")),
        ("Breaks even at", f"{100 * model.break_even:.1f} %" if model.break_even <= 1 else "never"),
    )
    body = (tag("tr", tag("td", name), tag("td", value, cls="num key")) for name, value in rows)
    title = tag("p", "The sums", cls="fig-title")
    formula = "J + h A + (1 − h) F" if model.judge_calls == 2 else "J + (1 − h) F"
    if model.overlap:
        hit = "J + A" if model.judge_calls == 2 else "J"
        formula = f"h ({hit}) + (1 − h) (max(J, F − A) + A)"
    return join(title, tag("p", formula, cls="fig-sub"), tag("table", tag("tbody", *body), cls="grid live-numbers"))
