"""The numbers of the global memory table as numpy columns that grow: one row, one position, in creation order."""

from __future__ import annotations

import numpy as np

from ilstma_lab.errors import InputError

TOLD, ASKED = 0, 1
_GROWTH = 1.5
_LEAST = 16


class Columns:
    """Arrays of one length: index, created and last_recall (microseconds), offset (minutes ahead of UTC), recall_times, kind,
    pending, vectors (n, dim).

    `index` only ever rises, so an index is found by bisection. Every vector has length 1, or 0 where the
    embedder gave zeros; a pending one is all zeros.
    Each is a view of the filled part of a longer array, renewed when that part or its array changes.
    """

    index: np.ndarray
    created: np.ndarray
    offset: np.ndarray
    last_recall: np.ndarray
    recall_times: np.ndarray
    kind: np.ndarray
    pending: np.ndarray
    vectors: np.ndarray

    def __init__(self, dim: int):
        self.size = 0
        self.dim = dim
        self._arrays = {
            "index": np.empty(0, np.int64),
            "created": np.empty(0, np.int64),
            "offset": np.empty(0, np.int16),
            "last_recall": np.empty(0, np.int64),
            "recall_times": np.empty(0, np.int32),
            "kind": np.empty(0, np.int8),
            "pending": np.empty(0, bool),
            "vectors": np.empty((0, dim), np.float32),
        }
        self._resize(0)

    def reserve(self, rows: int) -> None:
        """Make room for `rows` in all, at once."""
        if rows > len(self._arrays["index"]):
            self._grow(rows)

    def append(self, index: int, created: int, *, offset: int, kind: int) -> int:
        """Add a fresh row (one recall, recalled when created, embedding pending) and return its position."""
        if self.size and index <= self.index[-1]:
            raise InputError(f"index {index} is not above {int(self.index[-1])}: an index is never reused")
        if self.size == len(self._arrays["index"]):
            self.reserve(max(_LEAST, int(self.size * _GROWTH)))
        at = self.size
        self._resize(at + 1)
        self.index[at] = index
        self.created[at] = self.last_recall[at] = created
        self.offset[at] = offset
        self.recall_times[at] = 1
        self.kind[at] = kind
        self.set_vector(at, None)
        return at

    def set_vector(self, at: int, vector: np.ndarray | None) -> None:
        """Store the vector of the row at position `at`; None makes it pending."""
        self.pending[at] = vector is None
        self.vectors[at] = 0.0 if vector is None else vector

    def position(self, index: int) -> int | None:
        """Return where the row with `index` stands, or None."""
        if 0 <= index < self.size and self.index[index] == index:  # so long as no row was deleted
            return index
        at = int(self.index.searchsorted(index))
        return at if at < self.size and self.index[at] == index else None

    def delete(self, at: int) -> None:
        """Take out the row at position `at`; later rows move up by one."""
        for array in self._arrays.values():
            array[at : self.size - 1] = array[at + 1 : self.size]
        self._resize(self.size - 1)

    def reset_vectors(self, dim: int) -> None:
        """Drop all vectors and make room for those of another dimension; every row is pending."""
        self.dim = dim
        self._arrays["vectors"] = np.zeros((len(self._arrays["index"]), dim), np.float32)
        self._resize(self.size)
        self.pending[:] = True

    def copy(self) -> Columns:
        """Return columns of the same content that share nothing."""
        other = Columns(self.dim)
        other._arrays = {name: array[: self.size].copy() for name, array in self._arrays.items()}
        other._resize(self.size)
        return other

    def __getstate__(self) -> dict:
        return {"dim": self.dim, "size": self.size, "arrays": {name: array[: self.size] for name, array in self._arrays.items()}}

    def __setstate__(self, state: dict) -> None:
        self.dim, self._arrays = state["dim"], state["arrays"]
        self._resize(state["size"])

    def _grow(self, capacity: int) -> None:
        for name, old in self._arrays.items():
            new = np.empty((capacity, *old.shape[1:]), old.dtype)
            new[: self.size] = old[: self.size]
            self._arrays[name] = new
        self._resize(self.size)

    def _resize(self, size: int) -> None:
        self.size = size
        for name, array in self._arrays.items():
            setattr(self, name, array[:size])
