"""Outcomes against a ranking made by hand, what is left out, pairs, tables of text, the command and the figure."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from ilstma_lab import Config, cli_evaluate, models
from ilstma_lab.errors import FormatError, InputError, ModelError
from ilstma_lab.evaluation import baselines
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic, load_topic
from ilstma_lab.evaluation.report import Comparison
from ilstma_lab.evaluation.retrieval import METRICS, embed_once, evaluate_bm25, evaluate_retrieval
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.plots.retrieval import found_share
from ilstma_lab.plots.template import CONFIG, described, page
from ilstma_lab.retrieval.recall import Reading
from tests.stubs import DAY_0, StubReader, asking, said

EMBEDDER = HashedEmbedder(dim=64)
LATER = DAY_0 + timedelta(days=40)


def topic(name: str = "stub", rows: int = 12) -> Topic:
    asked = [
        RecallQuestion(f"{name}-{n}", asking(n), LATER, gold=(f"day{n}",), group="odd" if n % 2 else "even") for n in range(rows)
    ]
    asked.append(RecallQuestion(f"{name}-x", "Is the sea salty?", LATER, kind="general", group="general"))
    return Topic(name, tuple(said(n) for n in range(rows)), tuple(asked))


def thinking(**parts):
    return replace(offline(EMBEDDER), **parts)


class Counting:
    name, dim = EMBEDDER.name, EMBEDDER.dim

    def __init__(self):
        self.texts = []

    def embed(self, texts, kind):
        self.texts += texts
        return EMBEDDER.embed(texts, kind)


@pytest.fixture(scope="module")
def report():
    return evaluate_retrieval([topic(), topic("second")], Config(), models=thinking(), system="paper")


def test_ranks_are_those_of_the_cosine_written_out():
    travel = load_topic("travel")
    found = evaluate_retrieval([travel], Config(), models=thinking())
    vectors = EMBEDDER.embed([d.text for d in travel.dialogues], "row")
    with_gold = [q for q in travel.questions if q.kind == "recall"]
    assert [o.id for o in found.outcomes] == [q.id for q in with_gold]
    assert found.left_out == len(travel.questions) - len(with_gold)
    for question, outcome in zip(with_gold, found.outcomes, strict=True):
        cosine = vectors @ EMBEDDER.embed([question.question], "query")[0]
        ranked = [travel.dialogues[at].source for at in np.lexsort((-np.arange(len(cosine)), -cosine))]
        assert outcome.top == tuple(ranked[:5])
        assert outcome.rank == 1 + min(ranked.index(source) for source in question.gold + question.alt_gold)


def test_questions_without_gold_are_left_out_and_counted(report):
    assert (len(report), report.left_out) == (24, 2)
    assert report.topics == ("stub", "second")
    assert report.kinds == ("even", "odd")
    assert len(report.of_kind("odd")) == 12


def test_means_are_means_of_the_outcomes(report):
    bands, ranks = report.bands(), np.array([o.rank for o in report.outcomes])
    assert bands["B@1"].mean == np.mean(ranks <= 1)
    assert bands["MRR"].mean == pytest.approx(np.mean(1 / ranks))
    assert bands["rows"].mean == np.mean([len(o.recalled) for o in report.outcomes])
    assert bands["found"].mean == np.mean([bool(set(o.recalled) & o.finds) for o in report.outcomes])


def test_the_frame_keeps_every_question(report):
    frame = report.to_frame()
    assert len(frame) == 24
    assert frame["B@2"].mean() == report.bands()["B@2"].mean
    assert set(METRICS) <= set(frame.columns)


def test_a_reader_that_names_a_wrong_winner_costs_the_referee():
    """By the paper's rule A's row alone is recalled where it is among B's, so naming B's second loses B's first."""
    first = evaluate_retrieval([topic()], Config(), models=thinking())
    second = {o.question: Reading(int(o.top[1].removeprefix("day"))) for o in first.outcomes}
    found = evaluate_retrieval([topic()], Config(), models=thinking(reader=StubReader(second)))
    assert first.bands()["B@2"] == found.bands()["B@2"]
    assert found.lost_by_referee == sum(o.rank == 1 for o in found.outcomes) > 0
    assert found.bands()["rows"].mean == 1
    kept = evaluate_retrieval([topic()], Config.measured(), models=thinking(reader=StubReader(second)))
    assert kept.lost_by_referee == 0


def test_a_reader_that_fails_is_kept_in_the_outcome():
    class Broken:
        def read(self, query, chunks):
            raise RuntimeError("no wire")

    found = evaluate_retrieval([topic()], Config(), models=thinking(reader=Broken()), system="broken")
    assert all("no wire" in o.error for o in found.outcomes)
    assert found.bands()["A@1"].mean == 0
    assert "a branch failed on 12 questions" in Comparison("stub", 12, (found,), "broken").text()


@pytest.mark.filterwarnings("ignore")
def test_rows_without_a_vector_are_no_measurement():
    class Deaf(Counting):
        def embed(self, texts, kind):
            raise OSError("no model")

    with pytest.raises(ModelError, match="could not be embedded"):
        evaluate_retrieval([topic()], Config(), models=thinking(embedder=Deaf()))


def test_several_configs_embed_each_text_once():
    counting = Counting()
    shared = embed_once(thinking(embedder=counting))
    once = evaluate_retrieval([topic()], Config(), models=shared)
    evaluate_retrieval([topic()], Config.measured(), models=shared)
    assert len(counting.texts) == len(set(counting.texts))
    assert once.outcomes == evaluate_retrieval([topic()], Config(), models=thinking()).outcomes


def test_progress_counts_rows_and_questions_up_to_all():
    seen = []
    evaluate_retrieval([topic(), topic("second")], Config(), models=thinking(), progress=lambda *now: seen.append(now))
    assert seen == sorted(seen)
    assert seen[-1] == (48, 48)


def test_only_the_same_questions_make_pairs(report):
    other = evaluate_retrieval([topic(rows=5)], Config(), models=thinking(), system="other")
    with pytest.raises(InputError, match="different questions"):
        report.difference(other)
    assert all(band.mean == band.low == band.high == 0 for band in report.difference(report).values())


# -- the table of text, the command, the figure ------------------------------------------------------------------------


@pytest.fixture
def comparison(report):
    pytest.importorskip("bm25s", reason="the BM25 baselines need bm25s (extra `evaluate`)")
    topics = [topic(), topic("second")]
    measured = evaluate_retrieval(topics, Config.measured(), models=thinking(), system="measured")
    return Comparison("stub <b>set</b>", 24, (report, measured, evaluate_bm25(topics)), "measured")


def test_the_text_fits_120_columns_and_names_all_there_is(comparison):
    text = comparison.text(by_kind=True)
    assert max(map(len, text.splitlines())) <= 120
    for part in (
        *METRICS,
        "24 questions with gold, 2 topics, 24 rows",
        "measured - paper",
        "measured - BM25",
        "odd: 12",
        "2 questions without",
    ):
        assert part in text
    assert "nan" not in text


def test_columns_stay_apart_also_where_all_is_found(report):
    """The stub's questions hold their dialogue's words, so every share is 1."""
    lines = Comparison("stub", 24, (report,), "paper").text().splitlines()
    starts = [lines[1].index(metric) for metric in METRICS]
    assert report.bands()["B@2"].low == 1
    for line in lines[2:4]:
        assert all(line[start - 1 : start] in (" ", "") for start in starts)


def test_the_json_holds_both_bands_and_no_nan(comparison):
    figures = json.loads(json.dumps(comparison.to_dict(by_kind=True), allow_nan=False))
    assert figures["systems"]["BM25"]["found"] == dict.fromkeys(("mean", "low", "high", "topic_low", "topic_high"))
    assert set(figures["differences"]) == {"measured - paper", "measured - BM25"}
    assert figures["kinds"]["even"]["questions"] == 12


def test_the_figure_has_a_dot_for_each_system_where_its_share_is(comparison):
    figure = found_share([comparison, replace(comparison, data="again")])
    assert len(figure.data) == 2
    first = figure.data[0]
    shares = [report.bands()["B@2"] for report in comparison.reports]
    np.testing.assert_allclose(first.x, [band.mean for band in shares])
    np.testing.assert_allclose(np.subtract(first.x, first.error_x.arrayminus), [band.low for band in shares])
    assert first.marker.symbol == ("circle", "circle", "square-open")
    assert "<b>set" not in first.name + "".join(first.hovertext)
    assert "measured" in described(figure)
    assert "sendChartToCloud" in CONFIG["modeBarButtonsToRemove"]
    assert 'aria-label="B@2 by data set' in page(figure)


@pytest.mark.parametrize("metric", [metric for metric in METRICS if metric != "rows"])
def test_every_share_can_be_drawn(report, metric):
    with pytest.raises(InputError, match="no share"):
        found_share([Comparison("stub", 24, (report,), "paper")], metric="rows")
    assert found_share([Comparison("stub", 24, (report,), "paper")], metric=metric).layout.title.text.startswith("paper: ")


@pytest.fixture
def command(monkeypatch):
    monkeypatch.setattr(models, "default_embedder", lambda: EMBEDDER)
    parser = argparse.ArgumentParser()
    cli_evaluate.add_parser(parser.add_subparsers(required=True))

    def call(*arguments):
        args = parser.parse_args(["evaluate", "retrieval", *arguments])
        return args.run(args)

    return call


def test_the_command_prints_a_table_and_writes_figures(command, tmp_path, capsys):
    own = tmp_path / "own.json"
    own.write_text(json.dumps(Config.measured().to_dict()), encoding="utf-8")
    files = tmp_path / "figures.json", tmp_path / "plot.html", tmp_path / "plot.json"
    for plot in files[1:]:
        arguments = ["--data", "travel", "--config", "paper", str(own), "--json", str(files[0]), "--plot", str(plot)]
        assert command(*arguments) == 0
    printed = capsys.readouterr()
    assert "travel: 18 questions with gold, 1 topic, 96 rows" in printed.out
    assert "of 114" in printed.err
    (figures,) = json.loads(files[0].read_text(encoding="utf-8"))
    assert list(figures["systems"])[:2] == ["paper", str(own)]
    assert files[1].read_text(encoding="utf-8").startswith("<!doctype html>")
    assert json.loads(files[2].read_text(encoding="utf-8"))["data"]


def test_without_the_library_the_command_reports_without_baselines(command, monkeypatch, capsys):
    def missing(*_, **__):
        raise baselines.MissingBaseline("the BM25 baselines need bm25s: pip install 'ilstma-lab[evaluate]'")

    monkeypatch.setattr("ilstma_lab.evaluation.retrieval.Bm25", missing)
    assert command("--data", "travel", "--config", "paper") == 0
    printed = capsys.readouterr()
    assert "BM25" not in printed.out
    assert "pip install 'ilstma-lab[evaluate]'" in printed.err


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (["--data", "nowhere"], InputError, "no data set 'nowhere'"),
        (["--data", ","], InputError, "names no data set"),
        (["--data", "locomo", "--data-dir", "."], InputError, "does not hold locomo"),
        (["--config", "none.json"], InputError, "No such file"),
        (["--json", "no/such/folder/x.json"], InputError, "there is no folder"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_measured(command, arguments, error, says):
    with pytest.raises(error, match=says):
        command(*arguments)


@pytest.mark.parametrize("content", ["{", "[]", '{"retrievall": 1}'])
def test_a_file_that_holds_no_config_is_named(command, tmp_path, content):
    path = tmp_path / "bad.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(FormatError, match=r"bad\.json holds no config"):
        command("--config", str(path))
