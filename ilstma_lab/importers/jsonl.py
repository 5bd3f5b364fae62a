"""The kit's own plain form: one JSON object a line with user, assistant, at and source (a JSON list of them will do)."""

from __future__ import annotations

from typing import Any

from ilstma_lab.importers.content import Content
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.formats import Format, whole_file
from ilstma_lab.importers.job import Job

KEYS = ("user", "assistant", "at", "source")


def matches(content: Content) -> bool:
    """Tell whether the first object has a user's or an assistant's turn."""
    return "user" in content.first or "assistant" in content.first


def split(content: Content) -> list[Conversation]:
    """Return the file as one conversation."""
    return whole_file(content, content.records)


def read(records: list[tuple[str, dict[str, Any]]], job: Job) -> None:
    """Add one dialogue a line. `at` is ISO 8601 (without a zone: UTC) or Unix seconds; without `source` it is "line 3"."""
    unread: dict[str, None] = {}
    for place, record in job.track(records):
        add_record(job, record, place)
        unread.update(dict.fromkeys(key for key in record if key not in KEYS))
    if unread:
        job.note(f"keys that are not read: {', '.join(unread)}")


def add_record(job: Job, record: dict[str, Any], place: str) -> None:
    """Add the dialogue of one object; `at` and `source` may be missing or empty."""
    user, assistant = job.get(record, "user", str, place), job.get(record, "assistant", str, place)
    at = record.get("at")
    source = record.get("source")
    if isinstance(source, bool | dict | list | float):
        job.fail(place, "'source' must be a text or a whole number")
    job.add(
        user,
        assistant,
        at=None if at in (None, "") else job.instant(at, place),
        source=place if source in (None, "") else str(source),
        place=place,
    )


FORMAT = Format("jsonl", "JSON Lines: user, assistant, at, source on each line", matches, split, read)
