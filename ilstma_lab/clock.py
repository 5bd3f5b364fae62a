"""Time is passed in: the system's clock, or one that a lesson moves by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from ilstma_lab.errors import InputError

if TYPE_CHECKING:
    from ilstma_lab.memory.table import MemoryTable

DAY = timedelta(days=1)


def moved(moment: datetime, shift: timedelta) -> datetime:
    """Return the moment that is `shift` after an aware `moment`, by time that passes, whatever clocks on a wall do meanwhile.

    Raises InputError for what lies before the year 1 or after 9999.
    """
    try:
        return (moment.astimezone(UTC) + shift).astimezone(moment.tzinfo)
    except OverflowError:
        raise InputError(
            f"time ends with the year 9999, and begins with the year 1: no clock goes {shift.days:,} days on from {moment.date()}"
        ) from None


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
        """Return a clock one day after the last dialogue of `table` (an empty table: 2000-01-01; at the end of time: then)."""
        if len(table) == 0:
            return cls(datetime(2000, 1, 1, tzinfo=UTC))
        last = datetime.max.replace(tzinfo=UTC)
        return cls(last if table.last_created > last - DAY else table.last_created + DAY)

    def now(self) -> datetime:
        """Return the moment at which the clock stands."""
        return self._now

    def advance(self, *, days: float = 0, seconds: float = 0) -> ManualClock:
        """Move the clock forward (backward if negative) and return it. Raises InputError where no calendar reaches."""
        self._now = moved(self._now, _span(days, seconds))
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
        return moved(self._clock.now(), self.shift)

    def advance(self, *, days: float = 0) -> ShiftedClock:
        """Move the clock forward (backward if negative) and return it. Raises InputError where no calendar reaches."""
        shift = self.shift + _span(days)
        moved(self._clock.now(), shift)
        self.shift = shift
        return self


def _span(days: float, seconds: float = 0) -> timedelta:
    try:
        return timedelta(days=days, seconds=seconds)
    except (OverflowError, ValueError):
        raise InputError(
            f"a clock is moved by a number of days that a calendar holds (got {days:g} days, {seconds:g} s)"
        ) from None
