"""What a printed share can mean: which percentages n questions can give, and how far chance moves them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.papers import RUNS, TABLES_2_AND_3, PaperTopic

_Z = 1.959964
"""Two sides of a normal distribution hold 95 % within so many standard deviations."""


@dataclass(frozen=True, slots=True)
class PrintedShare:
    """A printed percentage beside those that `runs` measurements of `questions` questions can give, two digits each."""

    topic: PaperTopic
    runs: int
    below: float
    above: float

    @property
    def possible(self) -> bool:
        """Whether the printed percentage is one of them."""
        return self.topic.hit_percent in (self.below, self.above)


def printed_share(topic: PaperTopic, *, runs: int = RUNS) -> PrintedShare:
    """Return the nearest percentages, below and above the printed one, that the topic's questions can give.

    A question hits or misses, so the mean of `runs` measurements is a multiple of 1 / (runs · questions).

    >>> printed_share(TABLES_2_AND_3[0])  # legal: 213 or 214 hits of 570
    PrintedShare(topic=PaperTopic(topic='legal', ...), runs=10, below=37.37, above=37.54)
    """
    cases = runs * topic.questions
    hits = math.floor(topic.hit_percent / 100 * cases)
    each = [round(100 * number / cases, 2) for number in (hits, hits + 1)]
    return PrintedShare(topic, runs, *each)


def half_width(share: float, n: int) -> float:
    """Return half the width of the 95 % band of a share measured on `n` independent questions (normal approximation).

    >>> round(half_width(0.3535, 259), 3)
    0.058
    """
    if not 0 <= share <= 1 or n < 1:
        raise InputError(f"need a share in [0, 1] and n >= 1 (got {share}, {n})")
    return _Z * math.sqrt(share * (1 - share) / n)


def unpaired_difference(one: float, other: float, *, n: int) -> tuple[float, float]:
    """Return `one` less `other` and half the width of its 95 % band, each share measured on `n` questions of its own.

    A band that holds 0 leaves open which is higher. Shares of one set of questions, question by question, give a narrower band:
    the papers print none, so theirs can only be compared as if unpaired.

    >>> [round(number, 3) for number in unpaired_difference(0.884, 0.849, n=259)]
    [0.035, 0.059]
    """
    return one - other, math.hypot(half_width(one, n), half_width(other, n))


def mean_over_topics() -> float:
    """Return the mean of Table 3's percentages, each topic counted once."""
    return sum(topic.hit_percent for topic in TABLES_2_AND_3) / len(TABLES_2_AND_3)


def mean_over_questions() -> float:
    """Return the mean of Table 3's percentages, each question counted once."""
    return sum(topic.hit_percent * topic.questions for topic in TABLES_2_AND_3) / questions()


def questions() -> int:
    """Return how many recall questions Table 2 counts."""
    return sum(topic.questions for topic in TABLES_2_AND_3)
