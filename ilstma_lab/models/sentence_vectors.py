"""Vectors of the sentences of a text, remembered: rows come back turn after turn, and their sentences with them."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.memory.entry import SEARCHED_CHARACTERS
from ilstma_lab.models.embedders import checked, unit
from ilstma_lab.models.sentences import sentences

if TYPE_CHECKING:
    from ilstma_lab.protocols import Embedder


class SentenceVectors:
    """Remembers up to `capacity` texts, the least used one forgotten first. Safe to share between threads."""

    def __init__(self, capacity: int = 1024):
        self.capacity = capacity
        self._known: OrderedDict[tuple[str, str], tuple[list[str], np.ndarray]] = OrderedDict()
        self._lock = Lock()

    def of(self, text: str, embedder: Embedder) -> tuple[list[str], np.ndarray]:
        """Return the sentences of `text` and their vectors of length 1, float32, shape (n_sentences, dim)."""
        key = (embedder.name, text)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        parts = sentences(text[:SEARCHED_CHARACTERS])
        vectors = np.zeros((0, embedder.dim), np.float32)
        if parts:
            vectors = unit(checked(embedder.embed(parts, "row"), parts, embedder.dim))
        with self._lock:
            self._known[key] = parts, vectors
            while len(self._known) > self.capacity:
                self._known.popitem(last=False)
        return parts, vectors

    def clear(self) -> None:
        """Forget all texts."""
        with self._lock:
            self._known.clear()

    def nearest(self, text: str, vector: np.ndarray, embedder: Embedder) -> tuple[str, float]:
        """Return the sentence of `text` nearest to `vector` (shape (dim,)) and its cosine; ("", 0.0) for a blank text."""
        parts, vectors = self.of(text, embedder)
        if not parts:
            return "", 0.0
        cosines = vectors @ vector  # (n_sentences,)
        best = int(np.argmax(cosines))
        return parts[best], float(cosines[best])
