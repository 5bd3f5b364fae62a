"""Does the cache pay: mean seconds a question by hit ratio, beside no cache at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ilstma_lab.plots.marks import INK, dots, layout, line, ring, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES, plain

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bootstrap import Band
    from ilstma_lab.evaluation.timing import TimeModel

_CACHE, _MISS = ROLES["cache"], ROLES["relevant"]
_BAND = "rgba(123,132,148,.45)"
_TURN = 0.55
"""Where on the axis labels change from the right of their dots, above the line, to the left of them, below it."""


def pays_spec(model: TimeModel, ratios: Mapping[str, Band | float], *, chosen: str = "", height: int = 300) -> Spec:
    """Return mean seconds by hit ratio: the slanted line with the cache, the level one without, where they meet, and `ratios`.

    `ratios` are hit ratios by name, with a band where there is one; `chosen` is marked in ink.
    """
    means = {name: _mean(ratio) for name, ratio in ratios.items()}
    right = _right(model, means)
    without, at = model.full_seconds, model.mean_seconds
    low, high = min(at(right), without), max(at(0.0), without)
    span = max(high - low, 1e-3)
    data = [
        *_areas(model, right),
        line([0, right], [without, without], name="no cache, s", uid="ink-without", **INK, dash="5px,4px"),
        line([0, right], [at(0.0), at(right)], name="with the cache, s", uid="ink-with", **INK),
        words(right, without, "no cache", "top left", uid="words-without"),
        *_meeting(model, right, low - 0.1 * span),
    ]
    for number, ratio in enumerate(ratios.values()):
        if hasattr(ratio, "low"):
            ends = [ratio.low, ratio.high]
            data.append(line(ends, [at(end) for end in ends], uid=f"band{number}", color=_BAND, width=9))
    if means:
        data.append(dots([*means.values()], [at(mean) for mean in means.values()], None, uid="dot-ratios", color=_CACHE, size=9))
        data += _labels(means, model, chosen=chosen, right=right, gap=0.085 * span)
    if chosen in means:
        data.append(ring(means[chosen], at(means[chosen])))
    frame = layout(
        _finding(model, ratios.get(chosen)),
        "mean seconds a question, by hit ratio",
        _sentence(model, means, right),
        height=height,
        margin={"l": 40, "r": 12, "t": 8, "b": 24},
        xaxis={"range": [0, right], **_percents(right), "showgrid": False},
        yaxis={"range": [low - 0.18 * span, high + 0.08 * span], "nticks": 5, "ticksuffix": " s"},
        names=("hit ratio", "seconds"),
    )
    return {"data": data, "layout": frame}


def even_words(model: TimeModel) -> str:
    """Return from which hit ratio on the cache saves time, as words that follow "the cache" or "it".

    >>> from ilstma_lab.evaluation.timing import TimeModel
    >>> even_words(TimeModel(1.0, 4.0)), even_words(TimeModel(5.0, 4.0))
    ('breaks even at 25.0 %', 'never pays')
    """
    if model.break_even > 1:
        return "never pays"
    return f"breaks even at {100 * model.break_even:.1f} %" if model.break_even > 0 else "pays from the first hit on"


def _mean(ratio: Band | float) -> float:
    return float(ratio.mean if hasattr(ratio, "low") else ratio)  # a numpy number has a mean too, which is a method


def _right(model: TimeModel, means: Mapping[str, float]) -> float:
    """Where the axis ends: so that the dots, and the break-even where there is one, stand well inside."""
    even = model.break_even if model.break_even <= 1 else 0.0
    return min(1.0, max([0.6, 1.25 * even, *(1.15 * mean for mean in means.values())]))


def _areas(model: TimeModel, right: float) -> list[dict]:
    """What it costs left of the break-even, what it saves right of it."""
    even = min(model.break_even, right)
    shades = []
    for name, color, ends in (("costs", _MISS, (0.0, even)), ("saves", _CACHE, (even, right))):
        if ends[0] < ends[1]:
            across = [*ends, *ends[::-1]]
            edges = [*map(model.mean_seconds, ends), model.full_seconds, model.full_seconds]
            shade = {"fill": "toself", "fillcolor": color, "opacity": 0.16, "line": {"width": 0, "color": color}}
            shades.append(
                {"type": "scatter", "mode": "lines", "x": across, "y": edges, "uid": name, "hoverinfo": "skip", **shade}
            )
    return shades


def _meeting(model: TimeModel, right: float, foot: float) -> list[dict]:
    """The hit ratio at which both lines meet, and its words at the foot."""
    said, even = f"<b>{even_words(model)}</b>", model.break_even
    if not 0 < even <= right:
        return [words(0.01 * right, foot, said, "top right", uid="words-even")]
    drop = line([even, even], [foot, model.full_seconds], uid="even", color=GREY, width=1, dash="dot")
    side, beside = ("left", -0.01) if even > 0.5 * right else ("right", 0.01)
    return [drop, words(even + beside * right, foot, said, f"top {side}", uid="words-even")]


def _labels(means: Mapping[str, float], model: TimeModel, *, chosen: str, right: float, gap: float) -> list[dict]:
    """Names beside their dots: at the right they are moved up, away from the falling line, at the left down."""
    marks, at = [], model.mean_seconds
    for side, place, away in (("right", "middle right", 1), ("left", "middle left", -1)):
        names = [name for name, mean in means.items() if (mean < _TURN * right) == (side == "right")]
        names.sort(key=lambda name: away * at(means[name]))
        if names:
            y = _clear([away * at(means[name]) for name in names], gap, level=away * model.full_seconds)
            x = [means[name] + away * (0.03 if name == chosen else 0.02) * right for name in names]
            said = [f"{plain(name)} {100 * means[name]:.1f} %" for name in names]
            text = [f"<b>{one}</b>" if name == chosen else one for name, one in zip(names, said, strict=True)]
            marks.append(words(x, [away * one for one in y], text, place, uid=f"words-{side}"))
    return marks


def _clear(places: list[float], gap: float, *, level: float) -> list[float]:
    """Rising `places` moved up until each stands `gap` above the one before, and none on the line at `level`."""
    moved: list[float] = []
    for place in places:
        up = max(place, moved[-1] + gap) if moved else place
        moved.append(level + 0.6 * gap if abs(up - level) < 0.6 * gap else up)
    return moved


def _percents(right: float) -> dict:
    ticks = [tick / 100 for tick in range(0, 101, 20) if tick / 100 <= right]
    return {"tickvals": ticks, "ticktext": [f"{100 * tick:.0f} %" for tick in ticks]}


def _finding(model: TimeModel, ratio: Band | float | None) -> str:
    if model.break_even > 1:
        return "It can never pay: at no hit ratio is it faster than without"
    if ratio is None:
        return f"The cache {even_words(model)} of hits" if model.break_even > 0 else "Every hit saves time"
    if hasattr(ratio, "low") and model.break_even > 0 and ratio.low <= model.break_even <= ratio.high:
        return "Too close to call: the band crosses break-even"
    gain = model.full_seconds - model.mean_seconds(_mean(ratio))
    return f"It saves {gain:.2f} s a question" if gain > 0 else f"It costs {-gain:.2f} s a question"


def _sentence(model: TimeModel, means: Mapping[str, float], right: float) -> str:
    ends = f"{model.mean_seconds(0.0):.2f} s at no hits and {model.mean_seconds(right):.2f} s at {100 * right:.0f} %"
    here = "".join(f" {name}: {model.mean_seconds(mean):.2f} s at {100 * mean:.1f} %." for name, mean in means.items())
    return f"Without a cache a question takes {model.full_seconds:.2f} s, with it {ends}; it {even_words(model)}.{here}"
