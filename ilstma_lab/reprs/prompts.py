"""Prompts and replies, folded: what a model was asked and what it said, as text."""

from __future__ import annotations

from collections.abc import Sequence

from ilstma_lab.models.call import Call
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.words import count, line, plain, seconds

LONGEST = 12_000
"""Characters of one message that are shown; the Turn keeps them all."""


def prompts_html(calls: Sequence[Call]) -> Html | None:
    """Return the calls, each folded, or None where there were none."""
    return tag("div", *(_call(call) for call in calls), cls="pn-calls") if calls else None


def long_text(text: str, limit: int = LONGEST) -> Html:
    """Return a text with its lines, cut with a mark that says how much is left out."""
    left = len(text) - limit
    more = tag("p", f"cut here: {left:,} characters more in the Turn", cls="dim cutmark") if left > 0 else None
    return join(tag("pre", plain(text, limit), cls="pn-pre", dir="auto", tabindex="0"), more)


def _call(call: Call) -> Html:
    spent = seconds(call.seconds) if call.sent else "not sent"
    tokens = f"{call.prompt_tokens:,} + {count(call.reply_tokens, 'token')}"
    cached = f", {call.cached_tokens:,} of them cached" if call.cached_tokens else ""
    top = tag("summary", tag("b", line(call.purpose, 40).capitalize()), f" · {tokens}{cached} · {spent} · {line(call.model, 60)}")
    messages = (join(tag("p", line(role, 40), cls="dim role"), long_text(content)) for role, content in call.messages)
    return tag("details", top, *messages, tag("p", "reply", cls="dim role"), long_text(call.reply))
