"""A reader's own chat: a file from the browser or a path, read by the importers, and what they must be told before they can."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.importers import Imported, conversations, load_dialogues
from ilstma_lab.reprs.words import count, line
from ilstma_lab.widgets.chat_source import Telling, quiet

UPLOAD_MEGABYTES = 100
OFFERED_CONVERSATIONS = 2000
_NAME_CHARACTERS = 60
_IN_THE_PANEL = (
    ('Force one (format="jsonl", or --format), or write', "Export the chat again in one of these, or write"),
    ("(user=... names another)", "(name another under “You, in a chat of people”)"),
    ("Leave `user` out.", "Leave “You, in a chat of people” empty."),
    ("day_first is not used:", "“First in its dates” is not used:"),
    ("day_first=True cannot be:", "the day cannot come first in its dates:"),
    ("day_first=False cannot be:", "the month cannot come first in its dates:"),
)


@dataclass(frozen=True)
class Told:
    """What a reader says of a file: which conversation, whose turns are the user's, whether 5/1 is in January (day first)."""

    conversation: str | None = None
    user: str | None = None
    day_first: bool | None = None


class AnswerNeededError(InputError):
    """The file can be read once something is chosen. `conversations` to choose from, or whether `day_first` is asked."""

    def __init__(self, message: str, *, conversations: tuple[str, ...] = (), day_first: bool = False):
        super().__init__(message)
        self.conversations = conversations
        self.day_first = day_first


class Upload:
    """A file that comes from the browser in parts. It is kept in a folder of its own, which goes when this does."""

    def __init__(self, name: str, size: int):
        if not 0 < size <= UPLOAD_MEGABYTES * 2**20:
            if size < 1:
                raise InputError(f"{line(name, 80)} is empty: choose another file, or export the chat again")
            raise InputError(
                f"{line(name, 80)} is too large to send: up to {UPLOAD_MEGABYTES} MB are taken here. "
                "A larger file is read from Python: chat.import_chat('path/to/file')"
            )
        self.size = size
        folder = tempfile.mkdtemp(prefix="ilstma-chat-")
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = Path(folder) / _file_name(name)
        self.path.touch()

    @property
    def received(self) -> int:
        """How many bytes are there."""
        return self.path.stat().st_size

    def add(self, at: int, part: bytes) -> int:
        """Add the part that begins at byte `at`, and return how many bytes are there. Raises InputError for one out of place."""
        if at != self.received or at + len(part) > self.size:
            raise InputError("a part of the file came out of its order: choose the file again")
        with self.path.open("ab") as file:
            file.write(part)
        return self.received

    def close(self) -> None:
        """Remove the file."""
        self._remove()


def read_chat(path: str | Path, told: Told, *, format: str | None = None, tell: Telling = quiet) -> Imported:
    """Return the dialogues of a chat. Raises AnswerNeededError where something must be chosen, FormatError for no chat."""
    try:
        names = conversations(path, format=format)
        if told.conversation is None and len(names) > 1:
            raise AnswerNeededError(
                f"{Path(path).name} holds {count(len(names), 'conversation')}: choose one.",
                conversations=tuple(names[:OFFERED_CONVERSATIONS]),
            )
        return load_dialogues(
            path,
            conversation=told.conversation,
            format=format,
            user=told.user or None,
            day_first=told.day_first,
            progress=lambda *at: tell("Reading", *at),
        )
    except FormatError as error:
        raise FormatError(f"{error}{_hint(Path(path))}") from None
    except AnswerNeededError:
        raise
    except InputError as error:
        if told.day_first is None and "day_first" in str(error):
            ask = f"Nothing in {Path(path).name} says whether the day or the month comes first in its dates: choose one."
            raise AnswerNeededError(ask, day_first=True) from None
        raise


def in_the_panel(words: str) -> str:
    """Return what an importer says with the panel's fields in place of arguments and options.

    >>> in_the_panel("the user's turns are those of 'Ana' (user=... names another)")
    "the user's turns are those of 'Ana' (name another under “You, in a chat of people”)"
    """
    for said, shown in _IN_THE_PANEL:
        words = words.replace(said, shown)
    return words


def told_of(answers: dict[str, Any]) -> Told:
    """Return what the fields of the browser say; blank ones say nothing."""
    day_first = {"day": True, "month": False}.get(str(answers.get("day_first", "")))
    return Told(str(answers.get("conversation") or "") or None, str(answers.get("user") or "").strip() or None, day_first)


def _hint(path: Path) -> str:
    """Return what to do about a file that is often taken for a chat."""
    head = path.read_bytes()[:512].lstrip().lower()
    if head.startswith(b"<"):
        return " This is a web page: export the chat again as JSON (Telegram: “Machine-readable JSON”), or as a text file."
    if head.startswith(b"%pdf"):
        return " This is a PDF: export the chat again as JSON, or as a text file."
    return ""


def _file_name(name: str) -> str:
    """Return a file's own name, without any folder, as this system can store it."""
    own = name.replace("\\", "/").rsplit("/", 1)[-1]
    kept = "".join(char for char in own if char.isprintable() and char not in '<>:"|?*\0').strip(". ")
    return kept.encode("utf-8", "ignore").decode()[-_NAME_CHARACTERS:] or "chat"
