"""When a cache pays: the mean time of a question from the times of its parts and the hit rate, and where a turn's time goes."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Literal, TypeVar

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.papers import MEAN_HIT_PERCENT, TABLE_4
from ilstma_lab.trace import STEP_NAMES, Turn

Rate = TypeVar("Rate")  # a float, or an array of them

BEFORE_ANSWER = (2, 6, 9)
"""The steps that ask a model while the user waits: judgement, reading, answer."""

_SECOND_CALL = "judge: answer"


@dataclass(frozen=True)
class TimeModel:
    """Mean seconds of a question at hit rate h, from those of its parts: J to judge, F for the full path, A for an answer.

    Every question is judged. With one call the judge's reply is the answer, so a hit costs J and a miss J + F:
    the mean is J + (1 - h)·F. With two calls the first only decides, so a hit costs J + A: J + h·A + (1 - h)·F.
    Without prefetch a question costs F, so prefetch pays above h = J / F, or J / (F - A) with two calls.

    `overlap`: recall, the F - A before the answer, begins with the judge. A miss then costs max(J, F - A) + A, and what a hit
    had recalled was read for nothing (`wasted_tokens`).

    Paper note: section 4.3.2 speaks of hits that skip the search, and not of misses that pay the judge too.

    >>> model = TimeModel(1.0, 4.0)
    >>> model.mean_seconds(0.5), model.break_even
    (3.0, 0.25)
    """

    judge_seconds: float
    full_seconds: float
    _: KW_ONLY
    answer_seconds: float | None = None
    judge_calls: Literal[1, 2] = 1
    overlap: bool = False

    def __post_init__(self) -> None:
        if self.judge_calls not in (1, 2):
            raise InputError(f"judge_calls must be 1 or 2 (got {self.judge_calls!r})")
        if self.answer_seconds is None and (self.overlap or self.judge_calls == 2):
            raise InputError("with two calls or with overlap, say how much of full_seconds is the answer: answer_seconds=...")
        if self.judge_seconds < 0 or self.full_seconds <= 0 or not 0 <= self._answer <= self.full_seconds:
            raise InputError("need judge_seconds >= 0, full_seconds > 0 and answer_seconds within it")

    @classmethod
    def from_means(cls, with_prefetch: float, without: float, *, hit_rate: float) -> TimeModel:
        """Return the one-call model that has these mean seconds with and without prefetch at `hit_rate`."""
        return cls(with_prefetch - (1 - hit_rate) * without, without)

    @classmethod
    def from_table4(cls) -> TimeModel:
        """Return the model that ILSTMA's Table 4 implies at the hit rate of its Table 3."""
        with_prefetch, without = TABLE_4["ILSTMA with prefetch"], TABLE_4["ILSTMA without prefetch"]
        return cls.from_means(with_prefetch, without, hit_rate=MEAN_HIT_PERCENT / 100)

    @property
    def _answer(self) -> float:
        return self.answer_seconds or 0.0

    @property
    def hit_seconds(self) -> float:
        """The seconds of a question that hits."""
        return self.judge_seconds + (self._answer if self.judge_calls == 2 else 0.0)

    @property
    def miss_seconds(self) -> float:
        """The seconds of a question that misses."""
        if self.overlap:
            return max(self.judge_seconds + self._answer, self.full_seconds)
        return self.judge_seconds + self.full_seconds

    @property
    def break_even(self) -> float:
        """The hit rate above which prefetch saves time; above 1 it never does, and inf where a hit costs no less than a miss."""
        if self.hit_seconds >= self.miss_seconds:
            return float("inf")
        return (self.miss_seconds - self.full_seconds) / (self.miss_seconds - self.hit_seconds)

    def mean_seconds(self, hit_rate: Rate) -> Rate:
        """Return the mean seconds of a question at `hit_rate`, a number in [0, 1] or an array of them."""
        return hit_rate * self.hit_seconds + (1 - hit_rate) * self.miss_seconds

    def saving(self, hit_rate: Rate) -> Rate:
        """Return the share of the time that prefetch saves at `hit_rate`; negative where it costs time."""
        return 1 - self.mean_seconds(hit_rate) / self.full_seconds

    def band(self, hit_rate: Band) -> Band:
        """Return the mean seconds with the band that the hit rate's own leaves; the parts' times are taken as exact."""
        low, high = sorted(self.mean_seconds(end) for end in (hit_rate.low, hit_rate.high))
        return Band(self.mean_seconds(hit_rate.mean), low, high)

    def overlapped(self) -> TimeModel:
        """Return the same parts with recall started while the judge thinks."""
        return replace(self, overlap=True)


def hit_seconds_if_misses_cost_full(with_prefetch: float, without: float, *, hit_rate: float) -> float:
    """Return what a hit must take for these means if a miss took no longer than without prefetch, as if judging were free."""
    return (with_prefetch - (1 - hit_rate) * without) / hit_rate


# -- what turns took --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepSeconds:
    """One step's mean seconds over the `n` turns that ran it: the models' calls, and the kit's own work."""

    number: int
    n: int
    calls: float
    own: float

    @property
    def name(self) -> str:
        """The step's name."""
        return STEP_NAMES[self.number]


def seconds_by_step(turns: Sequence[Turn], *, replayed: bool = False) -> list[StepSeconds]:
    """Return for each step that ran, by number, where its time went.

    A step's calls are part of its seconds. In turns that a cassette answered (`replayed`) they are not: the calls' seconds are
    those of the recording, and all that the step itself took was own work.
    """
    spent: dict[int, list[tuple[float, float]]] = {}
    for turn in turns:
        for number in sorted({step.number for step in turn.steps}):
            whole = sum(step.seconds for step in turn.steps if step.number == number)
            calls = call_seconds(turn, number)
            spent.setdefault(number, []).append((calls, whole if replayed else max(0.0, whole - calls)))
    return [
        StepSeconds(number, len(pairs), *(statistics.fmean(part) for part in zip(*pairs, strict=True)))
        for number, pairs in sorted(spent.items())
    ]


def call_seconds(turn: Turn, *steps: int) -> float:
    """Return the seconds of the turn's calls in `steps`."""
    return sum(call.seconds for step in steps for call in turn.calls.get(step, ()))


def model_seconds(turn: Turn) -> float:
    """Return the seconds of the turn's calls until its answer stood: judgement, reading, answer, one after the other."""
    return call_seconds(turn, *BEFORE_ANSWER)


def wasted_tokens(turns: Sequence[Turn]) -> int:
    """Return the tokens of recalls that were started with the judge, and that a hit did not need."""
    return sum(turn.tokens.get(6, 0) for turn in turns if turn.hit)


def time_model(prefetched: Sequence[Turn], full: Sequence[Turn]) -> TimeModel:
    """Return the times of the parts as these turns' calls took them: J where it was judged, F and A in the `full` turns.

    The same questions without prefetch give F: those that missed are not like all. Raises InputError where nothing was judged.
    """
    judgements = [turn.calls[2] for turn in prefetched if turn.calls.get(2)]
    if not judgements or not full:
        raise InputError("need turns with a judgement that asked a model, and the same questions without prefetch")
    deciding = [sum(call.seconds for call in calls if call.purpose != _SECOND_CALL) for calls in judgements]
    two_calls = any(call.purpose.startswith("judge: ") for calls in judgements for call in calls)
    return TimeModel(
        statistics.fmean(deciding),
        statistics.fmean(model_seconds(turn) for turn in full),
        answer_seconds=statistics.fmean(call_seconds(turn, 9) for turn in full),
        judge_calls=2 if two_calls else 1,
    )
