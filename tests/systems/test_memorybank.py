"""MemoryBank over a table whose vectors one can reckon by hand: ranking, days, forgetting, undo, deletes, real data."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ilstma_lab import Dialogue, ManualClock, MemoryTable
from ilstma_lab.errors import InputError, ModelError
from ilstma_lab.evaluation.datasets import load_dataset
from ilstma_lab.memory.segments import Note
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.models.sentences import words
from ilstma_lab.models.unsent import unsent
from ilstma_lab.systems import find_system
from ilstma_lab.systems.memorybank import Forgetting, MemoryBank, MemoryBankSettings
from tests.models.stand_in import Scripted
from tests.stubs import StubResponder, stub_models

DATA = Path(os.environ.get("ILSTMA_LAB_DATA", "/nowhere"))
EMBEDDER = HashedEmbedder(dim=256)
START = datetime(2023, 5, 1, 9, tzinfo=UTC)
SAID = (
    ("My cello lesson is on Tuesdays.", "I will keep that in mind.", 0),
    ("The cello teacher is called Mara.", "A fine name.", 0),
    ("I planted tomatoes and beans.", "Water them well.", 0),
    ("My aunt in Bergen is ill, I am worried.", "I am sorry to hear it.", 1),
    ("I booked a ferry to Bergen.", "Have a good trip.", 1),
    ("The tomatoes have slugs.", "Try copper tape.", 3),
)
TEXT = MemoryBankSettings(context_turns=0)


def table_of(said=SAID, **options) -> MemoryTable:
    rows = [Dialogue(user, reply, START + timedelta(days=day, minutes=at)) for at, (user, reply, day) in enumerate(said)]
    return MemoryTable.from_dialogues(rows, embedder=EMBEDDER, topic="Ivy", **options)


def bank(config: MemoryBankSettings | None = TEXT, *, table: MemoryTable | None = None, models=None, days: int = 4) -> MemoryBank:
    table = table if table is not None else table_of()
    return MemoryBank(table, config, models=models or offline(EMBEDDER), clock=ManualClock(START + timedelta(days=days)))


def texts(lab: MemoryBank, kind: str) -> dict[str, str]:
    """The notes that hold, by day."""
    found = (note for note in lab.table.notes(kind) if note.text and not note.stale)
    return {str(lab.table.day_of(note.rows[0])): note.text for note in found}


def prompt(lab: MemoryBank) -> str:
    return lab.memory.render()


# -- days --------------------------------------------------------------------------------------------------------------


def test_summarise_writes_each_ended_day_and_then_what_is_global():
    lab, heard = bank(), []
    assert lab.summarise(progress=lambda done, total: heard.append((done, total))) == 3 * 2 + 2
    assert heard[-1] == (8, 8)
    assert list(texts(lab, "day")) == ["2023-05-01", "2023-05-02", "2023-05-04"]
    assert "2023-05-02, user: I booked a ferry to Bergen." in texts(lab, "day")["2023-05-02"]
    assert "Reply: begin with the feeling" in texts(lab, "mood")["2023-05-02"], "she is worried"
    (events,), (portrait,) = lab.table.notes("events"), lab.table.notes("portrait")
    assert events.rows == portrait.rows == (0, 1, 2, 3, 4, 5)
    assert "Turns: read 6" in portrait.text
    assert lab.summarise() == 0, "nothing is due any more"
    assert lab.table.summaries == ()
    assert lab.table.unsummarised_count == 6, "ILSTMA's groups are not touched"


def test_the_first_turn_of_a_new_day_closes_the_earlier_ones():
    lab = bank(table=table_of(()), days=0)
    for minutes in (0, 5):
        turn = lab.ask("I row on the lake.", at=START + timedelta(minutes=minutes))
        assert turn.step(14) is None
    turn = lab.ask("Good morning!", at=START + timedelta(days=1))
    assert turn.step(14).wrote["notes"] == 4
    assert list(texts(lab, "day")) == ["2023-05-01"]
    assert lab.table.notes("day")[0].rows == (0, 1), "the new day is still open"
    assert lab.ask("Anything else?", at=START + timedelta(days=1, hours=1)).step(14) is None
    assert "I row on the lake" in prompt(lab), "portrait and events stand in the next prompt"


def test_a_day_is_that_of_the_speaker():
    east = [Dialogue(f"note {n}", "ok", f"2023-05-0{2 + (n > 1)}T0{n}:30:00+08:00") for n in range(3)]
    lab = bank(table=MemoryTable.from_dialogues(east, embedder=EMBEDDER))
    lab.summarise()
    assert [note.rows for note in lab.table.notes("day")] == [(0, 1), (2,)]


def test_a_new_row_of_an_old_day_makes_its_notes_anew_in_their_place():
    lab = bank()
    lab.summarise()
    numbers = [note.number for note in lab.table.written]
    lab.table.add(Dialogue("The ferry leaves at 8 from Hirtshals.", "Be early.", START + timedelta(days=1, hours=3)))
    assert lab.summarise() == 4
    assert "Hirtshals" in texts(lab, "day")["2023-05-02"]
    assert [note.number for note in lab.table.written] == numbers


# -- retrieval ---------------------------------------------------------------------------------------------------------


def test_rows_and_days_are_ranked_together_by_their_cosine():
    lab = bank()
    lab.summarise()
    turn = lab.ask("Who is the cello teacher?")
    query = EMBEDDER.embed(["Who is the cello teacher?"], "query")[0]
    rows = {str(row.index): float(row.vector @ query) for row in lab.table if row.index < 6}
    days = zip(texts(lab, "day"), EMBEDDER.embed(list(texts(lab, "day").values()), "row") @ query, strict=True)
    best = sorted((rows | dict(days)).items(), key=lambda item: -item[1])[:2]
    assert turn.step(6).wrote["scores"] == pytest.approx(dict(best), abs=1e-6)
    assert turn.recalled[0] == 1
    assert turn.step(8).wrote["touched"] == [int(name) for name, _ in best if name.isdigit()]


def test_a_recalled_day_stands_in_the_prompt_and_leads_to_its_rows():
    lab = bank(MemoryBankSettings(context_turns=0, top=9))
    lab.summarise()
    turn = lab.ask("Bergen ferry aunt")
    (number,) = [note.number for note in lab.table.notes("day") if note.rows == (3, 4)]
    assert Note(number) in lab.memory._relevant
    assert "2023-05-02, user: I booked a ferry to Bergen." in turn.prompts[9].split("<relevant>")[-1]
    assert turn.step(6).wrote["days"][0] == "2023-05-02"
    assert set(turn.recalled) == {0, 1, 2, 3, 4, 5}
    assert len(set(turn.recalled)) == len(turn.recalled)


def test_the_last_turns_of_the_user_are_searched_with_the_question():
    alone, context = bank(), bank(MemoryBankSettings(context_turns=1, top=1))
    for lab in (alone, context):
        lab.ask("What of my aunt in Bergen?")
    assert alone.ask("And the cello?").recalled[0] in (0, 1)
    assert context.ask("How ill is she?").recalled[0] == 3
    assert alone.ask("How ill is she?").recalled[0] == 3


def test_what_was_never_embedded_is_found_by_its_words():
    class Down(HashedEmbedder):
        def embed(self, texts, kind):
            if kind == "row":
                raise RuntimeError("no answer")
            return super().embed(texts, kind)

    with pytest.warns(UserWarning, match="could not be embedded"):
        table = MemoryTable.from_dialogues([Dialogue("slugs eat tomatoes", "", START)], embedder=Down(dim=256))
    lab = MemoryBank(table, TEXT, models=offline(EMBEDDER), clock=ManualClock.after(table))
    with pytest.warns(UserWarning, match="could not be embedded"):
        turn = lab.ask("tomatoes?")
    assert turn.recalled == (0,)


def test_f7_an_empty_table_answers():
    turn = bank(table=table_of(())).ask("Do you know me?")
    assert (turn.failure, turn.recalled) == (None, ())


def test_j7_rows_that_join_a_hit_take_no_score_and_no_recall():
    lab = bank(MemoryBankSettings(context_turns=0, top=1, widen_characters=130))
    turn = lab.ask("Who is the cello teacher called Mara?")
    assert list(turn.step(6).wrote["scores"]) == ["1"]
    assert turn.recalled == (1, 2), "47 + 49 characters fit, the lesson's 58 do not"
    assert [row.index for row in lab.memory.relevant] == [1, 2], "in the order of time"
    assert turn.step(8).wrote["touched"] == [1]
    assert lab.table[2].recall_times == 1


def test_a_hit_is_never_widened_over_its_day_or_over_what_is_forgotten():
    wide = MemoryBankSettings(context_turns=0, top=1, widen_characters=10_000)
    assert set(bank(wide).ask("ferry to Bergen booked").recalled) == {3, 4}
    lab = bank(replace(wide, forgetting=Forgetting(seed=3)), days=1)
    gone = {piece for piece in lab.forgotten() if isinstance(piece, int)}
    turn = lab.ask("cello lesson teacher tomatoes")
    assert not gone & set(turn.recalled)


def test_echoes_stay_behind_unless_told_otherwise():
    plain, rows = bank(), bank(replace(TEXT, echoes="as_rows"))
    for lab in (plain, rows):
        first = lab.ask("Who is the cello teacher?")
        assert first.kind == "asked"
    again = "Who is the cello teacher?"
    assert first.row not in plain.ask(again).recalled
    assert rows.ask(again).recalled[0] == first.row


def test_a_date_in_front_of_rows_changes_what_is_encoded():
    lab = bank(replace(TEXT, date_header=True, top=1))
    assert lab.ask("2023 05 04?").recalled == (5,)


# -- forgetting --------------------------------------------------------------------------------------------------------


def test_a_forgotten_piece_is_masked_and_found_again_without_forgetting():
    lab = bank(replace(TEXT, forgetting=Forgetting()), days=90)
    lab.summarise()
    turn = lab.ask("Who is the cello teacher?")
    assert turn.recalled == ()
    assert turn.step(10).wrote == {"forgotten": 9, "kept": 0}
    assert len(lab.table) == 7
    assert 1 in bank(table=lab.table, days=90).ask("Who is the cello teacher?").recalled


@pytest.mark.parametrize("seed", range(4))
def test_a_recall_adds_one_to_strength_and_puts_time_back_for_rows_and_days(seed: int):
    lab = bank(replace(TEXT, forgetting=Forgetting(form="inverted", seed=seed), top=9))
    lab.summarise()
    now = START + timedelta(days=4, hours=1)
    gone = lab.forgotten(now)
    assert 0 < len(gone) < 9
    turn = lab.ask("cello Bergen tomatoes", at=now)
    for row in range(6):
        entry = lab.table[row]
        assert (entry.recall_times, entry.last_recall == now) == ((1, False) if row in gone else (2, True))
    for note in lab.table.notes("day"):
        assert (note.recall_times, note.last_recall) == ((1, None) if Note(note.number) in gone else (2, now))
    assert turn.step(10).wrote["forgotten"] == len(gone)


def test_days_fade_unless_they_are_spared():
    fade, spared = (bank(replace(TEXT, forgetting=Forgetting(days=how)), days=90) for how in ("fade", "spared"))
    for lab in (fade, spared):
        lab.summarise()
    assert sum(isinstance(piece, Note) for piece in fade.forgotten()) == 3
    assert sum(isinstance(piece, Note) for piece in spared.forgotten()) == 0


def test_j5_loads_of_one_day_forget_the_same(tmp_path):
    table = table_of()
    lab = bank(replace(TEXT, forgetting=Forgetting(seed=2)), table=table)
    lab.summarise()
    table.save(tmp_path / "ivy.json")
    first = lab.forgotten()
    assert 0 < len(first) < 9
    for _ in range(3):
        with MemoryTable.load(tmp_path / "ivy.json", embedder=EMBEDDER) as again:
            assert bank(replace(TEXT, forgetting=Forgetting(seed=2)), table=again).forgotten() == first


# -- the table goes with it --------------------------------------------------------------------------------------------


def test_a_deleted_row_is_out_of_every_prompt_and_its_day_is_written_anew():
    lab = bank(MemoryBankSettings(context_turns=0, top=9))
    lab.summarise()
    assert "Bergen" in lab.ask("ferry Bergen").prompts[9]
    lab.table.delete(3)
    lab.table.delete(4)
    lab.clock.advance(days=1)
    turn = lab.ask("What do you know of me?")
    assert "ferry" not in turn.prompts[9]
    assert "ferry" not in "".join(note.text for note in lab.table.written)
    assert turn.step(14) is not None
    assert "tomatoes" in lab.memory.summary + lab.memory.personality


def test_an_edited_row_is_not_told_as_it_was():
    lab = bank(MemoryBankSettings(context_turns=0, top=9))
    lab.summarise()
    lab.table.edit(1, user="The cello teacher is called Jonas.")
    assert "Mara" not in lab.ask("Who is the cello teacher?").prompts[9]
    lab.summarise()
    assert "Jonas" in texts(lab, "day")["2023-05-01"]
    assert "Mara" not in "".join(note.text for note in lab.table.written)


def test_undo_brings_back_rows_notes_and_recalls():
    lab = bank(MemoryBankSettings(context_turns=0, top=4))
    lab.summarise()
    lab.ask("cello?", at=START + timedelta(days=4))
    before = lab.table.written, lab.table.recall_times.tolist(), lab.table.indices.tolist(), lab.memory.state()
    turn = lab.ask("tomatoes and cello?", at=START + timedelta(days=5))
    assert turn.step(14).wrote["notes"] == 4
    lab.undo()
    after = tuple(note for note in lab.table.written if note.text)
    assert (after, lab.table.recall_times.tolist(), lab.table.indices.tolist(), lab.memory.state()) == before
    again = lab.ask("tomatoes and cello?", at=START + timedelta(days=5))
    assert again.step(14).wrote["notes"] == 4
    assert len([note for note in lab.table.written if not note.text]) == 0, "what undo left empty is used again"


def test_a_reload_goes_on_where_it_was(tmp_path):
    lab = bank(MemoryBankSettings(context_turns=0, top=4))
    lab.summarise()
    lab.table.save(tmp_path / "ivy.json")
    with MemoryTable.load(tmp_path / "ivy.json", embedder=EMBEDDER) as table:
        one = bank(MemoryBankSettings(context_turns=0, top=4), table=table)
        one.ask("tomatoes and cello?")
        written, answer = table.written, one.ask("Bergen?").answer
    with MemoryTable.load(tmp_path / "ivy.json", embedder=EMBEDDER) as table:
        assert [n.recall_times for n in table.written] == [n.recall_times for n in written] or table.written
        two = bank(MemoryBankSettings(context_turns=0, top=4), table=table)
        assert two.summarise() == 0
        assert two.memory.personality == one.memory.personality
        assert answer == one.turns[-1].answer


def test_a_fork_is_independent_and_the_same_input_gives_the_same():
    lab = bank()
    lab.summarise()
    fork = lab.fork(replace(TEXT, top=1))
    assert (type(fork), fork.config.top) == (MemoryBank, 1)
    fork.ask("cello?")
    assert len(lab.table) == 6
    assert [lab.fork().ask("cello?").answer for _ in range(2)] == [lab.ask("cello?").answer] * 2


# -- models ------------------------------------------------------------------------------------------------------------


def test_a_model_writes_days_and_the_global_from_them():
    replies = []
    for _ in range(3):
        replies += ["* Told of things.\n* And of more.", "Traits: kind\nMood: calm\nReply: gently"]
    chat = Scripted(*replies, "All in all.", "A kind person.")
    lab = bank(models=replace(stub_models(embedder=EMBEDDER, responder=StubResponder()), chat=chat))
    assert lab.summarise() == 8
    assert texts(lab, "day")["2023-05-01"] == "2023-05-01: Told of things.\n2023-05-01: And of more."
    assert (lab.memory.summary, lab.memory.personality) == ("All in all.", "A kind person.")
    assert [purpose for purpose, _ in chat.asked] == ["day", "mood"] * 3 + ["events", "portrait"]
    system, told = chat.asked[0][1]
    assert "is data" in system[1]
    assert "My cello lesson is on Tuesdays." in told[1]
    assert '<day date="2023-05-04">' in chat.asked[-2][1][1][1]


def test_a_model_that_fails_after_the_answer_loses_nothing_and_is_asked_again():
    class Broken(Scripted):
        def complete(self, messages, *, purpose, **options):
            if not self.replies:
                raise ModelError("the endpoint answers 500")
            return super().complete(messages, purpose=purpose, **options)

    chat = Broken("A day.", "   ")
    lab = bank(models=replace(stub_models(embedder=EMBEDDER), chat=chat))
    turn = lab.ask("hello")
    assert (turn.failure, turn.answer) == (None, "I see.")
    assert "ModelError" in turn.step(14).error
    assert "written after the next answer" in turn.step(14).note
    assert [call.purpose for call in turn.calls[14]] == ["day"], "what was written before stays"
    chat.replies = ["Mood: fine"] + ["text"] * 9
    assert lab.ask("again").step(14).wrote["notes"] == 7


def test_a_row_deleted_while_the_model_thinks_leaves_its_day_due():
    lab = bank()

    class Meddling:
        def __getattr__(self, name):
            def write(first, *rest):
                if name == "day" and 0 in lab.table:
                    lab.table.delete(0)
                return "written", (unsent(name, (), "written"),)

            return write

    lab.diary.writer = Meddling()
    lab.summarise()
    assert "2023-05-01" not in texts(lab, "day")
    lab.summarise()
    assert {note.rows for note in lab.table.notes("day")} == {(1, 2), (3, 4), (5,)}
    assert lab.table.notes("portrait")[0].rows == (1, 2, 3, 4, 5)


def test_without_memory_only_the_last_turns_stand_in_the_prompt():
    lab = bank(replace(TEXT, memory=False))
    assert lab.summarise() == 0
    lab.ask("I like tea.")
    turn = lab.ask("Who is my cello teacher?")
    assert "Mara" not in turn.prompts[9]
    assert "I like tea." in turn.prompts[9]
    assert turn.recalled == ()
    assert len(lab.table) == 8, "what is said is kept all the same"


def test_settings_say_what_they_need():
    with pytest.raises(InputError, match="top >= 1"):
        MemoryBankSettings(top=0)
    assert MemoryBankSettings.of_code().widen_characters == 200
    assert find_system("memorybank") is MemoryBank


# -- real data ---------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not (DATA / "memorybank").is_dir(), reason="ILSTMA_LAB_DATA names no folder with MemoryBank's data")
@pytest.mark.parametrize(("name", "word"), [("memorybank_en", "you said"), ("memorybank_cn", "你说")])
def test_real_dialogues_are_kept_by_day_and_answered(name: str, word: str):
    topic = load_dataset(name, data_dir=DATA)[0]
    table = MemoryTable.from_dialogues(topic.dialogues, topic=topic.name, embedder=EMBEDDER)
    lab = MemoryBank(table, models=offline(EMBEDDER), clock=ManualClock(topic.questions[0].asked_at))
    days = len(np.unique(table.days))
    assert lab.summarise() == 2 * days + 2
    answers = [lab.ask(q.question, at=q.asked_at, remember=False).answer for q in topic.questions[:3]]
    assert any(word in answer for answer in answers)
    assert all(answer for answer in answers)
    assert lab.memory.personality
    assert lab.memory.summary


@given(
    st.lists(st.tuples(st.sampled_from(["ask", "skip", "edit", "delete", "undo", "summarise"]), st.integers(0, 9)), max_size=14)
)
@settings(max_examples=40, deadline=None)
def test_whatever_happens_each_ended_day_has_one_note_of_its_rows_and_nothing_of_what_is_gone(acts):
    lab = bank(MemoryBankSettings(forgetting=Forgetting(), widen_characters=200))
    for act, n in acts:
        rows = lab.table.indices.tolist()
        match act:
            case "ask":
                lab.ask(f"{('cello', 'ferry', 'slugs', 'beans')[n % 4]} and kayak{n}?")
            case "skip":
                lab.clock.advance(days=n % 3)
            case "edit" if rows:
                lab.table.edit(rows[n % len(rows)], user=f"edited words {n}")
            case "delete" if rows:
                lab.table.delete(rows[n % len(rows)])
            case "undo" if lab.turns:
                lab.undo()
            case "summarise":
                lab.summarise()
    lab.summarise()
    assert lab.summarise() == 0
    days = dict.fromkeys(lab.table.day_of(row) for row in lab.table.indices.tolist())
    ended = [day for day in days if day < lab.clock.now().date()]
    for kind in ("day", "mood"):
        notes = [note for note in lab.table.notes(kind) if note.text and not note.stale]
        assert sorted(str(lab.table.day_of(note.rows[0])) for note in notes) == sorted(map(str, ended))
        told = sorted(row for note in notes for row in note.rows)
        assert told == [row for row in lab.table.indices.tolist() if lab.table.day_of(row) in ended]
    said = set(words("\n".join(row.text for row in lab.table)))
    quoted = [line.partition(": ")[2] for note in lab.table.notes("day") if note.text for line in note.text.splitlines()]
    assert all(set(words(line)) <= said for line in quoted)
