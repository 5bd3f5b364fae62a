"""Step 6, the indexing-based memory retrieval modification: two searches and a referee by index (ILSTMA, section 3.4)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from ilstma_lab.errors import InputError
from ilstma_lab.memory.entry import to_moment
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.protocols import Query, Reader
from ilstma_lab.recorder import describe
from ilstma_lab.retrieval.chunks import ChunkIndex, ChunkShape, search_engine
from ilstma_lab.retrieval.dialogues import DialogueSearch, DialogueSettings
from ilstma_lab.retrieval.recall import BranchA, BranchB, Decision, Reading, Recall


@dataclass(frozen=True, kw_only=True)
class RetrievalSettings:
    """Both branches' settings: branch B's search, branch A's chunks, how many chunks the reader sees and the trace keeps.

    `narrow`: when A's row alone is recalled. "agree" is the paper's rule, A's row is among B's. "margin" asks besides that it
    is B's first and leads B's second by `margin` (in units of B's score). "never" always recalls B's.
    """

    dialogues: DialogueSettings = field(default_factory=DialogueSettings)
    chunks: ChunkShape = field(default_factory=ChunkShape)
    read_chunks: int = 4
    keep_chunks: int = 20
    narrow: Literal["agree", "margin", "never"] = "agree"
    margin: float = 0.0

    def __post_init__(self) -> None:
        if self.narrow not in ("agree", "margin", "never") or self.margin < 0:
            raise InputError("narrow must be 'agree', 'margin' or 'never', and margin >= 0")
        if not 1 <= self.read_chunks <= self.keep_chunks:
            raise InputError(f"need 1 <= read_chunks <= keep_chunks (got {self.read_chunks}, {self.keep_chunks})")


def referee(
    named: int | None, winners: Sequence[int], *, invented: bool = False, may_narrow: bool = True
) -> tuple[tuple[int, ...], Decision, str]:
    """Return the recalled rows, the decision and its reason: A's row alone if it is among B's, else B's.

    Source: ILSTMA, section 3.4 and Figure 3. Rows are compared by index, never by words. `may_narrow` False keeps B's always.

    >>> referee(41, [3, 41])[:2], referee(7, [3, 41])[:2]
    (((41,), 'agree'), ((3, 41), 'disagree'))
    """
    ranked = " and ".join(map(str, winners)) or "none"
    if not winners:
        return ((), "empty", "branch B found no row")
    if named in winners and not may_narrow:
        return (tuple(winners), "agree", f"A's row {named} is among B's, and B's are kept ({ranked})")
    if named in winners:
        return ((named,), "agree", f"A's row {named} is among B's ({ranked}): it alone is recalled")
    if named is not None:
        return (tuple(winners), "disagree", f"A's row {named} is not among B's: B's are recalled ({ranked})")
    if invented:
        return (tuple(winners), "invented", f"A named no real row: B's are recalled ({ranked})")
    return (tuple(winners), "unread", f"A named nothing: B's are recalled ({ranked})")


class DualRetriever:
    """Branch A reads chunks of the global text and names one row; branch B ranks dialogues; the referee decides by index."""

    def __init__(self, settings: RetrievalSettings, *, reader: Reader):
        self.settings = settings
        self.reader = reader
        self._dialogues = DialogueSearch(settings.dialogues)
        self._index = ChunkIndex(settings.chunks)
        self._table: MemoryTable | None = None

    def retrieve(self, question: str | Query, table: MemoryTable, *, now: datetime) -> Recall:
        """Return the recalled rows, best first, with all that both branches looked at.

        A branch that fails is recorded with its error, and the other decides. An empty table gives an empty recall.
        """
        begun = time.perf_counter()
        query = question if isinstance(question, Query) else Query(question, to_moment(now), table.embedder)
        if not len(table):
            return Recall(query.text, (), "empty", BranchA(), BranchB(), "the table is empty")
        if getattr(self.reader, "waits_on_network", False):
            with ThreadPoolExecutor(1) as pool:
                reading = pool.submit(self._branch_a, query, table)
                branch_b = self._dialogues.search(query, table)
                branch_a = reading.result()
        else:
            branch_a = self._branch_a(query, table)
            branch_b = self._dialogues.search(query, table)
        reading = branch_a.reading
        invented = branch_a.named is None and (reading.index is not None or bool(reading.raw))
        recalled, decision, reason = referee(
            branch_a.named, branch_b.winners, invented=invented, may_narrow=self._may_narrow(branch_a, branch_b)
        )
        return Recall(query.text, recalled, decision, branch_a, branch_b, reason, time.perf_counter() - begun)

    def prepare(self, table: MemoryTable) -> int:
        """Embed what branch A still needs, which else the first question waits for; return the number of chunks."""
        return self._index_of(table).prepare(table)

    def take_index(self, other: DualRetriever) -> None:
        """Take over another retriever's chunks, for a fork of its table, so that they need not be embedded again."""
        if other.settings.chunks == self.settings.chunks:
            self._index = other._index.copy()

    def _branch_a(self, query: Query, table: MemoryTable) -> BranchA:
        begun = time.perf_counter()
        branch = BranchA()
        try:
            chunks = self._index_of(table).search(
                query.vector, table, k=self.settings.keep_chunks, shown=self.settings.read_chunks
            )
            branch = replace(branch, chunks=chunks, read=min(self.settings.read_chunks, len(chunks)), engine=search_engine())
            reading = self.reader.read(query, chunks[: self.settings.read_chunks])
            if not isinstance(reading, Reading):
                raise TypeError(f"a Reader returns a Reading (got {type(reading).__name__})")
            named = reading.index if reading.index in table else None
            branch = replace(branch, reading=reading, named=named)
        except Exception as error:
            branch = replace(branch, error=describe(error))
        return replace(branch, seconds=time.perf_counter() - begun)

    def _may_narrow(self, branch_a: BranchA, branch_b: BranchB) -> bool:
        if self.settings.narrow != "margin":
            return self.settings.narrow == "agree"
        won = [c for c in branch_b.candidates if c.won]
        lead = won[0].score - won[1].score if len(won) > 1 else float("inf")
        return bool(won) and branch_a.named == won[0].index and lead >= self.settings.margin

    def _index_of(self, table: MemoryTable) -> ChunkIndex:
        if self._table is not None and self._table is not table:
            self._index = ChunkIndex(self.settings.chunks)
        self._table = table
        return self._index
