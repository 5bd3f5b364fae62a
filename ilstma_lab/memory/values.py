"""Values as a file holds them: each is what its place needs, or it is refused in few words, however long or deep it is."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import Any

from ilstma_lab.errors import InputError

LIMIT = 2**53
"""Whole numbers of a file lie below this, so that every reader of JSON keeps them exact."""

MOST_RECALLS = 2**31 - 1

shown = reprlib.repr
"""Return a value in few words."""


def named(value: Any) -> str:
    """Return a name as it stands, anything else in few words."""
    return value if isinstance(value, str) and len(value) < 80 and value.isprintable() else shown(value)


def whole(value: Any, *, name: str, least: int = 0, most: int = LIMIT - 1) -> int:
    """Return `value`, a whole number from `least` to `most`. Raises InputError for anything else, also for true and 3.0.

    >>> whole(True, name="an index")
    Traceback (most recent call last):
    ilstma_lab.errors.InputError: an index must be a whole number from 0 to 9007199254740991 (got True)
    """
    if type(value) is not int or not least <= value <= most:
        raise InputError(f"{name} must be a whole number from {least} to {most} (got {shown(value)})")
    return value


def indices(values: Iterable[Any], *, name: str = "a row's index") -> tuple[int, ...]:
    """Return whole numbers as a tuple. Raises InputError where one is none, TypeError where `values` is no list."""
    return tuple(whole(value, name=name) for value in values)
