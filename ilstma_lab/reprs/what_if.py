"""A what-if beside what was recorded: the consequence as a sentence, the two turns side by side, prompts line by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from ilstma_lab.reprs.markup import Html, join, page, tag
from ilstma_lab.reprs.parts import badge, bar, chip, head, sentence
from ilstma_lab.reprs.segments import RULES, budget_line, cards
from ilstma_lab.reprs.turn import outcome
from ilstma_lab.reprs.why import finding as turn_finding
from ilstma_lab.reprs.why import referee, why
from ilstma_lab.reprs.words import count, line, plain, score
from ilstma_lab.trace import STEP_NAMES, SegmentView, Turn

if TYPE_CHECKING:
    from ilstma_lab.evaluation.what_if import Change, WhatIfResult

Mark = Literal[" ", "-", "+", "…"]
_AROUND = 1
_CANDIDATES = 5
_MOST_SETTINGS = 3
_LONGEST = 600
_SHOWN_TURNS = 12


# -- in words --------------------------------------------------------------------------------------------------------------


def settings_words(result: WhatIfResult) -> str:
    """Return what was different, in a few words: "k = 5 and offset 8"."""
    shown, more = result.settings[:_MOST_SETTINGS], len(result.settings) - _MOST_SETTINGS
    return (" and ".join(shown) + (f" and {more} more" if more > 0 else "")) or "the settings as they were"


def finding_of(result: WhatIfResult) -> str:
    """Return the consequence in one sentence: the first turn whose outcome, rows or answer is another."""
    given = f"With {settings_words(result)}"
    if not result.replayed:
        return f"{given}: stopped before turn {result.recorded[0].number}"
    n = count(len(result.replayed), "turn")
    if not result.changes:
        return f"{given} nothing changes in {n}"
    if result.flips:
        return f"{given} {_flip(result, result.flips[0])}"
    for name, verb in (("the rows", "recalls {} in place of {}"), ("the answer", "answers otherwise")):
        change = next((change for change in result.changes if change.name == name), None)
        if change:
            turn = result.of(change.place)[0].number
            return f"{given} turn {turn} {verb.format(_value(change.after), _value(change.before))}; hits and misses stay"
    return f"{given} no answer changes, nor any hit, in {n}"


def summary_of(result: WhatIfResult) -> str:
    """Return what changed first, and the hits before and after."""
    first = next(iter(result.changes), None)
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
    """Return a what-if as text: the finding, then each turn that changed with what changed in it."""
    lines = [result.finding, summary_of(result)]
    places = Counter(change.place for change in result.changes)
    for place in list(places)[:_SHOWN_TURNS]:
        recorded, replayed = result.of(place)
        lines.append(f"Turn {recorded.number}, {outcome(recorded)} -> {outcome(replayed)}: {line(recorded.question, 80)}")
        lines += [f"  {change.name}{_from_to(change)}" for change in result.changes if change.place == place]
        lines += [f"  label: {label}" for label in replayed.labels]
    if len(places) > _SHOWN_TURNS:
        lines.append(f"… and {count(len(places) - _SHOWN_TURNS, 'more turn')}")
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


# -- line by line ----------------------------------------------------------------------------------------------------------


def line_diff(before: str, after: str, *, around: int = _AROUND) -> list[tuple[Mark, str]]:
    """Return the lines that differ, marked "-" and "+", with `around` equal ones beside them; "…" stands for what is left out.

    >>> line_diff("a\\nb\\nc", "a\\nx\\nc")
    [(' ', 'a'), ('-', 'b'), ('+', 'x'), (' ', 'c')]
    """
    old, new = before.splitlines(), after.splitlines()
    told: list[tuple[Mark, str]] = []
    last = 0
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(around) if before != after else ()
    for group in groups:
        if group[0][1] > last:
            told.append(("…", f"{group[0][1] - last} equal lines"))
        for kind, i1, i2, j1, j2 in group:
            if kind == "equal":
                told += [(" ", text) for text in old[i1:i2]]
            else:
                told += [("-", text) for text in old[i1:i2]] + [("+", text) for text in new[j1:j2]]
        last = group[-1][2]
    if told and last < len(old):
        told.append(("…", f"{len(old) - last} equal lines"))
    return told


# -- side by side ----------------------------------------------------------------------------------------------------------


def what_if_html(result: WhatIfResult) -> Html:
    """Return a what-if as notebook output: the finding, and side by side the first turn that changed most."""
    place = next(iter((*result.flips, *result.changes)), None)
    at = place.place if place else result.first
    shown = sides_html(result, at) if result.replayed else Html("")
    return page(
        tag("style", style()),
        head("What if", result.finding, sub=summary_of(result)),
        tag("div", shown, cls="pane"),
        sections=("segments", "recall"),
    )


def style() -> Html:
    """Return the rules of the side-by-side view."""
    return Html((files("ilstma_lab") / "assets" / "what_if.css").read_text(encoding="utf-8"))


def sides_html(result: WhatIfResult, place: int) -> Html:
    """Return the recorded turn at a place and its replay side by side: outcome, candidates, segments, prompts, answer."""
    recorded, replayed = result.of(place)
    if replayed is None:
        return tag("p", "The replay stopped before this turn. Choose what it does at a prompt that was never sent.", cls="mid")
    changed = {change.name for change in result.changes if change.place == place}
    labels = tag("ul", *(tag("li", line(label, 160)) for label in replayed.labels), cls="wi-labels") if replayed.labels else None
    parts = [
        tag("p", tag("b", f"Turn {recorded.number}"), " ", tag("span", line(recorded.question, 300), dir="auto"), cls="wi-q"),
        labels,
        _pair("", tag("p", "As recorded", cls="eyebrow"), tag("p", f"With {settings_words(result)}", cls="eyebrow")),
        _pair("Decision", _decision(recorded), _decision(replayed), news="the outcome" in changed),
        _pair("Candidates", *_both(_candidates, recorded, replayed), news=bool(changed & {"A's row", "B's ranking", "the rows"})),
        _pair("Segments the judge saw", *_segments(recorded.segments_before, replayed.segments_before, recorded, replayed)),
        _pair("Segments afterwards", *_segments(recorded.segments_after, replayed.segments_after, recorded, replayed)),
        _prompts(recorded, replayed),
        _pair("Answer", _answer(recorded), _answer(replayed), news="the answer" in changed),
    ]
    return tag("div", *parts, cls="wi")


def _pair(title: str, left: Html, right: Html, *, news: bool | None = None) -> Html:
    told = {True: "changed", False: "the same", None: ""}[news]
    top = tag("h3", title, " ", tag("span", told, cls="news" if news else "dim") if told else None, cls="lab") if title else None
    return tag("div", top, tag("div", tag("div", left), tag("div", right), cls="wi-two"), cls="wi-part")


def _both(make: Callable[[Turn, Turn], Html], recorded: Turn, replayed: Turn) -> tuple[Html, Html]:
    return make(recorded, replayed), make(replayed, recorded)


def _decision(turn: Turn) -> Html:
    verdict = turn.verdict
    told = list(why(turn).sentence)
    if verdict and verdict.hit and verdict.score is not None:
        told.append(f" The judge saw {score(verdict.score)} and needs {score(verdict.threshold)}.")
    return join(
        tag("p", badge(outcome(turn)), " ", tag("b", sentence(turn_finding(turn)))),
        tag("p", sentence(told), cls="mid"),
    )


def _candidates(turn: Turn, other: Turn) -> Html:
    if turn.recall is None:
        return tag("p", "A hit searches nothing.", cls="dim")
    found = turn.recall.branch_b.candidates
    there = {candidate.index for candidate in (other.recall.branch_b.candidates[:_CANDIDATES] if other.recall else found)}
    top = max([abs(candidate.score) for candidate in found[:_CANDIDATES]], default=1.0) or 1.0
    rows = [
        tag(
            "li",
            chip(candidate.index, "b" if candidate.won else ""),
            bar(max(candidate.score, 0) / top, "b"),
            tag("span", score(candidate.score), cls="num"),
            tag("span", "" if candidate.index in there else "new here", cls="news"),
            cls="off" if not candidate.won else None,
        )
        for candidate in found[:_CANDIDATES]
    ]
    asked, said = referee(turn.recall)
    named = turn.recall.branch_a.named
    first = tag("p", "A read ", chip(named, "a") if named is not None else "no row", ". B ranked:", cls="mid")
    return join(first, tag("ul", *rows, cls="wi-cands"), tag("p", sentence((*asked, " ", *said)), cls="mid"))


def _segments(one: Sequence[SegmentView], other: Sequence[SegmentView], recorded: Turn, replayed: Turn) -> tuple[Html, Html]:
    return _segment_list(one, other, recorded), _segment_list(other, one, replayed)


def _segment_list(views: Sequence[SegmentView], others: Sequence[SegmentView], turn: Turn) -> Html:
    beside = {view.name: view for view in others}
    by_name = {view.name: view for view in views}
    items = [_segment(by_name[name], beside.get(name)) for name in RULES if name in by_name]
    return join(tag("ul", *items, cls="wi-segs"), tag("p", budget_line(cards(views, {}), turn.token_budget), cls="dim"))


def _segment(view: SegmentView, other: SegmentView | None) -> Html:
    there = set(other.rows) if other else set()
    rows = [tag("span", chip(row, _role(view.name)), cls="new" if row not in there else None) for row in view.rows]
    held = (
        join(*(part for row in rows for part in (row, " ")))
        if rows
        else tag("span", f"{view.tokens:,} tokens" if view.tokens else "empty", cls="mid" if view.tokens else "dim")
    )
    same = other is not None and (view.rows, view.text) == (other.rows, other.text)
    note = (
        ""
        if same
        else "reordered"
        if rows and set(view.rows) == there and view.rows != other.rows
        else "other"
        if not rows or set(view.rows) == there
        else ""
    )
    return tag(
        "li",
        tag("span", view.name.capitalize(), cls="name"),
        tag("span", held),
        tag("span", note, cls="news"),
        cls=f"is-{view.name}",
    )


def _role(name: str) -> str:
    return name if name in ("cache", "relevant") else ""


def _prompts(recorded: Turn, replayed: Turn) -> Html:
    parts = []
    one, other = recorded.prompts, replayed.prompts
    for step in (2, 6, 9, 5):
        before, after = one.get(step, ""), other.get(step, "")
        if not before and not after:
            continue
        name = f"Step {step}, {STEP_NAMES[step]}"
        if before == after:
            parts.append(tag("p", name, ": ", tag("span", "the same prompt", cls="dim")))
            continue
        if not before or not after:
            told = "prompted only as recorded" if before else "prompted only with the new settings"
            parts.append(tag("p", name, ": ", tag("span", told, cls="news")))
            continue
        lines = line_diff(before, after)
        lost, new = (sum(mark == sign for mark, _ in lines) for sign in "-+")
        shown = [
            tag("p", tag("i", mark), tag("span", plain(text, _LONGEST), dir="auto"), cls=_KINDS[mark]) for mark, text in lines
        ]
        top = tag("summary", f"{name}: {count(lost, 'line')} gone, {new} new")
        parts.append(tag("details", top, tag("div", *shown, cls="wi-diff"), data_key=str(step)))
    news = "changed" if any(one.get(step) != other.get(step) for step in (2, 6, 9, 5)) else "the same"
    title = tag("h3", "Prompts ", tag("span", news, cls="news" if news == "changed" else "dim"), cls="lab")
    return tag("div", title, *parts, cls="wi-part")


_KINDS = {" ": "eq", "-": "lost", "+": "fresh", "…": "dim"}


def _answer(turn: Turn) -> Html:
    return tag("p", plain(turn.answer, 1200), cls="wi-answer", dir="auto") if turn.answer else tag("p", "No answer.", cls="dim")
