"""All formats, and which one a file is in."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.importers import chatgpt, csvfile, jsonl, locomo, longmemeval, memorybank, scm, sharegpt, telegram, whatsapp
from ilstma_lab.importers.content import Content
from ilstma_lab.importers.formats import Format

# whatsapp first: a line of its iOS form begins with "[", like JSON. csv last: it asks least.
_ALL = (whatsapp, memorybank, scm, locomo, longmemeval, chatgpt, sharegpt, telegram, jsonl, csvfile)

FORMATS: Mapping[str, Format] = MappingProxyType({module.FORMAT.name: module.FORMAT for module in _ALL})


def detect(content: Content, *, format: str | None = None) -> Format:
    """Return the format that `content` is in, or the one that `format` names.

    Raises InputError for a name that is not known, FormatError for a content that is not; both list the formats.
    """
    known = ", ".join(FORMATS)
    if format is not None:
        if format not in FORMATS:
            raise InputError(f"no format is called {format!r}. There are: {known}")
        return FORMATS[format]
    for candidate in FORMATS.values():
        if candidate.matches(content):
            return candidate
    raise FormatError(
        f"{content.name}: not in a format that this kit knows ({known}). "
        'Force one (format="jsonl", or --format), or write JSON Lines: one object a line with user, assistant, at, source.'
    )
