"""The bench's figures against records written by hand: means, bands, pairs, kinds, repeats, graders, the papers beside."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bench import Bench, Measured
from ilstma_lab.evaluation.bench_claims import caveat, claims
from ilstma_lab.evaluation.bench_metrics import METRICS
from ilstma_lab.evaluation.bench_tables import banded, false_hits, notes, tables
from ilstma_lab.evaluation.bench_verdict import finding
from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.experiment import Experiment
from ilstma_lab.evaluation.grading import Grade
from ilstma_lab.evaluation.model_ranking import rank_models
from ilstma_lab.evaluation.records import Record
from ilstma_lab.plots.bench import accuracy_against_seconds, accuracy_bands
from ilstma_lab.plots.template import described
from ilstma_lab.reprs.bench import bench_page
from tests.evaluation.bench_kit import HOSTILE, topic

TOPICS = (replace(topic("travel"), name="travel"), topic("two"))
QUESTIONS = [(t.name, q) for t in TOPICS for q in t.questions]  # four of recall, one general, one never said, in each topic


def records(system: str, accuracy, *, repeat: int = 0, strict=None, **more):
    """One record a question; a value that is a list gives each question its own."""
    for at, (name, question) in enumerate(QUESTIONS):
        own = {key: value[at] if isinstance(value, list) else value for key, value in more.items()}
        grades = {"lenient": Grade(accuracy[at]), "strict": Grade((strict or accuracy)[at])}
        yield Record(system, name, repeat, question.id, question.kind, grades=grades, **own)


RIGHT = [1.0, 1.0, 0.5, 0.0, 1.0, 0.0] * 2
WRONG = [0.0, 1.0, 0.0, 0.0, 0.0, 0.0] * 2
FOUND = [1.0, 0.5, 0.0, 1.0, None, None] * 2
RANKS = [1, 2, 0, 4, None, None] * 2
A_ALONE = [1.0, None, None, 0.0, None, None] * 2
HITS = [False, True, True, False, True, False] * 2


def experiment(*, favourite: str = "ILSTMA", **more) -> Experiment:
    mine = records(
        favourite, RIGHT, strict=[float(a == 1) for a in RIGHT], recalled=("day0", "day1"), retrieve=FOUND, rank=RANKS,
        hit=HITS, seconds=2.0, seconds_after=0.5, prompt_tokens=100, reply_tokens=10, a_alone=A_ALONE,
    )  # fmt: skip
    other = records("constant answer", WRONG, seconds=1.0)
    given = {"data": "stub", "models": "stub", "systems": (favourite, "constant answer"), "records": (*mine, *other), **more}
    return Experiment(topics=TOPICS, graders=("lenient", "strict"), **given)


BENCH = Bench(experiment(), "ILSTMA", "lenient")


def test_means_n_and_pairs_by_hand():
    assert BENCH.kinds == {"recall": 8, "general": 2, "never_said": 2}
    assert (BENCH.measured("ILSTMA", "accuracy").n, BENCH.measured("ILSTMA", "accuracy").band.mean) == (12, 7 / 12)
    retrieve = BENCH.measured("ILSTMA", "retrieve")
    assert (retrieve.n, retrieve.band.mean) == (8, 2.5 / 4)
    for metric, wanted in (("hit@1", 1 / 4), ("hit@2", 2 / 4), ("hit@5", 3 / 4), ("MRR", 1.75 / 4), ("gold recalled", 2 / 4)):
        assert BENCH.measured("ILSTMA", metric).band.mean == pytest.approx(wanted), metric
    assert BENCH.measured("ILSTMA", "A alone").n == 4
    assert BENCH.measured("ILSTMA", "rows").band.mean == 2
    assert BENCH.measured("ILSTMA", "hits").band.mean == 0.5
    assert false_hits(BENCH, "ILSTMA") == "0 of 6"
    assert BENCH.measured("ILSTMA", "tokens").band.mean == 110
    assert BENCH.median_seconds("ILSTMA").band.mean == 2.0
    gain = BENCH.difference("constant answer", "accuracy")
    assert (gain.n, gain.band.mean) == (12, pytest.approx((7 - 2) / 12))
    assert BENCH.difference("constant answer", "seconds").band.mean == 1.0


def test_what_a_system_has_not_is_no_zero():
    for metric in ("retrieve", "A alone", "MRR", "rows", "hits", "false hits", "coherence"):
        measured = BENCH.measured("constant answer", metric)
        assert measured.n == 0
        assert np.isnan(measured.band.mean)
    assert BENCH.difference("constant answer", "retrieve").n == 0


def test_a_band_is_that_of_the_questions_that_have_the_metric():
    from ilstma_lab.evaluation.bootstrap import bootstrap

    values = np.array([value for value in FOUND if value is not None])
    assert BENCH.measured("ILSTMA", "retrieve").band == bootstrap(values[:, None])[0]
    by_topic = BENCH.measured("ILSTMA", "retrieve", by="topic").band
    assert by_topic.low == by_topic.high == by_topic.mean  # both topics are alike


def test_repeats_of_a_question_count_once_with_their_mean():
    again = records("ILSTMA", [0.0] * 12, repeat=1, seconds=4.0)
    bench = Bench(experiment(records=(*experiment().records, *again), deterministic=False, repeats=2), "ILSTMA", "lenient")
    assert (bench.measured("ILSTMA", "accuracy").n, bench.measured("ILSTMA", "accuracy").band.mean) == (12, 7 / 24)
    assert bench.measured("ILSTMA", "seconds").band.mean == 3.0
    assert "2 repeats, each on a fresh fork" in bench.text()


def test_kinds_and_graders_are_views_of_the_same_answers():
    assert BENCH.of_kind("general").measured("ILSTMA", "accuracy").band.mean == 1.0
    assert BENCH.of_kind("general").n == 2
    assert BENCH.graded_by("strict").measured("ILSTMA", "accuracy").band.mean == 6 / 12
    with pytest.raises(InputError, match="no grader 'kind'"):
        BENCH.graded_by("kind")
    with pytest.raises(InputError, match="no system 'nobody'"):
        Bench(experiment(), "nobody", "strict")
    with pytest.raises(InputError, match="no kind 'odd'"):
        BENCH.of_kind("odd")


def test_an_answer_that_could_not_be_graded_is_left_out_and_said():
    ungraded = tuple(records("ILSTMA", [None, *RIGHT[1:]]))
    bench = Bench(experiment(systems=("ILSTMA",), records=ungraded), "ILSTMA", "lenient")
    assert bench.measured("ILSTMA", "accuracy").n == 11
    assert "could not grade are left out: 1." in bench.text()


def test_failures_count_as_nothing_right_and_are_said():
    failed = tuple(records("ILSTMA", [0.0] * 12, failure=["boom"] + [""] * 11, seconds=[0.0] + [2.0] * 11))
    bench = Bench(experiment(systems=("ILSTMA",), records=failed), "ILSTMA", "lenient")
    assert bench.failures("ILSTMA") == 1
    assert bench.measured("ILSTMA", "seconds").n == 11
    assert "ILSTMA: 1 answer failed, and count as 0. The first: boom" in " ".join(notes(bench))


def with_grades(count: int, **found):
    """A bench of two systems of which `count` answers could be graded."""
    grades = [1.0] * count + [None] * (12 - count)
    both = (*records("ILSTMA", grades, **found), *records("SCM", grades, retrieve=[0.0] * 12))
    return Bench(experiment(systems=("ILSTMA", "SCM"), records=both), "ILSTMA", "lenient")


@pytest.mark.parametrize("count", [0, 1, 9])
def test_too_few_graded_answers_are_no_ground_and_the_rows_recalled_speak(count):
    bench = with_grades(count, retrieve=[1.0] * 11 + [0.0])
    few = f"Too few answers could be graded (n = {count} of 12)"
    assert finding(bench) == f"{few}. ILSTMA recalls more than SCM (retrieve, n = 12)"
    assert json.loads(accuracy_bands(bench).to_json())["layout"]["title"]["text"] == few
    by_rows = json.loads(accuracy_bands(bench, metric="retrieve").to_json())["layout"]["title"]["text"]
    assert by_rows == "ILSTMA: retrieve 92% (n = 12), above 1 of 1 others"


def test_with_too_few_of_both_nothing_is_told():
    assert "Nothing can be told" in finding(with_grades(1, retrieve=[1.0] + [None] * 11))
    assert finding(with_grades(12).of_kind("general")).startswith("Too few questions to judge by (n = 2). Nothing")


def test_ten_graded_answers_are_enough():
    assert finding(with_grades(10)) == "ILSTMA cannot be told from SCM (n = 10)"


def with_broken(favourite: str = "ILSTMA", **more) -> Bench:
    crashed = tuple(records("crash", [0.0] * 12, failure="ValueError: no such row", retrieve=FOUND, rank=RANKS, **more))
    run = experiment(systems=("crash", "ILSTMA", "constant answer"), records=(*crashed, *experiment().records))
    return Bench(run, favourite, "lenient")


def test_a_system_that_only_fails_is_named_first_and_compared_with_nothing():
    bench = with_broken()
    assert bench.broken == ("crash",)
    assert bench.text().startswith("crash failed at every question: ValueError: no such row\n")
    assert "crash failed at every question" in bench._repr_html_()
    assert finding(bench) == finding(BENCH)
    assert "- crash" not in bench.text()
    assert {bench.measured("crash", metric).n for metric in METRICS} == {0}
    assert bench.to_dict()["broken"] == {"crash": "ValueError: no such row"}
    assert "crash" not in accuracy_bands(bench).data[0].hovertext
    assert "could not grade" not in bench.text()


def test_a_favourite_that_only_fails_is_compared_with_nothing():
    bench = with_broken("crash")
    assert finding(bench) == "crash failed at every question: nothing can be compared with it"
    assert "paired by question" not in bench.text()


def test_some_failures_stand_beside_the_n():
    failed = tuple(records("ILSTMA", [0.0] * 12, failure=["boom"] * 2 + [""] * 10))
    answers = dict(tables(Bench(experiment(systems=("ILSTMA",), records=failed), "ILSTMA", "lenient")))
    assert next(iter(answers.values())).rows[0][2] == "12 (2 failed)"


def test_a_difference_whose_band_excludes_0_has_a_star():
    assert banded(Measured(9, Band(0.03, 0.001, 0.1)), "+") == "+.03 +.00..+.10*"
    assert banded(Measured(9, Band(-0.03, -0.1, -0.001)), "+").endswith("*")
    assert not banded(Measured(9, Band(0.03, 0.0, 0.1)), "+").endswith("*")
    assert not banded(Measured(9, Band(0.03, 0.001, 0.1))).endswith("*")
    assert "* the 95 % band of the difference excludes 0." in notes(BENCH)


def test_only_what_is_shown_and_there_is_explained():
    assert "hit@k" in " ".join(notes(BENCH))
    assert "A alone" in " ".join(notes(BENCH))
    short = " ".join(notes(BENCH, shown=("accuracy", "retrieve")))
    assert not any(metric in short for metric in ("hit@k", "MRR", "A alone", "tokens"))
    assert ".5 for a text written of it" in short
    plain = experiment(systems=("constant answer",), records=tuple(records("constant answer", WRONG)))
    assert "retrieve" not in " ".join(notes(Bench(plain, "constant answer", "lenient")))


def test_a_bench_in_a_list_is_short():
    assert len(repr(BENCH)) < 200
    assert "2 systems, 12 questions, 24 records" in repr(BENCH.experiment)


@pytest.mark.parametrize(("repeats", "said"), [(1, "ran once."), (10, "ran once, though 10 repeats were asked for")])
def test_a_deterministic_run_says_that_it_ran_once(repeats, said):
    assert said in " ".join(notes(Bench(experiment(repeats=repeats), "ILSTMA", "lenient")))


# -- as text, JSON, frame, page ----------------------------------------------------------------------------------------


def test_the_text_holds_every_table_and_n():
    text = BENCH.text(by_kind=True)
    for said in ("12 questions (8 recall, 2 general, 2 never said), 2 topics, 12 rows", "recall (n = 8)", "lenient  ", "strict"):
        assert said in text, said
    assert max(map(len, text.splitlines())) <= 125


def test_the_finding_says_only_what_the_bands_tell():
    assert finding(BENCH) == "ILSTMA answers better than constant answer (n = 12)"
    same = experiment(records=(*records("ILSTMA", RIGHT), *records("constant answer", RIGHT)))
    assert finding(Bench(same, "ILSTMA", "lenient")) == "ILSTMA cannot be told from constant answer (n = 12)"
    assert finding(Bench(experiment(), "constant answer", "lenient")) == "constant answer answers worse than ILSTMA (n = 12)"
    alone = experiment(systems=("ILSTMA",), records=tuple(records("ILSTMA", RIGHT)))
    assert "alone" in finding(Bench(alone, "ILSTMA", "lenient"))
    assert [title for title, _ in tables(Bench(alone, "ILSTMA", "lenient"))][3] == "The same answers under each grader"


def test_json_has_no_nan_and_every_figure():
    figures = json.loads(json.dumps(BENCH.to_dict(by_kind=True), allow_nan=False))
    assert figures["systems"]["ILSTMA"]["accuracy"] == {"n": 12, "mean": pytest.approx(7 / 12), **_ends(figures)}
    assert figures["systems"]["constant answer"]["retrieve"] == {"n": 0, "mean": None, "low": None, "high": None}
    assert figures["by_kind"]["general"]["questions"] == 2
    assert set(METRICS) <= set(figures["systems"]["ILSTMA"])


def _ends(figures):
    return {end: figures["systems"]["ILSTMA"]["accuracy"][end] for end in ("low", "high")}


def test_the_frame_has_a_row_for_each_system_and_metric():
    frame = BENCH.to_frame()
    assert len(frame) == 2 * len(METRICS)
    gain = frame.set_index(["system", "metric"]).loc[("constant answer", "accuracy")]
    assert (gain["gain_n"], gain["gain"]) == (12, pytest.approx(5 / 12))


def test_g6_names_that_are_markup_stay_text():
    bench = Bench(replace(experiment(favourite=HOSTILE), data=HOSTILE), HOSTILE, "lenient")
    for page in (bench._repr_html_(), bench_page([bench])):
        assert "<img" not in page
    for figure in (accuracy_bands(bench), accuracy_against_seconds(bench)):
        shown = json.loads(figure.to_json())
        shown["layout"].pop("meta")
        assert "<img" not in json.dumps(shown)


# -- the papers' tables ------------------------------------------------------------------------------------------------


def test_claims_stand_beside_what_was_measured():
    found = {title.partition(":")[0]: table for title, table in claims(BENCH)}
    assert set(found) == {"ILSTMA, Table 3", "ILSTMA, Table 4", "ILSTMA, Table 5"}
    assert found["ILSTMA, Table 3"].rows == (("travel", "42.81 %", "50.0 % (n = 6)"),)
    assert found["ILSTMA, Table 4"].rows == (("ILSTMA with prefetch", "4.06 s", "2.00 s (n = 12)"),)
    measured = (".58 (n = 12)", ".62 (n = 8)", ".50 (n = 4)", "-")
    assert found["ILSTMA, Table 5"].rows[0][2::2] == measured
    assert found["ILSTMA, Table 5"].rows[0][1::2] == (".884", ".938", ".663", ".948")
    assert "stub on stub, graded by lenient" in caveat(BENCH)


def test_memorybanks_table_has_its_own_metrics():
    bench = Bench(experiment(favourite="MemoryBank"), "MemoryBank", "lenient")
    table = dict(claims(bench))["MemoryBank, Table 2: ranking, 1 / rank, needs two base models or more on one memory"]
    assert table.rows[0] == ("claimed: English, ChatGLM", ".809", ".438", ".680", ".498")
    assert table.rows[-1] == ("measured: stub", ".50 (n = 8)", ".58 (n = 12)", "-", "-")


def test_without_a_system_of_the_papers_nothing_is_claimed():
    bench = Bench(experiment(favourite="mine"), "mine", "lenient")
    assert list(claims(bench)) == []
    assert "Claimed" not in bench.text()


# -- plots -------------------------------------------------------------------------------------------------------------


def test_plots_show_every_system_with_its_band():
    figure = accuracy_bands(BENCH)
    assert list(figure.data[0].x) == [7 / 12, 2 / 12]
    assert figure.data[0].marker.symbol == ("circle", "square-open")
    assert "n = 12" in figure.data[0].hovertext[0]
    assert "ILSTMA 58.3%" in described(figure)
    assert len(accuracy_bands(BENCH, metric="retrieve").data[0].x) == 1
    against = accuracy_against_seconds(BENCH)
    assert list(against.data[0].x) == [2.0, 1.0]
    assert "2.00 s" in described(against)


# -- base models on one memory -----------------------------------------------------------------------------------------


def test_base_models_are_ranked_question_by_question():
    one, other = experiment(), experiment(records=tuple(records("ILSTMA", WRONG)), systems=("ILSTMA",))
    scores = rank_models({"big": one, "small": other}, system="ILSTMA", grader="lenient")
    better, tied = 3, 3  # of the six questions of a topic, by RIGHT against WRONG
    assert scores.bands()["big"].mean == pytest.approx((better + tied * 0.75) / 6)
    assert scores.bands()["small"].mean == pytest.approx((better / 2 + tied * 0.75) / 6)
    with pytest.raises(InputError, match="two base models"):
        rank_models({"big": one}, system="ILSTMA", grader="lenient")
    with pytest.raises(InputError, match="no 'SCM'"):
        rank_models({"big": one, "small": other}, system="SCM", grader="lenient")
    with pytest.raises(InputError, match="other questions"):
        rank_models({"big": one, "small": replace(other, topics=TOPICS[:1])}, system="ILSTMA", grader="lenient")


def test_labels_of_close_points_stand_on_lines_of_their_own():
    alike = (*records("ILSTMA", RIGHT, seconds=1.0), *records("constant answer", RIGHT, seconds=1.0))
    figure = accuracy_against_seconds(Bench(experiment(records=alike), "ILSTMA", "strict"))
    low, high = figure.layout.annotations
    assert high.y == low.y
    top, bottom = figure.layout.yaxis.range[1], figure.layout.yaxis.range[0]
    assert abs(high.ay - low.ay) / (top - bottom) * figure.layout.height >= 15
