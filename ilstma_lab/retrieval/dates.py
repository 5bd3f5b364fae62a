"""The days that a question names, in English or Chinese: absolute ones, and ones relative to the day on which it is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

_MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH = {name[:3]: number for number, name in enumerate(_MONTHS, 1)}
_MONTH_NAME = "|".join([*_MONTHS, *(name[:3] for name in _MONTHS), "sept"])
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY_NAME = "|".join(_WEEKDAYS)
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "两": 2}
_DIGITS = {digit: value for value, digit in enumerate("零一二三四五六七八九十")}
_NUMBER_ZH = "[0-9]{1,2}|[一二三四五六七八九十]{1,3}"

_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_MONTH_FIRST = re.compile(rf"\b({_MONTH_NAME})\.?\s+(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)?\b(?!:\d)(?:,?\s+(\d{{4}})\b)?")
_DAY_FIRST = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({_MONTH_NAME})\b(?:,?\s+(\d{{4}})\b)?")
_MONTH_ZH = re.compile(rf"(?:(\d{{4}})年)?({_NUMBER_ZH})月({_NUMBER_ZH})[日号]?")
_NTH_WEEKDAY = re.compile(rf"\b(first|second|third|fourth|last) ({_WEEKDAY_NAME}) (?:of|in) ({_MONTH_NAME})\b")
_LAST_WEEKDAY = re.compile(rf"\b(?:last|on|this past) ({_WEEKDAY_NAME})\b")
_WEEKDAY_ZH = re.compile(r"(上上|上|这|本)?个?(?:周|星期|礼拜)([一二三四五六日天])")
_AGO = re.compile(r"\b(\d{1,3}|an?|one|two|three|four|five|six|seven) (day|week)s? ago\b")
_AGO_ZH = re.compile(rf"({_NUMBER_ZH}|两)(天|周|个星期)(?:之)?前")
_NEAR = (
    (re.compile(r"\btoday\b|\bthis (?:morning|afternoon)\b|今天|今早"), 0),
    (re.compile(r"(?<!day before )\byesterday\b|\blast night\b|昨[天晚日]"), 1),
    (re.compile(r"\bthe day before yesterday\b|前[天晚]"), 2),
)
_NTH = {"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1}


def named_days(text: str, asked_on: date) -> frozenset[date]:
    """Return the days on or before `asked_on` that `text` names; a date without a year is its nearest past one.

    >>> sorted(map(str, named_days("What did I say on May 4th, and two days ago?", date(2023, 5, 10))))
    ['2023-05-04', '2023-05-08']
    >>> sorted(map(str, named_days("上周四我们聊了什么？", date(2026, 4, 7))))
    ['2026-04-02']
    """
    found = {*_absolute(text.casefold(), asked_on), *_relative(text.casefold(), asked_on)}
    return frozenset(day for day in found if day is not None and day <= asked_on)


def _absolute(text: str, asked_on: date) -> Iterator[date]:
    for year, month, day in _ISO.findall(text):
        yield from _on(int(month), int(day), year, asked_on)
    for month, day, year in _MONTH_FIRST.findall(text):
        yield from _on(_MONTH[month[:3]], int(day), year, asked_on)
    for day, month, year in _DAY_FIRST.findall(text):
        yield from _on(_MONTH[month[:3]], int(day), year, asked_on)
    for year, month, day in _MONTH_ZH.findall(text):
        yield from _on(_number(month), _number(day), year, asked_on)
    for which, weekday, month in _NTH_WEEKDAY.findall(text):
        for first in _on(_MONTH[month[:3]], 1, "", asked_on):
            days = [first + timedelta(d) for d in range(31) if (first + timedelta(d)).month == first.month]
            yield [day for day in days if day.weekday() == _WEEKDAYS.index(weekday)][_NTH[which]]


def _relative(text: str, asked_on: date) -> Iterator[date | None]:
    for pattern, back in _NEAR:
        if pattern.search(text):
            yield _days_before(asked_on, back)
    for count, unit in [*_AGO.findall(text), *_AGO_ZH.findall(text)]:
        yield _days_before(asked_on, _number(count) * (1 if unit in ("day", "天") else 7))
    for weekday in _LAST_WEEKDAY.findall(text):
        yield _days_before(asked_on, (asked_on.weekday() - _WEEKDAYS.index(weekday)) % 7 or 7)
    for week, weekday in _WEEKDAY_ZH.findall(text):
        monday = asked_on.weekday() + {"上上": 14, "上": 7}.get(week, 0)
        yield _days_before(asked_on, monday - "一二三四五六日".index(weekday.replace("天", "日")))


def _days_before(day: date, days: int) -> date | None:
    try:
        return day - timedelta(days)
    except OverflowError:  # before the year 1, or after 9999
        return None


def _on(month: int, day: int, year: str, asked_on: date) -> Iterator[date]:
    """Yield the date if there is one: in `year`, or else in the year that brings it nearest before `asked_on`."""
    for candidate in [int(year)] if year else range(asked_on.year, asked_on.year - 9, -1):  # a leap day may lie 8 years back
        try:
            named = date(candidate, month, day)
        except ValueError:
            continue
        if named <= asked_on:
            yield named
            return


def _number(text: str) -> int:
    if text.isdigit():
        return int(text)
    if text in _COUNTS:
        return _COUNTS[text]
    tens, ten, ones = text.rpartition("十")
    return 10 * bool(ten) * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)
