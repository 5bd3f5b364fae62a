"""A widget whose whole screen is HTML made in Python: the browser builds it node by node, so that text stays text."""

from __future__ import annotations

from html.parser import HTMLParser
from importlib.resources import files
from typing import Any, ClassVar

import traitlets

from ilstma_lab.reprs.live import still
from ilstma_lab.reprs.markup import Html, stylesheet, tag
from ilstma_lab.widgets.shell import Shell

_SPELLED = {"viewbox": "viewBox", "preserveaspectratio": "preserveAspectRatio"}  # SVG minds the case, the parser does not
_NEVER = frozenset("script style iframe object embed link meta base form img a".split())

Tree = list[Any]
"""A node: [name, attributes, *children], where a string is text."""


class Drawn(Shell):
    """Base of widgets that are drawn from `html()`. A class names its files, `_esm = browser_part("x")` and
    `_css = look("x")`, and with `screen` the class of its root, under which all its rules stand.

    Pressing a button of `reprs.live.press` calls `pressed(do, value)`; `redraw` shows what `html` returns now.
    """

    screen: ClassVar[str] = ""
    view = traitlets.List().tag(sync=True)

    def __init__(self) -> None:
        super().__init__()
        self.on_msg(self._receive)
        self.redraw()

    def html(self) -> Html:
        """Return the screen as it is now."""
        raise NotImplementedError

    def pressed(self, do: str, value: str) -> None:
        """Do what a button says; what cannot be done is left alone."""

    def redraw(self) -> None:
        """Show the screen as it is now; only what changed is touched in the browser."""
        self.view = tree_of(self.html())

    def static(self) -> Html:
        """Return the screen as HTML without a script and without buttons."""
        style = Html(f"<style>{self._css}</style>")
        return tag("div", style, tag("div", still(self.html()), cls="still"), cls=f"ilab {self.screen}")

    def _receive(self, _: object, content: Any, __: object) -> None:
        match content:
            case {"do": str(do), "value": str(value)}:
                self.pressed(do, value)


def tree_of(html: Html) -> list[Tree | str]:
    """Return HTML as plain nodes. Raises ValueError for an element or attribute that could load or run something.

    >>> tree_of(Html('<p class="dim">1 &lt; 2 <b>so</b></p>'))
    [['p', {'class': 'dim'}, '1 < 2 ', ['b', {}, 'so']]]
    """
    parser = _Parser()
    parser.feed(html)
    parser.close()
    return parser.nodes


def browser_part(name: str) -> str:
    """Return the browser module `name` with what it is built on in front of it."""
    return "\n".join(_file(f"{part}.js") for part in ("shell", "drawn", name))


def look(name: str) -> str:
    """Return the kit's stylesheet and the widget's own."""
    return stylesheet() + _file(f"{name}.css")


def _file(name: str) -> str:
    return (files("ilstma_lab") / "widgets" / "static" / name).read_text(encoding="utf-8")


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.nodes: list[Tree | str] = []
        self._open: list[list] = [self.nodes]

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        unsafe = [key for key, _ in attributes if key.startswith("on") or key in ("src", "href", "srcdoc")]
        if name in _NEVER or unsafe:
            raise ValueError(f"a screen must not hold <{name}> with {unsafe}")
        node = [name, {_SPELLED.get(key, key): value or "" for key, value in attributes}]
        self._open[-1].append(node)
        self._open.append(node)

    def handle_endtag(self, name: str) -> None:
        closed = self._open.pop()
        if closed is self.nodes or closed[0] != name:
            raise ValueError(f"</{name}> closes nothing")

    def handle_data(self, data: str) -> None:
        siblings = self._open[-1]
        if siblings is not self.nodes and len(siblings) > 2 and isinstance(siblings[-1], str):
            siblings[-1] += data
        else:
            siblings.append(data)
