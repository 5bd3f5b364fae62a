"""Asking a language model for JSON or for lines, and reading what it replies; used by the prompted parts of every system."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Protocol

from ilstma_lab.errors import ModelError
from ilstma_lab.models.call import Call
from ilstma_lab.models.parse import json_object, visible, without_thinking
from ilstma_lab.models.prompts.messages import SCHEMAS, Messages, again
from ilstma_lab.models.stream import Stream


class Chat(Protocol):
    """What a prompted part asks: a `ChatClient`, or a cassette around one."""

    model: str

    def complete(
        self, messages: Messages, *, purpose: str, schema: dict | None = None, on_piece: Callable[[str], None] | None = None
    ) -> Call:
        """Return the reply to `messages`."""
        ...

    def stream(self, messages: Messages, *, purpose: str) -> Stream:
        """Return the reply in pieces."""
        ...


def ask_json(
    chat: Chat,
    messages: Messages,
    purpose: str,
    valid: Callable[[dict[str, Any]], bool],
    *,
    otherwise: Callable[[str], dict[str, Any] | None] = lambda reply: None,
) -> tuple[dict[str, Any] | None, tuple[Call, ...]]:
    """Return the object that the model replied, asked once more if it cannot be read, and the calls.

    `purpose` is one of `SCHEMAS`, which has the form of the reply. `valid` tells whether an object can be used;
    `otherwise` reads a reply that holds no JSON.
    """
    calls: tuple[Call, ...] = ()
    for _ in range(2):
        call = chat.complete(messages, purpose=purpose, schema=SCHEMAS[purpose])
        calls += (call,)
        found = json_object(call.reply) or otherwise(without_thinking(call.reply))
        if found is not None and valid(found):
            return found, calls
        messages = again(messages, without_thinking(call.reply)[:1000])
    return None, calls


def spoken(chat: Chat, messages: Messages) -> Stream:
    """Return an answer as a stream, without the model's thinking; reading it raises ModelError if the endpoint fails."""
    return Stream(_pieces(chat, messages))


def _pieces(chat: Chat, messages: Messages) -> Generator[str, None, Call]:
    stream = chat.stream(messages, purpose="answer")
    try:
        said = False
        for piece in visible(stream):
            said = True
            yield piece
        if not said:
            raise ModelError(f"{chat.model} gave an empty answer: ask again, or allow longer replies")
    finally:
        stream.close()
    return stream.call


def text_of(value: Any, limit: int) -> str:
    """Return a reply's text, stripped and cut; "" for what is no text."""
    return value.strip()[:limit] if isinstance(value, str) else ""


def lines_of_reply(reply: str, count: int, limit: int) -> str:
    """Return the first `count` lines of a reply without bullets and code fences, cut at `limit` characters."""
    lines = [line.strip().lstrip("-*•· ").strip() for line in without_thinking(reply).splitlines()]
    return "\n".join([line for line in lines if line and not line.startswith("```")][:count])[:limit].rstrip()
