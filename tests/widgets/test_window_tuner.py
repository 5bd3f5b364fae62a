"""The window tuner: each cell is a replay, the bounds stand above, what is not computed says so, and a cell can be picked."""

from __future__ import annotations

import json
import threading
import time

import numpy as np
import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import FIVE_TOPICS, load_topic
from ilstma_lab.evaluation.prefetching import replay_policy
from ilstma_lab.evaluation.workload import Workload, workload_of
from ilstma_lab.evaluation.workload_generator import Habits, generate
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.plots.spec import tables
from ilstma_lab.prefetch.bounds import oracle_hits
from ilstma_lab.prefetch.policies import NextRows
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.widgets.light_figure import Pick
from ilstma_lab.widgets.window_tuner import KS, OFFSETS, WindowTuner


@pytest.fixture(scope="module")
def workloads() -> tuple[Workload, ...]:
    habits = Habits(returning=0.2, neighbour=0.5, topic=0.1)
    return tuple(generate(habits, rows=60, questions=12, seed=seed, name=f"made {seed}") for seed in (1, 2))


@pytest.fixture(scope="module")
def known(workloads) -> WindowTuner:
    """A tuner whose map is computed; tests leave its parameters as they are."""
    lab = WindowTuner(workloads)
    assert lab.wait(60)
    return lab


def trace(lab: WindowTuner, uid: str) -> dict:
    return next(part for part in lab.figures["map"].spec["data"] if part.get("uid") == uid)


def hits(workloads, policy) -> int:
    return sum(served.hit for workload in workloads for served in replay_policy(workload, policy).demands)


@pytest.mark.parametrize(("offset", "k"), [(1, 1), (1, 3), (5, 3), (8, 2), (20, 8)])
def test_each_cell_is_a_replay(known, workloads, offset, k):
    expected = hits(workloads, WindowPrefetch(k=k, offset=offset)) / known.n
    assert trace(known, "map")["z"][KS.index(k), OFFSETS.index(offset)] == pytest.approx(100 * expected)


def test_the_line_above_is_the_chosen_row_of_the_map(known):
    mine, heat = trace(known, "mine"), trace(known, "map")
    assert mine["x"].tolist() == list(OFFSETS)
    assert mine["y"].tolist() == heat["z"][KS.index(3)].tolist()
    assert "words-waits" not in {part["uid"] for part in known.figures["map"].spec["data"]}


def test_no_window_passes_its_oracle(known):
    oracle, mine = trace(known, "ink-oracle")["y"], trace(known, "mine")["y"]
    assert (np.asarray(mine) <= np.asarray(oracle) + 1e-9).all()


def test_oracle_and_rival_are_those_of_the_bounds(known, workloads):
    demands = [[workload.table.position(access.gold[0]) for access in workload.accesses] for workload in workloads]
    best = sum(oracle_hits(one, 3, offset=5) for one in demands)
    assert trace(known, "ink-oracle")["y"][OFFSETS.index(5)] == pytest.approx(100 * best / known.n)
    rival = hits(workloads, NextRows(k=3))
    assert f" next 3 {100 * rival / known.n:.0f}" in trace(known, "words-levels")["text"]
    assert f"; with the next 3 rows {rival}" in known.drawing.finding
    assert f"{hits(workloads, WindowPrefetch())} of {known.n} questions hit with ± 5 and k = 3" in known.drawing.finding


def test_controls_are_the_replayed_setting(workloads):
    lab = WindowTuner(workloads)
    lab.set(offset=4, k=2, weight=0.5, form="rescaled", trigger="every", include_centre=False)
    place = PlaceTerm(form="rescaled", weight=0.5)
    setting = WindowPrefetch(k=2, offset=4, place=place, trigger="every", include_centre=False)
    assert lab.drawing.finding.startswith(f"{hits(workloads, setting)} of {lab.n} questions")
    names: dict = {}
    load, _, call = lab.drawing.code.rpartition("\n")
    exec(load, names)
    assert eval(call, names) == setting
    lab.reset()
    lab.wait(60)
    assert lab.error is None


def test_what_is_not_computed_yet_is_said_and_never_nan(workloads, monkeypatch):
    go_on = threading.Event()
    slow = WindowTuner.refine
    monkeypatch.setattr(WindowTuner, "refine", lambda lab, p, result: (go_on.wait(20), slow(lab, p, result))[1])
    lab = WindowTuner(workloads)
    try:
        room = sum(2 * offset + 1 >= k for offset in OFFSETS for k in KS)
        assert f"computing the map, 1 cell of {room}" in lab.figures["map"].title
        assert len(trace(lab, "words-waits")["x"]) == room - 1
        assert "band: computing" in lab.drawing.live
        cells = [cell for table in tables(lab.figures["map"].spec) for row in table.rows for cell in row]
        assert not any("nan" in text for text in (*cells, lab.static(), lab.text(), lab.drawing.live))
    finally:
        go_on.set()
    assert lab.wait(60)
    assert "computing" not in lab.static()
    assert "95 % band" in lab.drawing.live


def test_a_map_that_was_overtaken_is_left_and_gone_on_with_later(workloads):
    lab = WindowTuner(workloads)
    for weight in (0.5, 1.5, 2.5):
        lab.weight.value = weight
    assert lab.wait(60)
    done = {shape[0]: int(np.isfinite(ratios).sum()) for shape, ratios in lab._maps.items()}
    assert done[2.5] == max(done.values())
    lab.weight.value = 0.5
    assert lab.wait(60)
    assert "computing" not in lab.figures["map"].title


@pytest.mark.parametrize(
    ("pick", "place"),
    [
        (Pick("click", "hits, %", 9, 6), (9, 6)),
        (Pick("click", "window oracle, %", 12, 40), (12, 3)),
        (Pick("step", "", 1, 0), (6, 3)),
        (Pick("step", "", 0, 1), (5, 4)),
        (Pick("click", "hits, %", 1, 8), (4, 8)),  # no room: the first window that has
        (Pick("click", "hits, %", 30, 3), (5, 3)),
    ],
)
def test_a_cell_is_picked(known, pick, place):
    asked = known.picked("map", pick, known.parameters) or known.parameters
    settled = known.settle(known.parameters, asked)
    assert (settled.offset, settled.k) == place
    assert known.picked("pays", pick, known.parameters) is None


def test_state_and_python_make_the_same_again(workloads):
    lab = WindowTuner(workloads, offset=9, k=2, judge=1.5)
    again = WindowTuner.from_state(json.dumps(lab.state(), allow_nan=False), workloads)
    assert again.state() == lab.state()
    names: dict = {"workloads": workloads}
    load, _, call = lab.python().rpartition("\n")
    exec(load, names)
    assert eval(call, names).state() == lab.state()


@pytest.mark.parametrize("name", WindowTuner.presets)
def test_presets(workloads, name):
    lab = WindowTuner(workloads[:1])
    lab.preset(name)
    assert lab.error is None
    assert [name, True] in lab._screen.presets.view["presets"]


def test_one_workload_may_come_alone_and_without_answers_it_is_refused(workloads):
    assert WindowTuner(workloads[0]).workloads == workloads[:1]
    with pytest.raises(InputError, match="nothing to hit"):
        WindowTuner(generate(rows=5, questions=0))


def test_seconds_move_break_even_alone(known):
    before = known.compute(known.parameters)
    assert known.draw(known.parameters, before).figures["pays"]["layout"]["title"]["text"]
    assert f"{5.17 - 5.17 * before.scores.hit_ratio + 0.72:.2f} s" in known.drawing.panels["numbers"]


def test_an_event_on_ilstma5_takes_less_than_50_ms():
    models = offline(HashedEmbedder(dim=16))
    lab = WindowTuner([workload_of(load_topic(name), models=models) for name in FIVE_TOPICS])
    assert lab.wait(120)
    assert lab.drawing.finding.startswith("9 of 90 questions hit with ± 5 and k = 3; with the next 3 rows 6")
    spent = []
    for offset in (6, 7, 8, 9, 10):
        begin = time.thread_time()
        result = lab.compute(type(lab.parameters)(offset=offset))
        lab._screen.put(lab.draw(type(lab.parameters)(offset=offset), result))
        spent.append(time.thread_time() - begin)
    assert sorted(spent)[2] < 0.05


def test_the_wrong_kind_is_told_what_to_give(workloads):
    for wrong in (None, [], workloads[0].table, "travel", [workloads[0], None]):
        with pytest.raises(InputError, match="give a workload, or several"):
            WindowTuner(wrong)


def test_k_is_whole_and_one_row_is_one_row(known, workloads):
    with pytest.raises(InputError, match=r"k must be a whole number from 1 to 8 \(got 2.5\)"):
        known.set(k=2.5)
    assert known.parameters.k == 3
    assert "; with the next row " in WindowTuner(workloads, k=1).drawing.finding
