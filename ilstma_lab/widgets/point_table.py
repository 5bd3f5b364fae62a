"""A small table in which a reader writes points: a control of the fit lab."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import ipywidgets
import traitlets

from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.widgets.controls import Control
from ilstma_lab.widgets.shell import Shell, module


class PointTable(Shell):
    """Pairs (n, S in days) in a table of number fields; `value` holds them as text, "1 5, 2 16.75"."""

    _esm = module("point_table")
    _css = (files("ilstma_lab") / "widgets" / "static" / "point_table.css").read_text(encoding="utf-8")
    value = traitlets.Unicode().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)

    def static(self) -> Html:
        """Return the points as HTML without a script."""
        return page(tag("p", self.text()))

    def text(self) -> str:
        """Return the points as text."""
        return f"{self.label}: {self.value}"


@dataclass(frozen=True, kw_only=True)
class Points(Control):
    """Points that a reader edits, as text."""

    def problem(self, value: Any) -> str:
        """Return why `value` cannot be taken, "" where it can; what it says is read later, with its own message."""
        return "" if isinstance(value, str) and len(value) <= 10_000 else 'must be text such as "1 5, 2 16.75"'

    def widget(self, default: str) -> ipywidgets.DOMWidget:
        """Return the control, at its default."""
        return PointTable(value=default, label=self.label)
