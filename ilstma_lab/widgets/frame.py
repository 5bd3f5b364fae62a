"""The parts of an explorable's frame that are not figures and sliders: head, presets, foot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import traitlets

from ilstma_lab.reprs.markup import Html, page
from ilstma_lab.widgets.light_figure import own_css
from ilstma_lab.widgets.shell import Shell, module


class Frame(Shell):
    """One part of the frame: it shows `view` and calls `act(what, name)` when something is pressed.

    The head also keeps the keys of all controls around it from the notebook, and names the sliders for a screen reader.
    """

    _esm = module("explorable")
    _css = Shell._css + own_css()
    part = traitlets.Unicode().tag(sync=True)
    view = traitlets.Dict().tag(sync=True)

    def __init__(self, part: Literal["head", "presets", "foot"], act: Callable[[str, str], None], **view: Any):
        super().__init__(part=part, view=view)
        self._act = act
        self.on_msg(self._receive)

    def put(self, **view: Any) -> None:
        """Change what is shown."""
        if any(self.view.get(key) != value for key, value in view.items()):
            self.view = {**self.view, **view}

    def static(self) -> Html:
        """Return nothing: the explorable speaks for its frame."""
        return page()

    def text(self) -> str:
        """Return the finding."""
        return self.view.get("finding", "")

    def _receive(self, _: object, content: dict[str, Any], __: object) -> None:
        match content:
            case {"do": "reset" | "table" | "preset" as what}:
                self._act(what, str(content.get("name", "")))
