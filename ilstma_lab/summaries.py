"""Step 5: groups of five in short, an update by overlap, the user's personality (ILSTMA, section 3.5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.call import Call
from ilstma_lab.models.returned import text_and_calls
from ilstma_lab.protocols import Merger, Profiler, Query, Summarizer


@dataclass(frozen=True, kw_only=True)
class SummarySettings:
    """How many dialogues make a group, and when summaries are made.

    `when`: "full_group" makes one, after the answer, when a group is full; "every_miss" brings all up to date on each miss.

    Paper note: section 3.5 summarises on each miss; most of that work finds nothing new, so a miss only chooses here.
    """

    group_size: int = 5
    when: Literal["full_group", "every_miss"] = "full_group"

    def __post_init__(self) -> None:
        if self.group_size < 1:
            raise InputError(f"group_size must be >= 1 (got {self.group_size})")


@dataclass(frozen=True, slots=True)
class Overlap:
    """What the update of one group compared: its new summary, the nearest old set with the cosine, both in one where merged."""

    rows: tuple[int, ...]
    new: str
    nearest: Summary | None = None
    cosine: float = 0.0
    merged: str | None = None


class Summaries:
    """Makes, merges and chooses the sets of high-dimensional information of a table, and its personality."""

    def __init__(self, settings: SummarySettings, *, summarizer: Summarizer, merger: Merger, profiler: Profiler):
        self.settings = settings
        self.summarizer = summarizer
        self.merger = merger
        self.profiler = profiler

    def choose(self, query: Query, table: MemoryTable) -> tuple[int | None, float]:
        """Return the number of the set nearest to the question and its cosine; stale and empty sets are never chosen."""
        nearest, cosine = self._nearest(query.vector, table)
        return (nearest.number, cosine) if nearest else (None, 0.0)

    def due(self, table: MemoryTable) -> bool:
        """Tell whether a group is full, a set is stale, or the personality lacks rows that were summarised."""
        return bool(table.unsummarised(self.settings.group_size) or table.stale or table.unprofiled_count)

    def update(self, table: MemoryTable, *, at: datetime, watch: Callable[[Overlap], None] | None = None) -> tuple[Call, ...]:
        """Summarise one group that is full, or one stale set anew, or let the personality take in a group that it lacks.

        Returns the calls made; `watch` sees what was compared. Raises TypeError where a part returns another shape.

        Where one of the rows is edited or deleted while the models still think, nothing is stored, and the group stays due.
        """
        seen = len(table.changes)
        stale = table.summary(min(table.stale)) if table.stale else None
        rows = tuple(r for r in stale.rows if r in table) if stale else table.unsummarised(self.settings.group_size)
        if not rows:
            if stale:
                table.set_summary("", (), at, replaces=stale.number)
                return ()
            return self._profile(table, table.unprofiled(self.settings.group_size))
        entries = [table[row] for row in rows]
        text, calls = text_and_calls("summarizer", self.summarizer.summarize(entries))
        replaces = stale
        if not stale:
            found, more = self._overlap(table, text, rows)
            calls += more
            if watch:
                watch(found)
            if found.merged is not None:
                text, rows, replaces = found.merged, (*found.nearest.rows, *rows), found.nearest
        if not set(rows).isdisjoint(table.changes[seen:]):
            return calls
        table.set_summary(text, rows, at, replaces=replaces.number if replaces else None)
        return calls if stale else calls + self._profile(table, tuple(entry.index for entry in entries))

    def update_all(self, table: MemoryTable, *, at: datetime, progress: Callable[[int, int], None] | None = None) -> int:
        """Bring all summaries up to date and return how many groups were made; `progress(done, total)` after each."""
        size = self.settings.group_size
        total = table.unsummarised_count // size + len(table.stale) + -(-table.unprofiled_count // size)
        for done in range(total):
            self.update(table, at=at)
            if progress:
                progress(done + 1, total)
        return total

    def _profile(self, table: MemoryTable, rows: tuple[int, ...]) -> tuple[Call, ...]:
        """Let the personality take in `rows`, unless one of them changes meanwhile, and return the calls."""
        if not rows:
            return ()
        seen = len(table.changes)
        said = self.profiler.profile(table.personality, [table[row] for row in rows])
        personality, calls = text_and_calls("profiler", said)
        if set(rows).isdisjoint(table.changes[seen:]):
            table.set_personality(personality, rows)
        return calls

    def _overlap(self, table: MemoryTable, text: str, rows: tuple[int, ...]) -> tuple[Overlap, tuple[Call, ...]]:
        """Return what the new summary is compared with, and the calls (Figure 5).

        Where parts of it and of the nearest old set are similar, both become one; else it stands beside.
        """
        nearest, cosine = self._nearest(table.embed([text])[0], table)
        if nearest is None:
            return Overlap(rows, text), ()
        merged, calls = text_and_calls("merger", self.merger.merge(nearest.text, text), or_none=True)
        return Overlap(rows, text, nearest, cosine, merged), calls

    def _nearest(self, vector: np.ndarray, table: MemoryTable) -> tuple[Summary | None, float]:
        """Return the set nearest to `vector` and its cosine, among those with a text that is not stale."""
        summaries = table.summaries
        cosines = table.summary_vectors() @ vector  # (n_summaries,)
        for at in np.argsort(-cosines, kind="stable"):
            if summaries[at].text and not summaries[at].stale:
                return summaries[at], float(cosines[at])
        return None, 0.0
