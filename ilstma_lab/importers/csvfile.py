"""CSV with a header: the columns user and assistant, and if you have them at and source."""

from __future__ import annotations

import csv
import io

from ilstma_lab.importers.content import Content
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.formats import Format, whole_file
from ilstma_lab.importers.job import Job
from ilstma_lab.importers.jsonl import KEYS, add_record


def matches(content: Content) -> bool:
    """Tell whether the first line names the columns user and assistant."""
    return _delimiter(content) is not None


def split(content: Content) -> list[Conversation]:
    """Return the file as one conversation."""
    return whole_file(content, content)


def read(content: Content, job: Job) -> None:
    """Add one dialogue a row; `source` is its column, else "row 3", counted from 1 below the header."""
    delimiter = _delimiter(content)
    if delimiter is None:
        job.fail("line 1", "the header must name the columns user and assistant (and may name at and source)")
    header, *rows = _rows(content.text.lstrip(), delimiter, job)
    columns = _names(header)
    if len(set(columns)) < len(columns):
        job.fail("line 1", "a column's name stands twice in the header")
    for number, row in job.track(list(enumerate(rows, start=1))):
        if not row:
            continue
        if len(row) != len(columns):
            job.fail(f"row {number}", f"{len(row)} fields, but the header has {len(columns)}")
        add_record(job, dict(zip(columns, row, strict=True)), f"row {number}")
    if unread := [name for name in columns if name not in KEYS]:
        job.note(f"columns that are not read: {', '.join(unread)}")


def _rows(text: str, delimiter: str, job: Job) -> list[list[str]]:
    before = csv.field_size_limit(len(text) + 1)  # else no field may be longer than 131,072 characters
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        job.fail("rows", f"not valid CSV: {error}")
    finally:
        csv.field_size_limit(before)


def _delimiter(content: Content) -> str | None:
    first = content.text.lstrip().split("\n", 1)[0].strip()
    for delimiter in (",", ";", "\t"):
        if {"user", "assistant"} <= set(_names(first.replace('"', "").split(delimiter))):
            return delimiter
    return None


def _names(header: list[str]) -> list[str]:
    return [name.strip().casefold() for name in header]


FORMAT = Format("csv", "CSV: a header with user, assistant, at, source", matches, split, read)
