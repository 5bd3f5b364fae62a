"""The window around the recalled row, against a slow derivation of the same choice."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.strength import LinearStrength
from ilstma_lab.memory.entry import from_microseconds, to_microseconds
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.protocols import PrefetchContext
from tests.stubs import DAY_0, table_of

NOW = DAY_0 + timedelta(days=40)


class FakeTable:
    """The columns that a prefetcher looks at, with holes between the indices; it counts the rows that are looked at."""

    def __init__(self, indices, last_recall, recall_times):
        self.indices = np.asarray(indices)
        self.last_recall, self.recall_times = np.asarray(last_recall), np.asarray(recall_times)

    def __len__(self):
        return len(self.indices)

    def __contains__(self, index):
        return index in self.indices

    def position(self, index):
        return int(np.flatnonzero(self.indices == index)[0])


def context(table, recalled, now=NOW):
    return PrefetchContext(SimpleNamespace(), tuple(recalled), table, now)


def slow_choice(table, centre, settings, now):
    """Every row of the table is scored by hand; those in the window are sorted by (score, distance, later first)."""
    rows = []
    at = list(table.indices).index(centre)
    for position, index in enumerate(table.indices):
        distance = abs(position - at)
        if distance > settings.offset or (distance == 0 and not settings.include_centre):
            continue
        interval = max(0, (to_microseconds(now) - int(table.last_recall[position])) // 86_400_000_000)
        strength = -13.5 + 37 / (1 + np.exp(-1.5 * (int(table.recall_times[position]) - 1)))
        time = 1.0 if settings.score_refresh == "on_touch" else np.exp(-interval / strength)
        angle = np.arctan(distance)
        forms = {"literal": np.pi / 2 * angle, "rescaled": 2 / np.pi * angle, "nearness": 1 - 2 / np.pi * angle}
        place = forms[settings.place.form]
        rows.append((-round(time + place, 9), distance, -position, int(index)))
    return tuple(row[-1] for row in sorted(rows))


@st.composite
def tables(draw):
    size = draw(st.integers(1, 25))
    indices = sorted(draw(st.sets(st.integers(0, 60), min_size=size, max_size=size)))
    last = [to_microseconds(DAY_0) + draw(st.integers(0, 45)) * 86_400_000_000 for _ in indices]
    times = [draw(st.integers(1, 6)) for _ in indices]
    return FakeTable(indices, last, times)


@st.composite
def prefetchers(draw):
    centre, offset = draw(st.booleans()), draw(st.integers(1, 8))
    return WindowPrefetch(
        k=draw(st.integers(1, 2 * offset + centre)),
        offset=offset,
        include_centre=centre,
        place=PlaceTerm(form=draw(st.sampled_from(["nearness", "rescaled", "literal"]))),
        score_refresh=draw(st.sampled_from(["now", "on_touch"])),
    )


@settings(max_examples=150)
@given(table=tables(), prefetch=prefetchers(), data=st.data())
def test_top_k_is_what_a_slow_derivation_finds(table, prefetch, data):
    centre = int(data.draw(st.sampled_from(list(table.indices))))
    found = prefetch.select(context(table, [centre]))
    ranked = slow_choice(table, centre, prefetch, NOW)
    scores = {row.index: row.score for row in found.rows}
    assert {row.index for row in found.rows} == set(ranked)
    assert [round(scores[i], 9) for i in ranked] == [round(row.score, 9) for row in found.rows]
    assert found.chosen == tuple(row.index for row in found.rows[: prefetch.k])
    assert found.centre == centre
    assert all(row.score == row.time + row.place for row in found.rows)


@given(table=tables(), prefetch=prefetchers(), data=st.data())
def test_the_window_never_falls_off_the_ends(table, prefetch, data):
    centre = int(data.draw(st.sampled_from(list(table.indices))))
    found = prefetch.select(context(table, [centre]))
    at = table.position(centre)
    window = set(table.indices[max(0, at - prefetch.offset) : at + prefetch.offset + 1].tolist())
    assert {row.index for row in found.rows} == window - (set() if prefetch.include_centre else {centre})
    assert max((row.distance for row in found.rows), default=0) <= prefetch.offset


def test_ties_go_to_the_nearer_row_then_to_the_later_one():
    same = [to_microseconds(NOW)] * 9
    table = FakeTable(range(9), same, [1] * 9)
    assert WindowPrefetch(k=3).select(context(table, [4])).chosen == (4, 5, 3)
    no_place = WindowPrefetch(k=5, place=PlaceTerm(weight=0)).select(context(table, [4]))
    assert [row.index for row in no_place.rows] == [4, 5, 3, 6, 2, 7, 1, 8, 0]


def test_distance_counts_live_rows_not_indices():
    table = table_of(8)
    for gone in (3, 4):
        table.delete(gone)
    found = {row.index: row.distance for row in WindowPrefetch().select(context(table, [5])).rows}
    assert found == {0: 3, 1: 2, 2: 1, 5: 0, 6: 1, 7: 2}


@pytest.mark.parametrize("recalled", [(), (99,), (99, 98)])
def test_nothing_recalled_gives_no_centre(recalled):
    found = WindowPrefetch().select(context(table_of(4), recalled))
    assert found.chosen == ()
    assert found.centre is None
    assert "no centre" in found.note


def test_the_best_recalled_row_that_is_still_there_is_the_centre():
    assert WindowPrefetch().select(context(table_of(4), (99, 2, 0))).centre == 2


def test_f7_k_above_the_rows_chooses_what_there_is():
    assert set(WindowPrefetch(k=3).select(context(table_of(2), (1,))).chosen) == {0, 1}


def test_c2_rows_recalled_after_the_moment_are_clamped_and_said_so():
    table = table_of(6)
    found = WindowPrefetch(offset=1).select(context(table, [5], now=DAY_0))
    assert "2 of the rows were last recalled after this moment" in found.note
    assert {row.time for row in found.rows} == {1.0}
    assert WindowPrefetch(offset=1).select(context(table, [5])).note == ""


def test_on_touch_keeps_a_score_that_never_fades():
    table = table_of(10)
    late = from_microseconds(int(table.last_recall[-1])) + timedelta(days=300)
    kept = WindowPrefetch(score_refresh="on_touch").select(context(table, [4], now=late))
    fresh = WindowPrefetch().select(context(table, [4], now=late))
    assert {row.time for row in kept.rows} == {1.0}
    assert max(row.time for row in fresh.rows) < 1e-9


def test_the_printed_form_prefers_the_far_end_of_the_window():
    table = FakeTable(range(11), [to_microseconds(NOW)] * 11, [1] * 11)
    printed = WindowPrefetch(place=PlaceTerm(form="literal"), include_centre=False)
    assert printed.select(context(table, [5])).chosen == (10, 0, 9)


class Watched:
    """A column that notes how many of its values are looked at, and cannot be looked at as a whole."""

    def __init__(self, values):
        self.values, self.most = values, 0

    def __getitem__(self, which):
        self.most = max(self.most, np.size(which))
        return self.values[which]


@pytest.mark.parametrize("rows", [1_000, 100_000])
def test_only_the_window_is_looked_at(rows):
    class Huge:
        indices = Watched(np.arange(rows))
        last_recall = Watched(np.full(rows, to_microseconds(DAY_0)))
        recall_times = Watched(np.ones(rows, int))

        def __len__(self):
            return rows

        def __contains__(self, index):
            return 0 <= index < rows

        def position(self, index):
            return index

    table = Huge()
    assert len(WindowPrefetch(offset=5).select(context(table, [rows // 2])).rows) == 11
    assert [column.most for column in (table.indices, table.last_recall, table.recall_times)] == [11, 11, 11]


@pytest.mark.parametrize(
    "wrong",
    [{"k": 0}, {"offset": -1}, {"k": 12}, {"k": 11, "include_centre": False}, {"trigger": "never"}, {"score_refresh": "daily"}],
)
def test_settings_without_sense_are_refused(wrong):
    with pytest.raises(InputError):
        WindowPrefetch(**wrong)


def test_another_strength_may_be_given():
    table = table_of(3)
    found = WindowPrefetch(strength=LinearStrength(first_days=2)).select(context(table, [2], now=DAY_0 + timedelta(days=4)))
    assert {row.index: round(row.time, 3) for row in found.rows} == {0: 0.135, 1: 0.223, 2: 0.368}


def test_a_selection_without_scores():
    found = Selection.of(np.array([4, 2]), note="mine")
    assert found.chosen == (4, 2)
    assert [type(i) for i in found.chosen] == [int, int]
