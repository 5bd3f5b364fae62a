"""A figure as plotly's own dict, which costs nothing to make: as a `go.Figure`, and as tables of its numbers.

A spec is `{"data": [trace, ...], "layout": {...}}`, with its finding as `layout.title.text`, what the axes show as
`layout.title.subtitle.text`, and in `layout.meta` a `description` for a screen reader and names `x` and `y` for the tables.
A trace without a name is a guide (a crosshair, a label): it stands in no table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ilstma_lab.plots.template import template

if TYPE_CHECKING:
    import plotly.graph_objects as go

Spec = dict[str, Any]
_MOST_ROWS = 31
_TITLE_PIXELS = 48


@dataclass(frozen=True)
class Table:
    """Numbers of a figure as text, for those who read rather than look."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def titles(spec: Spec) -> tuple[str, str, str]:
    """Return the finding, the line below it and the sentence for a screen reader."""
    layout = spec.get("layout", {})
    title = layout.get("title", {})
    return title.get("text", ""), title.get("subtitle", {}).get("text", ""), (layout.get("meta") or {}).get("description", "")


def drawn(spec: Spec) -> go.Figure:
    """Return the figure with the kit's template, and room for its title."""
    import plotly.graph_objects as go

    figure = go.Figure(spec)
    figure.update_layout(template=template())
    if titles(spec)[0]:
        margin, height = figure.layout.margin, figure.layout.height or 250
        figure.update_layout(height=height + _TITLE_PIXELS, margin_t=(margin.t or 8) + _TITLE_PIXELS)
    return figure


def tables(spec: Spec) -> list[Table]:
    """Return the numbers of the named traces; curves over the same x share a table, thinned to 31 rows at most."""
    meta = {"x": "x", "y": "y", **(spec.get("layout", {}).get("meta") or {})}
    maps = [_map_table(trace, meta) for trace in _named(spec) if trace.get("type") == "heatmap"]
    shared: dict[tuple, list[dict]] = {}
    for trace in _named(spec):
        if trace.get("type") != "heatmap":
            shared.setdefault(tuple(np.asarray(trace["x"]).tolist()), []).append(trace)
    return [_curve_table(x, traces, meta) for x, traces in shared.items()] + maps


def _named(spec: Spec) -> Iterator[dict]:
    return (trace for trace in spec["data"] if trace.get("name") and trace.get("visible", True) is True)


def _curve_table(x: tuple, traces: list[dict], meta: dict) -> Table:
    step = max(1, -(-len(x) // _MOST_ROWS))
    columns = [np.asarray(trace["y"]).tolist() for trace in traces]
    rows = [[x[at], *(column[at] for column in columns)] for at in range(0, len(x), step)]
    return Table((meta["x"], *(str(trace["name"]) for trace in traces)), tuple(tuple(map(_text, row)) for row in rows))


def _map_table(trace: dict, meta: dict) -> Table:
    values = np.asarray(trace["z"])  # (n_y, n_x)
    step = -(-values.shape[1] // _MOST_ROWS)
    head = (f"{meta['x']} →", *map(_text, np.asarray(trace["x"])[::step].tolist()))
    rows = zip(np.asarray(trace["y"]).tolist(), values[:, ::step].tolist(), strict=True)
    return Table(head, tuple((f"{meta['y']} {_text(y)}", *map(_text, row)) for y, row in rows))


def _text(value: object) -> str:
    if not isinstance(value, float):
        return str(value).replace("-", "−") if isinstance(value, int) else str(value)
    return (f"{value:.3f}" if 0 < abs(value) < 1 else f"{value:.4g}").replace("-", "−")
