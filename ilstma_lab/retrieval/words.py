"""BM25 over a table's rows, kept up row by row: an added or edited row costs its own words, not a new index."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from ilstma_lab.memory.entry import SEARCHED_CHARACTERS
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.sentences import content_words, words

_QUESTION_WORD = 0.5


def question_terms(question: str) -> dict[str, float]:
    """Return the question's words with their weights: words that most questions have ("what", "remember", 什么) count half.

    >>> sorted(question_terms("What was the novel?").items())
    [('novel', 1.0), ('the', 0.5), ('was', 0.5), ('what', 0.5)]
    """
    telling = content_words(question)
    return {word: 1.0 if word in telling else _QUESTION_WORD for word in words(question)}


class WordIndex:
    """Postings of every word; Chinese by pairs of characters.

    A version of a row has a slot of its own, in the order of arrival; an edit or a delete leaves a dead slot behind.

    Source: Robertson and Zaragoza 2009, with the idf ln(1 + (N - n + .5) / (n + .5)), which is never negative. The libraries for
    BM25 build an index once; here a row comes at every turn, so the postings are our own.
    """

    def __init__(self, *, k1: float = 1.5, b: float = 0.75):
        self.k1, self.b = k1, b
        self._clear()

    def scores(self, terms: Mapping[str, float], table: MemoryTable) -> np.ndarray:
        """Return BM25 of every row of `table` for weighted `terms`, shape (n_rows,)."""
        self._update(table)
        lengths = np.frombuffer(self._lengths, np.int32)
        total = np.zeros(len(lengths))  # (n_slots,)
        mean = self._living_words / max(len(table), 1) or 1.0
        norm = self.k1 * (1 - self.b + self.b / mean * lengths)
        for term, weight in terms.items():
            found = self._in_rows.get(term, 0)
            if not found:
                continue
            slots = np.frombuffer(self._slots[term], np.int32)
            count = np.frombuffer(self._counts[term], np.int32)
            idf = math.log1p((len(table) - found + 0.5) / (found + 0.5))
            total[slots] += weight * idf * (self.k1 + 1) * (count / (count + norm[slots]))
        return total if self._order is None else total[self._order]

    def forget(self, texts: Sequence[str] = ()) -> None:
        """Let go of all words, those of edited and deleted rows among them; the next search looks the rows up again."""
        self._clear()

    def _clear(self) -> None:
        self._slots: dict[str, array] = defaultdict(lambda: array("i"))
        self._counts: dict[str, array] = defaultdict(lambda: array("i"))
        self._in_rows: Counter[str] = Counter()
        self._lengths = array("i")
        self._living_words = 0
        self._alive: dict[int, tuple[int, frozenset[str]]] = {}
        self._order: np.ndarray | None = None
        self._table: MemoryTable | None = None
        self._seen = 0

    def _update(self, table: MemoryTable) -> None:
        if self._table is not table or len(self._lengths) > 2 * len(table) + 100:
            self._clear()
            self._table = table
            table.kept_by(self)
        changed = table.changes[self._seen :] if self._seen else table.indices.tolist()
        self._seen = len(table.changes)
        for index in dict.fromkeys(changed):
            moved = self._bury(index)
            if index in table:
                self._add(index, table.text(table.position(index))[:SEARCHED_CHARACTERS])
            if moved or self._order is not None:
                self._order = np.empty(0, np.int64)
        if self._order is not None and len(self._order) != len(table):
            self._order = np.array([self._alive[index][0] for index in table.indices.tolist()], np.int64)

    def _add(self, index: int, text: str) -> None:
        slot, counted = len(self._lengths), Counter(words(text))
        for word, count in counted.items():
            self._slots[word].append(slot)
            self._counts[word].append(count)
        self._in_rows.update(counted.keys())
        self._lengths.append(counted.total())
        self._living_words += counted.total()
        self._alive[index] = (slot, frozenset(counted))

    def _bury(self, index: int) -> bool:
        if index not in self._alive:
            return False
        slot, held = self._alive.pop(index)
        self._in_rows.subtract(held)
        self._living_words -= self._lengths[slot]
        return True
