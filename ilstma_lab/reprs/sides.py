"""Two turns that were asked the same, side by side: outcome, candidates, segments, prompts line by line, answer."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import badge, bar, chip, sentence
from ilstma_lab.reprs.segments import RULES, budget_line, cards
from ilstma_lab.reprs.turn import outcome
from ilstma_lab.reprs.why import finding, referee, why
from ilstma_lab.reprs.words import count, line, plain, score
from ilstma_lab.retrieval.recall import Candidate, Recall
from ilstma_lab.trace import STEP_NAMES, SegmentView, Turn

Mark = Literal[" ", "-", "+", "…"]
_AROUND = 1
_CANDIDATES = 5
_LONGEST = 600
_PROMPTED = (2, 6, 9, 5)
_KINDS = {" ": "eq", "-": "lost", "+": "fresh", "…": "dim"}


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


def ranked(recall: Recall) -> tuple[Candidate, ...]:
    """Return what the referee compared, best first: B's candidates less the echoes, asked rows whose cited rows are there."""
    return tuple(candidate for candidate in recall.branch_b.candidates if not candidate.echo_of)


def sides_html(one: Turn, other: Turn, *, names: tuple[str, str]) -> Html:
    """Return two turns side by side under their `names`; what made the second otherwise than it was recorded is labelled."""
    labels = tag("ul", *(tag("li", line(label, 160)) for label in other.labels), cls="wi-labels") if other.labels else None
    parts = [
        tag("p", tag("b", f"Turn {one.number}"), " ", tag("span", line(one.question, 300), dir="auto"), cls="wi-q"),
        labels,
        _two(*(tag("p", name, cls="eyebrow") for name in names)),
        _part("Decision", _decision(one), _decision(other), news=one.hit != other.hit),
        _part("Candidates", _candidates(one, other), _candidates(other, one), news=_found(one) != _found(other)),
        _segments("Segments the judge saw", one.segments_before, other.segments_before, one.token_budget, other.token_budget),
        _segments("Segments afterwards", one.segments_after, other.segments_after, one.token_budget, other.token_budget),
        tag("p", "A row in an outline stands on this side alone.", cls="wi-note dim"),
        _prompts(one, other),
        _part("Answer", _answer(one), _answer(other), news=one.answer != other.answer),
    ]
    return tag("div", *parts, cls="wi")


def _part(title: str, left: Html, right: Html, *, news: bool) -> Html:
    return tag("div", _title(title, news=news), _two(left, right), cls="wi-part")


def _title(title: str, *, news: bool) -> Html:
    told = tag("span", "changed" if news else "the same", cls="news" if news else "dim")
    return tag("h3", title, " ", told, cls="lab")


def _two(left: Html, right: Html) -> Html:
    return tag("div", tag("div", left), tag("div", right), cls="wi-two")


def _decision(turn: Turn) -> Html:
    verdict = turn.verdict
    told = list(why(turn).sentence)
    if verdict and verdict.hit and verdict.score is not None:
        told.append(f" The judge saw {score(verdict.score)} and needs {score(verdict.threshold)}.")
    return join(
        tag("p", badge(outcome(turn)), " ", tag("b", sentence(finding(turn)))),
        tag("p", sentence(told), cls="mid"),
    )


def _candidates(turn: Turn, other: Turn) -> Html:
    if turn.recall is None:
        return tag("p", "A hit searches nothing.", cls="dim")
    found = ranked(turn.recall)[:_CANDIDATES]
    there = {candidate.index for candidate in (ranked(other.recall)[:_CANDIDATES] if other.recall else found)}
    top = max([abs(candidate.score) for candidate in found], default=1.0) or 1.0
    rows = [
        tag(
            "li",
            chip(candidate.index, "b" if candidate.won else ""),
            bar(max(candidate.score, 0) / top, "b"),
            tag("span", score(candidate.score), cls="num"),
            tag("span", "" if candidate.index in there else "new here", cls="news"),
            cls="off" if not candidate.won else None,
        )
        for candidate in found
    ]
    asked, said = referee(turn.recall)
    named = turn.recall.branch_a.named
    first = tag("p", "A read ", chip(named, "a") if named is not None else "no row", ". B ranked:", cls="mid")
    return join(first, tag("ul", *rows, cls="wi-cands"), tag("p", sentence((*asked, " ", *said)), cls="mid"))


def _found(turn: Turn) -> tuple | None:
    """What is compared of a search: A's row, B's first ones, the rows that were recalled."""
    if turn.recall is None:
        return None
    first = [candidate.index for candidate in ranked(turn.recall)[:_CANDIDATES]]
    return turn.recall.branch_a.named, first, turn.recalled


def _segments(title: str, one: Sequence[SegmentView], other: Sequence[SegmentView], budget: int, other_budget: int) -> Html:
    news = [(view.rows, view.text) for view in one] != [(view.rows, view.text) for view in other]
    return _part(title, _segment_list(one, other, budget), _segment_list(other, one, other_budget), news=news)


def _segment_list(views: Sequence[SegmentView], others: Sequence[SegmentView], budget: int) -> Html:
    by_name, beside = ({view.name: view for view in some} for some in (views, others))
    items = [_segment(by_name[name], beside.get(name)) for name in RULES if name in by_name]
    return join(tag("ul", *items, cls="wi-segs"), tag("p", budget_line(cards(views, {}), budget), cls="dim"))


def _segment(view: SegmentView, other: SegmentView | None) -> Html:
    there = set(other.rows) if other else set()
    rows = [tag("span", chip(row, _role(view.name)), cls="new" if row not in there else None) for row in view.rows]
    held = (
        join(*(part for row in rows for part in (row, " ")))
        if rows
        else tag("span", f"{view.tokens:,} tokens" if view.tokens else "empty", cls="mid" if view.tokens else "dim")
    )
    alike = other is not None and set(view.rows) == there
    note = "" if not alike or view.text == other.text else "other order" if view.rows != other.rows else "other text"
    return tag(
        "li",
        tag("span", view.name.capitalize(), cls="name"),
        tag("span", held),
        tag("span", note, cls="news"),
        cls=f"is-{view.name}",
    )


def _role(name: str) -> str:
    return name if name in ("cache", "relevant") else ""


def _prompts(one: Turn, other: Turn) -> Html:
    before, after = one.prompts, other.prompts
    asked = [step for step in _PROMPTED if step in before or step in after]
    parts = [_prompt(step, before.get(step, ""), after.get(step, "")) for step in asked]
    return tag("div", _title("Prompts", news=any(before.get(step) != after.get(step) for step in asked)), *parts, cls="wi-part")


def _prompt(step: int, before: str, after: str) -> Html:
    name = f"Step {step}, {STEP_NAMES[step]}"
    if before == after:
        return tag("p", f"{name}: ", tag("span", "the same prompt", cls="dim"))
    if not before or not after:
        return tag("p", f"{name}: ", tag("span", f"a prompt on the {'left' if before else 'right'} alone", cls="news"))
    lines = line_diff(before, after)
    lost, new = (sum(mark == sign for mark, _ in lines) for sign in "-+")
    shown = [tag("p", tag("i", mark), tag("span", plain(text, _LONGEST), dir="auto"), cls=_KINDS[mark]) for mark, text in lines]
    top = tag("summary", f"{name}: {count(lost, 'line')} gone, {new} new")
    return tag("details", top, tag("div", *shown, cls="wi-diff"), data_key=str(step))


def _answer(turn: Turn) -> Html:
    return tag("p", plain(turn.answer, 1200), cls="wi-answer", dir="auto") if turn.answer else tag("p", "No answer.", cls="dim")
