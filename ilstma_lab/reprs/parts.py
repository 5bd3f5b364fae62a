"""Small pieces that several outputs share: head, badge, row chip, bar, sentence."""

from __future__ import annotations

from collections.abc import Sequence

from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.why import Row


def head(eyebrow: str, title: str, *right: Html, sub: str = "") -> Html:
    """Return the head of an output: where one is, the finding, what stands at the right."""
    left = tag(
        "div",
        tag("p", eyebrow, cls="eyebrow"),
        tag("p", title, cls="finding"),
        tag("p", sub, cls="sub") if sub else None,
    )
    return tag("header", left, tag("div", *right, cls="w-acts") if right else None, cls="w-head")


def badge(outcome: str) -> Html:
    """Return the mark of an outcome: "hit", "miss" or "failed"."""
    return tag("span", outcome.capitalize(), cls=f"badge {outcome}")


def chip(index: int, role: str = "", *, waiting: bool = False) -> Html:
    """Return a row's chip; a dot at its corner says that a write waits."""
    return tag("span", int(index), cls=" ".join(filter(None, ("rc", role, "dirty" if waiting else ""))))


def chips(indices: Sequence[int], role: str = "") -> Html:
    """Return the chips of several rows."""
    return join(*(part for index in indices for part in (" ", chip(index, role))))


def sentence(parts: Sequence[str | Row]) -> Html:
    """Return a sentence with its rows as chips."""
    return join(*(chip(part.index, part.role) if isinstance(part, Row) else part for part in parts))


def bar(share: float, role: str = "") -> Html:
    """Return a bar that is `share` of its place long, 0 to 1."""
    return tag("span", tag("i", style=f"width:{width(share)}"), cls=f"hb is-{role}" if role else "hb")


def width(share: float) -> str:
    """Return a share as a CSS length, between nothing and all."""
    return f"{100 * min(max(share, 0.0), 1.0):.1f}%"
