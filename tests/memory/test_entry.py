from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab import Dialogue
from ilstma_lab.errors import InputError
from ilstma_lab.memory.entry import clean_text, from_microseconds, is_blank, to_instant, to_microseconds
from tests.memory.kit import START, table_of

FAMILY = "\U0001f468‍\U0001f469‍\U0001f467‍\U0001f466"


@pytest.mark.parametrize("blank", ["", "   ", "\n\t", "\u200b", "\u200e \u2060\ufeff", "\x00", "\u00ad"])
def test_f1_what_cannot_be_seen_is_blank_and_makes_no_row(blank):
    assert is_blank(blank)
    with pytest.raises(InputError, match="blank"):
        Dialogue(blank, blank, START)


@pytest.mark.parametrize("text", ["hm", ".", "\U0001f600", "我", "a\u200b"])
def test_f1_what_can_be_seen_is_not_blank(text):
    assert not is_blank(text)
    assert Dialogue("", text, START).text == f"\n{text}"


def test_f2_j3_half_surrogates_are_replaced_and_whole_emoji_kept():
    dialogue = Dialogue("hi \ud83d", f"\udc97 {FAMILY}", START, source="\ud83d")
    assert (dialogue.user, dialogue.assistant, dialogue.source) == ("hi \ufffd", f"\ufffd {FAMILY}", "\ufffd")


def test_f2_every_text_that_enters_a_table_is_cleaned(tmp_path):
    table = table_of("one", "two")
    table.touch([0], START, "what \ud83d")
    table.open_question("why \udc97", START)
    table.set_personality("\ud83d")
    table.set_summary("\ud83d", [0], START)
    table.save(tmp_path / "t.json")
    assert "\ufffd" in (tmp_path / "t.json").read_text("utf-8")


@given(st.text(st.characters()))
def test_clean_text_can_always_be_encoded_and_changes_nothing_else(text):
    cleaned = clean_text(text)
    cleaned.encode("utf-8")
    assert len(cleaned) == len(text)
    assert clean_text(cleaned) == cleaned


@pytest.mark.parametrize("value", [b"bytes", None, 3, ["list"]])
def test_only_strings_are_texts(value):
    with pytest.raises(InputError, match="must be a string"):
        Dialogue(value, "b", START)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2024-01-01T00:00:00", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-01-01T00:00:00Z", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-01-01T08:00:00+08:00", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-01-01", datetime(2024, 1, 1, tzinfo=UTC)),
        (" 2024-01-01 ", datetime(2024, 1, 1, tzinfo=UTC)),
        (date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)),
        (datetime(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC)),
        (datetime(2024, 1, 1, 8, tzinfo=timezone(timedelta(hours=8))), datetime(2024, 1, 1, tzinfo=UTC)),
        (1704067200, datetime(2024, 1, 1, tzinfo=UTC)),
        (np.float64(1704067200), datetime(2024, 1, 1, tzinfo=UTC)),
    ],
)
def test_c5_all_ways_to_write_an_instant_give_one(value, expected):
    assert to_instant(value) == expected
    assert to_instant(value).tzinfo is UTC


@pytest.mark.parametrize("value", ["", "not a date", None, True, [], float("nan"), float("inf"), 1e30, "24:99"])
def test_c3_what_is_no_time_is_refused_with_a_message(value):
    with pytest.raises(InputError, match="not a point in time"):
        to_instant(value)


def test_c3_nat_of_pandas_is_no_time():
    pd = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="not a point in time"):
        to_instant(pd.NaT)
    assert to_instant(pd.Timestamp("2024-01-01T08:00", tz="Asia/Shanghai")) == datetime(2024, 1, 1, tzinfo=UTC)


@given(st.datetimes(timezones=st.just(UTC)))
def test_microseconds_are_exact_both_ways(instant):
    assert from_microseconds(to_microseconds(instant)) == instant
