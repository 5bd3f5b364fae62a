"""Models that return at once and vectors that are ready, so that what is left is the kit's own work."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from ilstma_lab import Dialogue, MemoryTable
from ilstma_lab.models import Models
from ilstma_lab.retrieval.recall import Reading
from ilstma_lab.trace import Verdict

DIM = 512
START = datetime(2024, 1, 1, tzinfo=UTC)
SUMMARIES = 200  # groups of five at 1,000 rows; at more, sets that were merged
_POOL = 4096
_EMOJI_EVERY = 10  # Python keeps a text with one emoji in four bytes a character
_USER = "On our walk along the old harbour I told Mira about the wooden boat, the tide tables and plan number {}."
_ASSISTANT = (
    "That sounds like a good day. You wanted to sand the hull in April, ask the yard for a berth, and call Mira about plan {}."
)


class ReadyVectors:
    """An embedder whose vectors are computed beforehand; a text's checksum chooses one of 4,096."""

    def __init__(self, dim: int = DIM):
        self.name, self.dim = f"ready-{dim}", dim
        pool = np.random.default_rng(0).standard_normal((_POOL, dim), dtype=np.float32)
        self._pool = pool / np.linalg.norm(pool, axis=1, keepdims=True)

    def embed(self, texts: Sequence[str], kind: str) -> np.ndarray:
        return self._pool[[zlib.crc32(text.encode()) % _POOL for text in texts]]


class ReadyModels:
    """Judge, reader, responder, summarizer, merger and profiler in one. `hits` tells what the judge will say."""

    hits = False

    def judge(self, query, memory) -> Verdict:
        return Verdict(self.hits, answer(0), tuple(row.index for row in memory.cache_scores[:1]))

    def read(self, query, chunks) -> Reading:
        return Reading(chunks[0].rows[0])

    def answer(self, query, memory) -> str:
        return answer(1)

    def summarize(self, dialogues) -> tuple[str, tuple]:
        return "\n".join(row.user for row in dialogues), ()

    def merge(self, old: str, new: str) -> tuple[None, tuple]:
        return None, ()

    def profile(self, personality: str, dialogues) -> tuple[str, tuple]:
        return f"Likes boats, most of all plan {dialogues[-1].index}.", ()


def models(embedder: ReadyVectors) -> tuple[Models, ReadyModels]:
    """Return the stubs as the engine takes them, and the judge to be told what to say."""
    all_in_one = ReadyModels()
    return Models("ready", embedder, *[all_in_one] * 6), all_in_one


def question(number: int) -> str:
    """Return a question of about 100 characters, like no other."""
    return _USER.format(number)


def answer(number: int) -> str:
    """Return an answer of about 130 characters."""
    return _ASSISTANT.format(number)


def dialogues(rows: int) -> Iterator[Dialogue]:
    """Yield dialogues of about 250 characters, a minute apart, one in ten with an emoji."""
    for number in range(rows):
        at = START + timedelta(minutes=number)
        reply = answer(number) if number % _EMOJI_EVERY else f"{answer(number)} 🙂"
        yield Dialogue(f"{question(number)} Day {number}.", reply, at, f"{at:%Y-%m-%d}#{number}")


def table(rows: int, *, dim: int = DIM) -> MemoryTable:
    """Return a table of `rows` such dialogues, in memory; all stand in one of 200 summaries and in the personality."""
    made = MemoryTable.from_dialogues(dialogues(rows), embedder=ReadyVectors(dim), topic="bench")
    for group in np.array_split(made.indices, SUMMARIES):
        made.set_summary(question(int(group[0])), group.tolist(), START)
        made.set_personality("", group.tolist())
    return made
