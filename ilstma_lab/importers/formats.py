"""What a format is: how it is known, which conversations a file of it holds, how one is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ilstma_lab.importers.content import Content
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.job import Job


@dataclass(frozen=True, slots=True)
class Format:
    """One format. `people`: its speakers have names, so that `user=` may choose one of them."""

    name: str
    about: str
    matches: Callable[[Content], bool]
    split: Callable[[Content], list[Conversation]]
    read: Callable[[Any, Job], None]
    people: bool = False


def whole_file(content: Content, body: Any) -> list[Conversation]:
    """Return the one conversation of a file that holds no other, named like the file."""
    return [Conversation(content.path.stem, content.path.stem, "item 1", body)]


def split_records(content: Content, name_key: str, *, ident_keys: tuple[str, ...] = ()) -> list[Conversation]:
    """Return a conversation for each JSON object, called by its `name_key`, known also by the first of `ident_keys` it has."""
    found = []
    for place, record in content.records:
        ident = next((record[key] for key in (*ident_keys, name_key) if isinstance(record.get(key), str | int)), place)
        name = record.get(name_key)
        found.append(Conversation(str(name) if isinstance(name, str | int) else "", str(ident), place, record))
    return found
