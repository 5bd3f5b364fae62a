"""ShareGPT: [{"id", "conversations": [{"from": "human", "value"}, ...]}], without dates."""

from __future__ import annotations

from typing import Any

from ilstma_lab.importers.content import Content
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.formats import Format, split_records
from ilstma_lab.importers.job import Job
from ilstma_lab.importers.pairing import ASSISTANT, USER, Message, add_exchanges
from ilstma_lab.memory.entry import is_blank

_USERS = ("human", "user")
_ASSISTANTS = ("gpt", "chatgpt", "assistant", "bing", "bard", "chatbot", "model")
_ROLES = dict.fromkeys(_USERS, USER) | dict.fromkeys(_ASSISTANTS, ASSISTANT)
_OTHERS = ("system", "tool", "function")


def matches(content: Content) -> bool:
    """Tell whether the first object has a list of conversations."""
    return isinstance(content.first.get("conversations"), list)


def split(content: Content) -> list[Conversation]:
    """Return one conversation an item, called by its id."""
    return split_records(content, "id")


def read(record: Any, job: Job) -> None:
    """Add every exchange; `source` is "id#turn", the 0-based place of its first entry in the list."""
    messages = []
    for number, entry in enumerate(job.get(record, "conversations", list, "")):
        place = f"turn {number}"
        speaker = job.get(entry, "from", str, place).strip().casefold()
        text = job.get(entry, "value", str, place)
        if speaker in _OTHERS:
            job.skip(f"{speaker} messages")
        elif speaker not in _ROLES:
            job.fail(place, f"unknown speaker {speaker!r} (known: {', '.join([*_ROLES, *_OTHERS])})")
        elif is_blank(text):
            job.skip("empty turns")
        if speaker in _ROLES:
            messages.append(Message(_ROLES[speaker], text, None, f"{job.conversation.ident}#{number}"))
    add_exchanges(job, messages, USER)


FORMAT = Format("sharegpt", "ShareGPT: a list of conversations between human and gpt", matches, split, read)
