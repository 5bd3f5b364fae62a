"""Time in all its forms: zones, hours that stand twice or not at all, clocks that go back, and the ends of the calendar."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ilstma_lab import ILSTMA, Config, Dialogue, ManualClock, MemoryTable, Turn
from ilstma_lab.clock import DAY, ShiftedClock, moved
from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.retention import ExponentialRetention, retention_of, whole_days
from ilstma_lab.forgetting.strength import SigmoidStrength
from ilstma_lab.memory.entry import to_instant, to_microseconds, to_moment
from ilstma_lab.retrieval.dates import named_days
from tests.memory.kit import EMBEDDER, abandon, load, state
from tests.stubs import DAY_0, asking, said, stub_lab, stub_models, table_of

BERLIN, NEW_YORK, LORD_HOWE = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York"), ZoneInfo("Australia/Lord_Howe")
KATHMANDU, APIA, KIRITIMATI = ZoneInfo("Asia/Kathmandu"), ZoneInfo("Pacific/Apia"), ZoneInfo("Pacific/Kiritimati")
ZONES = [BERLIN, NEW_YORK, LORD_HOWE, KATHMANDU, APIA, KIRITIMATI, UTC]
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
TWICE = datetime(2024, 10, 27, 2, 30, tzinfo=BERLIN)  # 02:30 stands twice on that day
ENDS = [FIRST, FIRST + timedelta(microseconds=1), LAST - DAY, LAST]
LEAP_DAYS = [datetime(year, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC) for year in (4, 1600, 2000, 2024, 9996)]

within = st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31))
zoned = st.builds(
    lambda moment, zone, fold: moment.replace(tzinfo=zone, fold=fold), within, st.sampled_from(ZONES), st.sampled_from([0, 1])
)
around_changes = st.builds(
    lambda change, minutes, fold: (change + timedelta(minutes=minutes)).replace(fold=fold),
    st.sampled_from(
        [
            datetime(2024, 3, 31, 2, tzinfo=BERLIN),
            datetime(2024, 10, 27, 2, tzinfo=BERLIN),
            datetime(2024, 3, 10, 2, tzinfo=NEW_YORK),
            datetime(2024, 11, 3, 1, tzinfo=NEW_YORK),
            datetime(2024, 4, 7, 1, 30, tzinfo=LORD_HOWE),  # half an hour
            datetime(2011, 12, 30, tzinfo=APIA),  # a day that never was
        ]
    ),
    st.integers(-200, 200),
    st.sampled_from([0, 1]),
)
extremes = st.sampled_from([*ENDS, *LEAP_DAYS])
moments = st.one_of(zoned, around_changes, extremes)


# -- zones and hours that are doubled or skipped -------------------------------------------------------------------------


@given(moments)
@example(TWICE)
@example(TWICE.replace(fold=1))
def test_c5_a_moment_is_the_same_instant_however_it_is_told(moment):
    instant = moment.astimezone(UTC)
    for told in (moment, moment.isoformat(), instant, instant.isoformat(), instant.isoformat().replace("+00:00", "Z")):
        assert to_instant(told) == instant
        assert to_microseconds(to_moment(told)) == to_microseconds(instant)
    assert to_moment(moment).utcoffset() == moment.utcoffset()
    assert to_moment(moment.isoformat()).date() == moment.date()


@pytest.mark.parametrize("name", sorted(available_timezones())[::25])
def test_every_zone_keeps_the_speakers_day(name):
    zone = ZoneInfo(name)
    told = [datetime(2024, month, 1, hour, 7, tzinfo=zone) for month in (1, 7) for hour in (0, 12, 23)]
    table = MemoryTable.from_dialogues([Dialogue(f"row {n}", "", at) for n, at in enumerate(told)], embedder=EMBEDDER)
    assert [table.day_of(row) for row in range(6)] == [at.date() for at in told]
    assert [int(days) for days in table.days] == [(at.date() - date(1970, 1, 1)).days for at in told]


@settings(max_examples=40)
@given(st.lists(moments, min_size=1, max_size=6))
def test_rows_come_in_the_order_of_instants_whatever_their_zones(told):
    rows = [Dialogue(f"row {n}", "", at.isoformat()) for n, at in enumerate(told)]  # as text: an offset, no zone
    table = MemoryTable.from_dialogues(rows, embedder=EMBEDDER)
    assert (np.diff(table.created) >= 0).all()
    assert sorted(table.created.tolist()) == sorted(to_microseconds(at.astimezone(UTC)) for at in told)


def test_rows_of_an_hour_that_stands_twice_come_in_the_order_in_which_they_were_said():
    first, later = TWICE, TWICE.replace(minute=10, fold=1)  # 00:30 and 01:10 in UTC
    table = MemoryTable.from_dialogues([Dialogue("first", "", first), Dialogue("later", "", later)], embedder=EMBEDDER)
    assert [row.user for row in table] == ["first", "later"]
    assert (np.diff(table.created) >= 0).all()


def test_a_moment_of_an_hour_that_stands_twice_equals_its_instant():
    assert Dialogue("x", "", TWICE).at == TWICE.astimezone(UTC)
    assert to_moment(TWICE.replace(fold=1)) - to_moment(TWICE) == timedelta(hours=1)


@settings(max_examples=15)
@given(st.lists(moments, min_size=1, max_size=4), moments)
def test_a_table_comes_back_from_its_journal_and_its_snapshot_to_the_microsecond(tmp_path_factory, told, touched):
    path = tmp_path_factory.mktemp("time") / "t.json"
    MemoryTable(embedder=EMBEDDER).save(path)
    table = load(path)
    for number, at in enumerate(told):
        table.add(Dialogue(f"row {number}", "yes", at))
    table.touch([0], touched, "when?")
    table.touch([0], touched, "and?", deferred=True)
    table.set_summary("a summary", [0], touched)
    table.open_question("open", touched)
    expected = state(table)
    abandon(table)
    again = load(path)
    assert state(again) == expected
    again.write_waiting()
    written = state(again)
    again.close()
    again = load(path)
    assert state(again) == written
    assert [row.created.isoformat() for row in again] == [row.created.isoformat() for row in table]
    for row, at in zip(again, told, strict=True):
        assert to_microseconds(row.created) == to_microseconds(at.astimezone(UTC))
    assert again[0].recall_times == 3


@pytest.mark.parametrize("deferred", [False, True])
@pytest.mark.parametrize("year", [1, 1885, 1969, 1970, 2024, 9999])
def test_the_last_recall_is_that_of_the_touch_in_any_year(year, deferred):
    told = datetime(year, 1, 1, tzinfo=UTC)
    table = MemoryTable.from_dialogues([Dialogue("a row", "", told)], embedder=EMBEDDER)
    table.touch([0], told + DAY, "when?", deferred=deferred)
    table.write_waiting()
    assert (table[0].last_recall, table[0].recall_times) == (told + DAY, 2)


# -- intervals, retention, scores ----------------------------------------------------------------------------------------


@given(moments, moments)
def test_c2_intervals_are_whole_days_of_24_hours(before, now):
    days = int(whole_days(to_microseconds(now.astimezone(UTC)), np.array([to_microseconds(before.astimezone(UTC))]))[0])
    assert days == (now.astimezone(UTC) - before.astimezone(UTC)) // DAY


@pytest.mark.parametrize(
    ("at", "hours"), [(datetime(2024, 3, 30, 12, tzinfo=BERLIN), 23), (datetime(2024, 10, 26, 12, tzinfo=BERLIN), 25)]
)
def test_a_day_on_which_the_clocks_change_has_23_or_25_hours_and_counts_by_them(at, hours):
    next_noon = at.replace(day=at.day + 1)
    elapsed = to_microseconds(next_noon.astimezone(UTC)) - to_microseconds(at.astimezone(UTC))
    assert elapsed == hours * 3_600_000_000
    assert whole_days(to_microseconds(next_noon.astimezone(UTC)), np.array([to_microseconds(at.astimezone(UTC))]))[0] == (
        hours == 25
    )


@given(moments, st.lists(st.tuples(moments, st.integers(1, 2**31 - 1)), min_size=1, max_size=8))
def test_c2_retention_stays_between_0_and_1_at_any_moment(now, rows):
    last = np.array([to_microseconds(at.astimezone(UTC)) for at, _ in rows])
    times = np.array([count for _, count in rows], np.int32)
    r = retention_of(
        last, times, now=to_microseconds(now.astimezone(UTC)), retention=ExponentialRetention(), strength=SigmoidStrength()
    )
    assert ((r >= 0) & (r <= 1)).all()
    assert (r[last >= to_microseconds(now.astimezone(UTC))] == 1).all()


@settings(max_examples=25)
@given(moments)
def test_c2_what_is_prefetched_has_scores_that_can_be_at_any_moment(now):
    lab = stub_lab(8)
    turn = lab.ask(asking(3), at=now, remember=False)
    assert not turn.failure
    assert not [step.error for step in turn.steps if step.error]
    for row in turn.prefetch.rows:
        assert 0 <= row.time <= 1
        assert np.isfinite(row.score)
    assert turn.at == now or turn.at.astimezone(UTC) == now.astimezone(UTC)
    assert Turn.from_json(turn.to_json()).to_json() == turn.to_json()
    assert str(turn)
    assert turn._repr_html_()


@pytest.mark.parametrize("config", [Config(), Config.literal(), Config.measured()])
@pytest.mark.parametrize("now", [*ENDS, LEAP_DAYS[3], TWICE, TWICE.replace(fold=1)])
def test_every_preset_answers_at_the_ends_of_the_calendar(config, now):
    lab = stub_lab(8, config)
    for question in (asking(2), asking(5), "What did we do yesterday, two weeks ago, last Monday and 上上周日?"):
        turn = lab.ask(question, at=now)
        assert not turn.failure
        assert turn.row is not None
    assert str(lab.table)
    assert lab.table._repr_html_()
    frame = lab.table.to_frame()
    assert (frame["time_interval"] >= 0).all()
    assert lab.undo().row == 10


def test_clocks_that_go_back_between_turns_lose_nothing(tmp_path):
    table_of(8).save(tmp_path / "t.json")
    table = load(tmp_path / "t.json")
    lab = ILSTMA(table, models=stub_models(), clock=ManualClock(DAY_0 + timedelta(days=30)))
    times = [30, 10, -400, 31, 30.999, -3_000]
    for number, days in enumerate(times):
        lab.clock.set(DAY_0 + timedelta(days=days))
        turn = lab.ask(asking(number))
        assert not turn.failure
        assert turn.at == DAY_0 + timedelta(days=days)
    assert table.indices.tolist() == list(range(8 + len(times)))
    assert table[0].last_recall == DAY_0 + timedelta(days=30), "a recall that comes earlier by the clock takes no later one back"
    lab.write_waiting() if hasattr(lab, "write_waiting") else table.write_waiting()
    assert (table.last_recall >= table.created).all() or table.to_frame()["clamped"].any()
    abandon(table)
    assert state(load(tmp_path / "t.json")) == state(table)


def test_c2_rows_of_the_future_are_flagged_and_count_as_fresh():
    rows = [said(0), Dialogue("from the future", "", DAY_0 + timedelta(days=365_000)), Dialogue("the last", "", LAST)]
    frame = MemoryTable.from_dialogues(rows, embedder=EMBEDDER).to_frame(now=DAY_0 + timedelta(days=2))
    assert frame["time_interval"].tolist() == [2, 0, 0]
    assert frame["clamped"].tolist() == [False, True, True]


# -- spoken dates --------------------------------------------------------------------------------------------------------

PHRASES = (
    "today yesterday",
    "last night and the day before yesterday",
    "two weeks ago, 300 days ago, a week ago",
    "last monday, on friday, this past sunday",
    "上周日 上上周一 这周日 前天 三天前 两周前",
    "the last sunday of february, the first monday in march, the fourth friday of december",
    "february 29th; 29 feb 2024; 2024-02-29; 2023-02-29; 12月31日; 0001-01-01; 9999-12-31",
    "February 29, 0000 and 99 January and 13月40日 and 0月0日",
)


@given(st.dates(date(21, 1, 1), date(9999, 12, 20)), st.sampled_from(PHRASES))
def test_days_that_are_spoken_of_lie_before_the_day_of_asking(asked_on, phrase):
    assert all(day <= asked_on for day in named_days(phrase, asked_on))


@given(st.dates(date(21, 1, 1), date(9999, 12, 20)), st.text(max_size=20), st.integers(0, 999))
def test_no_text_breaks_the_reading_of_days(asked_on, text, number):
    named_days(f"{text} {number} days ago {text} {number}周前 {number}-{number}-{number}", asked_on)


@pytest.mark.parametrize("asked_on", [date.min, date.min + timedelta(5), date.max])
def test_days_beyond_the_calendar_are_left_out(asked_on):
    for phrase in PHRASES:
        assert all(day <= asked_on for day in named_days(phrase, asked_on))


@pytest.mark.parametrize(
    ("asked_on", "phrase", "day"),
    [
        (date(2024, 3, 1), "yesterday", date(2024, 2, 29)),
        (date(2023, 3, 1), "yesterday", date(2023, 2, 28)),
        (date(2025, 3, 1), "february 29th", date(2024, 2, 29)),
        (date(2024, 3, 1), "february 29th", date(2024, 2, 29)),
        (date(2025, 1, 5), "december 31", date(2024, 12, 31)),
        (date(2024, 1, 1), "one week ago", date(2023, 12, 25)),
        (date(2000, 2, 29), "2月29日", date(2000, 2, 29)),
        (date(1900, 3, 1), "昨天", date(1900, 2, 28)),
    ],
)
def test_leap_days_and_turns_of_the_year(asked_on, phrase, day):
    assert named_days(phrase, asked_on) == {day}


def test_a_leap_day_without_its_year_is_the_last_there_was():
    assert named_days("february 29th", date(2027, 5, 1)) == {date(2024, 2, 29)}


# -- clocks --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", [BERLIN, NEW_YORK, UTC, timezone(timedelta(hours=-11))])
def test_a_clock_moves_by_time_that_passes(zone):
    clock = ManualClock(datetime(2024, 3, 30, 12, tzinfo=zone))
    start = to_microseconds(clock.now())
    assert to_microseconds(clock.advance(days=1).now()) - start == 86_400_000_000
    assert to_microseconds(clock.advance(seconds=-86_400).now()) == start
    shifted = ShiftedClock(clock).advance(days=1)
    assert to_microseconds(shifted.now()) - start == 86_400_000_000


@given(moments, st.integers(-10_000_000, 10_000_000))
def test_a_clock_goes_where_a_calendar_goes_and_is_refused_elsewhere(start, days):
    clock = ManualClock(start)
    try:
        there = start.astimezone(UTC) + timedelta(days=days)
        there.astimezone(start.tzinfo)
    except OverflowError:
        with pytest.raises(InputError, match="time ends with the year 9999"):
            clock.advance(days=days)
        assert clock.now().astimezone(UTC) == start.astimezone(UTC)
    else:
        assert clock.advance(days=days).now().astimezone(UTC) == there
        assert moved(start, timedelta(days=days)).utcoffset() == there.astimezone(start.tzinfo).utcoffset()


@pytest.mark.parametrize("days", [float("nan"), float("inf"), 1e300, -1e12])
def test_a_clock_is_not_moved_by_what_is_no_number_of_days(days):
    for clock in (ManualClock(DAY_0), ShiftedClock(ManualClock(DAY_0))):
        with pytest.raises(InputError):
            clock.advance(days=days)
        assert clock.now() == DAY_0


@pytest.mark.parametrize("end", ENDS[2:])
def test_a_clock_after_a_table_that_ends_with_the_calendar(end):
    table = MemoryTable.from_dialogues([Dialogue("the end", "", end)], embedder=EMBEDDER)
    assert ManualClock.after(table).now() == LAST
    turn = ILSTMA(table, models=stub_models(), clock=ManualClock.after(table)).ask("the end?")
    assert not turn.failure


def test_a_shift_that_the_calendar_does_not_hold_is_refused():
    clock = ManualClock(LAST - DAY)
    shifted = ShiftedClock(clock, shift=timedelta(hours=5))
    with pytest.raises(InputError, match="time ends with the year 9999"):
        shifted.advance(days=2)
    assert shifted.now() == LAST - timedelta(hours=19)
    with pytest.raises(InputError, match="time ends with the year 9999"):
        ShiftedClock(clock, shift=timedelta(days=3)).now()


@pytest.mark.parametrize(
    "value", ["0000-01-01", "10000-01-01", "9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01", "2023-02-29", "24:00"]
)
def test_c3_what_no_calendar_holds_is_refused_with_a_message(value):
    with pytest.raises(InputError, match="not a point in time"):
        Dialogue("x", "", value)


@given(moments)
def test_times_in_json_read_back(moment):
    assert to_instant(json.loads(json.dumps(to_moment(moment).isoformat()))) == moment.astimezone(UTC)
