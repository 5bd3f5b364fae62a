"""Small stand-ins for what the models are given: a memory, a question, a chat model, an endpoint."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import httpx2

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.call import Call
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.models.prompts.fence import fence
from ilstma_lab.models.stream import Stream

KEY = "sk-test-0123456789abcdef"
EMBEDDER = HashedEmbedder(256)
AT = datetime(2023, 5, 10, 12, tzinfo=UTC)


@dataclass
class Asked:
    text: str
    at: datetime = AT
    embedder: object = EMBEDDER

    @property
    def vector(self):
        return self.embedder.embed([self.text], "query")[0]


@dataclass(frozen=True)
class HistoryTurn:
    user: str
    assistant: str
    at: datetime = AT
    row: int | None = None


@dataclass
class Memory:
    cache: tuple = ()
    relevant: tuple = ()
    history: tuple = ()
    summary: str = ""
    table: dict = field(default_factory=dict)

    @property
    def cache_shown(self):
        return self.cache

    def render(self, language="en", **_):
        rows = "\n".join(f"[{row.index}] {row.text}" for row in self.cache + self.relevant)
        return f"{fence('summary', self.summary)}\n{fence('cache', rows)}"


def row(index, user, assistant="", *, day=5, embedder=EMBEDDER, **more):
    at = datetime(2023, 4, day, 9, tzinfo=UTC)
    entry = MemoryEntry(index, at, at, 1, user, assistant, **more)
    return replace(entry, vector=embedder.embed([entry.text], "row")[0])


class Scripted:
    """A chat that gives these replies in turn, and keeps what it was asked."""

    model = "scripted"

    def __init__(self, *replies):
        self.replies = list(replies)
        self.asked = []

    def complete(self, messages, *, purpose, schema=None, on_piece=None):
        self.asked.append((purpose, messages))
        return Call(purpose, self.model, messages, self.replies.pop(0))

    def stream(self, messages, *, purpose):
        call = self.complete(messages, purpose=purpose)

        def pieces():
            for start in range(0, len(call.reply), 3):
                yield call.reply[start : start + 3]
            return call

        return Stream(pieces())


class Endpoint:
    """An endpoint without a network: each request is kept, and answered by the next of `answers` (the last one stays)."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []
        self.waits = []

    def client(self):
        return httpx2.Client(transport=httpx2.MockTransport(self._handle))

    def _handle(self, request):
        self.requests.append(json.loads(request.content))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        answer = answer(request) if callable(answer) else answer
        if isinstance(answer, Exception):
            raise answer
        return answer

    def options(self, **more):
        return {"base_url": "http://127.0.0.1:9/v1", "http_client": self.client(), "sleep": self.waits.append, **more}


def said(text, *, usage=True):
    counts = {"prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14, "prompt_tokens_details": {"cached_tokens": 8}}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return httpx2.Response(200, json={**body, **({"usage": counts} if usage else {})})


def refused(status, message, **headers):
    return httpx2.Response(
        status, json={"error": {"message": message}}, headers={k.replace("_", "-"): v for k, v in headers.items()}
    )


def streamed(*pieces, end=True):
    chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    lines = [json.dumps({**chunk, "choices": [{"index": 0, "delta": {"content": piece}}]}) for piece in pieces]
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    lines += [json.dumps({**chunk, "choices": [], "usage": usage}), "[DONE]"] if end else []
    body = "".join(f"data: {line}\n\n" for line in lines)
    return httpx2.Response(200, content=body.encode(), headers={"content-type": "text/event-stream"})
