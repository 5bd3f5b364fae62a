"""What one step of a turn did: read and wrote, asked and was answered, weighed and chose, with every score."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ilstma_lab.prefetch.selection import ScoredRow, Selection
from ilstma_lab.reprs.branches import branches_html
from ilstma_lab.reprs.film import ran, rows_at, runs, segments_at, spent
from ilstma_lab.reprs.live import row_press, told
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import badge, bar
from ilstma_lab.reprs.prompts import prompts_html
from ilstma_lab.reprs.segments import cards
from ilstma_lab.reprs.step_words import PURPOSES, TITLES, place, read_by, rows_in_words, written_by
from ilstma_lab.reprs.turn import failure_line, shares
from ilstma_lab.reprs.why import Sentence, why
from ilstma_lab.reprs.words import count, day, line, plain, score, seconds
from ilstma_lab.trace import Step, Turn

_LONGEST = 4000
_WINDOW = 7


def panel_html(turn: Turn, number: int, *, cached_by: Selection | None = None) -> Html:
    """Return the panel of step `number`; `cached_by` is the prefetch that had filled the cache, where it is known."""
    head = tag(
        "div",
        tag("span", number, cls="bigno"),
        tag("div", tag("h3", TITLES[number]), tag("p", _cost(turn, number), cls="dim")),
        cls="pn-h",
    )
    if number not in ran(turn):
        return join(
            head, tag("p", f"{place(turn, number).capitalize()}.", cls="mid pn-say"), tag("p", PURPOSES[number], cls="dim pn-say")
        )
    body, failed = _BODIES.get(number), turn.failure is not None and turn.failure.step == number
    return join(
        head,
        tag("p", PURPOSES[number], cls="mid pn-say"),
        *(_io(step, failed=failed) for step in runs(turn, number)),
        tag("div", tag("p", failure_line(turn)), tag("p", "The segments are put back as they stood before."), cls="fail")
        if failed
        else None,
        body(turn, cached_by) if body else None,
        prompts_html(turn.calls.get(number, ())),
    )


def _cost(turn: Turn, number: int) -> str:
    """Seconds of the step, how much of them a model was waited for, and its tokens."""
    if number not in ran(turn):
        return "did not run"
    whole, calls = spent(turn, number), turn.calls.get(number, ())
    waited = sum(call.seconds for call in calls if call.sent)
    share = f"{100 * min(waited / whole, 1):.1f} % of it the model" if waited and whole else ""
    tokens = turn.tokens.get(number, 0)
    about = "about " if any(call.estimated for call in calls) else ""
    unsent = " not sent" if calls and not any(call.sent for call in calls) else ""
    return ", ".join(filter(None, (seconds(whole), share, f"{about}{count(tokens, 'token')}{unsent}" if tokens else "")))


def _io(step: Step, *, failed: bool) -> Html | None:
    lines = [("Read", read_by(step)), ("Wrote", written_by(step))]
    pairs = [(tag("dt", name), tag("dd", _listed(phrases))) for name, phrases in lines if phrases]
    note = tag("p", line(step.note, 300), cls="dim") if step.note and step.number != 2 else None
    error = tag("p", line(step.error, 400), cls="alarm") if step.error and not failed else None
    if not (pairs or note or error):
        return None
    return tag("div", tag("dl", *(part for pair in pairs for part in pair)) if pairs else None, note, error, cls="pn-io")


def _listed(phrases: Sequence[Sentence]) -> Html:
    return join(*(part for at, phrase in enumerate(phrases) for part in (", " if at else "", told(phrase))))


def _question(turn: Turn, _: Selection | None) -> Html:
    return _quote("Asked", turn.question, day(turn.at))


def _verdict(turn: Turn, _: Selection | None) -> Html:
    verdict = turn.verdict
    if verdict is None:
        step = turn.step(2)
        return _verdict_box((step.note if step else "") or "No verdict: the turn goes on as a miss.", "miss")
    gauge = _gauge(verdict.score, verdict.threshold) if verdict.score is not None else None
    used = told(("It rests on ", *rows_in_words(verdict.used, "cache"), ".")) if verdict.used else None
    said = plain(verdict.reason, 600) or ("The segments are enough." if verdict.hit else "The segments are not enough.")
    return join(
        gauge, _row_list(turn, rows_at(turn, "cache", 2), "cache"), _verdict_box(said, "hit" if verdict.hit else "miss", used)
    )


def _verdict_box(said: str, outcome: str, used: Html | None = None) -> Html:
    return tag(
        "div",
        tag("p", badge(outcome), " ", tag("span", said, dir="auto")),
        tag("p", used) if used else None,
        cls=f"pn-ruling {outcome}",
    )


def _gauge(number: float, threshold: float | None) -> Html:
    """The judge's score on a scale from 0, the threshold as a tick."""
    top = max(number, threshold or 0.0, 1.0)
    tick = tag("i", cls="tick", style=f"left:{100 * threshold / top:.1f}%") if threshold is not None else None
    needs = f" of {score(threshold)} needed" if threshold is not None else ""
    return tag(
        "div",
        tag("span", "score"),
        tag("span", bar(number / top, "history"), tick, cls="gauge"),
        tag("span", f"{score(number)}{needs}", cls="num"),
        cls="pn-gauge",
    )


def _kept(turn: Turn, cached_by: Selection | None) -> Html:
    reason = why(turn, cached_by=cached_by)
    scored = tag("ul", _scored(reason.scored, turn), cls="pn-list") if reason.scored else None
    return join(
        tag("div", tag("p", tag("b", reason.title + ": "), told(reason.sentence)), cls="pn-ruling hit"), scored, _waiting(turn)
    )


def _cleared(turn: Turn, _: Selection | None) -> Html:
    gone = [(held.view.name, held.gone) for held in segments_at(turn, 4) if held.gone is not None and held.gone.text]
    if not gone:
        return tag("p", "Cache and summary were empty: there is nothing to clear.", cls="mid pn-say")
    shown = [
        tag("p", tag("b", name.capitalize()), f" cleared, {count(view.tokens, 'token')}", told((" ", *rows_in_words(view.rows))))
        for name, view in gone
    ]
    return tag("div", *shown, cls="pn-say mid")


def _summary(turn: Turn, _: Selection | None) -> Html:
    said = {index: row.user for index, row in turn.rows.items()}
    shown = [card for card in cards(turn.answered_from, said) if card.name in ("summary", "personality") and card.text]
    return join(*(_quote(card.name.capitalize(), card.text, count(card.tokens, "token")) for card in shown))


def _recall(turn: Turn, _: Selection | None) -> Html | None:
    return branches_html(turn.recall) if turn.recall else None


def _prefetch(turn: Turn, _: Selection | None) -> Html | None:
    selection = turn.prefetch
    if selection is None or not selection.rows:
        return None
    rows = [_scored(row, turn) for row in selection.rows]
    cut = len(selection.chosen)
    shown, more = [*rows[:cut], tag("li", f"top {cut}", cls="cutline"), *rows[cut:_WINDOW]], rows[_WINDOW:]
    head = tag("p", tag("b", "Score"), " = ", tag("span", "time", cls="t"), " + ", tag("span", "place", cls="p"), cls="pn-eq mid")
    rest = tag("details", tag("summary", f"{count(len(more), 'row')} more"), tag("ul", *more, cls="pn-list")) if more else None
    return join(head, tag("ul", *shown, cls="pn-list"), rest)


def _scored(row: ScoredRow, turn: Turn) -> Html:
    of_time, of_place = shares(row)
    bars = tag("span", tag("i", cls="bt", style=f"width:{of_time}"), tag("i", cls="bp", style=f"width:{of_place}"), cls="sb")
    sums = tag(
        "span",
        tag("span", score(row.time), cls="t"),
        " + ",
        tag("span", score(row.place), cls="p"),
        " = ",
        tag("b", score(row.score)),
        cls="num",
    )
    away = "centre" if row.distance == 0 else f"{row.distance} away"
    return tag(
        "li",
        row_press(row.index, "cache" if row.chosen else ""),
        tag("span", away, cls="dim"),
        bars,
        sums,
        cls="sum" if row.chosen else "sum off",
    )


def _write(turn: Turn, _: Selection | None) -> Html:
    kind = (
        f"It is a row of the kind “{turn.kind}”."
        if turn.row is not None and turn.kind
        else "No new row: this turn is not remembered."
    )
    return join(tag("p", kind, cls="mid pn-say"), _waiting(turn))


def _waiting(turn: Turn) -> Html:
    if not turn.waiting:
        return tag("p", "No touch waits: everything stands in the table’s columns.", cls="mid pn-say")
    rows = told((" ", *rows_in_words(turn.waiting)))
    return tag("p", f"{count(len(turn.waiting), 'row waits', 'rows wait')} for the deferred write:", rows, cls="mid pn-say")


def _answer(turn: Turn, _: Selection | None) -> Html:
    whole = max(turn.token_budget, sum(view.tokens for view in turn.answered_from), 1)
    parts = [
        tag(
            "li",
            tag("span", view.name.capitalize()),
            bar(view.tokens / whole, view.name),
            tag("span", count(view.tokens, "token"), cls="num"),
            cls="part",
        )
        for view in turn.answered_from
        if view.tokens
    ]
    used = tag("ul", *parts, cls="pn-list") if parts else None
    return join(used, _quote("Answered", turn.answer, seconds(turn.seconds)) if turn.answer else None)


def _quote(name: str, text: str, right: str) -> Html:
    top = tag("div", tag("b", name), tag("span", right, cls="dim"), cls="end")
    return tag("div", top, tag("p", plain(text, _LONGEST), cls="pn-text", dir="auto"), cls="pn-quote")


def _row_list(turn: Turn, rows: Sequence[int], role: str) -> Html | None:
    shown = [
        tag(
            "li",
            row_press(index, role),
            tag("span", line(turn.rows[index].user if index in turn.rows else "…", 90), cls="cut", dir="auto"),
            cls="row",
        )
        for index in rows
    ]
    return tag("ul", *shown, cls="pn-list") if shown else None


_BODIES: dict[int, Callable[[Turn, Selection | None], Html | None]] = {
    1: _question,
    2: _verdict,
    3: _kept,
    4: _cleared,
    5: _summary,
    6: _recall,
    7: _prefetch,
    8: _write,
    9: _answer,
}
