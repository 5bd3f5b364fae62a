"""What a table keeps beside its rows: summaries, and the log of recalls."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

GROUP = "group"


@dataclass(frozen=True, slots=True)
class Summary:
    """One set of high-dimensional information (ILSTMA, section 3.5): a text, the rows it came from, when it was made.

    `stale`: a row that it came from was edited or deleted since. `kind`: "group" for ILSTMA's sets; the other systems keep what
    they write of rows under kinds of their own, such as "day", and see no others. `recall_times` and `last_recall` are counted as
    those of rows are; None: not recalled since it was made.
    """

    number: int
    text: str
    rows: tuple[int, ...]
    at: datetime
    stale: bool = False
    kind: str = GROUP
    recall_times: int = 1
    last_recall: datetime | None = None


@dataclass(frozen=True, slots=True)
class RecallRecord:
    """One recall of one row: when, and by which question. `hit` tells that it answered from the cache."""

    row: int
    at: datetime
    question: str = ""
    hit: bool = False
