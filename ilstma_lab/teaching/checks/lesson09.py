"""Does the cache pay: break-even ratios, which topic stands out of Table 3, and what the order of the questions does."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

from ilstma_lab.evaluation.claims import questions
from ilstma_lab.evaluation.papers import TABLE_4, TABLES_2_AND_3
from ilstma_lab.evaluation.prefetching import replay_policy
from ilstma_lab.evaluation.timing import TimeModel
from ilstma_lab.evaluation.workload import Access, Workload, workload_of
from ilstma_lab.prefetch.policies import NextRows
from ilstma_lab.teaching.exercises import Exercise, Property, near

JUDGES = (0.3, 0.8, 1.5)  # seconds
HITS = 6
_TOPICS = [topic.topic for topic in TABLES_2_AND_3]


def _even(judge: float) -> float:
    return TimeModel(judge, TABLE_4["ILSTMA without prefetch"]).break_even


def _p_value(name: str) -> float:
    """Return the two-sided p of one topic's share in Table 3 against the share of the other four taken together."""
    topic = next(topic for topic in TABLES_2_AND_3 if topic.topic == name)
    hits = sum(one.questions * one.hit_percent / 100 for one in TABLES_2_AND_3)
    n, share = topic.questions, topic.hit_percent / 100
    rest, pooled = (hits - n * share) / (questions() - n), hits / questions()
    error = math.sqrt(pooled * (1 - pooled) * (1 / n + 1 / (questions() - n)))
    return math.erfc(abs(share - rest) / error / math.sqrt(2))


@lru_cache(maxsize=1)
def _travel() -> Workload:
    from ilstma_lab.evaluation.datasets import load_topic
    from ilstma_lab.models import offline
    from ilstma_lab.models.embedders import HashedEmbedder

    return workload_of(load_topic("travel"), models=offline(HashedEmbedder()))


def _asked(accesses: Iterable[Access]) -> list[str]:
    return sorted(access.question for access in accesses)


def _hits(accesses: Any) -> int:
    run = replay_policy(replace(_travel(), accesses=tuple(accesses)), NextRows(k=3))
    return sum(served.hit for served in run.demands)


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it holds three numbers", lambda ratios: len(ratios) == 3),
            Property("each is a share, not a percentage", lambda ratios: all(0 < ratio < 1 for ratio in ratios)),
            Property("a slower judge needs more hits", lambda ratios: ratios[0] < ratios[1] < ratios[2]),
            Property(
                "at each the cache takes as long as none",
                lambda ratios: all(near(one, _even(judge), tolerance=0.001) for one, judge in zip(ratios, JUDGES, strict=True)),
            ),
        ),
        hints=(
            "At the break-even the mean with the cache, J + (1 - h) F, equals F.",
            "Take F from both sides: J = h F.",
            "[judge / without for judge in (0.3, 0.8, 1.5)] or TimeModel(judge, without).break_even.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it returns a number between 0 and 1", lambda p_value: 0 <= p_value(TABLES_2_AND_3[0]) <= 1),
            *(
                Property(
                    f"for {topic.topic} it is right to two digits",
                    lambda p_value, topic=topic: near(p_value(topic), _p_value(topic.topic), tolerance=0.006),
                )
                for topic in TABLES_2_AND_3
            ),
        ),
        hints=(
            "All hits together: the sum of questions * hit_percent / 100. The other four have that less the topic's own.",
            "With the pooled share s the error of the difference is sqrt(s (1 - s) (1 / n + 1 / m)), with n and m questions.",
            "z is the difference of the two shares over that error; math.erfc(abs(z) / math.sqrt(2)) is the p.",
        ),
    ),
    "C": Exercise(
        properties=(
            Property(
                "it holds the accesses of travel",
                lambda accesses: len(accesses) > 0 and all(isinstance(one, Access) for one in accesses),
            ),
            Property("each question is asked once, as before", lambda accesses: _asked(accesses) == _asked(_travel().accesses)),
            Property(f"the next 3 rows hit {HITS} questions at least", lambda accesses: _hits(accesses) >= HITS),
        ),
        hints=(
            "The policy fetches the rows that come next in the conversation. Which order of asking would suit it?",
            "sorted(travel.accesses, key=...) with a key made of access.gold, a tuple of rows that is empty where none answers.",
            "Sort by the first gold row; tuples compare by their first item, so access.gold[:1] is a key.",
        ),
    ),
}
