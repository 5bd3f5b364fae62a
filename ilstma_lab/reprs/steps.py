"""The nine steps of a turn: a timeline in the order in which they ran, and what each read and wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import bar, chips
from ilstma_lab.reprs.words import line, score, seconds
from ilstma_lab.trace import STEP_NAMES, Step, Turn

_ORDER = (1, 2, 3, 4, 6, 5, 9, 8, 7)  # as the paper's text runs them; a skipped step stands where it would have been


def steps_html(turn: Turn) -> Html:
    """Return the timeline, and below it, folded, what each step read and wrote."""
    longest = max((step.seconds for step in turn.steps), default=0.0)
    heads = tag("tr", *(tag("th", name, scope="col") for name in ("step", "seconds", "", "read", "wrote")))
    table = tag("table", tag("thead", heads), tag("tbody", *(_io_html(step, longest) for step in turn.steps)), cls="grid io")
    after = f"; {seconds(turn.seconds_after)} more after the answer" if turn.seconds_after else ""
    return join(
        tag("p", tag("b", f"Where the {seconds(turn.seconds)} went"), tag("span", f" in the order they ran{after}", cls="mid")),
        tag("ol", *(_cell(turn, number) for number in in_order(turn)), cls="steps"),
        tag("details", tag("summary", "What each step read and wrote"), table),
    )


def in_order(turn: Turn) -> list[int]:
    """Return the steps' numbers as they first ran; one of ILSTMA's nine that did not run stands where it would have been."""
    order = list(dict.fromkeys(step.number for step in turn.steps))
    if turn.system != "ILSTMA":
        return order
    for before, number in zip((0, *_ORDER), _ORDER, strict=False):
        if number not in order:
            order.insert(order.index(before) + 1 if before else 0, number)
    return order


def _cell(turn: Turn, number: int) -> Html:
    spent = {n: sum(step.seconds for step in turn.steps if step.number == n) for n in in_order(turn)}
    if turn.step(number) is None:
        kind, note = "skip", "not reached" if turn.failure else "on a hit" if number == 3 else "on a miss"
    else:
        failed = any(step.error for step in turn.steps if step.number == number)
        kind = "broke" if failed else "most" if spent[number] == max(spent.values()) else None
        note = "failed" if failed else seconds(spent[number])
    shown = ((number, "no"), (STEP_NAMES[number], "name"), (note, "dim"))
    return tag("li", *(tag("span", text, cls=cls) for text, cls in shown), cls=kind)


def _io_html(step: Step, longest: float) -> Html:
    name = tag("td", tag("span", step.number, cls="no"), " ", step.name, style="white-space:nowrap")
    spent = tag("td", bar(step.seconds / longest if longest else 0), style="min-width:64px")
    wrote = tag("td", _named_values(step.wrote), _note(step))
    return tag("tr", name, tag("td", seconds(step.seconds), cls="num"), spent, tag("td", _named_values(step.read)), wrote)


def _note(step: Step) -> Html | None:
    if step.error:
        return tag("div", line(step.error, 300), cls="alarm")
    return tag("div", line(step.note, 300), cls="dim") if step.note else None


def _named_values(values: Mapping[str, Any]) -> Html:
    if not values:
        return tag("span", "–", cls="dim")
    parts = [tag("span", tag("span", f"{_words(name)} ", cls="dim"), _value_html(value)) for name, value in values.items()]
    return join(parts[0], *(piece for part in parts[1:] for piece in (tag("span", " · ", cls="dim"), part)))


def _value_html(value: Any) -> Html:
    if _are_rows(value):
        return chips(value) if value else join("none")
    return join(_value_text(value))


def io_text(step: Step) -> str:
    """Return what a step read and wrote as one line."""
    halves = [
        f"{verb} " + ", ".join(f"{_words(k)} {_value_text(v)}" for k, v in values.items())
        for verb, values in (("read", step.read), ("wrote", step.wrote))
        if values
    ]
    return "; ".join([*halves, *filter(None, (line(step.note, 120), f"FAILED: {line(step.error, 200)}" if step.error else ""))])


def _value_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return line(", ".join(f"{key} {_value_text(item)}" for key, item in value.items()), 160)
    if isinstance(value, list | tuple | set | frozenset):
        return line(" ".join(f"[{item}]" if _is_int(item) else _value_text(item) for item in value), 160) or "none"
    if value is None or isinstance(value, bool):
        return {None: "none", True: "yes", False: "no"}[value]
    return f"{value:,}" if _is_int(value) else score(value) if isinstance(value, float) else line(str(value), 160)


def _are_rows(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_int, value))


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _words(name: str) -> str:
    return line(str(name).replace("_", " "), 40)
