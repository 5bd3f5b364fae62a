"""BM25 from a library, as a yardstick that shares no code with branch B."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from ilstma_lab.errors import IlstmaError
from ilstma_lab.retrieval.top import top_k

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{_HAN}]+|[^\W{_HAN}]+")


class MissingBaseline(IlstmaError, ImportError):
    """The libraries of the baselines are not installed."""


def plain_words(text: str) -> list[str]:
    r"""Return the lower-cased `\w+` words of `text`; a run of Chinese characters gives its pairs, a lone one itself.

    >>> plain_words("It's 桂花糕")
    ['it', 's', '桂花', '花糕']
    """
    found: list[str] = []
    for word in _WORD.findall(text.lower()):
        pairs = [word[i : i + 2] for i in range(len(word) - 1)] if "\u3400" <= word[0] <= "\u9fff" else []
        found += pairs or [word]
    return found


class Bm25:
    """BM25 (k1 1.5, b .75, every word counts, no stop list) over fixed texts; with `stemmed` English words lose their endings.

    Raises MissingBaseline where bm25s, or for `stemmed` PyStemmer, is not installed.
    """

    def __init__(self, texts: Sequence[str], *, stemmed: bool = False):
        try:
            import bm25s

            self._stem = _stemmer() if stemmed else list
        except ImportError as error:
            raise MissingBaseline(f"the BM25 baselines need {error.name}: pip install 'ilstma-lab[evaluate]'") from None
        self._size = len(texts)
        self._index = bm25s.BM25(method="lucene", k1=1.5, b=0.75, dtype="float64")
        self._index.index([self._stem(plain_words(text)) for text in texts], show_progress=False)

    def scores(self, question: str) -> np.ndarray:
        """Return BM25 of every text for the question, shape (n_texts,); a word that stands twice in it counts twice."""
        words = self._stem(plain_words(question))
        return self._index.get_scores(words) if words else np.zeros(self._size)

    def ranked(self, question: str) -> list[int]:
        """Return the places of all texts, best first; at a tie the later text comes first, as in branch B."""
        return top_k(self.scores(question), self._size).tolist()


def _stemmer():
    from Stemmer import Stemmer

    return Stemmer("english").stemWords
