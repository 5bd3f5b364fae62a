"""A derived cache of vectors beside a table's snapshot, keyed by embedder and text: lose it, and the texts are embedded again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from ilstma_lab.errors import FormatError
from ilstma_lab.memory.safely import replaced

if TYPE_CHECKING:
    from ilstma_lab.protocols import Embedder

MOST_DIMENSIONS = 8_192
_BLOCK = 2_048
_KEY_BYTES = 16


def _record(dim: int) -> np.dtype:
    return np.dtype([("key", f"V{_KEY_BYTES}"), ("vector", "<f4", (dim,))])


def _key(embedder: Embedder, text: str) -> bytes:
    return hashlib.blake2b(f"{embedder.name}\0{text}".encode(), digest_size=_KEY_BYTES).digest()


def write_vectors(path: Path, embedder: Embedder, texts: Sequence[str], vectors: np.ndarray) -> bool:
    """Write key and vector of every text, in blocks, as one .npy file without pickle; `vectors` has shape (len(texts), dim).

    Return whether that went well: where the disk is full or read-only, the texts will be embedded again, and nothing is lost.
    """
    record = _record(embedder.dim)
    header = {"descr": np.lib.format.dtype_to_descr(record), "fortran_order": False, "shape": (len(texts),)}
    try:
        with replaced(path) as out:
            np.lib.format.write_array_header_1_0(out, header)
            for start in range(0, len(texts), _BLOCK):
                some = texts[start : start + _BLOCK]
                block = np.empty(len(some), record)
                block["key"] = np.array([_key(embedder, text) for text in some], f"V{_KEY_BYTES}")
                block["vector"] = vectors[start : start + len(some)]
                out.write(block.tobytes())
    except OSError:
        return False
    return True


def read_vectors(path: Path, embedder: Embedder, texts: Sequence[str]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (position in `texts`, vector) for each text whose vector the file holds; a missing or foreign file holds none."""
    wanted: dict[bytes, list[int]] = {}
    for at, text in enumerate(texts):
        wanted.setdefault(_key(embedder, text), []).append(at)
    for block in _blocks(path, embedder.dim):
        block = block[_of_length_1(block["vector"])]
        for key, vector in zip(block["key"], block["vector"], strict=True):
            for at in wanted.pop(key.tobytes(), ()):
                yield at, vector


def look_at_vectors(path: Path) -> tuple[int, int, int]:
    """Return how many vectors the header of a cache promises, how many are there and whole, and their dimension.

    Raises FormatError where the file is no such cache, OSError where it cannot be opened.
    """
    with open(path, "rb") as file:
        header = _header(file)
    if header is None or not 0 < header[1] <= MOST_DIMENSIONS:
        raise FormatError(f"{path.name} is no cache of vectors")
    count, dim = header
    vectors = (block["vector"] for block in _blocks(path, dim))
    return count, sum(int((_of_length_1(some) | ~some.any(axis=1)).sum()) for some in vectors), dim


def _header(file: BinaryIO) -> tuple[int, int] | None:
    """Return the number of vectors and their dimension; None where the file is no such cache."""
    try:
        np.lib.format.read_magic(file)
        (count,), _, dtype = np.lib.format.read_array_header_1_0(file)
        (dim,) = dtype["vector"].shape
        return (int(count), int(dim)) if dtype == _record(dim) else None
    except Exception:  # a garbled header fails in numpy's parser, in many ways
        return None


def _blocks(path: Path, dim: int) -> Iterator[np.ndarray]:
    try:
        file = open(path, "rb")  # noqa: SIM115
    except OSError:
        return
    with file:
        header, dtype = _header(file), _record(dim)
        if header is None or header[1] != dim:
            return
        count = header[0]
        for start in range(0, count, _BLOCK):
            data = file.read(min(_BLOCK, count - start) * dtype.itemsize)
            block = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
            yield block
            if len(block) < min(_BLOCK, count - start):  # cut, whatever its header says
                return


def _of_length_1(vectors: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.abs(np.einsum("nd,nd->n", vectors, vectors) - 1.0) < 1e-3  # False for NaN: what was garbled is left out
