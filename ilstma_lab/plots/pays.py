"""Does the cache pay: mean seconds a question by hit ratio, beside no cache at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ilstma_lab.plots.forgetting import spread
from ilstma_lab.plots.marks import INK, dots, layout, line, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bootstrap import Band
    from ilstma_lab.evaluation.timing import TimeModel

_CACHE, _MISS = ROLES["cache"], ROLES["relevant"]


def pays_spec(model: TimeModel, ratios: Mapping[str, Band | float], *, chosen: str = "", height: int = 300) -> Spec:
    """Return mean seconds by hit ratio: the slanted line with the cache, the level one without, where they meet, and `ratios`.

    `ratios` are hit ratios by name, with a band where there is one; `chosen` is marked in ink.
    """
    import numpy as np

    means = {name: (ratio if isinstance(ratio, float) else ratio.mean) for name, ratio in ratios.items()}
    right = min(1.0, max([0.7, *(1.15 * mean for mean in means.values()), 1.1 * min(model.break_even, 0.9)]))
    without, even = model.full_seconds, min(model.break_even, right)
    at = model.mean_seconds
    data = [
        _area([0, even, 0], [at(0.0), without, without], "costs", _MISS),
        *([_area([even, right, right], [without, without, at(right)], "saves", _CACHE)] if model.break_even < right else []),
        line([0, right], [without, without], name="no cache, s", uid="ink-without", **INK, dash="5px,4px"),
        line([0, right], [at(0.0), at(right)], name="with the cache, s", uid="ink-with", **INK),
    ]
    low, high = min(at(right), without), max(at(0.0), without)
    span = high - low
    if model.break_even < 1:
        data.append(line([even, even], [low - 0.1 * span, without], uid="even", color=GREY, width=1, dash="dot"))
        data.append(
            words(even, low - 0.1 * span, f"<b>breaks even at {100 * model.break_even:.1f} %</b>", "top right", uid="words-even")
        )
    for name, ratio in ratios.items():
        if not isinstance(ratio, float):
            ends = [ratio.low, ratio.high]
            data.append(line(ends, [at(end) for end in ends], uid=f"band-{name}", color="rgba(123,132,148,.45)", width=9))
    order = sorted(means, key=lambda name: means[name], reverse=True)
    x, y = [means[name] for name in order], [at(means[name]) for name in order]
    data.append(dots(x, y, "s at this hit ratio", uid="dot-ratios", color=_CACHE, size=8))
    places = spread(np.array(y), 0.085 * span)
    labels = [_label(name, ratios[name], name == chosen) for name in order]
    data.append(words([one + 0.012 for one in x], places, labels, "middle right", uid="words-ratios"))
    data.append(words(right, without, "no cache", "top left", uid="words-without"))
    frame = layout(
        _finding(model, ratios.get(chosen)),
        "mean seconds a question, by hit ratio in %",
        f"Without a cache a question takes {without:.2f} s; with it {at(0.0):.2f} s at no hits and {at(right):.2f} s at "
        f"{100 * right:.0f} %. It breaks even at {100 * model.break_even:.1f} %.",
        height=height,
        margin={"l": 36, "r": 24, "t": 8, "b": 30},
        xaxis={"range": [0, right], "tickformat": ".0%", "nticks": 5, "showgrid": False},
        yaxis={"range": [low - 0.16 * span, high + 0.06 * span], "nticks": 5, "ticksuffix": " s"},
        names=("hit ratio", "seconds"),
    )
    return {"data": data, "layout": frame}


def _area(x: list[float], y: list[float], name: str, color: str) -> dict:
    shade = {"fill": "toself", "fillcolor": color, "opacity": 0.16, "line": {"width": 0, "color": color}}
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "uid": name, "hoverinfo": "skip", **shade}


def _label(name: str, ratio: Band | float, bold: bool) -> str:
    mean = ratio if isinstance(ratio, float) else ratio.mean
    said = f"{name} {100 * mean:.1f} %"
    return f"<b>{said}</b>" if bold else said


def _finding(model: TimeModel, ratio: Band | float | None) -> str:
    if model.break_even >= 1:
        return "It can never pay: the judgement takes as long as the full path"
    if ratio is None:
        return f"The cache pays above {100 * model.break_even:.1f} % of hits"
    mean = ratio if isinstance(ratio, float) else ratio.mean
    if not isinstance(ratio, float) and ratio.low <= model.break_even <= ratio.high:
        return "Too close to call: the band crosses break-even"
    gain = model.full_seconds - model.mean_seconds(mean)
    return f"It saves {gain:.2f} s a question" if gain > 0 else f"It costs {-gain:.2f} s a question"
