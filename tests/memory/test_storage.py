from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from ilstma_lab import MemoryTable
from ilstma_lab.doctor_file import look_at_file
from ilstma_lab.errors import FormatError, IlstmaError, InputError, TableFileError
from ilstma_lab.memory.table import TableWarning
from tests.memory.kit import EMBEDDER, START, abandon, at, load, load_noted, said, saved, state, table_of

ROOT = Path(__file__).parents[2]


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def lines(path: Path) -> list[str]:
    return beside(path, ".journal").read_text("utf-8").splitlines()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.json"


# -- journal and snapshot ----------------------------------------------------------------------------------------------


def test_a_commit_is_one_line_of_the_journal_and_the_snapshot_stays(path):
    table = saved(path)
    before = path.read_bytes()
    table.add(said("new"))
    table.open_question("why?", START)
    table.close_turn(said("why?"), table.touched([0, 1], START, "why?"))
    assert len(lines(path)) == 3
    assert [event["op"] for event in json.loads(lines(path)[-1])["events"]] == ["touch", "add", "answered"]
    assert path.read_bytes() == before
    assert state(load(path)) == state(table)


def test_every_commit_is_synced(path, monkeypatch):
    table = saved(path)
    table.add(said("one"))
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda fd: (synced.append(os.fstat(fd).st_size), real(fd)))
    table.add(said("two"))
    assert synced == [beside(path, ".journal").stat().st_size]


def test_a_snapshot_is_readable_one_row_a_line(path):
    saved(path, "violin", "dentist", "我对花生过敏")
    text = path.read_text("utf-8")
    rows = [line for line in text.splitlines() if line.startswith('{"index"')]
    assert len(rows) == 3
    assert "我对花生过敏" in rows[2]
    head = json.loads(text)
    assert (head["format"], head["version"], head["embedder"], head["dim"], head["next_index"]) == (
        "ilstma-table",
        1,
        "hashed-words-64",
        64,
        3,
    )


def test_close_folds_the_journal_and_keeps_the_old_pair(path):
    table = saved(path)
    table.add(said("new"))
    journal = beside(path, ".journal").read_bytes()
    before = path.read_bytes()
    table.close()
    assert not beside(path, ".journal").exists()
    assert beside(path, ".bak").read_bytes() == before
    assert beside(path, ".journal.bak").read_bytes() == journal
    assert load(path)[5].user == "new"


def test_a_long_journal_is_folded_in_mid_session_and_deferred_touches_survive(path):
    table = saved(path)
    table._fold_at = 2_000
    table.touch([0, 1], at(9), "q", deferred=True)
    for number in range(30):
        table.add(said(f"text {number}"))
    assert beside(path, ".journal.bak").exists()
    assert set(table.waiting) == {0, 1}
    expected = state(table)
    again = load(path)
    assert state(again) == expected
    abandon(table)
    again.write_waiting()
    assert again[0].recall_times == 2


def test_the_default_fold_waits_for_a_megabyte(path):
    table = saved(path)
    text = "word " * 20_000
    for _ in range(11):
        with pytest.warns(TableWarning, match="stored whole"):
            table.add(said(text))
    assert not beside(path, ".journal").exists()
    assert path.stat().st_size > 1 << 20
    assert load(path).next_index == 16


def test_a_deferred_touch_survives_a_crash(path):
    table = saved(path)
    table.touch([3], at(9), "q", deferred=True)
    again = load(path)
    assert again.waiting == {3: (1, at(9))}
    assert again.recalls[0].hit


def test_an_old_snapshot_with_a_newer_journal_is_replayed(path):
    table = saved(path)
    old = path.read_bytes()
    table.add(said("one"))
    table.save()
    table.add(said("two"))
    expected = state(table)
    journal = beside(path, ".journal.bak").read_bytes() + beside(path, ".journal").read_bytes()
    path.write_bytes(old)
    beside(path, ".journal").write_bytes(journal)
    assert state(load(path)) == expected


def test_lines_that_the_snapshot_holds_already_are_not_replayed_twice(path):
    table = saved(path)
    table.add(said("one"))
    table.touch([0], at(4))
    journal = beside(path, ".journal").read_bytes()
    table.close()
    beside(path, ".journal").write_bytes(journal)  # a crash between the two renames
    assert state(load(path)) == state(table)


# -- damage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", ["in the line", "before the newline", "one byte"])
def test_a_torn_last_line_is_dropped_with_a_message_and_the_journal_is_usable(path, cut):
    table = saved(path)
    table.add(said("acknowledged"))
    table.add(said("torn"))
    journal = beside(path, ".journal")
    data = journal.read_bytes()
    start = data.rfind(b"\n", 0, -1) + 1
    abandon(table)
    journal.write_bytes(data[: {"in the line": start + 30, "before the newline": len(data) - 1, "one byte": start + 1}[cut]])
    table, notes = load_noted(path)
    assert "the last line of t.json.journal was torn before it was acknowledged, and was dropped" in notes
    assert [row.user for row in table][5:] == ["acknowledged"]
    assert table.add(said("after")) == 6
    again, notes = load_noted(path)
    assert notes == ""
    assert state(again) == state(table)
    assert len(lines(path)) == 2


def test_a_torn_line_is_spoken_of_once(path):
    saved(path)
    beside(path, ".journal").write_bytes(b'{"seq": 7')
    table, notes = load_noted(path)
    assert "torn" in notes
    table.save()
    assert load_noted(path)[1] == ""


@pytest.mark.parametrize("damage", ["empty", "half", "noise", "zeros", "missing"])
@pytest.mark.parametrize("moment", ["after a fold", "in a session"])
def test_b2_j2_a_damaged_snapshot_falls_back_to_backup_and_journals_and_loses_nothing(path, damage, moment):
    table = saved(path)
    table.add(said("folded"))
    table.delete(1)
    table.save()
    if moment == "in a session":
        table.add(said("in the journal"))
    expected = state(table)
    abandon(table)
    whole = path.read_bytes()
    bad = {"empty": b"", "half": whole[: len(whole) // 2], "noise": os.urandom(300), "zeros": bytes(300), "missing": b""}[damage]
    path.write_bytes(bad)
    if damage == "missing":
        path.unlink()
    table, notes = load_noted(path)
    assert "Its backup was read instead" in notes or "its backup was read instead" in notes
    assert state(table) == expected
    if damage != "missing":
        assert path.read_bytes() == bad  # reading changes nothing
    table.add(said("after"))
    if damage != "missing":
        assert beside(path, ".damaged1").read_bytes() == bad
    again, notes = load_noted(path)
    assert notes == ""
    assert state(again) == state(table)
    abandon(table)
    path.write_bytes(b"damaged once more")  # and the new pair is as good as the old one
    assert state(load_noted(path)[0]) == state(again)


def test_b2_without_a_backup_the_message_says_what_is_wrong_and_nothing_is_touched(path):
    table_of("a").save(path)
    whole = path.read_bytes()
    for bad, message in ((b"", "is empty"), (whole[:200], "is not whole: line"), (b"\xff\xfe{", "is not UTF-8")):
        path.write_bytes(bad)
        with pytest.raises(FormatError, match=rf"t\.json {message}.*no backup"):
            load(path)
        assert path.read_bytes() == bad


@pytest.mark.parametrize("bad", [b"", b'{"format": "ilstma-table", "ver', b'{"conversations": []}', b"dear diary"])
def test_j2_saving_never_buries_what_is_no_whole_table(path, bad):
    saved(path).close()
    table = load(path)
    table.add(said("x"))
    table.close()
    backup = beside(path, ".bak").read_bytes()
    path.write_bytes(bad)
    with pytest.raises(TableFileError, match=r"not overwritten"):
        table_of("new").save(path)
    assert path.read_bytes() == bad
    assert beside(path, ".bak").read_bytes() == backup


def test_an_unreadable_line_is_left_out_and_the_journal_kept_aside(path):
    table = saved(path)
    for word in ("one", "two", "three"):
        table.add(said(word))
    abandon(table)
    kept = lines(path)
    bad = "\n".join([kept[0], kept[1][:40], kept[2], ""])
    beside(path, ".journal").write_text(bad, encoding="utf-8")
    table, notes = load_noted(path)
    assert "line 2 of t.json.journal cannot be read" in notes
    assert "the journal lacks what stood between numbers" in notes
    assert [row.user for row in table][5:] == ["one", "three"]
    table.add(said("four"))
    assert beside(path, ".journal.damaged1").read_text("utf-8") == bad
    assert load_noted(path)[1] == ""


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "5",
        "null",
        '"x"',
        '{"seq":1}',
        '{"seq":"2","events":[]}',
        '{"seq":2,"events":5}',
        "[" * 5000,
        "\x00",
        "{}",
        "9" * 5000,
    ],
)
def test_no_line_of_a_journal_can_stop_a_table_from_loading(path, line):
    saved(path)
    beside(path, ".journal").write_text(line + "\n", encoding="utf-8")
    table, notes = load_noted(path)
    assert "cannot be read" in notes
    assert len(table) == 5


@pytest.mark.parametrize(
    "event",
    [
        {"op": "future"},
        {"op": "add"},
        {"op": "add", "index": 0, "user": "x", "assistant": "", "created": "2024-01-01"},
        {"op": "add", "index": -1, "user": "x", "assistant": "", "created": "2024-01-01"},
        {"op": "add", "index": 10**30, "user": "x", "assistant": "", "created": "2024-01-01"},
        {"op": "add", "index": 7, "user": "x", "assistant": "", "created": "NaT"},
        {"op": "add", "index": 7, "user": "x", "assistant": "", "created": "2024-01-01", "cites": 5},
        {"op": "edit", "index": 99, "user": "x", "assistant": ""},
        {"op": "delete", "index": "x"},
        {"op": "touch", "rows": 5, "at": "2024-01-01", "deferred": True},
        {"op": "summary", "number": 0},
        {"op": "personality", "text": 5},
        {"nothing": 1},
        "text",
        None,
    ],
)
def test_an_event_that_cannot_be_applied_is_noted_and_kept_aside(path, event):
    table = saved(path)
    table.add(said("one"))
    abandon(table)
    good = json.loads(lines(path)[0])
    bad = json.dumps({"seq": good["seq"] + 1, "series": good["series"], "events": [event]}) + "\n"
    with open(beside(path, ".journal"), "a", encoding="utf-8") as out:
        out.write(bad)
    table, notes = load_noted(path)
    assert "could not be applied" in notes
    assert state(table)["rows"].keys() == set(range(6))
    assert table.add(said("two")) == 6
    assert beside(path, ".journal.damaged1").read_text("utf-8").endswith(bad)
    assert state(load(path)) == state(table)


def _spoil(path: Path, change) -> None:
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize("value", ["", None, "not a date", 0, [], 10**30])
def test_c3_a_last_recall_that_is_no_time_falls_back_to_creation(path, value):
    saved(path)
    _spoil(path, lambda d: d["entries"][1].update(last_recall=value))
    table, notes = load_noted(path)
    assert "row 1: its last recall" in notes
    assert len(table) == 5
    assert table[1].last_recall == table[1].created


@pytest.mark.parametrize("value", [0, -1, "x", None, 1.5, 10**12])
def test_c3_recall_times_that_cannot_be_are_1(path, value):
    saved(path)
    _spoil(path, lambda d: d["entries"][1].update(recall_times=value))
    table, notes = load_noted(path)
    assert "row 1: recall_times must be a whole number >= 1" in notes
    assert table[1].recall_times == 1


def test_many_notes_are_told_in_short(path):
    saved(path, *map(str, range(30)))
    _spoil(path, lambda d: [row.update(recall_times=0) for row in d["entries"]])
    notes = load_noted(path)[1].splitlines()
    assert len(notes) == 11
    assert "and 20 notes more" in notes[-1]


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["entries"].append(5),
        lambda d: d["entries"].append("row"),
        lambda d: d["entries"].append(dict(d["entries"][0])),
        lambda d: d["entries"][0].pop("user"),
        lambda d: d["entries"][0].update(created="never"),
        lambda d: d["entries"][0].update(index="0"),
        lambda d: d.update(entries={}),
        lambda d: d.pop("recalls"),
        lambda d: d.update(seq=None),
        lambda d: d.update(next_index="many"),
        lambda d: d.update(waiting=[[1]]),
        lambda d: d.update(unanswered={"text": 5}),
        lambda d: d["summaries"].append({}),
        lambda d: d["recalls"].append(3),
        lambda d: d.update(format="other"),
        lambda d: d.update(version=99),
        lambda d: d.update(version="1"),
        lambda d: d.update(topic=5),
    ],
)
def test_a_table_that_was_edited_wrongly_by_hand_is_refused_with_a_message(path, change):
    saved(path)
    _spoil(path, change)
    bad = path.read_bytes()
    with pytest.raises(IlstmaError) as refused:
        load(path)
    assert len(str(refused.value)) > 20
    assert path.read_bytes() == bad


def test_deep_json_is_refused_with_a_message(path):
    path.write_text("[" * 200_000, encoding="utf-8")
    with pytest.raises(FormatError, match=r"t\.json"):
        load(path)


# -- another table under the same name ---------------------------------------------------------------------------------


def test_what_is_left_of_a_table_that_was_saved_over_is_not_replayed(path):
    for _ in range(2):  # a notebook that is run twice
        table = saved(path)
        assert len(table) == 5
        table.add(said("one"))
        table.touch([0], at(7))
        table.close()
    table = load(path)
    table.add(said("two"))
    abandon(table)  # a journal is left
    saved(path, "fresh")
    table, notes = load_noted(path)
    assert [row.user for row in table] == ["fresh"]
    assert notes == ""


def test_journal_lines_of_another_table_are_left_out_with_a_message(path):
    table = saved(path)
    table.add(said("one"))
    abandon(table)
    journal = beside(path, ".journal").read_bytes()
    saved(path, "fresh")
    beside(path, ".journal").write_bytes(journal)  # a crash between the two renames
    table, notes = load_noted(path)
    assert "1 lines of t.json.journal belong to another table" in notes
    assert [row.user for row in table] == ["fresh"]
    table.add(said("more"))
    assert state(load_noted(path)[0]) == state(table)


def test_a_table_that_was_saved_over_by_mistake_is_the_backup(path):
    old = saved(path)
    old.close()
    saved(path, "fresh")
    assert len(load(beside(path, ".bak"))) == 5


# -- compact -----------------------------------------------------------------------------------------------------------


def test_compact_leaves_what_was_deleted_in_no_file(path, tmp_path):
    table = saved(path, "my SECRET1", "dentist", "garden")
    table.add(said("what about SECRET2?"), kind="asked", cites=[0])
    table.touch([1], at(5), "what about SECRET2?")
    table.set_summary("they have SECRET1", [0, 1], START)
    table.save(vectors=True)
    table.edit(2, user="SECRET3", assistant="SECRET4")
    table.add(said("more"))
    abandon(table)
    path.write_bytes(path.read_bytes()[:-20])
    table, _ = load_noted(path)
    table.touch([1], at(6), "SECRET3")
    table.edit(2, user="garden", assistant="nice")
    table.delete(0)
    assert 3 not in table
    assert b"SECRET1" in beside(path, ".damaged1").read_bytes()
    table.compact()
    expected = state(table)
    table.close()
    for file in tmp_path.iterdir():
        assert b"SECRET" not in file.read_bytes(), file.name
    again, notes = load_noted(path)
    assert notes == ""
    assert state(again) == expected
    assert len(again.recalls) == 2


def test_compact_leaves_other_files_alone(path, tmp_path):
    for name in ("t.json.mine", "t.json.bak2", "other.json.bak", "t.json.damagedX"):
        (tmp_path / name).write_text("mine")
    table = saved(path)
    table.compact()
    assert {"t.json.mine", "t.json.bak2", "other.json.bak", "t.json.damagedX"} <= set(os.listdir(tmp_path))


def test_a_table_without_a_file_says_so():
    table = table_of("a")
    for use in (table.save, table.fold):
        with pytest.raises(IlstmaError, match="no file"):
            use()
    table.close()


# -- text, names, permissions ------------------------------------------------------------------------------------------


def test_f4_a_file_with_a_byte_order_mark_is_read(path):
    table = saved(path, "我对花生过敏")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert state(load(path)) == state(table)


_LATIN = """
import sys
sys.path.insert(0, {root!r})
from tests.memory.kit import load, said, saved
path = {path!r}
table = saved(path, "我对花生过敏")
table.add(said("caf\\u00e9 \\U0001f600"))
table.save()
table.add(said("\\u82b1\\u751f"))
assert [row.user for row in load(path)] == ["我对花生过敏", "caf\\u00e9 \\U0001f600", "\\u82b1\\u751f"]
print(sys.flags.utf8_mode)
"""


def test_f4_files_are_utf_8_whatever_the_locale_says(path, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(_LATIN.format(root=str(ROOT), path=str(path)), encoding="utf-8")
    environment = {**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONWARNDEFAULTENCODING": "1"}
    child = subprocess.run(
        [sys.executable, "-W", "error::EncodingWarning:ilstma_lab", script],
        env=environment,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert child.stdout.strip() == "0", child.stderr
    assert [row.user for row in load(path)] == ["我对花生过敏", "café \U0001f600", "花生"]


@pytest.mark.parametrize(
    "name", ["with space.json", "~nobody.json", "[x]*?.json", "我.json", "no ending", ".hidden", "a\nb", "%s{}.json"]
)
def test_odd_names(tmp_path, name):
    table = saved(tmp_path / name)
    table.add(said("x"))
    table.close()
    table = load(str(tmp_path / name))
    table.compact()
    assert len(load(tmp_path / name)) == 6


def test_a_name_that_starts_with_a_tilde_is_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert len(saved("~no_such_user_here.json")) == 5


def test_a_folder_that_is_not_there_is_made(tmp_path):
    assert len(saved(tmp_path / "a" / "b" / "t.json")) == 5


def test_what_cannot_be_read_is_a_message(tmp_path):
    with pytest.raises(TableFileError, match="no table at"):
        load(tmp_path / "none.json")
    with pytest.raises(TableFileError, match="cannot read"):
        load(tmp_path)
    with pytest.raises(TableFileError, match="cannot read"):
        load(tmp_path / ("x" * 300))


def test_a_folder_that_cannot_be_written_is_a_message_and_reading_works(path, monkeypatch):
    import filelock

    table = saved(path)

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    with pytest.raises(TableFileError, match=r"Permission denied. Choose a folder"):
        table.add(said("x"))
    assert len(table) == 5
    table = load(path)
    table.close()
    assert len(table) == 5


@pytest.mark.skipif(os.name != "posix", reason="permission bits")
def test_a_private_file_stays_private(path):
    table = saved(path)
    path.chmod(0o600)
    table = load(path)
    table.add(said("x"))
    assert stat.S_IMODE(beside(path, ".journal").stat().st_mode) == 0o600
    table.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name != "posix", reason="symbolic links")
def test_two_ways_to_one_file_meet_at_one_lock(path, tmp_path):
    table = saved(path)
    (tmp_path / "link.json").symlink_to(path)
    other = load(tmp_path / "link.json")
    table.add(said("x"))
    with pytest.raises(TableFileError, match="open for writing elsewhere"):
        other.add(said("y"))
    table.close()
    assert (tmp_path / "link.json").is_symlink()
    load(tmp_path / "link.json").add(said("z"))
    assert len(load(path)) == 7


def test_a_newer_file_is_refused_even_where_a_backup_is_there(path):
    table = saved(path)
    table.add(said("x"))
    table.close()
    _spoil(path, lambda d: d.update(version=2))
    with pytest.raises(FormatError, match=r"version 2.*Update"):
        load(path)


def test_warnings_are_table_warnings(path):
    saved(path)
    beside(path, ".journal").write_bytes(b"{")
    with pytest.warns(TableWarning, match=r"^t\.json: "):
        MemoryTable.load(path, embedder=EMBEDDER)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(TableWarning):
            MemoryTable.load(path, embedder=EMBEDDER)


# -- what is no file ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("use", [saved, load, look_at_file], ids=["save", "load", "doctor"])
@pytest.mark.parametrize("ending", ["", ".journal", ".bak", ".vectors.npy", ".lock"])
def test_a_pipe_or_a_socket_is_never_taken_for_a_table(use, ending, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    os.mkfifo(f"pipe.json{ending}")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"socket.json{ending}")
        before = {name: os.lstat(name).st_ino for name in os.listdir()}
        for name in ("pipe.json", "socket.json"):
            with pytest.raises(TableFileError, match=f"{name}{ending} is a device, a pipe or a socket and no file"):
                use(tmp_path / name)
        assert {name: os.lstat(name).st_ino for name in os.listdir()} == before


def test_a_table_is_not_saved_over_a_folder(tmp_path):
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(TableFileError, match=r"folder.json is a folder and no file"):
        table_of("violin").save(tmp_path / "folder.json")
    assert [file.name for file in tmp_path.iterdir()] == ["folder.json"]


@pytest.mark.parametrize("name", ["", "/", "a\0b.json"])
@pytest.mark.parametrize("use", [lambda path: table_of("violin").save(path), load, look_at_file], ids=["save", "load", "doctor"])
def test_a_path_that_names_no_file_is_refused_in_words(use, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="can name no file"):
        use(name)
    assert not os.listdir(tmp_path)


def test_a_lock_that_cannot_be_made_is_not_said_to_be_held_elsewhere(path):
    beside(path, ".lock").symlink_to(path.parent / "missing" / "lock")
    with pytest.raises(TableFileError, match=r"cannot write beside .*Choose a folder you may write to"):
        table_of("violin").save(path)
    assert not path.exists()
