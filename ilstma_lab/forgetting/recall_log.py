"""A log of recalls as columns: what was asked, after how long, how often it had been recalled, and whether it came back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from ilstma_lab.trace import Turn

_SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True, eq=False)
class RecallLog:
    """One row a question about one item, all columns of shape (n,), in any order.

    `item`: its number; `at_days`: when it was asked, in days since any start; `interval_days`: since its last recall;
    `recall_times`: recalls so far, at least 1; `recalled`: whether it came back now. Raises InputError with all that is wrong.
    """

    item: np.ndarray
    at_days: np.ndarray
    interval_days: np.ndarray
    recall_times: np.ndarray
    recalled: np.ndarray

    def __post_init__(self) -> None:
        types = {"item": np.int64, "recall_times": np.int64}
        columns = {f.name: np.asarray(getattr(self, f.name)) for f in fields(self)}
        problems = []
        if len({column.shape for column in columns.values()}) > 1 or columns["item"].ndim != 1:
            problems.append("all columns must have one length")
        if not (np.isfinite(columns["interval_days"]) & (columns["interval_days"] >= 0)).all():
            problems.append("interval_days must be >= 0")
        if not np.isfinite(columns["at_days"]).all():
            problems.append("at_days must be finite")
        if not (columns["recall_times"] >= 1).all():
            problems.append("recall_times must be >= 1")
        if not np.isin(columns["recalled"], (0, 1)).all():
            problems.append("recalled must be 0 or 1")
        if problems:
            raise InputError("recall log: " + "; ".join(problems))
        for name, column in columns.items():
            object.__setattr__(self, name, column.astype(bool if name == "recalled" else types.get(name, np.float64)))

    def __len__(self) -> int:
        return len(self.item)

    @classmethod
    def of(cls, table: Mapping[str, np.ndarray] | pd.DataFrame) -> RecallLog:
        """Return the log in a table (a DataFrame, or columns by name). Raises InputError where a column is missing."""
        if missing := [f.name for f in fields(cls) if f.name not in table]:
            raise InputError(
                f"a recall log needs columns {', '.join(f.name for f in fields(cls))}; missing: {', '.join(missing)}"
            )
        return cls(**{f.name: np.asarray(table[f.name]) for f in fields(cls)})

    def to_frame(self) -> pd.DataFrame:
        """Return the log as a DataFrame."""
        import pandas as pd

        return pd.DataFrame({f.name: getattr(self, f.name) for f in fields(self)})

    def where(self, rows: np.ndarray) -> RecallLog:
        """Return the rows that a mask or positions choose."""
        return RecallLog(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    def after(self, days: float) -> RecallLog:
        """Return the rows whose interval is longer than `days`; 0 leaves out what was asked at once."""
        return self.where(self.interval_days > days)

    def split(self, share: float = 0.6) -> tuple[RecallLog, RecallLog]:
        """Return the first `share` of the questions by time, and the later ones: to fit on the past and test on the future.

        Questions of one instant stay together. A split at random would let the future tell the past.
        """
        if not 0 < share < 1:
            raise InputError(f"share must lie between 0 and 1 (got {share:g})")
        if not len(self):
            return self, self
        early = self.at_days <= np.sort(self.at_days)[max(int(np.ceil(share * len(self))) - 1, 0)]
        return self.where(early), self.where(~early)

    @property
    def lapses(self) -> np.ndarray:
        """How often the item was asked earlier and did not come back, shape (n,)."""
        order = np.lexsort((self.at_days, self.item))
        missed = (~self.recalled[order]).astype(np.int64)
        before = np.cumsum(missed) - missed
        first = np.r_[True, np.diff(self.item[order]) != 0][: len(order)]
        base = np.maximum.accumulate(np.where(first, before, 0))
        found = np.empty(len(order), np.int64)
        found[order] = before - base
        return found

    def cells(self, weight: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return interval, recall times, questions and recalls of each pair of the first two; rows count `weight` times."""
        weight = np.ones(len(self)) if weight is None else np.asarray(weight, dtype=np.float64)
        intervals, row = np.unique(self.interval_days, return_inverse=True)
        times, column = np.unique(self.recall_times, return_inverse=True)
        cell = row * len(times) + column
        asked = np.bincount(cell, weight, len(intervals) * len(times))
        recalled = np.bincount(cell, weight * self.recalled, len(asked))
        some = np.flatnonzero(asked)
        return intervals[some // max(len(times), 1)], times[some % max(len(times), 1)], asked[some], recalled[some]


def log_of(turns: Iterable[Turn]) -> RecallLog:
    """Return the recall log of a session's turns, oldest first.

    The rule: a row that lay in the cache when a question came was recalled if the turn used it (`turn.recalled`), and was not
    recalled if it lay there unused. Rows outside the cache give no evidence, and failed turns are left out. Recalls that wait in
    the deferred write count at once.

    This measures whether a row was *needed*: a good memory that nobody asked about counts as not recalled, so S comes out far
    smaller than a memory's. A table's own log (`table.recalls`) holds recalls only, from which nothing can be fitted.
    """
    rows, seen = [], {}
    for turn in turns:
        if turn.failure is not None:
            continue
        cached = next((view.rows for view in turn.segments_before if view.name == "cache"), ())
        for row in dict.fromkeys((*cached, *turn.recalled)):
            if (view := turn.rows.get(row)) is None:
                continue
            times, last = seen.get(row, (0, view.last_recall))
            times, last = max(times, view.recall_times), max(last, view.last_recall)
            used = row in turn.recalled
            if row in cached:
                days = max((turn.at - last).total_seconds(), 0.0) / _SECONDS_PER_DAY
                rows.append((row, turn.at.timestamp() / _SECONDS_PER_DAY, days, times, used))
            # a hit's touches wait, so the table does not show them yet; a miss writes its own at once
            seen[row] = (times + 1, max(last, turn.at)) if used and turn.hit else (times, last)
    return RecallLog(*(np.array(column) for column in zip(*rows, strict=True)) if rows else np.empty((5, 0)))
