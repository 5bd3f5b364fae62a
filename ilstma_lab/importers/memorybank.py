"""MemoryBank's memory bank: {user: {"history": {"2023-04-27": [{"query", "response"}, ...]}}}."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

from ilstma_lab.importers.content import Content
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.formats import Format
from ilstma_lab.importers.job import Job
from ilstma_lab.importers.times import Ticker

_UNREAD = ("meta_information", "summary", "personality", "overall_history", "overall_personality")


def matches(content: Content) -> bool:
    """Tell whether some user of a JSON object has a history."""
    value = content.value if content.is_json else None
    return isinstance(value, dict) and any(isinstance(user, dict) and "history" in user for user in value.values())


def split(content: Content) -> list[Conversation]:
    """Return one conversation a user. Keys of the English bank carry stray spaces, which are stripped."""
    if not isinstance(content.value, dict):
        content.fail("the file", "an object with one key a user is expected")
    users = enumerate(content.value.items(), start=1)
    return [Conversation(name, name, f"user {number}", bank) for number, (name, bank) in users]


def read(bank: Any, job: Job) -> None:
    """Add every turn; `source` is "2023-04-30#3", the day and the 0-based turn.

    A day has no time of day: its turns keep their order, a minute apart from 00:00 UTC. Turns that repeat are kept.
    """
    history = job.get(bank, "history", dict, "")
    job.note("days have no time of day: the turns of one keep their order, a minute apart from 00:00 UTC")
    if unread := [key for key in _UNREAD if bank.get(key)]:
        job.note(f"not read, for the kit makes its own: {', '.join(unread)}")
    clock = Ticker(timedelta(minutes=1), fail=job.fail)
    days = sorted(((_day(key, job), key.strip(), history[key]) for key in history), key=lambda day: day[0])
    for start, day, turns in job.track(days):
        _read_day(job, job.get({day: turns}, day, list, "history"), clock, start=start, day=day)


def _read_day(job: Job, turns: list[Any], clock: Ticker, *, start: datetime, day: str) -> None:
    for number, turn in enumerate(turns):
        place = f"{day} turn {number}"
        query, response = job.get(turn, "query", str, place), job.get(turn, "response", str, place)
        job.add(query, response, at=clock.next(start), source=f"{day}#{number}", place=place)
    if not turns:
        job.note(f"{day} is empty")


def _day(key: str, job: Job) -> datetime:
    try:
        day = date.fromisoformat(key.strip())
    except ValueError:
        job.fail(f"history, {key!r}", "not a day such as 2023-04-30")
    return job.instant(day, key)


FORMAT = Format("memorybank", "MemoryBank: an object with a history of days for each user", matches, split, read)
