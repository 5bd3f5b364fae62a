"""Time is passed in: the system's clock, or one that a lesson moves by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ilstma_lab.memory.table import MemoryTable

DAY = timedelta(days=1)


class Clock(Protocol):
    """Tells what time it is."""

    def now(self) -> datetime:
        """Return the present moment, aware of its zone."""
        ...


class SystemClock:
    """The computer's own time."""

    def now(self) -> datetime:
        """Return the present instant in UTC."""
        return datetime.now(UTC)


class ManualClock:
    """A clock that stands still until it is moved.

    >>> clock = ManualClock(datetime(2026, 3, 1, tzinfo=UTC))
    >>> clock.advance(days=3).now().day
    4
    """

    def __init__(self, start: datetime):
        from ilstma_lab.memory.entry import to_moment

        self._now = to_moment(start)

    @classmethod
    def after(cls, table: MemoryTable) -> ManualClock:
        """Return a clock one day after the last dialogue of `table` (an empty table: 2000-01-01)."""
        if len(table) == 0:
            return cls(datetime(2000, 1, 1, tzinfo=UTC))
        return cls(table.last_created + DAY)

    def now(self) -> datetime:
        """Return the moment at which the clock stands."""
        return self._now

    def advance(self, *, days: float = 0, seconds: float = 0) -> ManualClock:
        """Move the clock forward (backward if negative) and return it."""
        self._now += timedelta(days=days, seconds=seconds)
        return self

    def set(self, instant: datetime) -> ManualClock:
        """Put the clock at `instant` and return it."""
        from ilstma_lab.memory.entry import to_moment

        self._now = to_moment(instant)
        return self


class ShiftedClock:
    """A clock that runs like another, `shift` ahead of it: a chat that goes on where a table ended.

    >>> ShiftedClock(ManualClock(datetime(2026, 3, 1, tzinfo=UTC))).advance(days=3).now().day
    4
    """

    def __init__(self, clock: Clock | None = None, *, shift: timedelta = timedelta(0)):
        self._clock = clock or SystemClock()
        self.shift = shift

    def now(self) -> datetime:
        """Return the present moment."""
        return self._clock.now() + self.shift

    def advance(self, *, days: float = 0) -> ShiftedClock:
        """Move the clock forward (backward if negative) and return it."""
        self.shift += timedelta(days=days)
        return self
