"""The history of a row: each recall lifts R to 1, and between two of them it falls. What waits to be written is kept apart."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

import numpy as np

from ilstma_lab.forgetting.retention import MICROSECONDS_PER_DAY, whole_days
from ilstma_lab.memory.entry import MemoryEntry, from_microseconds, to_instant, to_microseconds
from ilstma_lab.memory.records import RecallRecord
from ilstma_lab.widgets.inspector_rows import InspectedRows

_MOST_TEETH = 60
_MOST_NODES = 400
_AHEAD_DAYS, _AHEAD_SHARE = 3, 0.18


@dataclass(frozen=True)
class Tooth:
    """R from one recall to the next: `times` (k,) in microseconds, `kept` (k,). `waiting`: its recall is not written yet."""

    recall_times: int
    times: np.ndarray
    kept: np.ndarray
    waiting: bool = False


@dataclass(frozen=True)
class Recalled:
    """One line of the history: when, by which question ("" where it is not known), and whether it waits to be written."""

    at: datetime
    question: str
    waiting: bool = False


@dataclass(frozen=True)
class History:
    """A row's history up to the moment looked at, `look`, and a little beyond; moments in microseconds.

    `teeth` end as they will once all is written. `unwritten` is the last tooth as the columns have it, where a recall waits;
    `kept` is R at `look` by the columns, `kept_once_written` what it will be. `unknown` recalls are counted, but not in the log.
    """

    row: int
    created: datetime
    recalls: tuple[Recalled, ...]
    unknown: int
    teeth: tuple[Tooth, ...]
    unwritten: Tooth | None
    now: int
    look: int
    strength_days: float
    kept: float
    kept_once_written: float


def history_of(rows: InspectedRows, index: int, *, days: int = 0) -> History:
    """Return the history of the row `index`, looked at `days` from now. Raises KeyError where there is no such row.

    R is a function of whole days. A tooth has its nodes whole days after its recall, at the moment looked at and at its end,
    where R is exact; between them it is drawn straight. Of many recalls the last 60 are drawn.
    """
    entry = rows.table[index]
    written, waiting, unknown = _recalls(rows, entry)
    now, look = rows.microseconds(), rows.microseconds(days)
    end = _end([*written, *waiting], now, look)
    starts = written[-_MOST_TEETH:] + waiting
    counts = [max(1, entry.recall_times + step) for step in range(1 - len(starts) + len(waiting), len(waiting) + 1)]
    teeth = tuple(
        _tooth(rows, start, stop, look, count, waiting=at >= len(starts) - len(waiting))
        for at, ((start, stop), count) in enumerate(zip(pairwise([*starts, end]), counts, strict=True))
    )
    last, times = max(written), entry.recall_times
    kept = _kept(rows, np.array([look]), last, times)[0]
    after = _kept(rows, np.array([look]), max([last, *waiting]), times + len(waiting))[0]
    return History(
        row=entry.index,
        created=entry.created,
        recalls=_named(rows, entry),
        unknown=unknown,
        teeth=teeth,
        unwritten=_tooth(rows, last, end, look, times) if waiting else None,
        now=now,
        look=look,
        strength_days=float(rows.strength.days(np.array([times]))[0]),
        kept=float(kept),
        kept_once_written=float(after),
    )


def _recalls(rows: InspectedRows, entry: MemoryEntry) -> tuple[list[int], list[int], int]:
    """Return the moments of creation and of all written recalls, those that wait, and how many recalls the log lacks."""
    log, waits = _log(rows, entry.index)
    written = sorted(to_microseconds(to_instant(at)) for at in (entry.created, *(record.at for record in log)))
    last = to_microseconds(entry.last_recall)
    if last > written[-1]:
        written.append(last)  # recalled before there was a log, or in a log that was lost
    waiting = [max(to_microseconds(record.at), written[-1]) for record in waits]  # the later one will be the last recall
    return written, waiting, max(0, entry.recall_times - 1 - len(log))


def _log(rows: InspectedRows, index: int) -> tuple[list[RecallRecord], list[RecallRecord]]:
    """Return a row's records by time: the written ones, and those that wait to be written, which the log holds last."""
    records = [record for record in rows.table.recalls if record.row == index]
    more, _ = rows.table.waiting.get(index, (0, None))
    split = max(0, len(records) - more)
    return sorted(records[:split], key=_when), sorted(records[split:], key=_when)


def _when(record: RecallRecord) -> datetime:
    return record.at


def _named(rows: InspectedRows, entry: MemoryEntry) -> tuple[Recalled, ...]:
    zone = entry.created.tzinfo
    written, waiting = _log(rows, entry.index)
    named = [(record, False) for record in written] + [(record, True) for record in waiting]
    return tuple(Recalled(record.at.astimezone(zone), record.question, waits) for record, waits in named)


def _end(starts: list[int], now: int, look: int) -> int:
    last = max(now, look, *starts)
    return last + max(_AHEAD_DAYS * MICROSECONDS_PER_DAY, int(_AHEAD_SHARE * (last - min(starts))))


def _tooth(rows: InspectedRows, start: int, stop: int, look: int, times: int, *, waiting: bool = False) -> Tooth:
    stop = max(start, stop)
    apart = MICROSECONDS_PER_DAY * max(1, -(-(stop - start) // (_MOST_NODES * MICROSECONDS_PER_DAY)))
    moments = np.unique(np.clip([*np.arange(start, stop, apart), look, stop], start, stop))
    return Tooth(times, moments, _kept(rows, moments, start, times), waiting)


def _kept(rows: InspectedRows, moments: np.ndarray, last: int, times: int) -> np.ndarray:
    interval = np.maximum(whole_days(moments, np.array(last)), 0)
    return np.asarray(rows.retention.at(interval, rows.strength.days(np.array([times]))), dtype=np.float64)


def instant(history: History, microseconds: int) -> datetime:
    """Return a moment of a history on the clock of the row's speaker."""
    return from_microseconds(microseconds).astimezone(history.created.tzinfo)
