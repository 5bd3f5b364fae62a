"""Scripted parts: what a test says of a question is what judge, reader and responder say, with no model and no network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ilstma_lab import ILSTMA, Config, Dialogue, ManualClock, MemoryTable
from ilstma_lab.models import Models
from ilstma_lab.models.call import Call
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.retrieval.recall import Reading
from ilstma_lab.trace import Verdict

DAY_0 = datetime(2023, 5, 1, 9, tzinfo=UTC)
MISS = Verdict(False, reason="scripted miss")
UNREAD = Reading(None)
THINGS = (
    "guesthouse harbour seagulls",
    "bakery sourdough rye",
    "violin lessons tuesday",
    "passport renewal office",
    "garden tomatoes slugs",
    "bicycle brakes repair",
    "astronomy telescope saturn",
    "dentist appointment molar",
    "novel lighthouse keeper",
    "swimming pool lanes",
    "chess opening gambit",
    "umbrella forgotten train",
)


def said(number: int) -> Dialogue:
    """Dialogue `number`, told on day `number`; its words are shared with no other."""
    thing = THINGS[number % len(THINGS)] + (f" edition{number}" if number >= len(THINGS) else "")
    return Dialogue(f"{thing}.", f"noted {thing}!", DAY_0 + timedelta(days=number), f"day{number}")


def asking(number: int) -> str:
    """A question whose words lead to dialogue `number`."""
    return f"{THINGS[number]}?"


def table_of(rows: int, *, dim: int = 64) -> MemoryTable:
    return MemoryTable.from_dialogues([said(n) for n in range(rows)], embedder=HashedEmbedder(dim=dim), topic="stub")


class Scripted:
    """Says `default`, or what `script` holds for the question; an exception is raised, a function called with the arguments."""

    def __init__(self, default: Any, script: Mapping[str, Any] | None = None):
        self.default, self.script, self.asked = default, dict(script or {}), []

    def _say(self, question: str, *arguments: Any) -> Any:
        self.asked.append(question)
        said = self.script.get(question, self.default)
        if isinstance(said, BaseException):
            raise said
        return said(*arguments) if callable(said) else said


class StubJudge(Scripted):
    def __init__(self, script: Mapping[str, Any] | None = None, default: Any = MISS):
        super().__init__(default, script)

    def judge(self, query, memory) -> Verdict:
        return self._say(query.text, query, memory)


class StubReader(Scripted):
    def __init__(self, script: Mapping[str, Any] | None = None, default: Any = UNREAD):
        super().__init__(default, script)

    def read(self, query, chunks) -> Reading:
        return self._say(query.text, query, chunks)


class StubResponder(Scripted):
    def __init__(self, script: Mapping[str, Any] | None = None, default: Any = "I see."):
        super().__init__(default, script)

    def answer(self, query, memory):
        return self._say(query.text, query, memory)


def quoting(query, memory) -> str:
    """An answer that repeats the best relevant row."""
    return memory.relevant[0].text if memory.relevant else "I do not remember."


class StubSummarizer:
    def __init__(self, text: Callable[[Sequence], str] = lambda rows: "rows " + " ".join(row.user for row in rows)):
        self.text, self.groups = text, []

    def summarize(self, dialogues):
        self.groups.append(tuple(row.index for row in dialogues))
        return self.text(dialogues), (Call("summarise", "stub", (("user", "summarise"),), "a summary"),)


class StubMerger:
    def __init__(self, merged: str | None = None):
        self.merged, self.pairs = merged, []

    def merge(self, old, new):
        self.pairs.append((old, new))
        return self.merged, ()


class StubProfiler:
    def __init__(self, text: str | None = None):
        self.text, self.calls = text, 0

    def profile(self, personality, dialogues):
        self.calls += 1
        return (self.text if self.text is not None else personality), ()


def stub_models(**parts: Any) -> Models:
    named = {
        "name": "stub",
        "embedder": HashedEmbedder(dim=64),
        "judge": StubJudge(),
        "reader": StubReader(),
        "responder": StubResponder(),
        "summarizer": StubSummarizer(),
        "merger": StubMerger(),
        "profiler": StubProfiler(),
    }
    return Models(**{**named, **parts})


def stub_lab(table: MemoryTable | int = 8, config: Config | None = None, **options: Any) -> ILSTMA:
    """A lab over a table, or over one of so many rows; `options` are parts of the lab, or of its models."""
    table = table_of(table) if isinstance(table, int) else table
    own = {name: options.pop(name) for name in ("clock", "retriever", "prefetcher") if name in options}
    return ILSTMA(table, config, models=stub_models(**options), **{"clock": ManualClock.after(table), **own})
