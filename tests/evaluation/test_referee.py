"""The referee's report against rankings and rulings written out by hand; tables, the command, and a recorded reading."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from ilstma_lab import Config, cli_evaluate, models
from ilstma_lab.errors import InputError, ModelError
from ilstma_lab.evaluation.cases import SMALL_READING, case_of, cases_of
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic, load_topic
from ilstma_lab.evaluation.referee import DECISIONS, RULES, RefereeReport, evaluate_referee
from ilstma_lab.models import offline
from ilstma_lab.models.cassette import Cassette
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.models.prompted import PromptedReader
from ilstma_lab.retrieval.dual import DualRetriever
from ilstma_lab.retrieval.recall import BranchA, BranchB, Candidate, Reading, Recall
from tests.models.stand_in import Scripted
from tests.stubs import DAY_0, StubReader, asking, said, table_of

EMBEDDER = HashedEmbedder(dim=64)
LATER = DAY_0 + timedelta(days=40)
ROWS = 12
HOSTILE = "</script><img src=x onerror=alert(1)>"


def topic(name: str = "stub") -> Topic:
    """Questions whose gold is, in turn, the row that they ask for, and the one three further on."""
    gold = [n if n % 2 else (n + 3) % ROWS for n in range(ROWS)]
    asked = [RecallQuestion(f"{name}-{n}", asking(n), LATER, gold=(f"day{gold[n]}",)) for n in range(ROWS)]
    asked.append(RecallQuestion(f"{name}-x", "Is the sea salty?", LATER, kind="general"))
    return Topic(name, tuple(said(n) for n in range(ROWS)), tuple(asked))


def thinking(**parts):
    return replace(offline(EMBEDDER), **parts)


SAID = {n: [Reading(n), Reading((n + 5) % ROWS), Reading(99, "99"), Reading(None)][n % 4] for n in range(ROWS)}


@pytest.fixture(scope="module")
def report() -> RefereeReport:
    reader = StubReader({asking(n): reading for n, reading in SAID.items()})
    topics = [topic(), topic("second")]
    return evaluate_referee(topics, models=thinking(reader=reader), data="stub", system="paper", with_summary=True)


def by_hand() -> list[dict]:
    """Each question of one topic: cosine ranking, the paper's rule and every rule's rows, without the package's retrieval."""
    rows = topic().dialogues
    vectors = EMBEDDER.embed([row.text for row in rows], "row")
    found = []
    for n, asked in enumerate(topic().questions[:ROWS]):
        cosine = vectors @ EMBEDDER.embed([asked.question], "query")[0]
        winners = np.lexsort((-np.arange(ROWS), -cosine))[:2].tolist()
        named = SAID[n].index if SAID[n].index in range(ROWS) else None
        decision = "agree" if named in winners else "disagree" if named is not None else "unread"
        decision = "invented" if SAID[n].raw and named is None else decision
        alone = [] if named is None else [named]
        recalled = alone if decision == "agree" else winners
        rules = [alone, winners[:1], recalled, winners, [*alone, *(w for w in winners if w != named)]]
        gold = int(asked.gold[0].removeprefix("day"))
        found.append({"decision": decision, "gold": gold, "rules": dict(zip(RULES, rules, strict=True))})
    return found


def test_the_confusion_is_that_of_rulings_written_out(report):
    counted = Counter((case["decision"], case["gold"] in case["rules"]["referee"]) for case in by_hand() * 2)
    assert report.confusion == {d: (counted[d, True], counted[d, False]) for d in DECISIONS}
    assert all(sum(report.confusion[decision]) for decision in DECISIONS), "the stub's reader brings every kind"


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_finds_and_costs_what_it_does_by_hand(report, rule):
    cases = by_hand() * 2
    held = [case["gold"] in case["rules"][rule] for case in cases]
    beside = [min((abs(case["gold"] - row) for row in case["rules"][rule]), default=99) for case in cases]
    bands = report.bands()[rule]
    assert report.found(rule) == sum(held)
    assert bands["found"].mean == pytest.approx(np.mean(held))
    assert bands["rows"].mean == pytest.approx(np.mean([len(case["rules"][rule]) for case in cases]))
    grades = [1.0 if away == 0 else 0.5 if away == 1 else 0.0 for away in beside]
    assert bands["accuracy"].mean == pytest.approx(np.mean(grades)), "each row of the stub has a day of its own"


def test_the_papers_two_accuracies_are_those_of_a_alone_and_of_the_referee(report):
    assert report.branch_a_accuracy == report.bands()["A alone"]["accuracy"]
    assert report.retrieve_accuracy == report.bands()["referee"]["accuracy"]


def test_differences_are_paired_and_drawn_by_topic_too(report):
    found = {rule: np.array([case["gold"] in case["rules"][rule] for case in by_hand() * 2]) for rule in RULES}
    assert report.exchanged("referee", "A alone") == (
        (found["referee"] & ~found["A alone"]).sum(),
        (found["A alone"] & ~found["referee"]).sum(),
    )
    difference = report.differences("A alone")["referee"]["found"]
    assert difference.mean == pytest.approx(found["referee"].mean() - found["A alone"].mean())
    by_topic = report.differences("A alone", by="topic")["referee"]["found"]
    assert by_topic.low == by_topic.mean == by_topic.high, "both topics are the same"
    assert difference.low < difference.mean < difference.high


def test_the_referee_never_finds_what_bs_two_do_not(report):
    for each in (report, report.with_summary):
        assert each.exchanged("referee", "B's two")[0] == 0
        assert each.exchanged("B's two", "A and B's two")[0] == 0


def test_measured_settings_are_ruled_by_the_papers_rule_as_well():
    reader = StubReader({asking(3): Reading(3)})
    (case,) = [case for case in cases_of(topic(), Config.measured(), models=thinking(reader=reader)) if case.id == "stub-3"]
    assert case.decision == "agree"
    assert case.recall.recalled == (3,)


def test_questions_without_gold_are_left_out_and_counted(report):
    assert (len(report), report.left_out, report.rows) == (24, 2, 24)
    assert report.topics == ("stub", "second")


def test_scripted_cases_are_shown_and_never_counted(report):
    more = replace(report, cases=(*report.cases, replace(report.cases[0], scripted=True)))
    assert len(more.cases) == len(report.cases) + 1
    assert more.confusion == report.confusion
    assert more.bands() == report.bands()
    assert more.to_frame()["scripted"].sum() == 1


def test_a_row_of_the_right_day_and_a_neighbour_count_half():
    travel = load_topic("travel")
    table = models_table(travel)
    day_of = {row: table.day_of(row) for row in table.indices.tolist()}
    for case in cases_of(travel, Config(), models=thinking()):
        for row in day_of:
            half = any(day_of[row] == day_of[gold] or abs(row - gold) == 1 for gold in case.gold)
            assert case.grade([row]) == (1.0 if row in case.gold else 0.5 if half else 0.0)
        assert case.grade([]) == 0.0


def models_table(of: Topic):
    from ilstma_lab import MemoryTable

    return MemoryTable.from_dialogues(of.dialogues, embedder=EMBEDDER)


def test_what_the_reader_could_have_named_is_told():
    recall = Recall("q", (1,), "disagree", BranchA(), BranchB((Candidate(1, 0, 0.5, won=True),)))
    assert not case_of(recall, table_of(3), gold=[1]).seen
    cases = list(cases_of(topic(), Config(), models=thinking()))
    for case in cases:
        chunks = case.recall.branch_a.chunks[: Config().retrieval.read_chunks]
        assert case.seen == any(row in case.gold for chunk in chunks for row in chunk.rows)


def test_a_case_carries_the_texts_that_it_shows():
    for case in cases_of(topic(), Config(), models=thinking()):
        for row in (*case.gold, *case.winners, case.named):
            assert row is None or case.rows[row] == (said(row).user, said(row).assistant)


def test_the_summary_joins_the_question_in_both_searches(report):
    for alone, joined in zip(report.cases, report.with_summary.cases, strict=True):
        assert joined.question == alone.question == alone.recall.question
        assert joined.recall.question.startswith(f"{alone.question}\n")
        assert len(joined.recall.question) > len(alone.question) + 10
    found = report.with_summary.values[:, :, 0].mean(axis=0) - report.values[:, :, 0].mean(axis=0)
    change = report.with_summary.change(report)
    np.testing.assert_allclose([change[rule]["found"].mean for rule in RULES], found)


def test_only_the_same_questions_make_pairs(report):
    other = replace(report, cases=report.cases[:3])
    with pytest.raises(InputError, match="different questions"):
        report.change(other)
    with pytest.raises(InputError, match="no rule 'C'"):
        report.found("C")


def test_a_branch_that_fails_is_told_and_counts_as_unread():
    reader = StubReader(default=ConnectionError("no wire"))
    found = evaluate_referee([topic()], models=thinking(reader=reader))
    assert found.failed == 12
    assert sum(found.confusion["unread"]) == 12
    assert "a branch failed on 12 questions" in str(found)


@pytest.mark.filterwarnings("ignore")
def test_rows_without_a_vector_are_no_measurement():
    class Deaf:
        name, dim = "deaf", 64

        def embed(self, texts, kind):
            raise OSError("no model")

    with pytest.raises(ModelError, match="could not be embedded"):
        evaluate_referee([topic()], models=thinking(embedder=Deaf()))


def test_progress_counts_every_question():
    seen = []
    evaluate_referee([topic()], models=thinking(), with_summary=True, progress=lambda *now: seen.append(now))
    assert seen == [(n, 24) for n in range(1, 25)]


# -- text, HTML, JSON, the command ---------------------------------------------------------------------------------------


def test_the_text_fits_120_columns_and_names_all_there_is(report):
    lines = str(report).splitlines()
    assert max(map(len, lines)) <= 120
    for part in (*RULES, *DECISIONS, "24 questions with gold, 2 topics, 24 rows", "question and summary - question alone"):
        assert part in str(report)
    assert "nan" not in str(report)


def test_a_report_without_questions_says_so():
    empty = RefereeReport("none", "", "", ())
    assert "0 questions with gold" in str(empty)
    assert "No question with gold" in empty._repr_html_()


def test_g6_hostile_names_are_text_in_html(report):
    shown = replace(report, data=HOSTILE, system=HOSTILE, reader=HOSTILE)._repr_html_()
    assert "<img" not in shown
    assert "<script" not in shown


def test_the_json_holds_counts_both_bands_and_no_nan(report):
    figures = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert figures["confusion"]["agree"]["recalled"] == report.confusion["agree"][0]
    assert set(figures["rules"]["referee"]["found"]) == {"mean", "low", "high", "topic_low", "topic_high"}
    assert figures["exchanged"]["referee - A alone"]["gained"] == report.exchanged("referee", "A alone")[0]
    assert set(figures["with_summary"]["change"]) == set(RULES)


@pytest.fixture
def command(monkeypatch):
    monkeypatch.setattr(models, "default_embedder", lambda: EMBEDDER)
    parser = argparse.ArgumentParser()
    cli_evaluate.add_parser(parser.add_subparsers(required=True))

    def call(*arguments):
        args = parser.parse_args(["evaluate", "referee", *arguments])
        return args.run(args)

    return call


def test_the_command_prints_a_report_for_each_config_and_writes_figures(command, tmp_path, capsys):
    assert command("--data", "travel", "--json", str(tmp_path / "figures.json")) == 0
    printed = capsys.readouterr().out
    assert "travel, paper: 18 questions with gold, 1 topic, 96 rows" in printed
    assert "travel, measured: 18" in printed
    figures = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert [each["system"] for each in figures] == ["paper", "measured"]


def test_a_recorded_reading_is_replayed_without_an_endpoint(command, tmp_path, capsys):
    """What a scripted model named is recorded, and the command counts the same rulings."""
    path, figures = tmp_path / "reading.jsonl", tmp_path / "figures.json"
    replies = Scripted(*['{"reason": "it says so", "index": 7}'] * 18)
    chat = Cassette(path, mode="record").around(replies.model, replies)
    config = Config(retrieval=replace(Config().retrieval, read_chunks=SMALL_READING))
    recorded = tuple(cases_of(load_topic("travel"), config, models=thinking(reader=PromptedReader(chat))))
    recording = ["--cassette", str(path), "--model", replies.model, "--json", str(figures)]
    assert command("--data", "travel", "--config", "paper", *recording) == 0
    (replayed,) = json.loads(figures.read_text(encoding="utf-8"))
    kept = RefereeReport("", "", "", recorded).confusion
    assert {d: (n["recalled"], n["lost"]) for d, n in replayed["confusion"].items()} == kept
    assert (replayed["failed"], replayed["reader"]) == (0, replies.model)
    assert "with_summary" not in replayed, "what was joined with a summary was not recorded"
    assert "branch failed" not in capsys.readouterr().out


def test_a_recording_needs_the_models_name(command, tmp_path):
    with pytest.raises(InputError, match="go together"):
        command("--cassette", str(tmp_path / "none.jsonl"))


def test_the_reading_of_a_retriever_outside_an_evaluation_makes_a_case_without_gold():
    table = table_of(8)
    recall = DualRetriever(Config().retrieval, reader=StubReader()).retrieve(asking(3), table, now=LATER)
    case = case_of(recall, table)
    assert (case.gold, case.found, case.near) == ((), False, frozenset())
    assert set(case.winners) <= set(case.rows)
