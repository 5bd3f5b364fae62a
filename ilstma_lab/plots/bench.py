"""Memory systems in one picture: how many answers are right, and what they cost in seconds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ilstma_lab.evaluation.bench_metrics import METRICS
from ilstma_lab.evaluation.bench_verdict import FEW, standing, too_few
from ilstma_lab.plots.spec import Spec, drawn
from ilstma_lab.plots.template import GREY, HAIRLINE, ROLES, describe, plain, template
from ilstma_lab.reprs.words import seconds as duration
from ilstma_lab.systems import YARDSTICKS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ilstma_lab.evaluation.bench import Bench, Measured
    from ilstma_lab.evaluation.bootstrap import Band

_ROW = 30
_HEIGHT, _MARGINS, _LINE = 300, (40, 44), 15
_DECADES = [10.0**power for power in range(-4, 4)]


def accuracy_bands(bench: Bench, *, metric: str = "accuracy") -> go.Figure:
    """Return a dot for each system with its 95 % band, the best at the top; yardsticks are hollow squares.

    `metric`: a share, "accuracy" or "retrieve" or another of `bench_metrics.METRICS`. A system without it is left out.
    """
    return drawn(accuracy_spec(bench, metric=metric))


def accuracy_spec(bench: Bench, *, metric: str = "accuracy") -> Spec:
    """Return the same figure as a spec, which `LightFigure` shows in a notebook."""
    found = {system: measured for system in bench.systems if (measured := bench.measured(system, metric)).n}
    ranked = sorted(found, key=lambda system: -found[system].band.mean)
    bands = [found[system].band for system in ranked]
    said = [_hover(system, found[system]) for system in ranked]
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": [band.mean for band in bands],
        "y": list(range(len(ranked))),
        "marker": _marks(bench, ranked),
        "error_x": _whiskers([band.high - band.mean for band in bands], [band.mean - band.low for band in bands]),
        "hovertext": said,
        "hoverinfo": "text",
    }
    layout = {
        "title": {"text": plain(_title(bench, metric)), "subtitle": {"text": _meaning(metric)}},
        "meta": {"description": f"{METRICS[metric].name} of each system. {'; '.join(said)}."},
        "height": _ROW * len(ranked) + 60,
        "margin": {"l": 130, "r": 16, "t": 8, "b": 44},
        "xaxis": {"title": {"text": f"{_axis(bench, metric)}, 95 % band"}, **_shares(bands)},
        "yaxis": {
            "tickvals": list(range(len(ranked))),
            "ticktext": [plain(system) for system in ranked],
            "range": [len(ranked) - 0.4, -0.6],
            "showgrid": False,
        },
    }
    return {"data": [dots], "layout": layout}


def accuracy_against_seconds(bench: Bench) -> go.Figure:
    """Return each system at the median seconds of a question and its answer accuracy, both with their 95 % bands."""
    import plotly.graph_objects as go

    systems = [each for each in bench.systems if bench.measured(each, "accuracy").n and bench.median_seconds(each).n]
    right = [bench.measured(each, "accuracy").band for each in systems]
    time = [bench.median_seconds(each).band for each in systems]
    said = [f"{each} {y.mean:.1%} in {duration(x.mean)}" for each, x, y in zip(systems, time, right, strict=True)]
    figure = go.Figure(layout={"template": template()})
    figure.add_scatter(
        x=[band.mean for band in time],
        y=[band.mean for band in right],
        mode="markers",
        marker=_marks(bench, systems),
        error_x=_whiskers([band.high - band.mean for band in time], [band.mean - band.low for band in time]),
        error_y=_whiskers([band.high - band.mean for band in right], [band.mean - band.low for band in right]),
        hovertext=[plain(each) for each in said],
        hoverinfo="text",
    )
    shares = _shares(right)
    edge = math.log10(max(band.high for band in time)) + 0.1
    lines = _lines([band.mean for band in right], shares["range"])
    for name, x, y, line in zip(systems, time, right, lines, strict=True):
        figure.add_annotation(_label(name, (math.log10(x.mean), y.mean), (edge, line)))
    margin = {"l": 56, "r": 130, "t": _MARGINS[0], "b": _MARGINS[1]}
    figure.update_layout(title_text=plain(_title(bench, "accuracy")), height=_HEIGHT + sum(_MARGINS), margin=margin)
    figure.update_xaxes(
        title_text="median seconds from the question to the answer, log scale",
        type="log",
        range=[math.log10(min(band.low for band in time)) - 0.1, edge],
        tickvals=_DECADES,
        ticktext=[duration(at) for at in _DECADES],
    )
    figure.update_yaxes(title_text=_axis(bench, "accuracy"), **shares)
    return describe(figure, f"Answer accuracy against median seconds. {'; '.join(said)}.")


def _label(name: str, point: tuple[float, float], place: tuple[float, float]) -> dict:
    """Return a label at `place`, the right edge, with a thin line to its point."""
    return {
        "x": point[0],
        "y": point[1],
        "text": plain(name),
        "axref": "x",
        "ayref": "y",
        "ax": place[0],
        "ay": place[1],
        "xanchor": "left",
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 0.7,
        "arrowcolor": HAIRLINE,
        "standoff": 6,
        "font": {"size": 11},
    }


def _lines(values: list[float], span: list[float]) -> list[float]:
    """Return the height of each label, as near to its value as can be with no two on one line."""
    apart = _LINE * (span[1] - span[0]) / _HEIGHT
    heights, floor = list(values), -math.inf
    for at in sorted(range(len(values)), key=values.__getitem__):
        heights[at] = floor = max(values[at], floor + apart)
    return heights


def _marks(bench: Bench, systems: list[str]) -> dict:
    from ilstma_lab.evaluation.lineup import title_of

    yardsticks = {title_of(name) for name in YARDSTICKS}
    return {
        "size": 9,
        "color": [ROLES["b"] if each == bench.favourite else GREY if each in yardsticks else ROLES["a"] for each in systems],
        "symbol": ["square-open" if each in yardsticks else "circle" for each in systems],
    }


def _whiskers(above: list[float], below: list[float]) -> dict:
    return {
        "type": "data",
        "symmetric": False,
        "array": above,
        "arrayminus": below,
        "color": GREY,
        "thickness": 1.3,
        "width": 0,
    }


def _hover(system: str, measured: Measured) -> str:
    band = measured.band
    return f"{plain(system)} {band.mean:.1%} ({band.low:.1%} to {band.high:.1%}), n = {measured.n}"


def _axis(bench: Bench, metric: str) -> str:
    return f"answer accuracy by {plain(bench.grader)}" if metric == "accuracy" else plain(METRICS[metric].name)


def _meaning(metric: str) -> str:
    return "" if metric == "accuracy" else plain(METRICS[metric].means)


def _shares(bands: list[Band]) -> dict:
    """Return an axis of shares from 0 to a little above the highest band."""
    top = min(1.02, 1.1 * max((band.high for band in bands), default=1.0) + 0.01)
    return {"range": [-0.02 * top, top], "tickformat": ".0%", "nticks": 6}


def _title(bench: Bench, metric: str) -> str:
    """Return the favourite's figure with its n, and how many others it is above or below beyond the paired band."""
    name, own = bench.favourite, bench.measured(bench.favourite, metric)
    if name in bench.broken:
        return f"{name} failed at every question"
    if metric == "accuracy" and own.n < FEW:
        return too_few(bench)
    if not own.n:
        return f"{name} has no {metric}"
    above, below, open_ = map(len, standing(bench, metric))
    said = f"{name} has {own.band.mean:.0%} right" if metric == "accuracy" else f"{name}: {metric} {own.band.mean:.0%}"
    others = above + below + open_
    beside = f", above {above} of {others} others" if others else ""
    return f"{said} (n = {own.n}){beside}" + (f", below {below}" if below else "")
