"""Branch B: every dialogue's similarity to the question; the best two are candidates (ILSTMA, section 3.4)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.sentences import words
from ilstma_lab.protocols import Query
from ilstma_lab.retrieval.recall import BranchB, Candidate
from ilstma_lab.retrieval.top import top_k

_PREVIEW = 160


@dataclass(frozen=True, kw_only=True)
class DialogueSettings:
    """How branch B ranks: the best `winners` are candidates.

    `echoes`: an asked row whose cited rows are still there repeats what they hold; "behind" keeps it out of the winners,
    "as_rows" treats it like any other row (the paper does not tell them apart). `keep`: how many candidates the trace keeps,
    None for all. `join_index`: encode "[index] text", as section 3.4 prints it.

    Paper note: an index joined before encoding leaks into the similarity, so by default rows are encoded without.
    A row that still waits for its vector is ranked by the share of the question's words that it holds.
    """

    winners: int = 2
    keep: int | None = 20
    echoes: Literal["behind", "as_rows"] = "behind"
    join_index: bool = False

    def __post_init__(self) -> None:
        if self.winners < 1 or (self.keep is not None and self.keep < self.winners):
            raise InputError(f"need winners >= 1 and keep >= winners (got {self.winners}, {self.keep})")


class DialogueSearch:
    """Cosine between the question and each dialogue, searched in the table's own array."""

    def __init__(self, settings: DialogueSettings):
        self.settings = settings
        self._joined = JoinedVectors()

    def search(self, query: Query, table: MemoryTable) -> BranchB:
        """Return the candidates, best first, with every score; the winners are marked."""
        begun = time.perf_counter()
        scores, error = self._scores(query, table)
        limit = len(table) if self.settings.keep is None else min(self.settings.keep, len(table))
        while True:
            candidates = self._candidates(top_k(scores, limit), scores, table, by_words=bool(error))
            if limit >= len(table) or sum(c.won for c in candidates) == self.settings.winners:
                break
            limit = min(2 * limit, len(table))
        return BranchB(candidates, time.perf_counter() - begun, error)

    def _scores(self, query: Query, table: MemoryTable) -> tuple[np.ndarray, str]:
        try:
            vectors = self._joined.of(table) if self.settings.join_index else table.vectors
            scores = vectors @ query.vector  # (n_rows,)
        except Exception as error:
            return word_shares(query.text, table, np.arange(len(table))), f"ranked by words: {type(error).__name__}: {error}"
        waiting = np.flatnonzero(table.pending)
        if len(waiting):
            scores[waiting] = word_shares(query.text, table, waiting)
        return scores, ""

    def _candidates(self, best: np.ndarray, scores: np.ndarray, table: MemoryTable, *, by_words: bool) -> tuple[Candidate, ...]:
        found, won = [], 0
        for rank, at in enumerate(best):
            index = int(table.indices[at])
            kind, echo_of = table.kind_of(at), ()
            if kind == "asked" and self.settings.echoes == "behind":
                echo_of = tuple(row for row in table.cites(index) if row in table)
            wins = not echo_of and won < self.settings.winners
            won += wins
            score = float(scores[at])
            name = "words" if by_words or table.pending[at] else "cosine"
            found.append(Candidate(index, rank, score, {name: score}, wins, kind, echo_of, table.preview(at, _PREVIEW)))
        return tuple(found)


def word_shares(question: str, table: MemoryTable, positions: np.ndarray) -> np.ndarray:
    """Return for each of `positions` the share of the question's words that the row's text holds, in [0, 1]."""
    wanted = set(words(question))
    if not wanted:
        return np.zeros(len(positions))
    return np.array([len(wanted & set(words(table.text(at)))) / len(wanted) for at in positions])


class JoinedVectors:
    """Vectors of "[index] text" for each row, kept up with a table's changes."""

    def __init__(self) -> None:
        self._vectors: dict[int, np.ndarray] = {}
        self._seen = 0
        self._table: MemoryTable | None = None

    def of(self, table: MemoryTable) -> np.ndarray:
        """Return the matrix for `table`, shape (n_rows, dim); rows that changed are embedded again."""
        if self._table is not table:
            self._vectors, self._seen, self._table = {}, 0, table
        for index in table.changes[self._seen :]:
            self._vectors.pop(index, None)
        self._seen = len(table.changes)
        missing = [int(i) for i in table.indices if int(i) not in self._vectors]
        if missing:
            fresh = table.embed([f"[{i}] {table.text(table.position(i))}" for i in missing])
            self._vectors.update(zip(missing, fresh, strict=True))
        if not len(table):
            return np.zeros((0, table.embedder.dim), np.float32)
        return np.stack([self._vectors[int(i)] for i in table.indices])
