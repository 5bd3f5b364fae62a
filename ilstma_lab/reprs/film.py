"""A turn as a film: which steps ran and in what order, and what stood in short-term memory at each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ilstma_lab.models.call import Call
from ilstma_lab.reprs.segments import RULES
from ilstma_lab.reprs.steps import in_order
from ilstma_lab.trace import SegmentView, Step, Turn

State = Literal["done", "act", "todo", "skip"]


@dataclass(frozen=True)
class Held:
    """A segment at one step: what is in it, and what this step did with it; `gone` is what a miss has cleared away."""

    view: SegmentView
    news: Literal["", "cleared", "filled"] = ""
    gone: SegmentView | None = None


def ran(turn: Turn) -> tuple[int, ...]:
    """Return the numbers of the steps that ran, in the order in which they first did."""
    return tuple(dict.fromkeys(step.number for step in turn.steps))


def runs(turn: Turn, number: int) -> tuple[Step, ...]:
    """Return each run of step `number`: step 5 runs twice where a group of five is full after the answer."""
    return tuple(step for step in turn.steps if step.number == number)


def spent(turn: Turn, number: int) -> float:
    """Return the seconds of all runs of step `number`."""
    return sum(step.seconds for step in runs(turn, number))


def state_of(turn: Turn, number: int, now: int) -> State:
    """Return how step `number` stands when the film is at step `now`."""
    if number not in ran(turn):
        return "skip"
    order = in_order(turn)
    return "act" if number == now else "done" if order.index(number) < order.index(now) else "todo"


def reached(turn: Turn, number: int, now: int) -> bool:
    """Return whether step `number` has run, or runs, when the film is at step `now`."""
    return state_of(turn, number, now) in ("done", "act")


def segments_at(turn: Turn, now: int) -> tuple[Held, ...]:
    """Return the five segments, in the paper's order, as step `now` leaves them.

    Taken from what the Turn kept: what the judge saw, what the answer was made from, and what the next turn will see. A failed
    turn ends with what the answer would have been made from; then all is put back.
    """
    return tuple(_held(turn, name, now) for name in RULES)


def rows_at(turn: Turn, name: str, now: int) -> tuple[int, ...]:
    """Return the rows in segment `name` at step `now`."""
    return next(held.view.rows for held in segments_at(turn, now) if held.view.name == name)


def calls_until(turn: Turn, now: int) -> tuple[tuple[int, Call], ...]:
    """Return the prompts and replies up to step `now`, in order, each with its step."""
    order, late = in_order(turn), _after_the_answer(turn) - {now}
    until = [number for number in order[: order.index(now) + 1] if number not in late]
    return tuple((number, call) for number in until for call in turn.calls.get(number, ()))


def waited_for(turn: Turn) -> float:
    """Return the seconds between question and answer in which a model was waited for; 0 where none was asked."""
    late = _after_the_answer(turn)
    return sum(call.seconds for number, calls in turn.calls.items() if number not in late for call in calls if call.sent)


def rows_of(turn: Turn) -> set[int]:
    """Return the rows that the turn speaks of. An index may lie beyond the table's size, where other rows were deleted."""
    rows = {*turn.rows, *turn.recalled, *turn.waiting, *([] if turn.row is None else [turn.row])}
    for view in (*turn.segments_before, *turn.answered_from, *turn.segments_after):
        rows.update(view.rows)
    if turn.prefetch:
        rows.update(row.index for row in turn.prefetch.rows)
    if turn.recall:
        rows.update(row for chunk in turn.recall.branch_a.chunks for row in chunk.rows)
        rows.update(row for candidate in turn.recall.branch_b.candidates for row in (candidate.index, *candidate.echo_of))
    return rows


def _after_the_answer(turn: Turn) -> set[int]:
    """Steps whose prompts came after the answer. A second run of step 5 has them all: the first only chose."""
    numbers = [step.number for step in turn.steps]
    return set(numbers[numbers.index(9) + 1 :]) if 9 in numbers else set()


def _held(turn: Turn, name: str, now: int) -> Held:
    before, answered, after = (_named(views, name) for views in (turn.segments_before, turn.answered_from, turn.segments_after))
    if ran(turn) and now == ran(turn)[-1] and not turn.failure:
        return Held(after, news="filled" if after.text and after != answered else "")
    cleared = reached(turn, 4, now)  # a miss: between the judge and the table
    filled_by = {"cache": 7, "summary": 5, "personality": 5, "relevant": 6}.get(name)
    if cleared and filled_by and reached(turn, filled_by, now):
        view = after if name == "cache" else answered
        return Held(view, news="filled" if filled_by == now and view.text else "")
    if cleared and name in ("cache", "summary"):
        return Held(SegmentView(name, (), "", 0), news="cleared" if before.text else "", gone=before)
    return Held(before)


def _named(views: Sequence[SegmentView], name: str) -> SegmentView:
    return next((view for view in views if view.name == name), SegmentView(name, (), "", 0))
