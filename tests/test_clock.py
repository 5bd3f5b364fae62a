from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from ilstma_lab import ManualClock, SystemClock
from ilstma_lab.errors import InputError
from tests.memory.kit import START, at, table_of


def test_the_system_clock_is_aware_and_in_utc():
    assert SystemClock().now().utcoffset() == timedelta(0)


def test_a_manual_clock_stands_still_until_it_is_moved():
    clock = ManualClock(START)
    assert clock.now() == clock.now() == START
    assert clock.advance(days=2, seconds=5).now() == START + timedelta(days=2, seconds=5)
    assert clock.advance(days=-2).now() == START + timedelta(seconds=5)
    assert clock.set("2026-02-03").now() == datetime(2026, 2, 3, tzinfo=UTC)


def test_a_manual_clock_takes_any_zone_and_gives_utc():
    assert ManualClock(datetime(2024, 1, 1, 8, tzinfo=timezone(timedelta(hours=8)))).now() == datetime(2024, 1, 1, tzinfo=UTC)


def test_after_a_table_is_one_day_after_its_last_dialogue():
    assert ManualClock.after(table_of("a", "b", "c")).now() == at(3)
    assert ManualClock.after(table_of()).now() == datetime(2000, 1, 1, tzinfo=UTC)


def test_a_clock_needs_a_time():
    with pytest.raises(InputError, match="not a point in time"):
        ManualClock("soon")
