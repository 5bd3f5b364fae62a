from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from ilstma_lab import ILSTMA, Dialogue, ManualClock, MemoryTable, offline
from ilstma_lab.errors import EmbeddingMismatchError, InputError
from ilstma_lab.memory.table import TableWarning
from ilstma_lab.models.embedders import HashedEmbedder
from tests.memory.kit import EMBEDDER, START, abandon, at, load, load_noted, said, saved, search, state, table_of

NOT_PERSONALITY = ("summary", "cache", "history", "relevant")


class Moody:
    """An embedder that fails, or gives something odd, for the texts that are told to it."""

    name, dim = EMBEDDER.name, EMBEDDER.dim

    def __init__(self, odd=None):
        self.odd, self.down, self.calls = odd or {}, False, 0

    def embed(self, texts, kind):
        self.calls += 1
        if self.down:
            raise RuntimeError("no answer")
        vectors = EMBEDDER.embed(texts, kind)
        for at_, text in enumerate(texts):
            for part, value in self.odd.items():
                if part in text:
                    if isinstance(value, Exception):
                        raise value
                    vectors[at_] = value
        return vectors


def test_rows_are_sorted_by_time_and_numbered_from_0():
    table = MemoryTable.from_dialogues([said("late", day=5), said("early", day=1)], embedder=EMBEDDER)
    assert [(row.index, row.user, row.recall_times, row.last_recall == row.created) for row in table] == [
        (0, "early", 1, True),
        (1, "late", 1, True),
    ]


def test_from_dialogues_refuses_anything_else():
    with pytest.raises(InputError, match="load_dialogues"):
        MemoryTable.from_dialogues(["hello"], embedder=EMBEDDER)


def test_a1_each_live_text_finds_its_own_index_after_a_delete_and_an_add():
    table = table_of("violin", "dentist", "garden", "bicycle", "recipe")
    table.delete(2)
    added = table.add(said("lighthouse", day=9))
    assert added == 5
    for row in table:
        assert search(table, row.text) == [row.index]
    assert len(table) == len(table.vectors) == len(state(table)["rows"]) == 5


def test_a2_a4_a_deleted_row_leaves_no_hole():
    table = table_of("violin", "dentist", "garden")
    table.delete(0)
    assert search(table, "violin\nI see.", k=10) != []
    assert set(search(table, "violin\nI see.", k=10)) == {1, 2}
    found = ILSTMA(table, models=offline(EMBEDDER), clock=ManualClock(at(9))).ask("violin?", remember=False).recall
    assert {c.index for c in found.branch_b.candidates} == {1, 2}
    for index in (1, 2):
        table.delete(index)
    assert len(table) == len(table.vectors) == 0
    assert search(table, "violin", k=3) == []


def test_a5_one_index_is_the_only_key():
    table = table_of("violin", "dentist", "garden")
    table.delete(0)
    assert 0 not in table
    assert 1 in table
    assert table[1].user == "dentist"
    assert table.text(table.position(2)).startswith("garden")
    for use in (lambda: table[0], lambda: table.edit(0, user="x"), lambda: table.delete(0), lambda: table.touch([0], START)):
        with pytest.raises(KeyError, match="no row 0"):
            use()


@pytest.mark.parametrize("strange", [None, "1", 10**30, -1, 1.5, True])
def test_a5_what_is_no_index_is_not_in_the_table(strange):
    assert strange not in table_of("violin") or strange is True


@pytest.mark.parametrize("how", ["close", "crash", "compact"])
def test_a6_an_index_is_never_reused_also_after_delete_and_reload(tmp_path, how):
    table = saved(tmp_path / "t.json", "a", "b", "c")
    table.delete(2)
    {"close": table.close, "compact": table.compact, "crash": lambda: None}[how]()
    abandon(table)
    assert load(tmp_path / "t.json").add(said("d", day=4)) == 3


def test_a6_not_even_when_every_row_is_gone(tmp_path):
    table = saved(tmp_path / "t.json", "a", "b")
    table.delete(0)
    table.delete(1)
    table.close()
    assert load(tmp_path / "t.json").add(said("c")) == 2


def test_a8_what_was_added_is_found_after_close_and_reopen(tmp_path):
    table = saved(tmp_path / "t.json", "a")
    for word in ("violin", "dentist", "garden"):
        table.add(said(word))
    table.touch([1], at(3), deferred=True)
    table.close()
    table = load(tmp_path / "t.json")
    assert search(table, "dentist\nI see.") == [2]
    assert table.waiting == {}
    assert table[1].recall_times == 2


def test_a11_every_route_shows_the_new_version_of_an_edited_row(tmp_path):
    table = saved(tmp_path / "t.json")
    with ILSTMA(table, models=offline(EMBEDDER), clock=ManualClock.after(table)) as lab:
        first = lab.ask("violin?")
        table.set_summary("a violin", [0, 1], at(3))
        lab.memory.choose_summary(0)
        old_row = first.row
        table.edit(0, user="A cello from Cremona")
        table.edit(old_row, user="cello?", assistant="A cello.")
        recall = lab.retriever.retrieve("cello Cremona", table, now=at(9))
        assert {c.index for c in recall.branch_b.candidates[:2]} == {0, old_row}
        assert any("cello from Cremona" in chunk.text for chunk in recall.branch_a.chunks)
        assert "violin" not in lab.memory.render(segments=NOT_PERSONALITY)
        assert table.summaries[0].stale
        assert [r.question for r in table.recalls if r.question] == []
    assert load(tmp_path / "t.json")[0].user == "A cello from Cremona"


def test_a12_a_deleted_row_is_gone_from_every_segment_in_the_same_call():
    table = table_of("violin", "dentist", "garden", "bicycle", "recipe")
    lab = ILSTMA(table, models=offline(EMBEDDER), clock=ManualClock.after(table))
    lab.ask("violin?")
    lab.ask("dentist?")
    table.set_summary("plays the violin", [0, 1], at(3))
    lab.memory.choose_summary(0)
    for row in [row.index for row in table if "violin" in row.text]:
        table.delete(row)
    assert "violin" not in lab.memory.render(segments=NOT_PERSONALITY)
    assert all("violin" not in turn.user + turn.assistant for turn in lab.memory.history)
    assert table.summaries[0].stale
    assert "violin" not in table.summaries[0].text
    recall = lab.retriever.retrieve("violin", table, now=at(9))
    assert all("violin" not in chunk.text for chunk in recall.branch_a.chunks)
    assert "violin" not in lab.ask("What do I play?").answer


def test_a13_j3_vectors_of_another_embedder_are_refused_with_both_names(tmp_path):
    saved(tmp_path / "t.json")
    with pytest.raises(EmbeddingMismatchError) as refused:
        MemoryTable.load(tmp_path / "t.json", embedder=HashedEmbedder(dim=32))
    for part in ("hashed-words-64", "64 dim", "hashed-words-32", "32 dim", "reembed=True"):
        assert part in str(refused.value)


@pytest.mark.parametrize("vectors", [True, False])
def test_a13_reembed_stays_with_the_file(tmp_path, vectors):
    table = saved(tmp_path / "t.json")
    table.save(vectors=vectors)
    table.close()
    other = HashedEmbedder(dim=64)
    other.name = "another-64"
    other.embed = lambda texts, kind: -EMBEDDER.embed(texts, kind)
    for embedder in (HashedEmbedder(dim=32), other):
        again = MemoryTable.load(tmp_path / "t.json", embedder=embedder, reembed=True)
        assert np.allclose(again.vectors, embedder.embed([row.text for row in again], "row"))
        again.close()
        assert MemoryTable.load(tmp_path / "t.json", embedder=embedder).vectors.shape == (5, embedder.dim)


def test_a13_reembed_in_memory():
    table = table_of("violin", "dentist")
    seen = len(table.changes)
    assert table.reembed(HashedEmbedder(dim=32)) is table
    assert table.vectors.shape == (2, 32)
    assert sorted(table.changes[seen:]) == [0, 1]
    assert table.add(said("garden")) == 2


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a17_a_vector_that_is_not_finite_is_not_taken(value):
    embedder = Moody({"bad": value})
    with pytest.warns(TableWarning, match="could not be embedded"):
        table = table_of("violin", "bad", "dentist", embedder=embedder)
    assert table.pending.tolist() == [False, True, False]
    assert np.isfinite(table.vectors).all()
    turn = ILSTMA(table, models=offline(EMBEDDER), clock=ManualClock(at(9))).retriever.retrieve("violin", table, now=at(9))
    assert turn.branch_b.candidates[0].index == 0
    assert all(np.isfinite(c.score) for c in turn.branch_b.candidates)


def test_a17_a_zero_vector_is_last_and_never_nan():
    table = table_of("violin", "zero", "dentist", embedder=Moody({"zero": 0.0}))
    assert table.check() == ()
    assert not table.pending.any()
    assert np.isfinite(table.vectors).all()
    assert search(table, "violin\nI see.", k=3)[0] == 0


def test_a18_a_row_whose_embedding_failed_is_kept_and_tried_again(tmp_path):
    embedder = Moody()
    table = saved(tmp_path / "t.json", embedder=embedder)
    embedder.down = True
    with pytest.warns(TableWarning, match=r"1 rows could not be embedded by hashed-words-64 \(RuntimeError: no answer\)"):
        table.add(said("lighthouse"))
    assert table[5].pending
    assert table[5].vector is None
    with pytest.warns(TableWarning, match="could not be embedded"):
        again = load(tmp_path / "t.json", embedder=embedder)
    assert again[5].pending
    assert again[5].user == "lighthouse"
    embedder.down = False
    assert table.add(said("garden")) == 6
    assert not table.pending.any()
    assert search(table, "lighthouse\nI see.") == [5]


def test_a18_one_text_that_cannot_be_embedded_holds_back_no_other():
    embedder = Moody({"poison": ValueError("too long")})
    with pytest.warns(TableWarning, match="too long"):
        table = table_of("violin", "poison", "dentist", embedder=embedder)
    assert table.pending.tolist() == [False, True, False]
    with pytest.warns(TableWarning, match="1 rows"):
        table.add(said("garden"))
    assert table.pending.tolist() == [False, True, False, False]
    embedder.down, embedder.calls = True, 0
    with pytest.warns(TableWarning, match="no answer"):
        table.add(said("bicycle"))
    assert embedder.calls <= 3  # a dead endpoint is not asked for every row


def test_b5_twenty_threads_add_rows_with_indices_of_their_own(tmp_path):
    table = saved(tmp_path / "t.json", "first")
    got: list[int] = []
    threads = [threading.Thread(target=lambda n=n: got.append(table.add(said(f"text {n}")))) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(1, 21))
    expected = state(table)
    assert state(load(tmp_path / "t.json")) == expected
    table.close()
    assert state(load(tmp_path / "t.json")) == expected


HARD = '{"braces": [1]} "quotes" \\back\\slash\\ \n\r\t \u2028 \x00 <b>&amp;</b> 我对花生过敏 \U0001f600 \x7f'


def test_b10_f6_every_text_comes_back_as_it_was(tmp_path):
    path = tmp_path / "t.json"
    table = saved(path, "earlier", HARD)
    table.add(Dialogue(HARD, HARD, START, HARD))
    table.edit(0, assistant=HARD)
    table.set_personality(HARD)
    table.set_summary(HARD, [0], START)
    table.touch([0], START, HARD, deferred=True)
    table.open_question(HARD, START)
    expected = state(table)
    assert state(load(path)) == expected
    table.save()
    assert state(load(path)) == expected
    assert json.loads(path.read_text("utf-8"))["entries"][2]["user"] == HARD


def test_b11_numpy_numbers_and_any_float_type_are_taken(tmp_path):
    class Doubles:
        name, dim = EMBEDDER.name, EMBEDDER.dim

        def embed(self, texts, kind):
            return (3 * EMBEDDER.embed(texts, kind)).astype(np.float64).tolist()

    table = saved(tmp_path / "t.json", embedder=Doubles())
    assert table.vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(table.vectors, axis=1), 1)
    table.touch(np.array([0, 1]), "2024-02-01", deferred=np.bool_(True).item())
    table.set_summary("short", np.array([1, 2]), START)
    table.add(said("x"), kind="asked", cites=np.array([0]))
    table.edit(np.int64(3), user="y")
    table.delete(np.int64(4))
    expected = state(table)
    assert state(load(tmp_path / "t.json")) == expected


def test_b12_an_edit_is_on_the_disk_though_the_count_is_the_same(tmp_path):
    table = saved(tmp_path / "t.json")
    before = len(table)
    table.edit(1, assistant="rewritten")
    assert load(tmp_path / "t.json")[1].assistant == "rewritten"
    assert len(table) == before


def test_c2_a_recall_in_the_future_is_clamped_and_flagged():
    table = table_of("a", "b")
    for days in (1, 10, 3650):
        table.touch([0], at(days))
        frame = table.to_frame(now=START)
        assert frame.time_interval[0] == 0
        assert frame.clamped[0]
    assert not table.to_frame(now=at(2)).clamped[1]


def test_a_touch_counts_and_never_goes_back_in_time():
    table = table_of("a", "b")
    table.touch([0], at(5))
    table.touch([0], at(2), deferred=True)
    assert table.waiting == {0: (1, at(2))}
    assert (table[0].recall_times, table[0].last_recall) == (2, at(5))
    assert table.write_waiting() == 1
    assert table.write_waiting() == 0
    assert (table[0].recall_times, table[0].last_recall) == (3, at(5))


def test_a_row_deleted_since_the_turn_began_is_not_touched(tmp_path):
    table = saved(tmp_path / "t.json")
    touch = table.touched([0, 1], at(9), "q", deferred=True)
    table.delete(0)
    table.close_turn(None, touch)
    assert set(table.waiting) == {1}
    assert {record.row for record in table.recalls} == {1}
    assert state(load(tmp_path / "t.json")) == state(table)


def test_an_entry_stays_as_it_was_when_it_was_looked_at():
    table = table_of("violin", "dentist", "garden")
    entry = table[1]
    vector = entry.vector.copy()
    table.delete(0)
    table.edit(1, user="other")
    assert np.array_equal(entry.vector, vector)
    with pytest.raises(ValueError, match="read-only"):
        entry.vector[0] = 1
    for array in (table.vectors, table.indices, table.created, table.recall_times, table.last_recall, table.pending):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_fork_shares_nothing_that_changes(tmp_path):
    table = saved(tmp_path / "t.json")
    table.touch([0], at(5), deferred=True)
    before = state(table)
    other = table.fork()
    assert state(other) == before
    assert other.path is None
    other.delete(0)
    other.edit(1, user="elsewhere")
    other.add(said("elsewhere"))
    other.set_personality("other")
    other.touch([2], at(6))
    other.write_waiting()
    assert state(table) == before
    assert state(load(tmp_path / "t.json")) == before
    forked = state(other)
    table.delete(3)
    table.write_waiting()
    assert state(other) == forked


def test_g1_two_tables_never_mix(tmp_path):
    mine, yours = saved(tmp_path / "mine.json", "my secret"), saved(tmp_path / "yours.json", "your garden")
    labs = [ILSTMA(t, models=offline(EMBEDDER), clock=ManualClock.after(t)) for t in (mine, yours)]
    for lab in labs:
        lab.ask("What is the secret?")
        lab.ask("And the secret again?")
    assert "my" not in labs[1].memory.render()
    for lab in labs:
        lab.close()
    files = [file for file in tmp_path.iterdir() if file.name.startswith("yours")]
    assert all(b"my secret" not in file.read_bytes() for file in files)


def test_to_frame_is_table_1_of_the_paper():
    table = table_of("a", "b")
    table.add(said("c", day=2.5), kind="asked", cites=[0])
    table.touch([0], at(2))
    frame = table.to_frame(now=at(4.4))
    assert frame.columns[:4].tolist() == ["time_interval", "recall_times", "text", "embedding_vector"]
    assert frame.index.name == "index"
    assert frame.index.tolist() == [0, 1, 2]
    assert frame.time_interval.tolist() == [2, 3, 1]
    assert frame.recall_times.tolist() == [2, 1, 1]
    assert frame.kind.tolist() == ["told", "told", "asked"]
    assert frame.text[0] == "a\nI see."
    assert frame.created[1].to_pydatetime() == at(1)
    assert frame.last_recall[0].to_pydatetime() == at(2)
    assert table.to_frame().time_interval.tolist() == [0, 1, 0]
    assert len(table_of().to_frame()) == 0
    old = MemoryTable.from_dialogues([Dialogue("long ago", "", "1200-01-01")], embedder=EMBEDDER)
    assert old.to_frame().created[0].year == 1200


def test_progress_is_told():
    seen = []
    MemoryTable.from_dialogues([said(str(n)) for n in range(600)], embedder=EMBEDDER, progress=lambda *p: seen.append(p))
    assert seen == [(256, 600), (512, 600), (600, 600)]


def test_bad_rows_change_nothing(tmp_path):
    table = saved(tmp_path / "t.json")
    before = state(table)
    for use in (
        lambda: table.add(said("x"), kind="odd"),
        lambda: table.add(said("x"), kind="asked", cites=[99]),
        lambda: table.edit(0, user=" ", assistant=""),
        lambda: table.touch([0, 99], START),
        lambda: table.touch([0], "never"),
        lambda: table.touch([0], START, 7),
        lambda: table.set_personality(None),
    ):
        with pytest.raises((InputError, KeyError)):
            use()
    assert state(table) == before
    assert state(load(tmp_path / "t.json")) == before


def test_summaries_and_the_rows_that_wait_for_one(tmp_path):
    table = saved(tmp_path / "t.json")
    assert table.unsummarised(5) == (0, 1, 2, 3, 4)
    assert table.unsummarised(6) == ()
    first = table.set_summary("one", [0, 1, 2], START)
    assert first.number == 0
    assert table.set_summary("two", [3], START).number == 1
    assert table.unsummarised(1) == (4,)
    table.set_summary("one again", [1, 2], START, replaces=0)  # row 0 is let go
    assert table.unsummarised(2) == (0, 4)
    assert [s.text for s in table.summaries] == ["one again", "two"]
    assert table.summary_vectors().shape == (2, 64)
    assert state(load(tmp_path / "t.json")) == state(table)
    assert table_of().summary_vectors().shape == (0, 64)


def test_a_repr_says_what_and_where(tmp_path):
    assert repr(saved(tmp_path / "t.json")) == "<MemoryTable without topic: 5 rows in t.json>"


def test_e6_a_very_long_text_is_kept_whole(tmp_path):
    text = "word " * 40_000
    table = saved(tmp_path / "t.json", "short")
    with pytest.warns(TableWarning, match="found by its first 20,000"):
        table.add(said(text))
    assert load(tmp_path / "t.json")[1].user == text
    table.close()
    assert load_noted(tmp_path / "t.json")[0][1].user == text
