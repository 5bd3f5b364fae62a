"""The five segments of short-term memory as cards under one budget bar."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ilstma_lab.models.prompts.fence import INDENT
from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.reprs.parts import chip, chips, head, width
from ilstma_lab.reprs.system_words import SegmentWords, words_of
from ilstma_lab.reprs.words import count, line, plain, score
from ilstma_lab.trace import SegmentView

if TYPE_CHECKING:
    from ilstma_lab.memory.segments import ShortTermMemory

RULES = {name: words.rule for name, words in words_of("ILSTMA").items()}
_ROLES = {"cache": "cache", "relevant": "relevant"}


@dataclass(frozen=True)
class Card:
    """One segment as it is shown: `rows` hold index, text and score; `text` is for segments without rows."""

    name: str
    words: SegmentWords
    tokens: int
    cut_tokens: int
    rows: tuple[tuple[int, str, str], ...]
    text: str

    @property
    def rule(self) -> str:
        """What fills and empties it."""
        return self.words.rule

    @property
    def empty(self) -> bool:
        """Whether nothing is in it."""
        return not self.rows and not self.tokens


def cards(
    views: Sequence[SegmentView],
    said: Mapping[int, str],
    scores: Mapping[int, float] | None = None,
    *,
    system: str = "ILSTMA",
) -> tuple[Card, ...]:
    """Return the segments that a system fills; `said` gives each row's user text, `scores` what put rows into the cache."""
    by_name = {view.name: view for view in views}
    words = words_of(system)
    return tuple(_card(by_name[name], words[name], said, scores or {}) for name in words if name in by_name)


def memory_cards(memory: ShortTermMemory, views: Sequence[SegmentView] | None = None, *, system: str = "") -> tuple[Card, ...]:
    """Return the segments of a short-term memory as it stands, in the words of its `system` (default: what it says itself)."""
    views = memory.views() if views is None else views
    said = {row: memory.table[row].user for view in views for row in view.rows if row in memory.table}
    scores = {row.index: row.score for row in memory.cache_scores}
    return cards(views, said, scores, system=system or getattr(memory, "system", "ILSTMA"))


def segments_html(memory: ShortTermMemory) -> Html:
    """Return short-term memory as HTML: the budget, then a card for each segment."""
    shown, budget = memory_cards(memory), memory.limits.token_budget
    title = f"{count(_used(shown), 'token')} of {budget:,} in short-term memory"
    top = head("Short-term memory · " + (memory.table.topic or "no topic"), title, sub=_cut(shown).capitalize() + ".")
    return page(
        top,
        tag("div", budget_bar(shown, budget), tag("div", *map(card_html, shown), cls="segs"), cls="pane"),
        sections=("segments",),
    )


def segments_text(memory: ShortTermMemory) -> str:
    """Return short-term memory as text."""
    shown = memory_cards(memory)
    head_line = f"Short-term memory: {_used(shown):,} of {memory.limits.token_budget:,} tokens, {_cut(shown)}"
    return "\n".join([head_line, *(text for card in shown for text in card_text(card))])


def budget_line(shown: Sequence[Card], budget: int) -> str:
    """Return how much of the budget is used, and what was cut."""
    return f"{_used(shown):,} of {budget:,} tokens, {_cut(shown)}"


def budget_bar(shown: Sequence[Card], budget: int) -> Html:
    """Return the segments' tokens as parts of one bar that is the budget long."""
    whole = max(budget, _used(shown), 1)
    parts = (
        tag("i", cls=f"is-{card.name}", style=f"width:{width(card.tokens / whole)}", title=f"{card.name}: {card.tokens} tokens")
        for card in shown
    )
    return tag("div", *parts, cls="stack", role="img", aria_label=budget_line(shown, budget))


def card_html(card: Card) -> Html:
    """Return one segment's card."""
    top = tag(
        "div",
        tag("h3", card.words.label),
        tag("span", card.rule, cls="rule"),
        tag("span", f"{card.tokens:,}", cls="tok", title="tokens, estimated"),
        cls="end",
    )
    rows = _rows_html(card) if card.rows else None
    text = (
        tag("p", card.text or card.words.empty, cls="say" + ("" if card.text else " dim"), dir="auto") if not card.rows else None
    )
    return tag("div", top, rows, text, cls=f"sg is-{card.name}" + (" empty" if card.empty else ""))


def card_text(card: Card) -> list[str]:
    """Return one segment as lines of text."""
    first = f"  {card.words.label:<12}{card.tokens:>6,}  "
    if card.name == "history" and card.rows:
        lines = [" ".join(f"[{index}]" for index, *_ in card.rows) + ", oldest first"]
    elif card.rows:
        lines = [f"[{index}] {text}" + (f"  {number}" if number else "") for index, text, number in card.rows]
    else:
        lines = [line(card.text, 90) if card.text else card.words.empty]
    return [first + lines[0], *(" " * len(first) + text for text in lines[1:])]


def empty_text(name: str) -> str:
    """Return what an empty segment of ILSTMA says."""
    return words_of("ILSTMA")[name].empty


def _card(view: SegmentView, words: SegmentWords, said: Mapping[int, str], scores: Mapping[int, float]) -> Card:
    rows = tuple(
        (row, line(said.get(row, ""), 90), score(scores[row]) if row in scores and view.name == "cache" else "")
        for row in view.rows
    )
    text = "" if rows else plain(_unfenced(view.text), 420)
    return Card(view.name, words, view.tokens, view.cut_tokens, rows, text)


def _rows_html(card: Card) -> Html:
    if card.name == "history":
        return tag("p", chips([index for index, *_ in card.rows]), tag("span", "  oldest first", cls="dim"), cls="say")
    return tag("ul", *(_row_html(card.name, *row) for row in card.rows), cls="rows")


def _row_html(name: str, index: int, text: str, number: str) -> Html:
    shown = tag("span", text or "…", cls="cut", dir="auto")
    return tag("li", chip(index, _ROLES.get(name, "")), shown, tag("span", number, cls="num dim") if number else None)


def _unfenced(text: str) -> str:
    """Take away what the prompt puts around stored text: the tags, the indent, the escapes."""
    lines = text.splitlines()
    if len(lines) >= 2 and lines[0].startswith("<") and lines[-1].startswith("</"):
        return html.unescape("\n".join(part.removeprefix(INDENT) for part in lines[1:-1]))
    return text


def _used(shown: Sequence[Card]) -> int:
    return sum(card.tokens for card in shown)


def _cut(shown: Sequence[Card]) -> str:
    cut = [f"{card.cut_tokens:,} of the {card.name}" for card in shown if card.cut_tokens]
    return "cut: " + ", ".join(cut) if cut else "nothing cut"
