"""Where the seconds of a turn went: one bar to scale, and below it the nine steps in the order in which they ran."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ilstma_lab.reprs.film import ran, runs, spent, state_of, waited_for
from ilstma_lab.reprs.live import press
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import width
from ilstma_lab.reprs.steps import in_order
from ilstma_lab.reprs.words import seconds
from ilstma_lab.trace import STEP_NAMES, Turn

_DEED = {2: "the model judges", 5: "the model sums up", 6: "the model reads", 9: "the model answers"}
_NAMED, _NUMBERED = 0.16, 0.035  # of the bar: what a name and what a number need
_FAN = (1000, 24)


class _Block(NamedTuple):
    number: int
    start: float
    end: float


def timeline_html(turn: Turn, now: int) -> Html:
    """Return the bar, and the nine steps as buttons."""
    order, blocks = in_order(turn), _blocks(turn)
    return tag(
        "div",
        tag("p", tag("b", f"Where the {seconds(turn.seconds)} went"), tag("span", f" {_also(turn)}", cls="mid")),
        tag("div", *(_block(turn, block, now) for block in blocks), cls="tl-bar", aria_hidden="true"),
        _fan(blocks, order, now),
        tag("ol", *(tag("li", _cell(turn, number, now)) for number in order), cls="tl-steps"),
        cls="tl",
    )


def model_share(turn: Turn) -> float | None:
    """Return the share of the seconds up to the answer in which a model was waited for; None where none was asked."""
    waited = waited_for(turn)
    return min(waited / turn.seconds, 1.0) if waited and turn.seconds else None


def _also(turn: Turn) -> str:
    share = model_share(turn)
    model = "no model was waited for" if share is None else f"{100 * share:.1f} % is waiting for the model"
    after = f"; {seconds(turn.seconds_after)} more after the answer" if turn.seconds_after else ""
    return f"in the order they ran; {model}{after}"


def _blocks(turn: Turn) -> list[_Block]:
    whole = sum(step.seconds for step in turn.steps) or 1.0
    blocks, start = [], 0.0
    for number in ran(turn):
        end = start + spent(turn, number) / whole
        blocks.append(_Block(number, start, end))
        start = end
    return blocks


def _block(turn: Turn, block: _Block, now: int) -> Html:
    share = block.end - block.start
    asked = any(call.sent for call in turn.calls.get(block.number, ()))
    name = _DEED.get(block.number, STEP_NAMES[block.number]) if asked else STEP_NAMES[block.number]
    shown = (tag("b", block.number) if share > _NUMBERED else None, tag("span", name, cls="cut") if share > _NAMED else None)
    return tag("i", *shown, cls=state_of(turn, block.number, now), style=f"left:{width(block.start)};width:{width(share)}")


def _fan(blocks: Sequence[_Block], order: Sequence[int], now: int) -> Html:
    """What joins each stretch of the bar to its step below."""
    (wide, high), cell = _FAN, _FAN[0] / len(order)
    paths = []
    for number, start, end in blocks:
        left, right = start * wide, max(end * wide, start * wide + 1)
        to = order.index(number) * cell
        into, out = to + 5, to + cell - 5
        down = f"M{left:.1f} 0H{right:.1f}C{right:.1f} 14 {out:.1f} 10 {out:.1f} {high}"
        up = f"H{into:.1f}C{into:.1f} 10 {left:.1f} 14 {left:.1f} 0z"
        paths.append(tag("path", d=down + up, cls="act" if number == now else None))
    box = f"0 0 {wide} {high}"
    return tag(
        "svg",
        *paths,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=box,
        preserveAspectRatio="none",
        cls="tl-fan",
        aria_hidden="true",
    )


def _cell(turn: Turn, number: int, now: int) -> Html:
    failed = any(step.error for step in runs(turn, number))
    state = state_of(turn, number, now)
    missing = "not reached" if turn.failure else "on a hit" if number == 3 else "on a miss"
    note = "failed" if failed else missing if state == "skip" else seconds(spent(turn, number))
    looks = " ".join(filter(None, ("tl-cell", state, "here" if number == now else "", "broke" if failed else "")))
    parts = (tag("span", number, cls="no"), tag("span", STEP_NAMES[number], cls="name"), tag("span", note, cls="dim"))
    return press("step", join(*parts), value=number, cls=looks, aria_current="step" if number == now else None)
