"""The rows of the inspector to take away: as pandas, as JSON records, and as Table 1 of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ilstma_lab.forgetting.retention import whole_days
from ilstma_lab.reprs.words import line
from ilstma_lab.widgets.inspector_look import Look
from ilstma_lab.widgets.inspector_rows import InspectedRows, Shown

if TYPE_CHECKING:
    import pandas as pd

_PAPER_ROWS = 16
_NUMBERS = 2


def frame_of(rows: InspectedRows, look: Look, shown: Shown) -> pd.DataFrame:
    """Return the rows shown, in the order shown; S in days and R on the day looked at. The index is the rows' numbers."""
    import pandas as pd

    table, at = rows.table, shown.positions
    indices = table.indices[at]
    sides = [table.sides(index) for index in indices.tolist()]
    cached, waiting = set(rows.cached()), table.waiting
    return pd.DataFrame(
        {
            "user": [user for user, _ in sides],
            "assistant": [assistant for _, assistant in sides],
            "kind": [table.kind_of(position) for position in at],
            "created": pd.DatetimeIndex(table.created[at].astype("datetime64[us]")).tz_localize("UTC"),
            "last_recall": pd.DatetimeIndex(table.last_recall[at].astype("datetime64[us]")).tz_localize("UTC"),
            "recall_times": table.recall_times[at],
            "recalls_waiting": [waiting.get(index, (0, None))[0] for index in indices.tolist()],
            "strength_days": shown.strength_days[at],
            "retention": shown.kept[at],
            "looked_at": pd.Timestamp(rows.moment(look.days)).tz_convert("UTC"),
            "cached": [index in cached for index in indices.tolist()],
            "source": [table[index].source for index in indices.tolist()],
        },
        index=pd.Index(indices, name="row"),
    )


def records_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a frame as plain JSON values: one record a row, times in ISO 8601."""
    plain = frame.reset_index()
    for name in ("created", "last_recall", "looked_at"):
        plain[name] = [moment.isoformat() for moment in plain[name]]
    return plain.to_dict(orient="records")


def paper_rows(rows: InspectedRows, look: Look, shown: Shown) -> list[list[str]]:
    """Return the topmost rows on the screen in the columns of Table 1: index, interval, recall times, text, vector."""
    table, now = rows.table, rows.microseconds(look.days)
    taken = shown.positions[look.first : look.first + _PAPER_ROWS]
    intervals = np.maximum(whole_days(now, table.last_recall[taken]), 0)
    return [
        [str(table.indices[at]), str(interval), str(table.recall_times[at]), line(table.text(at), 60), _vector(table, at)]
        for at, interval in zip(taken, intervals, strict=True)
    ]


def _vector(table, at: int) -> str:
    if table.pending[at]:
        return "pending"
    first = ", ".join(f"{number:.2f}".replace("-", "−") for number in table.vectors[at][:_NUMBERS])
    return f"{first} …"
