"""ChatGPT's data export: conversations.json, or the zip around it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ilstma_lab.importers.content import Content
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.formats import Format, split_records
from ilstma_lab.importers.job import Job
from ilstma_lab.importers.pairing import ASSISTANT, USER, Message, add_exchanges
from ilstma_lab.memory.entry import is_blank


def matches(content: Content) -> bool:
    """Tell whether the first object has a tree of messages."""
    return isinstance(content.first.get("mapping"), dict)


def split(content: Content) -> list[Conversation]:
    """Return one conversation an item, called by its title, known also by its id."""
    return split_records(content, "title", ident_keys=("conversation_id", "id"))


def read(record: Any, job: Job) -> None:
    """Add every exchange of the visible thread; `source` is the id of the node of its first message.

    Edits and regenerations make a tree: the thread is the way from `current_node` up to the root. Other branches are counted.
    """
    nodes = job.get(record, "mapping", dict, "")
    thread = _thread(record, nodes, job)
    messages, at = [], _time(record, "conversation", job)
    for ident in thread:
        message = nodes[ident].get("message")
        if message is None:
            continue
        place = f"node {ident}"
        job.get(nodes[ident], "message", dict, place)
        at = _time(message, place, job) or at  # a message without a time has that of the one before
        speaker = _speaker(message, place, job)
        text = _text(message, place, job) if speaker else ""
        if speaker and is_blank(text):
            job.skip("messages without text")
        if speaker:
            messages.append(Message(speaker, text, at, ident))
    _note_branches(nodes, set(thread), job)
    add_exchanges(job, _dated(messages), USER)


def _thread(record: dict[str, Any], nodes: dict[str, Any], job: Job) -> list[str]:
    if not nodes:
        return []
    thread: list[str] = []
    seen: set[str] = set()
    ident = job.get(record, "current_node", str, "")
    while ident is not None:
        if not isinstance(ident, str):
            job.fail("mapping", "a parent must be a node's id")
        if ident in seen:
            job.fail(f"node {ident}", "its parents run in a circle")
        job.get(nodes, ident, dict, "mapping")
        thread.append(ident)
        seen.add(ident)
        ident = nodes[ident].get("parent")
    return thread[::-1]


def _speaker(message: dict[str, Any], place: str, job: Job) -> str | None:
    """Return user or assistant; None, counted, for what is no part of the visible conversation."""
    role = job.get(job.get(message, "author", dict, place), "role", str, place)
    metadata = message.get("metadata")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return job.skip("hidden messages")
    if role not in (USER, ASSISTANT):
        return job.skip(f"{role} messages")
    if message.get("recipient") not in (None, "all"):
        return job.skip("messages to a tool")
    return role


def _text(message: dict[str, Any], place: str, job: Job) -> str:
    content = job.get(message, "content", dict, place)
    kind = job.get(content, "content_type", str, place)
    if kind == "code":
        return job.get(content, "text", str, place)
    if kind not in ("text", "multimodal_text"):
        job.skip(f"{kind} contents")
        return ""
    texts = [_part(part, job) for part in job.get(content, "parts", list, place)]
    return "\n".join(text for text in texts if text)


def _part(part: Any, job: Job) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and isinstance(part.get("text"), str):  # the transcript of spoken words
        return part["text"]
    kind = part.get("content_type") if isinstance(part, dict) else None
    job.skip(f"{kind} parts" if isinstance(kind, str) else "unknown parts")
    return ""


def _time(record: dict[str, Any], place: str, job: Job) -> datetime | None:
    return None if record.get("create_time") is None else job.instant(record["create_time"], place)


def _dated(messages: list[Message]) -> list[Message]:
    """Give messages that stand before the first known time that time."""
    first = next((message.at for message in messages if message.at), None)
    return [Message(m.speaker, m.text, m.at or first, m.place) for m in messages]


def _note_branches(nodes: dict[str, Any], thread: set[str], job: Job) -> None:
    aside = [node for ident, node in nodes.items() if ident not in thread]
    others = sum(isinstance(node, dict) and node.get("message") is not None for node in aside)
    job.skip("messages of other branches (edits, regenerations)", others)


FORMAT = Format("chatgpt", "ChatGPT: conversations.json of the data export, or its zip", matches, split, read)
