"""What a reader has pressed in a turn: a row, a segment or a chunk, with all that the Turn knows of it."""

from __future__ import annotations

from typing import Any

from ilstma_lab.errors import InputError
from ilstma_lab.reprs.branches import span_of
from ilstma_lab.reprs.film import reached, rows_of, segments_at
from ilstma_lab.reprs.live import press, row_press
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import chip
from ilstma_lab.reprs.prompts import long_text
from ilstma_lab.reprs.segments import RULES, Card, cards, empty_text
from ilstma_lab.reprs.words import count, day, line, score
from ilstma_lab.retrieval.recall import Candidate, Chunk
from ilstma_lab.trace import Turn

_LONGEST = 4000
_FATES = {
    "cache": "A hit keeps it; a miss clears and refills it.",
    "summary": "A hit keeps it; a miss clears it and chooses anew.",
    "personality": "Hit and miss keep it; a full group of five may change it.",
    "history": "Each turn joins the queue; from a full queue the oldest leaves.",
    "relevant": "Emptied when a turn begins; only a miss fills it.",
}


def checked(turn: Turn, picked: str) -> str:
    """Return `picked` if there is something to show: "", "row 41", "segment cache" or "chunk 3". Raises InputError else."""
    kind, _, name = picked.partition(" ")
    known = {
        "": name == "",
        "row": name.isascii() and name.isdigit() and int(name) in rows_of(turn),
        "segment": name in RULES,
        "chunk": _chunk_of(turn, name) is not None,
    }
    if not known.get(kind, False):
        raise InputError(
            f'nothing to show: {picked!r}. This turn shows "segment cache" and the like, "row 41" for rows that it speaks of'
        )
    return picked


def picked_html(turn: Turn, now: int, picked: str) -> Html:
    """Return the card of what was pressed, as it stands at step `now`."""
    kind, _, name = picked.partition(" ")
    shown = {
        "row": lambda: _row(turn, int(name)),
        "segment": lambda: _segment(turn, now, name),
        "chunk": lambda: _chunk(turn, name),
    }
    return tag(
        "div",
        press("show", "×", value="", cls="btn close", aria_label="Close", title="Close"),
        shown[kind](),
        cls="picked",
        data_key=picked,
    )


def _row(turn: Turn, index: int) -> Html:
    view, candidate = turn.rows.get(index), _candidate_of(turn, index)
    facts: dict[str, Any] = {}
    if view:
        facts = {
            "Created": day(view.created),
            "Last recall": day(view.last_recall),
            "Recalls": view.recall_times,
            "Kind": view.kind,
        }
        facts["Source"] = line(view.source, 120) or "none"
    facts |= _scores(turn, index, candidate)
    facts |= {"Waits": "its recall is not yet in the columns"} if index in turn.waiting else {}
    if view:
        text = join(_said("User", view.user), _said("Assistant", view.assistant))
    elif candidate and candidate.text:
        text = long_text(candidate.text, _LONGEST)
    elif index == turn.row:
        text = join(_said("User", turn.question), _said("Assistant", turn.answer))
    else:
        text = tag("p", "The Turn kept no text of this row: look it up in the table.", cls="dim")
    when = tag("p", "As it stood when the turn began.", cls="dim") if view else None
    return join(tag("h3", "Row ", chip(index)), when, text, _facts(facts))


def _scores(turn: Turn, index: int, candidate: Candidate | None) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    if candidate:
        facts["Branch B"] = f"no. {turn.recall.branch_b.candidates.index(candidate) + 1}, {score(candidate.score)}"
        if candidate.echo_of:
            facts["Repeats"] = join(*(row_press(row) for row in candidate.echo_of))
    if turn.prefetch and (scored := next((row for row in turn.prefetch.rows if row.index == index), None)):
        facts["Prefetch"] = f"{score(scored.time)} + {score(scored.place)} = {score(scored.score)}"
    return facts


def _segment(turn: Turn, now: int, name: str) -> Html:
    held = next(held for held in segments_at(turn, now) if held.view.name == name)
    view = held.view
    said = {index: row.user for index, row in turn.rows.items()}
    (card,) = cards([view], said, _cache_scores(turn, now))
    facts = {"Tokens": f"{view.tokens:,} of {turn.token_budget:,}"}
    facts |= {"Cut": f"{count(view.cut_tokens, 'token')}: all five were over the budget"} if view.cut_tokens else {}
    facts |= {"Cleared": f"{count(held.gone.tokens, 'token')} by this miss"} if held.gone is not None and held.gone.text else {}
    whole = tag("details", tag("summary", "As the prompt has it"), long_text(view.text)) if view.text else None
    return join(tag("h3", name.capitalize()), tag("p", _FATES[name], cls="dim"), _content(card), _facts(facts), whole)


def _content(card: Card) -> Html:
    if not card.rows:
        return tag(
            "p",
            card.text or ("All of it is cut." if card.cut_tokens else empty_text(card.name)),
            cls="pn-text" if card.text else "dim",
            dir="auto",
        )
    role = card.name if card.name in ("cache", "relevant") else ""
    rows = [
        tag(
            "li",
            row_press(index, role),
            tag("span", text or "…", cls="cut", dir="auto"),
            tag("span", number, cls="num dim"),
            cls="row",
        )
        for index, text, number in card.rows
    ]
    return tag("ul", *rows, cls="pn-list")


def _cache_scores(turn: Turn, now: int) -> dict[int, float]:
    return {row.index: row.score for row in turn.prefetch.rows} if turn.prefetch and reached(turn, 7, now) else {}


def _chunk(turn: Turn, number: str) -> Html:
    chunk = _chunk_of(turn, number)
    rows = [part for row in chunk.rows for part in (" ", row_press(row))]
    text = (
        long_text(chunk.text, _LONGEST)
        if chunk.text
        else tag("p", "The reader did not see this chunk, so its text was not kept.", cls="dim")
    )
    return join(
        tag("h3", f"Chunk {chunk.number}: {span_of(chunk)}"), text, _facts({"Rows": join(*rows), "Cosine": score(chunk.score)})
    )


def _said(who: str, text: str) -> Html:
    return join(tag("p", who, cls="dim role"), long_text(text, _LONGEST))


def _facts(facts: dict[str, Any]) -> Html:
    return tag("dl", *(part for name, value in facts.items() for part in (tag("dt", name), tag("dd", value))), cls="facts")


def _candidate_of(turn: Turn, index: int) -> Candidate | None:
    found = turn.recall.branch_b.candidates if turn.recall else ()
    return next((candidate for candidate in found if candidate.index == index), None)


def _chunk_of(turn: Turn, number: str) -> Chunk | None:
    found = turn.recall.branch_a.chunks if turn.recall else ()
    return next((chunk for chunk in found if str(chunk.number) == number), None)
