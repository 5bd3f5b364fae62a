"""Recall logs: columns, what counts as not recalled, the split by time, and simulated ones."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.data import load_forgetting
from ilstma_lab.forgetting.recall_log import RecallLog, log_of
from ilstma_lab.forgetting.simulation import simulate_log
from ilstma_lab.forgetting.strength import SigmoidStrength
from ilstma_lab.trace import Verdict
from tests.stubs import StubJudge, asking, stub_lab

logs = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 30), st.sampled_from([0.5, 1.0, 3.0]), st.integers(1, 4), st.booleans()),
    max_size=40,
).map(lambda rows: RecallLog(*(np.array(column) for column in zip(*rows, strict=True)) if rows else np.empty((5, 0))))


def test_all_that_is_wrong_is_told_at_once():
    with pytest.raises(InputError, match="one length; interval_days must be >= 0; recall_times must be >= 1; recalled must be"):
        RecallLog([1, 2], [0.0], [-1.0], [0], [2])


def test_a_missing_column_is_named():
    with pytest.raises(InputError, match="missing: recalled"):
        RecallLog.of({"item": [1], "at_days": [1], "interval_days": [1], "recall_times": [1]})


def test_frames_both_ways():
    log = simulate_log(items=3, seed=1)
    again = RecallLog.of(log.to_frame())
    assert again.to_frame().equals(log.to_frame())


@given(log=logs)
def test_cells_count_every_question_once(log):
    interval, times, asked, recalled = log.cells()
    pairs = list(zip(log.interval_days.tolist(), log.recall_times.tolist(), strict=True))
    found = dict(zip(zip(interval.tolist(), times.tolist(), strict=True), zip(asked, recalled, strict=True), strict=True))
    hits = Counter(pair for pair, back in zip(pairs, log.recalled, strict=True) if back)
    assert found == {pair: (count, hits[pair]) for pair, count in Counter(pairs).items()}


@given(log=logs)
def test_lapses_count_the_earlier_misses_of_the_item(log):
    before = defaultdict(int)
    slow = np.zeros(len(log), int)
    for row in np.lexsort((log.at_days, log.item)):
        slow[row] = before[log.item[row]]
        before[log.item[row]] += not log.recalled[row]
    assert log.lapses.tolist() == slow.tolist()


@given(log=logs, share=st.floats(0.05, 0.95))
def test_the_split_lets_no_future_into_the_past(log, share):
    past, future = log.split(share)
    assert len(past) + len(future) == len(log)
    assert not len(future) or past.at_days.max() < future.at_days.min()
    assert len(past) >= share * len(log)


# -- our own log ---------------------------------------------------------------------------------------------------------


def test_a_cached_row_that_is_not_used_was_not_recalled():
    judge = StubJudge({asking(3): Verdict(True, "noted", used=(3,)), "again 3": Verdict(True, "noted", used=(3,))})
    lab = stub_lab(8, judge=judge)
    lab.ask(asking(3))  # a miss, which fills the cache around row 3
    cached = [row.index for row in lab.memory.cache]
    assert 3 in cached
    assert len(log_of(lab.turns)) == 0
    lab.clock.advance(days=2)
    lab.ask(asking(3))  # a hit that uses row 3 alone
    log = log_of(lab.turns)
    assert sorted(log.item) == sorted(cached)
    assert log.item[log.recalled].tolist() == [3]
    assert log.interval_days[log.item == 3] == pytest.approx([2.0])
    assert log.recall_times[log.item == 3].tolist() == [2]
    assert (log.recall_times[log.item != 3] <= 2).all()


def test_recalls_that_wait_in_the_deferred_write_count_at_once():
    judge = StubJudge({f"{n}th": Verdict(True, "noted", used=(3,)) for n in range(4)})
    lab = stub_lab(8, judge=judge)
    lab.ask(asking(3))
    for n in range(4):
        lab.clock.advance(days=1)
        lab.ask(f"{n}th")
    log = log_of(lab.turns)
    ours = log.item == 3
    assert log.recalled[ours].all()
    assert log.recall_times[ours].tolist() == [2, 3, 4, 5]
    assert log.interval_days[ours] == pytest.approx([1, 1, 1, 1])
    lab.clock.advance(days=1)
    lab.ask(asking(3))  # a miss writes what waited
    assert lab.table[3].recall_times == 7


def test_no_turns_give_an_empty_log():
    assert len(log_of([])) == 0
    assert log_of([]).recalled.dtype == bool


# -- simulated logs ------------------------------------------------------------------------------------------------------


def test_a_simulated_log_keeps_its_design():
    log = simulate_log(items=300, questions=5, gaps_days=(1, 4), seed=7)
    assert len(log) == 1500
    assert set(log.interval_days) == {1.0, 4.0}
    for item in range(20):
        own = log.where(log.item == item)
        assert own.at_days.tolist() == np.cumsum(own.interval_days).tolist()
        assert own.recall_times.tolist() == (1 + np.cumsum(own.recalled) - own.recalled).tolist()


def test_recall_is_as_frequent_as_eq_3_says():
    log = simulate_log(items=20_000, questions=3, gaps_days=(3.0,), seed=11)
    for n in (1, 2, 3):
        asked = log.recall_times == n
        expected = np.exp(-3 / SigmoidStrength().days(n))
        assert log.recalled[asked].mean() == pytest.approx(expected, abs=4 * np.sqrt(0.25 / asked.sum()))


def test_the_bundled_log_is_the_simulation_that_it_says():
    bundled = RecallLog.of(load_forgetting("simulated_recall_log"))
    drawn = simulate_log(items=200, questions=8, spread=0.4, seed=1885)
    assert bundled.to_frame().equals(drawn.to_frame())


@pytest.mark.parametrize("wrong", [{"items": 0}, {"questions": 0}, {"spread": -1.0}, {"gaps_days": ()}, {"gaps_days": (-1,)}])
def test_designs_without_sense_are_refused(wrong):
    with pytest.raises(InputError, match="simulate_log needs"):
        simulate_log(**wrong)
