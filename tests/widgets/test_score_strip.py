"""The score strip: its bars are WindowPrefetch's, its clock travels, its rows can be picked, its text is escaped."""

from __future__ import annotations

import json
import time
from datetime import timedelta

import numpy as np
import pytest

from ilstma_lab import ILSTMA, Dialogue, ManualClock, MemoryTable
from ilstma_lab.errors import InputError
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.protocols import PrefetchContext, Query
from ilstma_lab.widgets.light_figure import Pick
from ilstma_lab.widgets.score_strip import ScoreStrip
from tests.stubs import DAY_0, table_of

ATTACK = "</script><img src=x onerror=alert(1)>"


@pytest.fixture
def table() -> MemoryTable:
    """Forty rows, a row a day; rows 18 and 22 were recalled at the end, by one question."""
    made = table_of(40)
    made.touch((18, 22), DAY_0 + timedelta(days=39), "what of eighteen?")
    return made


def trace(lab: ScoreStrip, uid: str, figure: str = "strip") -> dict:
    return next(part for part in lab.figures[figure].spec["data"] if part.get("uid") == uid)


def chosen_by_engine(lab: ScoreStrip) -> tuple[int, ...]:
    """What the engine's own prefetcher selects for what the controls say."""
    p = lab.parameters
    now = lab.now + timedelta(days=p.days)
    place = PlaceTerm(form=p.form, weight=p.weight)
    setting = WindowPrefetch(k=p.k, offset=p.offset, include_centre=p.include_centre, place=place)
    centre = p.recalled if p.recalled >= 0 else 18
    return setting.select(PrefetchContext(Query("", now, lab.table.embedder), (centre,), lab.table, now)).chosen


def shown(lab: ScoreStrip) -> tuple[int, ...]:
    return tuple(np.asarray(trace(lab, "dot-cached")["x"]).tolist())


def test_it_begins_at_the_row_recalled_last_one_day_after_the_table(table):
    lab = ScoreStrip(table)
    assert trace(lab, "bar-time")["x"].tolist()[0] in (18, 22)
    assert lab.drawing.sub.startswith("Row 18 is recalled on 10 Jun 2023, today: “")
    assert shown(lab) == chosen_by_engine(lab)
    fresh = ScoreStrip(table_of(3))
    assert fresh.drawing.sub.startswith("Row 2 is recalled"), "nothing was recalled yet: the newest"


@pytest.mark.parametrize(
    ("control", "value"),
    [("days", 12), ("offset", 9), ("k", 6), ("weight", 0.3), ("form", "literal"), ("include_centre", False)],
)
def test_each_control_shows_what_the_engine_would_select(table, control, value):
    lab = ScoreStrip(table)
    getattr(lab, control).value = value
    assert lab.error is None
    assert shown(lab) == chosen_by_engine(lab)
    assert lab.drawing.finding.startswith("A miss caches row")


def test_the_clock_travels_and_says_the_date(table):
    lab = ScoreStrip(table)
    today = shown(lab)
    lab.days.value = 45
    assert shown(lab) == (18, 19, 17) != today, "long after, place alone is left"
    assert "25 Jul 2023" in lab.drawing.live
    assert "on 25 Jul 2023, 45 days from 10 Jun 2023" in lab.drawing.sub
    assert trace(lab, "ink-box", "clock")["x"][0] == 44.5
    lab._pick("clock", Pick("click", "place in the cache", 3.2, 18))
    assert lab.days.value == 3
    for step in (1, 1, -1):
        lab._pick("clock", Pick("step", "", step, 0))
    assert lab.days.value == 4
    lab.set(days=0)
    lab._pick("clock", Pick("step", "", -1, 0))
    assert lab.days.value == 0


def test_a_labs_clock_is_today(table):
    lab = ILSTMA(table, clock=ManualClock(DAY_0 + timedelta(days=100)))
    strip = ScoreStrip(lab)
    assert strip.now == DAY_0 + timedelta(days=100)
    assert strip.python().endswith("ScoreStrip(lab)")


def test_a_recall_after_the_last_dialogue_is_not_in_the_future():
    table = table_of(5)
    table.touch((2,), DAY_0 + timedelta(days=30), "late")
    assert ScoreStrip(table).now == DAY_0 + timedelta(days=30)


def test_a_picked_row_shows_its_sum(table):
    lab = ScoreStrip(table)
    lab._pick("strip", Pick("click", "time R", 22, 0.1))
    row = next(row for row in lab.compute(lab.parameters).selection.rows if row.index == 22)
    said = lab.drawing.panels["sum"]
    for text in (f"{row.time:.3f}"[1:], f"{row.place:.3f}"[1:], f"{row.score:.3f}", "arctan 4", "4 rows away", "n = 2", "1 day"):
        assert text in said
    assert trace(lab, "ink-box")["x"][0] == 21.5
    lab._pick("strip", Pick("step", "", 1, 0))
    assert lab.parameters.row == 23
    lab._pick("strip", Pick("click", "", 31, 0))
    assert "not read" in lab.drawing.panels["sum"]
    lab._pick("strip", Pick("click", "", 39, 0))
    assert lab.parameters.row == 31, "not in view"


def test_arrow_keys_stop_at_the_ends(table):
    lab = ScoreStrip(table, recalled=39, row=39)
    lab._pick("strip", Pick("step", "", 1, 0))
    assert lab.parameters.row == 39


def test_the_boxed_row_can_become_the_recalled_one(table):
    lab = ScoreStrip(table, row=22)
    lab.recall.value = True
    assert (lab.parameters.recalled, lab.recall.value) == (22, False)
    assert lab.drawing.sub.startswith("Row 22 is recalled")
    best = ScoreStrip(table, weight=0.0, include_centre=False)
    boxed = shown(best)[0]
    best.recall.value = True
    assert best.parameters.recalled == boxed, "without a pick the best row is in the box"


def test_a_recalled_row_that_is_left_out_is_said(table):
    lab = ScoreStrip(table, include_centre=False, row=18)
    assert "it was recalled, and is left out" in lab.drawing.panels["sum"]
    assert 18 not in shown(lab)


def test_as_printed_the_farthest_row_of_a_fresh_window_wins():
    same_day = MemoryTable.from_dialogues(
        [Dialogue(f"row {n}", "", DAY_0 + timedelta(minutes=n)) for n in range(21)], embedder=HashedEmbedder(dim=16)
    )
    lab = ScoreStrip(same_day, recalled=10)
    assert shown(lab) == (10, 11, 9)
    lab.preset("As printed")
    assert shown(lab) == (15, 5, 14)
    assert lab.parameters.recalled == 10, "a preset keeps the row"


def test_k_is_what_the_window_has_room_for(table):
    lab = ScoreStrip(table, k=8, offset=8)
    lab.offset.value = 1
    assert lab.k.value == 3
    lab.include_centre.value = False
    assert lab.k.value == 2


@pytest.mark.parametrize("centre", [0, 1, 38, 39])
def test_the_window_ends_with_the_table(table, centre):
    lab = ScoreStrip(table, recalled=centre, offset=20)
    assert lab.error is None
    assert len(trace(lab, "bar-time")["x"]) == min(39, centre + 20) - max(0, centre - 20) + 1


def test_deleted_rows_leave_a_gap_and_no_distance(table):
    for gone in (19, 20):
        table.delete(gone)
    lab = ScoreStrip(table, recalled=18, row=21)
    assert "1 row away" in lab.drawing.panels["sum"]
    lab._pick("strip", Pick("step", "", -1, 0))
    assert lab.parameters.row == 18


def test_g6_rows_are_text_wherever_they_are_shown():
    table = MemoryTable.from_dialogues([Dialogue(ATTACK, ATTACK, DAY_0)] * 3, embedder=HashedEmbedder(dim=16))
    lab = ScoreStrip(table)
    shown_as_html = "".join([*lab.drawing.panels.values(), lab.drawing.live, lab.static(), lab.figures["strip"].static()])
    assert "<img" not in shown_as_html
    assert "&lt;img" in shown_as_html
    assert "<img" in lab.drawing.sub, "the head writes it as text"
    assert "img" not in json.dumps(lab.figures["strip"].spec, default=str)


def test_an_empty_table_is_refused():
    with pytest.raises(InputError, match="the table is empty"):
        ScoreStrip(MemoryTable(embedder=HashedEmbedder(dim=16)))


def test_state_and_python_make_the_same_again(table):
    lab = ScoreStrip(table, form="rescaled", days=9, recalled=22, row=24)
    again = ScoreStrip.from_state(json.dumps(lab.state(), allow_nan=False), table)
    assert again.state() == lab.state()
    assert shown(again) == shown(lab)
    names: dict = {"table": table}
    load, _, call = lab.python().rpartition("\n")
    exec(load, names)
    assert eval(call, names).state() == lab.state()


@pytest.mark.parametrize("parameters", [{}, {"form": "literal", "include_centre": False, "k": 2}, {"weight": 0.5, "offset": 8}])
def test_the_code_below_builds_the_prefetcher(table, parameters):
    lab = ScoreStrip(table, **parameters)
    names: dict = {}
    load, _, call = lab.drawing.code.rpartition("\n")
    exec(load, names)
    assert eval(call, names) == lab.compute(lab.parameters).setting


def test_presets_and_reset(table):
    lab = ScoreStrip(table)
    for name in lab.presets:
        lab.preset(name)
        assert lab.error is None
        assert [name, True] in lab._screen.presets.view["presets"]
    lab.reset()
    assert shown(lab) == chosen_by_engine(lab)


def test_reset_keeps_the_row_that_was_asked_for(table):
    lab = ScoreStrip(table, recalled=30)
    lab.set(recalled=12, days=20)
    lab.reset()
    assert (lab.parameters.recalled, lab.parameters.days) == (30, 0)


def test_an_event_takes_less_than_50_ms(table):
    lab = ScoreStrip(table, offset=20, k=8)
    spent = []
    for days in range(1, 8):
        begin = time.thread_time()
        lab.days.value = days
        spent.append(time.thread_time() - begin)
    assert sorted(spent)[3] < 0.05


@pytest.mark.parametrize("parameters", [{}, {"form": "literal"}, {"include_centre": False}])
def test_a_table_of_one_row_is_shown(parameters):
    lab = ScoreStrip(table_of(1), **parameters)
    assert lab.error is None
    assert lab.figure("clock").data
    if "include_centre" in parameters:
        assert lab.drawing.finding.startswith("A miss caches nothing here")
        assert lab.figures["clock"].title == "Within 60 days nothing is cached"
        lab._press("table", "")
        assert "No row was scored" in lab.static()


def test_a_table_that_lost_all_its_rows_says_so():
    table = table_of(2)
    lab = ScoreStrip(table)
    for row in (0, 1):
        table.delete(row)
    lab.days.value = 3
    assert lab._screen.head.view["error"].startswith("the table has no row any more")
    lab._pick("strip", Pick("step", "", 1, 0))
    lab.reset()
    assert lab._screen.head.view["error"].startswith("the table has no row any more")


def test_a_row_that_is_not_there_is_named(table):
    for name in ("recalled", "row"):
        with pytest.raises(InputError, match=f"{name}: there is no row 999"):
            ScoreStrip(table, **{name: 999})
    lab = ScoreStrip(table, recalled=22)
    with pytest.raises(InputError, match="there is no row 40"):
        lab.set(recalled=40)
    with pytest.raises(InputError, match=r"recalled must be the index of a row, or -1 for the last recall \(got -2\)"):
        lab.set(recalled=-2)
    assert lab.parameters.recalled == 22
    table.delete(22)
    lab.days.value = 2
    assert lab.error is None, "it was there when it was chosen"
    lab.reset()
    assert lab.parameters.recalled == -1


@pytest.mark.parametrize("wrong", [None, "travel.json", []])
def test_the_wrong_kind_is_told_what_to_give(wrong):
    with pytest.raises(InputError, match="give a lab or a table"):
        ScoreStrip(wrong)
