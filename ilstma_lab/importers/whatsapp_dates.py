"""Dates and times as WhatsApp writes them in many countries, and the order of day and month."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ilstma_lab.errors import InputError
from ilstma_lab.importers.job import Job

DATE_AND_TIME = (
    r"(?P<first>\d{1,4})[./-] ?(?P<second>\d{1,2})[./-] ?(?P<third>\d{1,4})\.?,? "
    r"(?P<before>上午|下午|午前|午後|오전|오후)? ?"
    r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second_of>\d{2}))? ?(?P<after>[ap]\. ?m\.|[ap]m)?"
)
_AFTERNOON = ("下午", "午後", "오후")


@dataclass(frozen=True, slots=True)
class DateOrder:
    """Whether the day stands before the month. A date that begins with its year is always year, month, day."""

    day_first: bool

    @classmethod
    def of(cls, dates: Sequence[tuple[str, Mapping[str, str]]], job: Job) -> DateOrder:
        """Return the order that all dates (place and numbers) agree on, or that `job.day_first` gives."""
        days = [(place, int(d["first"]), int(d["second"])) for place, d in dates if len(d["first"]) < 3]
        by_day = next((place for place, first, _ in days if first > 12), None)
        by_month = next((place for place, _, second in days if second > 12), None)
        if by_day and by_month:
            job.fail(by_day, f"day and month stand in another order than in {by_month}")
        settled = {order: place for order, place in ((True, by_day), (False, by_month)) if place}
        if not settled and job.day_first is None and any(first != second for _, first, second in days):
            raise InputError(
                f"{job.content.name}: nothing in it says whether the day or the month comes first. "
                "Pass day_first=True (--day-first) for 31/12, day_first=False (--no-day-first) for 12/31."
            )
        for order, place in settled.items():
            if job.day_first not in (None, order):
                job.fail(place, f"day_first={job.day_first} cannot be: no month has that number")
            job.note(f"the {'day' if order else 'month'} comes first, as {place} shows")
        return cls(next(iter(settled), bool(job.day_first)))

    def instant(self, date: Mapping[str, str], place: str, job: Job) -> datetime:
        """Return the instant of a date's numbers, read as UTC."""
        first, second, third = (int(date[key]) for key in ("first", "second", "third"))
        if len(date["first"]) >= 3:
            year, month, day = first, second, third
        else:
            day, month = (first, second) if self.day_first else (second, first)
            year = third + 2000 if third < 100 else third
        try:
            return datetime(year, month, day, _hour(date), int(date["minute"]), int(date.get("second_of", 0)), tzinfo=UTC)
        except ValueError as error:
            job.fail(place, f"not a date and time: {error}")


def _hour(date: Mapping[str, str]) -> int:
    hour = int(date["hour"])
    after, before = date.get("after", "").casefold(), date.get("before", "")
    if not (after or before) or hour > 12:
        return hour
    return hour % 12 + 12 * (after.startswith("p") or before in _AFTERNOON)
