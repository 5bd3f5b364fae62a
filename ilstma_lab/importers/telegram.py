"""Telegram Desktop's result.json: one chat, or all of an account."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ilstma_lab.importers.content import Content, shown
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.formats import Format
from ilstma_lab.importers.job import Job
from ilstma_lab.importers.pairing import Message, add_exchanges, choose_user
from ilstma_lab.memory.entry import is_blank

_MEDIA = ("media_type", "photo", "file", "sticker_emoji", "poll", "contact_information", "location_information")


def matches(content: Content) -> bool:
    """Tell whether the file is a chat with messages or an account with chats."""
    value = content.value if content.is_json else None
    return isinstance(value, dict) and (isinstance(value.get("messages"), list) or isinstance(value.get("chats"), dict))


def split(content: Content) -> list[Conversation]:
    """Return one conversation a chat, called by its name, known also by its id."""
    value = content.value
    if not isinstance(value, dict):
        content.fail("the file", "an object with messages or chats is expected")
    chats = [value] if "messages" in value else []
    for key in ("chats", "left_chats"):
        group = value.get(key)
        if isinstance(group, dict) and isinstance(group.get("list"), list):
            chats += group["list"]
    return [_conversation(chat, number, content) for number, chat in enumerate(chats, start=1)]


def read(chat: Any, job: Job) -> None:
    """Add every exchange; `source` is the id of its first message. Service messages and media without a text are counted.

    Times are `date_unixtime`; an old export has only `date`, local and without a zone, which is read as UTC.
    """
    messages = []
    for number, record in enumerate(job.get(chat, "messages", list, "")):
        ident = _ident(record, "")
        place = f"message {ident}" if ident else f"message no. {number}"
        if job.get(record, "type", str, place) != "message":
            job.skip("service messages")
            continue
        text = _text(record, place, job)
        media = next((key for key in _MEDIA if key in record), None)
        if media:
            job.skip("media")
        if record.get("forwarded_from"):
            job.note("forwarded messages are read as the words of who forwarded them")
        if not is_blank(text):
            messages.append(Message(_sender(record, place, job), text, _time(record, place, job), ident or str(number)))
        elif not media:
            job.skip("empty messages")
    if messages:
        add_exchanges(job, messages, choose_user(job, [message.speaker for message in messages]))


def _conversation(chat: Any, number: int, content: Content) -> Conversation:
    place = f"chat {number}"
    if not isinstance(chat, dict):
        content.fail(place, "an object is expected here")
    name = next((chat[key] for key in ("name", "type") if isinstance(chat.get(key), str)), place)
    return Conversation(name, _ident(chat, place), place, chat)


def _ident(record: Any, default: str) -> str:
    ident = record.get("id") if isinstance(record, dict) else None
    return str(ident) if isinstance(ident, str | int) else default


def _text(record: dict[str, Any], place: str, job: Job) -> str:
    pieces = record.get("text_entities") or record.get("text", "")
    if isinstance(pieces, str):
        return pieces
    if not isinstance(pieces, list):
        job.fail(place, "'text' must be a text or a list")
    return "".join(piece if isinstance(piece, str) else job.get(piece, "text", str, place) for piece in pieces)


def _sender(record: dict[str, Any], place: str, job: Job) -> str:
    if isinstance(record.get("from"), str) and not is_blank(record["from"]):
        return record["from"].strip()
    return f"deleted account {job.get(record, 'from_id', str, place)}"


def _time(record: dict[str, Any], place: str, job: Job) -> datetime:
    seconds = record.get("date_unixtime")
    if seconds is None:
        job.note("times have no zone: read as UTC")
        return job.instant(record.get("date"), place)
    try:
        return job.instant(int(seconds), place)
    except (TypeError, ValueError, OverflowError):
        job.fail(place, f"'date_unixtime' must be Unix seconds (got {shown(seconds)})")


FORMAT = Format("telegram", "Telegram Desktop: result.json of one chat or of an account", matches, split, read, people=True)
