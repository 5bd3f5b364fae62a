"""Branch B's search, top candidates included, beside a bare numpy matrix-vector product over the same rows."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks import stubs
from benchmarks.measure import Result, interleaved, seconds
from ilstma_lab.protocols import Query
from ilstma_lab.retrieval.dialogues import DialogueSearch, DialogueSettings

BOUND = 1.25


def run(*, rows: int = 1_000_000, n: int = 30) -> Iterator[Result]:
    """Yield the ratio over `rows` x 512."""
    table, search = stubs.table(rows), DialogueSearch(DialogueSettings())
    query = Query(stubs.question(0), stubs.START, table.embedder)
    vectors, vector = table.vectors, query.vector
    taken = interleaved(
        {"search": lambda: seconds(lambda: search.search(query, table)), "product": lambda: seconds(lambda: vectors @ vector)},
        n=n,
    )
    details = {f"{name}, ms": 1e3 * value for name, value in taken.items()}
    yield Result(
        f"row search over {rows:,} x {table.embedder.dim}", taken["search"] / taken["product"], BOUND, "times", n, details
    )
