"""One conversation of a file, and how to name the one that is meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.memory.entry import clean_text


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation as the file holds it. `place` is where it stands ("item 3"); `body` is what its format reads."""

    name: str
    ident: str
    place: str
    body: Any

    def __post_init__(self) -> None:
        ident = clean_text(self.ident).strip()
        object.__setattr__(self, "ident", ident)
        object.__setattr__(self, "name", clean_text(self.name).strip() or ident)


def brief(text: str, *, limit: int = 300) -> str:
    r"""Return `text` as a message may hold it: on one line, controls as escapes, cut after `limit` characters.

    >>> print(brief("a\nb\x1b[31m" + "x" * 9, limit=12))
    a\nb\x1b[31mxxxx...
    """
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:limit])
    return shown if len(text) <= limit else f"{shown}..."


def listed(names: Sequence[str], *, limit: int = 40) -> str:
    """Return `names` as one line of a message, the first `limit` of them.

    >>> listed(["Emily", "Ivy", "Leo"], limit=2)
    "'Emily', 'Ivy' and 1 more"
    """
    shown = ", ".join(f"'{brief(name, limit=80)}'" for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def labels(conversations: Sequence[Conversation]) -> list[str]:
    """Return one name a conversation; where several share a name, their ids (else their places) tell them apart."""
    names = Counter(c.name for c in conversations)
    pairs = Counter((c.name, c.ident) for c in conversations)
    idents = [c.ident if pairs[c.name, c.ident] == 1 else c.place for c in conversations]
    return [c.name if names[c.name] == 1 else f"{c.name} [{ident}]" for c, ident in zip(conversations, idents, strict=True)]


def choose(conversations: Sequence[Conversation], wanted: object, file: str) -> Conversation:
    """Return the conversation called `wanted` by name, id or label; None will do where there is only one.

    Spaces around a name do not count; case does not where that leaves one. Raises InputError, listing the names.
    """
    if not conversations:
        raise FormatError(f"{file}: no conversation in it")
    names = labels(conversations)
    if wanted is None:
        if len(conversations) == 1:
            return conversations[0]
        raise InputError(
            f"{file} holds {len(conversations)} conversations: name one (conversation=..., or --conversation), of {listed(names)}"
        )
    for fold in (str.strip, lambda text: text.strip().casefold()):
        found = _called(fold(str(wanted)), conversations, names, fold)
        if len(found) == 1:
            return found[0]
    problem = "several conversations are" if found else "no conversation is"
    raise InputError(f"{file}: {problem} called '{brief(str(wanted))}'. There are {listed(names)}")


def _called(
    wanted: str, conversations: Sequence[Conversation], names: Sequence[str], fold: Callable[[str], str]
) -> list[Conversation]:
    return [c for c, label in zip(conversations, names, strict=True) if wanted in (fold(c.name), fold(c.ident), fold(label))]
