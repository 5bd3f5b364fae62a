"""Short-term memory with segments switched off, to see what each of them is good for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ilstma_lab.memory.segments import HistoryTurn, ShortTermMemory
from ilstma_lab.prefetch.selection import ScoredRow


class SegmentsOff(ShortTermMemory):
    """A short-term memory like `memory`, in which the segments named in `without` stay empty."""

    def __init__(self, memory: ShortTermMemory, without: Collection[str]):
        super().__init__(memory.table, memory.limits)
        self._without = frozenset(without)
        self.restore(memory.state())

    def restore(self, state: tuple) -> None:
        """Put back what `state` returned, but for the segments that stay empty."""
        empty = {"cache": (0, ()), "relevant": (1, ()), "summary": (2, None), "history": (3, ())}
        parts = dict(enumerate(state)) | {at: nothing for name, (at, nothing) in empty.items() if name in self._without}
        super().restore(tuple(parts.values()))

    @property
    def personality(self) -> str:
        """What is known of the user's ways, or ""."""
        return "" if "personality" in self._without else self.table.personality

    def fill_cache(self, rows: Sequence[ScoredRow]) -> None:
        """Put the prefetched rows in, unless the cache stays empty."""
        super().fill_cache(() if "cache" in self._without else rows)

    def fill_relevant(self, rows: Sequence[int]) -> None:
        """Put the recalled rows in, unless the segment stays empty."""
        super().fill_relevant(() if "relevant" in self._without else rows)

    def choose_summary(self, number: int | None) -> None:
        """Put a summary in, unless the segment stays empty."""
        super().choose_summary(None if "summary" in self._without else number)

    def push(self, turn: HistoryTurn) -> None:
        """Add a finished turn, unless the history stays empty."""
        if "history" not in self._without:
            super().push(turn)
