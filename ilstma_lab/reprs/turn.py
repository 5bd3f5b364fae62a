"""A turn as notebook output: question, answer, why this memory, the nine steps, the five segments."""

from __future__ import annotations

from ilstma_lab.prefetch.selection import ScoredRow, Selection
from ilstma_lab.reprs.markup import Html, join, page, tag
from ilstma_lab.reprs.parts import badge, chips, head, sentence, width
from ilstma_lab.reprs.segments import budget_bar, budget_line, card_html, card_text, cards
from ilstma_lab.reprs.steps import io_text, steps_html
from ilstma_lab.reprs.why import Why, finding, text_of, why
from ilstma_lab.reprs.words import count, day, line, plain, score, seconds
from ilstma_lab.trace import STEP_NAMES, Turn

_SCALE = 2.0  # time and place are at most 1 each, unless Eq. 4 is taken literally


def turn_html(turn: Turn) -> Html:
    """Return a turn as HTML."""
    about = (_turn(turn), day(turn.at), count(turn.table_size, "row"), turn.models, *turn.labels)
    where = " · ".join(filter(None, about))
    spent = tag("span", seconds(turn.seconds), cls="mid num")
    return page(
        head(line(where, 160), sentence(finding(turn)), badge(outcome(turn)), spent),
        tag("div", exchange_html(turn), cls="pane"),
        tag("div", steps_html(turn), cls="pane"),
        tag("div", _memory_html(turn), cls="pane"),
        sections=("segments", "turn"),
    )


def turn_text(turn: Turn) -> str:
    """Return a turn as text."""
    reason = why(turn)
    wide = max((len(f"{s.number} {s.name}") for s in turn.steps), default=0)
    steps = [f"  {f'{s.number} {s.name}':<{max(13, wide + 1)}}{seconds(s.seconds):>9}  {io_text(s)}".rstrip() for s in turn.steps]
    return "\n".join(
        [
            f"{_turn(turn)}, {day(turn.at)}: {text_of(finding(turn))} ({seconds(turn.seconds)})",
            f"Q  {line(turn.question, 400)}",
            f"A  {plain(turn.answer)}" if turn.answer else "A  (none)",
            *([failure_line(turn)] if turn.failure else [f"{reason.title}: {text_of(reason.sentence)}"]),
            "Steps, in the order in which they ran",
            *steps,
            f"Short-term memory: {budget_line(_after(turn), turn.token_budget)}",
            *(text for card in _after(turn) for text in card_text(card)),
        ]
    )


def _turn(turn: Turn) -> str:
    return f"Turn {turn.number}" if turn.system == "ILSTMA" else f"{line(turn.system, 40)}, turn {turn.number}"


def outcome(turn: Turn) -> str:
    """Return "hit", "miss" or "failed"; of a system that does not judge, "recalled" or "answered" where no row was recalled."""
    if turn.failure:
        return "failed"
    if turn.system != "ILSTMA":
        return "recalled" if turn.recalled else "answered"
    return "hit" if turn.hit else "miss"


def exchange_html(turn: Turn, *, cached_by: Selection | None = None, meta: bool = False) -> Html:
    """Return question, answer and explanation; with `meta` the explanation also says hit or miss, and the seconds."""
    answer = tag("p", plain(turn.answer), cls="answer", dir="auto") if turn.answer else None
    return tag(
        "div",
        tag("p", plain(turn.question), cls="q", dir="auto"),
        answer,
        tag("div", failure_line(turn), cls="fail") if turn.failure else None,
        _why_html(why(turn, cached_by=cached_by), (badge(outcome(turn)), seconds(turn.seconds)) if meta else ()),
        cls="talk",
    )


def _why_html(reason: Why, meta: tuple[object, ...]) -> Html:
    top = tag("div", *meta, tag("b", reason.title), cls="meta")
    return tag("div", top, tag("p", sentence(reason.sentence), cls="said"), _arithmetic(reason), cls="why")


def shares(row: ScoredRow) -> tuple[str, str]:
    """Return how long the bars of time and place are, on the scale that both sums of a list share."""
    whole = max(_SCALE, row.time + row.place)
    return width(row.time / whole), width(row.place / whole)


def _arithmetic(reason: Why) -> Html | None:
    row = reason.scored
    if row is None:
        return None
    of_time, of_place = shares(row)
    bars = tag("span", tag("i", cls="bt", style=f"width:{of_time}"), tag("i", cls="bp", style=f"width:{of_place}"), cls="sb")
    time, place = tag("span", f"time {score(row.time)}", cls="t"), tag("span", f"place {score(row.place)}", cls="p")
    total = tag("span", time, " + ", place, " = ", tag("b", score(row.score)))
    return tag("div", bars, total, tag("span", reason.place, cls="dim"), cls="arith")


def _after(turn: Turn):
    said = {index: row.user for index, row in turn.rows.items()}
    chosen = {row.index: row.score for row in turn.prefetch.rows} if turn.prefetch else {}
    return cards(turn.segments_after, said, chosen, system=turn.system)


def _memory_html(turn: Turn) -> Html:
    shown = _after(turn)
    title = tag("p", tag("b", "Short-term memory now"), tag("span", budget_line(shown, turn.token_budget), cls="mid"), cls="end")
    waiting = (
        tag(
            "p",
            f"Waiting for the deferred write:{'' if turn.waiting else ' none'}",
            chips(turn.waiting),
            cls="dim",
            style="margin-top:8px",
        )
        if turn.waiting
        else None
    )
    columns = "segs five" if len(shown) == 5 else "segs"
    return join(title, budget_bar(shown, turn.token_budget), tag("div", *map(card_html, shown), cls=columns), waiting)


def failure_line(turn: Turn) -> str:
    """Return which step failed, how, and what to do."""
    failure = turn.failure
    step = f"Step {failure.step} ({STEP_NAMES.get(failure.step, '?')})"
    return f"{step} failed, {line(failure.kind, 80)}: {line(failure.message, 600)}"
