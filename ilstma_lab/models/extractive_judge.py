"""The offline hit judge: it compares the question with what is in the cache, and quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.embedders import UniversalSentenceEncoder, unit
from ilstma_lab.models.extractive_answer import quote
from ilstma_lab.models.prompts import messages
from ilstma_lab.models.sentence_vectors import SentenceVectors
from ilstma_lab.models.sentences import content_words, is_chinese, tokens, words
from ilstma_lab.models.unsent import unsent
from ilstma_lab.retrieval.dates import named_days
from ilstma_lab.trace import Verdict

if TYPE_CHECKING:
    from ilstma_lab.memory.segments import ShortTermMemory
    from ilstma_lab.protocols import Query

CALIBRATED_FOR = UniversalSentenceEncoder.name
THRESHOLD = 0.45
WORDS, DAY, CHINESE = 0.5, 0.2, 0.06

_ASKS = re.compile(r"[?？][\"'”’」』）)\]》\s]*$")
_LIMIT = "the offline judge knows nothing beyond the cache"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one row: the score is the sum of the parts.

    `meaning`: cos(question, mean vector of the row's telling sentences). `words`: `WORDS` times the share of the question's
    content words among them (`held`). `day`: `DAY` where the row is of a day that the question names. `language`: minus
    `CHINESE` for a Chinese question, since this encoder puts Chinese texts nearer to each other.
    """

    row: MemoryEntry
    meaning: float
    words: float
    day: float
    language: float
    held: tuple[str, ...]

    @property
    def score(self) -> float:
        """The sum of the parts."""
        return self.meaning + self.words + self.day + self.language

    def __str__(self) -> str:
        """The arithmetic, the greatest part named first."""
        parts = {"meaning": self.meaning, f"words ({', '.join(self.held)})": self.words, "its day": self.day}
        shown = [f"{name} {value:.2f}" for name, value in sorted(parts.items(), key=lambda part: -part[1]) if value]
        chinese = f" - Chinese {-self.language:.2f}" if self.language else ""
        return f"{' + '.join(shown) or 'nothing'}{chinese} = {self.score:.2f}"


class ExtractiveJudge:
    """Hit where the best cached row's evidence reaches `threshold`: nearness in meaning, shared words, the day (see `Evidence`).

    A sentence that asks tells nothing: only the others are compared, and a row without any holds no answer. Where the question
    names a day, only rows of that day count. Only rows of kind "told" are compared: the relevant segment is empty at judgement,
    and the echo of an earlier question looks like an answer without being one. Besides, a question repeated word for word hits
    where the history holds it with the rows that answered it, and nothing new has been told since. The summary is not used: it
    names no row. This judge has no general knowledge.

    The constants were measured with the Universal Sentence Encoder on 256 questions, English and Chinese, of the kit's six topics
    and MemoryBank's eight users, caches of three rows (`python -m benchmarks.calibrate_judge`, each question counted once). The
    weights are round numbers, compared out of fold; a logistic regression did no better. At 0.45 it hits 56 % of the questions
    whose row is in the cache (the kit's own 23 %, MemoryBank 85 to 92 %), and 3.7 % of those asked of a cache that an earlier
    question left and that holds no answer (95 % band 1.8 to 5.7). Asked in order, where the cache is that of the question just
    before, 4.9 % of 223; at 0.40, which the calibration alone would choose, 6.3 %. 70 % of the hits quote the right row. It
    cannot tell a row from its neighbours: with the rows nearest to the answer, but not the answer, it still hits 30 %. Nor does
    the threshold hold everywhere: where a whole conversation keeps to one theme it hits too often (at 0.40, false hits 44 % on
    SCM's Chinese topics and 19 % on LoCoMo, neither used to choose it). There, calibrate anew.
    """

    def __init__(
        self, threshold: float = THRESHOLD, *, calibrated_for: str = CALIBRATED_FOR, vectors: SentenceVectors | None = None
    ):
        self.threshold = threshold
        self.calibrated_for = calibrated_for
        self.vectors = vectors or SentenceVectors()
        self._warned: set[str] = set()
        self._lock = Lock()

    def judge(self, query: Query, memory: ShortTermMemory) -> Verdict:
        """Return hit or miss with the score and the threshold; on a hit the answer quotes the row that it used."""
        if repeated := _repeated(query, memory):
            reason = "the same question was answered before, and nothing has been told since"
            return self._verdict(query, memory, repeated, reason=reason)
        told = [row for row in memory.cache_shown if row.kind == "told"]
        if not told:
            return self._verdict(query, memory, (), reason=f"the cache is empty, and {_LIMIT}")
        days = named_days(query.text, query.at.date())
        rows = [row for row in told if not days or row.created.date() in days]
        if not rows:
            return self._verdict(query, memory, (), reason=f"no cached row is of the day that the question names, and {_LIMIT}")
        best = max((self.evidence(query, row, on_day=bool(days)) for row in rows), key=lambda found: found.score)
        if best.score >= self.threshold:
            return self._verdict(
                query, memory, (best.row,), reason=f"row {best.row.index} is near enough: {best}", score=best.score
            )
        reason = f"the nearest row, {best.row.index}, is too far: {best}; and {_LIMIT}"
        return self._verdict(query, memory, (), reason=reason, score=best.score)

    def evidence(self, query: Query, row: MemoryEntry, *, on_day: bool = False) -> Evidence:
        """Return what speaks for `row`; `on_day`: the question names a day, and the row is of it."""
        said, vectors = self.vectors.of(row.text, query.embedder)
        telling = [at for at, sentence in enumerate(said) if not _ASKS.search(sentence)]
        middle = unit(vectors[telling].mean(axis=0)) if telling else np.zeros(query.embedder.dim, np.float32)  # (dim,)
        wanted = content_words(query.text)
        held = sorted(wanted.intersection(words("\n".join(said[at] for at in telling))))
        return Evidence(
            row,
            meaning=float(middle @ query.vector),
            words=WORDS * len(held) / max(len(wanted), 1),
            day=DAY * on_day,
            language=-CHINESE if is_chinese(query.text) else 0.0,
            held=tuple(held),
        )

    def _verdict(
        self, query: Query, memory: ShortTermMemory, rows: tuple[MemoryEntry, ...], *, reason: str, score: float | None = None
    ) -> Verdict:
        answer = quote(query, rows, self.vectors) if rows else ""
        reason += self._warning(query.embedder.name)
        call = unsent("judge", messages.judge(query, memory), answer or reason)
        return Verdict(bool(rows), answer, tuple(row.index for row in rows), reason, score, self.threshold, (call,))

    def _warning(self, name: str) -> str:
        with self._lock:
            if name == self.calibrated_for or name in self._warned:
                return ""
            self._warned.add(name)
        return f"; the threshold is uncalibrated for {name} (it was measured for {self.calibrated_for})"


def _repeated(query: Query, memory: ShortTermMemory) -> tuple[MemoryEntry, ...]:
    """Return the rows that answered this same question in the history, () where it is new or something was told since."""
    asked = tokens(query.text)
    for turn in reversed(memory.history):
        row = memory.table[turn.row] if turn.row is not None and turn.row in memory.table else None
        if row is None or row.kind == "told":
            return ()
        if tokens(turn.user) == asked:
            return tuple(memory.table[index] for index in row.cites if index in memory.table)
    return ()
