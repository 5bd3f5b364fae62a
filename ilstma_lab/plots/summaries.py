"""What summaries keep of the facts that questions ask for, by the size of the groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ilstma_lab.plots.marks import INK, dots, layout, line, ring, words
from ilstma_lab.plots.spec import Spec
from ilstma_lab.plots.template import ROLES
from ilstma_lab.reprs.words import count

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bootstrap import Band
    from ilstma_lab.evaluation.summary_loss import FactsKept

_SUMMARY = ROLES["summary"]
_KEPT_SHADE, _CHOSEN_SHADE = "rgba(60,156,208,.22)", "rgba(123,132,148,.20)"
_TICKS = [0, 25, 50, 75, 100]
_ASIDE = 0.12  # how far labels stand from their dots, in dialogues a group
PAPERS_SIZE = 5


def loss_spec(kept: FactsKept, *, height: int = 270) -> Spec:
    """Return the share of facts that still stand in some set, and in the set chosen for the question, with their 95 % bands."""
    some, chosen = kept.bands("kept"), kept.bands("chosen")
    sizes, last = list(kept.sizes), kept.sizes[-1]
    data = [
        _shade(chosen, uid="band-chosen", color=_CHOSEN_SHADE),
        _shade(some, uid="band-kept", color=_KEPT_SHADE),
        line(sizes, _percents(chosen), name="in the chosen set, %", uid="ink-chosen", **INK, dash="5px,4px"),
        line(sizes, _percents(some), name="in some set, %", uid="kept", color=_SUMMARY, width=2.6),
        dots(sizes, _percents(some), None, uid="dot-kept", color=_SUMMARY, size=8),
        words(last + _ASIDE, _percents(some)[-1], _end("<b>in some set</b>", some[last]), "middle right", uid="words-kept"),
        words(last + _ASIDE, _percents(chosen)[-1], _end("in the chosen set", chosen[last]), "middle right", uid="words-chosen"),
    ]
    if PAPERS_SIZE in some:
        mean = 100 * some[PAPERS_SIZE].mean
        data += [
            ring(PAPERS_SIZE, mean),
            words(PAPERS_SIZE + _ASIDE, mean, f"the paper's 5: {mean:.0f} %", "top right", uid="words-5"),
        ]
    frame = layout(
        _finding(kept),
        f"facts that stand in the summaries, {count(len(kept), 'fact')} of {count(kept.questions, 'question')}; bands 95 %",
        _sentence(some, chosen),
        height=height,
        margin={"l": 44, "r": 150, "t": 8, "b": 40},
        xaxis={
            "range": [sizes[0] - 0.3, last + 0.3],
            "tickvals": sizes,
            "showgrid": False,
            "title": {"text": "dialogues a group"},
        },
        yaxis={"range": [0, 100], "tickvals": _TICKS, "ticktext": [f"{tick} %" for tick in _TICKS]},
        names=("dialogues a group", "facts"),
    )
    return {"data": data, "layout": frame}


def _percents(bands: Mapping[int, Band]) -> list[float]:
    return [100 * band.mean for band in bands.values()]


def _shade(bands: Mapping[int, Band], *, uid: str, color: str) -> dict:
    sizes, found = list(bands), list(bands.values())
    edge = [100 * band.high for band in found] + [100 * band.low for band in reversed(found)]
    shape = {"type": "scatter", "mode": "lines", "x": sizes + sizes[::-1], "y": edge, "fill": "toself", "fillcolor": color}
    return {**shape, "line": {"width": 0, "color": color}, "hoverinfo": "skip", "uid": uid}


def _end(name: str, band: Band) -> str:
    return f"{name} {100 * band.mean:.0f} %"


def _finding(kept: FactsKept) -> str:
    counts = kept.counts()
    first, last = kept.sizes[0], kept.sizes[-1]
    if first == last:
        return f"Groups of {first} keep {counts[first]} of {len(kept)} facts"
    return f"Groups of {first} keep {counts[first]} of {len(kept)} facts, groups of {last} keep {counts[last]}"


def _sentence(some: Mapping[int, Band], chosen: Mapping[int, Band]) -> str:
    points = ", ".join(f"{100 * band.mean:.0f} % at {size}" for size, band in some.items())
    ends = ", ".join(f"{100 * chosen[size].mean:.0f} % at {size}" for size in (min(chosen), max(chosen)))
    return f"Share of facts that stand in some summary by group size: {points}. In the summary chosen for the question: {ends}."
