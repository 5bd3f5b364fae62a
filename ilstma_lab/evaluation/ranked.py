"""What a retriever of one's own returns, made from one score a row."""

from __future__ import annotations

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.protocols import Query
from ilstma_lab.retrieval.recall import BranchA, BranchB, Candidate, Recall
from ilstma_lab.retrieval.top import top_k

_KEPT = 20


def ranked(question: str | Query, table: MemoryTable, score: np.ndarray, *, rows: int = 2) -> Recall:
    """Return the recall of the `rows` rows with the highest `score`, shape (len(table),): all of branch B, and no branch A.

    The order beyond them is kept too, up to 20 rows, so that hit@k and MRR can be told. At a tie the later row comes first.
    Raises InputError where the scores are not one finite number a row.
    """
    text = question if isinstance(question, str) else question.text
    score = np.asarray(score)
    if score.shape != (len(table),):
        raise InputError(f"ranked() needs one score for each of the {len(table)} rows, shape ({len(table)},), got {score.shape}")
    if score.dtype.kind not in "iufb" or not np.isfinite(score).all():
        raise InputError("ranked() needs finite numbers as scores: look for text, for nan, and for a division by 0")
    if rows < 1:
        raise InputError(f"ranked() recalls at least one row (got rows={rows})")
    best = top_k(score.astype(float), min(max(rows, _KEPT), len(table)))
    found = zip(table.indices[best].tolist(), score[best].tolist(), strict=True)
    kept = tuple(Candidate(row, rank, float(value), won=rank < rows) for rank, (row, value) in enumerate(found))
    branch_b = BranchB(kept)
    return Recall(text, branch_b.winners, "unread" if kept else "empty", BranchA(), branch_b, "one score a row, no branch A")
