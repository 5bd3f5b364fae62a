"""Branch B: every dialogue's similarity to the question; the best two are candidates (ILSTMA, section 3.4)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import date
from typing import Literal

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.sentences import sentences, words
from ilstma_lab.protocols import Query
from ilstma_lab.recorder import describe
from ilstma_lab.retrieval.dates import named_days
from ilstma_lab.retrieval.recall import BranchB, Candidate
from ilstma_lab.retrieval.row_vectors import RowVectors
from ilstma_lab.retrieval.top import top_k
from ilstma_lab.retrieval.words import WordIndex, question_terms

_PREVIEW = 160
_SITTING = 3_600_000_000
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, kw_only=True)
class DialogueSettings:
    """How branch B ranks: the best `winners` are candidates.

    With `cosine` alone the score is the plain cosine of the paper. With more parts it is a sum: `cosine`, `words` (BM25) and
    `sentences` (the row's best sentence) weigh z-scores over all rows; `preceding` adds that share of the score of the dialogue
    before, where it lies within the hour and its score is positive; `days` is added to rows of a day that the question names.

    `echoes`: an asked row whose cited rows are still there repeats what they hold; "behind" keeps it out of the winners,
    "as_rows" treats it like any other row (the paper does not tell them apart). `keep`: how many candidates the trace keeps,
    None for all. `join_index`: encode "[index] text", as section 3.4 prints it.

    Paper note: an index joined before encoding leaks into the similarity, so by default rows are encoded without.
    A row that still waits for its vector is ranked by the share of the question's words that it holds.
    """

    winners: int = 2
    keep: int | None = 20
    cosine: float = 1.0
    words: float = 0.0
    sentences: float = 0.0
    preceding: float = 0.0
    days: float = 0.0
    echoes: Literal["behind", "as_rows"] = "behind"
    join_index: bool = False

    def __post_init__(self) -> None:
        if self.winners < 1 or (self.keep is not None and self.keep < self.winners):
            raise InputError(f"need winners >= 1 and keep >= winners (got {self.winners}, {self.keep})")
        weights = (self.cosine, self.words, self.sentences, self.preceding, self.days)
        if min(weights) < 0 or not np.isfinite(weights).all() or self.cosine + self.words + self.sentences == 0:
            raise InputError("weights must be finite and >= 0, and one of cosine, words and sentences above 0")

    @property
    def plain(self) -> bool:
        """Whether the score is the cosine itself."""
        return not (self.words or self.sentences or self.preceding or self.days)


class DialogueSearch:
    """Scores every row of a table for a question; rows are searched in the table's own array."""

    def __init__(self, settings: DialogueSettings):
        self.settings = settings
        self._words = WordIndex()
        self._sentences = RowVectors(lambda index, text: sentences(text))
        self._joined = RowVectors(lambda index, text: [f"[{index}] {text}"])

    def search(self, query: Query, table: MemoryTable) -> BranchB:
        """Return the candidates, best first, with every score; the winners are marked."""
        begun = time.perf_counter()
        parts, error = self._parts(query, table)
        score = self._score(parts, table)
        limit = len(table) if self.settings.keep is None else min(self.settings.keep, len(table))
        while True:
            candidates = self._candidates(top_k(score, limit), score, parts, table)
            if limit >= len(table) or sum(c.won for c in candidates) == self.settings.winners:
                break
            limit = min(2 * limit, len(table))
        return BranchB(candidates, time.perf_counter() - begun, error)

    def _parts(self, query: Query, table: MemoryTable) -> tuple[dict[str, np.ndarray], str]:
        """Return each part that has a weight as a column over the rows, and what failed."""
        try:
            parts = {"cosine": self._cosine(query, table)}
            if self.settings.sentences:
                parts["sentences"] = self._sentences.best(query.vector, table)
        except Exception as error:
            return {"words": word_shares(query.text, table, np.arange(len(table)))}, f"ranked by words alone: {describe(error)}"
        if self.settings.words:
            parts["words"] = self._words.scores(question_terms(query.text), table)
        if self.settings.days and (days := named_days(query.text, query.at.date())):
            parts["days"] = np.isin(table.days, [day.toordinal() - _EPOCH for day in days]).astype(float)
        return parts, ""

    def _cosine(self, query: Query, table: MemoryTable) -> np.ndarray:
        if self.settings.join_index:
            return self._joined.best(query.vector, table)
        cosine = table.vectors @ query.vector  # (n_rows,)
        if table.pending_count:
            waiting = np.flatnonzero(table.pending)
            cosine[waiting] = word_shares(query.text, table, waiting)
        return cosine

    def _score(self, parts: dict[str, np.ndarray], table: MemoryTable) -> np.ndarray:
        if self.settings.plain or "cosine" not in parts:
            return next(iter(parts.values()))
        similar = [name for name in ("cosine", "words", "sentences") if name in parts and getattr(self.settings, name)]
        score = sum(getattr(self.settings, name) * z_score(parts[name]) for name in similar)
        if self.settings.preceding and len(table) > 1:
            same_sitting = np.diff(table.created) <= _SITTING
            parts["preceding"] = np.concatenate([[0.0], np.maximum(score[:-1], 0) * same_sitting])
            score = score + self.settings.preceding * parts["preceding"]
        return score + self.settings.days * parts["days"] if "days" in parts else score

    def _candidates(
        self, best: np.ndarray, score: np.ndarray, parts: dict[str, np.ndarray], table: MemoryTable
    ) -> tuple[Candidate, ...]:
        found, won = [], 0
        scores = {name: part[best].tolist() for name, part in parts.items()}
        rows = zip(best.tolist(), table.indices[best].tolist(), score[best].tolist(), strict=True)
        for rank, (at, index, value) in enumerate(rows):
            kind, echo_of = table.kind_of(at), ()
            if kind == "asked" and self.settings.echoes == "behind":
                echo_of = tuple(row for row in table.cites(index) if row in table)
            wins = not echo_of and won < self.settings.winners
            won += wins
            each = {name: float(values[rank]) for name, values in scores.items()}
            found.append(Candidate(index, rank, float(value), each, wins, kind, echo_of, table.preview(at, _PREVIEW)))
        return tuple(found)


def z_score(values: np.ndarray) -> np.ndarray:
    """Return `values` (n,) less their mean, in standard deviations; zeros where all are the same."""
    centred = values - values.mean()
    spread = math.sqrt(centred @ centred / max(len(values), 1))
    return centred / spread if spread > 0 else np.zeros(len(values))


def word_shares(question: str, table: MemoryTable, positions: np.ndarray) -> np.ndarray:
    """Return for each of `positions` the share of the question's words that the row's text holds, in [0, 1]."""
    wanted = set(words(question))
    if not wanted:
        return np.zeros(len(positions))
    return np.array([len(wanted & set(words(table.text(at)))) / len(wanted) for at in positions])
