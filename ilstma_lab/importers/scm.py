"""SCM's dialogues: [{"id", "dialogue": [user, assistant, user, ...]}], without dates."""

from __future__ import annotations

from typing import Any

from ilstma_lab.importers.content import Content
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.formats import Format, split_records
from ilstma_lab.importers.job import Job


def matches(content: Content) -> bool:
    """Tell whether the first object has a list of texts called dialogue."""
    return isinstance(content.first.get("dialogue"), list)


def split(content: Content) -> list[Conversation]:
    """Return one conversation an item, called by its id."""
    return split_records(content, "id")


def read(record: Any, job: Job) -> None:
    """Add every pair of texts; `source` is the 0-based turn, a turn being the user's text and the answer."""
    texts = job.get(record, "dialogue", list, "")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            job.fail(f"turn {number // 2}", "its two sides must be texts")
    for number in job.track(range(0, len(texts), 2)):
        user, assistant = texts[number], "".join(texts[number + 1 : number + 2])
        job.add(user, assistant, at=None, source=str(number // 2), place=f"turn {number // 2}")


FORMAT = Format("scm", "SCM: a list of dialogues whose texts alternate between user and assistant", matches, split, read)
