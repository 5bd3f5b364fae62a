"""The shell under every explorable: our stylesheet, the theme, and keys that stay inside."""

from __future__ import annotations

from importlib.resources import files

import anywidget

from ilstma_lab.reprs.markup import Html, stylesheet


def module(name: str) -> str:
    """Return the browser module `name` with what all modules share in front of it; nothing is loaded from elsewhere."""
    folder = files("ilstma_lab") / "widgets" / "static"
    return "\n".join((folder / f"{part}.js").read_text(encoding="utf-8") for part in ("shell", name))


class Shell(anywidget.AnyWidget):
    """Base of the explorables. A class sets `_esm = module("its name")`; its module's render begins with `shell(el)`.

    The stylesheet comes with the class, once a page; it follows JupyterLab's theme by itself. Where no widget can be
    shown (a saved page, an e-mail), `static()` and `text()` stand in.
    """

    _css = stylesheet()

    def static(self) -> Html:
        """Return the present state as HTML without a script."""
        raise NotImplementedError

    def text(self) -> str:
        """Return the present state as plain text."""
        raise NotImplementedError

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return {**data, "text/plain": self.text(), "text/html": self.static()}, metadata
