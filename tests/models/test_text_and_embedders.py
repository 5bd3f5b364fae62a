from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import EmbeddingMismatchError, ModelError
from ilstma_lab.models import default_embedder
from ilstma_lab.models.embedders import HashedEmbedder, checked, in_pieces, pieces
from ilstma_lab.models.sentence_vectors import SentenceVectors
from ilstma_lab.models.sentences import content_words, language, sentences, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I paid 3.50 at 10.30. Then I left.", ["I paid 3.50 at 10.30.", "Then I left."]),
        ("Mr. Li met J. Smith, e.g. at home. Good!", ["Mr. Li met J. Smith, e.g. at home.", "Good!"]),
        ("It was I. He said so.", ["It was I.", "He said so."]),
        ("他说：“真好！”我笑了。", ["他说：“真好！”", "我笑了。"]),
        ("太好了！！谢谢……再见", ["太好了！！", "谢谢……", "再见"]),
        ("one\ntwo\n", ["one", "two"]),
        (" \n ", []),
    ],
)
def test_sentences(text, expected):
    assert sentences(text) == expected


@given(st.text())
def test_no_letter_is_lost_between_sentences(text):
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_f8_words_do_not_depend_on_case_width_or_composition():
    assert words("Ｃａｆé") == words("cafe\u0301") == ["café"]


def test_words_language_and_content():
    assert words("我爱 Tea") == ["我爱", "tea"]
    assert (language("我对花生过敏"), language("peanuts"), language("")) == ("zh", "en", "en")
    assert content_words("What did you recommend?") == {"recommend"}


def test_hashed_vectors_are_unit_rows_and_zero_for_blank_text():
    vectors = HashedEmbedder(64).embed(["tea", "!!!", "我爱茶", "", " \u200b"], "row")
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1, 1, 0, 0], abs=1e-6)


def test_hashed_vectors_are_the_same_in_another_process():
    code = "from ilstma_lab.models.embedders import HashedEmbedder as H; print(H(32).embed(['green tea 茶'], 'row').tolist())"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": "7"})
    assert other.stdout.strip() == str(HashedEmbedder(32).embed(["green tea 茶"], "row").tolist())


@given(st.text(), st.integers(1, 40))
def test_e6_pieces_are_short_and_leave_nothing_out(text, size):
    parts = pieces(text, size=size)
    assert all(len(part) <= size for part in parts)
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_e7_texts_that_differ_only_at_the_end_get_different_vectors():
    same = "The weather was fine and we walked along the river. " * 80
    a, b = default_embedder().embed([same + "I bought a violin.", same + "My tooth hurts."], "row")
    assert float(a @ b) < 0.9999
    assert np.linalg.norm(a) == pytest.approx(1, abs=1e-5)


def test_the_mean_of_pieces_is_what_the_pieces_give():
    def encode(texts):
        return np.array([[3.0, 0.0] if "x" in text else [0.0, 2.0] for text in texts])

    assert in_pieces(["xx. yy.", "", "yy."], encode, dim=2, size=4) == pytest.approx(np.array([[0.5**0.5] * 2, [0, 0], [0, 1]]))


def test_default_embedder_is_one_knows_two_languages_and_serves_threads():
    assert default_embedder() is default_embedder()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(
            lambda _: default_embedder().embed(["I adore cats", "我很喜欢猫", "tax law", ""], "row"), range(2)
        )
    assert np.array_equal(first, second)
    assert first.shape == (4, default_embedder().dim)
    assert first[0] @ first[1] > 0.5 > first[0] @ first[2]
    assert not first[3].any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e300])
def test_a17_non_finite_vectors_are_refused(bad):
    with pytest.raises(ModelError, match="NaN or infinity for 'b'"):
        checked(np.array([[1.0, 0.0], [bad, 0.0]]), ["a", "b"], 2)


def test_a13_wrong_count_or_dimension_is_refused():
    with pytest.raises(ModelError, match="2 texts"):
        checked(np.ones((1, 2)), ["a", "b"], 2)
    with pytest.raises(EmbeddingMismatchError, match="3 dimensions where 2"):
        checked(np.ones((1, 3)), ["a"], 2)
    assert checked(np.zeros(0), [], 5).shape == (0, 5)


def test_sentence_vectors_are_embedded_once_and_forgotten_least_used_first():
    class Counting(HashedEmbedder):
        calls = 0

        def embed(self, texts, kind):
            self.calls += 1
            return super().embed(texts, kind)

    embedder, vectors = Counting(32), SentenceVectors(capacity=2)
    for text in ["a b.", "c d.", "a b.", "e f.", "a b."]:
        vectors.of(text, embedder)
    assert embedder.calls == 3
    assert vectors.nearest("Tea is hot. Cats purr.", embedder.embed(["cats purr"], "query")[0], embedder)[0] == "Cats purr."
    assert vectors.nearest("", np.ones(32), embedder) == ("", 0.0)
