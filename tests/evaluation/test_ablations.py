"""Each ablation changes one thing, and what it changes is seen in the turns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ilstma_lab import Config, ManualClock
from ilstma_lab.evaluation.ablations import WHOLE, ablations
from ilstma_lab.evaluation.experiment import run_systems
from ilstma_lab.evaluation.grading import Facts
from ilstma_lab.retrieval.recall import Reading
from ilstma_lab.trace import Verdict
from tests.evaluation.bench_kit import parts, topic
from tests.stubs import StubJudge, StubProfiler, StubReader, asking, stub_models, table_of

SYSTEMS = ablations()


def turns(name: str, *, config: Config | None = None, asked=(0, 1, 2), **given):
    table = table_of(12)
    lab = ablations(config)[name](table, models=stub_models(**given), clock=ManualClock.after(table))
    lab.summarise()
    return [lab.ask(asking(n), remember=False) for n in asked]


def test_the_whole_is_ilstma_itself():
    assert next(iter(SYSTEMS)) == WHOLE == "ILSTMA"
    assert SYSTEMS[WHOLE](table_of(3), models=stub_models(), clock=ManualClock.after(table_of(3))).config == Config()


def test_without_prefetch_no_question_hits():
    always = StubJudge(default=Verdict(True, "from the cache"))
    assert [turn.hit for turn in turns(WHOLE, judge=always)] == [False, True, True]
    assert [turn.hit for turn in turns("without prefetch", judge=always)] == [False, False, False]


@pytest.mark.parametrize(("name", "recalled"), [(WHOLE, (0, 5)), ("A alone", (9,)), ("B alone", (0, 5))])
def test_one_branch_alone_decides(name, recalled):
    names_nine = StubReader(default=Reading(9))
    first = turns(name, reader=names_nine)[0]
    assert first.recalled[0] == recalled[0]
    assert (9 in first.recalled) == (name == "A alone")
    assert (first.recall.branch_a.named == 9) == (name != "B alone")


def test_b_alone_keeps_both_rows_where_the_whole_narrows_to_one():
    names_it = StubReader(default=Reading(0))
    assert turns(WHOLE, reader=names_it)[0].recalled == (0,)
    assert len(turns("B alone", reader=names_it)[0].recalled) == 2


def test_where_branch_a_cannot_name_a_row_it_is_not_measured():
    found = run_systems([topic()], SYSTEMS, graders=[Facts("strict")], models=parts())
    assert {record.a_alone for record in found.of("B alone")} == {None}
    assert {record.a_alone for record in found.of("A alone")} != {None}


@pytest.mark.parametrize("segment", ["summary", "personality"])
def test_a_segment_left_out_is_empty_in_every_prompt(segment):
    def text_of(name):
        shown = turns(name, profiler=StubProfiler("Speaks briefly."))[-1].answered_from
        return next(view.text for view in shown if view.name == segment)

    assert text_of(WHOLE)
    assert not text_of(f"without {segment}")


def test_without_the_curve_the_place_alone_scores():
    whole, bare = (turns(name)[0].prefetch for name in (WHOLE, "without curve"))
    assert {row.time for row in bare.rows} == {1.0}
    assert len({row.time for row in whole.rows}) > 1


def test_another_curve_gives_other_scores():
    whole, power = (turns(name)[0].prefetch for name in (WHOLE, "power curve"))
    assert [row.time for row in whole.rows] != [row.time for row in power.rows]


def test_a_config_of_ones_own_is_ablated():
    measured = ablations(Config.measured())
    table = table_of(3)
    lab = measured["without curve"](table, models=stub_models(), clock=ManualClock.after(table))
    assert lab.config.retrieval == Config.measured().retrieval
    assert lab.config.prefetch == replace(Config.measured().prefetch, score_refresh="on_touch")


def test_all_ablations_run_on_the_bench_and_differ_in_their_settings():
    found = run_systems([topic()], SYSTEMS, graders=[Facts("strict")], models=parts())
    assert not [record.failure for record in found.records if record.failure]
    assert len(set(found.made_of["systems"].values())) == len(SYSTEMS)
