"""Memory strength: when a quarter is left, Eq. 2 in three wishes, other constants, and what Ebbinghaus' relearning says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ilstma_lab.forgetting.data import load_forgetting
from ilstma_lab.forgetting.fitting import fit_strength
from ilstma_lab.forgetting.savings import daily_strength
from ilstma_lab.forgetting.strength import LinearStrength, SigmoidStrength
from ilstma_lab.teaching.exercises import Exercise, Property, near

_PAPER = SigmoidStrength()
_RECALLS = np.arange(1, 6)
_SIZES = (12, 24, 36)
_PAPERS_WISHES, _OTHER_WISHES = (5.0, 23.5, 1.5), (2.0, 60.0, 0.4)  # S(1), S(inf), rate


def _left(days: Any) -> np.ndarray:
    """Return R of the paper at n = 1, 2, 5 after the given days."""
    return np.exp(-np.asarray(days, dtype=float) / _PAPER.days([1, 2, 5]))


def _agrees(strength: Callable[..., Any], wishes: tuple[float, float, float]) -> bool:
    n, (first, limit, rate) = np.arange(1, 9), wishes
    truth = SigmoidStrength.from_limits(first_days=first, limit_days=limit, rate=rate).days(n)
    return np.allclose(strength(n, *wishes), truth, atol=1e-6)


def _line_explains(size: int) -> float:
    daily = load_forgetting("ebbinghaus_1885_daily")
    days = daily_strength(daily["repetitions"][daily["syllables"] == size])
    return fit_strength(_RECALLS, days, curve=LinearStrength()).r2


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it holds three numbers", lambda days: np.asarray(days, dtype=float).shape == (3,)),
            Property("each is a positive number of days", lambda days: all(value > 0 for value in days)),
            Property("more recalls, more days", lambda days: days[0] < days[1] < days[2]),
            Property("after these days R is a quarter", lambda days: np.allclose(_left(days), 0.25, atol=0.0025)),
        ),
        hints=(
            "R = exp(-t / S) with R = .25: solve it for t.",
            "Take the logarithm of both sides: ln .25 = -t / S, and -ln .25 is ln 4.",
            "paper.days([1, 2, 5]) gives the three strengths; the days you want are the same multiple of each.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it returns something in place of the dots", lambda f: f(1, *_PAPERS_WISHES) not in (..., None)),
            Property("at n = 1 it gives first_days", lambda f: near(float(f(1, *_OTHER_WISHES)), 2.0, tolerance=1e-6)),
            Property("far out it gives limit_days", lambda f: near(float(f(200, *_OTHER_WISHES)), 60.0, tolerance=1e-6)),
            Property("it takes an array", lambda f: np.shape(f(_RECALLS, *_PAPERS_WISHES)) == (5,)),
            Property("with 5, 23.5 and 1.5 it is the paper's curve", lambda f: _agrees(f, _PAPERS_WISHES)),
            Property("it is right for other wishes as well", lambda f: _agrees(f, _OTHER_WISHES)),
        ),
        hints=(
            "Begin with the fraction: the logistic function of rate * (n - 1). It is 1/2 at n = 1, and 1 far out.",
            "From the section on knobs: alpha = 2 * (limit_days - first_days), and beta = limit_days - alpha.",
            "Return beta + alpha * fraction. Use np.exp, so that arrays work.",
        ),
    ),
    "C": Exercise(
        properties=(
            Property("it is a SigmoidStrength", lambda other: isinstance(other, SigmoidStrength)),
            Property("its mu is 0.5", lambda other: near(other.mu, 0.5, tolerance=1e-9)),
            Property(
                "S(1) to S(5) lie within half a day of the paper's",
                lambda other: bool(np.abs(other.days(_RECALLS) - _PAPER.days(_RECALLS)).max() <= 0.5),
            ),
            Property(
                "its alpha and beta are more than 5 days away from the paper's",
                lambda other: min(abs(other.alpha - _PAPER.alpha), abs(other.beta - _PAPER.beta)) > 5,
            ),
        ),
        hints=(
            "A curve that meets the paper's at n = 1, 2 and 5 cannot be far from it in between.",
            "float(paper.days(2)) is the paper's S(2), which can be a wish.",
            "Give solve_sigmoid the three strengths of the paper at n = 1, 2 and 5 as wishes, and mu=0.5.",
        ),
    ),
    "D": Exercise(
        properties=(
            Property("it is a dict with the keys 12, 24 and 36", lambda r2: isinstance(r2, dict) and set(r2) == set(_SIZES)),
            Property("each value is a share, at most 1", lambda r2: all(value <= 1 for value in r2.values())),
            *(
                Property(
                    f"for lists of {size} it is what a line explains, to two digits",
                    lambda r2, size=size: near(r2[size], _line_explains(size), tolerance=0.005),
                )
                for size in _SIZES
            ),
        ),
        hints=(
            "daily_strength(work[24]) gives S(1) to S(5) for lists of 24 syllables.",
            "fit_strength(n, daily_strength(work[24]), curve=LinearStrength()).r2 is the value for 24.",
            "Do the same for 12 and 36: a dict comprehension over `work` does it in one line.",
        ),
    ),
}
