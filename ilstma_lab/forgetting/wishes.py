"""The sigmoid that meets wishes: strengths that one wants at certain recalls, solved for the constants of Eq. 2."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import exp, inf

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.strength import SigmoidStrength


def solve_sigmoid(wishes: Mapping[float, float], *, xi: float = -1.5, mu: float = 1.0) -> SigmoidStrength:
    """Return the sigmoid with S(n) = days for each n: days of `wishes`; `math.inf` as n means the limit.

    Two wishes give alpha and beta, linear in them at a given `xi` and `mu`. A third also gives xi, and `xi` is not looked at.
    Raises InputError for other numbers of wishes, and for wishes that no sigmoid of Eq. 2 meets; the message says why.

    Paper note: the text wants S(1) = 5 and S(5) = 25. That needs alpha = 40.199 and beta = -15.099. The printed 37 and -13.5 meet
    S(1) = 5 and S(inf) = 23.5 instead, and at the fifth recall 0.09 days are still missing from that limit: 23.41.

    >>> wished = solve_sigmoid({1: 5, 5: 25})
    >>> round(wished.alpha, 3), round(wished.beta, 3), round(wished.limit_days, 3)
    (40.199, -15.099, 25.099)
    >>> solve_sigmoid({1: 5, inf: 23.5})
    SigmoidStrength(alpha=37.0, beta=-13.5, xi=-1.5, mu=1.0)
    """
    points = sorted((float(n), float(days)) for n, days in wishes.items())
    _check(points)
    if len(points) == 3:
        xi = _steepness(points, mu)
    (first, low), (last, high) = points[0], points[-1]
    before, after = _fraction(first, xi, mu), _fraction(last, xi, mu)
    if after == before:
        raise InputError(f"at n = {first:g} and {last:g} this sigmoid has reached its limit already: lower mu or the size of xi")
    alpha = (high - low) / (after - before)
    return SigmoidStrength(alpha=alpha, beta=low - alpha * before, xi=xi, mu=mu)


def _fraction(n: float, xi: float, mu: float) -> float:
    """Return how much of alpha is there at n: between 0 and 1."""
    return 1.0 if n == inf else 1.0 / (1.0 + exp(min(xi * (n - mu), 700.0)))


def _check(points: list[tuple[float, float]]) -> None:
    problems = []
    if len(points) not in (2, 3):
        problems.append(f"give two wishes, or three (got {len(points)})")
    if any(n < 1 for n, _ in points):
        problems.append("recalls are counted from 1")
    if any(not 0 < days < inf for _, days in points):
        problems.append("each strength must be a positive number of days")
    if any(after <= before for (_, before), (_, after) in pairwise(points)):
        problems.append("strength must grow from each wish to the next")
    if problems:
        raise InputError("wishes: " + "; ".join(problems))


def _steepness(points: list[tuple[float, float]], mu: float) -> float:
    """Return the xi at which the middle wish lies as far between the others as it should."""
    from scipy.optimize import brentq

    (a, low), (b, middle), (c, high) = points
    wanted = (middle - low) / (high - low)

    def missing(size: float) -> float:
        start, there, end = (_fraction(n, -size, mu) for n in (a, b, c))
        return (there - start) / (end - start) - wanted

    sizes = np.geomspace(1e-3, 20.0, 200)
    gaps = np.array([missing(size) for size in sizes])
    crossing = np.flatnonzero(np.sign(gaps[:-1]) * np.sign(gaps[1:]) <= 0)
    if not crossing.size:
        shares = (gaps + wanted) * (high - low) + low
        raise InputError(
            f"wishes: with mu = {mu:g}, S({b:g}) lies between {shares.min():.3g} and {shares.max():.3g} days "
            f"for the other two wishes (got {middle:g})"
        )
    return -float(brentq(missing, sizes[crossing[0]], sizes[crossing[0] + 1], xtol=1e-12))
