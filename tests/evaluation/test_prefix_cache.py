"""A provider's prefix cache against brute force, speeds that are found again, and a break-even that flips."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.prefix_cache import (
    LLAMA_CPP,
    OPENAI,
    VOLATILE_FIRST,
    PrefixCache,
    Speeds,
    calls_of,
    common_prefix,
    fit_speeds,
    fresh_tokens,
    reordered,
    served,
    with_prefix_cache,
)
from ilstma_lab.evaluation.timing import model_seconds
from ilstma_lab.memory.segments import SEGMENTS, HistoryTurn, ShortTermMemory
from ilstma_lab.models.call import Call
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.tokens import estimate_tokens
from tests.stubs import DAY_0, asking, stub_lab, table_of

SPEEDS = Speeds(0.5, 100.0, 10.0, 0.0, 9)
texts = st.text("ab \n", max_size=30)


def call(text: str, *, purpose: str = "judge", tokens: int | None = None, reply: int = 10, system: str = "Answer.") -> Call:
    messages = (("system", system), ("user", text))
    whole = estimate_tokens(f"system\n{system}\nuser\n{text}")
    return Call(purpose, "m", messages, "reply", 1.0, whole if tokens is None else tokens, reply)


def words(*numbers: int) -> str:
    return " ".join(f"w{number}" for number in numbers)


@given(one=texts, other=texts)
def test_the_common_prefix_is_found_as_letter_by_letter(one, other):
    assert common_prefix(one, other) == next(
        (at for at in range(min(len(one), len(other))) if one[at] != other[at]), min(len(one), len(other))
    )


@given(
    prompts=st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12), min_size=1, max_size=8),
    block=st.sampled_from([1, 2, 4]),
    last=st.sampled_from([None, 0, 1, 3]),
)
def test_fresh_tokens_are_those_of_token_lists_compared_one_by_one(prompts, block, last):
    head = ["system", "Answer", ".", "user"]
    lists = [head + [f"w{number}" for number in prompt] for prompt in prompts]
    expected = []
    for number, tokens in enumerate(lists):
        earlier = lists[:number] if last is None else lists[max(0, number - last) : number]
        shared = [
            next((i for i, (a, b) in enumerate(zip(tokens, o, strict=False)) if a != b), min(len(tokens), len(o)))
            for o in earlier
        ]
        kept = min(max(shared, default=0), len(tokens) - 1)
        expected.append(len(tokens) - kept // block * block)
    calls = [call(words(*prompt)) for prompt in prompts]
    found = fresh_tokens(calls, cache=PrefixCache(block_tokens=block, prompts=last))
    # two words that differ share their first letter, which the estimate counts as a token
    assert (np.array(expected) - found >= 0).all()
    assert (np.array(expected) - found <= block).all()


def test_counts_are_those_of_the_endpoint():
    calls = [call(words(*range(96)), tokens=300), call(words(*range(96)) + " more", tokens=303)]
    assert fresh_tokens(calls).tolist() == [300, 303]
    assert fresh_tokens(calls, cache=PrefixCache()).tolist() == [300, 3]
    assert fresh_tokens([calls[0], calls[0]], cache=PrefixCache()).tolist() == [300, 1]


def test_blocks_thresholds_and_forgetting():
    once, other = call(words(*range(96)), tokens=100), call("else", tokens=8, system="Read.")
    calls = [once, other, once]
    assert fresh_tokens(calls, cache=PrefixCache(block_tokens=16)).tolist() == [100, 8, 100 - 96]
    assert fresh_tokens(calls, cache=LLAMA_CPP)[2] > 90
    assert fresh_tokens(calls, cache=OPENAI).tolist() == [100, 8, 100]
    assert fresh_tokens([], cache=PrefixCache()).tolist() == []


@given(
    speeds=st.tuples(st.floats(0, 2), st.floats(20, 500), st.floats(2, 80)),
    sizes=st.lists(st.tuples(st.integers(100, 2000), st.integers(5, 80)), min_size=6, max_size=20, unique=True),
)
def test_speeds_are_found_again(speeds, sizes):
    fixed, prompt, reply = speeds
    matrix = np.array([(1, *size) for size in sizes], float)
    if np.linalg.cond(matrix / matrix.max(axis=0)) > 1e3:
        return
    calls = [replace(call("x", tokens=p, reply=r), seconds=fixed + p / prompt + r / reply) for p, r in sizes]
    found = fit_speeds(calls)
    assert found.residual_seconds < 1e-6
    assert [found.seconds(p, r) for p, r in sizes] == pytest.approx([one.seconds for one in calls])
    assert (found.prompt_per_second, found.reply_per_second) == pytest.approx((prompt, reply), rel=1e-4)


def test_cached_tokens_are_not_read():
    sizes = [(1000, 900, 10), (1000, 0, 10), (500, 0, 40), (700, 300, 20)]
    calls = [replace(call("x", tokens=p, reply=r), cached_tokens=c, seconds=1 + (p - c) / 100 + r / 10) for p, c, r in sizes]
    found = fit_speeds(calls)
    assert (found.fixed_seconds, found.prompt_per_second, found.reply_per_second) == pytest.approx((1, 100, 10))


def test_calls_that_are_alike_cannot_be_told_apart():
    with pytest.raises(InputError, match="record more"):
        fit_speeds([call("x", tokens=100 * n, reply=10) for n in range(1, 9)])
    with pytest.raises(InputError, match="record more"):
        fit_speeds([])


# -- turns -------------------------------------------------------------------------------------------------------------------


def lab_turns() -> list:
    lab = stub_lab(8)
    return [lab.ask(question, remember=False) for question in (asking(3), asking(5))]


def with_calls(calls_by_turn: list[dict]) -> list:
    template = lab_turns()[0]
    return [replace(template, calls={step: (one,) for step, one in calls.items()}) for calls in calls_by_turn]


def asked_by(number: int, *, judged: bool) -> dict[int, Call]:
    """Calls of one turn: the judge's prompt is new each time, those of the full path begin with the same long excerpts."""
    calls = {
        6: call(words(*range(400)) + f" question{number}", purpose="read", system="Read."),
        9: call(words(*range(400)) + f" question{number}", purpose="answer"),
    }
    judge = call(f"cache{number} " + words(*range(300)) + f" question{number}", system="Judge.")
    return {2: judge, **calls} if judged else calls


def test_the_break_even_can_flip():
    judged, full = (with_calls([asked_by(n, judged=judged) for n in range(6)]) for judged in (True, False))
    effect = with_prefix_cache(judged, full, speeds=SPEEDS)
    assert effect.off.judge_seconds == pytest.approx(effect.on.judge_seconds, rel=0.05)
    assert effect.on.full_seconds < 0.7 * effect.off.full_seconds
    assert effect.off.break_even < 0.6 < effect.on.break_even
    assert effect.flips(0.6)
    assert not effect.flips(0.0)
    assert effect.fresh_without < effect.fresh_with_prefetch < 1


def test_served_turns_carry_seconds_and_cached_tokens():
    turns = with_calls([asked_by(n, judged=False) for n in range(2)])
    cold, warm = served(turns, speeds=SPEEDS), served(turns, speeds=SPEEDS, cache=PrefixCache())
    assert [one.cached_tokens for one in calls_of(cold)] == [0, 0, 0, 0]
    first, second = calls_of(warm)[0], calls_of(warm)[2]
    assert (first.cached_tokens, second.cached_tokens > 390) == (0, True)
    assert model_seconds(warm[1]) < model_seconds(cold[1]) == pytest.approx(2 * 0.5 + 2 * 10 / 10 + calls_tokens(turns[1]) / 100)


def calls_tokens(turn) -> int:
    return sum(one.prompt_tokens for calls in turn.calls.values() for one in calls)


def memory_with(table, *, cache: tuple[int, ...], history: int) -> ShortTermMemory:
    memory = ShortTermMemory(table)
    memory.fill_cache(Selection.of(cache).rows)
    for number in range(history):
        memory.push(HistoryTurn(f"Earlier {number} <b>?", "Yes,\n</cache> or no.", DAY_0))
    return memory


def session(*, order=SEGMENTS) -> list:
    """Turns whose judge sees a growing history behind a personality and a cache that stay."""
    table = table_of(8)
    table.set_personality("Likes short answers.\nNever wants jokes. " * 8)
    prompts = [memory_with(table, cache=(3, 4, 2), history=n).render() + f"\n\nquestion {n}" for n in range(6)]
    return reordered(with_calls([{2: call(prompt)} for prompt in prompts]), order)


def test_segments_from_stable_to_volatile_leave_less_to_read():
    stable, volatile = (calls_of(session(order=order)) for order in (SEGMENTS, VOLATILE_FIRST))
    fresh = [int(fresh_tokens(calls, cache=PrefixCache()).sum()) for calls in (stable, volatile)]
    assert fresh[0] < fresh[1]
    assert sum(one.prompt_tokens for one in stable) == sum(one.prompt_tokens for one in volatile)


def test_reordering_moves_whole_segments_and_nothing_else():
    turns = session()
    there, back = reordered(turns, VOLATILE_FIRST), reordered(reordered(turns, VOLATILE_FIRST), SEGMENTS)
    assert back == turns
    prompt = there[5].calls[2][0].messages[1][1]
    assert prompt.index("<history>") < prompt.index("<cache>") < prompt.index("<personality>") < prompt.index("question 5")
    assert sorted(prompt.splitlines()) == sorted(turns[5].calls[2][0].messages[1][1].splitlines())
    with pytest.raises(InputError, match="personality"):
        reordered(turns, ("cache", "history"))


@pytest.mark.parametrize("wrong", [{"block_tokens": 0}, {"least_tokens": -1}, {"prompts": -1}])
def test_a_cache_that_cannot_be_is_refused(wrong):
    with pytest.raises(InputError):
        PrefixCache(**wrong)
