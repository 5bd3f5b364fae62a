"""`ilstma-lab evaluate systems`: what it prints and writes, names, graders, resume, and what it refuses at once."""

from __future__ import annotations

import json

import pytest

from ilstma_lab import cli, cli_systems, models
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation import datasets
from ilstma_lab.evaluation.lineup import TITLES, lineup
from ilstma_lab.systems import SYSTEMS, YARDSTICKS
from tests.evaluation.bench_kit import EMBEDDER, parts, topic

COMMAND = ("evaluate", "systems", "--jobs", "1")


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(models, "default_embedder", lambda: EMBEDDER)
    monkeypatch.setattr(datasets, "load_dataset", lambda name, **_: [topic("one"), topic("two")])


def run(*arguments: str) -> int:
    return cli.main([*COMMAND, *map(str, arguments)])


def test_tables_and_files(tmp_path, capsys):
    files = {"--json": tmp_path / "f.json", "--html": tmp_path / "f.html", "--plot": tmp_path / "p.json"}
    given = [str(part) for pair in files.items() for part in pair]
    assert run("--systems", "ilstma", "--by-kind", *given) == 0
    text = capsys.readouterr().out
    assert "12 questions (8 recall, 2 general, 2 never said)" in text
    assert "constant answer" in text
    assert "Claimed beside measured" in text
    (figures,) = json.loads(files["--json"].read_text(encoding="utf-8"))
    assert figures["systems"]["ILSTMA"]["accuracy"]["n"] == 12
    assert figures["by_kind"]["recall"]["questions"] == 8
    assert "<table" in files["--html"].read_text(encoding="utf-8")
    assert json.loads(files["--plot"].read_text(encoding="utf-8"))["data"]


def test_repeats_of_what_is_deterministic_run_once_and_it_is_said(capsys):
    assert run("--systems", "ilstma", "--no-yardsticks", "--repeats", "10") == 0
    text = capsys.readouterr().out
    assert "ran once, though 10 repeats were asked for" in " ".join(text.split())
    assert "constant answer" not in text


def test_fewer_questions_and_several_graders(capsys):
    assert run("--systems", "ilstma", "--no-yardsticks", "--questions", "2", "--grader", "exact,f1,facts") == 0
    text = capsys.readouterr().out
    assert "4 questions (4 recall)" in text
    assert "The same answers under each grader" in text


def test_a_class_of_ones_own(capsys):
    assert run("--systems", "tests.evaluation.bench_kit:Plain,ilstma", "--no-yardsticks") == 0
    assert "tests.evaluation.bench_kit:Plain" in capsys.readouterr().out


def test_a_store_is_gone_on_with_and_another_run_refused(tmp_path, capsys):
    path = tmp_path / "run.jsonl"
    assert run("--systems", "ilstma", "--store", path) == 0
    first = capsys.readouterr().out
    assert run("--systems", "ilstma", "--store", path) == 0
    again = capsys.readouterr().out
    assert first.split("- No language model")[0] == again.split("- No language model")[0]
    assert "gone on with run.jsonl" in again
    assert run("--systems", "ilstma_measured", "--store", path) == 1
    assert "holds another experiment" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--systems", "nobody"], "no system 'nobody'"),
        (["--systems", ","], "no system is named"),
        (["--grader", "teacher"], "facts, exact, f1, model"),
        (["--grader", "model"], "needs --model"),
        (["--base-url", "http://127.0.0.1:1/v1"], "needs --model"),
        (["--json", "/nowhere/x.json"], "no folder"),
        (["--store", "x.jsonl", "--data", "ilstma5,travel"], "one data set"),
        (["--favourite", "nobody", "--systems", "ilstma"], "no system 'nobody'"),
        *(([place, "."], "is a folder") for place in ("--json", "--html", "--store")),
        (
            ["--systems", "tests.evaluation.bench_kit:Unmade"],
            "bench_kit:Unmade fails at the first question: RuntimeError: no such",
        ),
    ],
)
def test_what_cannot_be_done_is_said(arguments, said, capsys):
    assert run(*arguments) == 1
    assert said in capsys.readouterr().err


def test_a_favourite_that_is_not_there_is_said_before_anything_is_asked(monkeypatch):
    monkeypatch.setattr("ilstma_lab.evaluation.experiment.run_systems", lambda *_, **__: pytest.fail("it was asked"))
    assert run("--favourite", "nobody", "--systems", "ilstma") == 1


def test_a_plot_is_html_or_json(capsys):
    with pytest.raises(SystemExit):
        run("--plot", "a.png")
    assert "FILE.html or FILE.json is needed (got 'a.png')" in capsys.readouterr().err


@pytest.mark.parametrize("favourite", ["ilstma_measured", "ILSTMA (Measured)"])
def test_systems_go_by_names_and_titles_in_any_case(favourite, capsys):
    assert run("--systems", "scm,Ilstma (measured)", "--no-yardsticks", "--favourite", favourite) == 0
    assert "ILSTMA (measured) less each other" in capsys.readouterr().out


def test_every_system_and_yardstick_has_a_title():
    assert set(TITLES) == {*SYSTEMS, *YARDSTICKS}
    assert len(set(TITLES.values())) == len(TITLES)


def test_yardsticks_stand_beside_unless_they_are_left_out():
    assert list(lineup(["ilstma"])) == ["ILSTMA", *(TITLES[name] for name in YARDSTICKS)]
    assert list(lineup(["ilstma", "bm25"], yardsticks=False)) == ["ILSTMA", "plain BM25"]
    assert "without prefetch" in lineup(["ablations"])


def test_a_model_grades_with_the_model_that_answers():
    from tests.models.stand_in import Scripted

    (grader,) = cli_systems.graders_of("model", parts(chat=Scripted()))
    assert "scripted" in grader.name
    with pytest.raises(InputError, match="needs --model"):
        cli_systems.graders_of("model", None)
