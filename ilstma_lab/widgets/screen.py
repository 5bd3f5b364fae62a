"""What an explorable shows: head, controls, figures, panels and foot, filled by one Drawing after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ipywidgets

from ilstma_lab.errors import IlstmaError
from ilstma_lab.plots.spec import Spec
from ilstma_lab.reprs.markup import Html, join, page, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.reprs.words import plain
from ilstma_lab.widgets.frame import Frame
from ilstma_lab.widgets.light_figure import LightFigure, Pick

Rows = tuple[tuple[tuple[str, int], ...], ...]


@dataclass(frozen=True)
class Drawing:
    """All that an explorable shows of one result: the finding as its title, figures and other panels by name.

    `live` stands among the controls; `code` is Python whose last line is shown, and all of which is copied.
    """

    finding: str
    sub: str = ""
    figures: Mapping[str, Spec] = field(default_factory=dict)
    panels: Mapping[str, Html] = field(default_factory=dict)
    live: str = ""
    code: str = ""


class Screen:
    """The widgets of one explorable. `rows` gives names and relative widths of figures and panels, row by row.

    `press(what, name)` is called for "reset", "table" and "preset"; `pick(figure, pick)` for picks, unless it is None.
    """

    def __init__(
        self,
        first: Drawing,
        controls: list[ipywidgets.Widget],
        *,
        rows: Rows,
        words: Mapping[str, str],
        press: Callable[[str, str], None],
        pick: Callable[[str, Pick], None] | None,
    ):
        self.drawing = first
        self.figures = {name: LightFigure(spec, picks=pick is not None) for name, spec in first.figures.items()}
        for name, figure in self.figures.items():
            figure.on_pick(partial(pick, name) if pick else lambda _: None)
        self.panels = {name: ipywidgets.HTML() for name in first.panels}
        self.live = _classed(ipywidgets.HTML(), "live")
        self.head = Frame("head", press, eyebrow=words["eyebrow"], reset=words["reset"], as_table=False)
        self.presets = Frame("presets", press)
        self.foot = Frame("foot", press, try_this=words["try_this"], name=words["name"])
        places = {**self.figures, **self.panels}
        view = [_row(row, places) for row in rows or tuple(((name, 1),) for name in places)]
        panel = _classed(ipywidgets.Box([*controls, self.live, self.presets]), "x-panel")
        body = _classed(ipywidgets.Box([panel, _classed(ipywidgets.Box(view), "x-view")]), "x-body")
        self.widgets = [self.head, body, self.foot]

    def put(self, drawing: Drawing) -> None:
        """Show `drawing` in place of the present one, and no error."""
        self.drawing = drawing
        self.head.put(finding=drawing.finding, sub=drawing.sub, error="")
        for name, spec in drawing.figures.items():
            self.figures[name].show(spec)
        for name, panel in drawing.panels.items():
            self.panels[name].value = join(panel)
        self.live.value = join(drawing.live)

    def fail(self, error: Exception) -> None:
        """Show what went wrong above the last drawing that worked."""
        words = str(error) if isinstance(error, IlstmaError) else f"{type(error).__name__}: {error}. Below is what worked last."
        self.head.put(error=plain(words, 600))

    def turn_tables(self) -> None:
        """Show tables in place of figures, or figures again."""
        as_table = not self.head.view["as_table"]
        self.head.put(as_table=as_table)
        for figure in self.figures.values():
            figure.as_table = as_table

    def static(self, code: str) -> Html:
        """Return what is shown as HTML without a script: the finding, every panel, every figure's numbers, the code."""
        shown = self.drawing
        figures = (tag("div", figure.heading(), figure.table(), cls="pane") for figure in self.figures.values())
        panels = (tag("div", panel, cls="pane") for panel in (shown.live, *shown.panels.values()) if panel)
        title = head(self.head.view["eyebrow"], shown.finding, sub=shown.sub)
        return page(title, *panels, *figures, tag("div", tag("code", code), cls="pane"))

    def text(self) -> str:
        """Return the finding, and what a screen reader says of each figure."""
        return "\n".join([self.drawing.finding, *(figure.alt for figure in self.figures.values() if figure.alt)])


def _row(row: tuple[tuple[str, int], ...], places: Mapping[str, ipywidgets.Widget]) -> ipywidgets.Box:
    columns = " ".join(f"minmax(0, {width}fr)" for _, width in row)
    return _classed(ipywidgets.Box([places[name] for name, _ in row], layout={"grid_template_columns": columns}), "x-row")


def _classed(widget: Any, name: str) -> Any:
    widget.add_class(name)
    return widget
