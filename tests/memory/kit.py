"""What the tests of memory share: a quick embedder, dialogues, a table's whole state as plain values, failing system calls."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from ilstma_lab import Dialogue, MemoryTable
from ilstma_lab.models.embedders import HashedEmbedder

EMBEDDER = HashedEmbedder(dim=64)
START = datetime(2024, 1, 1, 12, tzinfo=UTC)


def at(days: float) -> datetime:
    return START + timedelta(days=days)


def said(text: str, *, day: float = 0, answer: str = "I see.") -> Dialogue:
    return Dialogue(text, answer, at(day), f"day {day}")


def table_of(*texts: str, embedder=EMBEDDER) -> MemoryTable:
    return MemoryTable.from_dialogues([said(text, day=day) for day, text in enumerate(texts)], embedder=embedder)


def saved(path: Path, *texts: str, embedder=EMBEDDER) -> MemoryTable:
    """Return a table of `texts` that is tied to `path`."""
    table_of(*(texts or ("violin", "dentist", "garden", "bicycle", "recipe")), embedder=embedder).save(path)
    return load(path, embedder=embedder)


def load(path: Path, *, embedder=EMBEDDER, **options) -> MemoryTable:
    table = MemoryTable.load(path, embedder=embedder, **options)
    table.wait_seconds = 0.0
    return table


def load_noted(path: Path, **options) -> tuple[MemoryTable, str]:
    """Return the table in `path` and what was warned about."""
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        table = load(path, **options)
    return table, "\n".join(str(note.message) for note in noted)


def state(table: MemoryTable) -> dict:
    """Return all that a table remembers, as plain values, and check that its parts agree with each other."""
    rows = {row.index: row for row in table}
    assert list(rows) == table.indices.tolist() == sorted(rows)
    assert len(table) == len(table.vectors) == len(table.created) == len(rows)
    for row in rows.values():
        if not row.pending:
            assert np.allclose(row.vector, table.embed([row.text])[0], atol=1e-6)
    return {
        "rows": {i: (r.user, r.assistant, r.source, r.kind, r.cites, *_numbers(r)) for i, r in rows.items()},
        "summaries": table.summaries,
        "personality": table.personality,
        "recalls": table.recalls,
        "waiting": table.waiting,
        "unanswered": table.unanswered,
        "next_index": table.next_index,
        "loose": table.unsummarised(table.unsummarised_count),
    }


def _numbers(row) -> tuple:
    return row.created, row.last_recall, row.recall_times


def search(table: MemoryTable, text: str, k: int = 1) -> list[int]:
    scores = table.vectors @ table.embed([text])[0]
    return table.indices[np.argsort(-scores, kind="stable")[:k]].tolist()


def abandon(table: MemoryTable) -> None:
    """Let go of a table's file as a crash would: nothing is folded."""
    table._file.close()


# -- failing system calls ----------------------------------------------------------------------------------------------

_WATCHED = [(os, name) for name in ("open", "write", "fsync", "ftruncate", "lseek", "replace", "link", "close")]
_WATCHED += [(shutil, "copy2"), (shutil, "copymode"), (Path, "unlink")]


class Count:
    """How many watched calls were made."""

    calls = 0


@contextmanager
def at_call(number: int, action, *, of: str = ""):
    """Do `action(name, arguments)` before the `number`-th system call of the memory package (`of`: by that name); yield a count.

    A write is split: half of it is done before the action. Nothing is synced, so that many runs are quick.
    """
    count, real = Count(), {}

    def watched(owner, name):
        function = real[owner, name] = getattr(owner, name)

        def call(*arguments, **options):
            if of not in ("", name) or f"ilstma_lab{os.sep}memory" not in sys._getframe(1).f_code.co_filename:
                return function(*arguments, **options)
            count.calls += 1
            if count.calls == number:
                if name == "write":
                    function(arguments[0], arguments[1][: len(arguments[1]) // 2])
                    action(name, arguments)
                    return function(arguments[0], arguments[1][len(arguments[1]) // 2 :]) + len(arguments[1]) // 2
                action(name, arguments)
            return None if name == "fsync" else function(*arguments, **options)

        setattr(owner, name, call)

    for owner, name in _WATCHED:
        watched(owner, name)
    try:
        yield count
    finally:
        for (owner, name), function in real.items():
            setattr(owner, name, function)
