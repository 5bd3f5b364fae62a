"""A derived cache of vectors beside a table's snapshot, keyed by embedder and text: lose it, and the texts are embedded again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ilstma_lab.protocols import Embedder

_BLOCK = 16_384
_KEY_BYTES = 16


def _record(dim: int) -> np.dtype:
    return np.dtype([("key", f"V{_KEY_BYTES}"), ("vector", "<f4", (dim,))])


def _key(embedder: Embedder, text: str) -> bytes:
    return hashlib.blake2b(f"{embedder.name}\0{text}".encode(), digest_size=_KEY_BYTES).digest()


def write_vectors(path: Path, embedder: Embedder, texts: Sequence[str], vectors: np.ndarray) -> None:
    """Write key and vector of every text, in blocks, as one .npy file without pickle; `vectors` has shape (len(texts), dim)."""
    record = _record(embedder.dim)
    aside = path.with_name(path.name + ".tmp")
    with open(aside, "wb") as out:
        header = {"descr": np.lib.format.dtype_to_descr(record), "fortran_order": False, "shape": (len(texts),)}
        np.lib.format.write_array_header_1_0(out, header)
        for start in range(0, len(texts), _BLOCK):
            some = texts[start : start + _BLOCK]
            block = np.empty(len(some), record)
            block["key"] = np.array([_key(embedder, text) for text in some], f"V{_KEY_BYTES}")
            block["vector"] = vectors[start : start + len(some)]
            out.write(block.tobytes())
    os.replace(aside, path)


def read_vectors(path: Path, embedder: Embedder, texts: Sequence[str]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (position in `texts`, vector) for each text whose vector the file holds; a missing or foreign file holds none."""
    wanted: dict[bytes, list[int]] = {}
    for at, text in enumerate(texts):
        wanted.setdefault(_key(embedder, text), []).append(at)
    for block in _blocks(path, embedder.dim):
        for key, vector in zip(block["key"], block["vector"], strict=True):
            for at in wanted.pop(key.tobytes(), ()):
                yield at, vector


def _blocks(path: Path, dim: int) -> Iterator[np.ndarray]:
    try:
        file = open(path, "rb")
    except OSError:
        return
    with file:
        try:
            np.lib.format.read_magic(file)
            (count,), _, dtype = np.lib.format.read_array_header_1_0(file)
        except ValueError:
            return
        if dtype != _record(dim):
            return
        for start in range(0, count, _BLOCK):
            data = file.read(min(_BLOCK, count - start) * dtype.itemsize)
            block = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
            yield block[np.isfinite(block["vector"]).all(axis=1)]
