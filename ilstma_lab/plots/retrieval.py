"""How often each system finds the right dialogue, data set by data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.report import Comparison
from ilstma_lab.evaluation.retrieval import METRICS
from ilstma_lab.plots.template import GREY, ROLES, describe, plain, template

if TYPE_CHECKING:
    import plotly.graph_objects as go

_ROW = 26


def found_share(comparisons: Sequence[Comparison], *, metric: str = "B@2") -> go.Figure:
    """Return a dot for each system and data set: the share of questions of which `metric` holds, with its 95 % band.

    Discs are configs, hollow squares are baselines; the favourite of each data set is in branch B's colour.
    Raises InputError for "rows", which is no share.
    """
    import plotly.graph_objects as go

    if metric == "rows" or metric not in METRICS:
        shares = ", ".join(name for name in METRICS if name != "rows")
        raise InputError(f"{metric!r} is no share of questions; draw one of {shares}")

    figure = go.Figure(layout={"template": template()})
    place, ticks = 0.0, {}
    for comparison in comparisons:
        figure.add_annotation(_heading(comparison, place))
        places = [place + 1 + number for number in range(len(comparison.reports))]
        figure.add_trace(_dots(comparison, places, metric))
        ticks |= {at: plain(report.system) for at, report in zip(places, comparison.reports, strict=True)}
        place = places[-1] + 1
    figure.update_layout(
        title_text=_finding(comparisons, metric), height=int(_ROW * (place + 1)) + 70, margin={"l": 96, "r": 16, "t": 40, "b": 40}
    )
    figure.update_xaxes(title_text=_axis(metric), range=[0, 1.03], tickformat=".0%", dtick=0.25)
    figure.update_yaxes(
        tickvals=list(ticks), ticktext=list(ticks.values()), range=[place, -0.6], showgrid=False, ticklabelstandoff=8
    )
    return describe(figure, _sentence(comparisons, metric))


def _dots(comparison: Comparison, places: Sequence[float], metric: str) -> go.Scatter:
    import plotly.graph_objects as go

    bands = [report.bands()[metric] for report in comparison.reports]
    colours = [ROLES["b"] if report.system == comparison.favourite else GREY for report in comparison.reports]
    hovers = [
        f"{plain(f'{comparison.data}, {report.system}')}<br>{band.mean:.3f} [{band.low:.3f}, {band.high:.3f}], n = {comparison.n}"
        for report, band in zip(comparison.reports, bands, strict=True)
    ]
    return go.Scatter(
        name=plain(comparison.data),
        x=[band.mean for band in bands],
        y=list(places),
        mode="markers+text",
        text=[f"{band.mean:.1%}" for band in bands],
        textposition="top center",
        textfont={"size": 11},
        cliponaxis=False,
        marker={
            "size": 9,
            "color": colours,
            "symbol": ["circle" if report.dual else "square-open" for report in comparison.reports],
        },
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [band.high - band.mean for band in bands],
            "arrayminus": [band.mean - band.low for band in bands],
            "color": GREY,
            "thickness": 1.3,
            "width": 0,
        },
        hovertext=hovers,
        hoverinfo="text",
    )


def _heading(comparison: Comparison, place: float) -> dict:
    text = f"<b>{plain(comparison.data)}</b>, {comparison.n} questions"
    return {"text": text, "x": 0, "xanchor": "left", "y": place, "showarrow": False, "font": {"size": 12}}


def _where(metric: str) -> str:
    known = {
        "A@1": "named by branch A",
        "found": "recalled by the referee",
        "B@1": "first in branch B",
        "B@2": "in branch B's top two",
    }
    return known.get(metric) or f"in branch B's top {metric.removeprefix('B@')}"


def _axis(metric: str) -> str:
    if metric == "MRR":
        return "mean of 1 / rank in branch B's ranking (%), 95 % band"
    return f"questions with a row that holds the answer {_where(metric)} (%), 95 % band"


def _finding(comparisons: Sequence[Comparison], metric: str) -> str:
    shares = sorted(comparison.mine.bands()[metric].mean for comparison in comparisons)
    span = " to ".join(dict.fromkeys(f"{share:.0%}" for share in (shares[0], shares[-1])))
    found = f"mean 1 / rank {span}" if metric == "MRR" else f"the answer's row is {_where(metric)} for {span} of questions"
    return f"{plain(comparisons[0].favourite)}: {found}"


def _sentence(comparisons: Sequence[Comparison], metric: str) -> str:
    parts = []
    for comparison in comparisons:
        shares = ", ".join(f"{report.system} {report.bands()[metric].mean:.1%}" for report in comparison.reports)
        parts.append(f"{comparison.data} ({comparison.n} questions): {shares}")
    return f"{metric} by data set and system. {'; '.join(parts)}."
