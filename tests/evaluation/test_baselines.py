"""BM25: the library as baseline, the formula written out, and our own index kept up row by row, against each other."""

from __future__ import annotations

import builtins
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab import Dialogue, MemoryTable
from ilstma_lab.evaluation.baselines import Bm25, MissingBaseline, plain_words
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.retrieval.words import WordIndex
from tests.stubs import DAY_0

WORDS = ["red", "kite", "oak", "boat", "soup", "桂花糕", "糕点", "船"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" and ".join)
EMBEDDER = HashedEmbedder(dim=8)


@pytest.fixture(scope="module", autouse=True)
def _libraries():
    pytest.importorskip("bm25s", reason="the BM25 baselines need bm25s (extra `evaluate`)")
    pytest.importorskip("Stemmer", reason="the stemmed baseline needs PyStemmer (extra `evaluate`)")


def written_out(texts: list[str], question: str) -> list[float]:
    rows = [plain_words(text) for text in texts]
    mean = sum(map(len, rows)) / len(rows)
    scores = []
    for row in rows:
        score = 0.0
        for word in plain_words(question):
            held = sum(word in other for other in rows)
            idf = math.log(1 + (len(rows) - held + 0.5) / (held + 0.5))
            count = row.count(word)
            score += idf * count / (count + 1.5 * (1 - 0.75 + 0.75 * len(row) / mean))
        scores.append(score)
    return scores


def test_plain_words_are_lower_case_runs_and_chinese_pairs():
    assert plain_words("Red-kite's 3.5 kg, 我爱桂花糕! 船") == [
        "red",
        "kite",
        "s",
        "3",
        "5",
        "kg",
        "我爱",
        "爱桂",
        "桂花",
        "花糕",
        "船",
    ]
    assert plain_words(" ?! ") == []


@given(st.lists(TEXTS, min_size=1, max_size=8), st.lists(st.sampled_from([*WORDS, "unheard"]), min_size=1, max_size=5))
def test_the_library_gives_the_formula(texts, asked):
    question = " ".join(asked)
    np.testing.assert_allclose(Bm25(texts).scores(question), written_out(texts, question), atol=1e-9)


def test_stemming_joins_endings_and_plain_words_do_not():
    texts = ["the boat is red", "we went kiting", "soup"]
    assert Bm25(texts, stemmed=True).scores("Do you kite boats?").tolist() > [0, 0, 0]
    assert not Bm25(texts).scores("Do you kite boats?").any()
    assert Bm25(texts, stemmed=True).ranked("kites")[0] == 1


def test_at_a_tie_the_later_text_comes_first_and_all_are_ranked():
    assert Bm25(["oak", "soup", "oak"]).ranked("oak") == [2, 0, 1]
    assert Bm25(["oak", "soup"]).ranked("?") == [1, 0]


@pytest.mark.parametrize(("missing", "stemmed"), [("bm25s", False), ("Stemmer", True)])
def test_a_missing_library_says_how_to_install_it(missing, stemmed, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name == missing:
            raise ImportError(f"No module named {missing!r}", name=missing)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingBaseline, match=rf"need {missing}: pip install 'ilstma-lab\[evaluate\]'"):
        Bm25(["oak"], stemmed=stemmed)


CHANGES = st.lists(st.tuples(st.sampled_from(["add", "edit", "delete"]), st.integers(0, 30), TEXTS), min_size=1, max_size=15)


@given(CHANGES, st.lists(st.sampled_from(WORDS), min_size=1, max_size=4, unique=True))
def test_the_index_kept_up_row_by_row_equals_one_built_anew(changes, asked):
    table, index = MemoryTable(embedder=EMBEDDER), WordIndex()
    question = " and ".join(asked)  # the index also pairs Chinese across a space, the baseline does not
    terms = dict.fromkeys(plain_words(question), 1.0)
    distinct = " ".join(terms)
    for change, which, text in changes:
        if change == "add" or not len(table):
            table.add(Dialogue(text, "", DAY_0))
        elif change == "edit":
            table.edit(int(table.indices[which % len(table)]), user=text)
        else:
            table.delete(int(table.indices[which % len(table)]))
        if not len(table):
            assert index.scores(terms, table).shape == (0,)
            continue
        texts = [table.text(at) for at in range(len(table))]
        constant = index.k1 + 1  # of the classic form; it changes no ranking, and the library leaves it out
        np.testing.assert_allclose(index.scores(terms, table), constant * Bm25(texts).scores(distinct), atol=1e-9)
