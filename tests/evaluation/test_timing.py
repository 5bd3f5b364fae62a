"""The time model against the papers' figures and a simulation, and what printed shares can mean."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.claims import (
    half_width,
    mean_over_questions,
    mean_over_topics,
    printed_share,
    questions,
    unpaired_difference,
)
from ilstma_lab.evaluation.papers import MEAN_HIT_PERCENT, SAVING_PERCENT, TABLE_4, TABLE_5, TABLES_2_AND_3
from ilstma_lab.evaluation.timing import (
    TimeModel,
    hit_seconds_if_misses_cost_full,
    model_seconds,
    seconds_by_step,
    time_model,
)
from ilstma_lab.models.call import Call
from ilstma_lab.retrieval.recall import Reading
from ilstma_lab.trace import Verdict
from tests.stubs import StubJudge, StubReader, asking, stub_lab

seconds = st.floats(0.01, 20)
rates = st.floats(0, 1)


@st.composite
def models(draw) -> TimeModel:
    full = draw(seconds)
    answer = full * draw(st.floats(0, 1))
    judge_calls = draw(st.sampled_from([1, 2]))
    return TimeModel(draw(seconds), full, answer_seconds=answer, judge_calls=judge_calls, overlap=draw(st.booleans()))


# -- the papers' figures ---------------------------------------------------------------------------------------------------


def test_table_4_taken_apart():
    model = TimeModel.from_table4()
    assert round(model.judge_seconds, 2) == 0.72
    assert round(100 * model.break_even, 1) == 13.9
    assert model.mean_seconds(MEAN_HIT_PERCENT / 100) == pytest.approx(TABLE_4["ILSTMA with prefetch"])
    assert round(100 * model.saving(MEAN_HIT_PERCENT / 100), 2) == 21.47 != SAVING_PERCENT == 21.45


def test_table_4_if_judging_were_free_a_hit_took_two_seconds():
    means = TABLE_4["ILSTMA with prefetch"], TABLE_4["ILSTMA without prefetch"]
    assert round(hit_seconds_if_misses_cost_full(*means, hit_rate=MEAN_HIT_PERCENT / 100), 2) == 2.03


def test_table_3_four_of_five_percentages_cannot_arise_from_table_2():
    assert [share.topic.topic for share in map(printed_share, TABLES_2_AND_3) if share.possible] == ["poetry"]


@pytest.mark.parametrize("topic", TABLES_2_AND_3, ids=lambda topic: topic.topic)
def test_possible_percentages_are_those_of_every_count_of_hits(topic):
    cases = 10 * topic.questions
    every = {round(100 * hits / cases, 2) for hits in range(cases + 1)}
    share = printed_share(topic)
    assert {share.below, share.above} <= every
    assert share.possible == (topic.hit_percent in every)
    assert not [percent for percent in every if share.below < percent < share.above]


def test_table_3_means_and_band():
    assert questions() == 259
    assert round(mean_over_topics(), 2) == MEAN_HIT_PERCENT == 35.35
    assert round(mean_over_questions(), 2) == 35.07
    assert round(100 * half_width(MEAN_HIT_PERCENT / 100, 259), 1) == 5.8


def test_table_5_gaps_are_not_settled():
    ours, _, scm, *_ = TABLE_5
    answer = unpaired_difference(ours.answer, scm.answer, n=questions())
    retrieve = unpaired_difference(ours.retrieve, scm.retrieve, n=questions())
    assert [round(number, 3) for number in answer + retrieve] == [0.035, 0.059, 0.004, 0.042]


def test_the_half_width_is_that_of_a_simulation():
    share, n = 0.35, 259
    drawn = np.random.default_rng(0).binomial(n, share, 40_000) / n
    assert half_width(share, n) == pytest.approx(1.96 * drawn.std(), rel=0.02)


# -- the model ---------------------------------------------------------------------------------------------------------------


@given(model=models(), hits=st.lists(st.booleans(), min_size=1, max_size=30))
def test_the_mean_is_that_of_questions_one_by_one(model, hits):
    judge, full, answer = model.judge_seconds, model.full_seconds, model.answer_seconds
    taken = []
    for hit in hits:
        if hit:
            taken.append(judge + (answer if model.judge_calls == 2 else 0))
        elif model.overlap:
            taken.append(max(judge, full - answer) + answer)
        else:
            taken.append(judge + full)
    assert model.mean_seconds(sum(hits) / len(hits)) == pytest.approx(sum(taken) / len(taken))


@given(model=models(), rate=rates)
def test_prefetch_saves_exactly_above_break_even(model, rate):
    assert model.break_even >= 0
    if math.isfinite(model.break_even) and abs(rate - model.break_even) > 1e-6:
        assert (model.mean_seconds(rate) < model.full_seconds) == (rate > model.break_even)
    if math.isinf(model.break_even):
        assert model.mean_seconds(rate) >= model.full_seconds * (1 - 1e-9)


@given(judge=seconds, full=seconds, share=st.floats(0, 0.99), rate=rates)
def test_break_even_with_one_call_and_with_two(judge, full, share, rate):
    answer = share * full
    assert TimeModel(judge, full).break_even == pytest.approx(judge / full)
    assert TimeModel(judge, full, answer_seconds=answer, judge_calls=2).break_even == pytest.approx(judge / (full - answer))


@given(model=models(), rate=rates)
def test_overlapping_never_takes_longer_and_saves_the_shorter_of_judge_and_recall_on_a_miss(model, rate):
    before = TimeModel(
        model.judge_seconds, model.full_seconds, answer_seconds=model.answer_seconds, judge_calls=model.judge_calls
    )
    after = before.overlapped()
    saved = (1 - rate) * min(before.judge_seconds, before.full_seconds - before.answer_seconds)
    assert before.mean_seconds(rate) - after.mean_seconds(rate) == pytest.approx(saved, abs=1e-9)


def test_overlapped_with_a_judge_faster_than_recall_pays_from_the_first_hit():
    assert TimeModel(0.3, 1.0, answer_seconds=0.5, overlap=True).break_even == 0


def test_a_band_of_hits_becomes_a_band_of_seconds():
    band = TimeModel(1.0, 4.0).band(Band(0.35, 0.25, 0.5))
    assert (band.mean, band.low, band.high) == pytest.approx((3.6, 3.0, 4.0))


def test_an_array_of_rates_gives_an_array():
    assert TimeModel(1.0, 4.0).mean_seconds(np.array([0.0, 1.0])).tolist() == [5.0, 1.0]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: TimeModel(1.0, 4.0, judge_calls=2),
        lambda: TimeModel(1.0, 4.0, overlap=True),
        lambda: TimeModel(1.0, 4.0, judge_calls=3),
        lambda: TimeModel(1.0, 4.0, answer_seconds=5.0),
        lambda: TimeModel(-1.0, 4.0),
        lambda: TimeModel(1.0, 0.0),
        lambda: half_width(1.2, 10),
        lambda: half_width(0.5, 0),
    ],
)
def test_what_makes_no_sense_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()


# -- turns -------------------------------------------------------------------------------------------------------------------


def call(purpose: str, taken: float) -> Call:
    return Call(purpose, "m", (("user", purpose),), "reply", taken, 100, 10)


def two_labs():
    """Turns of a lab that judges (a hit at "Again?") and of one that does not, with calls of known seconds."""
    judging = StubJudge(
        {"Again?": Verdict(True, "Yes.", (3,), calls=(call("judge", 3.0),))}, default=Verdict(False, calls=(call("judge", 1.0),))
    )
    reader = StubReader(default=Reading(None, calls=(call("read", 4.0),)))
    labs = [stub_lab(8, judge=judge, reader=reader) for judge in (judging, StubJudge())]
    return [[lab.ask(question, remember=False) for question in (asking(3), "Again?", asking(5))] for lab in labs]


def test_the_parts_of_recorded_turns():
    prefetched, full = two_labs()
    assert [turn.hit for turn in prefetched] == [False, True, False]
    assert [model_seconds(turn) for turn in prefetched] == [4.0, 3.0, 5.0]
    assert time_model(prefetched, full) == TimeModel(2.0, 4.0, answer_seconds=0.0)
    with pytest.raises(InputError, match="judgement"):
        time_model(full, full)


def test_seconds_by_step_keep_calls_and_own_work_apart():
    prefetched, _ = two_labs()
    steps = {step.number: step for step in seconds_by_step(prefetched, replayed=True)}
    assert {number: (step.n, step.calls) for number, step in steps.items() if step.calls} == {2: (3, 4 / 3), 6: (2, 4.0)}
    assert (steps[3].n, steps[3].name) == (1, "Keep")
    own = [step.seconds for turn in prefetched for step in turn.steps if step.number == 2]
    assert steps[2].own == pytest.approx(sum(own) / 3)
    live = {step.number: step.own for step in seconds_by_step(prefetched)}
    assert live[6] == 0.0  # its calls say that they took longer than the step
    assert live[3] == steps[3].own > 0
