"""A what-if as a figure: each turn as it was recorded, and as it went with other settings. It returns a spec (plots/spec.py)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ilstma_lab.plots.marks import INK, dots, layout, line
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import GREY, ROLES
from ilstma_lab.reprs.words import count

_ROWS = {"recorded": 1.0, "what if": 0.0}
_HIT, _MISS = ROLES["cache"], ROLES["relevant"]


def turns_spec(
    numbers: Sequence[int], recorded: Sequence[bool], replayed: Sequence[bool], changed: Collection[int], *, chosen: int
) -> Spec:
    """Return two rows of marks, a full one where a turn hit; a stroke joins the two of a turn that ended otherwise.

    `numbers` are the turns', `recorded` whether each hit, `replayed` the same for as many as were run again, `changed` the turns
    in which anything differs: a small mark stands between. `chosen`: the turn in the ink box.
    """
    x = np.array(numbers)
    both = {"recorded": np.array(recorded, bool), "what if": np.array(replayed, bool)}
    flips = [number for number, one, other in zip(numbers, recorded, replayed, strict=False) if one != other]
    data = [line([number, number], [0.16, 0.84], uid=f"ink-flip{number}", **INK) for number in flips]
    small = [number for number in numbers if number in changed and number not in flips]
    data.append(dots(small, np.full(len(small), 0.5), None, uid="changed", color=GREY, size=4))
    for name, hits in both.items():
        at = x[: len(hits)]
        data += [_marks(at[hits], name, hit=True), _marks(at[~hits], name, hit=False), _numbers(at, hits, name)]
    box_x = [chosen - 0.5, chosen + 0.5, chosen + 0.5, chosen - 0.5, chosen - 0.5]
    data.append(line(box_x, [-0.4, -0.4, 1.4, 1.4, -0.4], uid="ink-box", **INK))
    told = f"{count(len(flips), 'turn')} ended otherwise" if replayed else "Not run again yet"
    frame = layout(
        told,
        "turn by turn: full = hit, ring = miss; a stroke = the outcome changed, a dot = something else did",
        f"{told}. Recorded hits: {sum(recorded)} of {len(recorded)}. With other settings: {sum(replayed)} of {len(replayed)}.",
        height=132,
        margin={"l": 62, "r": 12, "t": 6, "b": 24},
        hovermode="x",
        xaxis={"range": [numbers[0] - 0.8, numbers[-1] + 0.8], "tickvals": _ticks(numbers), "showgrid": False},
        yaxis={"range": [-0.5, 1.5], "tickvals": [*_ROWS.values()], "ticktext": [*_ROWS], "showgrid": False},
        names=("turn", "1 = hit"),
    )
    return {"data": data, "layout": frame}


def _marks(x: np.ndarray, name: str, *, hit: bool) -> dict:
    color, end = (_HIT, "hit") if hit else (_MISS, "miss")
    symbol = "circle" if hit else "circle-open"
    return dots(x, np.full(len(x), _ROWS[name]), None, uid=f"{name}-{end}", color=color, size=10, symbol=symbol)


def _numbers(x: np.ndarray, hits: np.ndarray, name: str) -> dict:
    """What the table shows and the pointer finds: nothing to be seen."""
    return dots(x, hits.astype(int), name, uid=f"{name}-numbers", color=GREY, size=9) | {"opacity": 0}


def _ticks(numbers: Sequence[int]) -> list[int]:
    step = 1 if len(numbers) <= 12 else 5
    return [number for number in numbers if number % step == 0 or number == numbers[0]]
