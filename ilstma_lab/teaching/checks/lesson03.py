"""What forgetting data say: half-lives by two curves, a power law as a straight line, and a bump at one day."""

from __future__ import annotations

from typing import Any

import numpy as np

from ilstma_lab.forgetting.curve import RetentionCurve
from ilstma_lab.forgetting.data import load_forgetting
from ilstma_lab.forgetting.fitting import fit_savings
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.rivals import PowerRetention
from ilstma_lab.teaching.exercises import Exercise, Property, near

_CURVES = {"exponential": ExponentialRetention(), "power law": PowerRetention()}
_PEOPLE = ("ebbinghaus", "mack", "seitz", "dros")
_DAY = 3  # the row of one day


def _points() -> tuple[np.ndarray, np.ndarray]:
    table = load_forgetting("ebbinghaus_1885_time")
    return table["counted_minutes"] / 1440, table["savings_percent"] / 100


def _left(curve: RetentionCurve, days: float) -> float:
    """Return R after `days` by a curve fitted to the seven points."""
    return float(fit_savings(*_points(), curve=curve).predict(days))


def _line() -> tuple[float, float]:
    days, seen = _points()
    slope, height = np.polyfit(np.log(days), np.log(seen), 1)
    return float(np.exp(height)), float(-slope)


def _above(person: str) -> float:
    table = load_forgetting("murre_dros_2015_savings")
    fit = fit_savings(table["days"], table[person], curve=PowerRetention())
    return float(table[person][_DAY] - fit.predict(table["days"])[_DAY])


def _is_dict_of(*keys: str) -> Property:
    named = ", ".join(f'"{key}"' for key in keys)
    return Property(f"it is a dict with the keys {named}", lambda answer: isinstance(answer, dict) and set(answer) == set(keys))


def _half_left(name: str) -> Property:
    def holds(answer: dict[str, Any]) -> bool:
        return answer[name] > 0 and near(_left(_CURVES[name], float(answer[name])), 0.5, tolerance=0.005)

    return Property(f"by the {name} curve, R is a half after these days", holds)


EXERCISES = {
    "A": Exercise(
        properties=(_is_dict_of(*_CURVES), *map(_half_left, _CURVES)),
        hints=(
            "Both are less than an hour, and the unit is days.",
            "exp(-t / S) = .5 gives t = S · ln 2. The best S is in fits['exponential'].values['strength_days'].",
            "a · t^-b = .5 gives t^b = a / .5. Take the b-th root: raise it to the power 1 / b. a is 'scale', b is 'exponent'.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it holds two numbers", lambda answer: np.asarray(answer, dtype=float).shape == (2,)),
            Property("both are positive: the sign of b is in the formula", lambda answer: min(answer) > 0),
            Property(
                "b is the steepness of the line, to three digits", lambda ab: near(float(ab[1]), _line()[1], tolerance=0.001)
            ),
            Property("a is R after one day by the line", lambda ab: near(float(ab[0]), _line()[0], tolerance=0.001)),
        ),
        hints=(
            "np.polyfit(x, y, 1) returns the slope and the height of a straight line. Which are x and y here?",
            "x is np.log(days), y is np.log(seen). The slope is -b.",
            "The height is ln a, so a is np.exp of it.",
        ),
    ),
    "C": Exercise(
        properties=(
            _is_dict_of(*_PEOPLE),
            *(
                Property(
                    f"for {person} it is seen minus curve at 1 day, to three digits",
                    lambda above, person=person: near(float(above[person]), _above(person), tolerance=0.001),
                )
                for person in _PEOPLE
            ),
        ),
        hints=(
            "fit_savings(four['days'], four['dros'], curve=PowerRetention()) is the fit for Dros.",
            "fit.predict(four['days']) gives the curve at the seven times; the fourth of them is one day, at position 3.",
            "Subtract the curve from four[person] at position 3, for each person.",
        ),
    ),
}
