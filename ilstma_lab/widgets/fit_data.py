"""What the fit lab fits: a log of recalls, or points S(n), bundled or the reader's own; and how both are grouped to be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.data import load_forgetting
from ilstma_lab.forgetting.fitting import observed_of
from ilstma_lab.forgetting.recall_log import RecallLog, log_of
from ilstma_lab.forgetting.savings import daily_strength
from ilstma_lab.forgetting.search import Observed
from ilstma_lab.plots.fits import Groups, grouped
from ilstma_lab.reprs.words import count

EARLY = 0.6
"""The share of the data, oldest first, that the split by time fits; the rest tests it."""


@dataclass(frozen=True, eq=False)
class FitData:
    """What is fitted: rows of a log asked after its last recall, or points (n, S in days). `code` is Python that loads it."""

    words: str
    code: str
    log: RecallLog | None = None
    n: np.ndarray | None = None
    days: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.n) if self.log is None else len(self.log)

    @cached_property
    def observed(self) -> Observed:
        """What the likelihood needs of it."""
        return _points(self.n, self.days) if self.log is None else observed_of(self.log)

    @cached_property
    def halves(self) -> tuple[FitData, FitData]:
        """The earlier share and the later rest."""
        if self.log is not None:
            return tuple(FitData(self.words, "", part) for part in self.log.split(EARLY))
        cut = int(np.ceil(EARLY * len(self)))
        return tuple(FitData(self.words, "", n=self.n[part], days=self.days[part]) for part in (slice(cut), slice(cut, None)))

    @cached_property
    def groups(self) -> Groups:
        """The log as shares of recalls, to be drawn."""
        return grouped(self.observed)


@lru_cache(maxsize=8)
def simulated(items: int) -> FitData:
    """Return the first `items` items of the bundled log."""
    log = RecallLog.of(load_forgetting("simulated_recall_log")).after(0.0)
    part = log.where(log.item < items)
    load = (
        "from ilstma_lab.forgetting.data import load_forgetting\n\nlog = RecallLog.of(load_forgetting('simulated_recall_log'))\n"
    )
    cut = f"log = log.where(log.item < {items})\n"
    said = f"{count(len(part), 'simulated question')} on {count(items, 'item')}, whose truth is the paper's curve"
    return FitData(said, load + cut, part)


@lru_cache(maxsize=3)
def daily(syllables: int) -> FitData:
    """Return the strengths that relearning on successive days implies under Eq. 1: Ebbinghaus, chapter VIII."""
    table = load_forgetting("ebbinghaus_1885_daily")
    days = daily_strength(table["repetitions"][table["material"] == f"{syllables} syllables"])
    n = np.arange(1, len(days) + 1)
    said = f"Ebbinghaus, chapter VIII: strength that relearning {syllables} syllables on successive days implies under Eq. 1"
    return FitData(said, _points_code(n, days), n=n, days=days)


@lru_cache(maxsize=8)
def written(text: str) -> FitData:
    """Return the points in `text`, "n S" pairs with commas between them. Raises InputError that lists all that is wrong."""
    found, problems = [], []
    for number, pair in enumerate(filter(str.strip, text.split(",")), 1):
        try:
            n, days = map(float, pair.split())
        except ValueError:
            problems.append(f"point {number} must be two numbers, n and S (got {pair.strip()[:40]!r})")
            continue
        if not 1 <= n <= 1000:
            problems.append(f"point {number}: recalls are counted from 1, to 1000 at most (got {n:g})")
        if not 0 < days <= 1e5:
            problems.append(f"point {number}: S must be a positive number of days, 100,000 at most (got {days:g})")
        found.append((n, days))
    if problems or not found:
        raise InputError("points: " + ("; ".join(problems) or "give at least one"))
    n, days = np.array(sorted(found)).T
    return FitData(f"{count(len(n), 'point')} of your own", _points_code(n, days), n=n, days=days)


NONE = FitData(
    "No log of your own yet: lab.give(log) takes a RecallLog, a table with its columns, a session's turns, or lab.table",
    "# log: your own\n",
    RecallLog(*np.empty((5, 0))),
)
"""What stands until the reader gives a log."""


def own(source: Any) -> FitData:
    """Return the reader's own log: a RecallLog, a table with its columns, a session's turns, or a memory table.

    A memory table (or a lab's) keeps recalls and never what was not recalled; the fit then says that it cannot tell anything.
    """
    log = _own_log(source).after(0.0)
    words = f"{count(len(log), 'question')} of your own log, {count(int((~log.recalled).sum()), 'not recalled', 'not recalled')}"
    return FitData(words, "# log: your own\n", log)


def _own_log(source: Any) -> RecallLog:
    if isinstance(source, RecallLog):
        return source
    table = getattr(source, "table", source)
    if hasattr(table, "recalls"):
        return _recalls_of(table)
    if isinstance(source, Mapping) or hasattr(source, "columns"):
        return RecallLog.of(source)
    try:
        return log_of(source)
    except (TypeError, AttributeError):
        raise InputError(
            f"no log of recalls: {type(source).__name__}. Give a RecallLog, a table with its columns, "
            "the turns of a session, or a memory table"
        ) from None


def _recalls_of(table: Any) -> RecallLog:
    seen, rows = {}, []
    for record in table.recalls:
        times, last = seen.get(record.row) or (1, table[record.row].created)
        days = max((record.at - last).total_seconds(), 0.0) / 86_400
        rows.append((record.row, record.at.timestamp() / 86_400, days, times, True))
        seen[record.row] = (times + 1, record.at)
    return RecallLog(*(np.array(column) for column in zip(*rows, strict=True)) if rows else np.empty((5, 0)))


def _points(n: np.ndarray, days: np.ndarray) -> Observed:
    return Observed(
        (np.asarray(n, dtype=np.float64),), np.asarray(days, dtype=np.float64), np.ones(len(n)), "points", rows=len(n)
    )


def _points_code(n: np.ndarray, days: np.ndarray) -> str:
    numbers = ([float(f"{value:.6g}") for value in column] for column in (n, days))
    return "n, days = " + ", ".join(map(str, numbers)) + "\n"
