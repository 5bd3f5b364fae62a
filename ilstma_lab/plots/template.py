"""The one look of all figures, readable on light and dark ground, and a page that stands alone."""

from __future__ import annotations

import html
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go

GREY = "#7B8494"
HAIRLINE = "rgba(123,132,148,.25)"
ROLES = {
    "cache": "#009E73",
    "summary": "#3C9CD0",
    "personality": "#CC79A7",
    "history": GREY,
    "relevant": "#C48702",
    "a": "#0072B2",
    "b": "#D55E00",
    "time": "#5B5BD6",
    "place": "#A09601",
}
"""Each part of the memory has one colour, at least 3:1 on white and on near black."""

FONT = "Inter, Segoe UI, system-ui, Helvetica Neue, Noto Sans, Noto Sans CJK SC, Liberation Sans, sans-serif"
CONFIG = {"displaylogo": False, "showSendToCloud": False, "modeBarButtonsToRemove": ["sendChartToCloud"], "responsive": True}
"""How a figure is shown: no chart leaves the machine."""


@lru_cache(maxsize=1)
def template() -> go.layout.Template:
    """Return the template: transparent ground, hairlines, no legend (labels stand at the data), one font."""
    import plotly.graph_objects as go

    axis = {
        "showline": False,
        "zeroline": False,
        "ticks": "",
        "gridcolor": HAIRLINE,
        "gridwidth": 1,
        "tickfont": {"size": 11},
        "title": {"font": {"size": 11}, "standoff": 8},
        "automargin": True,
    }
    faint_to_full = [[0, "rgba(91,91,214,.05)"], [1, "rgba(91,91,214,1)"]]  # by opacity: one scale serves both grounds
    layout = {
        "font": {"family": FONT, "size": 11, "color": GREY},
        "title": {
            "font": {"size": 13},
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 8, "l": 8},
        },
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "margin": {"l": 36, "r": 12, "t": 8, "b": 30},
        "bargap": 0.36,
        "colorway": list(ROLES.values()),
        "colorscale": {"sequential": faint_to_full},
        "xaxis": axis,
        "yaxis": axis,
        "hovermode": "closest",
        "hoverlabel": {"font": {"size": 12}, "bordercolor": GREY},
        "showlegend": False,
        "modebar": {"bgcolor": "rgba(0,0,0,0)", "color": GREY, "activecolor": ROLES["time"]},
        "uirevision": "keep",
    }
    heatmap = {"xgap": 0, "ygap": 2, "colorbar": {"thickness": 9, "outlinewidth": 0, "ticks": ""}}
    return go.layout.Template(layout=layout, data={"heatmap": [heatmap]})


def describe(figure: go.Figure, sentence: str) -> go.Figure:
    """Return `figure` with the sentence that a screen reader says for it; `described` reads it."""
    figure.update_layout(meta={"description": sentence})
    return figure


def described(figure: go.Figure) -> str:
    """Return the sentence for a screen reader, "" where there is none."""
    return (figure.layout.meta or {}).get("description", "")


def plain(text: str) -> str:
    """Return `text` as plotly shows it letter for letter: it would take <b> and <a href> as markup.

    >>> plain("a <b> & c")
    'a &lt;b&gt; &amp; c'
    """
    return html.escape(text, quote=False)


def page(figure: go.Figure) -> str:
    """Return an HTML page with the figure that needs no network (plotly's 5 MB are inside)."""
    drawn = figure.to_html(full_html=False, include_plotlyjs=True, config=CONFIG)
    title = html.escape(figure.layout.title.text or "Figure")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        '<meta name="color-scheme" content="light dark"></head>\n'
        f'<body><div role="img" aria-label="{html.escape(described(figure))}">{drawn}</div></body></html>\n'
    )
