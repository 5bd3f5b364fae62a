"""Five segments: the order in which a miss fills them, the rule of the history queue, and what a hit and a miss leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ilstma_lab.teaching.exercises import Exercise, Property

Push = Callable[..., list[Any]]

_ORDER = ["relevant", "summary", "cache", "history"]
_WORDS = {"kept", "emptied", "filled anew", "one more"}
_FATES = {
    "cache": ("kept", "filled anew"),
    "summary": ("kept", "filled anew"),
    "personality": ("kept", "kept"),
    "history": ("one more", "one more"),
    "relevant": ("emptied", "filled anew"),
}


def _keeps_the_last(push: Push) -> bool:
    """Return whether 300 random queues, some too long already, keep their last turns in order."""
    draw = np.random.default_rng(7)
    for _ in range(300):
        queue, most = list(range(int(draw.integers(0, 12)))), int(draw.integers(0, 10))
        right = [*queue, "new"][-most:] if most else []
        if list(push(list(queue), "new", most)) != right:
            return False
    return True


def _never_exceeds(push: Push) -> bool:
    queue: list[int] = []
    for turn in range(50):
        queue = list(push(queue, turn))
        if len(queue) > 7:
            return False
    return True


def _leaves_the_given_queue(push: Push) -> bool:
    queue = list(range(7))
    push(queue, 7)
    return queue == list(range(7))


def _right(column: int, *names: str) -> Callable[[dict[str, tuple[str, str]]], bool]:
    return lambda fate: all(fate[name][column] == _FATES[name][column] for name in names)


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it is a list of names", lambda names: isinstance(names, list) and all(isinstance(n, str) for n in names)),
            Property("each is the name of a segment", lambda names: set(names) <= set(_FATES)),
            Property("none stands twice", lambda names: len(set(names)) == len(names)),
            Property("none is in it that this turn did not fill", lambda names: set(names) <= set(_ORDER)),
            Property("none is missing", lambda names: set(names) == set(_ORDER)),
            Property("what the answer needs comes before what the next question needs", lambda names: names.index("cache") >= 2),
            Property("they are in the order of the steps that ran", lambda names: names == _ORDER),
        ),
        hints=(
            "Print [step.number for step in first.steps]. Three of these steps fill a segment each.",
            "Step 5 fills the summary, step 6 relevant, step 7 the cache; they did not run in the order of their numbers.",
            "Each turn ends with the history. The personality changes only when a group of five is full.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it returns a list in place of the dots", lambda push: isinstance(push([], "a"), list)),
            Property("the new turn is the last", lambda push: push(["a"], "b")[-1] == "b"),
            Property("below the limit nothing leaves", lambda push: push(["a", "b"], "c") == ["a", "b", "c"]),
            Property("in 50 turns it never holds more than seven", _never_exceeds),
            Property("from a full queue the oldest leaves", lambda push: push([1, 2, 3], 4, 3) == [2, 3, 4]),
            Property("the queue that it was given is as before", _leaves_the_given_queue),
            Property("a queue that is too long already is mended", lambda push: push(list(range(9)), 9, 3) == [7, 8, 9]),
            Property("with room for none it is empty", lambda push: push(["a"], "b", 0) == []),
            Property("it is right for 300 random queues", _keeps_the_last),
        ),
        hints=(
            "[*queue, turn] is a new list with the turn at its end.",
            "A slice longer[start:] keeps the end. Where must it start, so that `most` are left?",
            "longer[-most:] is nearly right, but for most = 0 it keeps all. Count from the front: max(0, len(longer) - most).",
        ),
    ),
    "C": Exercise(
        properties=(
            Property("it names the five segments", lambda fate: isinstance(fate, dict) and set(fate) == set(_FATES)),
            Property(
                "each has one of the four words for the hit, and one for the miss",
                lambda fate: all(len(pair) == 2 and set(pair) <= _WORDS for pair in fate.values()),
            ),
            Property("history is right: no turn ends without it", lambda fate: fate["history"] == _FATES["history"]),
            Property("after a hit, what the judge answered from is right", _right(0, "cache", "summary", "personality")),
            Property("after a hit, relevant is right", _right(0, "relevant")),
            Property("after a miss, cache and summary are right", _right(1, "cache", "summary")),
            Property("after a miss, personality and relevant are right", _right(1, "personality", "relevant")),
        ),
        hints=(
            "Begin with the history: both kinds of turn end with a push into it.",
            "A hit means that what was at hand was enough, so it stays at hand. But step 1 ran before the judge: what did it do?",
            "A miss searches, chooses a summary and prefetches: three segments are new. The fifth waits for a group of five.",
        ),
    ),
}
