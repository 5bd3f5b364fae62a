"""A chat model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any

from ilstma_lab.errors import ModelError
from ilstma_lab.models.call import Call
from ilstma_lab.models.connection import Connection, Refused, without_key
from ilstma_lab.models.prompts.messages import REPLY_TOKENS, Messages
from ilstma_lab.models.stream import Stream
from ilstma_lab.tokens import estimate_tokens

MAX_REPLY_CHARACTERS = 20_000
_CUT = " […]"


class ChatClient:
    """Sends prompts at temperature 0. Replies are cut at `max_reply_tokens` by the endpoint, and at 20,000 characters here;
    a key that an endpoint echoes is blotted out.

    What an endpoint refuses of temperature, max_tokens, response_format and stream_options is left out from then on. `fields` are
    sent with each request as they are, such as {"cache_prompt": False} to a llama.cpp server whose speed is measured. Other
    arguments go to `Connection` (base_url, timeout, retries, sleep, http_client).
    """

    def __init__(self, model: str, *, max_reply_tokens: int = 1024, fields: dict[str, Any] | None = None, **connection: Any):
        self.model = model
        self.max_reply_tokens = max_reply_tokens
        self.fields = fields
        self.connection = Connection(**connection)
        self._refused: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        return f"ChatClient({self.model!r} at {self.connection.endpoint})"

    def complete(
        self, messages: Messages, *, purpose: str, schema: dict | None = None, on_piece: Callable[[str], None] | None = None
    ) -> Call:
        """Return the reply to `messages` with its cost. `schema` asks for JSON of that form; `on_piece` gets pieces as they come.

        Raises ModelError when the endpoint fails.
        """
        if on_piece is not None:
            stream = self.stream(messages, purpose=purpose)
            for piece in stream:
                on_piece(piece)
            return stream.call
        started = time.perf_counter()
        response = self._send(messages, purpose, {"response_format": _response_format(purpose, schema)} if schema else {})
        choice = _first_choice(response)
        if choice is None:
            raise ModelError(f"{self.connection.endpoint} sent no choices: check that it speaks the chat completions API")
        reply = _capped("".join(without_key(_content(choice, "message"))), ended=_ended(choice))
        return self._call(purpose, messages, reply, getattr(response, "usage", None), started)

    def stream(self, messages: Messages, *, purpose: str) -> Stream:
        """Return the reply as a stream of pieces; nothing is sent before the first piece is asked for."""
        return Stream(self._pieces(messages, purpose))

    def _pieces(self, messages: Messages, purpose: str) -> Generator[str, None, Call]:
        import openai

        started = time.perf_counter()
        response = self._send(messages, purpose, {"stream_options": {"include_usage": True}}, stream=True)
        reply, held, usage, ended = "", "", None, ""
        try:
            for count, chunk in enumerate(response, 1):
                usage, choice = getattr(chunk, "usage", None) or usage, _first_choice(chunk)
                said, held = without_key(held + _content(choice, "delta"))  # the key may come in pieces
                ended = _ended(choice) or ended
                if ended:
                    said, held = said + held, ""
                piece = _capped(reply + said, ended=_ended(choice))[len(reply) :]
                reply += piece
                if piece:
                    yield piece
                if max(len(reply), count) > MAX_REPLY_CHARACTERS:
                    ended, held = "length", ""
                    break
        except Exception as error:
            if not isinstance(error, openai.OpenAIError | OSError | ValueError) and "httpx" not in type(error).__module__:
                raise
            raise ModelError(f"The answer broke off after {len(reply)} characters: {self.connection.failed(error)}") from None
        finally:
            response.close()
        if not (ended or usage):
            raise ModelError(
                f"The answer broke off after {len(reply)} characters: {self.connection.endpoint} ended the stream without saying "
                "so. Ask again; if it does so each time, check that it speaks the chat completions API."
            )
        if held:
            reply += held
            yield held
        return self._call(purpose, messages, reply, usage, started)

    def _send(self, messages: Messages, purpose: str, extra: dict[str, Any], **fixed: Any) -> Any:
        """Return the endpoint's response; parameters that it refuses are left out, and remembered once that helped."""
        limit = min(self.max_reply_tokens, REPLY_TOKENS.get(purpose, self.max_reply_tokens))
        optional = {"temperature": 0, "max_tokens": limit, **extra}
        refused = self._refused
        said = [{"role": role, "content": content} for role, content in messages]
        while True:
            given = {name: value for name, value in optional.items() if name not in refused}
            try:
                response = self.connection.ask(
                    lambda client, given=given: client.chat.completions.create(
                        model=self.model, messages=said, extra_body=self.fields, **given, **fixed
                    )
                )
            except Refused as error:
                named = _named(error.text, given)
                if not named:
                    raise
                refused |= named
            else:
                self._refused |= refused
                return response

    def _call(self, purpose: str, messages: Messages, reply: str, usage: Any, started: float) -> Call:
        seconds = time.perf_counter() - started
        counted = _counted(usage)
        if counted is None:
            prompt_tokens = sum(estimate_tokens(content) for _, content in messages)
            return Call(purpose, self.model, messages, reply, seconds, prompt_tokens, estimate_tokens(reply))
        return Call(purpose, self.model, messages, reply, seconds, *counted, estimated=False)


def _named(text: str, given: dict[str, Any]) -> frozenset[str]:
    """Return which of the optional parameters a refusal speaks of; where it names none, the form of the reply is suspected."""
    named = frozenset(name for name in given if name in text)
    return named or frozenset(given) & {"response_format"}


def _response_format(purpose: str, schema: dict) -> dict[str, Any]:
    name = "".join(letter if letter.isalnum() else "_" for letter in purpose)
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def _capped(reply: str, *, ended: str) -> str:
    """Return `reply` with a mark where the endpoint cut it, or where it is cut here."""
    if len(reply) <= MAX_REPLY_CHARACTERS:
        return reply + _CUT if reply and ended == "length" else reply
    return reply[:MAX_REPLY_CHARACTERS] + _CUT


# What an endpoint sends is not checked by its client: every field may be absent or of another type.


def _first_choice(response: Any) -> Any:
    choices = getattr(response, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


def _content(choice: Any, part: str) -> str:
    content = getattr(getattr(choice, part, None), "content", None)
    return content if isinstance(content, str) else ""


def _ended(choice: Any) -> str:
    return getattr(choice, "finish_reason", None) or ""


def _counted(usage: Any) -> tuple[int, int, int] | None:
    """Return the endpoint's count of prompt, reply and cached tokens, None where it sent none."""
    asked, written = getattr(usage, "prompt_tokens", None), getattr(usage, "completion_tokens", None) or 0
    cached = getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None) or 0
    return (asked, written, cached) if all(isinstance(number, int) for number in (asked, written, cached)) else None
