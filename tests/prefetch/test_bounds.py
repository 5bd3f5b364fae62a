"""Golden traces, and every bound beside an exhaustive search on traces small enough for it."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.prefetch.bounds import bounds, fifo_misses, lru_hits, min_hits, oracle_hits, refill_ceiling, reuse_distances
from ilstma_lab.prefetch.oracle import WindowOracle, longest_run
from ilstma_lab.protocols import PrefetchContext, Query
from tests.stubs import DAY_0, table_of

GOLDEN = [0, 1, 2, 0, 1, 3, 0, 3, 1, 2, 1]
ANOMALY = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]
ROWS = st.integers(0, 5)
SINGLE = st.lists(ROWS, max_size=9)
SETS = st.lists(st.lists(ROWS, max_size=2, unique=True).map(tuple), max_size=7)
SIZES = st.integers(1, 3)


def test_golden_trace():
    assert lru_hits(GOLDEN, 3) == min_hits(GOLDEN, 3) == min_hits(GOLDEN, 3, bypass=True) == 6


def test_fifo_has_beladys_anomaly_and_the_stack_algorithms_have_not():
    assert [fifo_misses(ANOMALY, k) for k in (3, 4)] == [9, 10]
    for hits in (lru_hits, min_hits):
        curve = [hits(ANOMALY, k) for k in range(1, 7)]
        assert curve == sorted(curve)


@settings(max_examples=80)
@given(SINGLE, SIZES)
def test_lru_and_fifo_are_those_of_a_list_that_is_kept_by_hand(trace, k):
    hits = {"lru": 0, "fifo": 0}
    for kind in hits:
        held = []
        for row in trace:
            if row in held:
                hits[kind] += 1
                if kind == "lru":
                    held.append(held.pop(held.index(row)))
            else:
                held = [*held, row][-k:]
    assert lru_hits(trace, k) == hits["lru"]
    assert len(trace) - fifo_misses(trace, k) == hits["fifo"]


@settings(max_examples=80)
@given(SINGLE)
def test_reuse_distance_counts_the_other_rows_in_between(trace):
    for at, distance in enumerate(reuse_distances(trace)):
        before = [earlier for earlier in range(at) if trace[earlier] == trace[at]]
        assert distance == (len(set(trace[before[-1] + 1 : at])) if before else np.inf)


def best_on_demand(trace, k, *, bypass):
    """Every choice of what leaves, tried."""

    @cache
    def most(at, held):
        if at == len(trace):
            return 0
        if trace[at] in held:
            return 1 + most(at + 1, held)
        full = held | {trace[at]}
        if len(full) <= k:
            return max(most(at + 1, full), most(at + 1, held) if bypass else 0)
        return max(most(at + 1, full - {gone}) for gone in full if bypass or gone != trace[at])

    return most(0, frozenset())


@settings(max_examples=80)
@given(SINGLE, SIZES, st.booleans())
def test_min_is_the_best_of_all_ways_to_evict(trace, k, bypass):
    assert min_hits(trace, k, bypass=bypass) == best_on_demand(trace, k, bypass=bypass)


@settings(max_examples=40)
@given(SINGLE, SIZES)
def test_min_bounds_what_demand_caches_do(trace, k):
    assert max(lru_hits(trace, k), len(trace) - fifo_misses(trace, k)) <= min_hits(trace, k) <= min_hits(trace, k, bypass=True)


def run_of(rows, coming):
    return next((at for at, gold in enumerate(coming) if not set(rows) & set(gold)), len(coming))


@settings(max_examples=120)
@given(SETS, SIZES, st.sets(ROWS))
def test_the_longest_run_is_the_best_of_all_subsets(coming, k, allowed):
    every = [rows for size in range(k + 1) for rows in combinations(sorted(allowed), size)]
    length, rows = longest_run(coming, k, inside=allowed.__contains__)
    assert length == max(run_of(subset, coming) for subset in every)
    assert run_of(rows, coming) == length
    assert len(set(rows)) == len(rows) <= k
    assert set(rows) <= allowed


def best_refills(demands, k, offset):
    """Every refill within the window tried at every miss, the empty one too."""

    @cache
    def most(at, held):
        if at == len(demands):
            return 0
        if held & set(demands[at]):
            return 1 + most(at + 1, held)
        centre = demands[at][0] if demands[at] else None
        window = [row for row in range(6) if offset is None or (centre is not None and abs(row - centre) <= offset)]
        return max(most(at + 1, frozenset(rows)) for size in range(k + 1) for rows in combinations(window, size))

    return most(0, frozenset())


@settings(max_examples=40, deadline=None)
@given(SETS, st.integers(1, 2), st.sampled_from([0, 1, 2, None]))
def test_oracle_hits_are_the_best_of_all_refills(demands, k, offset):
    assert oracle_hits(demands, k, offset=offset) == best_refills(tuple(demands), k, offset)


def replayed(demands, oracle):
    """Perfect recall, refill on a miss, hit where any gold row is cached."""
    table, hits, held = table_of(6), 0, ()
    for number, gold in enumerate(demands):
        if set(held) & set(gold):
            hits += 1
            continue
        at = DAY_0 + timedelta(days=40)
        held = oracle.after(number).select(PrefetchContext(Query("?", at, table.embedder), gold[:1], table, at)).chosen
    return hits


@settings(max_examples=40, deadline=None)
@given(SETS, SIZES, st.sampled_from([0, 1, 3, None]))
def test_the_oracle_that_is_replayed_stays_below_its_bound(demands, k, offset):
    hits = replayed(demands, WindowOracle(future=tuple(demands), k=k, offset=offset))
    best = oracle_hits(demands, k, offset=offset)
    assert hits <= best
    if offset is None:
        assert hits == best


def test_a_run_left_early_can_be_worth_more():
    demands = ((1,), (2,), (3,), (1,))  # a miss at 2 has both 3 and 1 in its window; one at 3 has no 1
    greedy = replayed(demands, WindowOracle(future=demands, k=2, offset=1))
    assert (greedy, oracle_hits(demands, 2, offset=1)) == (1, 2)


def test_the_oracle_stops_at_the_first_question_out_of_reach():
    oracle = WindowOracle(future=((2,), (3,), (0,), (9,), (3,)), k=3, offset=2)
    table, at = table_of(12), DAY_0 + timedelta(days=40)
    asked = PrefetchContext(Query("?", at, table.embedder), (2,), table, at)
    found = oracle.after(0).select(asked)
    assert found.chosen == (3, 0)
    assert found.note == "answers the next 2 questions"
    assert oracle.after(3).select(asked).chosen == (3,)
    assert WindowOracle(future=oracle.future, offset=None).after(0).select(asked).chosen == (3, 0, 9)
    assert oracle.select(PrefetchContext(asked.query, (), table, at)).chosen == ()
    assert (oracle.label, WindowOracle(future=(), offset=None).label) == ("window oracle ±2", "unlimited oracle")


@settings(max_examples=40)
@given(st.integers(1, 30), st.integers(1, 5))
def test_the_refill_ceiling_is_what_rows_asked_once_come_to(rounds, k):
    once = list(range(rounds * (k + 1)))
    assert oracle_hits(once, k) / len(once) == pytest.approx(refill_ceiling(k))
    assert refill_ceiling(3) == 0.75


def test_four_bounds_say_what_they_assume():
    found = bounds([GOLDEN, [], ANOMALY], k=3, offset=1)
    assert [bound.name for bound in found] == ["MIN on demand", "window oracle", "refill ceiling", "unlimited oracle"]
    assert all(bound.n == 23 and bound.assumes.startswith("Assumes that") for bound in found)
    assert found[0].ratio == (min_hits(GOLDEN, 3, bypass=True) + min_hits(ANOMALY, 3, bypass=True)) / 23
    assert found[1].ratio <= found[3].ratio
    assert str(found[2]).startswith("refill ceiling: 0.75 (n = 23). Assumes that")
    assert np.isnan(bounds([])[0].ratio)


def test_questions_that_no_row_answers_do_not_count():
    assert lru_hits([(1,), (), (1,)], 1) == min_hits([(1,), (), (1,)], 1) == 1
    assert oracle_hits([(1,), (), (1,)], 1) == 1
    assert oracle_hits([(1,), (), (1,)], 1, offset=5) == 0


@pytest.mark.parametrize(
    "wrong", [lambda: lru_hits([1], 0), lambda: refill_ceiling(0), lambda: WindowOracle(future=(), offset=-1)]
)
def test_settings_without_sense_are_refused(wrong):
    with pytest.raises(InputError):
        wrong()
