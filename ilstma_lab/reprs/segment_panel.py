"""The five segments against their budget, with what was cut and why, and what the next hit keeps and the next miss clears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from ilstma_lab.memory.segments import CUT_ORDER
from ilstma_lab.reprs.live import press
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.segments import Card, budget_bar, budget_line, card_html
from ilstma_lab.reprs.words import count

After = Literal["hit", "miss"]

_FATES: dict[After, dict[str, tuple[str, str]]] = {  # how it looks, and in words
    "hit": {
        "cache": ("stays", "stays"),
        "summary": ("stays", "stays"),
        "personality": ("stays", "stays"),
        "history": ("grows", "one turn more"),
        "relevant": ("goes", "emptied when the turn begins"),
    },
    "miss": {
        "cache": ("goes", "cleared, then refilled by the prefetch"),
        "summary": ("goes", "cleared, then chosen anew"),
        "personality": ("stays", "stays"),
        "history": ("grows", "one turn more"),
        "relevant": ("goes", "emptied, then filled by the recall"),
    },
}


def segment_panel_html(shown: Sequence[Card], budget: int, after: After, *, eyebrow: str) -> Html:
    """Return the panel: the budget, a card for each segment with what becomes of it, and the order of cutting."""
    switch = tag(
        "span",
        *(press("after", f"After a {name}", value=name, aria_pressed=str(name == after).lower()) for name in _FATES),
        cls="segd",
        role="group",
        aria_label="What the next turn does",
    )
    head = tag("div", tag("p", eyebrow, cls="eyebrow"), tag("p", finding(shown, after), cls="finding", role="status"))
    return tag(
        "section",
        tag("header", head, tag("div", switch, cls="w-acts"), cls="w-head"),
        tag("div", tag("p", budget_line(shown, budget), cls="mid"), budget_bar(shown, budget), cls="pane"),
        tag("div", tag("div", *(_card(card, after) for card in shown), cls="sp-cards"), _cuts(shown, budget), cls="pane"),
        cls="w",
        tabindex="-1",
        aria_label="Short-term memory",
    )


def goes(shown: Sequence[Card], after: After) -> int:
    """Return how many of the present tokens the next hit or miss clears away."""
    return sum(card.tokens for card in shown if _FATES[after][card.name][0] == "goes")


def finding(shown: Sequence[Card], after: After) -> str:
    """Return in a sentence how much of what is held the next turn clears."""
    held, lost = sum(card.tokens for card in shown), goes(shown, after)
    if not held:
        return "Short-term memory is empty"
    if not lost:
        return f"The next {after} clears none of the {count(held, 'token')}"
    return f"The next {after} clears {lost:,} of {count(held, 'token')}"


def fate_text(card: Card, after: After) -> str:
    """Return what the next hit or miss does with a segment, in words."""
    return _FATES[after][card.name][1]


def _card(card: Card, after: After) -> Html:
    look, words = _FATES[after][card.name]
    cut = f"{count(card.cut_tokens, 'token')} cut" if card.cut_tokens else ""
    fate = tag("p", tag("span", words, cls="fate"), tag("span", cut, cls="was-cut") if cut else None, cls="sp-fate")
    if card.empty and card.cut_tokens:
        card = replace(card, text="All of it is cut: the five are over the budget.")
    return tag("div", card_html(card), fate, cls=f"sp-card {look}")


def _cuts(shown: Sequence[Card], budget: int) -> Html:
    """Why something was cut, or what would be first."""
    cut = {card.name: card.cut_tokens for card in shown if card.cut_tokens}
    wanted = sum(card.tokens + card.cut_tokens for card in shown)
    why = (
        f"Together they hold {count(wanted, 'token')}, {wanted - budget:,} over the budget. What goes first:"
        if cut
        else "Were they over the budget, this would go first:"
    )
    words = {"history": "oldest turns of history", "cache": "last rows of the cache", "relevant": "last relevant rows"}
    steps = [tag("li", words.get(name, f"the {name}"), cls="was-cut" if name in cut else None) for name in CUT_ORDER]
    return join(tag("p", why, cls="mid sp-why"), tag("ol", *steps, cls="sp-order"))
