"""A figure that fills its container. All figures of a kernel share one copy of plotly, five megabytes, sent once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

import anywidget
import numpy as np
import traitlets

from ilstma_lab.plots.spec import Spec, drawn, tables, titles
from ilstma_lab.plots.template import CONFIG, template
from ilstma_lab.reprs.markup import Html, join, page, tag
from ilstma_lab.widgets.shell import Shell, module

if TYPE_CHECKING:
    import plotly.graph_objects as go


def own_css() -> str:
    """Return the rules that figures and explorables need beside ilab.css."""
    return (files("ilstma_lab") / "widgets" / "static" / "explorable.css").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Pick:
    """What a reader did in a figure: pointed at a place, left it, chose it, or pressed an arrow key.

    `trace` is the trace's name and `x`, `y` the place in its units; for "step" they are -1, 0 or 1 along each axis.
    """

    kind: Literal["hover", "leave", "click", "step"]
    trace: str = ""
    x: float = 0.0
    y: float = 0.0


class LightFigure(Shell):
    """Shows a `go.Figure`, or a spec (plots/spec.py), as wide as there is room; `show` replaces it in one message.

    Title and subtitle stand above it as text, its description is what a screen reader says, and `as_table` shows its
    numbers in place of the picture. With `picks=True` it tells `on_pick` where the reader points, clicks and steps.
    """

    _esm = module("light_figure")
    _css = Shell._css + own_css()
    view = traitlets.Dict().tag(sync=True)
    title = traitlets.Unicode().tag(sync=True)
    sub = traitlets.Unicode().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    as_table = traitlets.Bool(False).tag(sync=True)
    picks = traitlets.Bool(False).tag(sync=True)
    tables = traitlets.List().tag(sync=True)
    template = traitlets.Dict().tag(sync=True)
    config = traitlets.Dict({**CONFIG, "displayModeBar": False, "responsive": False}).tag(sync=True)

    def __init__(self, figure: go.Figure | Spec, *, picks: bool = False):
        _send_plotly_once()
        super().__init__(picks=picks, template=_template())
        self._on_pick: Callable[[Pick], None] | None = None
        self.on_msg(self._receive)
        self.observe(lambda _: self._fill_table(), names="as_table")
        self.show(figure)

    def show(self, figure: go.Figure | Spec) -> None:
        """Show `figure` in place of the present one; what the reader has zoomed stays zoomed."""
        self.spec: Spec = figure if isinstance(figure, dict) else figure.to_dict()
        layout = {key: value for key, value in self.spec.get("layout", {}).items() if key not in ("title", "template", "meta")}
        with self.hold_sync():
            self.title, self.sub, self.alt = titles(self.spec)
            self.view = {"data": packed(self.spec["data"]), "layout": packed(layout)}
            self._fill_table()

    def on_pick(self, act: Callable[[Pick], None]) -> None:
        """Call `act` at each pick; a second call replaces the first."""
        self._on_pick = act

    def figure(self) -> go.Figure:
        """Return what is shown as a static figure, its title put back."""
        return drawn(self.spec)

    def table(self) -> Html:
        """Return the numbers as HTML tables, escaped."""
        return join(*(_table(head=table.head, rows=table.rows) for table in tables(self.spec)))

    def static(self) -> Html:
        """Return titles and numbers as HTML without a script."""
        return page(tag("div", self.heading(), self.table(), cls="pane"))

    def heading(self) -> Html:
        """Return titles and description as HTML."""
        return join(tag("p", tag("b", self.title)), tag("p", self.sub, cls="dim"), tag("p", self.alt, cls="mid"))

    def text(self) -> str:
        """Return titles and description as plain text."""
        return "\n".join(filter(None, (self.title, self.sub, self.alt)))

    def _fill_table(self) -> None:
        shown = tables(self.spec) if self.as_table else []
        self.tables = [{"head": list(table.head), "rows": [list(row) for row in table.rows]} for table in shown]

    def _receive(self, _: object, content: dict[str, Any], __: object) -> None:
        match content:
            case {"kind": "hover" | "leave" | "click" | "step" as kind, "x": int() | float() as x, "y": int() | float() as y}:
                if self._on_pick:
                    self._on_pick(Pick(kind, str(content.get("trace", "")), float(x), float(y)))


class _Plotly(anywidget.AnyWidget):
    """Carries plotly's source to the browser; it has no view."""

    _esm = (files("ilstma_lab") / "widgets" / "static" / "plotly_once.js").read_text(encoding="utf-8")
    source = traitlets.Unicode().tag(sync=True)


@lru_cache(maxsize=1)
def _send_plotly_once() -> _Plotly:
    return _Plotly(source=(files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def _template() -> dict:
    return template().to_plotly_json()


def packed(value: Any) -> Any:
    """Return `value` with arrays as plotly's {dtype, bdata, shape}, whose bytes travel unencoded; floats become float32."""
    if isinstance(value, dict):
        return {key: packed(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [packed(part) for part in value]
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind not in "fiu" or not value.size:  # of nothing there are no bytes to send
        return value.tolist()
    small = np.ascontiguousarray(value, dtype="<f4" if value.dtype.kind == "f" else "<i4")
    return {"dtype": small.dtype.str[1:], "bdata": memoryview(small).cast("B"), "shape": ",".join(map(str, small.shape))}


def _table(*, head: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> Html:
    first = tag("thead", tag("tr", *(tag("th", name, scope="col", cls="num") for name in head)))
    body = tag("tbody", *(tag("tr", *(tag("td", cell, cls="num") for cell in row)) for row in rows))
    return tag("table", first, body, cls="grid")
