"""LoCoMo: [{"sample_id", "conversation": {"speaker_a", "speaker_b", "session_1": [...], "session_1_date_time"}}]."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from ilstma_lab.importers.content import Content
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.formats import Format, split_records
from ilstma_lab.importers.job import Job
from ilstma_lab.importers.pairing import Message, choose_user, exchanges
from ilstma_lab.importers.times import Ticker
from ilstma_lab.memory.entry import is_blank

_SESSION = re.compile(r"session_([0-9]{1,9})")
_WHEN = re.compile(r"(\d{1,2}):(\d{2}) ([ap])m on (\d{1,2}) ([a-z]+), (\d{4})", re.ASCII)
_MONTHS = ("january", "february", "march", "april", "may", "june")
_MONTHS += ("july", "august", "september", "october", "november", "december")


def matches(content: Content) -> bool:
    """Tell whether the first object has a conversation with two speakers."""
    talk = content.first.get("conversation")
    return isinstance(talk, dict) and "speaker_a" in talk


def split(content: Content) -> list[Conversation]:
    """Return one conversation a sample, called by its sample_id."""
    return split_records(content, "sample_id")


def read(record: Any, job: Job) -> None:
    """Add one exchange of two turns a row; `source` holds the dia_ids of its turns, comma-joined.

    The user is speaker_a unless `user` names the other; the caption of a picture stands in brackets after the text.
    """
    talk = job.get(record, "conversation", dict, "")
    speakers = [job.get(talk, key, str, "") for key in ("speaker_a", "speaker_b")]
    user = choose_user(job, speakers)
    sessions = sorted((_start(talk, key, job), int(_SESSION.fullmatch(key)[1]), key) for key in talk if _SESSION.fullmatch(key))
    clock = Ticker(timedelta(seconds=1), fail=job.fail)
    job.note("turns have no time of their own: those of a session follow its start (read as UTC), a second apart")
    for start, _, key in job.track(sessions):
        said = [_message(turn, f"{key} turn {i}", job, speakers) for i, turn in enumerate(job.get(talk, key, list, ""))]
        for exchange in exchanges(said, user):
            place = ",".join(exchange.places)
            job.add(exchange.user, exchange.assistant, at=clock.next(start), source=place, place=place)
        job.skip("empty turns", sum(is_blank(message.text) for message in said))
    _note_rest(record, talk, job)


def _message(turn: Any, place: str, job: Job, speakers: list[str]) -> Message:
    ident, text = job.get(turn, "dia_id", str, place), job.get(turn, "text", str, place)
    speaker = job.get(turn, "speaker", str, place)
    if speaker not in speakers:
        job.fail(place, f"{speaker!r} is neither speaker_a nor speaker_b")
    if turn.get("blip_caption") is not None:
        text = f"{text} [{job.get(turn, 'blip_caption', str, place)}]".strip()
    return Message(speaker, text, None, ident)


def _start(talk: dict[str, Any], key: str, job: Job) -> datetime:
    place = f"{key}_date_time"
    text = job.get(talk, place, str, "")
    found = _WHEN.fullmatch(text.strip().casefold())
    try:
        hour, minute, half, day, month, year = found.groups()
        # strptime reads month names in the machine's language, so the months stand here
        hours = int(hour) % 12 + 12 * (half == "p")
        return datetime(int(year), _MONTHS.index(month) + 1, int(day), hours, int(minute), tzinfo=UTC)
    except (AttributeError, ValueError):
        job.fail(place, f"not a time such as '1:56 pm on 8 May, 2023' (got {text!r})")


def _note_rest(record: dict[str, Any], talk: dict[str, Any], job: Job) -> None:
    dates = [key.removesuffix("_date_time") for key in talk if key.endswith("_date_time")]
    if extra := sum(key not in talk for key in dates):
        job.note(f"{extra} session dates have no session")
    pictures = sum(isinstance(t, dict) and "img_url" in t for key in talk if _SESSION.fullmatch(key) for t in talk[key])
    if pictures:
        job.note(f"{pictures} turns show a picture: its caption stands in brackets, the picture itself is not read")
    if unread := [key for key in record if key not in ("sample_id", "conversation")]:
        job.note(f"not part of the dialogues, so not read: {', '.join(unread)}")


FORMAT = Format("locomo", "LoCoMo: dated sessions of two speakers with dia_ids", matches, split, read, people=True)
