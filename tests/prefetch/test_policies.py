"""Each policy against a slow derivation of the same choice, and what all of them owe the engine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ilstma_lab import Config
from ilstma_lab.errors import InputError
from ilstma_lab.prefetch.logged import recalls_by_question
from ilstma_lab.prefetch.policies import (
    CoRecall,
    DemandLfu,
    DemandLru,
    NearestRows,
    NextRows,
    NoPrefetch,
    PreviousRows,
    RandomRows,
    SimilarRows,
    WorstOf,
    standard_policies,
)
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.protocols import PrefetchContext, Query
from tests.stubs import DAY_0, asking, stub_lab, table_of

LATER = DAY_0 + timedelta(days=40)
PLACES = st.integers(0, 11)
TRACES = st.lists(st.lists(PLACES, min_size=1, max_size=2, unique=True), min_size=1, max_size=12)


def context(table, recalled=(), *, question="?", at=LATER, row=None):
    return PrefetchContext(Query(question, at, table.embedder), tuple(recalled), table, at, row=row)


@dataclass
class LoggedTable:
    """Twelve rows and a log; what a policy over the log looks at."""

    size: int = 12
    recalls: list = field(default_factory=list)

    def __len__(self):
        return self.size

    def __contains__(self, index):
        return 0 <= index < self.size

    def position(self, index):
        return index

    @property
    def indices(self):
        return np.arange(self.size)


def after(asked, *, written=True):
    """The context after the questions `asked`, each a list of recalled rows; the last is in the log if it is `written`."""
    table = LoggedTable()
    for number, rows in enumerate(asked if written else asked[:-1]):
        moment = LATER + timedelta(hours=number)
        table.recalls += [SimpleNamespace(row=row, at=moment, question=f"q{number}") for row in rows]
    moment = LATER + timedelta(hours=len(asked) - 1)
    return PrefetchContext(SimpleNamespace(text=f"q{len(asked) - 1}", vector=None), tuple(asked[-1]), table, moment)


@pytest.mark.parametrize(
    ("policy", "chosen"),
    [
        (NextRows(), (5, 6, 7)),
        (NextRows(k=12), (5, 6, 7, 8, 9)),
        (PreviousRows(), (3, 2, 1)),
        (NearestRows(), (4, 5, 3)),
        (NearestRows(k=4), (4, 5, 3, 6)),
        (NearestRows(include_centre=False), (5, 3, 6)),
        (NearestRows(k=12), (4, 5, 3, 6, 2, 7, 1, 8, 0, 9)),
        (NoPrefetch(), ()),
    ],
)
def test_rows_around_the_fourth_of_ten(policy, chosen):
    assert policy.select(context(table_of(10), [4, 0])).chosen == chosen


def test_the_ends_of_the_table_give_fewer_or_one_sided_rows():
    table = table_of(5)
    assert NextRows().select(context(table, [4])).chosen == ()
    assert NextRows().select(context(table, [3])).chosen == (4,)
    assert PreviousRows().select(context(table, [0])).chosen == ()
    assert NearestRows().select(context(table, [4])).chosen == (4, 3, 2)
    assert NearestRows().select(context(table, [0])).chosen == (0, 1, 2)


def test_distance_counts_live_rows():
    table = table_of(8)
    table.delete(4)
    found = NextRows().select(context(table, [3]))
    assert found.chosen == (5, 6, 7)
    assert [row.distance for row in found.rows] == [1, 2, 3]
    assert found.centre == 3


def test_similar_rows_are_those_of_the_highest_cosine():
    table = table_of(12)
    asked = context(table, [0], question=asking(7))
    cosine = [float(vector @ asked.query.vector) for vector in table.vectors]
    slow = sorted(range(12), key=lambda at: (-cosine[at], -at))[:3]
    assert SimilarRows().select(asked).chosen == tuple(slow)
    assert slow[0] == 7
    assert SimilarRows().select(context(table, (), question=asking(7))).chosen == tuple(slow)


def test_a_row_without_a_vector_is_not_similar():
    table = table_of(2)
    table._columns.set_vector(1, None)
    assert SimilarRows().select(context(table, [0], question=asking(1))).chosen == (0,)


@settings(max_examples=60)
@given(TRACES, st.integers(1, 5), st.booleans())
def test_lru_holds_what_a_stack_of_recalls_holds(asked, k, written):
    stack = []
    for rows in asked:
        stack = [*rows, *(row for row in stack if row not in rows)]
    assert DemandLru(k=k).select(after(asked, written=written)).chosen == tuple(stack[:k])


@settings(max_examples=60)
@given(TRACES, st.integers(1, 5), st.booleans())
def test_lfu_holds_what_counting_every_recall_holds(asked, k, written):
    times = Counter(row for rows in asked for row in rows)
    recent = [row for rows in reversed(asked) for row in rows]
    slow = sorted(times, key=lambda row: (-times[row], recent.index(row)))
    assert DemandLfu(k=k).select(after(asked, written=written)).chosen == tuple(slow[:k])


@settings(max_examples=60)
@given(TRACES, st.integers(1, 5), st.booleans())
def test_co_recall_counts_what_followed(asked, k, written):
    centre, followed, last = asked[-1][0], Counter(), {}
    for number, (rows, then) in enumerate(pairwise(asked)):
        for place, row in enumerate(then if centre in rows else ()):
            followed[row] += 1
            last[row] = (-number, place)
    slow = sorted(followed, key=lambda row: (-followed[row], last[row]))
    rest = sorted(set(range(12)) - set(slow), key=lambda row: (abs(row - centre), -row))
    assert CoRecall(k=k).select(after(asked, written=written)).chosen == tuple([*slow, *rest][:k])


def test_the_log_of_a_table_is_read_by_question():
    table = table_of(6)
    table.touch([1, 2], LATER, "first", deferred=True)
    table.touch([2], LATER, "second")
    table.touch([4, 5], LATER)
    now = context(table, [3], question="third")
    assert recalls_by_question(now) == [(1, 2), (2,), (4,), (5,), (3,)]
    table.touch([3], LATER, "third")
    assert recalls_by_question(now) == [(1, 2), (2,), (4,), (5,), (3,)]
    table.delete(3)
    assert recalls_by_question(now)[-1] == ()


def test_a_question_that_recalls_nothing_costs_lru_no_row():
    assert DemandLru().select(after([[1], [2], []])).chosen == (2, 1)


def test_random_rows_are_the_same_for_the_same_turn_and_seed_alone():
    table = table_of(12)
    draws = {seed: RandomRows(seed=seed).select(context(table, [4])).chosen for seed in range(20)}
    assert draws == {seed: RandomRows(seed=seed).select(context(table, [4])).chosen for seed in range(20)}
    assert len(set(draws.values())) > 10
    assert all(len(set(rows)) == 3 for rows in draws.values())
    before = RandomRows().select(context(table, [4])).chosen
    table.touch([4], LATER)
    seen = {before}
    for _ in range(5):
        seen.add(RandomRows().select(context(table, [4])).chosen)
        table.touch([4], LATER)
    assert len(seen) > 1


def test_random_rows_have_equal_chances():
    table = table_of(10)
    drawn = Counter(row for seed in range(1500) for row in RandomRows(seed=seed, offset=2).select(context(table, [4])).chosen)
    assert set(drawn) == {2, 3, 4, 5, 6}
    assert all(abs(times / 1500 - 3 / 5) < 0.05 for times in drawn.values())
    assert set(RandomRows(k=99).select(context(table, [4])).chosen) == set(range(10))


def test_the_worst_are_the_lowest_scored_of_the_window():
    table, window = table_of(12), WindowPrefetch(k=3, offset=4)
    scored = window.select(context(table, [6]))
    worst = WorstOf(of=window).select(context(table, [6]))
    assert worst.chosen == tuple(row.index for row in scored.rows[-3:])
    assert max(row.score for row in worst.rows if row.chosen) <= min(row.score for row in worst.rows if not row.chosen)
    assert WorstOf(of=WindowPrefetch()).select(context(table_of(2), [0])).chosen == (0, 1)
    assert (WorstOf(of=window).k, WorstOf(of=replace(window, trigger="every")).trigger) == (3, "every")


@pytest.mark.parametrize(("name", "policy"), standard_policies(k=4, offset=3).items())
def test_every_policy_chooses_at_most_k_live_rows_and_never_that_of_the_turn(name, policy):
    table = table_of(9)
    for row in (2, 7, 2):
        table.touch([row], LATER, asking(row))
    table.delete(5)
    for recalled in ((7, 0), (0,), (99, 6), ()):
        found = policy.select(context(table, recalled, question=asking(7), row=8))
        assert len(set(found.chosen)) == len(found.chosen) <= policy.k
        assert set(found.chosen) <= {0, 1, 2, 3, 4, 6, 7}
        assert all(type(row) is int for row in found.chosen)
        assert found.chosen or policy.k == 0 or not recalled or name.startswith(("previous", "next"))
    assert policy.trigger in ("miss", "every")


@pytest.mark.parametrize("policy", [NextRows, NearestRows, PreviousRows, CoRecall])
def test_f7_without_a_centre_there_is_nothing_around_it(policy):
    found = policy().select(context(table_of(4), (99,)))
    assert found.chosen == ()
    assert "no centre" in found.note


@pytest.mark.parametrize("policy", standard_policies().values())
def test_f7_an_empty_table_gives_an_empty_selection(policy):
    assert policy.select(context(table_of(0))).chosen == ()


def test_labels_are_the_names_and_stand_once():
    named = standard_policies(k=2, offset=4, seed=3)
    assert all(policy.label == name for name, policy in named.items() if not name.startswith("ILSTMA"))
    assert {"next 2", "nearest 2", "demand LRU", "random", "random within 4", "pessimal", "no prefetch"} < set(named)
    assert (named["ILSTMA"].k, named["ILSTMA"].offset, named["random"].seed) == (2, 4, 3)


@pytest.mark.parametrize(
    ("policy", "wrong"),
    [(NextRows, {"k": 0}), (DemandLru, {"trigger": "never"}), (RandomRows, {"seed": -1}), (RandomRows, {"offset": -1})],
)
def test_settings_without_sense_are_refused(policy, wrong):
    with pytest.raises(InputError):
        policy(**wrong)


def test_a_window_without_room_is_refused():
    with pytest.raises(InputError, match="window"):
        standard_policies(k=4, offset=1)


def cache_after(lab, *asked):
    for row in asked:
        lab.ask(asking(row), remember=False)
    return {entry.index for entry in lab.memory.cache}


def test_in_the_engine_no_prefetch_leaves_the_cache_empty():
    assert cache_after(stub_lab(8, prefetcher=NoPrefetch()), 3, 4) == set()


@pytest.mark.parametrize("write", ["before", "after"])
def test_in_the_engine_lru_keeps_rows_of_earlier_questions(write):
    lab = stub_lab(8, Config(write=write), prefetcher=DemandLru(k=3))
    first = lab.ask(asking(3), remember=False).recalled
    second = lab.ask(asking(6), remember=False).recalled
    kept = [entry.index for entry in lab.memory.cache]
    assert kept == list(dict.fromkeys([*second, *first]))[:3]
