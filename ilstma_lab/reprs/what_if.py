"""A what-if in words: the consequence as a sentence, what changed first, and the turn in which it shows."""

from __future__ import annotations

from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.reprs.sides import ranked, sides_html
from ilstma_lab.reprs.turn import outcome
from ilstma_lab.reprs.words import count, line, score
from ilstma_lab.trace import Turn

if TYPE_CHECKING:
    from ilstma_lab.evaluation.what_if import Change, WhatIfResult

_MOST_SETTINGS = 3
_SHOWN_TURNS = 3
_RANKED = 5
_IN_WORDS = {"no relevant": "no recalled rows shown"}


def settings_words(result: WhatIfResult) -> str:
    """Return what was different, in a few words: "k = 5 and offset 8"."""
    shown = [_IN_WORDS.get(setting, setting) for setting in result.settings[:_MOST_SETTINGS]]
    more = len(result.settings) - _MOST_SETTINGS
    return (" and ".join(shown) + (f" and {more} more" if more > 0 else "")) or "the settings as they were"


def changes_of(result: WhatIfResult) -> tuple[Change, ...]:
    """Return what changed; of B's ranking what the referee compared, so that echoes alone are no change."""
    told = []
    for change in result.changes:
        if change.name == "B's ranking":
            before, after = (tuple(row.index for row in ranked(turn.recall)[:_RANKED]) for turn in result.of(change.place))
            change = replace(change, before=before, after=after)
        if change.before != change.after:
            told.append(change)
    return tuple(told)


def headline(result: WhatIfResult) -> Change | None:
    """Return the change of which the finding speaks: the first outcome, else the first rows, else the first answer."""
    names = ("the outcome", "the rows", "the answer")
    return next((change for name in names for change in result.changes if change.name == name), None)


def finding_of(result: WhatIfResult) -> str:
    """Return the consequence in one sentence: the first turn whose outcome, rows or answer is another."""
    given = f"With {settings_words(result)}"
    if not result.replayed:
        return f"{given}: stopped before turn {result.recorded[0].number}"
    n = count(len(result.replayed), "turn")
    if not changes_of(result):
        return f"{given}, nothing changes in {n}"
    change = headline(result)
    if change is None:
        return f"{given}, no answer changes and no outcome, in {n}"
    if change.name == "the outcome":
        return f"{given}, {_flip(result, change)}"
    rows = change.name == "the rows"
    does = f"recalls {_value(change.after)} in place of {_value(change.before)}" if rows else "answers otherwise"
    return f"{given}, turn {result.of(change.place)[0].number} {does}; hits and misses stay"


def summary_of(result: WhatIfResult) -> str:
    """Return what changed first, and the hits before and after."""
    first = next(iter(changes_of(result)), None)
    n = len(result.replayed)
    before, after = (sum(turn.hit for turn in turns[:n]) for turns in (result.recorded, result.replayed))
    told = []
    if first:
        told.append(f"First to change: {first.name} of turn {result.of(first.place)[0].number}{_from_to(first)}.")
    told.append(f"Hits: {before} as recorded, {after} now, of {count(n, 'turn')}.")
    if result.stopped:
        told.append(f"Stopped at {result.stopped}")
    labelled = sum(bool(turn.labels) for turn in result.replayed)
    if labelled:
        told.append(f"{count(labelled, 'turn')} not wholly from recorded replies: labelled.")
    return " ".join(told)


def what_if_text(result: WhatIfResult) -> str:
    """Return a what-if as text: the finding, then the turns that ended otherwise (or else the first that changed)."""
    lines = [result.finding, summary_of(result)]
    changes = changes_of(result)
    places = list(dict.fromkeys(change.place for change in (*result.flips, *changes)))
    for place in sorted(places[: max(_SHOWN_TURNS, len(result.flips))]):
        recorded, replayed = result.of(place)
        lines.append(f"Turn {recorded.number}, {outcome(recorded)} -> {outcome(replayed)}: {line(recorded.question, 80)}")
        lines += [f"  {change.name}{_from_to(change)}" for change in changes if change.place == place]
        lines += [f"  label: {label}" for label in replayed.labels]
    if len(places) > max(_SHOWN_TURNS, len(result.flips)):
        lines.append(f"Something differs in {count(len(places), 'turn')}.")
    return "\n".join(lines)


def _flip(result: WhatIfResult, change: Change) -> str:
    recorded, replayed = result.of(change.place)
    turn = f"turn {recorded.number}"
    if replayed.hit:
        had, now, used, not_ = _cache(recorded), _cache(replayed), replayed.recalled, ""
    else:
        had, now, used, not_ = _cache(replayed), _cache(recorded), recorded.recalled, " not"
    news = [row for row in used if row in now and row not in had]
    if news:
        rows = f"row {news[0]}" if len(news) == 1 else f"rows {' '.join(map(str, news))}"
        return f"{rows} would{not_} have been cached: {turn} {'hits' if replayed.hit else 'misses'}"
    verdict = replayed.verdict
    seen = f", for the judge sees {score(verdict.score)}" if verdict and verdict.score is not None else ""
    return f"{turn} {'hits' if replayed.hit else 'misses'}{seen}"


def _cache(turn: Turn) -> tuple[int, ...]:
    return next((view.rows for view in turn.segments_before if view.name == "cache"), ())


def _from_to(change: Change) -> str:
    """Both values where they are short."""
    if any(isinstance(value, str) and len(value) > 40 for value in (change.before, change.after)):
        return ""
    return f", {_value(change.before)} → {_value(change.after)}"


def _value(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return line(str(value), 60) if value not in (None, "") else "none"


def what_if_html(result: WhatIfResult) -> Html:
    """Return a what-if as notebook output: the finding, and side by side the turn it speaks of, or else the first to change."""
    shown = headline(result) or next(iter(changes_of(result)), None)
    sides = what_if_sides(result, shown.place if shown else result.first)
    return page(
        tag("style", style()),
        head("What if", result.finding, sub=summary_of(result)),
        tag("div", sides, cls="pane"),
        sections=("segments",),
    )


def what_if_sides(result: WhatIfResult, place: int) -> Html:
    """Return the recorded turn at a place in the session and its replay side by side."""
    recorded, replayed = result.of(place)
    if replayed is None:
        return tag("p", "The replay stopped before this turn. Choose what it does at a prompt that was never sent.", cls="mid")
    return sides_html(recorded, replayed, names=("As recorded", f"With {settings_words(result)}"))


def style() -> Html:
    """Return the rules of the side-by-side view."""
    return Html((files("ilstma_lab") / "assets" / "what_if.css").read_text(encoding="utf-8"))
