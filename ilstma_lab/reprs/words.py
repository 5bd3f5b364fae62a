"""Numbers, times and texts as they are written everywhere: on screens, in text twins, in the widgets."""

from __future__ import annotations

import re
from datetime import datetime

MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
WEEKDAYS = "Mon Tue Wed Thu Fri Sat Sun".split()
_SMALL = "No One Two Three Four Five Six Seven Eight Nine Ten Eleven Twelve".split()
# a terminal would obey control characters, and direction marks would reorder what stands beside the text
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def seconds(value: float) -> str:
    """Return a duration in ms below a tenth of a second, else in s.

    >>> seconds(0.00004), seconds(0.0039), seconds(0.0851), seconds(3.558), seconds(41.23)
    ('<0.1 ms', '3.9 ms', '85 ms', '3.56 s', '41.2 s')
    """
    if value < 0.1:
        milliseconds = value * 1000
        if milliseconds < 0.05:
            return "<0.1 ms"
        return f"{milliseconds:.1f} ms" if milliseconds < 9.95 else f"{milliseconds:.0f} ms"
    return f"{value:.2f} s" if value < 9.995 else f"{value:.1f} s"


def score(value: float) -> str:
    """Return a probability or score with three digits and no zero in front.

    >>> score(0.8358), score(1.336), score(-0.0312), score(-0.0001)
    ('.836', '1.336', '−.031', '.000')
    """
    text = f"{abs(value):.3f}"
    sign = "−" if value < 0 and text != "0.000" else ""
    return sign + text.removeprefix("0")


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> count(1, "row"), count(1200, "row"), count(2, "touch", "touches")
    ('1 row', '1,200 rows', '2 touches')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def spelled(number: int) -> str:
    """Return a small number as a word, to begin a sentence with.

    >>> spelled(4), spelled(31)
    ('Four', '31')
    """
    return _SMALL[number] if number < len(_SMALL) else f"{number:,}"


def day(instant: datetime) -> str:
    """Return the date, in words that do not depend on the machine's language.

    >>> day(datetime(2026, 4, 16))
    '16 Apr 2026'
    """
    return f"{instant.day} {MONTHS[instant.month - 1]} {instant.year}"


def weekday(instant: datetime) -> str:
    """Return the date with its day of the week.

    >>> weekday(datetime(2026, 4, 16))
    'Thu 16 Apr 2026'
    """
    return f"{WEEKDAYS[instant.weekday()]} {day(instant)}"


def plain(text: str, limit: int = 2000) -> str:
    """Return `text` without control characters, cut to `limit` characters; its lines are kept."""
    shown = _CONTROL.sub("\ufffd", text[: limit + 1].replace("\r\n", "\n")).strip()
    return shown if len(shown) <= limit and len(text) <= limit else shown[: limit - 1].rstrip() + "…"


def line(text: str, limit: int = 100) -> str:
    """Return `text` on one line, cut to `limit` characters.

    >>> line("a\\n  b"), line("abcdefgh", 5)
    ('a b', 'abcd…')
    """
    return plain(" ".join(text[: 4 * limit].split()), limit)
