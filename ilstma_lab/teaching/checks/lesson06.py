"""Two searches and a referee: cosines by hand, the rule by index, and when it is worth more than branch A alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ilstma_lab.retrieval.dual import referee
from ilstma_lab.teaching.exercises import Exercise, Property, near

_COSINES = (24 / 25, 40 / 50, 0.0)
_P, _RHO, _TRAP = 0.663, 0.4, 1 / 3
_GRID = [q / 100 for q in range(50, 91, 5)]

Rule = Callable[[int | None, list[int]], Sequence[int]]
Finds = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def _three(answer: Any) -> list[float]:
    found = [float(value) for value in answer]
    return found if len(found) == 3 else []


def _recalled(rule: Rule, named: int | None, winners: list[int]) -> list[int]:
    return [int(row) for row in rule(named, list(winners))]


def _rules_like_the_referee(rule: Rule) -> bool:
    draw = np.random.default_rng(6)
    for _ in range(300):
        winners = draw.permutation(6)[: int(draw.integers(0, 4))].tolist()
        named = int(draw.integers(-2, 8))
        if _recalled(rule, named, winners) != list(referee(named, winners)[0]):
            return False
    return True


def _leaves_its_input(rule: Rule) -> bool:
    winners = [53, 52]
    rule(52, winners)
    rule(7, winners)
    return winners == [53, 52]


def _found(answer: Any, a_right: Sequence[bool], b_holds: Sequence[bool], trapped: Sequence[bool]) -> list[bool]:
    found = np.asarray(answer[0](*(np.array(each, bool) for each in (a_right, b_holds, trapped))))
    return found.astype(bool).tolist() if found.dtype != object else []


def _finds_like_the_referee(answer: Any) -> bool:
    """Compare with the referee's own ruling, on rows: gold is row 0, B's other row 1, and A may name either or row 9."""
    draw = np.random.default_rng(6)
    a_right, b_holds, points = (draw.random(400) < share for share in (0.5, 0.5, 0.4))
    trapped = ~a_right & b_holds & points
    winners = [[0, 1] if holds else [2, 1] for holds in b_holds]
    named = [0 if right else 1 if into else 9 for right, into in zip(a_right, trapped, strict=True)]
    ruled = [0 in referee(row, rows)[0] for row, rows in zip(named, winners, strict=True)]
    return _found(answer, a_right, b_holds, trapped) == ruled


def _gain(q: float) -> float:
    """Return how much more the referee finds than A alone, in closed form."""
    both = _P * q + _RHO * math.sqrt(_P * (1 - _P) * q * (1 - q))
    return (1 - _TRAP) * (q - both) - (_P - both)


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it is three numbers", lambda answer: len(_three(answer)) == 3),
            Property("no cosine is greater than 1", lambda answer: max(map(abs, _three(answer))) <= 1 + 1e-9),
            Property("a row at a right angle to the question has 0", lambda answer: near(_three(answer)[2], 0, tolerance=1e-6)),
            Property("a longer row has no advantage", lambda answer: _three(answer)[1] < _three(answer)[0]),
            Property(
                "all three are right, to two digits",
                lambda answer: all(
                    near(one, truth, tolerance=0.005) for one, truth in zip(_three(answer), _COSINES, strict=True)
                ),
            ),
        ),
        hints=(
            "The dot product of (3, 4) and (4, 3) is 3 · 4 + 4 · 3. Both are 5 long.",
            "The lengths of the rows are 5, 10 and 10: the square root of the sum of squares.",
            "The dot products are 24, 40 and 0. Divide each by 5, the question's length, and by its own row's length.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it returns something in place of the dots", lambda rule: rule(3, [3, 41]) not in (..., None)),
            Property("a row of B's that A names is recalled alone", lambda rule: _recalled(rule, 41, [3, 41]) == [41]),
            Property("else B's rows are recalled, in their order", lambda rule: _recalled(rule, 7, [41, 3]) == [41, 3]),
            Property("where A names nothing B's rows are recalled", lambda rule: _recalled(rule, None, [41, 3]) == [41, 3]),
            Property("row 0 is a row like any other", lambda rule: _recalled(rule, 0, [5, 0]) == [0]),
            Property("-1 names no row", lambda rule: _recalled(rule, -1, [5, 0]) == [5, 0]),
            Property("where B found nothing, nothing is recalled", lambda rule: _recalled(rule, 3, []) == []),
            Property("it leaves the list that it is given as it was", _leaves_its_input),
            Property("it rules as the kit does in 300 random cases", _rules_like_the_referee),
        ),
        hints=(
            "One question decides: is `named` in `winners`? Compare numbers, and look at no text.",
            "`if named:` is false for row 0. Ask `named in winners`, which is also false for None and for -1.",
            "Return [named] where that holds, and list(winners) where it does not.",
        ),
    ),
    "C": Exercise(
        properties=(
            Property("`referee_finds` is a function", lambda answer: callable(answer[0])),
            Property(
                "it returns True or False for each question", lambda answer: len(_found(answer, [True], [True], [False])) == 1
            ),
            Property(
                "it never finds what B's two lack",
                lambda answer: _found(answer, [True, False], [False] * 2, [False] * 2) == [False] * 2,
            ),
            Property("where both have the row it is kept", lambda answer: _found(answer, [True], [True], [False]) == [True]),
            Property("where they disagree B's two are kept", lambda answer: _found(answer, [False], [True], [False]) == [True]),
            Property("where A is trapped the row is lost", lambda answer: _found(answer, [False], [True], [True]) == [False]),
            Property("it finds what the kit's referee finds, 400 times", _finds_like_the_referee),
            Property("`smallest_q` is one of the grid", lambda answer: any(near(answer[1], q, tolerance=1e-9) for q in _GRID)),
            Property("at that q the referee finds more than A alone", lambda answer: _gain(answer[1]) > 0),
            Property("at the q below it does not", lambda answer: all(_gain(q) <= 0 for q in _GRID if q < answer[1] - 1e-9)),
        ),
        hints=(
            "What is recalled is B's two or a part of them, so begin with `b_holds`. What takes a row away from that?",
            "A row is lost only where A is trapped. `~` turns an array of True and False around, `&` asks for both.",
            "With drawn = draw(0.663, q, 0.4, 1 / 3), A alone finds drawn[0].mean(); compare referee_finds(*drawn).mean().",
        ),
    ),
}
