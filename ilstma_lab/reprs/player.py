"""The screen of the nine-step player: head, drawing, panel, seconds. A widget brings it to life; a page shows it as it is."""

from __future__ import annotations

from collections.abc import Sequence

from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.reprs.diagram import diagram_html
from ilstma_lab.reprs.film import ran
from ilstma_lab.reprs.live import press, told
from ilstma_lab.reprs.markup import Html, tag
from ilstma_lab.reprs.parts import badge
from ilstma_lab.reprs.picked import picked_html
from ilstma_lab.reprs.step_panel import panel_html
from ilstma_lab.reprs.step_words import place, try_this
from ilstma_lab.reprs.timeline import timeline_html
from ilstma_lab.reprs.turn import outcome
from ilstma_lab.reprs.why import finding
from ilstma_lab.reprs.words import line
from ilstma_lab.trace import Turn

_SHOWN_TURNS = 12
_ICONS = {  # each drawn in 14 by 14
    "first": "M11.5 2.8v8.4L6.3 7zM6.3 2.8v8.4L1.1 7z",
    "back": "M11 2.8v8.4L4.6 7zM2.4 2.8h1.4v8.4H2.4z",
    "play": "M4.5 2.8v8.4l7-4.2z",
    "pause": "M3.6 2.8h2.4v8.4H3.6zM8 2.8h2.4v8.4H8z",
    "next": "M3 2.8v8.4L9.4 7zM10.2 2.8h1.4v8.4h-1.4z",
    "copy": "M6 5h5.5v7.5H4.5V5zm1 1.2v5.1h3.3V6.2zM2 1.5h7.2v2.6H8V2.7H3.2v6.1h.9V10H2z",
    "last": "M2.5 2.8v8.4L7.7 7zM7.7 2.8v8.4L12.9 7z",
}


def player_html(
    turns: Sequence[Turn], at: int, step: int, *, picked: str = "", cached_by: Selection | None = None, python: str = ""
) -> Html:
    """Return turn number `at` of `turns` at step `step`, with the card of what is `picked`."""
    turn = turns[at]
    shown = picked_html(turn, step, picked) if picked else None
    panel = tag("div", panel_html(turn, step, cached_by=cached_by), cls="pn-step", data_key=f"{at} {step}")
    return tag(
        "section",
        _head(turns, at, step),
        _turns(turns, at) if len(turns) > 1 else None,
        tag(
            "div",
            tag("div", diagram_html(turn, step, eyebrow=_which(turns, at)), cls="dg-room"),
            tag("aside", shown, panel, cls="pn", tabindex="0", aria_label="What this step did"),
            cls="pl",
        ),
        timeline_html(turn, step),
        _foot(turn, step, python),
        cls="w",
        tabindex="-1",
        aria_label="Nine-step player",
    )


def _head(turns: Sequence[Turn], at: int, step: int) -> Html:
    turn = turns[at]
    eyebrow = " · ".join(filter(None, ("Player", _which(turns, at), *(line(label, 60) for label in turn.labels))))
    left = tag(
        "div",
        tag("div", tag("span", eyebrow), badge(outcome(turn)), cls="eyebrow"),
        tag("p", told(finding(turn)), cls="finding"),
    )
    order = ran(turn)
    where = tag("span", place(turn, step), cls="mid", role="status")
    start, end = bool(order) and step == order[0], not order or step == order[-1]
    words = tag("span", "Play", cls="when-still"), tag("span", "Pause", cls="when-playing")
    play = tag("button", _icon("play"), _icon("pause"), *words, type="button", data_play="", cls="btn pri")
    return tag(
        "header",
        left,
        tag(
            "div",
            where,
            _move("first", "First step (Home)", start),
            _move("back", "Back (left arrow)", start),
            play,
            _move("next", "Next step (right arrow)", end),
            _move("last", "Last step (End)", end),
            cls="w-acts",
        ),
        cls="w-head",
    )


def _move(do: str, name: str, off: bool) -> Html:
    return press(do, _icon(do), off=off, cls="btn ico", title=name, aria_label=name)


def _icon(name: str) -> Html:
    drawn = tag("path", d=_ICONS[name])
    return tag("svg", drawn, xmlns="http://www.w3.org/2000/svg", viewBox="0 0 14 14", cls=f"icon i-{name}", aria_hidden="true")


def _turns(turns: Sequence[Turn], at: int) -> Html:
    """The turns around this one, and the way to the one before and after."""
    first = max(0, min(at - _SHOWN_TURNS // 2, len(turns) - _SHOWN_TURNS))
    shown = [_turn_chip(turns, number, at) for number in range(first, min(first + _SHOWN_TURNS, len(turns)))]
    before, after = first, len(turns) - first - len(shown)
    return tag(
        "div",
        press("turn", "‹", value=at - 1, off=at == 0, cls="btn ico", title="The turn before", aria_label="The turn before"),
        tag("span", f"{before} before", cls="dim") if before else None,
        *shown,
        tag("span", f"{after} after", cls="dim") if after else None,
        press(
            "turn", "›", value=at + 1, off=at == len(turns) - 1, cls="btn ico", title="The next turn", aria_label="The next turn"
        ),
        tag("span", line(turns[at].question, 160), cls="mid cut", dir="auto"),
        cls="pl-turns",
        role="group",
        aria_label="Turns",
    )


def _turn_chip(turns: Sequence[Turn], number: int, at: int) -> Html:
    end = outcome(turns[number])
    name = f"Turn {number + 1}, {end}: {line(turns[number].question, 80)}"
    mark = tag("span", cls=f"mark {end}")
    return press(
        "turn",
        mark,
        number + 1,
        value=number,
        cls="chip on" if number == at else "chip",
        title=name,
        aria_label=name,
        aria_current="true" if number == at else None,
    )


def _which(turns: Sequence[Turn], at: int) -> str:
    return f"turn {at + 1} of {len(turns)}" if len(turns) > 1 else f"turn {turns[at].number}"


def _foot(turn: Turn, step: int, python: str) -> Html:
    hint = tag("p", tag("b", "Try this"), tag("span", try_this(turn, step)), cls="try")
    copy = tag("button", _icon("copy"), tag("span", "Copy as Python"), type="button", data_copy=python, cls="btn ghost")
    return tag("footer", hint, tag("div", copy, cls="w-acts") if python else None, cls="w-foot")
