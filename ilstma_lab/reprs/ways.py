"""The three ways into short-term memory, as boxes of the drawing: prefetch, summaries, dual retrieval."""

from __future__ import annotations

from ilstma_lab.reprs.film import reached, runs, state_of
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.words import count, score
from ilstma_lab.retrieval.recall import Recall
from ilstma_lab.trace import Step, Turn

_MOST_SETS = 12
_LONG = 8  # characters; beside longer row numbers there is no room for a noun
_RULINGS = {
    "agree": "{a} is among B’s",
    "disagree": "{a} is not B’s",
    "invented": "no such row",
    "unread": "A is silent",
    "empty": "no row at all",
}


def prefetch_box(turn: Turn, now: int) -> Html:
    """Return the prefetch: its window's scores as bars in the order of the rows, the chosen ones full."""
    top = tag("b", "Prefetch")
    selection = turn.prefetch
    if selection is None:
        return join(top, tag("p", "not reached" if turn.failure else "waits for a miss", cls="dim"))
    if not selection.rows:
        return join(top, tag("p", "no row to start from", cls="dim"))
    lit = reached(turn, 7, now)
    rule = join(
        tag("p", "time + place", cls="mid small"),
        tag("p", f"± {count(selection.offset, 'row')}", cls="mid small cut"),
        tag("p", f"top {len(selection.chosen)}", cls="mid small cut"),
    )
    best = max(row.score for row in selection.rows) or 1.0
    bars = [
        tag("i", cls="won" if row.chosen and lit else None, style=f"height:{100 * max(row.score, 0.0) / best:.0f}%")
        for row in sorted(selection.rows, key=lambda row: row.index)
    ]
    return join(top, rule, tag("div", *bars, cls="minis", aria_hidden="true"))


def summaries_box(turn: Turn, now: int) -> Html:
    """Return the summaries: a cell for each set, the chosen one filled."""
    step = next((step for step in runs(turn, 5) if "summary" in step.wrote), None)
    sets = (step.read.get("summaries") if step else None) or 0
    if step is None and (read := turn.step(4)):
        sets = read.read.get("summaries") or 0
    chosen = step.wrote["summary"] if step and reached(turn, 5, now) else None
    top = tag(
        "div", tag("b", "Summaries"), tag("span", count(sets, "set") if step or sets else "groups of five", cls="dim"), cls="end"
    )
    cells = min(sets, _MOST_SETS)
    place = None if chosen is None or not cells else min(chosen, sets - 1) * cells // sets
    row = tag("div", *(tag("i", cls="won" if at == place else None) for at in range(cells)), cls="sets", aria_hidden="true")
    return join(top, row if cells else None, tag("p", _said_of(turn, now, step, chosen), cls="mid small"))


def _said_of(turn: Turn, now: int, step: Step | None, chosen: int | None) -> str:
    if state_of(turn, 5, now) == "skip" or step is None:
        return "kept as they are"
    if not reached(turn, 5, now):
        return "the set nearest to the question, and the user’s personality"
    if chosen is None:
        return "no set to choose yet"
    cosine = step.wrote.get("cosine")
    near = f", cosine {score(cosine)}" if isinstance(cosine, float) else ""
    return f"set {chosen} is nearest to the question{near}"


def retrieval_box(turn: Turn, now: int) -> Html:
    """Return both branches with what they found, and the referee above them."""
    top = tag("b", "Dual retrieval")
    recall = turn.recall if reached(turn, 6, now) else None
    named, ranked = _named(recall), _ranked(recall)
    return join(
        top,
        tag("span", _ruling(recall), cls="pill" if recall else "pill off"),
        tag("span", tag("span", "A names"), tag("b", named, cls="cut"), cls="way of-a" if recall else "way"),
        tag("span", tag("span", "B ranks"), tag("b", ranked, cls="cut"), cls="way of-b" if recall else "way"),
    )


def _ruling(recall: Recall | None) -> str:
    return "Referee" if recall is None else _RULINGS[recall.decision].format(a=recall.branch_a.named)


def _named(recall: Recall | None) -> str:
    if recall is None:
        return "a row"
    return "no row" if recall.branch_a.named is None else f"row {recall.branch_a.named}"


def _ranked(recall: Recall | None) -> str:
    if recall is None:
        return "two rows"
    winners = recall.branch_b.winners
    listed = ", ".join(map(str, winners)) or "no row"
    noun = "" if not winners or len(listed) > _LONG else "row " if len(winners) == 1 else "rows "
    return noun + listed
