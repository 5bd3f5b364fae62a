"""MemoryBank's forgetting: one value, a property test that is handed good and bad curves, and draws that do not multiply."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ilstma_lab.teaching.exercises import Exercise, Property, near

Curve = Callable[[Any, Any], Any]
Test = Callable[[Curve], Any]
Win = Callable[[float, float, float], float]

_R = math.exp(-4 / 3)
_PAIRS = 20
_TIMES = 3
"""How often a test is run on each curve: its draws are random."""


def _paper(t: Any, S: Any) -> Any:
    return np.exp(-np.asarray(t) / S)


def _five_times(t: Any, S: Any) -> Any:
    return np.exp(-np.asarray(t) / (5 * np.asarray(S)))


def _saturates(t: Any, S: Any) -> Any:
    return np.exp(-np.asarray(t) / (5 + 18.5 * np.tanh(0.75 * (np.asarray(S) - 1.0))))


def _inverted(t: Any, S: Any) -> Any:
    return np.exp(-np.asarray(t) / 5 * S)


def _turns_at_4(t: Any, S: Any) -> Any:
    return np.exp(-np.asarray(t) / np.where(np.asarray(S) <= 4, S, 16 / np.asarray(S)))


def _turns_after_3_days(t: Any, S: Any) -> Any:
    return np.where(np.asarray(t) <= 3, _paper(t, S), _inverted(t, S))


def _always(test: Test, curve: Curve, verdict: bool) -> bool:
    return all(bool(test(curve)) is verdict for _ in range(_TIMES))


def _pairs(test: Test) -> int:
    """Return at how many places a test looks, at a curve that never fails it."""
    seen = []

    def watched(t: Any, S: Any) -> Any:
        seen.append(np.broadcast(t, S).size)
        return _paper(t, S)

    test(watched)
    return sum(seen)


def _survives(win: Win, logins: Sequence[float], strength: float) -> float:
    return math.prod(float(win(t, before, strength)) for before, t in zip((0, *logins), logins, strict=False))


def _right_for_random_logins(win: Win) -> bool:
    draw = np.random.default_rng(12)
    for _ in range(100):
        logins = np.sort(draw.integers(0, 30, draw.integers(1, 8))).tolist()
        strength = float(draw.integers(1, 9))
        if not math.isclose(_survives(win, logins, strength), math.exp(-logins[-1] / strength), rel_tol=1e-9):
            return False
    return True


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it is a number", lambda value: near(float(value), 0, tolerance=1e6)),
            Property("it lies between 0 and 1", lambda value: 0 < value < 1),
            Property("it counts the days from the last recall", lambda value: value > math.exp(-9 / 3) + 0.01),
            Property("it knows both recalls, and that S is 1 at first", lambda value: near(float(value), _R, tolerance=0.005)),
        ),
        hints=(
            "Two numbers are needed: S after two recalls, and t since the last of them.",
            "S is 1 when the dialogue is stored, and each recall adds 1. t begins anew at each recall.",
            "S is 3 and t is 4 days.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it returns True or False", lambda test: isinstance(test(_paper), bool | np.bool_)),
            Property("it passes the paper's curve, whatever it draws", lambda test: _always(test, _paper, True)),
            Property("it passes a curve that is five times slower", lambda test: _always(test, _five_times, True)),
            Property("it passes a curve whose S levels off", lambda test: _always(test, _saturates, True)),
            Property(f"it looks at {_PAIRS} places or more", lambda test: _pairs(test) >= _PAIRS),
            Property("it fails a curve in which every recall speeds forgetting up", lambda test: _always(test, _inverted, False)),
            Property("it fails a curve that turns only beyond S = 4", lambda test: _always(test, _turns_at_4, False)),
            Property("it fails a curve that turns only after three days", lambda test: _always(test, _turns_after_3_days, False)),
        ),
        hints=(
            "Take two pieces with the same t, one with a recall more than the other. Which R must not be smaller?",
            "t = random.uniform(0, 30, 100) and S = random.integers(1, 10, 100); then compare R(t, S + 1) with R(t, S).",
            "holds = bool((R(t, S + 1) >= R(t, S)).all()): at least as well, for at t = 0 both are 1.",
        ),
    ),
    "C": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it returns a chance", lambda win: all(0 <= float(win(t, 1, 2)) <= 1 for t in (1, 2, 9))),
            Property("at the first login it is R", lambda win: near(float(win(4, 0, 2)), math.exp(-2), tolerance=1e-9)),
            Property("a second login on the same day changes nothing", lambda win: near(float(win(4, 4, 2)), 1, tolerance=1e-9)),
            Property(
                "five logins on five days leave exp(-5) at S = 1",
                lambda win: math.isclose(_survives(win, (1, 2, 3, 4, 5), 1.0), math.exp(-5), rel_tol=1e-9),
            ),
            Property("it is right for 100 random orders of logins", _right_for_random_logins),
        ),
        hints=(
            "It has won at `before`, so it was there then. What is the chance to be there at t, given that?",
            "Divide: R at t by R at `before`.",
            "exp(-t / S) / exp(-before / S) is exp(-(t - before) / S): only the days since the last login count.",
        ),
    ),
}
