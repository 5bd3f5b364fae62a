"""Vectors of what is written of rows: each text is embedded once, when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ilstma_lab.memory.entry import is_blank
from ilstma_lab.memory.records import Summary


class SummaryVectors:
    """One vector a summary, by its number; a text that is new or changed waits until vectors are asked for."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._vectors = np.zeros((0, 0), np.float32)
        self._waiting: set[int] = set()

    def wait_for(self, number: int) -> None:
        """Note that the text of a summary is new or has changed."""
        self._places.setdefault(number, len(self._places))
        self._waiting.add(number)

    def forget(self) -> None:
        """Drop all vectors: the embedder changed."""
        self._vectors = np.zeros((0, 0), np.float32)
        self._waiting = set(self._places)

    def of(
        self,
        wanted: Sequence[int],
        summaries: Mapping[int, Summary],
        *,
        embed: Callable[[Sequence[str]], np.ndarray],
        dim: int,
    ) -> np.ndarray:
        """Return the vectors of the summaries with these numbers, shape (len(wanted), dim), of a blank text zeros."""
        self._grow(dim)
        for number in self._waiting:
            self._vectors[self._places[number]] = 0.0
        fresh = [number for number in self._waiting if not is_blank(summaries[number].text)]
        if fresh:
            self._vectors[[self._places[number] for number in fresh]] = embed([summaries[number].text for number in fresh])
        self._waiting = set()
        count = len(self._places)
        return self._vectors[:count] if len(wanted) == count else self._vectors[[self._places[number] for number in wanted]]

    def _grow(self, dim: int) -> None:
        count, known = len(self._places), self._vectors
        if len(known) < count or known.shape[1] != dim:
            self._vectors = np.zeros((count + count // 2, dim), np.float32)
            if known.size:
                self._vectors[: len(known)] = known

    def copy(self) -> SummaryVectors:
        """Return vectors of their own."""
        other = SummaryVectors()
        other._places, other._vectors, other._waiting = self._places.copy(), self._vectors.copy(), self._waiting.copy()
        return other
