"""The prefetch score: one sum, the choice within a window, and a weight tested on topics that did not choose it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ilstma_lab.evaluation.datasets import load_dataset
from ilstma_lab.evaluation.prefetching import replay_policy
from ilstma_lab.evaluation.workload import workload_of
from ilstma_lab.forgetting.strength import SigmoidStrength
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.teaching.exercises import Exercise, Property, near

_WEIGHTS = (0, 0.1, 0.25, 0.5, 1, 2, 4)
_CHOOSE, _TEST = ("legal", "love", "travel"), ("poetry", "jewelry")
_SCORE = math.exp(-4 / float(SigmoidStrength().days(2))) + float(PlaceTerm().of(np.array(2)))

Choice = Callable[[Any, int, int, int], Sequence[int]]


class _Watched:
    """Scores that note which rows are looked at."""

    def __init__(self, scores: Sequence[float]):
        self._scores, self.seen = scores, set()

    def __len__(self) -> int:
        return len(self._scores)

    def __getitem__(self, which: int | slice | Sequence[int]) -> Any:
        rows = np.arange(len(self))[which]
        self.seen |= set(np.atleast_1d(rows).tolist())
        return np.asarray(self._scores)[which]


def _rows(choose: Choice, scores: Sequence[float], at: int, offset: int, k: int) -> list[int]:
    return [int(row) for row in choose(np.asarray(scores, float), at, offset, k)]


def _right(scores: np.ndarray, at: int, offset: int, k: int) -> list[int]:
    window = [row for row in range(len(scores)) if abs(row - at) <= offset]
    return sorted(window, key=lambda row: (-scores[row], abs(row - at), -row))[:k]


def _agrees(choose: Choice) -> bool:
    draw = np.random.default_rng(5)
    for _ in range(200):
        size = int(draw.integers(1, 30))
        scores = draw.integers(0, 4, size) / 2  # few values, many ties
        at, offset = int(draw.integers(size)), int(draw.integers(0, 12))
        k = int(draw.integers(1, 9))
        if _rows(choose, scores, at, offset, k) != _right(scores, at, offset, k):
            return False
    return True


def _looks_only_inside(choose: Choice) -> bool:
    scores = _Watched(np.linspace(0, 1, 1_000))
    choose(scores, 500, 4, 3)
    return scores.seen <= set(range(496, 505))


@lru_cache(maxsize=1)
def _hits() -> dict[float, dict[str, int]]:
    """Return for each weight how many questions of each topic hit, with offset 10 and k = 3."""
    models = offline(HashedEmbedder(dim=64))
    workloads = [workload_of(topic, models=models) for topic in load_dataset("ilstma5")]
    settings = {weight: WindowPrefetch(offset=10, place=PlaceTerm(weight=weight)) for weight in _WEIGHTS}
    return {
        weight: {one.name: sum(served.hit for served in replay_policy(one, setting).demands) for one in workloads}
        for weight, setting in settings.items()
    }


def _on(weight: float, topics: Sequence[str]) -> int:
    return sum(_hits()[weight][topic] for topic in topics)


def _pair(answer: Any) -> bool:
    return isinstance(answer, tuple | list) and len(answer) == 2 and all(near(value, 0, tolerance=1e6) for value in answer)


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it is a number", lambda score: near(float(score), 0, tolerance=1e6)),
            Property("it lies between 0 and 2", lambda score: 0 < score < 2),
            Property("it is more than time alone", lambda score: score > math.exp(-4 / 16.75)),
            Property("time and place are both right, to two digits", lambda score: near(float(score), _SCORE, tolerance=0.005)),
        ),
        hints=(
            "Two parts: time is exp(-t / S), place is one minus a share of a right angle.",
            "t is 4 days and S is 16.75 days. For place use np.arctan(2), which is in radians.",
            "Place is 1 - (2 / np.pi) * np.arctan(2), about .295. Add the time part.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it returns something in place of the dots", lambda f: f(np.ones(5), 2, 1, 1) not in (..., None)),
            Property("it returns k rows", lambda f: len(_rows(f, range(20), 9, 5, 4)) == 4),
            Property("all lie within the window", lambda f: all(abs(row - 9) <= 5 for row in _rows(f, range(20), 9, 5, 4))),
            Property("the best comes first", lambda f: _rows(f, [0, 3, 9, 5, 1], 2, 2, 3) == [2, 3, 1]),
            Property("near the beginning it keeps to the table", lambda f: set(_rows(f, np.ones(20), 1, 5, 7)) == set(range(7))),
            Property("near the end it keeps to the table", lambda f: set(_rows(f, np.ones(20), 18, 5, 7)) == set(range(13, 20))),
            Property("ties go to the nearer row, then to the later", lambda f: _rows(f, np.ones(9), 4, 4, 4) == [4, 5, 3, 6]),
            Property("it is right for 200 random tables", _agrees),
            Property("of 1,000 rows it looks at the window alone", _looks_only_inside),
        ),
        hints=(
            "First the rows: range(first, last + 1), where neither end leaves the table.",
            "max(0, at - offset) and min(len(scores), at + offset + 1) are the ends of that range.",
            "sorted(rows, key=...) with a tuple as key: minus the score, then the distance, then minus the row.",
        ),
    ),
    "C": Exercise(
        properties=(
            Property("it is a pair of numbers", _pair),
            Property("the weight is one of the seven", lambda answer: float(answer[0]) in _WEIGHTS),
            Property(
                "no weight hits more on the three topics that choose",
                lambda answer: _on(answer[0], _CHOOSE) == max(_on(weight, _CHOOSE) for weight in _WEIGHTS),
            ),
            Property(
                "no smaller weight hits as much",
                lambda answer: all(_on(weight, _CHOOSE) < _on(answer[0], _CHOOSE) for weight in _WEIGHTS if weight < answer[0]),
            ),
            Property("the hits are those of the other two topics", lambda answer: answer[1] == _on(answer[0], _TEST)),
        ),
        hints=(
            'table_of_hits[["legal", "love", "travel"]] has the three columns that may choose; sum them along axis=1.',
            ".idxmax() gives the label, here the weight, of the largest sum, and of equals the first.",
            'table_of_hits.loc[weight, ["poetry", "jewelry"]].sum() counts the hits on the topics that had no say.',
        ),
    ),
}
