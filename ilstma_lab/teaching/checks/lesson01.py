"""The memory table: R of the paper's Table 1, a touch, a round trip through JSON, and what one wrong index spoils."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np

from ilstma_lab.forgetting.strength import SigmoidStrength
from ilstma_lab.memory.entry import Dialogue
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.teaching.exercises import Exercise, Property, near

Row = dict[str, Any]
Touch = Callable[[Row, datetime], Row]

_INTERVALS, _RECALLS = np.array([2, 0, 6, 9, 3]), np.array([1, 1, 4, 2, 3])
_DAYS = np.arange(31)
_OLD = {88: 4, 89: 3}  # whole days since the two rows were told, on the first day of exercise D
_BIRTH = datetime(2026, 3, 14, 9, 41, 7, 250, tzinfo=timezone(timedelta(hours=1)))
_FACTS = ("last_recall", "recall_times")


def _left(days: Any, recalls: Any) -> np.ndarray:
    return np.exp(-np.asarray(days, dtype=float) / SigmoidStrength().days(recalls))


def _row(**changed: Any) -> Row:
    return {"index": 3, "created": _BIRTH, "last_recall": _BIRTH, "recall_times": 1, **changed}


def _leaves_the_given_row(touch: Touch) -> bool:
    row = _row()
    touch(row, _BIRTH + timedelta(days=1))
    return row == _row()


def _agrees(touch: Touch) -> bool:
    """Return whether 100 touches, some of them late, leave rows as the package's own leave them."""
    table = MemoryTable.from_dialogues([Dialogue("a", "b", _BIRTH) for _ in range(5)], embedder=HashedEmbedder(dim=8))
    rows, draw = [_row(index=row.index) for row in table], np.random.default_rng(1)
    for _ in range(100):
        which, at = int(draw.integers(5)), _BIRTH + timedelta(hours=int(draw.integers(1_000)))
        table.touch([which], at)
        rows[which] = touch(rows[which], at)
    return all(rows[row.index][fact] == getattr(row, fact) for row in table for fact in _FACTS)


def _round(trip: tuple[Callable, Callable], **changed: Any) -> tuple[Row, Row]:
    """Return a row and what comes back of it."""
    vector = np.random.default_rng(2).standard_normal(8).astype(np.float32)
    row = {"index": 3, "created": _BIRTH, "text": "The pot is 5,860.", "vector": vector, **changed}
    to_text, to_row = trip
    return row, to_row(to_text(dict(row)))


def _keeps(name: str, *values: Any) -> Callable[[tuple[Callable, Callable]], bool]:
    """Return a test that each of `values` comes back as it was, type included."""

    def keeps(trip: tuple[Callable, Callable]) -> bool:
        backs = [_round(trip, **{name: value})[1][name] for value in values]
        return all(type(back) is type(value) and back == value for back, value in zip(backs, values, strict=True))

    return keeps


def _keeps_vector(trip: tuple[Callable, Callable]) -> bool:
    row, back = _round(trip)
    return back["vector"].dtype == np.float32 and back["vector"].tobytes() == row["vector"].tobytes()


def _keeps_offset(trip: tuple[Callable, Callable]) -> bool:
    return _round(trip)[1]["created"].utcoffset() == _BIRTH.utcoffset()


def _is_json(trip: tuple[Callable, Callable]) -> bool:
    text = trip[0](_round(trip)[0])
    return isinstance(text, str) and isinstance(json.loads(text), dict)


def _spoiled() -> int:
    """Return how many values of R differ by more than .01 between the two tables of exercise D."""
    return sum(int((np.abs(_left(_DAYS, 2) - _left(_DAYS + old, 1)) > 0.01).sum()) for old in _OLD.values())


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it holds five numbers", lambda left: np.asarray(left, dtype=float).shape == (5,)),
            Property("each lies above 0, and none above 1", lambda left: all(0 < value <= 1 for value in np.asarray(left))),
            Property("a row recalled today is whole", lambda left: near(float(np.asarray(left)[1]), 1.0, tolerance=1e-9)),
            Property("rows are in the order of the table", lambda left: np.argmin(left) == 3),
            Property(
                "each is R of Eq. 3, to three digits",
                lambda left: np.allclose(np.asarray(left, dtype=float), _left(_INTERVALS, _RECALLS), atol=0.0005),
            ),
        ),
        hints=(
            "Two steps: from the recalls to S, then from t and S to R.",
            'strength.days(fragment["recall_times"]) gives all five strengths at once.',
            "R is np.exp(-t / S), where t is the column time_interval.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it returns a row in place of the dots", lambda touch: isinstance(touch(_row(), _BIRTH), dict)),
            Property("one recall more", lambda touch: touch(_row(recall_times=4), _BIRTH)["recall_times"] == 5),
            Property(
                "last recalled is the moment of the touch",
                lambda touch: touch(_row(), _BIRTH + timedelta(days=2))["last_recall"] == _BIRTH + timedelta(days=2),
            ),
            Property(
                "index and creation stay",
                lambda touch: (
                    {**touch(_row(), datetime(2027, 1, 1, tzinfo=UTC)), **dict.fromkeys(_FACTS, 0)}
                    == _row(last_recall=0, recall_times=0)
                ),
            ),
            Property("the row that it was given is as before", _leaves_the_given_row),
            Property(
                "a recall that arrives late does not turn last_recall back",
                lambda touch: touch(_row(), _BIRTH - timedelta(days=1))["last_recall"] == _BIRTH,
            ),
            Property("after 100 touches the rows are the package's", _agrees),
        ),
        hints=(
            "{**row} is a copy of the row; what you name after it replaces what it holds.",
            '{**row, "recall_times": row["recall_times"] + 1} is half of it.',
            "For last_recall take the later of two moments: max works on datetimes.",
        ),
    ),
    "C": Exercise(
        properties=(
            Property(
                "it is a pair of functions", lambda trip: isinstance(trip, tuple) and len(trip) == 2 and all(map(callable, trip))
            ),
            Property("the first returns the text of a JSON object", _is_json),
            Property("the second returns the same keys", lambda trip: _round(trip)[1].keys() == _round(trip)[0].keys()),
            Property("index and text come back", lambda trip: all(_keeps(k, v)(trip) for k, v in (("index", 7), ("text", "a")))),
            Property(
                "quotes, line ends, backslashes, other scripts and emoji come back",
                _keeps("text", 'She said "no".\n\t\\n {"a": 1}', "我对花生过敏", "שלום", "👨‍👩‍👧", ""),
            ),
            Property("the moment comes back, to the microsecond", _keeps("created", _BIRTH, datetime(2026, 1, 1, tzinfo=UTC))),
            Property("its offset from UTC comes back", _keeps_offset),
            Property("the vector comes back as float32, bit for bit", _keeps_vector),
            Property(
                "a row without a vector comes back without one", lambda trip: _round(trip, vector=None)[1]["vector"] is None
            ),
        ),
        hints=(
            "json.dumps knows text, numbers, lists, dicts and None. What of the row is none of these?",
            "created.isoformat() writes a moment with its offset, and datetime.fromisoformat reads it.",
            "vector.tolist() writes the numbers, and np.array(numbers, np.float32) reads them; leave None as it is.",
        ),
    ),
    "D": Exercise(
        properties=(
            Property("it is a whole number", lambda count: float(count).is_integer()),
            Property("it is at least 1 and at most 2,976", lambda count: 1 <= count <= 2976),
            Property("both rows are counted, the one that lacks its touch as well", lambda count: count > len(_DAYS)),
            Property("it is the number of values that differ by more than .01", lambda count: count == _spoiled()),
        ),
        hints=(
            "frame = table.to_frame(now + timedelta(days=day)) is the table on a day; it has time_interval and recall_times.",
            "R of all rows on that day: np.exp(-t / strength.days(n)), with the two columns as t and n.",
            "(abs(one - other) > 0.01).sum() counts for one day; add up over range(31).",
        ),
    ),
}
