"""Vectors of texts made from each row, such as its sentences, kept up with a table's changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ilstma_lab.memory.table import MemoryTable


class RowVectors:
    """For each row the vectors of the texts that `texts_of(index, text)` makes of it; rows that changed are embedded again."""

    def __init__(self, texts_of: Callable[[int, str], Sequence[str]]):
        self.texts_of = texts_of
        self._vectors: dict[int, np.ndarray] = {}
        self._stacked = np.empty((0, 0), np.float32)
        self._starts = np.empty(0, np.int64)
        self._table: MemoryTable | None = None
        self._seen = 0

    def best(self, vector: np.ndarray, table: MemoryTable) -> np.ndarray:
        """Return for each row the highest cosine between `vector` (dim,) and its texts, shape (n_rows,)."""
        self._update(table)
        if not len(table):
            return np.zeros(0, np.float32)
        return np.maximum.reduceat(self._stacked @ vector, self._starts)

    def _update(self, table: MemoryTable) -> None:
        if self._table is not table:
            self._vectors, self._seen, self._table = {}, 0, table
        changed = table.changes[self._seen :]
        self._seen = len(table.changes)
        if not changed:
            return
        for index in changed:
            self._vectors.pop(index, None)
        texts = {
            i: list(self.texts_of(i, table.text(at))) or [""]
            for at, i in enumerate(table.indices.tolist())
            if i not in self._vectors
        }
        fresh = iter(table.embed([text for several in texts.values() for text in several]))
        for index, several in texts.items():
            self._vectors[index] = np.stack([next(fresh) for _ in several])
        blocks = [self._vectors[index] for index in table.indices.tolist()]
        if blocks:
            self._stacked = np.concatenate(blocks)
            self._starts = np.cumsum([0, *map(len, blocks)])[:-1]
