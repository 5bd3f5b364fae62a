"""The architecture as a drawing (after Figure 1 of the ILSTMA paper): chat, model, five segments, three ways to fill them, and
the table below. It shows one step of a turn: its arrow and what it moves are lit, the steps that ran before it are dark."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ilstma_lab.reprs.film import Held, calls_until, reached, rows_at, runs, segments_at, state_of
from ilstma_lab.reprs.live import press
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import chip, chips
from ilstma_lab.reprs.strip import kept_by_window, size_at, strip_html
from ilstma_lab.reprs.ways import prefetch_box, retrieval_box, summaries_box
from ilstma_lab.reprs.words import count, line
from ilstma_lab.trace import STEP_NAMES, Turn

WIDE, HIGH = 640, 614
_TILE, _STEP = 101, 109.75


class Box(NamedTuple):
    """A place in the drawing: left, top, wide, high, on a grid of 640 by 614. Across it stretches, in height it stays."""

    left: float
    top: float
    wide: float
    high: float

    @property
    def style(self) -> str:
        """The place as CSS."""
        return f"left:{_across(self.left)};width:{_across(self.wide)};top:{self.top:g}px;height:{self.high:g}px"


class Tip(NamedTuple):
    """The head of an arrow: where it points, and which way."""

    x: float
    y: float
    way: Literal["up", "down", "left", "right"]


class Arrow(NamedTuple):
    """A way that data takes: lit at `steps`, drawn as done after the first of them; `role` colours it while it is lit."""

    steps: tuple[int, ...]
    path: str
    tips: tuple[Tip, ...] = ()
    role: str = ""


BOXES = {
    "chat": Box(40, 8, 290, 92),
    "model": Box(396, 8, 204, 92),
    "short": Box(40, 146, 560, 128),
    "prefetch": Box(52, 334, _TILE, 134),
    "summaries": Box(161.5, 334, 206, 134),
    "retrieval": Box(376, 334, 212, 134),
    "long": Box(40, 514, 560, 92),
}
TILES = {
    name: Box(52 + _STEP * at, 178, _TILE, 86)
    for at, name in enumerate(("cache", "summary", "personality", "history", "relevant"))
}
_MIDDLE = {name: box.left + box.wide / 2 for name, box in TILES.items()}
ARROWS = (
    Arrow((1,), "M80 100V145", (Tip(80, 146, "down"),)),
    Arrow((2,), "M450 146V101", (Tip(450, 100, "up"),)),
    Arrow((9,), "M560 146V101M396 54H331", (Tip(560, 100, "up"), Tip(330, 54, "left"))),
    Arrow((3,), "M40 220H20V560H39", (Tip(40, 560, "right"),), "cache"),
    Arrow((8,), "M600 220H622V560H601", (Tip(600, 560, "left"),)),
    Arrow((7,), f"M{_MIDDLE['cache']} 334V265", (Tip(_MIDDLE["cache"], 264, "up"),), "cache"),
    Arrow((7,), f"M{_MIDDLE['cache']} 514V469", (Tip(_MIDDLE["cache"], 468, "up"),)),
    Arrow(
        (5,),
        f"M{_MIDDLE['summary']} 334V265M{_MIDDLE['personality']} 334V265M{_MIDDLE['summary']} 304H{_MIDDLE['personality']}",
        (Tip(_MIDDLE["summary"], 264, "up"), Tip(_MIDDLE["personality"], 264, "up")),
        "summary",
    ),
    Arrow((5,), "M264.5 514V469", (Tip(264.5, 468, "up"),)),
    Arrow((6,), f"M{_MIDDLE['relevant']} 366V265", (Tip(_MIDDLE["relevant"], 264, "up"),), "relevant"),
    Arrow((6,), "M432 414V402H480V390", (), "a"),
    Arrow((6,), "M532 414V390", (), "b"),
    Arrow((4, 6), "M432 514V459", (Tip(432, 458, "up"),), "a"),
    Arrow((4, 6), "M532 514V459", (Tip(532, 458, "up"),), "b"),
    Arrow((4,), "M432 490H532"),
)
NUMBERS = {
    1: (80, 123),
    2: (450, 123),
    9: (560, 123),
    3: (20, 386),
    8: (622, 386),
    7: (_MIDDLE["cache"], 304),
    5: ((_MIDDLE["summary"] + _MIDDLE["personality"]) / 2, 304),
    6: (_MIDDLE["relevant"], 304),
    4: (482, 490),
}
_TRAVELS = {
    1: (80, 60, 180),
    3: (20, 220, 560),
    6: (_MIDDLE["relevant"], 366, 220),
    7: (_MIDDLE["cache"], 400, 220),
    8: (622, 220, 560),
}


def diagram_html(turn: Turn, now: int, *, eyebrow: str = "") -> Html:
    """Return the drawing at step `now`; `eyebrow` says which turn it is."""
    return tag(
        "div",
        _chat(turn, now, eyebrow),
        _model(turn, now),
        _short(turn, now),
        *(_tile(held, now) for held in segments_at(turn, now)),
        _box("prefetch", prefetch_box(turn, now), lit=now == 7),
        _box("summaries", summaries_box(turn, now), lit=now == 5),
        _box("retrieval", retrieval_box(turn, now), lit=now == 6),
        _long(turn, now),
        _lines(turn, now),
        *(_number(turn, number, now) for number in sorted(NUMBERS)),
        tag("span", "on a hit", cls="dg-side", style=f"left:{_across(20)};top:446px"),
        _travel(turn, now),
        cls="dg",
        role="group",
        aria_label=f"The architecture at step {now}, {STEP_NAMES[now]}",
    )


def _lines(turn: Turn, now: int) -> Html:
    order = sorted(ARROWS, key=lambda arrow: now in arrow.steps)  # what is lit lies on top
    paths = [tag("path", d=arrow.path, cls=_look(arrow, turn, now)) for arrow in order]
    tips = [
        tag("i", cls=f"tip {tip.way} {_look(arrow, turn, now)}", style=f"left:{_across(tip.x)};top:{tip.y:g}px")
        for arrow in order
        for tip in arrow.tips
    ]
    box = f"0 0 {WIDE} {HIGH}"
    drawn = tag("svg", *paths, xmlns="http://www.w3.org/2000/svg", viewBox=box, preserveAspectRatio="none", aria_hidden="true")
    return tag("div", drawn, *tips, cls="dg-lines", aria_hidden="true")


def _look(arrow: Arrow, turn: Turn, now: int) -> str:
    state = "act" if now in arrow.steps and state_of(turn, now, now) != "skip" else state_of(turn, arrow.steps[0], now)
    return f"{state} of-{arrow.role}" if state == "act" and arrow.role else state


def _number(turn: Turn, number: int, now: int) -> Html:
    x, y = NUMBERS[number]
    state, failed = state_of(turn, number, now), any(step.error for step in runs(turn, number))
    cls = " ".join(filter(None, ("dg-no", state, "here" if number == now else "", "broke" if failed else "")))
    name = f"Step {number}, {STEP_NAMES[number]}"
    place = f"left:{_across(x)};top:{y:g}px"
    return press("step", str(number), value=number, cls=cls, style=place, title=name, aria_label=name, tabindex="-1")


def _box(name: str, content: Html, *, lit: bool = False, ground: str = "") -> Html:
    return tag("div", content, cls=" ".join(filter(None, ("bx", ground, "lit" if lit else ""))), style=BOXES[name].style)


def _top(title: str, right: str = "") -> Html:
    return tag("div", tag("b", title), tag("span", right, cls="dim cut") if right else None, cls="end")


def _chat(turn: Turn, now: int, eyebrow: str) -> Html:
    answered = reached(turn, 9, now) and turn.answer
    words = tag("span", line(turn.question, 240), cls="lines")
    question = tag("p", words, cls="said one" if answered else "said", dir="auto")
    answer = tag("p", line(turn.answer, 300), cls="told lines", dir="auto") if answered else None
    return _box("chat", join(_top("Chat", eyebrow), question, answer), lit=now in (1, 9))


def _model(turn: Turn, now: int) -> Html:
    every = [call for calls in turn.calls.values() for call in calls]
    sent = sum(call.sent for call in every)
    right = count(sent, "call") if sent else "offline"
    return _box("model", join(_top("Language model", right), _speech(turn, now)), lit=now in (2, 9))


def _speech(turn: Turn, now: int) -> Html:
    """What the model, or the offline part in its place, said last."""
    said = calls_until(turn, now)
    if now == 2 and turn.verdict is None and (note := turn.step(2).note if turn.step(2) else ""):
        return tag("p", line(note, 160), cls="mid small lines")
    if not said:
        return tag("p", "It kept no prompt." if reached(turn, 9, now) else "Not asked yet.", cls="dim")
    number, call = said[-1]
    verdict = turn.verdict
    words = verdict.reason if number == 2 and verdict and verdict.reason and not verdict.hit else call.reply
    return join(
        tag("p", f"{STEP_NAMES[number].lower()}: ", tag("b", _outcome(turn, number)), cls="cut"),
        tag("p", line(words, 160), cls="mid small lines", dir="auto"),
    )


def _outcome(turn: Turn, number: int) -> str:
    if number == 2 and turn.verdict:
        return "enough" if turn.verdict.hit else "not enough"
    if number == 6 and turn.recall:
        named = turn.recall.branch_a.named
        return "no row" if named is None else f"row {named}"
    return ""


def _short(turn: Turn, now: int) -> Html:
    used = sum(held.view.tokens for held in segments_at(turn, now))
    return _box("short", _top("Short-term memory", f"{used:,} of {turn.token_budget:,} tokens"), ground="big")


def _tile(held: Held, now: int) -> Html:
    view = held.view
    looks = ("tile", f"is-{view.name}", "" if view.text else "empty", held.news)
    cut = f"{view.cut_tokens:,} cut" if view.cut_tokens else ""
    tokens = f"{'+ ' if held.news == 'filled' else ''}{count(view.tokens, 'token')}"
    return press(
        "show",
        tag("b", view.name.capitalize(), cls="name"),
        tag("span", *_content(held), cls="what"),
        tag("span", tokens if view.text else _gone(held), cls="dim"),
        tag("span", cut, cls="cutmark") if cut else None,
        value=f"segment {view.name}",
        cls=" ".join(filter(None, looks)),
        style=TILES[view.name].style,
        title=f"Show {view.name}",
    )


def _content(held: Held) -> tuple[object, ...]:
    view = held.view
    if not view.text:
        return ("cleared" if held.gone is not None and held.gone.text else "all cut" if view.cut_tokens else "empty",)
    if view.name == "history":
        return (count(len(view.rows), "turn"),) if view.rows else ("turns",)
    if not view.rows:
        return ("one set" if view.name == "summary" else "known",)
    role = view.name if view.name in ("cache", "relevant") else ""
    fits = sum(len(str(row)) + 2 for row in view.rows) <= 12
    return (chips(view.rows, role),) if fits else (count(len(view.rows), "row"),)


def _gone(held: Held) -> str:
    if held.gone is None or not held.gone.text:
        return ""
    return f"{count(len(held.gone.rows), 'row')} gone" if held.gone.rows else f"{count(held.gone.tokens, 'token')} gone"


def _long(turn: Turn, now: int) -> Html:
    right = count(size_at(turn, now), "row")
    legend = [tag("span", tag("i", cls="key-a"), "A’s chunks"), tag("span", tag("i", cls="key-b"), "B’s rows")]
    searched = bool(turn.recall) and reached(turn, 6, now)
    kept = "fuller = better kept" if kept_by_window(turn) and reached(turn, 7, now) else ""
    top = tag(
        "div",
        tag("b", "Long-term memory"),
        tag("span", "; ".join(filter(None, (right, kept))), cls="dim"),
        tag("span", *legend, cls="keys dim") if searched else None,
        cls="lm-top",
    )
    return _box("long", join(top, strip_html(turn, now)), ground="big")


def _travel(turn: Turn, now: int) -> Html | None:
    """What this step moves, on its way along the arrow."""
    moved = {
        1: ("?",),
        3: turn.recalled,
        6: rows_at(turn, "relevant", 6) if now == 6 else (),
        7: turn.prefetch.chosen if turn.prefetch else (),
        8: () if turn.row is None else (turn.row,),
    }.get(now, ())
    if not moved or state_of(turn, now, now) == "skip":
        return None
    x, start, end = _TRAVELS[now]
    role = {3: "cache", 6: "relevant", 7: "cache"}.get(now, "")
    shown = [chip(row, role) if isinstance(row, int) else tag("span", row, cls="rc") for row in moved[:3]]
    return tag(
        "span",
        *shown,
        cls="travel",
        style=f"left:{_across(x)};--from:{start}px;--to:{end}px",
        data_key=f"{turn.number} {now}",
        aria_hidden="true",
    )


def _across(x: float) -> str:
    return f"{100 * x / WIDE:.2f}%"
