"""Sessions of a table: those that ended and are not in the memory yet, and the one that goes on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.systems.chatrsum.settings import ChatRsumSettings

MEMORY = "memory"


def memory_of(table: MemoryTable) -> Summary | None:
    """Return the memory as it was last made, None where there is none or one of its rows changed since."""
    notes = table.notes(MEMORY)
    return notes[-1] if notes and not notes[-1].stale else None


def open_rows(table: MemoryTable) -> list[int]:
    """Return the rows that the memory does not hold yet, oldest first."""
    memory = memory_of(table)
    rows = table.indices
    return rows[~np.isin(rows, memory.rows)].tolist() if memory else rows.tolist()


def sessions(table: MemoryTable, rows: Sequence[int], settings: ChatRsumSettings) -> list[list[int]]:
    """Return `rows` session by session."""
    found: list[list[int]] = []
    for row in rows:
        full = not found or len(found[-1]) == settings.session_turns
        if full or (settings.session == "day" and table.day_of(row) != table.day_of(found[-1][-1])):
            found.append([])
        found[-1].append(row)
    return found


def ended(table: MemoryTable, settings: ChatRsumSettings, *, now: datetime) -> list[list[int]]:
    """Return the sessions that ended by `now` and are not in the memory yet, oldest first."""
    found = sessions(table, open_rows(table), settings)
    if not found or len(found[-1]) == settings.session_turns:
        return found
    over = settings.session == "day" and table.day_of(found[-1][-1]) < now.date()
    return found if over else found[:-1]
