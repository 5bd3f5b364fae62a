"""A dialogue as it comes in, and a row of the global memory table as it is kept."""

from __future__ import annotations

import re
import reprlib
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any, Literal

import numpy as np

from ilstma_lab.errors import InputError

Kind = Literal["told", "asked"]

SEARCHED_CHARACTERS = 20_000
"""How much of a text is embedded and searched; the rest is stored and shown, and a warning says so."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MINUTE = timedelta(minutes=1)
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNSEEN = {"Zs", "Zl", "Zp", "Cc", "Cf"}  # spaces, line ends, controls, and formats such as the zero-width space


def clean_text(text: Any, *, name: str = "text") -> str:
    """Return `text` as it may be stored: halves of surrogate pairs become U+FFFD.

    >>> clean_text("hi \\ud83d") == "hi \\ufffd"
    True
    """
    if not isinstance(text, str):
        raise InputError(f"{name} must be a string (got {type(text).__name__})")
    return _SURROGATES.sub("\ufffd", text)


def is_blank(text: str) -> bool:
    """Tell whether nothing in `text` can be seen.

    >>> is_blank(" \\u200b\\n"), is_blank("hm")
    (True, False)
    """
    return all(unicodedata.category(character) in _UNSEEN for character in text)


def to_moment(value: Any) -> datetime:
    """Return `value` as an aware moment with its own offset from UTC, so that its day stays the speaker's day.

    What carries no zone is taken as UTC.

    Accepts a datetime, a date, an ISO 8601 string ("2024-01-01", "2024-01-01T08:00:00+08:00", a trailing "Z")
    or a number of Unix seconds. Raises InputError for anything else.

    >>> to_moment("2024-01-01T01:00:00+08:00").isoformat()
    '2024-01-01T01:00:00+08:00'
    """
    try:
        if isinstance(value, datetime):
            instant = value
        elif isinstance(value, date):
            instant = datetime(value.year, value.month, value.day)
        elif isinstance(value, str):
            instant = datetime.fromisoformat(value.strip())
        elif isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
            instant = _EPOCH + timedelta(seconds=float(value))
        else:
            raise TypeError
        if instant != instant:  # pandas' NaT is a datetime
            raise ValueError
        if instant.tzinfo is None:
            return instant.replace(tzinfo=UTC)
        instant.astimezone(UTC)  # raises where UTC has no such year
        # a fixed offset: Python compares moments of one ZoneInfo by their wall clocks, wrongly where an hour stands twice
        return instant.replace(tzinfo=timezone(instant.utcoffset()), fold=0)
    except (ValueError, TypeError, OverflowError):
        raise InputError(
            f"not a point in time: {reprlib.repr(value)}. Give a datetime or an ISO 8601 string such as 2024-01-31T18:05+01:00."
        ) from None


def to_instant(value: Any) -> datetime:
    """Return `value`, in any form that `to_moment` takes, as an aware instant in UTC.

    >>> to_instant("2024-01-01T08:00:00+08:00")
    datetime.datetime(2024, 1, 1, 0, 0, tzinfo=datetime.timezone.utc)
    """
    return to_moment(value).astimezone(UTC)


def offset_minutes(moment: datetime) -> int:
    """Return by how many minutes the clock of an aware `moment` is ahead of UTC."""
    return moment.utcoffset() // _MINUTE


def to_microseconds(instant: datetime) -> int:
    """Return the microseconds from 1970-01-01 UTC to `instant`; the unit of the table's time columns."""
    return (instant - _EPOCH) // _MICROSECOND


def from_microseconds(microseconds: int, *, offset: int = 0) -> datetime:
    """Return the instant that lies `microseconds` after 1970-01-01 UTC, on a clock `offset` minutes ahead of UTC."""
    instant = _EPOCH + timedelta(microseconds=int(microseconds))
    return instant.astimezone(timezone(timedelta(minutes=int(offset)))) if offset else instant


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One exchange of a user and an assistant, before it has a row.

    `at` is an aware moment whose day is the speaker's day (UTC where it has no zone); `source` names where the
    dialogue came from, such as "2023-04-30#3".
    Raises InputError when both texts are blank or `at` is no point in time.
    """

    user: str
    assistant: str
    at: datetime
    source: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "user", clean_text(self.user, name="user"))
        object.__setattr__(self, "assistant", clean_text(self.assistant, name="assistant"))
        object.__setattr__(self, "source", clean_text(self.source, name="source"))
        object.__setattr__(self, "at", to_moment(self.at))
        if is_blank(self.user) and is_blank(self.assistant):
            raise InputError("a dialogue needs some text: both the user's and the assistant's turn are blank")

    @property
    def text(self) -> str:
        """The dialogue as one string: what is embedded and searched."""
        return f"{self.user}\n{self.assistant}"


@dataclass(frozen=True, slots=True, eq=False)
class MemoryEntry:
    """One row of the global memory table, as it stood when it was looked at (Table 1 of the ILSTMA paper).

    `kind` is "told" (the dialogue holds content) or "asked" (a question about the past and its answer; `cites`
    names the rows that answered it). `vector` has shape (dim,), is read-only, and is None while the embedding is pending.
    """

    index: int
    created: datetime
    last_recall: datetime
    recall_times: int
    user: str
    assistant: str
    source: str = ""
    kind: Kind = "told"
    cites: tuple[int, ...] = ()
    vector: np.ndarray | None = field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The dialogue as one string: what is embedded and searched."""
        return f"{self.user}\n{self.assistant}"

    @property
    def pending(self) -> bool:
        """Whether the row still waits for its embedding."""
        return self.vector is None
