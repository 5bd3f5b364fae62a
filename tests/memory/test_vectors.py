from __future__ import annotations

import json
import os
import pickle

import numpy as np
import pytest

from ilstma_lab.memory.vectors import read_vectors, write_vectors
from ilstma_lab.models.embedders import HashedEmbedder
from tests.memory.kit import EMBEDDER, load, load_noted, saved, state

TEXTS = [f"text {n}" for n in range(40)]


class Counting(HashedEmbedder):
    """Counts the texts that it embeds."""

    def __init__(self):
        super().__init__(dim=64)
        self.texts = 0

    def embed(self, texts, kind):
        self.texts += len(texts)
        return super().embed(texts, kind)


def _written(path):
    vectors = EMBEDDER.embed(TEXTS, "row")
    assert write_vectors(path, EMBEDDER, TEXTS, vectors)
    return vectors


def test_vectors_come_back_by_text_whatever_the_order(tmp_path):
    vectors = _written(tmp_path / "v.npy")
    wanted = [TEXTS[7], "unknown", TEXTS[3], TEXTS[7]]
    found = dict(read_vectors(tmp_path / "v.npy", EMBEDDER, wanted))
    assert sorted(found) == [0, 2, 3]
    for at, number in ((0, 7), (2, 3), (3, 7)):
        assert np.array_equal(found[at], vectors[number])


def test_the_file_is_plain_npy_without_pickle(tmp_path):
    _written(tmp_path / "v.npy")
    array = np.load(tmp_path / "v.npy", allow_pickle=False)
    assert array["vector"].shape == (40, 64)


def test_vectors_of_another_embedder_are_not_taken(tmp_path):
    _written(tmp_path / "v.npy")
    other = HashedEmbedder(dim=64)
    other.name = "other"
    assert list(read_vectors(tmp_path / "v.npy", other, TEXTS)) == []
    assert list(read_vectors(tmp_path / "v.npy", HashedEmbedder(dim=32), TEXTS)) == []


@pytest.mark.parametrize("seed", range(30))
def test_a9_a_garbled_cache_gives_right_vectors_or_none(tmp_path, seed):
    vectors = _written(tmp_path / "v.npy")
    data = bytearray((tmp_path / "v.npy").read_bytes())
    dice = np.random.default_rng(seed)
    start = int(dice.integers(0, len(data)))
    stop = min(len(data), start + int(dice.integers(1, 3000)))
    garble = [bytes(stop - start), dice.bytes(stop - start), b""][seed % 3]
    data[start:stop] = garble
    (tmp_path / "v.npy").write_bytes(data)
    for at, vector in read_vectors(tmp_path / "v.npy", EMBEDDER, TEXTS):
        assert np.allclose(vector, vectors[at], atol=0.05)


@pytest.mark.parametrize("count", [10**15, -3, 0])
def test_a9_a_header_that_lies_about_the_count_ends(tmp_path, count):
    _written(tmp_path / "v.npy")
    data = (tmp_path / "v.npy").read_bytes()
    old = b"'shape': (40,), }"
    assert old in data
    new = f"'shape': ({count},), }}".encode()
    (tmp_path / "v.npy").write_bytes(data.replace(old + b" " * max(0, len(new) - len(old)), new.ljust(len(old)), 1))
    assert len(list(read_vectors(tmp_path / "v.npy", EMBEDDER, TEXTS))) in (0, 40)


@pytest.mark.parametrize("how", ["lost", "empty", "cut", "noise", "folder", "pickle"])
def test_a9_g8_a_lost_or_garbled_cache_is_made_again_from_the_table(tmp_path, how):
    path = tmp_path / "t.json"
    saved(path).close()
    cache = tmp_path / "t.json.vectors.npy"
    data = cache.read_bytes()
    cache.unlink()
    if how == "folder":
        cache.mkdir()
    elif how != "lost":
        crafted = pickle.dumps(Boom())
        cache.write_bytes({"empty": b"", "cut": data[: len(data) // 2], "noise": os.urandom(500), "pickle": crafted}[how])
    embedder = Counting()
    table = load(path, embedder=embedder)
    assert not table.pending.any()
    assert embedder.texts in ((5,) if how != "cut" else (3, 4))
    assert state(table)
    if how != "folder":
        table.save()
        embedder.texts = 0
        assert not load(path, embedder=embedder).pending.any()
        assert embedder.texts == 0


class Boom:
    def __reduce__(self):
        return (os.abort, ())


def test_g8_a_crafted_pickle_is_no_table(tmp_path):
    path = tmp_path / "t.json"
    path.write_bytes(pickle.dumps(Boom()))
    with pytest.raises(ValueError, match=r"t\.json is not (UTF-8|whole)"):
        load(path)


def test_the_cache_saves_embedding_again(tmp_path):
    saved(tmp_path / "t.json").close()
    embedder = Counting()
    load(tmp_path / "t.json", embedder=embedder)
    assert embedder.texts == 0


def test_the_self_contained_form_round_trips(tmp_path):
    table = saved(tmp_path / "t.json")
    table.save(tmp_path / "alone.json", vectors=True)
    for file in list(tmp_path.iterdir()):
        if file.name != "alone.json":
            file.unlink() if file.is_file() else None
    rows = json.loads((tmp_path / "alone.json").read_text("utf-8"))["entries"]
    assert len(rows[0]["vector"]) == 344  # 64 float32 in base64
    embedder = Counting()
    again = load(tmp_path / "alone.json", embedder=embedder)
    assert embedder.texts == 0
    assert np.allclose(again.vectors, table.vectors, atol=1e-6)
    assert state(again) == state(table)


@pytest.mark.parametrize("bad", ["", "not base64!", "AAAA", None, 5, np.full(64, np.nan, "<f4")])
def test_a17_a_bad_stored_vector_is_embedded_again_and_noted(tmp_path, bad):
    import base64

    path = tmp_path / "t.json"
    saved(path).save(vectors=True)
    document = json.loads(path.read_text("utf-8"))
    document["entries"][1]["vector"] = base64.b64encode(bad.tobytes()).decode() if isinstance(bad, np.ndarray) else bad
    path.write_text(json.dumps(document), encoding="utf-8")
    table, notes = load_noted(path)
    assert "row 1: its vector is damaged" in notes
    assert not table.pending.any()
    assert state(table)


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "v.npy").mkdir()
    assert not write_vectors(tmp_path / "v.npy", EMBEDDER, TEXTS, EMBEDDER.embed(TEXTS, "row"))
    assert not (tmp_path / "v.npy.tmp").exists()
