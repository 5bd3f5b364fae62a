"""What a retrieval found: both branches with every score, and the referee's decision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ilstma_lab.models.call import Call

Decision = Literal["agree", "disagree", "invented", "unread", "empty"]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of the global text, as branch A's index holds it: the rows that it overlaps, and its cosine to the question.

    `text` is kept of the chunks that the reader saw.
    """

    number: int
    rows: tuple[int, ...]
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader of branch A named. `index` is None where it named no row; `raw` is what it said."""

    index: int | None
    raw: str = ""
    reason: str = ""
    scores: Mapping[int, float] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchA:
    """Branch A: the best chunks (at most 20 are kept, `read` of them were shown to the reader), then one reading.

    `named` is the reading's index if it is a row of the table. `engine`: what searched the chunks, faiss or numpy.
    """

    chunks: tuple[Chunk, ...] = ()
    read: int = 0
    reading: Reading = Reading(None)
    named: int | None = None
    seconds: float = 0.0
    error: str = ""
    engine: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One row as branch B ranked it. `scores` holds every part of `score`; `echo_of` names the live rows an asked row cites."""

    index: int
    rank: int
    score: float
    scores: Mapping[str, float] = field(default_factory=dict)
    won: bool = False
    kind: str = "told"
    echo_of: tuple[int, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class BranchB:
    """Branch B: rows by similarity of each dialogue, best first; the top two won."""

    candidates: tuple[Candidate, ...] = ()
    seconds: float = 0.0
    error: str = ""

    @property
    def winners(self) -> tuple[int, ...]:
        """Indices of the rows that won, best first."""
        return tuple(c.index for c in self.candidates if c.won)


@dataclass(frozen=True, slots=True)
class Recall:
    """Step 6: what both branches found, and what the referee recalled (ILSTMA, section 3.4).

    `decision`: "agree" (A's row is among B's: it alone is recalled), "disagree" (it is not: B's are), "invented" (A
    named no real row: B's are), "unread" (A had nothing to say: B's are), "empty" (no row to find).
    """

    question: str
    recalled: tuple[int, ...]
    decision: Decision
    branch_a: BranchA
    branch_b: BranchB
    reason: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        from ilstma_lab.reprs import recall_text

        return recall_text(self)

    def _repr_html_(self) -> str:
        from ilstma_lab.reprs import recall_html

        return recall_html(self)
