"""A crash, Ctrl-C or a failing disk at every single system call; SIGKILL at random moments."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from ilstma_lab.errors import IlstmaError, TableFileError
from ilstma_lab.memory.repair import plan_repair
from ilstma_lab.memory.table import TableWarning
from ilstma_lab.memory.withdrawal import TAKEN_OUT
from tests.memory.killed import KINDS
from tests.memory.killed import digest as digest_of
from tests.memory.kit import EMBEDDER, abandon, at, at_call, load, load_noted, said, saved, state, table_of
from tests.stubs import StubSummarizer, stub_lab

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


# -- a turn that is interrupted ----------------------------------------------------------------------------------------


class InterruptedEmbedder:
    """Is interrupted at its `at`-th call from now on."""

    name, dim, at = EMBEDDER.name, EMBEDDER.dim, 0

    def embed(self, texts, kind):
        self.at -= 1
        if self.at == 0:
            signal.raise_signal(signal.SIGINT)
        return EMBEDDER.embed(texts, kind)


def _lab_over(path: Path, embedder=EMBEDDER):
    texts = ("violin", "dentist", "garden", "bicycle", "recipe", "harbour")
    return stub_lab(saved(path, *texts, embedder=embedder), summarizer=StubSummarizer(lambda rows: f"{len(rows)} in short"))


def _goes_on(lab, path: Path) -> None:
    """Assert that table and file agree after an interrupt, and that the next turn is as if there had been none."""
    assert [word for word in lab.table.check() if "vector" not in word] == []
    assert state(load(path))["rows"] == state(lab.table)["rows"]
    if lab.table.unanswered:
        assert lab.retry().failure is None
    turn = lab.ask("And the garden?")
    assert (turn.failure, lab.table[turn.row].user) == (None, "And the garden?")
    assert not lab.table.pending.any()
    assert lab.table.check() == ()
    assert state(load(path)) == state(lab.table)


def test_b1_ctrl_c_at_any_embedding_of_a_turn_leaves_table_and_file_whole(tmp_path):
    interrupted = 0
    for number in range(1, 50):
        embedder, path = InterruptedEmbedder(), tmp_path / f"{number}.json"
        lab = _lab_over(path, embedder)
        embedder.at = number
        try:
            lab.ask("What of the violin?")
        except KeyboardInterrupt:
            interrupted += 1
        else:
            break
        assert lab.turns == []
        _goes_on(lab, path)
        abandon(lab.table)
    assert interrupted >= 3


def test_b1_ctrl_c_at_any_system_call_of_a_turn_leaves_table_and_file_whole(tmp_path):
    whole = _lab_over(tmp_path / "whole.json")
    with at_call(0, None) as count:
        whole.ask("What of the violin?")
    assert count.calls > 5
    for number in range(1, count.calls + 1):
        path = tmp_path / f"{number}.json"
        lab = _lab_over(path)
        with at_call(number, _ctrl_c), pytest.raises(KeyboardInterrupt):
            lab.ask("What of the violin?")
        _goes_on(lab, path)
        abandon(lab.table)


def test_a_read_only_folder_refuses_a_turn_and_nothing_is_half_done(tmp_path, monkeypatch):
    import filelock

    path = tmp_path / "t.json"
    lab = _lab_over(path)
    before, segments = state(lab.table), lab.memory.state()

    def refuse(*arguments, **options):  # permissions do not bind root
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patched:
        patched.setattr(filelock.FileLock, "acquire", refuse)
        for use in (lambda: lab.ask("What of the violin?"), lambda: lab.table.add(said("x")), lab.table.save):
            with pytest.raises(TableFileError, match=r"Read-only file system\. Choose a folder you may write to"):
                use()
        assert (state(lab.table), lab.memory.state(), lab.turns) == (before, segments, [])
        assert state(load(path)) == before
        lab.close()
    _goes_on(lab, path)


# -- the order of writes -----------------------------------------------------------------------------------------------


@contextmanager
def _order_of_writes(folder: Path, monkeypatch):
    """Yield a list that gets each write, fsync (with what was on its way by then) and rename in `folder`, in order."""
    done: list[str] = []
    real = {name: getattr(os, name) for name in ("write", "fsync", "replace")}

    def named(descriptor: int) -> str:
        number = os.fstat(descriptor).st_ino
        return next((file.name for file in folder.iterdir() if file.stat().st_ino == number), "the folder")

    def write(descriptor, data):
        done.append(f"write {named(descriptor)}")
        return real["write"](descriptor, data)

    def fsync(descriptor):
        name = named(descriptor)
        sizes[name] = os.fstat(descriptor).st_size
        done.append(f"fsync {name}")
        return real["fsync"](descriptor)

    def replace(old, new):
        if Path(old).name in sizes:
            assert sizes[Path(old).name] == os.stat(old).st_size, f"{old} grew after it was synced"
        done.append(f"rename {Path(old).name} to {Path(new).name}")
        return real["replace"](old, new)

    sizes: dict[str, int] = {}
    with monkeypatch.context() as patched:
        for name, function in {"write": write, "fsync": fsync, "replace": replace}.items():
            patched.setattr(os, name, function)
        yield done


COMMIT = ["write t.json.journal", "fsync t.json.journal"]
CACHE = ["fsync t.json.vectors.npy.tmp", "rename t.json.vectors.npy.tmp to t.json.vectors.npy", "fsync the folder"]


@pytest.mark.skipif(os.name != "posix", reason="folders are not synced elsewhere")
def test_b1_b12_what_is_renamed_was_synced_and_what_is_acknowledged_too(tmp_path, monkeypatch):
    """SIGKILL cannot show a missing fsync: the system writes on. A power cut would."""
    path = tmp_path / "t.json"
    table = saved(path)
    with _order_of_writes(tmp_path, monkeypatch) as done:
        table.add(said("one"))
        assert done == ["fsync the folder", *COMMIT]
        done.clear()
        table.add(said("two"))
        assert done == COMMIT
        done.clear()
        table.save()
        snapshot = ["fsync t.json.tmp", "rename t.json.bak.tmp to t.json.bak", "rename t.json.tmp to t.json", "fsync the folder"]
        journal = ["rename t.json.journal to t.json.journal.bak", "fsync the folder"]
        assert done == [*snapshot, *journal, *CACHE]
        abandon(table)
        path.write_bytes(b"damaged")
        table, _ = load_noted(path)
        done.clear()
        table.add(said("three"))
        mended = ["fsync t.json.tmp", "rename t.json.tmp to t.json", "fsync the folder"]
        assert done == [*mended, "rename t.json.bak.tmp to t.json.bak", "fsync the folder", *CACHE, "fsync the folder", *COMMIT]


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


class Told:
    """What the protocols say of a table: the rows that must be there; a step under way may be done or not."""

    def __init__(self, rows: dict[int, str]):
        self.rows, self.imported, self.answers, self.counts = rows, {""}, {}, Counter()

    def read(self, lines: list[dict]) -> tuple[list[dict[int, str]], str]:
        """Take in a session's lines; return the rows that may be there, and the digest of the table when a step was last done."""
        possible, digest, begun = [self.rows], "", {}
        for line in lines:
            if "begin" in line:
                begun, after = line, dict(self.rows)
                after.update((int(row), text) for row, text in line.get("puts", {}).items())
                after = {row: text for row, text in after.items() if row not in line.get("takes", ())}
                possible = [self.rows, after]
                self.imported |= {line["imports"]} if "imports" in line else set()
            else:
                self.rows, digest = possible[-1], line["digest"]
                possible = [self.rows]
                self.imported = {begun["imports"]} if "imports" in begun else self.imported
                self.counts.update([line["done"], *(name for name in ("hit", "chat") if line.get(name))])
                if "answer" in line:
                    self.answers[line["row"]] = line["answer"]
        return possible, digest


def _killed(folder: Path, kills: int) -> Counter:
    """Kill sessions on one table at random moments and look after each; return what was done, and what was found."""
    path = folder / "t.json"
    told = Told({row.index: row.user for row in saved(path)})
    command = [sys.executable, "-m", "tests.memory.killed", str(folder)]
    nursery = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    dice, highest = random.Random(7), 0
    with nursery:
        for seed in range(kills):
            print(seed, file=nursery.stdin, flush=True)
            pid, log, wanted = int(nursery.stdout.readline()), folder / f"log-{seed}", dice.randint(0, 9)
            while _acknowledged(log) < wanted and not _ended(pid):
                time.sleep(0.002)
            time.sleep(dice.uniform(0, 0.05))
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            assert nursery.stdout.readline() == "dead\n"
            lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []
            assert sum("done" in line for line in lines) >= wanted, f"session {seed} ended by itself, after {lines[-2:]}"
            highest = _whole_after_kill(path, told, lines, highest)
        nursery.stdin.close()
    table, _ = load_noted(path)
    table.add(said("the last word"))
    table.close()
    assert load(path)[highest].user == "the last word"
    return told.counts


def _acknowledged(log: Path) -> int:
    return log.read_text("utf-8").count('"done"') if log.exists() else 0


def _ended(pid: int) -> bool:
    """Tell whether a session ended by itself: it failed."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def _whole_after_kill(path: Path, told: Told, lines: list[dict], highest: int) -> int:
    """Assert that all that was acknowledged is there, and that nothing is amiss but a torn line; return the next index."""
    possible, digest = told.read(lines)
    table, notes = load_noted(path)
    found = {row.index: row.user for row in table}
    assert found in possible, f"after {lines[-2:]}: {notes}"
    if digest and digest.split()[0] == str(table._seq):
        assert digest_of(table) == digest, f"after {lines[-2:]}"
        told.counts["same digest"] += 1
    for row, answer in told.answers.items():
        if row in table:
            assert table[row].assistant in (answer, *TAKEN_OUT.values())
    assert all("torn" in note for note in notes.splitlines()), notes
    assert [said for said in table.check() if "torn" not in said] == []
    assert table.next_index > max(found)
    assert table.next_index >= highest
    plan = plan_repair(path)
    assert plan.best.lost == []
    imported = path.with_name("imported.json")
    assert (load_noted(imported)[0][0].user if imported.exists() else "") in told.imported
    told.counts.update({"kills": 1, "torn lines": len(notes.splitlines()), "in mid-step": len(possible) > 1})
    told.counts["steps done after all"] += len(possible) > 1 and found == possible[1] != possible[0]
    told.rows = found
    return table.next_index


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@needs_fork
def test_twelve_kills_lose_no_acknowledged_step(tmp_path):
    assert _killed(tmp_path, 12)["kills"] == 12


@needs_fork
@pytest.mark.slow
def test_two_hundred_kills_lose_no_acknowledged_step(tmp_path):
    counts = _killed(tmp_path, 200)
    print(dict(counts))
    assert counts["kills"] == 200
    assert all(counts[kind] > 5 for kind in {*KINDS, "chat", "hit"}), counts


def test_every_error_of_storage_is_one_of_ours():
    assert issubclass(TableFileError, IlstmaError)
