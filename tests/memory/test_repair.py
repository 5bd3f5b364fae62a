"""Whatever happened to a table's files: what is left is found, nothing is written unasked, and a repair leaves a whole table."""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ilstma_lab.errors import FormatError, TableBusyError
from ilstma_lab.memory.repair import plan_repair, repair
from tests.importers.mutations import other_bytes, other_values, raw
from tests.memory.kit import EMBEDDER, abandon, at, load, load_noted, said, saved, state

ENDINGS = ("", ".journal", ".bak", ".journal.bak", ".vectors.npy", ".chunks.npy")


def beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def files_of(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.parent.iterdir() if file.suffix != ".lock"}


@pytest.fixture(scope="module")
def template(tmp_path_factory) -> Path:
    """A table with every file: snapshot and journal, backup and its journal, both caches."""
    path = tmp_path_factory.mktemp("template") / "t.json"
    table = saved(path)
    table.add(said("folded", day=6))
    table.touch([1], at(7), "which?")
    table.save(vectors=True)
    table.set_summary("in short", [0, 1, 2], at(8))
    table.add(said("in the journal", day=9), kind="asked", cites=[1])
    table.touch([0, 2], at(10), "both?", deferred=True)
    table.delete(3)
    abandon(table)
    shutil.copy(beside(path, ".vectors.npy"), beside(path, ".chunks.npy"))
    beside(path, ".lock").unlink()
    return path


@pytest.fixture
def path(template, tmp_path) -> Path:
    for file in template.parent.iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path / "t.json"


@pytest.fixture(scope="module")
def whole(template) -> dict:
    return state(load(template))


def repaired(path: Path):
    """Plan a repair, which changes nothing, and carry it out: the table is whole then. Return the plan."""
    before = files_of(path)
    plan = plan_repair(path)
    assert files_of(path) == before
    assert plan.needed
    repair(plan)
    again = plan_repair(path)
    assert (again.needed, again.found) == (False, [])
    return plan


def test_a_whole_table_needs_no_repair(path, whole):
    plan = plan_repair(path)
    assert (plan.needed, plan.found, plan.best.lost, plan.best.mended) == (False, [], [], [])
    before = files_of(path)
    assert repair(plan) == []
    assert files_of(path) == before


def test_a_table_of_another_embedder_is_repaired_without_it_and_keeps_its_vectors(path):
    vectors = load(path).vectors.copy()
    path.write_bytes(path.read_bytes()[:-40])
    repaired(path)
    table, notes = load_noted(path, embedder=Counting())
    assert (notes, table.embedder.asked) == ("", 1), "only the row of the journal had no vector on the disk"
    assert np.allclose(table.vectors, vectors, atol=1e-6)


class Counting:
    name, dim, asked = EMBEDDER.name, EMBEDDER.dim, 0

    def embed(self, texts, kind):
        self.asked += len(texts)
        return EMBEDDER.embed(texts, kind)


@pytest.mark.parametrize("damage", [b"", b"\0" * 400, b"noise", "half", "gone"])
@pytest.mark.parametrize("also", ["", ".vectors.npy", ".chunks.npy"])
def test_b2_j2_a_damaged_snapshot_is_restored_from_backup_and_journals_and_kept_aside(path, whole, damage, also):
    data = path.read_bytes()
    damage = data[: len(data) // 2] if damage == "half" else damage
    path.unlink() if damage == "gone" else path.write_bytes(damage)
    if also:
        beside(path, also).write_bytes(b"\x93NUMPY garbled")
    plan = repaired(path)
    assert (plan.best.lost, plan.best.source) == ([], "t.json.bak")
    table, notes = load_noted(path)
    assert (notes, state(table)) == ("", whole)
    if damage != "gone":
        assert beside(path, ".damaged1").read_bytes() == damage


def test_b2_a_cut_snapshot_without_a_backup_gives_the_rows_that_are_whole(path):
    data = path.read_bytes()
    for ending in (".bak", ".journal.bak", ".journal"):
        beside(path, ending).unlink()
    path.write_bytes(data[: data.index(b'"dentist"') if b'"dentist"' in data else data.index(b"garden")])
    with pytest.raises(FormatError, match=r"no backup"):
        load(path)
    plan = repaired(path)
    assert "the damaged part of t.json" in plan.best.lost[0]
    rows = [row.user for row in load(path)]
    assert rows == ["violin", "dentist"][: len(rows)]
    assert rows
    assert beside(path, ".damaged1").exists()


def test_rows_of_a_lost_snapshot_come_back_from_the_journals_alone(path):
    path.unlink()
    beside(path, ".bak").write_bytes(b"")
    plan = repaired(path)
    assert plan.best.source == "the journals alone"
    assert plan.best.lost
    table = load(path, embedder=EMBEDDER, reembed=True)
    assert [(row.index, row.user) for row in table] == [(5, "folded"), (6, "in the journal")]


def test_an_old_snapshot_is_filled_up_from_the_backups_journal(path, whole):
    path.write_bytes(beside(path, ".bak").read_bytes())
    assert "lacks what stood between" in load_noted(path)[1]
    plan = repaired(path)
    assert plan.best.lost == []
    assert state(load(path)) == whole


def edited(path: Path, change) -> None:
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), encoding="utf-8")


def test_two_rows_with_one_index_are_both_kept(path):
    for ending in (".bak", ".journal.bak", ".journal"):
        beside(path, ending).unlink()
    edited(path, lambda d: d["entries"][2].update(index=1))
    plan = repaired(path)
    assert plan.best.lost == []
    assert "a row with the index 1 is row 6 now" in plan.best.mended
    assert [(row.index, row.user) for row in load(path)][-1] == (6, "garden")


@pytest.mark.parametrize(
    ("change", "lost"),
    [
        (lambda d: d["entries"][1].update(user=None, assistant=7), "row 1: no word of it can be read"),
        (lambda d: d["entries"][1].update(assistant=7), "row 1: its assistant (7)"),
        (lambda d: d["entries"].append("row"), "the row 'row': no word of it can be read"),
        (lambda d: d.update(personality=["x"]), "the personality: ['x']"),
        (lambda d: d.update(unanswered={"text": 5}), "the question that was left unanswered"),
        (lambda d: d["recalls"].append({"row": "x"}), "one of the recalls"),
        (lambda d: d.update(summaries=[5]), "one of the summaries: 5"),
        (lambda d: d.update(waiting=[[1]]), "one of the deferred touches: [1]"),
        (lambda d: d.update(seq="many"), "the number of the snapshot's last commit"),
    ],
)
def test_what_is_lost_is_named_and_the_rest_kept(path, change, lost):
    for ending in (".bak", ".journal.bak"):
        beside(path, ending).unlink()
    edited(path, change)
    plan = repaired(path)
    assert any(lost in sentence for sentence in plan.best.lost), plan.best.lost
    assert len(load(path)) >= 5


@pytest.mark.parametrize("part", [b'"seq": ', b'"recalls": ', b'"summaries": '])
def test_a_part_that_is_lost_costs_no_row(path, part):
    for ending in (".bak", ".journal.bak", ".journal"):
        beside(path, ending).unlink()
    path.write_bytes(path.read_bytes().replace(part, b'"what": '))
    plan = repaired(path)
    assert plan.best.lost
    assert len(load(path)) == 6


@pytest.mark.parametrize(
    ("change", "mended"),
    [
        (lambda d: d["entries"][1].update(created="soon"), "its creation 'soon' is no time; that of the row before it is used"),
        (lambda d: d["entries"][1].update(last_recall="2001-01-01"), "its last recall lies before its creation"),
        (lambda d: d["entries"][1].update(recall_times=0), "row 1: it counted 0 recalls, and 2 by the log"),
        (lambda d: d["entries"][4].update(cites=[77, 0]), None),
        (lambda d: d["recalls"].append({"row": 55, "at": "2024-01-01"}), "1 of the recalls named rows that are not there"),
        (lambda d: d.update(waiting=[[55, 1, "2024-01-01"]]), "1 of the deferred touches named rows that are not there"),
        (
            lambda d: d["summaries"].append({"number": 4, "text": "x", "rows": [0, 99], "at": "2024-01-01"}),
            "summary 4 named rows",
        ),
    ],
)
def test_what_can_be_mended_is_mended_without_loss(path, change, mended):
    for ending in (".bak", ".journal.bak"):
        beside(path, ending).unlink()
    edited(path, change)
    plan = repaired(path)
    assert plan.best.lost == []
    assert mended is None or any(mended in sentence for sentence in plan.best.mended), plan.best.mended


def test_a_torn_line_is_no_loss(path, whole):
    with open(beside(path, ".journal"), "ab") as out:
        out.write(b'{"seq":')
    assert repaired(path).best.lost == []
    assert state(load(path)) == whole


def test_a_line_that_cannot_be_read_is_a_loss_and_every_file_is_kept_aside(path):
    journal = beside(path, ".journal")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0][:30] + b"\n", *lines[1:]]))
    before = files_of(path)
    plan = repaired(path)
    assert any("line 1 of t.json.journal cannot be read" in sentence for sentence in plan.best.lost)
    for ending in ("", ".journal", ".bak", ".journal.bak"):
        assert beside(path, f"{ending}.damaged1").read_bytes() == before[f"t.json{ending}"]


@pytest.mark.parametrize("ending", [".bak", ".journal.bak", ".vectors.npy", ".chunks.npy"])
def test_a_damaged_file_beside_is_put_right(path, whole, ending):
    beside(path, ending).write_bytes(b"noise\n")
    assert repaired(path).best.lost == []
    assert state(load(path)) == whole


def test_a_damaged_copy_that_was_kept_is_kept_by_the_next_repair(path):
    for number, damage in enumerate([b"one", b"two"], 1):
        path.write_bytes(damage)
        repaired(path)
        assert beside(path, f".damaged{number}").read_bytes() == damage


@pytest.mark.parametrize("content", [b"{}", b"[]", b'{"format": "ilstma-table", "version": 99}', b'{"conversations": []}'])
def test_a_file_of_another_kind_is_never_replaced_by_the_backup(path, content):
    path.write_bytes(content)
    plan = plan_repair(path)
    assert plan.best is None
    before = files_of(path)
    with pytest.raises(FormatError, match="cannot be repaired"):
        repair(plan)
    assert files_of(path) == before


def test_b6_nothing_is_repaired_while_another_writes(path, monkeypatch):
    monkeypatch.setattr("ilstma_lab.memory.repair._WAIT_SECONDS", 0)
    holder = load(path)
    holder.add(said("mine"))
    beside(path, ".chunks.npy").write_bytes(b"noise")
    plan = plan_repair(path)
    before = files_of(path)
    with pytest.raises(TableBusyError):
        repair(plan)
    assert files_of(path) == before


# -- whatever the files hold -------------------------------------------------------------------------------------------


def survives(template: Path, spoilt: dict[str, bytes]) -> None:
    """Spoil files of a table: a plan changes nothing; a repair that is possible leaves a whole table with no row less."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:
        path = Path(folder) / "t.json"
        for file in template.parent.iterdir():
            shutil.copy(file, folder)
        for ending, content in spoilt.items():
            beside(path, ending).write_bytes(content)
        before = files_of(path)
        plan = plan_repair(path)
        assert files_of(path) == before
        if plan.best is None:
            assert plan.found
            return
        assert len(plan.best.table) > 0 or "" in spoilt
        repair(plan)
        after = plan_repair(path)
        assert not after.needed, (plan.found, after.found)
        assert len(after.best.table) == len(plan.best.table)
        kept = files_of(path).values()
        if plan.found or plan.damaged_copies:
            assert all(before[name] in kept for name in ("t.json", "t.json.journal"))


FREE = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}


def spoilt_files(template: Path):
    contents = {ending: beside(template, ending).read_bytes() for ending in ENDINGS}
    documents = other_values(json.loads(contents[""].decode())).map(raw)
    noise = st.binary(max_size=40) | st.sampled_from([b"", b"\0" * 300, b"[" * 3_000, b"{}\n" * 9])

    @st.composite
    def some(draw):
        endings = draw(st.lists(st.sampled_from(ENDINGS), min_size=1, max_size=3, unique=True))
        ways = {
            ending: other_bytes(contents[ending]) | noise | (documents if ending in ("", ".bak") else noise) for ending in endings
        }
        return {ending: draw(way) for ending, way in ways.items()}

    return some()


@settings(max_examples=60, **FREE)
@given(data=st.data())
def test_no_bytes_in_any_file_are_too_much_for_a_repair(template, data):
    survives(template, data.draw(spoilt_files(template)))


@pytest.mark.slow
@settings(max_examples=3_000, **FREE)
@given(data=st.data())
def test_three_thousand_spoilt_tables(template, data):
    survives(template, data.draw(spoilt_files(template)))
