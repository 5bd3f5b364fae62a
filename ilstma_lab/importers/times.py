"""Instants for what carries none, or only a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NoReturn

DIALOGUES_A_DAY = 5
MINUTES_APART = 5


def synthetic_time(number: int) -> datetime:
    """Return an instant for dialogue `number` (from 0) of an undated conversation: five a day, five minutes apart.

    >>> synthetic_time(6).isoformat()
    '2000-01-02T00:05:00+00:00'
    """
    day, turn = divmod(number, DIALOGUES_A_DAY)
    return datetime(2000, 1, 1, tzinfo=UTC) + timedelta(days=day, minutes=MINUTES_APART * turn)


class Ticker:
    """Gives the turns of dated sessions instants that rise by `step`, so that a long session never mixes with the next."""

    def __init__(self, step: timedelta, *, fail: Callable[[str, str], NoReturn]):
        self._step = step
        self._fail = fail
        self._last: datetime | None = None

    def next(self, start: datetime) -> datetime:
        """Return `start` for the first turn of a session, a step after the turn before for the others.

        Calls `fail(place, problem)` where that falls behind the year 9999, the last that a date can have.
        """
        late = self._last is not None and start <= self._last
        try:
            self._last = self._last + self._step if late else start
        except OverflowError:
            self._fail(f"{start:%Y-%m-%d %H:%M}", "the turns of this session fall behind the year 9999. Correct its date.")
        return self._last
