"""An embedding model behind any OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ilstma_lab.errors import EmbeddingMismatchError, ModelError
from ilstma_lab.models.connection import Connection
from ilstma_lab.models.embedders import in_pieces


class EndpointEmbedder:
    """Embeds `batch` pieces a request; a text beyond `piece_characters` is the normalised mean of its pieces.

    `name` is "model@host". The dimension is learnt at the first call (asking for `dim` before makes one). Other
    arguments go to `Connection`.
    """

    def __init__(self, model: str, *, batch: int = 64, piece_characters: int = 8_000, **connection: Any):
        self.model = model
        self.batch = batch
        self.piece_characters = piece_characters
        self.connection = Connection(**connection)
        self.name = f"{model}@{self.connection.host}"
        self._dim: int | None = None

    def __repr__(self) -> str:
        return f"EndpointEmbedder({self.name!r})"

    @property
    def dim(self) -> int:
        """The number of dimensions, as the endpoint gives them."""
        if self._dim is None:
            self._dim = self._ask(["dimension"]).shape[1]
        return self._dim

    def embed(self, texts: Sequence[str], kind: Literal["row", "query"]) -> np.ndarray:
        """Return float32 rows of length 1, shape (len(texts), dim); zeros for a blank text. Raises ModelError."""
        return in_pieces(texts, self._encode, dim=self.dim, size=self.piece_characters)

    def _encode(self, pieces: list[str]) -> np.ndarray:
        return np.concatenate([self._ask(pieces[i : i + self.batch]) for i in range(0, len(pieces), self.batch)])

    def _ask(self, pieces: list[str]) -> np.ndarray:
        try:
            response = self.connection.ask(lambda client: client.embeddings.create(model=self.model, input=pieces))
            items = sorted(response.data, key=lambda item: item.index or 0)
            rows = [np.asarray(item.embedding, dtype=np.float32) for item in items]
        except (AttributeError, TypeError, ValueError):  # its client checks nothing of what came
            raise ModelError(f"{self.name} sent no vectors: check that it is an embedding model") from None
        if len(rows) != len(pieces):
            raise ModelError(f"{self.name} gave {len(rows)} vectors for {len(pieces)} texts: check that it is an embedding model")
        sizes = {row.size for row in rows}
        if len(sizes) != 1 or (self._dim is not None and sizes != {self._dim}):
            expected = self._dim or "one size"
            raise EmbeddingMismatchError(f"{self.name} gave vectors of {sorted(sizes)} dimensions where {expected} was expected")
        return np.stack(rows)
