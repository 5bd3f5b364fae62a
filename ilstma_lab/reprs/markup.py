"""HTML that escapes whatever it is not told to trust, and the part of the stylesheet that an output needs."""

from __future__ import annotations

import html
import re
from functools import lru_cache
from importlib.resources import files


class Html(str):
    """A string that is HTML already. Every other string becomes text when it is put into a tag."""

    __slots__ = ()


def tag(name: str, *children: object, **attributes: object) -> Html:
    """Return `<name ...>children</name>`: children and attribute values are escaped unless they are Html; None is left out.

    `cls` stands for class, and `_` for a hyphen.

    >>> tag("p", "1 < 2 ", tag("b", "so"), cls="dim")
    '<p class="dim">1 &lt; 2 <b>so</b></p>'
    """
    spelled = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    if "cls" in spelled:
        spelled = {"class": spelled.pop("cls"), **spelled}
    head = "".join(f' {key}="{html.escape(str(value))}"' for key, value in spelled.items())
    return Html(f"<{name}{head}>{join(*children)}</{name}>")


def join(*children: object) -> Html:
    """Return `children` one after the other, each escaped unless it is Html; None is left out."""
    return Html("".join(child if isinstance(child, Html) else html.escape(str(child)) for child in children if child is not None))


def page(*children: object, sections: tuple[str, ...] = ()) -> Html:
    """Return a notebook output: `children` under `.ilab`, after the style that `sections` of the stylesheet give."""
    style = Html(f"<style>{stylesheet('base', *sections)}</style>")
    return tag("div", style, tag("section", *children, cls="w"), cls="ilab mathjax_ignore")


@lru_cache(maxsize=16)
def stylesheet(*names: str) -> str:
    """Return the sections `names` of ilab.css in short form; without names, all of it."""
    sections = _sections()
    return "".join(sections[name] for name in names or sections)


@lru_cache(maxsize=1)
def _sections() -> dict[str, str]:
    css = (files("ilstma_lab") / "assets" / "ilab.css").read_text(encoding="utf-8")
    _, *parts = re.split(r"/\*: (\w+) \*/", css)
    return {name: re.sub(r"\s+", " ", body).strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}
