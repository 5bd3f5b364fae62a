"""Fit the curve to real memory: log loss by hand, intervals by item, a model that beats the fit, a decay that is lost."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from ilstma_lab.forgetting.data import load_forgetting
from ilstma_lab.forgetting.fitting import Fit, fit_recalls
from ilstma_lab.forgetting.recall_log import RecallLog
from ilstma_lab.forgetting.uncertainty import bootstrap_by_item, profile_interval
from ilstma_lab.teaching.exercises import Exercise, Property, near

_NAMES = ("first_days", "limit_days", "rate")
_PRICES = -np.log([0.9, 0.6, 0.8, 0.99, 0.05])  # what the five of exercise A cost
_FAR = {"first_days": 0.2, "limit_days": 1.5}  # how far a low end may lie from ours: draws differ
_QUANTILES = [0.025, 0.975]


@lru_cache(maxsize=1)
def _log() -> RecallLog:
    return RecallLog.of(load_forgetting("simulated_recall_log"))


@lru_cache(maxsize=1)
def _intervals() -> dict[str, np.ndarray]:
    found = bootstrap_by_item(_log(), fit_recalls(_log()), draws=200)
    return {name: np.quantile(values, _QUANTILES) for name, values in found.items()}


@lru_cache(maxsize=1)
def _fitted() -> np.ndarray:
    past, future = _log().split(0.6)
    return fit_recalls(past).predict(future.interval_days, future.recall_times)


def _gain(predicted: Any) -> np.ndarray:
    """Return what each later question costs more than under the fit; below 0 it costs less."""
    recalled = _log().split(0.6)[1].recalled
    cost = [-np.log(np.where(recalled, p, 1 - p)) for p in (np.asarray(predicted, dtype=np.float64), _fitted())]
    return cost[0] - cost[1]


def _band(predicted: Any) -> np.ndarray:
    items, owner = np.unique(_log().split(0.6)[1].item, return_inverse=True)
    chance = np.full(len(items), 1 / len(items))
    weight = np.random.default_rng(0).multinomial(len(items), chance, 1000)[:, owner]  # (draws, questions)
    return np.quantile(weight @ _gain(predicted) / weight.sum(axis=1), _QUANTILES)


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it is a positive number", lambda loss: float(loss) > 0),
            Property("it is a mean over the questions, not a sum", lambda loss: not near(loss, _PRICES.sum(), tolerance=0.01)),
            Property("its logarithm is the natural one", lambda loss: not near(loss, _PRICES.mean() / np.log(2), tolerance=0.01)),
            Property(
                "what did not come back is charged for the chance that it would not",
                lambda loss: near(loss, _PRICES.mean(), tolerance=0.002),
            ),
        ),
        hints=(
            "You pay for the probability that the model gave to what happened. What was that for the third question?",
            "np.where(came_back == 1, said, 1 - said) is the probability of what happened.",
            "Take minus the natural logarithm of each, np.log, and then the mean.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property(
                "it maps each of the three names to two numbers, the low end first",
                lambda found: (
                    isinstance(found, Mapping)
                    and set(found) == set(_NAMES)
                    and all(len(ends) == 2 and ends[0] < ends[1] for ends in found.values())
                ),
            ),
            Property(
                "each interval holds the fit to the whole log",
                lambda found: all(found[name][0] < value < found[name][1] for name, value in fit_recalls(_log()).values.items()),
            ),
            Property(
                "the low ends lie where a bootstrap of the whole log has them",
                lambda found: all(
                    near(float(found[name][0]), _intervals()[name][0], tolerance=far) for name, far in _FAR.items()
                ),
            ),
            Property(
                "S(∞) reaches up as far as 95 % of such draws of items make it reach",
                lambda found: -2 < found["limit_days"][1] - _intervals()["limit_days"][1] < 6,
            ),
        ),
        hints=(
            "fit_recalls(log) is the fit; log, not past.",
            "bootstrap_by_item(log, fit, draws=200) gives 200 values for each name.",
            "np.quantile(values, [0.025, 0.975]) are the ends of one interval.",
        ),
    ),
    "C": Exercise(
        properties=(
            Property(
                "it is a pair: predictions, and the band of the gain", lambda answer: len(answer) == 2 and len(answer[1]) == 2
            ),
            Property("there is one prediction for each later question", lambda answer: np.shape(answer[0]) == _fitted().shape),
            Property(
                "each is a probability, above 0 and below 1", lambda answer: bool(((answer[0] > 0) & (answer[0] < 1)).all())
            ),
            Property("its log loss is lower than that of the fit", lambda answer: _gain(answer[0]).mean() < 0),
            Property(
                "the band is that of this gain, with items drawn anew",
                lambda answer: np.allclose(answer[1], _band(answer[0]), atol=0.003),
            ),
            Property("the band excludes zero", lambda answer: max(answer[1]) < 0),
        ),
        hints=(
            "An item that surprised by coming back is stronger than the curve says: multiply its S by exp(pull * history).",
            "fit.curve[1].days(log.recall_times) is S of every row; only `pull` is new. That makes four numbers.",
            "Try many values of pull, and take the one with the lowest log loss on the rows of `early`, never on the others.",
            "p is np.exp(-log.interval_days / (S * np.exp(pull * history))) at the rows ~early.",
        ),
    ),
    "D": Exercise(
        properties=(
            Property("it is a fit of the family with a free decay", lambda fit: isinstance(fit, Fit) and "decay" in fit.values),
            Property(
                "in its log, items with equally many recalls wait equally long",
                lambda fit: len(np.unique(fit.observed.columns[1])) == len(np.unique(np.round(fit.observed.columns[0], 6))),
            ),
            Property(
                "nine of ten came back, at every number of recalls",
                lambda fit: bool((np.abs(fit.observed.seen - 0.9) < 0.02).all()),
            ),
            Property("the data do not tell its decay", lambda fit: not profile_interval(fit, "decay").identified),
        ),
        hints=(
            "fit_to wants one gap a row, in days. Which gap does the scheduler choose for a row with n recalls?",
            "Under this curve S is the days until 90 %: the scheduler waits S(n) days.",
            "SigmoidStrength().days(n) is the gap of each row.",
        ),
    ),
}
