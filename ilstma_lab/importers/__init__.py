"""Dialogues from files: data sets of the field, chat exports, plain JSON Lines and CSV."""

from __future__ import annotations

from os import PathLike

from ilstma_lab.errors import InputError
from ilstma_lab.importers.content import Content
from ilstma_lab.importers.conversation import choose, labels
from ilstma_lab.importers.detect import FORMATS, detect
from ilstma_lab.importers.job import Imported, Job, Progress
from ilstma_lab.importers.repeats import without_repeats

__all__ = ["FORMATS", "Imported", "conversations", "load_dialogues"]


def load_dialogues(
    path: str | PathLike[str],
    *,
    conversation: str | None = None,
    format: str | None = None,
    user: str | None = None,
    day_first: bool | None = None,
    drop_repeats: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Return the dialogues of one conversation, oldest first: a list with `notes`, `format`, `conversation`, `synthetic_times`.

    `conversation` names one by name or id where the file holds several. The format is known from the content; `format` (a key of
    `FORMATS`) forces one. `user` names the speaker whose turns are the user's, in chats between people (default: the first).
    `day_first` tells 31/12 from 12/31 where a WhatsApp chat leaves it open. `drop_repeats` leaves out what an earlier dialogue
    said word for word, as where a chat was exported twice. `progress(done, total)` is called now and then.

    Times without a zone are read as UTC. Nothing is dropped in silence: the notes count what was skipped and say what was
    assumed.
    Raises FormatError, which names file and place, for what is not understood; InputError for a wrong argument.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "diary.jsonl"
    ...     _ = path.write_text('{"user": "I row.", "assistant": "Where?", "at": "2024-02-01"}', encoding="utf-8")
    ...     dialogues = load_dialogues(path)
    >>> dialogues[0].user, dialogues[0].source, dialogues.format, dialogues.conversation
    ('I row.', 'item 1', 'jsonl', 'diary')
    """
    content = Content(path)
    chosen = detect(content, format=format)
    if user is not None and not chosen.people:
        raise InputError(f"{content.name}: {chosen.name} tells by itself which turns are the user's. Leave `user` out.")
    found = choose(chosen.split(content), conversation, content.name)
    job = Job(content, found, user=user, day_first=day_first, progress=progress)
    if day_first is not None and chosen.name != "whatsapp":
        job.note(f"day_first is not used: dates of {chosen.name} are clear")
    chosen.read(found.body, job)
    dialogues = job.finish(chosen.name)
    return without_repeats(dialogues) if drop_repeats else dialogues


def conversations(path: str | PathLike[str], *, format: str | None = None) -> list[str]:
    """Return the names of the conversations in a file, in its order; each can be given to `load_dialogues`.

    Where several share a name, their ids follow in brackets.
    """
    content = Content(path)
    return labels(detect(content, format=format).split(content))
