"""The working copy: nothing that a reader wrote is ever overwritten, and running a lesson is not editing it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ilstma_lab import lessons, resources
from ilstma_lab.errors import InputError


def notebook(*sources: str, outputs: bool = False) -> str:
    out = [{"output_type": "stream", "name": "stdout", "text": "1\n"}] if outputs else []
    cells = [
        {
            "cell_type": "code",
            "id": f"c{i}",
            "metadata": {},
            "source": s,
            "outputs": out,
            "execution_count": 1 if outputs else None,
        }
        for i, s in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def kit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Lessons as a kit ships them."""
    folder = tmp_path / "kit"
    (folder / "solutions").mkdir(parents=True)
    (folder / "00_start.ipynb").write_text(notebook("a = 1"))
    (folder / "solutions" / "00_start.ipynb").write_text(notebook("a = 2"))
    (folder / "helper.py").write_text("x = 1\n")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "00_start.ipynb").write_text("{}")
    monkeypatch.setattr(resources, "notebooks_dir", lambda: folder)
    return folder


class Reader:
    """Starts the kit in one folder, and keeps what was reported."""

    def __init__(self, folder: Path):
        self.folder, self.lesson = folder, folder / "00_start.ipynb"

    def start(self) -> list[str]:
        said: list[str] = []
        assert lessons.working_copy(self.folder, say=said.append) == self.folder
        return said

    def files(self) -> set[str]:
        return {p.relative_to(self.folder).as_posix() for p in self.folder.rglob("*") if p.is_file()} - {lessons.MANIFEST}


@pytest.fixture
def reader(kit: Path, tmp_path: Path) -> Reader:
    reader = Reader(tmp_path / "copy")
    assert reader.start() == []
    return reader


def test_lessons_solutions_and_helpers_are_copied_and_nothing_else(reader: Reader):
    assert reader.files() == {"00_start.ipynb", "solutions/00_start.ipynb", "helper.py"}


def test_an_untouched_lesson_follows_the_kit(reader: Reader, kit: Path):
    (kit / "00_start.ipynb").write_text(notebook("a = 10"))
    assert "newer lesson replaced yours" in reader.start()[0]
    assert reader.lesson.read_text() == notebook("a = 10")
    assert reader.start() == []


def test_a_run_lesson_keeps_its_outputs_until_a_newer_one_comes_and_that_is_said(reader: Reader, kit: Path):
    ran = notebook("a = 1", "", outputs=True)  # JupyterLab adds a blank cell below the last one
    reader.lesson.write_text(ran)
    assert reader.start() == []
    assert reader.lesson.read_text() == ran
    (kit / "00_start.ipynb").write_text(notebook("a = 10"))
    assert "run it again for its outputs" in reader.start()[0]
    assert reader.lesson.read_text() == notebook("a = 10")


def test_an_edited_lesson_stays_and_the_newer_one_is_put_beside_it_once(reader: Reader, kit: Path):
    mine = notebook("a = 'mine'", outputs=True)
    reader.lesson.write_text(mine)
    assert reader.start() == [], "the kit has nothing newer"
    (kit / "00_start.ipynb").write_text(notebook("a = 10"))
    assert "00_start (new).ipynb" in reader.start()[0]
    beside = reader.folder / "00_start (new).ipynb"
    assert (reader.lesson.read_text(), beside.read_text()) == (mine, notebook("a = 10"))
    beside.unlink()
    assert reader.start() == [], "what was thrown away is not offered again"
    assert not beside.exists()


def test_an_edited_newer_lesson_stays_too(reader: Reader, kit: Path):
    reader.lesson.write_text(notebook("mine"))
    (kit / "00_start.ipynb").write_text(notebook("second"))
    reader.start()
    beside = reader.folder / "00_start (new).ipynb"
    (kit / "00_start.ipynb").write_text(notebook("third"))
    reader.start()
    assert beside.read_text() == notebook("third"), "an untouched offer follows the kit"
    beside.write_text(notebook("mine as well"))
    (kit / "00_start.ipynb").write_text(notebook("fourth"))
    reader.start()
    assert beside.read_text() == notebook("mine as well")
    assert reader.lesson.read_text() == notebook("mine")
    assert (reader.folder / "00_start (new 2).ipynb").read_text() == notebook("fourth")


def test_an_edited_helper_stays(reader: Reader, kit: Path):
    (reader.folder / "helper.py").write_text("x = 'mine'\n")
    (kit / "helper.py").write_text("x = 2\n")
    reader.start()
    assert (reader.folder / "helper.py").read_text() == "x = 'mine'\n"
    assert (reader.folder / "helper (new).py").read_text() == "x = 2\n"


def test_a_deleted_lesson_comes_back(reader: Reader):
    reader.lesson.unlink()
    assert reader.start() == []
    assert reader.lesson.read_text() == notebook("a = 1")


@pytest.mark.parametrize("broken", ["", "{", '{"offered": 3}', "[]"])
def test_without_a_readable_manifest_nothing_that_differs_is_overwritten(reader: Reader, broken: str):
    (reader.folder / lessons.MANIFEST).write_text(broken)
    reader.lesson.write_text(notebook("a = 'mine'"))
    reader.start()
    assert reader.lesson.read_text() == notebook("a = 'mine'")
    assert (reader.folder / "00_start (new).ipynb").exists()


@pytest.mark.parametrize("broken", ["", "{", "[]", '{"cells": [3]}', '{"cells": null}'])
def test_a_lesson_that_is_no_longer_a_notebook_stays(reader: Reader, kit: Path, broken: str):
    reader.lesson.write_text(broken)
    (kit / "00_start.ipynb").write_text(notebook("a = 10"))
    reader.start()
    assert reader.lesson.read_text() == broken


def test_read_only_lessons_of_a_system_installation_give_a_copy_that_can_be_written(kit: Path, tmp_path: Path):
    (kit / "00_start.ipynb").chmod(0o444)
    copy = lessons.working_copy(tmp_path / "copy")
    assert (copy / "00_start.ipynb").stat().st_mode & 0o200


def test_the_kits_own_folder_is_no_working_copy(kit: Path):
    with pytest.raises(InputError, match="Give another folder"):
        lessons.working_copy(kit / "solutions")
    assert not (kit / "solutions" / lessons.MANIFEST).exists()


def test_a_target_that_is_a_file_says_what_to_do(kit: Path, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="a folder you may write to"):
        lessons.working_copy(tmp_path / "file")


def test_the_default_is_ignored_by_git_in_a_checkout_and_in_the_home_folder_else(
    kit: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(resources, "checkout_dir", lambda: tmp_path)
    assert lessons.working_copy() == tmp_path / ".lessons"
    monkeypatch.setattr(resources, "checkout_dir", lambda: None)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert lessons.working_copy() == tmp_path / "ilstma-lab-lessons"


def test_a_browser_is_opened_only_where_it_can_be_seen(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    assert not lessons.has_display()
    monkeypatch.setenv("DISPLAY", ":0")
    assert lessons.has_display()
    monkeypatch.setenv("SSH_CONNECTION", "127.0.0.1 1 127.0.0.1 2")
    assert not lessons.has_display()
    monkeypatch.delenv("SSH_CONNECTION")
    monkeypatch.delenv("DISPLAY")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert lessons.has_display()


@pytest.mark.skipif(os.name != "posix", reason="Ctrl-C is sent as a signal")
def test_lab_prints_its_address_serves_the_lessons_and_ends_quietly(kit: Path, tmp_path: Path):
    copy = lessons.working_copy(tmp_path / "copy")
    code = (
        f"from ilstma_lab import lessons, resources\nresources.notebooks_dir = lambda: __import__('pathlib').Path({str(kit)!r})\n"
    )
    code += f"lessons.open_lab({str(copy)!r}, browser=False)"
    own = {f"JUPYTER_{kind}_DIR": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    environment = {**os.environ, **own, "PYTHONPATH": str(Path(lessons.__file__).parent.parent)}
    environment = {name: value for name, value in environment.items() if name != "JUPYTER_TOKEN"}
    lab = subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    too_late = threading.Timer(60, lab.kill)  # else a server that says nothing would hold the tests for ever
    too_late.start()
    try:
        said = ""
        while (address := re.search(r"http://127\.0\.0\.1:(\d+)/lab/tree/00_start\.ipynb\?token=(\w+)", said)) is None:
            line = lab.stdout.readline()
            assert line, f"JupyterLab ended: {said}"
            said += line
        port, token = address.groups()
        assert "ssh -L" in said
        with open_url(f"http://127.0.0.1:{port}/api/contents?token={token}") as reply:
            assert {"00_start.ipynb", "solutions", "helper.py"} <= {item["name"] for item in json.load(reply)["content"]}
        os.killpg(lab.pid, signal.SIGINT)
        rest, _ = lab.communicate(timeout=30)
    finally:
        too_late.cancel()
        if lab.poll() is None:
            os.killpg(lab.pid, signal.SIGKILL)
            lab.communicate()
    assert lab.returncode == 0
    assert "Traceback" not in rest
    assert "[y/n]" not in rest.lower()


def open_url(url: str, *, seconds: float = 30):
    """Open an address on this machine, whatever proxy the environment names. Jupyter prints it a moment before it listens."""
    from urllib.error import URLError
    from urllib.request import ProxyHandler, build_opener

    end = time.monotonic() + seconds
    while True:
        try:
            return build_opener(ProxyHandler({})).open(url, timeout=seconds)
        except URLError as error:
            if not isinstance(error.reason, ConnectionRefusedError) or time.monotonic() > end:
                raise
        time.sleep(0.02)
