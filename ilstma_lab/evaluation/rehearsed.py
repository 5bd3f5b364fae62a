"""An embedder that keeps the vectors of what is prepared, and forgets its notes while questions are asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal

import numpy as np

from ilstma_lab.protocols import Embedder


class Rehearsed:
    """Like `embedder`, but a text that was embedded before is not embedded again, except within `on_stage`.

    Several systems over one topic prepare the same texts; when they answer, each pays for every vector that it needs.
    """

    def __init__(self, embedder: Embedder):
        self.name, self.dim = embedder.name, embedder.dim
        self._embedder = embedder
        self._known: dict[tuple[str, str], np.ndarray] = {}
        self._on_stage = False

    def embed(self, texts: Sequence[str], kind: Literal["row", "query"]) -> np.ndarray:
        """Return float32 vectors of shape (len(texts), dim)."""
        if self._on_stage:
            return self._embedder.embed(texts, kind)
        fresh = [text for text in dict.fromkeys(texts) if (kind, text) not in self._known]
        if fresh:
            self._known.update(zip([(kind, text) for text in fresh], self._embedder.embed(fresh, kind), strict=True))
        return np.array([self._known[kind, text] for text in texts], np.float32).reshape(len(texts), self.dim)

    @contextmanager
    def on_stage(self) -> Iterator[None]:
        """Within this, nothing is remembered and nothing comes from memory."""
        self._on_stage = True
        try:
            yield
        finally:
            self._on_stage = False
