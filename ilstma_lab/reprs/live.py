"""Buttons that a widget listens to, written as HTML like everything else: without a widget they are plain text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import chip
from ilstma_lab.reprs.why import Row


def press(do: str, *children: object, value: object = "", off: bool = False, **attributes: object) -> Html:
    """Return a button that tells the widget to `do` something with `value`; `off` shows it pale, and pressing it does nothing."""
    off_ = "true" if off else None
    return tag("button", *children, type="button", data_do=do, data_value=value, aria_disabled=off_, **attributes)


def row_press(index: int, role: str = "", *, waiting: bool = False) -> Html:
    """Return a row's chip as a button that shows the row."""
    name = f"Row {int(index)}" + (", its write waits" if waiting else "")
    shown = chip(index, role, waiting=waiting)
    return press("show", shown, value=f"row {int(index)}", cls="pick", title=f"Show row {int(index)}", aria_label=name)


def told(parts: Sequence[str | Row | Html]) -> Html:
    """Return a sentence whose rows can be pressed; a row that the table does not hold cannot."""
    return join(*map(_part, parts))


def still(html: Html) -> Html:
    """Return `html` with plain text where it had buttons, for a page that has no widget behind it."""
    return Html(re.sub(r"<(/?)button\b", r"<\1span", html))


def _part(part: str | Row | Html) -> object:
    if not isinstance(part, Row):
        return part
    return chip(part.index, part.role) if part.role == "none" else row_press(part.index, part.role)
