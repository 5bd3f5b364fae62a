"""The rows of a table as the inspector reads them: S and R of all, and which are shown in which order. All of it in numpy."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ilstma_lab.clock import Clock, ManualClock
from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.retention import MICROSECONDS_PER_DAY, ExponentialRetention, retention_of
from ilstma_lab.forgetting.strength import SigmoidStrength
from ilstma_lab.memory.entry import from_microseconds, to_instant, to_microseconds
from ilstma_lab.memory.segments import ShortTermMemory
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.widgets.inspector_look import FILTERS, Look

if TYPE_CHECKING:
    from ilstma_lab.engine import ILSTMA
    from ilstma_lab.protocols import Retention, Strength

_LONGEST_NUMBER = 18


class Shown(NamedTuple):
    """What a look shows: positions in the table in the order shown (m,); S in days (n,) and R (n,) of all rows, by position."""

    positions: np.ndarray
    strength_days: np.ndarray
    kept: np.ndarray


class InspectedRows:
    """A table with the short-term memory over it, or None; the clock, strength and retention that S and R come from."""

    def __init__(
        self,
        table: MemoryTable,
        *,
        memory: ShortTermMemory | None,
        clock: Clock,
        strength: Strength,
        retention: Retention,
    ):
        self.table, self.memory, self.clock = table, memory, clock
        self.strength, self.retention = strength, retention
        self._asked = (-1, np.zeros(0, bool))
        self._hits = ((-1, ""), np.zeros(0, bool))

    @classmethod
    def of(
        cls,
        given: MemoryTable | ILSTMA,
        *,
        clock: Clock | None = None,
        strength: Strength | None = None,
        retention: Retention | None = None,
    ) -> InspectedRows:
        """Return the rows of a table or lab. What is not given is the lab's; of a table the paper's, a day after its last row."""
        lab = None if isinstance(given, MemoryTable) else given
        table = given if lab is None else getattr(lab, "table", None)
        if not isinstance(table, MemoryTable):
            raise InputError(f"give a MemoryTable or an ILSTMA lab (got {type(given).__name__})")
        curves = lab.config.prefetch if lab else None
        return cls(
            table,
            memory=lab.memory if lab else None,
            clock=clock or (lab.clock if lab else ManualClock.after(table)),
            strength=strength or (curves.strength if curves else SigmoidStrength()),
            retention=retention or (curves.retention if curves else ExponentialRetention()),
        )

    # -- time ------------------------------------------------------------------------------------------------------------

    def moment(self, days: int = 0) -> datetime:
        """Return the moment looked at: `days` after the clock's."""
        now = self.clock.now()
        later = from_microseconds(self.microseconds(days))
        return later.astimezone(now.tzinfo) if now.tzinfo else later

    def microseconds(self, days: int = 0) -> int:
        """Return the moment looked at, in the unit of the table's columns."""
        return to_microseconds(to_instant(self.clock.now())) + days * MICROSECONDS_PER_DAY

    # -- numbers of all rows -----------------------------------------------------------------------------------------------

    def strength_days(self) -> np.ndarray:
        """Return S of all rows, in days, shape (n,)."""
        return np.asarray(self.strength.days(self.table.recall_times), dtype=np.float64)

    def kept(self, days: int = 0) -> np.ndarray:
        """Return R of all rows `days` from now, shape (n,): Eq. 3."""
        table = self.table
        times = {"now": self.microseconds(days), "retention": self.retention, "strength": self.strength}
        return np.asarray(retention_of(table.last_recall, table.recall_times, **times), dtype=np.float64)

    def ahead_of_clock(self) -> int:
        """Return how many rows were last recalled after the clock's present moment: that counts as 0 days ago."""
        return int((self.table.last_recall > self.microseconds()).sum())

    # -- which rows ----------------------------------------------------------------------------------------------------------

    def shown(self, look: Look) -> Shown:
        """Return the rows that `look` shows, in its order; equal keys stay in the order of rows."""
        strength, kept = self.strength_days(), self.kept(look.days)
        positions = np.flatnonzero(self.only(look.only) & self.found(look.find))
        keys = {"created": self.table.created, "last": self.table.last_recall, "recalls": self.table.recall_times}
        key = {**keys, "S": strength, "R": kept, "row": self.table.indices}[look.sort][positions]
        return Shown(positions[np.argsort(-key if look.falling else key, kind="stable")], strength, kept)

    def counts(self) -> dict[str, int]:
        """Return how many rows each filter lets through; "cached" only where there is a short-term memory."""
        return {name: int(self.only(name).sum()) for name in FILTERS if name != "cached" or self.memory}

    def only(self, name: str) -> np.ndarray:
        """Return which rows the filter `name` lets through, shape (n,)."""
        match name:
            case "cached":
                return self._are(self.cached())
            case "waiting":
                return self._are(self.table.waiting)
            case "pending":
                return self.table.pending
            case "asked":
                return self._are_asked()
            case "told":
                return ~self._are_asked()
        return np.ones(len(self.table), bool)

    def cached(self) -> tuple[int, ...]:
        """Return the rows in the cache, best first; () without a short-term memory."""
        return tuple(row.index for row in self.memory.cache_scores) if self.memory else ()

    def found(self, find: str) -> np.ndarray:
        """Return which rows hold `find`, in whatever case, or have it as their number; shape (n,)."""
        find = find.strip()
        if not find:
            return np.ones(len(self.table), bool)
        key = (len(self.table.changes), find)
        if self._hits[0] != key:  # a page further down asks for the same again
            self._hits = (key, _holding(self.table, find))
        number = find.removeprefix("#")
        if number.isdecimal() and len(number) <= _LONGEST_NUMBER:
            return self._hits[1] | (self.table.indices == int(number))
        return self._hits[1]

    def _are(self, indices) -> np.ndarray:
        mask = np.zeros(len(self.table), bool)
        mask[[self.table.position(index) for index in indices]] = True
        return mask

    def _are_asked(self) -> np.ndarray:
        version, size = len(self.table.changes), len(self.table)
        if self._asked[0] != version:
            kinds = (self.table.kind_of(at) == "asked" for at in range(size))
            self._asked = (version, np.fromiter(kinds, bool, size))
        return self._asked[1]


def _holding(table: MemoryTable, find: str) -> np.ndarray:
    places = range(len(table))
    if find == find.swapcase():  # no letter of it has a case, as in Chinese: nothing to fold
        return np.fromiter((find in table.text(at) for at in places), bool, len(table))
    folded = find.casefold()
    return np.fromiter((folded in table.text(at).casefold() for at in places), bool, len(table))
