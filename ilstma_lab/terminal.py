"""What the command line needs of a terminal: its width, text that cannot command it, progress beside the output."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import suppress

# a terminal would obey control characters, and direction marks would reorder what stands beside the text
_COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_BREAKABLE = re.compile("[\u2e80-\uffef]|[^\\s\u2e80-\uffef]+|\\s")  # a line may end before a word, or any Chinese character


def set_up_streams(*, json: bool = False) -> None:
    """Let no character break the output: JSON is always UTF-8, and what a terminal cannot show is written as its code."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):  # a notebook's streams take everything
            stream.reconfigure(errors="backslashreplace")
    if json:
        with suppress(AttributeError):
            sys.stdout.reconfigure(encoding="utf-8")


def printable(text: str) -> str:
    """Return `text` with U+FFFD for what a terminal would obey rather than show.

    >>> printable("red \\x1b[31m, \\u7ea2\\n") == "red \\ufffd[31m, \\u7ea2\\n"
    True
    """
    return _COMMANDS.sub("\ufffd", text)


def say(text: str) -> None:
    """Print one line to stderr, beside the output that a program may read."""
    print(printable(text), file=sys.stderr, flush=True)


def columns() -> int:
    """Return how wide the terminal is, 80 where there is none; at most 120, for longer lines are hard to read."""
    return max(40, min(shutil.get_terminal_size().columns, 120))


def fit(text: str, cells: int) -> str:
    """Return `text` on one line of at most `cells` columns; Chinese characters take two.

    >>> fit("one\\n  two", 20), fit("abcdefgh", 5), fit("\\u4f60\\u597d\\u4e16\\u754c", 5) == "\\u4f60\\u597d…"
    ('one two', 'abcd…', True)
    """
    whole = printable(" ".join(text.split()))
    if width(whole) <= cells:
        return whole
    room, shown = cells - 1, ""
    for character in whole:
        room -= _cells(character)
        if room < 0:
            break
        shown += character
    return shown.rstrip() + "…"


def hang(head: str, text: str) -> Iterator[str]:
    """Yield `text` wrapped to the terminal, its first line behind `head`, the others below it."""
    rows, room = [""], max(20, columns() - len(head))
    for piece in _BREAKABLE.findall(printable(" ".join(text.split()))):
        if width(rows[-1]) + width(piece) > room:
            rows.append("")
        rows[-1] += piece if rows[-1] else piece.lstrip()
    for number, row in enumerate(rows):
        yield (head if number == 0 else " " * len(head)) + row.rstrip()


class Progress:
    """Tells on stderr how far something is: on one line of a terminal, in a log as a line at each quarter.

    Call it with (done, total); leaving its `with` block ends the line.
    """

    def __init__(self, label: str):
        self.label = label
        self._live = sys.stderr.isatty()
        self._quarter = 0
        self._show(f"{label} …")

    def __call__(self, done: int, total: int) -> None:
        """Show `done` of `total`."""
        quarter = 4 * done // max(total, 1)
        if self._live or quarter > self._quarter:
            self._quarter = quarter
            self._show(f"{self.label}: {done} of {total}")

    def _show(self, text: str) -> None:
        print(f"\r\x1b[K{text}" if self._live else text, end="" if self._live else "\n", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._live:
            print(file=sys.stderr, flush=True)


def width(text: str) -> int:
    """Return how many columns of a terminal `text` takes.

    >>> width("ab\\u4f60")
    4
    """
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
