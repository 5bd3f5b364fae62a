"""Two tables, two threads, two processes on one file."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ilstma_lab import ILSTMA, ManualClock, offline
from ilstma_lab.errors import TableBusyError, TableFileError
from tests.memory.kit import EMBEDDER, abandon, at, load, said, saved, state, table_of

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.json"


def test_b6_a_second_writer_here_is_refused_with_a_message_and_changes_nothing(path):
    first = saved(path)
    second = load(path)
    first.add(said("mine"))
    before = state(second)
    for use in (lambda: second.add(said("x")), lambda: second.delete(0), second.save, second.compact):
        with pytest.raises(TableBusyError, match=r"t\.json is open for writing elsewhere.*nothing was changed"):
            use()
    assert state(second) == before
    assert state(load(path)) == state(first)
    other = table_of("other")
    other.wait_seconds = 0
    with pytest.raises(TableBusyError):
        other.save(path)


def test_b6_readers_are_never_held_up_and_write_nothing(path, tmp_path):
    writer = saved(path)
    writer.touch([0], at(3), deferred=True)
    reader = load(path)
    files = {file: file.read_bytes() for file in tmp_path.iterdir()}
    assert state(reader) == state(writer)
    assert len(reader.to_frame()) == 5
    reader.close()
    abandon(writer)
    load(path).close()
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == files


def test_b6_a_file_that_changed_since_it_was_loaded_is_refused(path):
    first, second = saved(path), load(path)
    first.add(said("mine"))
    abandon(first)
    before = state(second)
    with pytest.raises(TableFileError, match=r"changed by someone else since it was loaded\. Load it again"):
        second.add(said("yours"))
    assert state(second) == before
    third = load(path)
    assert third.add(said("yours")) == 6
    assert third[5].user == "mine"


@pytest.mark.parametrize("which", ["snapshot", "journal"])
def test_a_file_changed_by_hand_while_it_is_open_is_refused_and_the_change_kept(path, which):
    table = saved(path)
    table.add(said("acknowledged"))
    before = state(table)
    if which == "snapshot":
        path.write_bytes(path.read_bytes().replace(b"violin", b"guitar"))
    else:
        journal = path.with_name("t.json.journal")
        journal.write_bytes(journal.read_bytes().replace(b"acknowledged", b"acknowledged by hand"))
    files = files_of(path)
    for use in (lambda: table.add(said("x")), table.save, table.compact, table.close):
        with pytest.raises(TableFileError, match=r"changed by someone else since it was loaded\. Load it again"):
            use()
        assert state(table) == before
        assert files_of(path) == files
    with pytest.raises(TableFileError, match="changed by someone else"):
        table.add(said("after closing"))
    again = load(path)
    assert [again[0].user, again[5].user] in (["guitar", "acknowledged"], ["violin", "acknowledged by hand"])
    assert again.add(said("x")) == 6


def files_of(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if file.suffix != ".lock"}


@pytest.mark.parametrize("held", [True, False])
def test_a_vanished_folder_is_said_and_the_table_can_be_written_elsewhere(tmp_path, held):
    folder = tmp_path / "kept here"
    folder.mkdir()
    table = saved(folder / "t.json")
    if held:
        table.add(said("acknowledged"))
    before = state(table)
    shutil.rmtree(folder)
    for use in (lambda: table.add(said("x")), table.save, lambda: table.touch([0], at(9))):
        with pytest.raises(TableFileError, match=r"is gone: it or its folder was moved or deleted.*table\.save\(path\)"):
            use()
        assert state(table) == before
    assert not folder.exists()
    table.save(tmp_path / "elsewhere.json")
    assert state(load(tmp_path / "elsewhere.json")) == before
    abandon(table)


def test_a_closed_table_lets_others_in_and_can_be_used_on(path):
    first = saved(path)
    first.add(said("one"))
    first.close()
    first.close()
    first.add(said("two"))
    first.close()
    second = load(path)
    second.add(said("three"))
    second.close()
    with pytest.raises(TableFileError, match="changed by someone else"):
        first.add(said("four"))
    assert len(load(path)) == 8


def test_a_forgotten_table_lets_others_in(path):
    table = saved(path)
    table.add(said("one"))
    del table
    assert load(path).add(said("two")) == 6


def test_what_was_taken_in_one_thread_is_let_go_in_another(path):
    table = saved(path)
    lab = ILSTMA(table, models=offline(EMBEDDER), clock=ManualClock.after(table))
    asyncio.run(lab.aask("violin?"))
    lab.close()
    assert load(path).add(said("x")) == 6
    thread = threading.Thread(target=lambda: table.close())
    thread.start()
    thread.join()


def test_b5_twenty_turns_at_once_give_twenty_rows(path):
    table = saved(path)
    with ILSTMA(table, models=offline(EMBEDDER), clock=ManualClock.after(table)) as lab:

        async def all_at_once():
            return await asyncio.gather(*(lab.aask(f"Question number {n}?") for n in range(20)))

        turns = asyncio.run(all_at_once())
    assert sorted(turn.row for turn in turns) == list(range(5, 25))
    assert state(load(path)) == state(table)


def test_two_labs_over_one_table_share_its_lock(path):
    table = saved(path)
    labs = [ILSTMA(table, models=offline(EMBEDDER), clock=ManualClock.after(table)) for _ in range(2)]

    async def all_at_once():
        return await asyncio.gather(*(labs[n % 2].aask(f"Question number {n}?") for n in range(20)))

    turns = asyncio.run(all_at_once())
    assert sorted(turn.row for turn in turns) == list(range(5, 25))
    assert all(table[turn.row].user == turn.question for turn in turns)
    assert table.check() == ()
    assert state(load(path)) == state(table)
    last = max(turns, key=lambda turn: turn.row)
    labs[int(last.question.split()[-1][:-1]) % 2].undo()
    assert last.row not in table
    assert state(load(path)) == state(table)


def test_b6_a_second_lab_over_the_same_file_in_one_process_is_refused_and_loses_nothing(path):
    first, second = (ILSTMA(t, models=offline(EMBEDDER), clock=ManualClock.after(t)) for t in (saved(path), load(path)))
    assert first.ask("Mine?").row == 5
    with pytest.raises(TableBusyError, match="in another table here"):
        second.ask("Yours?")
    assert second.turns == []
    first.close()
    again = ILSTMA(load(path), models=offline(EMBEDDER), clock=ManualClock.after(first.table))
    assert again.ask("Yours?").row == 6


_CHILD = """
import sys
sys.path.insert(0, {root!r})
from ilstma_lab.errors import TableBusyError
from tests.memory.kit import load, said
table = load({path!r})
print(len(table), flush=True)
for line in sys.stdin:
    try:
        table.add(said(line.strip()))
        print("added", flush=True)
    except TableBusyError as error:
        print("refused:", error, flush=True)
"""


@pytest.fixture
def child(path):
    saved(path)
    script = _CHILD.format(root=str(ROOT), path=str(path))
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, **pipes) as process:
        assert process.stdout.readline() == "5\n"

        def say(line: str) -> str:
            print(line, file=process.stdin, flush=True)
            return process.stdout.readline()

        process.say = say
        yield process
        process.kill()


def test_b6_a_second_process_is_refused_until_the_first_lets_go(path, child):
    assert child.say("theirs") == "added\n"
    table = load(path)  # reading is not held up
    assert table[5].user == "theirs"
    with pytest.raises(TableBusyError, match="another notebook or process"):
        table.add(said("mine"))
    child.kill()
    child.wait()
    table = load(path)  # the system freed the lock with its holder
    assert table.add(said("mine")) == 6


def test_b6_another_process_is_refused_while_we_write(path, child):
    table = load(path)
    table.add(said("mine"))
    assert child.say("theirs").startswith("refused: t.json is open for writing elsewhere")
    assert [row.user for row in load(path)][5:] == ["mine"]


def test_a_writer_that_waits_gets_in_when_the_other_closes(path):
    first, second = saved(path), load(path)
    first._file.acquire(wait_seconds=0)
    second.wait_seconds = 30
    added = []
    thread = threading.Thread(target=lambda: added.append(second.add(said("patient"))))
    thread.start()
    first._file.close()  # nothing was changed
    thread.join()
    assert added == [5]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_b6_a_forked_process_does_not_write_with_its_parents_lock(path):
    table = saved(path)
    table.add(said("parent"))
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            table.add(said("child"))
            os.write(writing, b"added")
        except TableFileError as error:
            os.write(writing, type(error).__name__.encode())
        table.close()
        os._exit(0)
    os.waitpid(pid, 0)
    assert os.read(reading, 100) == b"TableBusyError"
    with pytest.raises(TableBusyError):
        load(path).add(said("x"))
    table.add(said("parent again"))
    assert state(load(path)) == state(table)


def test_a_reader_that_meets_a_fold_reads_what_fits_together(path, monkeypatch):
    table = saved(path)
    for number in range(5):
        table.add(said(f"before {number}"))
    from ilstma_lab.memory import storage

    real = storage.read_snapshot
    folds = []

    def read_and_fold(file):
        found = real(file)
        if len(folds) < 2:  # the writer folds and goes on between the reader's two reads
            folds.append(table.save())
            table.add(said(f"after {len(folds)}"))
        return found

    monkeypatch.setattr(storage, "read_snapshot", read_and_fold)
    assert state(load(path)) == state(table)
    assert len(folds) == 2


def test_what_is_open_at_the_end_of_a_process_is_folded(path):
    saved(path)
    script = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from tests.memory.kit import at, load, said
table = load({str(path)!r})
table.add(said("last"))
table.touch([0], at(3), deferred=True)
"""
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
    assert not path.with_name("t.json.journal").exists()
    table = load(path)
    assert (table[5].user, table[0].recall_times, table.waiting) == ("last", 2, {})
