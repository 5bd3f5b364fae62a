"""A snapshot as text: one JSON document, one row a line. Written in one pass, read with a message for whatever is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ilstma_lab.errors import FormatError

FORMAT = "ilstma-table"
VERSION = 1
SECTIONS = ("summaries", "entries", "recalls")


class ForeignFileError(FormatError):
    """A whole file of another kind, or of a newer kit: nothing is damaged, and no backup is looked for."""


def snapshot_lines(head: dict[str, Any], sections: dict[str, Iterable[dict[str, Any]]]) -> Iterator[str]:
    """Yield a snapshot as text: one JSON document, one row a line."""
    yield "{\n"
    for key, value in {"format": FORMAT, "version": VERSION, **head}.items():
        yield f"{json.dumps(key)}: {_dump(value)},\n"
    for number, name in enumerate(SECTIONS):
        yield f'"{name}": ['
        between = "\n"
        for row in sections[name]:
            yield between + _dump(row)
            between = ",\n"
        yield "\n]" + (",\n" if number + 1 < len(SECTIONS) else "\n")
    yield "}\n"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_snapshot(path: Path) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """Return head and sections of a snapshot.

    Raises ForeignFileError where the file is of another kind or newer, FormatError where it is empty, cut or damaged.
    """
    document = _document(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ForeignFileError(
            f"{path.name} is not a memory table. To read a conversation in another format use load_dialogues({path.name!r})."
        )
    if not isinstance(document.get("version"), int) or document["version"] > VERSION:
        raise ForeignFileError(
            f"{path.name} has version {document.get('version')!r}; this kit reads up to {VERSION}. Update ilstma-lab."
        )
    sections = {name: document.pop(name, None) for name in SECTIONS}
    if not isinstance(document.get("seq"), int) or not all(isinstance(rows, list) for rows in sections.values()):
        raise FormatError(f"{path.name} lacks its sequence number or a section")
    return document, sections


def _document(path: Path) -> Any:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path.name} is not UTF-8 text (byte {error.start})") from None
    if not text.strip():
        raise FormatError(f"{path.name} is empty")
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"{path.name} is not whole: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path.name} cannot be read as JSON: {error}") from None
