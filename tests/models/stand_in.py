"""Small stand-ins for what the models are given: a memory, a question, a chat model, an endpoint."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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
    notes: tuple = ()
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


# -- over real HTTP ----------------------------------------------------------------------------------------------------

GOOD = {
    "judge": '{"reasoning": "not in it", "answerable": false, "answer": "", "used": []}',
    "read": '{"reason": "none", "index": null}',
    "answer": "I see.",
    "summarise": "2023-05-05: five things were told.",
    "merge": '{"reasoning": "none", "similar": false, "merged": []}',
    "personality": "Speaks briefly.",
}


class HttpEndpoint(ThreadingHTTPServer):
    """An endpoint on this machine that misbehaves as it is told, and answers as in `GOOD` else.

    `plays[purpose]` are played one by one for the requests of that purpose ("judge", "read", "answer", "summarise", "merge",
    "personality", "embed"), the last one for ever: a text to reply, or a function `play(handler, request)` of this module.
    """

    daemon_threads, block_on_close = True, False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Plays)
        self.plays: dict[str, list] = {}
        self.asked: list[tuple[str, dict]] = []
        self.headers: list[str] = []
        self.over = threading.Event()

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def play(self, purpose, *plays):
        """Play these from now on; without any, behave."""
        self.plays[purpose] = list(plays)

    def handle_error(self, *_):
        """A client that hung up is no news."""

    @contextmanager
    def running(self):
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.over.set()
            self.shutdown()
            self.server_close()


class _Plays(BaseHTTPRequestHandler):
    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        purpose = _purpose(self.path, request)
        self.server.asked.append((purpose, request))
        self.server.headers.append(str(self.headers))
        plays = self.server.plays.get(purpose) or [GOOD.get(purpose, vectors_of())]
        play = plays.pop(0) if len(plays) > 1 else plays[0]
        (reply(play) if isinstance(play, str) else play)(self, request)

    def send(self, body, kind="application/json", *, status=200, length=None, **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length != "none":
            self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Keep the terminal quiet."""


def _purpose(path, request):
    if path.endswith("/embeddings"):
        return "embed"
    if "response_format" in request:
        return request["response_format"]["json_schema"]["name"]
    return (
        "answer" if request.get("stream") else "personality" if "portrait" in request["messages"][0]["content"] else "summarise"
    )


def reply(text, **more):
    """The text, whole or as a stream, with whatever a server says beside it."""

    def play(handler, request):
        answer = streamed(*[text[i : i + 4000] for i in range(0, len(text), 4000)]) if request.get("stream") else said(text)
        handler.send(answer.content, answer.headers["content-type"], **more)

    return play


def status(code, message="busy", **headers):
    """A refusal; `retry_after="7"` becomes that header."""
    return lambda handler, request: handler.send(json.dumps({"error": {"message": message}}).encode(), status=code, **headers)


def body(text, kind="application/json", *, length=None):
    """These very bytes; a `length` beyond them leaves the client waiting for the rest, which a closed connection never sends."""
    return lambda handler, request: handler.send(text.encode(), kind, length=length)


def silence(handler, request):
    """Nothing, until the test is over."""
    handler.server.over.wait(30)


def hang_up(handler, request):
    """A connection that ends before a word."""
    handler.connection.shutdown(socket.SHUT_RDWR)


def dropped(*pieces, stall=False):
    """A stream that ends after `pieces` without an end mark: with a closed connection, or (`stall`) with silence."""

    def play(handler, request):
        handler.send(streamed(*pieces, end=False).content, "text/event-stream", length="none")
        handler.wfile.flush()
        if stall:
            silence(handler, request)

    return play


def vectors_of(embedder=HashedEmbedder(64), *, change=lambda rows: rows):  # noqa: B008
    """The vectors of `embedder`, as `change` leaves them."""

    def play(handler, request):
        rows = change(embedder.embed(request["input"], "row").tolist())
        data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        handler.send(json.dumps({"object": "list", "model": "e", "data": data, "usage": usage}).encode())

    return play
