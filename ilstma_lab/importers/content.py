"""A file's content: bytes to text, text to JSON, with an error that names the place."""

from __future__ import annotations

import codecs
import json
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.importers.archive import is_zip, unzip
from ilstma_lab.importers.conversation import brief

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = {
    (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE): "utf-32",
    (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE): "utf-16",
}


class Content:
    """What a file holds. A zip file's chat is unpacked in memory; `parts` are its texts, one for any other file."""

    def __init__(self, path: str | PathLike[str]):
        try:
            self.path = Path(path)
            data = self.path.read_bytes()
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"cannot read {path!r}: {getattr(error, 'strerror', None) or error}") from None
        self.name = brief(self.path.name)
        parts = unzip(data, self.name) if is_zip(data) else [("", data)]
        self.parts = [_decode(part, f"{self.name}, {brief(member)}" if member else self.name) for member, part in parts]

    def fail(self, place: str, problem: str) -> NoReturn:
        """Raise FormatError for `place` in this file."""
        raise FormatError(f"{self.name}, {brief(place)}: {brief(problem)}")

    @property
    def text(self) -> str:
        """The text of the file (of the first part, where an export has several)."""
        return self.parts[0]

    @property
    def is_json(self) -> bool:
        """Whether the text begins like a JSON object or list."""
        return self.text.lstrip()[:1] in ("{", "[") and bool(self.text.strip())

    @property
    def value(self) -> Any:
        """The JSON value: of the whole file, or a list of its lines' (JSON Lines), or of all parts together."""
        return self._parsed[0]

    @cached_property
    def records(self) -> list[tuple[str, dict[str, Any]]]:
        """Place ("item 3", "line 3", counted from 1) and object for each object of a JSON list or of JSON Lines."""
        value, places = self._parsed
        values = value if isinstance(value, list) else [value]
        places = places or [f"item {number}" for number in range(1, len(values) + 1)]
        for place, record in zip(places, values, strict=True):
            if not isinstance(record, dict):
                self.fail(place, f"an object is expected here (got {kind_of(record)})")
        return list(zip(places, values, strict=True))

    @property
    def first(self) -> dict[str, Any]:
        """The first JSON object, by whose keys a format is known; an empty one where there is none."""
        value = self.value if self.is_json else None
        first = value[0] if isinstance(value, list) and value else value
        return first if isinstance(first, dict) else {}

    @cached_property
    def _parsed(self) -> tuple[Any, list[str]]:
        if len(self.parts) > 1:
            values = [parse_json(part, self.name) for part in self.parts]
            return [record for value in values for record in (value if isinstance(value, list) else [value])], []
        try:
            return parse_json(self.text, self.name), []
        except FormatError:
            lines = [(f"line {number}", line) for number, line in enumerate(self.text.split("\n"), start=1) if line.strip()]
            if len(lines) < 2 or not _is_object(lines[0][1]):
                raise
        return [parse_json(line, f"{self.name}, {place}") for place, line in lines], [place for place, _ in lines]


def parse_json(text: str, where: str) -> Any:
    """Return the JSON value of `text`. Raises FormatError, also for NaN and for a key that stands twice in one object."""
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_twins)
    except RecursionError:
        raise FormatError(f"{where}: nested too deeply to be a chat") from None
    except ValueError as error:
        raise FormatError(f"{where}: not valid JSON: {brief(str(error))}") from None


def kind_of(value: Any) -> str:
    """Return what JSON calls `value`, for a message."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "nothing")


def shown(value: Any) -> str:
    """Return `value` for a message: itself where it is a text or a number, else what JSON calls it."""
    return repr(value) if isinstance(value, str | int | float) else kind_of(value)


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _refuse_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) < len(pairs):
        seen: set[str] = set()
        twin = next(key for key, _ in pairs if key in seen or seen.add(key))
        raise ValueError(f"the key {twin!r} stands twice in one object, so that one of the two would be lost")
    return record


def _decode(data: bytes, where: str) -> str:
    encoding = next((name for marks, name in _MARKS.items() if data.startswith(marks)), "utf-8-sig")
    if encoding == "utf-8-sig" and b"\0" in data[:4]:
        raise FormatError(f"{where}: not UTF-8, but UTF-16 or UTF-32 without its mark, it seems. Save the file as UTF-8.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{where}, line {line}: not UTF-8 (byte {data[error.start]:#04x}). Save the file as UTF-8.") from None
    if not text.strip():
        raise FormatError(f"{where}: the file is empty")
    return text
