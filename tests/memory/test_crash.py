"""A crash, Ctrl-C or a failing disk at every single system call; SIGKILL at random moments."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path

import pytest

from ilstma_lab.errors import IlstmaError, TableFileError
from ilstma_lab.memory.table import TableWarning
from tests.memory.kit import EMBEDDER, abandon, at, at_call, load, load_noted, said, saved, state, table_of

ROOT = Path(__file__).parents[2]


class Crash(BaseException):
    """The process ends here."""


def _add(table):
    table.add(said("a new row", day=9))


def _delete(table):
    table.delete(1)


def _edit(table):
    table.edit(2, user="another text")


def _turn(table):
    table.open_question("why?", at(10))
    touch = table.touched([0, 2], at(10), "why?", deferred=True)
    table.close_turn(said("why?", day=10, answer="so"), touch)


SCENARIOS = {
    "plain": ("whole", [_add, _turn, _delete, _edit]),
    "folds": ("whole", [_add, lambda t: t.save(), _turn, lambda t: t.save(vectors=True), _delete, lambda t: t.compact()]),
    "close": ("whole", [_turn, lambda t: t.close(), _add, lambda t: t.close()]),
    "torn": ("torn", [_add, lambda t: t.close()]),
    "torn fold": ("torn", [lambda t: t.save(), _add]),
    "cut snapshot": ("cut", [_add, _turn, lambda t: t.close()]),
    "lost snapshot": ("lost", [_add, lambda t: t.save()]),
    "bad line": ("line", [_add, lambda t: t.close()]),
}


def _prepare(path: Path, how: str) -> None:
    """Leave a table on the disk: snapshot, backup, both journals; then damage it."""
    table = saved(path)
    _add(table)
    table.save()
    _turn(table)
    table.set_summary("in short", [0, 2], at(11))
    abandon(table)
    journal = path.with_name(path.name + ".journal")
    if how == "torn":
        journal.write_bytes(journal.read_bytes() + b'{"seq":99,"ev')
    elif how == "line":
        journal.write_bytes(journal.read_bytes() + b"not a commit\n")
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:300])
    elif how == "lost":
        path.unlink()


@pytest.fixture
def tmp_path(tmp_path):
    """A folder in memory where the system has one: nothing here depends on a real disk."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return a function that puts a table, damaged in a way, into a new folder and returns its path."""
    templates: dict[str, Path] = {}

    def fresh(folder: Path, how: str) -> Path:
        if how not in templates:
            templates[how] = tmp_path_factory.mktemp(how)
            _prepare(templates[how] / "t.json", how)
        shutil.copytree(templates[how], folder)
        return folder / "t.json"

    return fresh


def _ctrl_c(*call) -> None:
    signal.raise_signal(signal.SIGINT)


def _all(steps, table) -> None:
    for step in steps:
        step(table)


def _run(path: Path, steps, states: list) -> None:
    """Run the steps; `states` gets the state before, and then the state after each step that was acknowledged."""
    table, _ = load_noted(path)
    states.append(state(table))
    for step in steps:
        states.append(None)  # begun, not acknowledged
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TableWarning)
            step(table)
        states[-1] = state(table)
    abandon(table)


def _undisturbed(path: Path, steps) -> tuple[list, int]:
    """Return the states of an undisturbed run and how many system calls it makes."""
    states: list = []
    with at_call(0, None) as count:
        _run(path, steps, states)
    return states, count.calls


@pytest.mark.parametrize("name", SCENARIOS)
def test_b12_a_crash_before_any_system_call_loses_nothing_acknowledged(tmp_path, prepared, name):
    how, steps = SCENARIOS[name]
    whole, calls = _undisturbed(prepared(tmp_path / "whole", how), steps)
    assert calls > 5
    for number in range(1, calls + 1):
        folder, frozen = tmp_path / f"live{number}", tmp_path / f"frozen{number}"
        path = prepared(folder, how)
        states: list = []

        def crash(call, arguments, folder=folder, frozen=frozen):
            shutil.copytree(folder, frozen)  # what the disk holds at this moment; clean-up code does not run in a crash
            raise Crash

        with at_call(number, crash), pytest.raises(Crash):
            _run(path, steps, states)
        done = len(states) - (states[-1] is None)
        found = state(load_noted(frozen / "t.json")[0])
        begun = _between(whole, done)
        assert found in begun, f"call {number}: {found['rows'].keys()} after {done - 1} steps"
        after, _ = load_noted(frozen / "t.json")
        with at_call(0, None):  # the files can be used on
            after.add(said("afterwards"))
            expected = state(after)
            abandon(after)
        again, notes = load_noted(frozen / "t.json")
        assert state(again) == expected, notes


def _between(whole: list, done: int) -> list:
    """The state after `done` states were reached, and those that the step under way may leave (a turn has two commits)."""
    last, following = whole[done - 1], whole[min(done, len(whole) - 1)]
    asked = {**last, "unanswered": ("why?", at(10))}
    written = {**last, "waiting": {}, "rows": following["rows"]}
    return [last, following, asked, written]


@pytest.mark.parametrize("name", SCENARIOS)
def test_b1_ctrl_c_at_any_system_call_leaves_memory_and_disk_alike(tmp_path, prepared, name):
    how, steps = SCENARIOS[name]
    _, calls = _undisturbed(prepared(tmp_path / "whole", how), steps)
    for number in range(1, calls):  # the last call lets go of the file
        path = prepared(tmp_path / f"live{number}", how)
        table, _ = load_noted(path)
        with at_call(number, _ctrl_c), pytest.raises(KeyboardInterrupt):
            _all(steps, table)
        _used_on(table, path)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_failing_disk_at_any_system_call_leaves_memory_and_disk_alike(tmp_path, prepared, name):
    how, steps = SCENARIOS[name]
    _, calls = _undisturbed(prepared(tmp_path / "whole", how), steps)

    def fail(call, arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    for number in range(1, calls + 1):
        path = prepared(tmp_path / f"live{number}", how)
        table, _ = load_noted(path)
        with at_call(number, fail):
            for step in steps:
                before = state(table)
                with suppress(TableFileError):
                    step(table)
                    continue
                assert state(table) in (before, {**before, "unanswered": ("why?", at(10))}, {**before, **_written(table)})
        _used_on(table, path)


def _written(table) -> dict:
    return {"waiting": table.waiting, "rows": state(table)["rows"]} if not table.waiting else {}


def _used_on(table, path: Path) -> None:
    """Assert that disk and memory say the same, now and after one more change."""
    for _ in range(2):
        expected = state(table)
        other, notes = load_noted(path)
        assert state(other) == expected, notes
        with at_call(0, None):
            table.add(said("afterwards"))
    abandon(table)


def test_b1_ctrl_c_inside_embed_keeps_the_row_pending_and_the_file_whole(tmp_path):
    class Interrupted:
        name, dim, interrupt = EMBEDDER.name, EMBEDDER.dim, False

        def embed(self, texts, kind):
            if self.interrupt:
                signal.raise_signal(signal.SIGINT)
            return EMBEDDER.embed(texts, kind)

    embedder = Interrupted()
    table = saved(tmp_path / "t.json", embedder=embedder)
    embedder.interrupt = True
    with pytest.raises(KeyboardInterrupt):
        table.add(said("while embedding"))
    assert table[5].pending
    embedder.interrupt = False
    assert state(load(tmp_path / "t.json"))["rows"] == state(table)["rows"]
    assert table.embed_pending() == 0
    table.close()
    assert not load(tmp_path / "t.json").pending.any()


def test_b1_ctrl_c_inside_save_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "t.json"
    table_of("old").save(path)
    before = path.read_bytes()
    new = table_of("new")
    with at_call(0, None) as count:
        new.save(path)
    path.write_bytes(before)
    for number in range(1, count.calls + 1):
        with at_call(number, _ctrl_c), pytest.raises(KeyboardInterrupt):
            new.save(path)
        kept = path.read_bytes()
        assert kept == before or load(path)[0].user == "new"
        path.write_bytes(before)
    new.save(path)
    assert load(path)[0].user == "new"


def test_b1_ctrl_c_is_held_back_during_a_commit_and_delivered_after_it(tmp_path):
    table = saved(tmp_path / "t.json")
    with at_call(1, _ctrl_c), pytest.raises(KeyboardInterrupt):
        table.add(said("kept"))
    assert table[5].user == "kept"
    assert load(tmp_path / "t.json")[5].user == "kept"


_FULL_DISK = """
import resource, signal, sys
sys.path.insert(0, {root!r})
from tests.memory.kit import load, said, state
from ilstma_lab.errors import TableFileError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
table = load({path!r})
table.add(said("fits"))
resource.setrlimit(resource.RLIMIT_FSIZE, (table._file.journal_bytes + 100, resource.RLIM_INFINITY))
before = state(table)
for _ in range(3):
    try:
        table.add(said("too long " * 100))
    except TableFileError as error:
        assert "Free some space" in str(error)
    else:
        raise SystemExit("it was written")
    assert state(table) == before
assert state(load({path!r})) == before
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
table.add(said("fits again"))
assert state(load({path!r})) == state(table)
print("well")
"""


@pytest.mark.skipif(os.name != "posix", reason="needs RLIMIT_FSIZE")
def test_a_full_disk_leaves_the_journal_valid_and_the_table_unchanged(tmp_path):
    path = tmp_path / "t.json"
    saved(path)
    child = subprocess.run(
        [sys.executable, "-c", _FULL_DISK.format(root=str(ROOT), path=str(path))], capture_output=True, text=True, cwd=ROOT
    )
    assert child.stdout.strip() == "well", child.stderr
    assert [row.user for row in load(path)][5:] == ["fits", "fits again"]


def test_a_fold_that_fails_in_mid_session_is_a_warning_not_an_error(tmp_path):
    table = saved(tmp_path / "t.json")
    table._fold_at = 10

    def fail(call, arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    with at_call(1, fail, of="replace"), pytest.warns(TableWarning, match="could not be folded"):
        table.add(said("second"))
    assert table._fold_at > 10  # and not at once again
    table.add(said("third"))
    assert state(load(tmp_path / "t.json")) == state(table)
    table.close()
    assert state(load(tmp_path / "t.json")) == state(table)


# -- SIGKILL -----------------------------------------------------------------------------------------------------------

_SESSION = """
import os, random, sys
sys.path.insert(0, {root!r})
import warnings
warnings.simplefilter("ignore")
from ilstma_lab import ILSTMA, ManualClock, offline
from tests.memory.kit import EMBEDDER, at, load, said

def session(seed, log):
    say = lambda *words: os.write(log, (" ".join(map(str, words)) + "\\n").encode())
    table = load({path!r})
    table._fold_at = 4_000
    lab = ILSTMA(table, models=offline(EMBEDDER), clock=ManualClock.after(table))
    dice = random.Random(seed)
    for number in range(10_000):
        text = f"text-{{seed}}-{{number}}"
        live = table.indices.tolist()
        kind = dice.choice(["add", "add", "ask", "ask", "edit", "delete", "save", "touch"])
        if kind in ("edit", "delete", "touch") and len(live) < 12:
            kind = "add"
        row = dice.choice(live)
        gone = [row, *(other for other in live if row in table.cites(other))] if kind == "delete" else [row]
        say("begin", kind, table.next_index if kind in ("add", "ask") else ",".join(map(str, gone)), text)
        if kind == "add":
            assert table.add(said(text, day=number)) >= 0
        elif kind == "ask":
            assert lab.ask(text + "?").row is not None
        elif kind == "edit":
            table.edit(row, user=text)
        elif kind == "delete":
            table.delete(row)
        elif kind == "touch":
            table.touch([row], at(number), deferred=dice.random() < 0.5)
        else:
            table.save()
        say("done")

for order in sys.stdin:
    seed, name = order.split()
    pid = os.fork()
    if pid == 0:
        session(int(seed), os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND))
        os._exit(0)
    print(pid, flush=True)
    os.waitpid(pid, 0)
    print("dead", flush=True)
"""


def _replayed(rows: dict[int, str], lines: list[str]) -> list[dict[int, str]]:
    """Return what rows must be there after the lines of a session: one possibility, or two where it died in an operation."""
    before = rows
    for line in lines:
        word, *rest = line.split(" ")
        before = rows
        if word == "begin":
            kind, index, text = rest
            after = dict(rows)
            if kind in ("add", "edit"):
                after[int(index)] = text
            elif kind == "ask":
                after[int(index)] = text + "?"
            elif kind == "delete":
                for gone in index.split(","):
                    del after[int(gone)]
        else:
            rows = after
    if lines and lines[-1] != "done":
        return [before, after]
    return [rows]


def _acknowledged(log: Path) -> int:
    return log.read_text().count("done") if log.exists() else 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
def test_fifty_kills_in_a_session_lose_no_acknowledged_operation(tmp_path):
    path = tmp_path / "t.json"
    rows = {row.index: row.user for row in saved(path)}
    script = _SESSION.format(root=str(ROOT), path=str(path))
    nursery = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    dice, operations, highest = random.Random(7), 0, 0
    with nursery:
        for seed in range(50):
            log = tmp_path / f"log{seed}"
            print(seed, log, file=nursery.stdin, flush=True)
            pid = int(nursery.stdout.readline())
            wanted = dice.randint(0, 7)
            while _acknowledged(log) < wanted:
                time.sleep(0.002)
            time.sleep(dice.uniform(0, 0.04))
            os.kill(pid, signal.SIGKILL)
            assert nursery.stdout.readline() == "dead\n"
            lines = log.read_text().splitlines() if log.exists() else []
            table, notes = load_noted(path)
            found = {row.index: row.user for row in table}
            assert found in _replayed(rows, lines), f"kill {seed}, after {lines[-3:]}: {notes}"
            assert all("torn" in note for note in notes.splitlines())
            assert table.next_index > max(found)
            assert table.next_index >= highest
            rows, highest = found, table.next_index
            assert lines.count("done") >= wanted
            operations += lines.count("done")
        nursery.stdin.close()
    assert operations > 150
    table, _ = load_noted(path)
    table.add(said("the last word"))
    table.close()
    assert load(path)[highest].user == "the last word"


def test_every_error_of_storage_is_one_of_ours():
    assert issubclass(TableFileError, IlstmaError)
