"""What the chat shows, as plain JSON values made from a lab: no widget, no browser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from ilstma_lab.clock import ManualClock, ShiftedClock
from ilstma_lab.prefetch.selection import ScoredRow, Selection
from ilstma_lab.reprs.segments import Card, budget_line, memory_cards
from ilstma_lab.reprs.turn import failure_line, outcome, shares
from ilstma_lab.reprs.why import Row, Sentence, Why, why
from ilstma_lab.reprs.words import count, day, line, plain, score, seconds, spelled, weekday
from ilstma_lab.trace import Turn
from ilstma_lab.widgets import chat_friend
from ilstma_lab.widgets.chat_stream import ANSWER_CHARACTERS

if TYPE_CHECKING:
    from ilstma_lab.engine import ILSTMA
    from ilstma_lab.lab import Lab

SHOWN_TURNS = 20
_PAST_ROWS = 3
_BARS = 6
_BAR_PIXELS = 64
_STEPS = (1, 2, 3, 4, 6, 5, 9)
_INVITATION = "Ask about what was said. The first question is a miss: nothing is at hand yet."


def view_of(lab: Lab, *, questions: Sequence[str], title: str, guesses: Mapping[int, str], stopped: str = "") -> dict[str, Any]:
    """Return all that the chat shows while nothing runs.

    `guesses` are "hit" or "miss" by turn number; `stopped` is what had come of an answer that the reader stopped.
    """
    answered = [turn for turn in lab.turns if turn.failure is None]
    judges = lab.system == "ILSTMA"
    asked = {turn.question for turn in answered}
    return {
        "eyebrow": _eyebrow(lab, title),
        "finding": finding_of(answered) if judges else chat_friend.finding_of(answered),
        "sub": _sub(answered) if judges else chat_friend.sub_of(answered),
        "judges": judges,
        "not_here": "" if judges else chat_friend.not_here(lab),
        "steps": list(_STEPS if judges else chat_friend.STEPS),
        "clock": {"day": weekday(lab.clock.now()), "moves": isinstance(lab.clock, ManualClock | ShiftedClock)},
        "turns": [_turn(turn, by, key, guesses) for key, (turn, by) in list(enumerate(with_prefetch(lab.turns)))[-SHOWN_TURNS:]],
        "open": _open_question(lab, stopped),
        "past": [] if lab.turns else _past(lab),
        "invitation": _INVITATION if judges else chat_friend.INVITATION,
        "try_this": try_this(lab, answered) if judges else chat_friend.try_this(lab, answered),
        "score": _score(answered, guesses),
        "questions": [line(question, 200) for question in questions if question not in asked],
        "memory": _memory(lab),
        "waiting": _waiting(lab),
        "costs": _costs(answered),
    }


def _eyebrow(lab: Lab, title: str) -> str:
    who = "" if lab.system == "ILSTMA" else line(lab.system, 40)
    said = ("Chat lab", who, line(title or lab.table.topic, 80) or "no topic", count(len(lab.table), "row"))
    return " · ".join(filter(None, said))


def with_prefetch(turns: Sequence[Turn]) -> list[tuple[Turn, Selection | None]]:
    """Return each turn with the prefetch that had filled the cache when it was asked."""
    pairs, filled_by = [], None
    for turn in turns:
        pairs.append((turn, filled_by))
        filled_by = turn.prefetch or filled_by
    return pairs


def finding_of(answered: Sequence[Turn]) -> str:
    """Return the session so far in one sentence."""
    if not answered:
        return "Each answer says whether it was at hand, and why"
    hits = sum(turn.hit for turn in answered)
    if len(answered) == 1:
        return "The answer came from memory at hand" if hits else "The first answer had to be searched for"
    return f"{spelled(hits) if hits else 'None'} of {spelled(len(answered)).lower()} answers came from memory at hand"


def _sub(answered: Sequence[Turn]) -> str:
    if not answered:
        return ""
    searching = _searching(answered)
    also = f"; searching every time takes {seconds(searching)}" if searching is not None else ""
    return f"{seconds(fmean(turn.seconds for turn in answered))} a turn on average{also}."


def _searching(answered: Sequence[Turn]) -> float | None:
    """What a turn takes that searches without asking the judge first: the median of two misses or more, less their step 2."""
    spent = [turn.seconds - turn.step(2).seconds for turn in answered if not turn.hit and turn.step(2)]
    return median(spent) if len(spent) > 1 else None


def try_this(lab: ILSTMA, answered: Sequence[Turn]) -> str:
    """Return what a reader may try next: the row that missed the cache by the least, where one did."""
    if not answered:
        return "Ask one of the suggestions, then ask it again: the second answer is at hand."
    passed = (lab.clock.now() - answered[-1].at).days
    if passed >= 1:
        return (
            f"{count(passed, 'day')} passed since the last question, and the cache keeps its rows until the next miss. "
            "What a miss would choose now is the subject of lesson 05, the prefetch score."
        )
    chosen = next((turn.prefetch for turn in reversed(answered) if turn.prefetch), None)
    loser = next((row for row in chosen.rows if not row.chosen and row.index in lab.table), None) if chosen else None
    if loser is None or not chosen.chosen:
        return "Ask the last question again in other words. Is it still at hand?"
    by = min(row.score for row in chosen.rows if row.chosen) - loser.score
    missed = f"by {score(by)}" if by >= 0.0005 else "by less than .001"
    return f"Ask about “{line(lab.table[loser.index].user, 60)}” Will it hit? Row {loser.index} missed the cache {missed}."


def _open_question(lab: Lab, stopped: str) -> dict[str, str] | None:
    """What was asked and not answered, unless a turn that failed shows it already."""
    if lab.table.unanswered is None:
        return None
    question, at = lab.table.unanswered
    if lab.turns and lab.turns[-1].failure and lab.turns[-1].question == question:
        return None
    words = f"This question of {day(at)} was left unanswered. Nothing else of its turn was kept."
    return {"question": plain(question), "answer": plain(stopped, ANSWER_CHARACTERS), "words": words}


def _past(lab: Lab) -> list[dict[str, Any]]:
    """The last rows of the table, where the conversation goes on."""
    entries = [lab.table[int(index)] for index in lab.table.indices[-_PAST_ROWS:]]
    return [{"row": e.index, "text": line(e.user or e.assistant, 160), "day": day(e.created)} for e in entries]


def _turn(turn: Turn, filled_by: Selection | None, key: int, guesses: Mapping[int, str]) -> dict[str, Any]:
    return {
        "key": key,
        "number": turn.number,
        "question": plain(turn.question),
        "answer": plain(turn.answer, ANSWER_CHARACTERS),
        "outcome": outcome(turn),
        "seconds": seconds(turn.seconds),
        "why": _why(why(turn, cached_by=filled_by)),
        "failure": failure_line(turn) if turn.failure else "",
        "notes": []
        if turn.failure
        else [f"Step {s.number} ({s.name}) failed: {line(s.error, 300)}" for s in turn.steps if s.error],
        "guess": "" if turn.failure else guesses.get(turn.number, ""),
    }


def _why(reason: Why) -> dict[str, Any]:
    arithmetic = _arithmetic(reason.scored, reason.place) if reason.scored else None
    return {"title": reason.title, "sentence": _sentence(reason.sentence), "arithmetic": arithmetic}


def _sentence(parts: Sentence) -> list[str | dict[str, Any]]:
    return [{"row": int(part.index), "role": part.role} if isinstance(part, Row) else part for part in parts]


def _arithmetic(row: ScoredRow, where: str) -> dict[str, str]:
    of_time, of_place = shares(row)
    numbers = {"time": score(row.time), "place": score(row.place), "score": score(row.score)}
    return {**numbers, "time_share": of_time, "place_share": of_place, "where": where}


def _score(answered: Sequence[Turn], guesses: Mapping[int, str]) -> str:
    guessed = [turn for turn in answered if turn.number in guesses]
    right = sum(guesses[turn.number] == outcome(turn) for turn in guessed)
    return f"{right} of {len(guessed)} right so far" if guessed else ""


def _memory(lab: Lab) -> dict[str, Any]:
    shown, budget = memory_cards(lab.memory, system=lab.system), lab.memory.limits.token_budget
    whole = max(budget, sum(card.tokens for card in shown), 1)
    cards = [_card(card, lab, whole) for card in shown]
    forgotten = chat_friend.forgotten_card(lab)
    return {
        "budget": budget_line(shown, budget).split(" ", 1),
        "cards": [*cards, forgotten] if forgotten else cards,
    }


def _card(card: Card, lab: Lab, whole: int) -> dict[str, Any]:
    queue, rule, text = None, card.rule, card.text or ("" if card.rows else card.words.empty)
    rows = [list(row) for row in card.rows]
    if card.name == "relevant" and lab.system != "ILSTMA":
        rows = chat_friend.recalled_rows(lab)
    elif card.name == "relevant" and card.empty and lab.turns and lab.turns[-1].hit:
        text = "Empty: the last answer was a hit."
    if card.name == "history":
        turns, places = len(lab.memory.history), lab.memory.limits.history_turns
        queue = [True] * turns + [False] * (places - turns)
        rule = f"queue of {places}"
        text = f"{count(turns, 'turn')}, {count(places - turns, 'place')} left"
    return {
        "name": card.name,
        "label": card.words.label,
        "rule": rule,
        "tokens": f"{card.tokens:,}",
        "share": round(100 * card.tokens / whole, 2),
        "rows": [] if queue else rows,
        "role": card.name if card.name in ("cache", "relevant") else "",
        "queue": queue,
        "text": text,
        "empty": card.empty,
    }


def _waiting(lab: Lab) -> list[dict[str, Any]]:
    if not lab.table.waiting or lab.system != "ILSTMA":
        return []
    days, now = lab.config.prefetch.strength.days, lab.clock.now()
    changes = []
    for index, (more, last) in sorted(lab.table.waiting.items()):
        entry = lab.table[index]
        before, after = days(np.array([entry.recall_times, entry.recall_times + more]))
        changes.append(
            {
                "row": index,
                "last": [_date(entry.last_recall, now), _date(last, now)],
                "recalls": [str(entry.recall_times), str(entry.recall_times + more)],
                "strength": [f"{before:.2f}", f"{after:.2f} d"],
            }
        )
    return changes


def _date(instant: datetime, now: datetime) -> str:
    return "today" if instant.date() == now.date() else day(instant)


def _costs(answered: Sequence[Turn]) -> dict[str, Any]:
    shown = answered[-_BARS:]
    longest = max((turn.seconds for turn in shown), default=0.0) or 1.0
    searching = _searching(answered)
    misses = sum(not turn.hit for turn in answered)
    saved = sum(searching - turn.seconds for turn in answered) if searching is not None else 0.0
    return {
        "bars": [_cost(turn, longest) for turn in shown],
        "line": None if searching is None else round(_BAR_PIXELS * min(searching / longest, 1.0)),
        "saved": f"{seconds(abs(saved))} {'saved' if saved >= 0 else 'lost'} so far"
        if len(answered) > 1 and searching is not None
        else "",
        "note": "" if searching is None else f"{seconds(searching)}: searching at every turn",
        "of": "" if searching is None else f"Searching without a judge: the median of {misses} misses.",
        "aloud": "Seconds of the last turns: "
        + ", ".join(f"turn {turn.number} {outcome(turn)} {seconds(turn.seconds)}" for turn in shown),
    }


def _cost(turn: Turn, longest: float) -> dict[str, Any]:
    height = round(_BAR_PIXELS * turn.seconds / longest)
    return {"number": turn.number, "outcome": outcome(turn), "label": seconds(turn.seconds), "height": height}
