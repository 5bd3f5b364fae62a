"""A snapshot as text: one JSON document, one row a line. Written in one pass, read with a message for whatever is wrong."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from ilstma_lab.errors import FormatError, InputError, TableFileError
from ilstma_lab.memory.entry import clean_text
from ilstma_lab.memory.values import shown, whole

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


def read_snapshot(path: Path) -> tuple[dict[str, Any], dict[str, Collection[dict[str, Any]]]]:
    """Return head and sections of a snapshot.

    Raises ForeignFileError where the file is of another kind or newer, FormatError where it is empty, cut or damaged.
    """
    document = read_document(path)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ForeignFileError(
            f"{path.name} is not a memory table. To read a conversation in another format use load_dialogues({path.name!r})."
        )
    version = document.get("version")
    if type(version) is not int or not 1 <= version <= VERSION:
        raise ForeignFileError(f"{path.name} has version {shown(version)}; this kit reads up to {VERSION}. Update ilstma-lab.")
    sections = {name: document.pop(name, None) for name in SECTIONS}
    if not all(isinstance(rows, list | _EntryLines) for rows in sections.values()):
        raise FormatError(f"{path.name} lacks a section")
    try:
        whole(document.get("seq"), name="its sequence number")
        document["series"] = clean_text(document.get("series", ""), name="its series")
    except InputError as error:
        raise FormatError(f"{path.name} cannot be read: {error}") from None
    return document, sections


class _EntryLines:
    """Entries of a snapshot in the kit's own layout, one a line, parsed one by one, so that what is not kept is given back."""

    def __init__(self, file: BinaryIO, start: int, count: int):
        self._path, self._version = Path(file.name), _version(file)
        self._start, self._count = start, count

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[dict[str, Any]]:
        with open(self._path, "rb") as file:
            if _version(file) != self._version:
                raise TableFileError(f"{self._path.name} was written anew while it was read. Load it again; nothing was changed.")
            file.seek(self._start)
            for line in islice(file, self._count):
                yield _entry(line)


def _version(file: BinaryIO) -> tuple[int, int, int]:
    status = os.fstat(file.fileno())
    return status.st_ino, status.st_size, status.st_mtime_ns


def read_document(path: Path) -> Any:
    """Return a file's JSON value, of whatever kind. Raises FormatError where it is none."""
    with open(path, "rb") as file:
        try:
            return _by_lines(file)
        except (ValueError, RecursionError):
            file.seek(0)
            return _as_a_whole(file.read(), path.name)


def _by_lines(file: BinaryIO) -> Any:
    """Return the document, its entries unread but checked. Raises ValueError for any other layout, and for damage."""
    around, start, count, position, inside = [], 0, 0, 0, False
    for line in file:
        position += len(line)
        inside = inside and line != b"],\n"
        if inside:
            _entry(line)
            count += 1
        else:
            around.append(line)
        if line == b'"entries": [\n':
            if start:
                raise ValueError("two lists of entries")
            inside, start = True, position
    document = json.loads(b"".join(around), object_pairs_hook=_once)
    if isinstance(document, dict) and start:
        document["entries"] = _EntryLines(file, start, count)
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in one object")
    return found


def _entry(line: bytes) -> dict[str, Any]:
    return json.loads(line.rstrip(b",\n"))


def _as_a_whole(data: bytes, name: str) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{name} is not UTF-8 text (byte {error.start})") from None
    if not text.strip():
        raise FormatError(f"{name} is empty")
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise FormatError(f"{name} is not whole: line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name} cannot be read as JSON: {error}") from None
