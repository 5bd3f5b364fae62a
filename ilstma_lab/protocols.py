"""The parts that one may replace. Each has one method; a class written in a notebook cell fits if it has that method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from ilstma_lab.memory.entry import SEARCHED_CHARACTERS, MemoryEntry
from ilstma_lab.memory.segments import ShortTermMemory
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.call import Call
from ilstma_lab.models.embedders import checked, unit
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.retrieval.recall import Chunk, Reading, Recall
from ilstma_lab.trace import Verdict

if TYPE_CHECKING:
    from ilstma_lab.evaluation.datasets import RecallQuestion
    from ilstma_lab.evaluation.grading import Grade


class Embedder(Protocol):
    """Turns texts into vectors. `name` and `dim` are stored with a table, so that other vectors are refused."""

    name: str
    dim: int

    def embed(self, texts: Sequence[str], kind: Literal["row", "query"]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dim); similarity is their cosine."""
        ...


@dataclass
class Query:
    """A question on its way through the steps; its vector is embedded once, when first needed."""

    text: str
    at: datetime
    embedder: Embedder

    @cached_property
    def vector(self) -> np.ndarray:
        """The question's vector of length 1 (or 0), shape (dim,). Raises ModelError where the embedder gives no numbers."""
        text = self.text[:SEARCHED_CHARACTERS]
        return unit(checked(self.embedder.embed([text], "query"), [text], self.embedder.dim))[0]


class HitJudge(Protocol):
    """Step 2: can short-term memory and general knowledge answer?"""

    def judge(self, query: Query, memory: ShortTermMemory) -> Verdict:
        """Return hit or miss, on a hit with the answer and the rows it used."""
        ...


class Reader(Protocol):
    """Branch A of step 6: names the one dialogue that holds the answer."""

    def read(self, query: Query, chunks: Sequence[Chunk]) -> Reading:
        """Return the index that the chunks' text leads to."""
        ...


class Retriever(Protocol):
    """Step 6."""

    def retrieve(self, question: str | Query, table: MemoryTable, *, now: datetime) -> Recall:
        """Return the recalled rows, best first, with all that was looked at."""
        ...


class Summarizer(Protocol):
    """Step 5: a group of five dialogues in short."""

    def summarize(self, dialogues: Sequence[MemoryEntry]) -> tuple[str, tuple[Call, ...]]:
        """Return the summary (one fact a line) and the calls that made it."""
        ...


class Merger(Protocol):
    """Step 5: the overlap update of Figure 5 of the ILSTMA paper."""

    def merge(self, old: str, new: str) -> tuple[str | None, tuple[Call, ...]]:
        """Return both in one, similar parts overwritten by the new; None where nothing is similar."""
        ...


class Profiler(Protocol):
    """Step 5: the user's personality."""

    def profile(self, personality: str, dialogues: Sequence[MemoryEntry]) -> tuple[str, tuple[Call, ...]]:
        """Return the personality, updated by what these dialogues show."""
        ...


@dataclass(frozen=True)
class PrefetchContext:
    """What a prefetcher may look at. `recalled` is best first; on a hit it is what the answer used.

    `row` is the row of the very turn that ends, None where it is not stored (yet): it is the table's last, and no news.
    """

    query: Query
    recalled: tuple[int, ...]
    table: MemoryTable
    now: datetime
    row: int | None = None


class Prefetcher(Protocol):
    """Step 7."""

    def select(self, context: PrefetchContext) -> Selection:
        """Return the rows that the cache shall hold next."""
        ...


class Responder(Protocol):
    """Step 9."""

    def answer(self, query: Query, memory: ShortTermMemory) -> str | Iterator[str]:
        """Return the answer, or yield its pieces as they come."""
        ...


class Strength(Protocol):
    """Memory strength S of a number of recalls (Eq. 2)."""

    def days(self, recall_times: np.ndarray) -> np.ndarray:
        """Return the strength in days, same shape as `recall_times` (each >= 1)."""
        ...


class Retention(Protocol):
    """Retention R after a time (Eq. 1)."""

    def at(self, interval_days: np.ndarray, strength_days: np.ndarray) -> np.ndarray:
        """Return the retention in [0, 1], shapes broadcast."""
        ...


class Grader(Protocol):
    """Says how right an answer is. `name` stands beside every figure that it gives."""

    name: str

    def grade(self, question: RecallQuestion, answer: str) -> Grade:
        """Return the grade of `answer`; its accuracy is None, with the reason, where it cannot be graded."""
        ...
