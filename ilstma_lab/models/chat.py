"""A chat model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Any

from ilstma_lab.errors import ModelError
from ilstma_lab.models.call import Call
from ilstma_lab.models.connection import Connection, Refused
from ilstma_lab.models.prompts.messages import REPLY_TOKENS, Messages
from ilstma_lab.models.stream import Stream
from ilstma_lab.tokens import estimate_tokens

MAX_REPLY_CHARACTERS = 20_000
_CUT = " […]"


class ChatClient:
    """Sends prompts at temperature 0. Replies are cut at `max_reply_tokens` by the endpoint, and at 20,000 characters here.

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
        if not getattr(response, "choices", None):
            raise ModelError(f"{self.connection.endpoint} sent no choices: check that it speaks the chat completions API")
        reply = _capped(response.choices[0].message.content or "")
        return self._call(purpose, messages, reply, response.usage, started)

    def stream(self, messages: Messages, *, purpose: str) -> Stream:
        """Return the reply as a stream of pieces; nothing is sent before the first piece is asked for."""
        return Stream(self._pieces(messages, purpose))

    def _pieces(self, messages: Messages, purpose: str) -> Generator[str, None, Call]:
        import openai

        started = time.perf_counter()
        response = self._send(messages, purpose, {"stream_options": {"include_usage": True}}, stream=True)
        reply, usage = "", None
        try:
            for chunk in response:
                usage = chunk.usage or usage
                piece = (chunk.choices[0].delta.content or "") if chunk.choices else ""
                if len(reply) + len(piece) > MAX_REPLY_CHARACTERS:
                    piece = piece[: MAX_REPLY_CHARACTERS - len(reply)] + _CUT
                reply += piece
                if piece:
                    yield piece
                if len(reply) > MAX_REPLY_CHARACTERS:
                    break
        except Exception as error:
            if not isinstance(error, openai.OpenAIError | OSError) and "httpx" not in type(error).__module__:
                raise
            raise ModelError(f"The answer broke off after {len(reply)} characters: {self.connection.failed(error)}") from None
        finally:
            response.close()
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
        if usage is None or usage.prompt_tokens is None:
            prompt_tokens = sum(estimate_tokens(content) for _, content in messages)
            return Call(purpose, self.model, messages, reply, seconds, prompt_tokens, estimate_tokens(reply))
        cached = getattr(usage.prompt_tokens_details, "cached_tokens", None) or 0
        counted = (usage.prompt_tokens, usage.completion_tokens or 0, cached)
        return Call(purpose, self.model, messages, reply, seconds, *counted, estimated=False)


def _named(text: str, given: dict[str, Any]) -> frozenset[str]:
    """Return which of the optional parameters a refusal speaks of; where it names none, the form of the reply is suspected."""
    named = frozenset(name for name in given if name in text)
    return named or frozenset(given) & {"response_format"}


def _response_format(purpose: str, schema: dict) -> dict[str, Any]:
    name = "".join(letter if letter.isalnum() else "_" for letter in purpose)
    return {"type": "json_schema", "json_schema": {"name": name, "strict": True, "schema": schema}}


def _capped(reply: str) -> str:
    return reply if len(reply) <= MAX_REPLY_CHARACTERS else reply[:MAX_REPLY_CHARACTERS] + _CUT
