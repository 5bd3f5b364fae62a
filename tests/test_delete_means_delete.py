"""Delete means delete: what was said is looked for, by its word, in every file, prompt, export, repr and object that is left."""

from __future__ import annotations

import gc
import json
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ilstma_lab import ILSTMA, Dialogue, ManualClock, MemoryTable, offline
from ilstma_lab.errors import InputError
from ilstma_lab.lab import Lab
from ilstma_lab.memory.segments import HistoryTurn, ShortTermMemory
from ilstma_lab.memory.telling import Telling, may_hold
from ilstma_lab.memory.withdrawal import TAKEN_OUT, repeated_rows
from ilstma_lab.models import Models, prompted
from ilstma_lab.models.call import Call
from ilstma_lab.models.cassette import Cassette
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.models.sentences import content_words
from ilstma_lab.models.stream import Stream
from ilstma_lab.replay import replay, start_session
from ilstma_lab.retrieval.words import WordIndex, question_terms
from ilstma_lab.systems import SYSTEMS, YARDSTICKS, find_system
from ilstma_lab.widgets import ChatLab, SegmentPanel, SummaryStepper, TableInspector, WhatIf
from tests.stubs import DAY_0, StubJudge, StubProfiler, StubResponder, asking, quoting, said, stub_lab, table_of

EMBEDDER = HashedEmbedder(dim=64)
SECRET = "zebrawalrus"
TOLD = f"My locker code by the swimming pool is {SECRET}."
ASKED = "What is my locker code by the swimming pool?"
GENTLE = "My locker code by the swimming pool is something else now."


class Parrot:
    """A model that repeats all that it is shown, whatever it is asked for."""

    model = "parrot"

    def complete(self, messages, *, purpose, schema=None, on_piece=None) -> Call:
        shown = " ".join(messages[-1][1].split())[-3000:]
        reply = json.dumps(filled(schema, shown)) if schema else shown
        return Call(purpose, self.model, messages, reply)

    def stream(self, messages, *, purpose) -> Stream:
        return Stream.of(self.complete(messages, purpose=purpose))


def filled(schema: dict, text: str):
    """A value of the form that a schema asks for, with `text` wherever a text can be."""
    match schema["type"]:
        case "object":
            return {name: filled(of, text) for name, of in schema["properties"].items()}
        case "array":
            return [] if schema["items"]["type"] == "integer" else [filled(schema["items"], text)]
        case other:
            return {"string": text, "boolean": False, "integer": 1, "number": 1.0}.get(str(other))


def parrot_models(cassette: Cassette) -> Models:
    chat = cassette.around("parrot", Parrot())
    return Models(
        name="parrot",
        embedder=EMBEDDER,
        judge=prompted.PromptedJudge(chat),
        reader=prompted.PromptedReader(chat),
        responder=prompted.PromptedResponder(chat),
        summarizer=prompted.PromptedSummarizer(chat),
        merger=prompted.PromptedMerger(chat),
        profiler=prompted.PromptedProfiler(chat),
        chat=chat,
    )


def stored(path: Path, rows: int = 8) -> MemoryTable:
    table_of(rows).save(path)
    return MemoryTable.load(path, embedder=EMBEDDER)


def strings_in(*roots: object) -> Iterator[str]:
    """Every text that can be reached from `roots` through attributes and containers, private ones too."""
    waiting, seen = deque(roots), set()
    while waiting:
        one = waiting.popleft()
        if isinstance(one, str | bytes):
            yield one if isinstance(one, str) else one.decode("utf-8", "replace")
        elif id(one) not in seen:
            seen.add(id(one))
            waiting.extend(_parts(one))


def _parts(one: object) -> Iterable[object]:
    if isinstance(one, Mapping):
        return [*one.keys(), *one.values()]
    if isinstance(one, list | tuple | set | frozenset | deque):
        return one
    if isinstance(one, type) or not (type(one).__module__.startswith("ilstma_lab") or is_dataclass(one)):
        return ()
    slots = [getattr(one, field.name) for field in fields(one)] if is_dataclass(one) else []
    return [*slots, *getattr(one, "__dict__", {}).values(), getattr(one, "_trait_values", None)]


def shown_by(lab: Lab, *more: object) -> str:
    """All that a lab and its table show or give away."""
    html = [lab.memory._repr_html_(), lab.table._repr_html_(), *(turn._repr_html_() for turn in lab.turns)]
    texts = [repr(lab), repr(lab.table), str(lab.table), str(lab.memory), lab.memory.render(), *map(str, lab.turns)]
    known = [lab.table.to_frame().to_csv(), repr(lab.table.recalls), repr(lab.table.written), lab.table.personality]
    return "\n".join([*html, *texts, *known, *(turn.to_json() for turn in lab.turns), *map(str, more)])


def files_with(word: str, folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def lived(lab: Lab) -> int:
    """Tell the secret and talk about it over some days, with all that a system makes of it; return its row."""
    row = lab.ask(TOLD).row
    for day in range(3):
        lab.ask(ASKED)
        lab.ask(ASKED, remember=False)
        lab.ask(f"I painted fence number {day} after the swimming pool, by the locker.")
        lab.clock.advance(days=1)
        lab.summarise()
    lab.ask(asking(2))
    return row


SYSTEM_NAMES = sorted({*SYSTEMS, *YARDSTICKS} - {"ilstma_measured"})


@pytest.mark.parametrize("how", ["delete", "edit"])
@pytest.mark.parametrize("thinks", ["offline", "parrot"])
@pytest.mark.parametrize("system", SYSTEM_NAMES)
def test_a11_a12_what_was_said_is_in_no_prompt_at_once_and_nowhere_once_compacted(system, thinks, how, tmp_path):
    table = stored(tmp_path / "t.json")
    cassette = Cassette(tmp_path / "tape.jsonl", mode="record")
    models = offline(EMBEDDER) if thinks == "offline" else parrot_models(cassette)
    lab = find_system(system)(table, models=models, clock=ManualClock.after(table))
    row = lived(lab)
    told_before = shown_by(lab)
    assert SECRET in told_before

    table.delete(row) if how == "delete" else table.edit(row, user=GENTLE, assistant="Noted.")
    assert (row in table) == (how == "edit")
    assert [entry.index for entry in table if SECRET in entry.text] == []
    assert SECRET not in lab.memory.render() + repr(lab.memory.history) + str(lab.memory) + lab.memory._repr_html_()
    assert SECRET not in repr(table.recalls) + table.personality
    assert all(note.stale for note in table.written if SECRET in note.text)
    for question in (ASKED, asking(3), "And the swimming pool?"):
        assert SECRET not in lab.ask(question).to_json()
        lab.clock.advance(days=1)

    table.compact()
    assert SECRET not in shown_by(lab)
    assert files_with(SECRET, tmp_path) == []
    assert [text for text in strings_in(lab) if SECRET in text] == []
    lab.summarise()
    again = lab.ask(ASKED)
    assert SECRET not in again.to_json()
    lab.close()
    assert files_with(SECRET, tmp_path) == []
    assert len(MemoryTable.load(tmp_path / "t.json", embedder=EMBEDDER)) == len(table)


@pytest.mark.parametrize("how", ["delete", "edit"])
def test_chat_lab_inspector_session_and_their_exports_let_go(how, tmp_path):
    table = stored(tmp_path / "t.json")
    cassette = Cassette(tmp_path / "tape.jsonl", mode="record")
    lab = ILSTMA(table, models=parrot_models(cassette), clock=ManualClock.after(table))
    session, chat, inspector = start_session(lab), ChatLab(lab), TableInspector(lab)
    row = lived(lab)
    chat.refresh()
    chat.play(0)
    chat.what_if(1)
    inspector.open_row(row)
    assert SECRET in chat.to_json()
    assert SECRET in str(inspector.static())
    table.delete(row) if how == "delete" else table.edit(row, user=GENTLE, assistant="Noted.")
    table.compact()
    exports = [chat.export(tmp_path / name) for name in ("chat.json", "chat.md")]
    assert all(path.exists() for path in exports)
    assert files_with(SECRET, tmp_path) == []
    for shown in (chat.static(), chat.text(), repr(chat.state()), inspector.static(), inspector.text(), inspector.view):
        assert SECRET not in str(shown)
    assert SECRET not in inspector.to_frame().to_csv()
    assert [text for text in strings_in(lab, session, chat, inspector, chat._whole.children) if SECRET in text] == []
    assert chat.player is None
    turn = chat.ask(asking(4))
    assert session.turns == (turn,)
    assert [again.answer for again in replay(session)] == [turn.answer]


# -- what is taken out, and what stays ---------------------------------------------------------------------------------


def test_a_turn_that_was_not_stored_leaves_the_history_with_the_row_that_it_quotes():
    lab = stub_lab(4, responder=StubResponder(default=quoting))
    lab.ask(asking(2), remember=False)
    lab.ask("I keep bees now.", remember=False)
    assert "violin" in lab.memory.render(segments=["history"])
    lab.table.edit(2, user="The piano, on mondays.", assistant="noted!")
    assert "violin" not in lab.memory.render(segments=["history"])
    fresh = lab.ask(asking(1), remember=False)
    assert lab.memory.history[-1].user == fresh.question, "what rests on the row as it stands now stays"
    lab.table.delete(1)
    assert "sourdough" not in lab.memory.render(segments=["history"])


def test_of_a_told_turn_the_users_words_stay_and_the_quoting_answer_goes():
    lab = stub_lab(4, responder=StubResponder(default=quoting))
    turn = lab.ask("My violin lessons tuesday went badly, for the teacher moved to Oslo.")
    assert turn.kind == "told"
    assert lab.table[turn.row].cites == ()
    assert 2 in lab.table.quotes(turn.row)
    lab.table.delete(2)
    assert lab.table.sides(turn.row) == (turn.question, TAKEN_OUT["en"])
    assert not lab.table[turn.row].pending
    assert 2 not in lab.table.quotes(turn.row)
    lab.undo()
    assert turn.row not in lab.table


def test_an_answer_that_repeats_nothing_stays():
    lab = stub_lab(8)
    turn = lab.ask("My violin lessons tuesday went badly.")
    lab.table.delete(2)
    assert lab.table.sides(turn.row) == (turn.question, "I see.")


def test_what_another_row_of_the_answer_still_says_stays():
    table = table_of(2)
    for text in ("I have a cat called Miso.", "Miso is my grey cat."):
        table.add(Dialogue(text, "Nice.", DAY_0))
    kept = table.add(Dialogue("She sleeps.", "Miso the cat?", DAY_0), quotes=[2, 3])
    table.delete(2)
    assert table.sides(kept) == ("She sleeps.", "Miso the cat?")
    table.edit(3, user="She is grey.")
    assert table.sides(kept) == ("She sleeps.", TAKEN_OUT["en"])


def test_a_corrected_typo_leaves_the_answers_alone():
    table = table_of(1)
    table.add(Dialogue("My sister lives in Berlin.", "Nice.", DAY_0))
    echo = table.add(Dialogue("Where does she live?", "In Berlin.", DAY_0), kind="asked", cites=[1])
    table.edit(1, user="My sister lives in Berlin, Germany.")
    assert table.sides(echo) == ("Where does she live?", "In Berlin.")
    table.edit(1, user="My sister lives in Oslo.")
    assert table.sides(echo) == ("Where does she live?", TAKEN_OUT["en"])


def test_a_chinese_answer_is_taken_out_in_chinese():
    table = table_of(1)
    table.add(Dialogue("我的柜子密码是斑马海象。", "好的。", DAY_0))
    told = table.add(Dialogue("我今天去游泳了。", "别忘了，密码是斑马海象。", DAY_0), quotes=[1])
    table.delete(1)
    assert table.sides(told) == ("我今天去游泳了。", TAKEN_OUT["zh"])


def test_an_answer_that_repeats_an_answer_goes_with_both():
    table = table_of(1)
    table.add(Dialogue("The code is zebra.", "Noted.", DAY_0))
    table.add(Dialogue("I went swimming.", "Zebra opens it.", DAY_0), quotes=[1])
    table.add(Dialogue("It was fun.", "Did zebra open?", DAY_0), quotes=[2])
    echo = table.add(Dialogue("Which code?", "zebra", DAY_0), kind="asked", cites=[1])
    table.add(Dialogue("I like tea.", "And zebra.", DAY_0), quotes=[echo])
    assert table.hanging_on(1) == ((echo,), (2, 3, 5))
    table.delete(1)
    assert [table.sides(row)[1] for row in (2, 3, 5)] == [TAKEN_OUT["en"]] * 3
    assert [row.user for row in table][1:] == ["I went swimming.", "It was fun.", "I like tea."]


WORDS = ["amber", "birch", "cedar", "delta", "ember"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@given(st.lists(st.tuples(TEXT, TEXT, st.sets(st.integers(0, 7), max_size=3), st.booleans()), min_size=1, max_size=8), st.data())
@settings(max_examples=150, deadline=None)
def test_no_answer_keeps_a_word_that_only_what_went_had_told_it(rows, data):
    table = MemoryTable(embedder=EMBEDDER)
    rests_on = {}
    for number, (user, assistant, others, asked) in enumerate(rows):
        earlier = sorted(other for other in others if other < number)
        kind = {"kind": "asked", "cites": earlier} if asked else {"quotes": earlier}
        table.add(Dialogue(user, assistant, DAY_0), **kind)
        rests_on[number] = earlier
    before = {row.index: (row.user, row.assistant) for row in table}
    table.delete(data.draw(st.integers(0, len(rows) - 1)))
    after = {row.index: (row.user, row.assistant) for row in table}
    gone = {row: content_words(" ".join(before[row])) for row in before if row not in after}
    for row, (user, assistant) in after.items():
        assert user == before[row][0]
        lost = set().union(*(gone[other] for other in rests_on[row] if other in gone))
        says = content_words(" ".join([user, *(" ".join(after[other]) for other in rests_on[row] if other in after)]))
        assert not content_words(assistant) & lost - says
        if assistant != before[row][1]:
            assert rests_on[row]
            assert assistant == TAKEN_OUT["en"]


def test_what_hangs_on_a_row_is_on_the_disk(tmp_path):
    table = stored(tmp_path / "t.json", 3)
    told = table.add(Dialogue("I went out.", "With your violin?", DAY_0), quotes=[2])
    table.save()
    assert MemoryTable.load(tmp_path / "t.json", embedder=EMBEDDER).quotes(told) == (2,)
    table.delete(2)
    table._file.close()  # as a crash would
    again = MemoryTable.load(tmp_path / "t.json", embedder=EMBEDDER)
    assert again.sides(told) == ("I went out.", TAKEN_OUT["en"])
    assert again.hanging_on(told) == ((), ())


def test_the_log_forgets_a_question_that_was_not_stored_and_led_to_the_row():
    lab = stub_lab(4)
    lab.table.touch([1, 2], lab.clock.now(), f"violin lessons tuesday {SECRET}?")
    lab.table.delete(2)
    assert {record.question for record in lab.table.recalls} == {""}


def test_what_was_written_of_a_row_is_known_by_its_sentences_too():
    """A personality names no rows: the answer that quotes it is found by the words that it took from there."""
    lab = stub_lab(4, profiler=StubProfiler(f"keeps {SECRET}"), responder=StubResponder(default=f"As {SECRET} says."))
    row = lab.ask(TOLD).row
    assert SECRET in lab.table.personality
    told = lab.ask("I sold my boat in spring.")
    assert row in lab.table.quotes(told.row)
    lab.table.delete(row)
    assert lab.table.sides(told.row) == (told.question, TAKEN_OUT["en"])
    assert lab.table.personality == ""


# -- what is deleted while its question is answered --------------------------------------------------------------------


@pytest.mark.parametrize("by", ["on_event", "a thread"])
@pytest.mark.parametrize("how", ["delete", "edit"])
@pytest.mark.parametrize("system", SYSTEM_NAMES)
def test_an_answer_to_which_a_row_went_while_it_was_made_is_not_stored(system, how, by, tmp_path):
    table = stored(tmp_path / "t.json")
    row = table.add(Dialogue(TOLD, "Noted.", DAY_0 + timedelta(days=9)))
    tape = Cassette(tmp_path / "tape.jsonl", mode="record")
    lab = find_system(system)(table, models=parrot_models(tape), clock=ManualClock.after(table))

    def change():
        if row in table and SECRET in table[row].text:
            table.delete(row) if how == "delete" else table.edit(row, user=GENTLE, assistant="Noted.")

    def while_it_is_said(event):
        if event.kind != "piece":
            return
        if by == "on_event":
            return change()
        thread = threading.Thread(target=change)
        thread.start()
        thread.join()

    turn = lab.ask(ASKED, on_event=while_it_is_said)
    if SECRET in turn.answer:
        assert table.sides(turn.row) == (ASKED, TAKEN_OUT["en"])
    else:
        assert system in ("constant",)
    assert SECRET not in lab.memory.render() + repr(lab.memory.history) + "".join(entry.text for entry in table)
    table.compact()
    assert (turn in lab.turns) == (SECRET not in turn.answer)
    assert files_with(SECRET, tmp_path) == []
    assert [text for text in strings_in(lab) if SECRET in text] == []
    assert SECRET not in lab.ask(ASKED).to_json()
    assert table.check() == ()


def test_an_answer_that_did_not_rest_on_what_went_meanwhile_is_stored():
    lab = stub_lab(12)
    shown = lab.ask(asking(2)).row
    gone = next(row for row in range(12) if row not in lab.memory.sources())
    turn = lab.ask(asking(2), on_event=lambda event: gone in lab.table and lab.table.delete(gone))
    assert gone not in lab.table
    assert lab.table.sides(turn.row)[1] == lab.table.sides(shown)[1] == turn.answer


# -- what an answer repeats without a word that carries meaning --------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("My password is: to be or not to be.", "It is: to be or not to be."),
        ("My gate letters are Q X Z.", "They were Q X Z, right there."),
        ("Her nickname is C++.", "It was C++ there."),
        ("Her nickname is C#.", "It was C# there."),
        ("My password is 🦊🦊🐙", "Then 🦊🦊🐙 there."),
        ("The word is: not yet.", 'You said "not yet" to me.'),
        ("暗号是我爱你。", "暗号：我爱你"),
    ],
)
def test_an_answer_that_repeats_stop_words_letters_or_signs_is_taken_out(told, answer):
    table = table_of(2)
    row = table.add(Dialogue(told, "I see.", DAY_0))
    question = "我明天去旅行。" if "暗" in told else "I travel tomorrow."
    quotes = repeated_rows(answer, question, [0, 1, row], table)
    assert quotes == (row,)
    echo = table.add(Dialogue(question, answer, DAY_0), quotes=quotes)
    table.delete(row)
    assert table.sides(echo) == (question, TAKEN_OUT["zh" if "暗" in told else "en"])


@pytest.mark.parametrize(
    ("told", "answer"),
    [
        ("Hey! I'm here for you.", "I'm here for you, all right."),
        ("I have a cat, and it is old.", "I have a plan for it. It is up to you."),
        ("It was at 7 p.m. e.g. here.", "So at six p.m. e.g. there."),
        ("* I like it\n* I do **so**", "* I see\n* I do **that**"),
        ("A hat 🎩 for me.", "🎩 it is!"),
    ],
)
def test_an_answer_in_everyday_words_is_not_linked(told, answer):
    table = table_of(0)
    row = table.add(Dialogue(told, "", DAY_0))
    assert repeated_rows(answer, "And now?", [row], table) == ()


def test_what_was_written_of_many_rows_leads_to_those_that_say_it():
    table = table_of(0)
    for text in ("The vault opens by zebra.", "I like tea.", "It is: to be or not to be.", "A ZEBRA’s tail."):
        table.add(Dialogue(text, "", DAY_0))
    number = table.set_summary("Zebra; to be or not to be; tea", range(4), DAY_0).number
    source = [f"summary {number}"]
    assert repeated_rows("Zebra, then.", "And?", source, table) == (0, 3)
    assert repeated_rows("To be or not to be, then.", "And?", source, table) == (2,)


TALK = st.lists(st.sampled_from("Zebra zebra's to be or not İ ﬁ Q X + 🦊 我 爱 桂花 . : \" ’".split()), max_size=9)


@given(TALK.map(" ".join), TALK.map("".join))
def test_no_text_that_has_a_part_is_left_out_by_the_quick_look(answer, text):
    telling = Telling(answer)
    held = telling.held(text)
    assert held <= telling.parts == telling.held(answer)
    assert may_hold(held, text) or not held


# -- compaction --------------------------------------------------------------------------------------------------------


def test_turns_that_showed_nothing_of_it_stay_with_their_numbers_and_can_be_taken_back():
    lab = stub_lab(12, judge=StubJudge(), responder=StubResponder(default=quoting))
    first = lab.ask("I keep bees.")
    secret = lab.ask(TOLD)
    lab.table.delete(secret.row)
    later = lab.ask("I sold my boat in spring.")
    lab.table.compact()
    assert later in lab.turns
    assert secret not in lab.turns
    assert lab.undo() is later
    assert later.row not in lab.table
    with pytest.raises(InputError, match="no turn of this lab"):
        lab.undo()
    assert first.row in lab.table
    assert lab.ask("I keep hens.").number == 3


def test_without_a_change_compaction_drops_nothing(tmp_path):
    table = stored(tmp_path / "t.json")
    lab = stub_lab(table)
    session = start_session(lab)
    turns = [lab.ask(asking(number)) for number in range(3)]
    table.compact()
    assert lab.turns == turns == list(session.turns)
    assert lab.undo() is turns[-1]


def test_an_edit_after_a_turn_drops_it_and_one_before_does_not():
    lab = stub_lab(4)
    lab.table.edit(2, user="violin lessons tuesday, at last.")
    turn = lab.ask(asking(2))
    lab.table.compact()
    assert lab.turns == [turn]
    lab.table.edit(2, user="violin lessons on mondays.")
    lab.table.compact()
    assert lab.turns == []


def test_a_table_in_memory_is_compacted_too():
    lab = stub_lab(4)
    row = lab.ask(TOLD).row
    lab.table.set_summary(f"They said {SECRET}.", [row], DAY_0)
    lab.table.edit(row, user=GENTLE, assistant="Noted.")
    assert SECRET in "".join(turn.to_json() for turn in lab.turns)
    lab.table.compact()
    assert [text for text in strings_in(lab) if SECRET in text] == []


def test_what_undo_remembers_of_a_turn_that_showed_nothing_of_it_goes_too():
    table = table_of(4)
    row = table.add(Dialogue(TOLD, "Noted.", DAY_0))
    summary = table.set_summary(f"They said {SECRET}.", [row], DAY_0)
    lab = find_system("constant")(table, models=offline(EMBEDDER), clock=ManualClock.after(table))
    turn = lab.ask("I keep bees.")
    table.delete(row)
    table.compact()
    assert lab.turns == [turn]
    assert [text for text in strings_in(lab) if SECRET in text] == []
    assert lab.undo() is turn
    assert table.summary(summary.number).text == ""


def test_what_undo_remembers_has_no_text_of_a_summary_that_was_stale_before_the_turn():
    table = table_of(4)
    row = table.add(Dialogue(TOLD, "Noted.", DAY_0))
    number = table.set_summary(f"They said {SECRET}.", [row], DAY_0).number
    lab = find_system("constant")(table, models=offline(EMBEDDER), clock=ManualClock.after(table))
    table.edit(row, user=GENTLE, assistant="Noted.")
    turn = lab.ask("I keep bees.")
    table.compact()
    assert [text for text in strings_in(lab) if SECRET in text] == []
    assert lab.undo() is turn
    assert (table.summary(number).rows, table.summary(number).stale) == ((row,), True)


def test_a_word_index_lets_go_and_finds_as_before():
    table = table_of(6)
    row = table.add(Dialogue(TOLD, "Noted.", DAY_0))
    index, terms = WordIndex(), question_terms(asking(2))
    index.scores(terms, table)
    table.delete(row)
    before = index.scores(terms, table)
    assert SECRET in set(strings_in(index))
    table.compact()
    assert SECRET not in set(strings_in(index))
    assert np.allclose(index.scores(terms, table), before)


def test_what_if_stepper_and_segment_panel_let_go():
    lab = stub_lab(12)
    session = start_session(lab)
    row = lab.ask(TOLD).row
    lab.ask(ASKED)
    what_if, stepper, panel = WhatIf(session), SummaryStepper(lab), SegmentPanel(lab)
    stepper.set(step=stepper.total, question=f"Where is {SECRET}?")
    screens = (what_if, stepper, panel)
    assert what_if.wait(20)
    assert stepper.wait(20)
    lab.table.delete(row)
    lab.table.compact()
    assert stepper.wait(20)
    for screen in screens:
        assert SECRET not in f"{screen.static()} {screen.text()} {screen.state()}"
    kept = strings_in(*screens, what_if._screen.panels.values(), stepper._screen.panels.values(), panel.view)
    assert [text for text in kept if SECRET in text] == []
    with pytest.raises(InputError, match="began anew"):
        what_if.set(k=2)
    lab.ask(asking(3))
    assert len(WhatIf(session).turns) == 1


def test_a_stepper_without_a_full_group_left_says_so():
    table = table_of(5)
    stepper = SummaryStepper(table)
    assert stepper.wait(20)
    table.delete(4)
    table.compact()
    assert stepper.wait(20)
    assert "no full group" in str(stepper.error)
    assert said(4).user not in str(stepper.static())


def test_a_lab_that_is_gone_is_not_kept_by_its_table():
    lab = stub_lab(4)
    table = lab.table
    assert len(table._keepers) == 1
    del lab
    gc.collect()
    assert len(table._keepers) == 0


def test_files_left_by_a_killed_save_go(tmp_path):
    table = stored(tmp_path / "t.json", 3)
    row = table.add(Dialogue(TOLD, "Noted.", DAY_0))
    for name in ("t.json.tmp", "t.json.bak.tmp", "t.json.vectors.npy.tmp"):
        (tmp_path / name).write_text(TOLD)
    table.delete(row)
    table.compact()
    assert files_with(SECRET, tmp_path) == []


# -- cassettes ---------------------------------------------------------------------------------------------------------


def call_of(prompt: str, reply: str, purpose: str = "answer") -> Call:
    return Call(purpose, "m", (("user", prompt),), reply)


def test_a_cassette_forgets_calls_prompts_and_replies(tmp_path):
    path = tmp_path / "tape.jsonl"
    Cassette(path, mode="record").add(call_of("of another process", f'{{"answer": "Well,\\n{TOLD.lower()} Yes."}}'))
    tape = Cassette(path, mode="extend")
    shown, named, other = call_of(f"<cache>\n  {TOLD}", "ok"), call_of("by its call", "fine"), call_of("hello", "good day")
    for call in (shown, named, other):
        tape.add(call)
    assert tape.forget([named], [TOLD]) == 3
    assert len(tape) == len(Cassette(path)) == 1
    assert tape.find("m", other.messages, purpose="answer").reply == "good day"
    assert tape.forget([named], [TOLD]) == 0
    assert tape.forget([], ["Yes."]) == 0, "a short sentence is said everywhere"
    assert len(path.read_text().splitlines()) == 1


def test_a_cassette_that_cannot_be_written_is_whole_and_compacting_again_does_it(tmp_path, monkeypatch):
    table = stored(tmp_path / "t.json")
    tape = Cassette(tmp_path / "tape.jsonl", mode="record")
    lab = ILSTMA(table, models=parrot_models(tape), clock=ManualClock.after(table))
    row = lab.ask(TOLD).row
    lab.ask(ASKED)
    before = (tmp_path / "tape.jsonl").read_bytes()
    table.delete(row)
    with monkeypatch.context() as patch:
        patch.setattr("ilstma_lab.models.cassette.replaced", _refuse)
        with pytest.raises(InputError, match="No space left"):
            table.compact()
    assert (tmp_path / "tape.jsonl").read_bytes() == before
    table.compact()
    assert files_with(SECRET, tmp_path) == []
    assert [text for text in strings_in(lab, tape) if SECRET in text] == []


def _refuse(path: Path):
    raise OSError(28, "No space left on device", str(path))


def test_a_summary_made_outside_a_turn_leaves_the_cassette(tmp_path):
    table = stored(tmp_path / "t.json", 4)
    row = table.add(Dialogue(TOLD, "Noted.", DAY_0 + timedelta(days=9)))
    tape = Cassette(tmp_path / "tape.jsonl", mode="record")
    lab = ILSTMA(table, models=parrot_models(tape), clock=ManualClock.after(table))
    lab.summarise()
    assert SECRET in (tmp_path / "tape.jsonl").read_text()
    table.delete(row)
    table.compact()
    assert files_with(SECRET, tmp_path) == []
    assert [text for text in strings_in(tape) if SECRET in text] == []


# -- what reads citations stays as it is -------------------------------------------------------------------------------


def test_a_told_row_that_quotes_is_no_echo():
    table = table_of(4)
    told = table.add(Dialogue("violin lessons tuesday violin lessons tuesday", "violin", DAY_0), quotes=[2])
    lab = stub_lab(table)
    found = lab.ask(asking(2)).recall.branch_b.candidates
    assert {c.index: c.echo_of for c in found}[told] == ()
    assert told in lab.turns[-1].recall.branch_b.winners


def test_citations_that_are_no_indices_are_left_out(tmp_path):
    path = tmp_path / "t.json"
    stored(path, 3).close()
    document = json.loads(path.read_text("utf-8"))
    document["entries"][1] |= {"kind": "asked", "cites": [float("nan"), "x", 0], "quotes": [[], 2]}
    path.write_text(json.dumps(document), encoding="utf-8")
    table = MemoryTable.load(path, embedder=EMBEDDER)
    assert (table.cites(1), table.quotes(1)) == ((0,), (2,))
    table.delete(0)
    assert 1 not in table


def test_short_term_memory_in_a_fork_lets_go_as_well():
    lab = stub_lab(4, responder=StubResponder(default=quoting))
    lab.ask(asking(2), remember=False)
    fork = lab.fork()
    fork.table.delete(2)
    assert fork.memory.history == ()
    assert len(lab.memory.history) == 1


def test_a_history_turn_of_ones_own_stays():
    memory = ShortTermMemory(table_of(3))
    memory.push(HistoryTurn("hello", "good day", DAY_0))
    memory.table.delete(1)
    memory.forget()
    assert len(memory.history) == 1
    assert said(1).user not in memory.render()
