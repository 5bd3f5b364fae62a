"""A chat endpoint on this machine whose replies and latencies are scripted, and which notes when each request came and went."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "scripted"
ANSWER = "Scripted answer."
_READING = {"reason": "scripted", "index": None}


@dataclass(frozen=True, slots=True)
class Served:
    """One request as the endpoint saw it: what for ("judge", "read", "answer"), and when, in seconds of one clock."""

    purpose: str
    begun: float
    ended: float

    def overlaps(self, other: Served) -> bool:
        """Return whether both were being served at one moment."""
        return self.begun < other.ended and other.begun < self.ended


class LocalEndpoint(ThreadingHTTPServer):
    """Serves each request in a thread of its own, as an endpoint with room for several does.

    `hits(question)` tells whether the judge says yes; `waits[purpose]` are seconds, or a function that returns when the reply
    may go.
    """

    daemon_threads = True

    def __init__(self, *, hits: Callable[[str], bool], waits: Mapping[str, float | Callable[[], object]]):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hits, self.waits = hits, waits
        self.served: list[Served] = []

    @property
    def base_url(self) -> str:
        """The address that a client is given."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    @contextmanager
    def running(self) -> Iterator[LocalEndpoint]:
        """Serve until the block is left."""
        thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            thread.join()
            self.server_close()

    def reply(self, request: dict) -> str:
        """Return what is said to the request, after its latency."""
        begun = time.perf_counter()
        purpose = request["response_format"]["json_schema"]["name"] if "response_format" in request else "answer"
        wait = self.waits.get(purpose, 0.0)
        wait() if callable(wait) else time.sleep(wait)
        self.served.append(Served(purpose, begun, time.perf_counter()))
        if purpose == "answer":
            return ANSWER
        return json.dumps(_READING if purpose == "read" else self._verdict(request["messages"][-1]["content"]))

    def _verdict(self, prompt: str) -> dict:
        hit = self.hits(prompt.rpartition("<question>")[2])
        return {"reasoning": "scripted", "answerable": hit, "answer": ANSWER if hit else "", "used": []}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = self.server.reply(request)
        body, kind = (_streamed(text), "text/event-stream") if request.get("stream") else (_whole(text), "application/json")
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the terminal quiet."""


def _whole(text: str) -> bytes:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    head = {"id": "1", "object": "chat.completion", "created": 1, "model": MODEL}
    return json.dumps({**head, "choices": [choice], "usage": _USAGE}).encode()


def _streamed(text: str) -> bytes:
    head = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    chunks = [{**head, "choices": [{"index": 0, "delta": {"content": text}}]}, {**head, "choices": [], "usage": _USAGE}]
    return "".join(f"data: {line}\n\n" for line in [*map(json.dumps, chunks), "[DONE]"]).encode()


_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
