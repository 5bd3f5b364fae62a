"""Branch A's index: the global text "[index] dialogue" in order, cut into chunks, searched with FAISS."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.memory.entry import SEARCHED_CHARACTERS
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.memory.vectors import read_vectors, write_vectors
from ilstma_lab.models.prompts.fence import hang, set_off
from ilstma_lab.retrieval.recall import Chunk
from ilstma_lab.retrieval.top import top_k

_WORTH_KEEPING = 64


@dataclass(frozen=True, kw_only=True)
class ChunkShape:
    """How the global text is cut: into blocks of `block_rows` rows by index, and those into chunks of characters with an overlap.

    Blocks are fixed, so that an edited row only makes its own block new.
    """

    block_rows: int = 16
    characters: int = 700
    overlap: int = 120

    def __post_init__(self) -> None:
        if self.block_rows < 1 or not 0 <= self.overlap < self.characters:
            raise InputError("need block_rows >= 1 and 0 <= overlap < characters")


class _Piece(NamedTuple):
    """Where a chunk stands in its block; `rows` that it overlaps, and how many characters of the block precede them."""

    block: int
    start: int
    stop: int
    rows: tuple[int, ...]
    skipped: int
    mark: int


class ChunkIndex:
    """Chunks of one table's global text with their vectors; brought up to date with the table's changes before each search."""

    def __init__(self, shape: ChunkShape):
        self.shape = shape
        self._pieces: list[_Piece] = []
        self._vectors = np.empty((0, 0), np.float32)
        self._seen = 0
        self._embedder = ""

    def prepare(self, table: MemoryTable) -> int:
        """Bring the index up to date with `table` and return the number of its chunks."""
        self._update(table)
        return len(self._pieces)

    def search(self, vector: np.ndarray, table: MemoryTable, *, k: int, shown: int) -> tuple[Chunk, ...]:
        """Return the `k` chunks nearest to `vector` (dim,) by cosine, best first; the first `shown` with their text."""
        self._update(table)
        found, scores = nearest(vector, self._vectors[: len(self._pieces)], k)
        chunks = []
        for number, score in zip(found.tolist(), scores.tolist(), strict=True):
            piece = self._pieces[number]
            chunks.append(Chunk(number, piece.rows, self._text(piece, table) if len(chunks) < shown else "", score))
        return tuple(chunks)

    def copy(self) -> ChunkIndex:
        """Return an index of the same content for a fork of the table."""
        other = ChunkIndex(self.shape)
        other._pieces, other._vectors, other._seen = list(self._pieces), self._vectors.copy(), self._seen
        other._embedder = self._embedder
        return other

    def _update(self, table: MemoryTable) -> None:
        if self._embedder != table.embedder.name or self._vectors.shape[1] != table.embedder.dim:
            self._embedder = table.embedder.name
            self._pieces, self._vectors, self._seen = [], np.empty((0, table.embedder.dim), np.float32), 0
        changed = {index // self.shape.block_rows for index in table.changes[self._seen :]}
        if not changed:
            return
        first = bisect_left(self._pieces, min(changed), key=lambda piece: piece.block)
        old = list(zip(self._pieces[first:], self._vectors[first : len(self._pieces)].copy(), strict=True))
        known = {(piece.block, piece.mark): vector for piece, vector in old if piece.block in changed}
        tail = [pair for pair in old if pair[0].block not in changed]
        fresh = []
        for piece in (piece for block in sorted(changed) for piece in self._cut(block, table)):
            vector = known.get((piece.block, piece.mark))
            tail.append((piece, vector))
            if vector is None:
                fresh.append(piece)
        embedded = dict(zip(fresh, self._embed(fresh, table), strict=True))
        tail = [(piece, embedded[piece] if vector is None else vector) for piece, vector in tail]
        self._replace_tail(first, sorted(tail, key=lambda pair: pair[0][:2]))
        self._seen = len(table.changes)
        if table.path and len(fresh) >= _WORTH_KEEPING:
            texts = [self._text(piece, table) for piece in self._pieces]
            write_vectors(_cache_file(table), table.embedder, texts, self._vectors[: len(texts)])

    def _embed(self, pieces: list[_Piece], table: MemoryTable) -> np.ndarray:
        """Return the pieces' vectors, from the cache beside the table's file where it holds many of them."""
        vectors = np.zeros((len(pieces), table.embedder.dim), np.float32)
        texts = [self._text(piece, table) for piece in pieces]
        missing = set(range(len(pieces)))
        if table.path and len(pieces) >= _WORTH_KEEPING:
            for at, vector in read_vectors(_cache_file(table), table.embedder, texts):
                vectors[at] = vector
                missing.discard(at)
        if missing:
            order = sorted(missing)
            vectors[order] = table.embed([texts[at] for at in order])
        return vectors

    def _replace_tail(self, first: int, tail: list[tuple[_Piece, np.ndarray]]) -> None:
        size = first + len(tail)
        fresh = np.array([vector for _, vector in tail], np.float32).reshape(len(tail), self._vectors.shape[1])
        if size > len(self._vectors):
            room = np.empty((max(size, len(self._vectors) * 3 // 2), self._vectors.shape[1]), np.float32)
            room[:first] = self._vectors[:first]
            self._vectors = room
        self._vectors[first:size] = fresh
        self._pieces[first:] = [piece for piece, _ in tail]

    def _text(self, piece: _Piece, table: MemoryTable) -> str:
        text = "".join(_line(row, table.text(table.position(row))) for row in piece.rows)
        shown = text[piece.start - piece.skipped : piece.stop - piece.skipped]
        if piece.start == piece.skipped:
            return shown
        first, newline, others = shown.partition("\n")  # it begins inside a row: no mark of its own stands there
        return set_off(first) + newline + others

    def _block_text(self, block: int, table: MemoryTable) -> tuple[str, list[tuple[int, int, int]]]:
        """Return the block's text and, for each row in it, (index, start, stop)."""
        low, high = table.indices.searchsorted([block * self.shape.block_rows, (block + 1) * self.shape.block_rows])
        text, spans = "", []
        for at, index in enumerate(table.indices[low:high].tolist(), low):
            start = len(text)
            text += _line(index, table.text(at))
            spans.append((index, start, len(text)))
        return text, spans

    def _cut(self, block: int, table: MemoryTable) -> Iterator[_Piece]:
        text, spans = self._block_text(block, table)
        start = 0
        while start < len(text):
            stop = self._stop(text, start)
            inside = [span for span in spans if span[1] < stop and span[2] > start]
            yield _Piece(block, start, stop, tuple(row for row, _, _ in inside), inside[0][1], hash(text[start:stop]))
            if stop == len(text):
                return
            start = stop - self.shape.overlap

    def _stop(self, text: str, start: int) -> int:
        stop = start + self.shape.characters
        if stop >= len(text):
            return len(text)
        gap = text.rfind(" ", start + self.shape.overlap + 1, stop)
        return gap if gap > stop - self.shape.overlap else stop


def _line(index: int, text: str) -> str:
    return f"[{index}] {hang(text[:SEARCHED_CHARACTERS])}\n"


def _cache_file(table: MemoryTable) -> Path:
    return Path(f"{table.path}.chunks.npy")


def nearest(vector: np.ndarray, vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and cosines of the `k` rows of `vectors` (n, dim) nearest to `vector` (dim,), best first.

    FAISS searches the array itself, so there is no second index that could fall out of step. Where faiss cannot be
    imported numpy finds the same.
    """
    k = min(k, len(vectors))
    if k == 0:
        return np.empty(0, np.int64), np.empty(0, np.float32)
    try:
        import faiss
    except ImportError:
        scores = vectors @ vector
        best = top_k(scores, k)
        return best, scores[best]
    scores, found = faiss.knn(vector[None], vectors, k, metric=faiss.METRIC_INNER_PRODUCT)
    return found[0], scores[0]


def search_engine() -> str:
    """Return what searches the chunks here: "faiss", or "numpy" where faiss cannot be imported."""
    try:
        import faiss  # noqa: F401
    except ImportError:
        return "numpy"
    return "faiss"
