"""What each of the nine steps is for, in words, and what it read and wrote as sentences with rows in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ilstma_lab.reprs.film import ran
from ilstma_lab.reprs.why import Row, Sentence
from ilstma_lab.reprs.words import line, score
from ilstma_lab.trace import Step, Turn

TITLES = {
    1: "Collect the question",
    2: "Judge: hit or miss?",
    3: "Keep the segments",
    4: "Read the table",
    5: "Choose the summary",
    6: "Recall the dialogue",
    7: "Prefetch around it",
    8: "Write to the table",
    9: "Answer",
}
PURPOSES = {
    1: "The question comes in. Relevant is emptied, so that the judge does not see what the last turn recalled.",
    2: "The judge looks at the segments and at general knowledge: is that enough to answer?",
    3: "A hit keeps what is at hand. The rows that it used wait to be written.",
    4: "A miss clears cache and summary. Then the long-term table is read.",
    5: "The set nearest to the question goes in, beside what is known of the user.",
    6: "Two searches run on one question. The referee compares row numbers, never words.",
    7: "Rows around the recalled one are scored: time (how well kept) plus place (how near). The best refill the cache.",
    8: "The finished dialogue becomes a row, and recalls are noted.",
    9: "The answer is made from what stands in the segments now.",
}
_READ = {
    (1, "question"): "the question",
    (2, "cache"): "the cached rows {}",
    (4, "rows"): "{} rows",
    (4, "summaries"): "{} summaries",
    (4, "pending"): "{} rows without a vector",
    (5, "summaries"): "{} summaries",
    (6, "vectors"): "{} vectors",
    (6, "chunks"): "{} chunks of the global text",
    (7, "centre"): "the window around row {}",
    (7, "window"): "{} rows",
    (9, "tokens"): "{} tokens of segments",
}
_WROTE = {
    (1, "cleared"): "{} emptied",
    (3, "waiting"): "rows that wait: {}",
    (5, "summary"): "summary {} chosen",
    (5, "cosine"): "cosine {}",
    (5, "personality"): "personality: {}",
    (5, "summaries"): "{} summaries now",
    (6, "relevant"): "{} into Relevant",
    (7, "cache"): "{} into Cache",
    (8, "deferred"): "{} deferred writes",
    (8, "touched"): "recalls of {}",
    (8, "row"): "the new row {}",
    (8, "waiting"): "rows that wait: {}",
    (9, "answer"): "the answer",
}
_ROLES = {
    (2, "cache"): "cache",
    (3, "waiting"): "cache",
    (6, "relevant"): "relevant",
    (7, "centre"): "relevant",
    (7, "cache"): "cache",
}
_ONE_ROW = ("row", "centre")
_NOTHING = {(4, "pending"): 0, (8, "deferred"): 0}
_MOST_ROWS = 12
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def place(turn: Turn, number: int) -> str:
    """Return where step `number` stands among those that ran: "step 6, the fourth of 8 on a miss"."""
    kind = "a failed turn" if turn.failure else "a hit" if turn.hit else "a miss"
    order = ran(turn)
    if number not in order:
        return f"step {number} does not run on {kind}"
    return f"step {number}, the {_ORDINALS[order.index(number)]} of {len(order)} on {kind}"


def try_this(turn: Turn, number: int) -> str:
    """Return one thing to try from here."""
    if turn.failure:
        return "Step back to see how far the turn came. lab.retry() asks the same question again."
    if turn.hit:
        return "Ask about something else, so that the judge says no, and step through both turns."
    if not turn.prefetch or not turn.prefetch.chosen:
        return "Ask about something that the table holds, and see what the prefetch puts at hand."
    if number != 7:
        return "Guess which rows refill the cache before you step on to 7. Then ask a question that hits."
    return "Ask about a row that is cached now, and see whether the next turn is a hit."


def read_by(step: Step) -> tuple[Sentence, ...]:
    """Return what a step read, one phrase for each thing; what is empty is left out."""
    return _phrases(step.number, step.read, _READ)


def written_by(step: Step) -> tuple[Sentence, ...]:
    """Return what a step wrote, one phrase for each thing; what is empty is left out."""
    return _phrases(step.number, step.wrote, _WROTE)


def _phrases(number: int, values: Mapping[str, Any], words: Mapping[tuple[int, str], str]) -> tuple[Sentence, ...]:
    empty = (None, [], ())
    shown = {name: value for name, value in values.items() if value not in empty and _NOTHING.get((number, name)) != value}
    return tuple(_phrase(words.get((number, name)), name, value, _ROLES.get((number, name), "")) for name, value in shown.items())


def _phrase(words: str | None, name: str, value: Any, role: str) -> Sentence:
    if words is None:  # a part of the reader's own may note down what it likes
        words = line(name.replace("_", " "), 40).replace("{}", "") + ": {}"
    before, gap, after = words.partition("{}")
    return (before, *_value(name, value, role), after) if gap else (before,)


def _value(name: str, value: Any, role: str) -> Sentence:
    if isinstance(value, bool):
        return ("yes" if value else "no",)
    if isinstance(value, int):
        return (Row(value, role),) if name in _ONE_ROW else (f"{value:,}",)
    if isinstance(value, float):
        return (score(value),)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return (
            rows_in_words(value, role)
            if all(isinstance(part, int) for part in value)
            else (line(", ".join(map(str, value)), 160),)
        )
    return (line(str(value), 160),)


def rows_in_words(rows: Sequence[int], role: str = "") -> Sentence:
    """Return rows one after the other; of many, the first ones."""
    shown = tuple(part for row in rows[:_MOST_ROWS] for part in (" ", Row(row, role)))[1:]
    return (*shown, f" and {len(rows) - _MOST_ROWS:,} more") if len(rows) > _MOST_ROWS else shown
