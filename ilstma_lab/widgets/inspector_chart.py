"""A row's history as a drawing: SVG made of numbers and dates alone, the same in the widget and where no widget is."""

from __future__ import annotations

from typing import Any

from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.words import MONTHS, count, day, line, score, spelled
from ilstma_lab.widgets.inspector_history import History, Tooth, instant

_WIDTH, _HEIGHT = 298, 176
_LEFT, _RIGHT, _TOP, _BOTTOM = 26, 290, 18, 152
_TICK_APART = 46
_LABEL_ROOM = 40
_YEAR_MICROSECONDS = 300 * 86_400_000_000
_QUESTION = 300
_LISTED = 100


def history_view(history: History) -> dict[str, Any]:
    """Return a history as plain JSON values: the finding, the drawing as SVG, who recalled the row."""
    listed = history.recalls[-_LISTED:]
    earlier = history.unknown + len(history.recalls) - len(listed)
    return {
        "title": _title(history),
        "sub": _sub(history),
        "chart": chart(history),
        "created": day(history.created),
        "earlier": f"{count(earlier, 'recall')} before that {'is' if earlier == 1 else 'are'} not listed" if earlier else "",
        "recalls": [[day(r.at), line(r.question, _QUESTION) or "a question that is not kept", r.waiting] for r in listed],
    }


def chart(history: History) -> Html:
    """Return the drawing: R from 0 to 1 over days, what is to come on a darker ground, a hair line at the day looked at."""
    scale = _Scale(history)
    parts = [
        *(scale.level(value, name) for value, name in ((0.0, "0"), (0.5, ".5"), (1.0, "1"))),
        tag("rect", x=scale.x(history.now), y=_TOP, width=_RIGHT - scale.x(history.now), height=_BOTTOM - _TOP, cls="ahead"),
        *([scale.line(history.unwritten, "lost")] if history.unwritten else []),
        *_curves(history, scale),
        *(_dot(scale.x(t.times[0]), _TOP, "dot open" if t.waiting else "dot", radius=4) for t in history.teeth),
        *_ticks(history, scale),
        *_values(history, scale),
    ]
    name = f"{_title(history)}. {_spoken(history)}"
    return tag("svg", *parts, cls="saw", viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=name)


class _Scale:
    """Where moments and retentions stand in the drawing."""

    def __init__(self, history: History):
        times = [tooth.times for tooth in history.teeth]
        self.start = min(min(t[0] for t in times), history.look, history.now)
        self.end = max(max(t[-1] for t in times), self.start + 1)

    def x(self, moment: int) -> float:
        share = (int(moment) - int(self.start)) / (int(self.end) - int(self.start))
        return round(_LEFT + share * (_RIGHT - _LEFT), 1)

    def y(self, kept: float) -> float:
        return round(float(_BOTTOM - kept * (_BOTTOM - _TOP)), 1)

    def level(self, kept: float, name: str) -> Html:
        y = self.y(kept)
        hair = tag("path", d=f"M{_LEFT} {y}H{_RIGHT}", cls="hair")
        return join(hair, tag("text", name, x=_LEFT - 6, y=y + 4, cls="faint end"))

    def line(self, tooth: Tooth, cls: str) -> Html:
        return _path(self.points(tooth), cls)

    def points(self, tooth: Tooth) -> list[tuple[float, float]]:
        return [(self.x(moment), self.y(kept)) for moment, kept in zip(tooth.times, tooth.kept, strict=True)]


def _curves(history: History, scale: _Scale) -> list[Html]:
    """The teeth as one line where they are written; those that wait as lines of their own, joined by dashes."""
    written = [point for tooth in history.teeth if not tooth.waiting for point in scale.points(tooth)]
    drawn, last = [_path(written, "kept")], written[-1]
    for tooth in history.teeth:
        if tooth.waiting:
            points = scale.points(tooth)
            drawn += [_path([last, points[0]], "jump"), _path(points, "kept")]
            last = points[-1]
    return drawn


def _ticks(history: History, scale: _Scale) -> list[Html]:
    """The day looked at, the first day, and as many days of recalls as have room."""
    taken, drawn = [], []
    for moment in [history.look, *(tooth.times[0] for tooth in history.teeth)]:
        x = scale.x(moment)
        if all(abs(x - other) >= _TICK_APART for other in taken):
            taken.append(x)
            cls = "strong" if moment == history.look else "faint"
            drawn.append(
                tag(
                    "text", _date(history, moment, scale), x=min(max(x, _LEFT - 4), _RIGHT - 12), y=_BOTTOM + 17, cls=f"{cls} mid"
                )
            )
    return drawn


def _date(history: History, moment: int, scale: _Scale) -> str:
    at = instant(history, moment)
    if scale.end - scale.start > _YEAR_MICROSECONDS:
        return f"{MONTHS[at.month - 1]} {at.year}"
    return f"{at.day} {MONTHS[at.month - 1]}"


def _values(history: History, scale: _Scale) -> list[Html]:
    x, y = scale.x(history.look), scale.y(history.kept_once_written)
    cross = tag("path", d=f"M{x} {_TOP - 6}V{_BOTTOM}", cls="cross")
    side, anchor = (7, "") if x < _RIGHT - _LABEL_ROOM else (-7, " end")
    drawn = [cross, _dot(x, y, "dot")]
    drawn.append(tag("text", score(history.kept_once_written), x=x + side, y=max(y - 7, _TOP + 10), cls=f"strong halo{anchor}"))
    if history.unwritten:
        below = scale.y(history.kept)
        drawn.append(_dot(x, below, "dot lost"))
        drawn.append(tag("text", score(history.kept), x=x + side, y=max(below + 16, y + 20), cls=f"halo{anchor}"))
    return drawn


def _title(history: History) -> str:
    made = sum(not recalled.waiting for recalled in history.recalls) + history.unknown
    waits = len(history.recalls) + history.unknown - made
    if not made and not waits:
        return "No recall has lifted it yet"
    if not made:
        return f"{count(waits, 'recall waits', 'recalls wait')} to lift it to 1"
    noun, verbs = ("recall", "lifted it to 1 and slows") if made == 1 else ("recalls", "lifted it to 1 and slow")
    return f"{spelled(made)} {noun} {verbs} the fall"


def _sub(history: History) -> str:
    also = "; solid once written, dashed as the columns stand" if history.unwritten else ""
    return f"Retention R of row {history.row}; S is {history.strength_days:.2f} days{also}"


def _spoken(history: History) -> str:
    at = day(instant(history, history.look))
    if history.unwritten:
        return f"On {at} R is {score(history.kept)} by the columns, and {score(history.kept_once_written)} once all is written."
    return f"On {at} R is {score(history.kept)}."


def _path(points: list[tuple[float, float]], cls: str) -> Html:
    return tag("path", d="M" + "L".join(f"{x},{y}" for x, y in points), cls=cls)


def _dot(x: float, y: float, cls: str, *, radius: float = 3.5) -> Html:
    return tag("circle", cx=x, cy=y, r=radius, cls=cls)
