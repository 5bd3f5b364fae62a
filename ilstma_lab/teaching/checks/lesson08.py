"""The whole machine: why ten turns hit or missed, writes that wait or not, and a step that reads what it should not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ilstma_lab.teaching.exercises import Exercise, Property

_REASONS = ("first", "last", "far", "neighbour", "last", "neighbour", "far", "far", "neighbour", "far")
_WORDS = set(_REASONS)
_HITS = {"last", "neighbour"}
_EXAMPLE = [(False, [3, 4]), (True, [4]), (True, [3]), (False, [9]), (True, [9])]

Run = Callable[[list, bool], tuple[Any, int]]


def _by_hand(touches: list, immediate: bool) -> tuple[dict[int, int], int]:
    writes, waits = 0, False
    for hit, rows in touches:
        waits = waits or bool(rows)
        if waits and (immediate or not hit):
            writes, waits = writes + 1, False
    return dict(Counter(row for _, rows in touches for row in rows)), writes + waits


def _run(run: Run, touches: list, immediate: bool) -> tuple[dict[int, int], int]:
    counts, writes = run([(hit, list(rows)) for hit, rows in touches], immediate)
    return {row: times for row, times in dict(counts).items() if times}, int(writes)


def _random() -> list[list]:
    draw = np.random.default_rng(8)
    return [
        [(bool(draw.integers(2)), draw.integers(0, 6, draw.integers(0, 3)).tolist()) for _ in range(draw.integers(0, 12))]
        for _ in range(100)
    ]


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it is a list of ten words", lambda reasons: isinstance(reasons, list | tuple) and len(reasons) == 10),
            Property("each is one of the four", lambda reasons: set(reasons) <= _WORDS),
            Property('only turn 1 is "first"', lambda reasons: [w == "first" for w in reasons] == [True] + [False] * 9),
            Property(
                "hits and misses are where they were",
                lambda reasons: [word in _HITS for word in reasons] == [word in _HITS for word in _REASONS],
            ),
            Property("each hit has its right reason", lambda reasons: tuple(reasons) == _REASONS),
        ),
        hints=(
            'turn.hit says whether a turn hit; a miss that is not the first is always "far" here.',
            "For a hit, turn.recalled[0] is the row that it used. Which row did the last miss before it recall first?",
            'The last miss before turn 4 is turn 3, with recalled (78, 79). Turn 4 used row 79, so it is a "neighbour".',
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it returns counts and a number of writes", lambda run: _run(run, _EXAMPLE, True)[1] >= 0),
            Property("immediate: one write for each of five turns", lambda run: _run(run, _EXAMPLE, True)[1] == 5),
            Property("deferred: two misses and the end, three writes", lambda run: _run(run, _EXAMPLE, False)[1] == 3),
            Property("nothing waits for ever", lambda run: _run(run, [(True, [7])], False) == ({7: 1}, 1)),
            Property("what touches nothing writes nothing", lambda run: _run(run, [(False, []), (True, [])], True)[1] == 0),
            Property(
                "the table is the same in the end, either way",
                lambda run: all(_run(run, each, True)[0] == _run(run, each, False)[0] for each in _random()),
            ),
            Property(
                "it is right for 100 random sessions",
                lambda run: all(_run(run, each, way) == _by_hand(each, way) for each in _random() for way in (True, False)),
            ),
        ),
        hints=(
            "Go through the turns with a list of the rows that wait. When is it emptied?",
            "Add a turn's rows to the list first. Then, if immediate or a miss: count all rows in it, write once, empty it.",
            "A list that is empty needs no write. After the last turn, write once more if something still waits.",
        ),
    ),
    "C": Exercise(
        properties=(
            Property("it is a pair", lambda fault: isinstance(fault, tuple | list) and len(fault) == 2),
            Property("a step's number, and a name", lambda fault: fault[0] in range(1, 10) and isinstance(fault[1], str)),
            Property("that step ran on this miss", lambda fault: fault[0] != 3),
            Property("it is a step that answers, not one that judges or tidies up", lambda fault: fault[0] == 9),
            Property("at that moment a miss has cleared what it reads", lambda fault: fault[1] == "cache"),
        ),
        hints=(
            "Compare the two drawings step by step: the steps are the same.",
            "Go through what a miss clears, and when it is filled again. Who reads it in between?",
            "wrong[number][0] is what a step reads; set(wrong[9][0]) - set(flow_of(turns[6])[9][0]) compares one step.",
        ),
    ),
}
