"""Marks that the figures share, as plotly's dicts: line, dots, ring, words, and the frame around them.

A mark with a name stands in the tables and reports where the reader points; one without is a guide. The uid says what may
follow the theme on the screen: "ink..." takes the text's colour, "dot..." a rim of the ground's, "hollow..." its fill.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ilstma_lab.plots.template import GREY

INK = {"color": GREY, "width": 1.5}


def line(
    x: Any, y: Any, *, uid: str, color: str, width: float, dash: str = "solid", name: str | None = None, **more: Any
) -> dict:
    """Return a line."""
    stroke = {"color": color, "width": width, "dash": dash}
    # "none" still reports where the reader points, "skip" does not
    return {"type": "scatter", "mode": "lines", "x": x, "y": y, "name": name, "uid": uid, "line": stroke, **more} | {
        "hoverinfo": "none" if name else "skip"
    }


def dots(x: Any, y: Any, name: str | None, *, uid: str, color: str, size: float, symbol: str = "circle", **more: Any) -> dict:
    """Return dots."""
    marker = {"size": size, "color": color, "symbol": symbol, "line": {"width": 1.5, "color": color}, "opacity": 1}
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "name": name, "uid": uid, "marker": marker, **more} | {
        "hoverinfo": "none" if name else "skip"
    }


def ring(x: float, y: float) -> dict:
    """Return the ring that marks a chosen point."""
    marker = {"size": 15, "symbol": "circle-open", "color": GREY, "line": {"width": 1.5, "color": GREY}}
    return {"type": "scatter", "mode": "markers", "x": [x], "y": [y], "uid": "ink-ring", "marker": marker, "hoverinfo": "skip"}


def words(x: Any, y: Any, text: Any, place: str, *, uid: str) -> dict:
    """Return words at one place, or a list of them at several."""
    many = np.ndim(x) > 0
    said = {"x": x if many else [x], "y": y if many else [y], "text": text if many else [text], "textposition": place}
    return {
        "type": "scatter",
        "mode": "text",
        "textfont": {"size": 11},
        "hoverinfo": "skip",
        "cliponaxis": False,
        "uid": uid,
        **said,
    }


def layout(title: str, sub: str, description: str, *, names: tuple[str, str], **more: Any) -> dict:
    """Return the layout: the finding, what the axes show, the sentence for a screen reader, and the axes' names for tables."""
    meta = {"description": description, "x": names[0], "y": names[1]}
    more |= {axis: {"automargin": False, **more[axis]} for axis in ("xaxis", "yaxis")}  # measuring labels costs a second drawing
    return {"title": {"text": title, "subtitle": {"text": sub}}, "meta": meta, "dragmode": False, "uirevision": "keep", **more}
