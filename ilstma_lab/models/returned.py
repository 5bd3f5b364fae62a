"""What a part that one may replace has returned, looked at before it is used."""

from __future__ import annotations

from typing import Any, TypeVar

from ilstma_lab.models.call import Call

T = TypeVar("T")


def needed(part: str, said: Any, kind: type[T]) -> T:
    """Return what a part said. Raises TypeError, with the part's name, where it is of another kind.

    >>> needed("judge", None, dict)
    Traceback (most recent call last):
    TypeError: the judge returned None where a dict is needed
    """
    if not isinstance(said, kind):
        raise TypeError(f"the {part} returned {_named(said)} where a {kind.__name__} is needed")
    return said


def calls_of(part: str, calls: Any) -> tuple[Call, ...]:
    """Return the calls of a part. Raises TypeError, with the part's name, where they are no Calls."""
    if not isinstance(calls, tuple | list):
        raise TypeError(f"the {part} gave {_named(calls)} as its calls where a tuple of Call is needed: () for none")
    for call in calls:
        if not isinstance(call, Call):
            raise TypeError(f"the {part} gave {_named(call)} among its calls where each is a Call: give () for none")
    return tuple(calls)


def text_and_calls(part: str, said: Any, *, or_none: bool = False) -> tuple[Any, tuple[Call, ...]]:
    """Return the text that a part wrote, None where it may be, and its calls. Raises TypeError, with the part's name."""
    if not isinstance(said, tuple) or len(said) != 2:
        raise TypeError(f"the {part} returned {_named(said)} where a text and its calls are needed: (text, ())")
    text, calls = said
    if not isinstance(text, str) and not (or_none and text is None):
        raise TypeError(f"the {part} gave {_named(text)} as its text where a str is needed: (text, ())")
    return text, calls_of(part, calls)


def _named(said: Any) -> str:
    if isinstance(said, tuple):
        return f"a tuple of {len(said)}"
    return "None" if said is None else type(said).__name__
