"""The offline hit judge: it compares the question with what is in the cache, and quotes."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.embedders import UniversalSentenceEncoder, unit
from ilstma_lab.models.extractive_answer import quote
from ilstma_lab.models.prompts import messages
from ilstma_lab.models.sentence_vectors import SentenceVectors
from ilstma_lab.models.sentences import tokens
from ilstma_lab.models.unsent import unsent
from ilstma_lab.trace import Verdict

if TYPE_CHECKING:
    from ilstma_lab.memory.segments import ShortTermMemory
    from ilstma_lab.protocols import Query

CALIBRATED_FOR = UniversalSentenceEncoder.name
_LIMIT = "the offline judge knows nothing beyond the cache"


class ExtractiveJudge:
    """Hit where the best cached row's cos(question, dialogue) + cos(question, its best sentence) reaches `threshold`.

    Only rows of kind "told" in the cache are compared: the relevant segment is empty at judgement, and the echo of an
    earlier question looks like an answer without being one. Besides, a question repeated word for word hits where the
    history holds it with the rows that answered it, and nothing new has been told since. The summary is not used: it names
    no row. This judge has no general knowledge.

    The default threshold 1.05 was measured with the Universal Sentence Encoder on MemoryBank's hand-labelled questions (55
    English, 56 Chinese, 8 users), a cache of three rows. It hits 59 % of 111 questions whose row is in the cache between its
    two neighbours, and 4.2 % of 95 (English 2 of 47, Chinese 2 of 48) asked of the cache that the user's previous question
    left, its answer taken out. It cannot tell a row from its neighbours: with the three rows nearest to the answer, but not the
    answer, it still hits 39 % of 111. The threshold was chosen on these same questions.
    """

    def __init__(self, threshold: float = 1.05, *, calibrated_for: str = CALIBRATED_FOR, vectors: SentenceVectors | None = None):
        self.threshold = threshold
        self.calibrated_for = calibrated_for
        self.vectors = vectors or SentenceVectors()
        self._warned: set[str] = set()
        self._lock = Lock()

    def judge(self, query: Query, memory: ShortTermMemory) -> Verdict:
        """Return hit or miss with the score and the threshold; on a hit the answer quotes the row that it used."""
        repeated = _repeated(query, memory)
        if repeated:
            reason = "the same question was answered before, and nothing has been told since"
            return self._verdict(query, memory, repeated, reason=reason)
        scored = [(self._score(query, row), row) for row in memory.cache if row.kind == "told"]
        if not scored:
            return self._verdict(query, memory, (), reason=f"the cache is empty, and {_LIMIT}")
        score, best = max(scored, key=lambda pair: pair[0])
        if score >= self.threshold:
            return self._verdict(query, memory, (best,), reason=f"row {best.index} is near enough to the question", score=score)
        reason = f"the nearest row, {best.index}, is too far, and {_LIMIT}"
        return self._verdict(query, memory, (), reason=reason, score=score)

    def _score(self, query: Query, row: MemoryEntry) -> float:
        if row.vector is not None and row.vector.shape == query.vector.shape:
            dialogue = float(unit(row.vector) @ query.vector)
        else:
            dialogue = float(unit(query.embedder.embed([row.text], "row")[0]) @ query.vector)
        return dialogue + self.vectors.nearest(row.text, query.vector, query.embedder)[1]

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
