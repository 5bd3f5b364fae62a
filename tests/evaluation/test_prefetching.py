"""The paired replay against one written out by hand, its scores on made sequences, sweeps that break off, held-out topics."""

from __future__ import annotations

import argparse
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ilstma_lab import ILSTMA, Config, cli_evaluate, models
from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.evaluation.prefetch_judging import judged_runs, precision_recall
from ilstma_lab.evaluation.prefetch_report import compare_policies, hold_out
from ilstma_lab.evaluation.prefetch_scores import hit_band, hit_difference, miss_ratio_curve, prefetch_scores
from ilstma_lab.evaluation.prefetch_sweep import Grid, sweep
from ilstma_lab.evaluation.prefetching import replay_policy
from ilstma_lab.evaluation.workload import Access, Workload, load_workloads, with_retrieval
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.prefetch.policies import DemandLru, NextRows, NoPrefetch, standard_policies
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.retrieval.recall import BranchA, BranchB, Recall
from ilstma_lab.trace import Verdict
from tests.stubs import DAY_0, THINGS, Scripted, StubJudge, asking, stub_lab, table_of

ROWS = len(THINGS)
LATER = DAY_0 + timedelta(days=40)


def workload(*golds: int | tuple[int, ...], name: str = "stub", rows: int = ROWS) -> Workload:
    golds = [gold if isinstance(gold, tuple) else (gold,) for gold in golds]
    asked = (Access(f"q{n}", f"question {n}", LATER + timedelta(days=n), gold, gold[:1]) for n, gold in enumerate(golds))
    return Workload(name, table_of(rows), tuple(asked))


def hits(run) -> list[bool]:
    return [served.hit for served in run.served]


def by_hand(golds: list[int], *, k: int, offset: int, weight: float) -> list[bool]:
    """ILSTMA's prefetch over single gold rows, written out anew: plain lists, one day between questions, Eq. 1 to 4."""
    last = [n - 40 for n in range(ROWS)]  # days from the first question to each row's last recall
    times, cache, waiting, out = [1] * ROWS, [], [], []
    for day, row in enumerate(golds):
        out.append(row in cache)
        if row in cache:
            waiting.append((row, day))
            continue
        for touched, at in [*waiting, (row, day)]:
            times[touched], last[touched] = times[touched] + 1, at
        waiting = []

        def score(other: int, row: int = row, day: int = day) -> float:
            strength = -13.5 + 37 / (1 + np.exp(-1.5 * (times[other] - 1)))
            return np.exp(-(day - last[other]) / strength) + weight * (1 - 2 / np.pi * np.arctan(abs(other - row)))

        window = [other for other in range(ROWS) if abs(other - row) <= offset]
        cache = sorted(window, key=lambda other, row=row: (-round(score(other), 12), abs(other - row), -other))[:k]
    return out


@given(
    st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=25),
    st.integers(1, 3),
    st.integers(1, 5),
    st.sampled_from([0.5, 1.0, 3.0]),
)
@settings(max_examples=60, deadline=None)
def test_the_replay_is_the_one_written_out_by_hand(golds, k, offset, weight):
    policy = WindowPrefetch(k=k, offset=offset, place=PlaceTerm(weight=weight))
    assert hits(replay_policy(workload(*golds), policy)) == by_hand(golds, k=k, offset=offset, weight=weight)


def test_the_replay_has_in_its_cache_what_the_engine_has():
    golds = [3, 4, 4, 9, 8, 2, 3, 3]
    run = replay_policy(workload(*golds), WindowPrefetch(k=3, offset=3))
    lab = stub_lab(ROWS, config=Config(prefetch=WindowPrefetch(k=3, offset=3)))
    lab.retriever = Scripted(None)
    for served, row in zip(run.served, golds, strict=True):
        assert tuple(entry.index for entry in lab.memory.cache) == served.cache
        _ask_of(lab, row, hit=served.hit, at=served.access.at)


def test_a_session_of_deferred_writes_leaves_the_table_of_immediate_ones():
    golds = [3, 4, 4, 9, 8, 2, 3, 3, 5]
    tables = []
    for immediate in (False, True):
        lab = stub_lab(ROWS, config=Config(prefetch=WindowPrefetch(k=3, offset=3)))
        lab.retriever = Scripted(None)
        for number, row in enumerate(golds):
            hit = row in [entry.index for entry in lab.memory.cache]
            _ask_of(lab, row, hit=hit, at=LATER + timedelta(days=number))
            if immediate:
                lab.table.write_waiting()
        lab.table.write_waiting()
        tables.append(lab.table)
    deferred, at_once = tables
    assert deferred.recall_times.tolist() == at_once.recall_times.tolist()
    assert deferred.last_recall.tolist() == at_once.last_recall.tolist()
    assert [(r.row, r.at) for r in deferred.recalls] == [(r.row, r.at) for r in at_once.recalls]


def test_a_hit_keeps_the_cache_and_a_miss_empties_it_even_for_no_prefetch():
    run = replay_policy(workload(0, 1, 2, 3, 9), NextRows(k=3))
    assert hits(run) == [False, True, True, True, False]
    assert run.served[4].cache == (1, 2, 3)
    assert not any(hits(replay_policy(workload(0, 0, 0), NoPrefetch())))


class Chooses:
    def __init__(self, rows, trigger="miss"):
        self.rows, self.trigger = rows, trigger

    def select(self, context):
        return self.rows


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (NextRows, "an object with a method"),
        (lambda context: None, "an object with a method"),
        (Chooses(Selection.of([1]), trigger="sometimes"), "'miss' or 'every'"),
        (Chooses((1, 2)), "must return a Selection"),
        (Chooses(Selection.of([99, -1])), "does not hold"),
    ],
)
def test_a_prefetcher_that_cannot_be_used_is_refused(policy, message):
    with pytest.raises(InputError, match=message):
        replay_policy(workload(0, 1), policy)


def test_a_row_that_is_chosen_twice_lies_in_the_cache_once():
    assert replay_policy(workload(0, 1), Chooses(Selection.of([1, 1]))).served[1].cache == (1,)


def test_any_or_all_gold_rows_must_lie_in_the_cache():
    asked = workload(0, (1, 9), (1, 2))
    assert hits(replay_policy(asked, NextRows(k=3))) == [False, True, True]
    assert hits(replay_policy(asked, NextRows(k=3), match="all"))[1:] == [False, False]
    with pytest.raises(InputError, match="match must be"):
        replay_policy(asked, NextRows(), match="some")


def test_a_refill_that_comes_late_is_late():
    run = replay_policy(workload(0, 1, 2), NextRows(k=3), delay=1)
    assert [(served.hit, served.late) for served in run.served] == [(False, False), (False, True), (False, True)]
    scores = prefetch_scores([run], [replay_policy(workload(0, 1, 2), DemandLru(k=3))])
    assert scores.lateness == 1.0


def test_scores_of_a_sequence_counted_by_hand():
    asked = workload(0, 1, 2, 9, 0, 0)
    run, baseline = replay_policy(asked, NextRows(k=2)), replay_policy(asked, DemandLru(k=2))
    assert hits(run) == [False, True, True, False, False, False]
    assert hits(baseline) == [False, False, False, False, False, True]
    scores = prefetch_scores([run], [baseline])
    assert (scores.n, scores.hit_ratio) == (6, pytest.approx(2 / 6))
    assert scores.near_ratio == pytest.approx(4 / 6), "row 0 was recalled within the last seven turns, twice"
    assert scores.accuracy == pytest.approx(2 / 8), "four refills of two rows; rows 1 and 2 of the first were of use"
    assert scores.coverage == pytest.approx((5 - 4) / 5)
    assert scores.coverage_in_run == pytest.approx(2 / (2 + 4))
    assert scores.overprediction == pytest.approx(6 / 5)
    assert scores.pollution == pytest.approx(1 / 6)
    assert scores.rows == pytest.approx(8 / 6)
    assert scores.wasted > 0
    assert hit_band([run]).mean == pytest.approx(2 / 6)
    assert hit_difference([run], [baseline]).mean == pytest.approx(1 / 6)


def test_the_miss_ratio_curve_replays_each_size():
    asked = workload(0, 1, 2, 3, 9, 0)
    curve = miss_ratio_curve([asked], lambda k: NextRows(k=k), sizes=(1, 2, 3))
    assert curve.tolist() == pytest.approx([4 / 6, 4 / 6, 3 / 6])


def test_precision_and_recall_of_a_judge_on_replayed_caches():
    run = replay_policy(workload(0, 1, 2, 9, 0), NextRows(k=3))
    scores = {"question 1": 0.9, "question 2": 0.3, "question 4": 0.6}  # hits, a missed hit, a false hit
    verdicts = {asked: Verdict(score >= 0.5, score=score, threshold=0.5) for asked, score in scores.items()}
    table = judged_runs([run], StubJudge(verdicts, default=Verdict(False, score=0.0, threshold=0.5)))
    assert table.answerable.tolist() == [False, True, True, False, False]
    curve = precision_recall(table)
    assert curve.at(0.5) == (pytest.approx(1 / 2), pytest.approx(1 / 2), pytest.approx(2 / 5))
    assert curve.at(0.8) == (1.0, pytest.approx(1 / 2), pytest.approx(1 / 5))
    assert np.isnan(curve.at(0.95)[0])


def test_only_the_same_questions_are_paired():
    with pytest.raises(InputError, match="no pairs"):
        prefetch_scores([replay_policy(workload(0), NextRows())], [replay_policy(workload(1), NextRows())])


def test_questions_without_gold_are_asked_and_not_counted():
    run = replay_policy(workload(0, (), 1), NextRows(k=3))
    assert len(run.demands) == 2
    assert not run.served[2].hit, "the question between missed, recalled nothing, and emptied the cache"


def test_with_retrieval_a_miss_recalls_what_is_found():
    asked = workload(5)
    found = with_retrieval(replace(asked, accesses=(replace(asked.accesses[0], question=asking(7)),)))
    assert found.accesses[0].recalled[0] == 7


def test_every_standard_policy_holds_k_rows_at_most_and_only_rows_of_the_table():
    asked = workload(*np.random.default_rng(1).integers(0, ROWS, 30).tolist())
    for name, policy in standard_policies(k=2, offset=3).items():
        for served in replay_policy(asked, policy).served:
            assert len(served.cache) <= 2, name
            assert set(served.cache) <= set(range(ROWS)), name


# -- sweeps ------------------------------------------------------------------------------------------------------------

SMALL = Grid(offset=(1, 3), k=(1, 3, 5), form=("nearness", "literal"))


@pytest.fixture
def two() -> list[Workload]:
    return [workload(0, 1, 2, 9, 0), workload(4, 5, 4, 6, 1, name="second")]


def test_a_grid_leaves_out_what_a_window_has_no_room_for():
    assert {(s.k, s.offset) for s in SMALL.settings().values()} == {(1, 1), (3, 1), (1, 3), (3, 3), (5, 3)}


def test_a_sweep_is_the_replays_of_its_settings(two):
    frame = sweep(two, SMALL.settings(), jobs=1)
    assert len(frame) == 2 * len(SMALL.settings())
    for row in frame.itertuples():
        (asked,) = [one for one in two if one.name == row.workload]
        assert row.hits == sum(hits(replay_policy(asked, SMALL.settings()[row.setting])))
        assert (row.data_hash, row.demands) == (asked.data_hash, 5)


def test_several_processes_give_the_same(two):
    assert sweep(two, SMALL.settings(), jobs=2).equals(sweep(two, SMALL.settings(), jobs=1))


def test_a_sweep_that_broke_off_goes_on_and_gives_the_same_table(two, tmp_path):
    whole = sweep(two, SMALL.settings(), jobs=1, path=tmp_path / "whole.jsonl")
    lines = (tmp_path / "whole.jsonl").read_text().splitlines(keepends=True)
    broken = tmp_path / "broken.jsonl"
    broken.write_text("".join(lines[:5]) + lines[5][:20])
    told = []
    again = sweep(two, SMALL.settings(), jobs=1, path=broken, progress=lambda done, total: told.append((done, total)))
    assert again.equals(whole)
    assert told[0] == (6, len(whole)), "five were known, the torn sixth is run again"
    assert sorted(broken.read_text().splitlines()) == sorted((tmp_path / "whole.jsonl").read_text().splitlines())


def test_a_sweep_does_not_write_into_another_file(two, tmp_path):
    (tmp_path / "notes.txt").write_text("my notes\n")
    with pytest.raises(FormatError, match="does not hold the results of a sweep"):
        sweep(two, SMALL.settings(), jobs=1, path=tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "my notes\n"


@pytest.mark.parametrize("text", ["one precious line", '{"a": 1}', '{"key": "a"}\nmy notes', "a\nb", '{"key": "a"}\n', "\udcff"])
def test_a_file_that_is_no_sweep_is_refused_and_left_as_it_is(two, tmp_path, text):
    given = tmp_path / "diary.txt"
    given.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = given.read_bytes()
    with pytest.raises(FormatError, match="nothing was written"):
        sweep(two, SMALL.settings(), jobs=1, path=given)
    assert given.read_bytes() == before


def test_a_sweep_of_nothing_is_refused(two):
    for workloads, settings_ in (([], SMALL.settings()), (two, {})):
        with pytest.raises(InputError, match="at least one"):
            sweep(workloads, settings_)


def test_other_data_are_swept_anew(two, tmp_path):
    sweep(two, SMALL.settings(), jobs=1, path=tmp_path / "s.jsonl")
    other = [replace(two[0], accesses=two[0].accesses[::-1])]
    assert sweep(other, SMALL.settings(), jobs=1, path=tmp_path / "s.jsonl")["hits"].sum() == sum(
        sum(hits(replay_policy(other[0], setting))) for setting in SMALL.settings().values()
    )


# -- held-out topics and the report ------------------------------------------------------------------------------------


def test_the_best_setting_is_chosen_on_some_topics_and_tested_on_the_rest():
    sets = [workload(*np.random.default_rng(n).integers(0, ROWS, 15).tolist(), name=f"t{n}") for n in range(5)]
    frame = sweep(sets, SMALL.settings(), jobs=1)
    held = hold_out(frame, [replay_policy(one, NextRows()) for one in sets])
    assert len(held.splits) == 10, "every three of five topics"
    for split in held.splits:
        of = frame[frame["workload"].isin(split.chosen_on)].groupby("setting")["hits"].sum()
        rest = frame[~frame["workload"].isin(split.chosen_on) & (frame["setting"] == split.setting)]
        assert of[split.setting] == of.max()
        assert split.ratio == pytest.approx(rest["hits"].sum() / rest["demands"].sum())
    with pytest.raises(InputError, match="one topic"):
        hold_out(frame[frame["workload"] == "t0"], [])


def test_the_report_holds_every_policy_beside_the_bounds(two):
    found = compare_policies("stub", two, standard_policies())
    text = found.text()
    assert all(name in text for name in ("ILSTMA", "next 3", "demand LRU", "window oracle", "refill ceiling", "35.35 %"))
    assert max(map(len, text.splitlines())) <= 120
    frame = found.to_frame()
    assert frame.loc["next 3", "gain"] == 0.0
    assert found.by_kind().loc["next 3", "no kind (n = 10)"] == pytest.approx(frame.loc["next 3", "hit_ratio"])
    assert frame.loc["ILSTMA", "hit_ratio"] == pytest.approx(found.band("ILSTMA").mean)
    with pytest.raises(InputError, match="no policy named"):
        compare_policies("stub", two, standard_policies(), rival="next 4")


def test_no_policy_that_refills_on_a_miss_passes_the_unlimited_oracle():
    sets = load_workloads("ilstma5", models=offline(HashedEmbedder(dim=8)))
    found = compare_policies("ilstma5", sets, standard_policies())
    limit = next(bound.ratio for bound in found.bounds if bound.name == "unlimited oracle")
    assert all(found.scores(name).hit_ratio <= limit for name in found.runs)


def test_the_command_prints_the_table_and_goes_on_with_a_sweep(capsys, tmp_path, monkeypatch):
    parser = argparse.ArgumentParser()
    cli_evaluate.add_parser(parser.add_subparsers())
    monkeypatch.setattr(models, "default_embedder", lambda: HashedEmbedder(dim=8))
    csv = tmp_path / "policies.csv"
    args = parser.parse_args(["evaluate", "prefetch", "--data", "travel", "--card", "--csv", str(csv)])
    assert args.run(args) == 0
    for data, message in (("travel", "travel has one"), (",", "names no data set"), ("travel,bogus", "no data set")):
        bad = parser.parse_args(["evaluate", "prefetch", "--data", data, "--sweep", str(tmp_path / "s.jsonl")])
        with pytest.raises(InputError, match=message):
            bad.run(bad)
    out = capsys.readouterr().out
    assert "travel: 18 questions with gold" in out
    assert "compulsory" in out
    assert "ILSTMA, literal" in csv.read_text()


def _ask_of(lab: ILSTMA, row: int, *, hit: bool, at) -> None:
    """Ask a question that row `row` answers: on a hit the judge uses it, on a miss it is what is recalled."""
    question = f"about {row}, {at.isoformat()}"
    lab.models.judge.script[question] = Verdict(hit, answer="yes", used=(row,)) if hit else Verdict(False)
    lab.retriever.retrieve = lambda query, table, *, now: Recall(query.text, (row,), "agree", BranchA(), BranchB(), "")
    lab.ask(question, at=at, remember=False)
