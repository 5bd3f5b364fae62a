"""MemoChat turn by turn: when the memo is written, what is picked and shown, what failures, deletes and undo leave."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ilstma_lab import Dialogue, ManualClock, MemoryTable
from ilstma_lab.errors import ModelError
from ilstma_lab.evaluation.datasets import DATA_VARIABLE, load_dataset, load_topic
from ilstma_lab.models import endpoint, offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.systems.memochat import MemoChat, MemoChatSettings
from ilstma_lab.systems.memochat.memo import MEMO, summary_of, topic_of
from tests.models.stand_in import KEY, HttpEndpoint
from tests.stubs import DAY_0, THINGS, table_of
from tests.systems import scripted

EMBEDDER = HashedEmbedder(dim=256)
LATER = DAY_0 + timedelta(days=40)


class Chat(scripted.Chat):
    """A scripted chat model that keeps to MemoChat's purposes."""

    def __init__(self, *, write=None, pick='{"reason": "", "picks": [0]}', answer="I see."):
        super().__init__({"write memo": write or each_its_own, "pick memo": pick, "answer": answer})

    def prompts(self, purpose):
        return [messages[1][1] for messages in self.of(purpose)]


def numbers(prompt):
    """The numbers of the dialogues that a prompt shows."""
    return [int(line[3:].partition("]")[0]) for line in prompt.splitlines() if line.startswith("  [")]


def tagged(number):
    """A dialogue whose text is part of no other's."""
    return Dialogue(f"thing no{number}.", "noted", DAY_0 + timedelta(hours=number))


def memos(*ranges):
    return json.dumps({"memos": [{"topic": t, "summary": f"on {t}", "start": s, "end": e} for t, s, e in ranges]})


def each_its_own(messages):
    """Ranges of one dialogue each, called by the number in the prompt."""
    return memos(*((f"topic {n}", n, n) for n in numbers(messages[1][1])))


def lab_of(rows=0, chat=None, **settings):
    table = table_of(rows, dim=256) if isinstance(rows, int) else rows
    models = scripted.endpoint(chat, EMBEDDER) if chat else offline(EMBEDDER)
    return MemoChat(table, MemoChatSettings(**settings), models=models, clock=ManualClock(LATER))


def tell(lab, count, *, start=0):
    """Tell so many things, each in words of its own."""
    return [lab.ask(f"{THINGS[n % len(THINGS)]}.") for n in range(start, start + count)]


def memo(lab):
    return [(topic_of(note), note.rows) for note in lab.memo.options]


def shown(turn, name):
    return next(view for view in turn.answered_from if view.name == name)


# -- golden scenarios --------------------------------------------------------------------------------------------------


def test_five_dialogues_are_ten_lines_of_which_the_last_stays_recent():
    chat = Chat(write=memos(("travel", 1, 1), ("errands", 2, 4)))
    lab = lab_of(chat=chat)
    before = tell(lab, 5)
    assert not chat.prompts("write memo")
    assert [turn.step(13) for turn in before] == [None] * 5
    turn = lab.ask("astronomy telescope.")
    assert memo(lab) == [("travel", (0,)), ("errands", (1, 2, 3))]
    assert lab.memo.recent == [4, 5]
    assert numbers(chat.prompts("write memo")[0]) == [1, 2, 3, 4]
    assert turn.step(13).wrote == {"memos": 2, "rows": 4}
    assert [step.number for step in turn.steps] == [1, 13, 12, 9, 8]
    assert [t.row for t in lab.memory.history] == [4, 5]


def test_the_picked_memos_stand_in_the_prompt_with_their_dialogues_before_what_is_recent_is_cut():
    chat = Chat(write=memos(("travel", 1, 1), ("errands", 2, 4)), pick='{"picks": [2, 7]}')
    lab = lab_of(6, chat)
    turn = lab.ask("Which office was it?", remember=False)
    (offered,) = chat.prompts("pick memo")
    assert "[0] NOTO" in offered
    assert "[1] travel. on travel" in offered
    assert "[2] errands. on errands" in offered
    assert turn.recalled == (1, 2, 3)
    relevant = shown(turn, "relevant")
    assert relevant.rows == (1, 2, 3)
    assert relevant.text.index("errands\n    on errands") < relevant.text.index("[1]") < relevant.text.index("[3]")
    assert shown(turn, "history").rows == (4, 5)
    assert "office" in chat.prompts("answer")[0]
    assert turn.tokens.keys() == {13, 12, 9}


def test_noto_alone_leaves_the_recent_dialogues():
    turn = lab_of(6, Chat()).ask("How are you?")
    assert turn.recalled == ()
    assert shown(turn, "relevant").text == ""
    assert shown(turn, "history").rows == (4, 5)


def test_a_chinese_talk_is_counted_by_characters_and_prompted_in_chinese():
    chat = Chat(write=memos(("旅行", 1, 1)), pick='{"picks": [1]}', answer="是杭州。")
    lab = lab_of(chat=chat, words=30)
    for text in ("我去了杭州，在西湖边住了三天。", "我的猫叫小白，它很喜欢吃鱼。", "明天要去医院看牙。"):
        turn = lab.ask(text)
    assert turn.step(13).read["rows"] == [0]  # 13 + 3 and 12 + 3 characters: over 30, and the second stays
    assert memo(lab) == [("旅行", (0,))]
    turn = lab.ask("我去了哪里？", remember=False)
    assert turn.recalled == (0,)
    assert turn.answer == "是杭州。"
    assert "其他选项都不合适" in chat.prompts("pick memo")[-1]
    assert "用户: 我去了杭州" in shown(turn, "relevant").text


def test_an_import_is_filed_as_turn_by_turn():
    live = lab_of(chat=Chat())
    tell(live, 12)
    imported = lab_of(
        MemoryTable.from_dialogues([Dialogue(r.user, r.assistant, r.created) for r in live.table], embedder=EMBEDDER)
    )
    imported = lab_of(imported.table, Chat())
    calls = []
    assert imported.summarise(progress=lambda *done: calls.append(done)) == 8
    assert memo(imported) == memo(live)
    assert imported.memo.recent == [8, 9, 10, 11]
    assert calls == [(4, 12), (8, 12)]
    assert imported.summarise() == 0


def test_a_long_import_asked_at_once_files_one_batch_a_turn():
    lab = lab_of(12, Chat())
    assert lab.ask("Hello?", remember=False).step(13).read["rows"] == [0, 1, 2, 3]
    assert lab.ask("Hello?", remember=False).step(13).read["rows"] == [4, 5, 6, 7]
    assert lab.ask("Hello?", remember=False).step(13) is None


def test_ilstmas_description_joins_the_nearest_summary_to_the_question():
    lab = lab_of(10, find="joined")
    lab.summarise()
    turn = lab.ask("violin lessons?", remember=False)
    assert turn.recalled[0] == 2
    assert len(turn.recalled) == 2
    assert not turn.calls.get(12)
    nearest = topic_of(lab.memory.notes[0])
    assert "violin" in nearest
    assert set(turn.recalled).isdisjoint(lab.memo.recent)


# -- a model that misbehaves -------------------------------------------------------------------------------------------


def test_ranges_that_cannot_be_read_leave_the_dialogues_recent_and_are_tried_again():
    chat = Chat(write="No.")
    lab = lab_of(5, chat)
    turn = lab.ask("Hello?")
    assert turn.answer == "I see."
    assert turn.step(13).note == "the ranges could not be read: the dialogues stay recent"
    assert len(turn.calls[13]) == 2
    assert lab.memo.recent == [0, 1, 2, 3, 4, 5]
    assert shown(turn, "history").rows == (0, 1, 2, 3, 4)
    chat.replies["write memo"] = each_its_own
    lab.ask("Hello?")
    assert len(memo(lab)) == 4


def test_what_a_model_never_divides_is_divided_offline_before_it_falls_out_of_sight():
    lab = lab_of(12, Chat(write="No."))
    assert lab.summarise() > 0
    filed = [row for _, rows in memo(lab) for row in rows]
    assert filed == [0, 1, 2, 3]
    assert lab.memo.recent == [4, 5, 6, 7, 8, 9, 10, 11]  # behind 4 to 7 too few wait: the model is asked again first
    turn = lab_of(12, Chat(write="No.")).ask("Hello?")
    assert turn.step(13).note == "the ranges could not be read: divided by similarity, as offline"


def test_the_codes_way_files_under_noto_where_nothing_is_found_again():
    chat = Chat(write="No.", pick='{"picks": [1]}')
    lab = lab_of(5, chat, unreadable="noto")
    turn = lab.ask("Which guesthouse?")
    assert turn.recalled == ()
    assert lab.memo.recent == [4, 5]
    assert memo(lab) == []
    assert [(topic_of(note), note.rows) for note in lab.table.notes(MEMO)] == [("NOTO", (0, 1, 2, 3))]
    assert not chat.prompts("pick memo")


@pytest.mark.parametrize("failing", ["write memo", "pick memo"])
def test_a_model_that_fails_at_the_memo_loses_neither_answer_nor_dialogue(failing):
    chat = Chat(pick='{"picks": [1]}')
    lab = lab_of(12, chat)
    lab.summarise()
    tell(lab, 1)
    chat.replies[failing] = ModelError("the endpoint is down")
    turn = tell(lab, 1)[0]
    assert turn.answer == "I see."
    assert turn.failure is None
    assert "the endpoint is down" in turn.step(13 if failing == "write memo" else 12).error
    filed = [row for _, rows in memo(lab) for row in rows]
    assert sorted(filed + lab.memo.recent) == list(range(14))


def test_a_model_that_fails_at_the_answer_keeps_the_question_and_the_memo():
    chat = Chat(answer=ModelError("the endpoint is down"))
    lab = lab_of(6, chat)
    turn = lab.ask("Hello?")
    assert turn.failure.message == "the endpoint is down"
    assert len(memo(lab)) == 4
    chat.replies["answer"] = "Hi."
    assert lab.retry().answer == "Hi."
    assert lab.memo.recent == [4, 5, 6]


def test_an_unreadable_pick_takes_none_and_says_so():
    turn = lab_of(6, Chat(pick="Perhaps?")).ask("Hello?")
    assert turn.recalled == ()
    assert turn.step(12).note == "the pick could not be read: none is taken"


def test_a_dialogue_that_changes_while_the_model_thinks_is_not_filed_as_it_was():
    def meddling(messages):
        lab.table.edit(1, user="Something else.")
        return memos(("all", 1, 4))

    lab = lab_of(6, Chat(write=meddling))
    turn = lab.ask("Hello?")
    assert turn.step(13).note == "a dialogue was changed meanwhile: nothing is filed"
    assert memo(lab) == []
    assert lab.memo.recent == [0, 1, 2, 3, 4, 5, 6]


def test_over_http_each_part_asks_for_its_own_form_of_reply(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with HttpEndpoint().running() as server:
        server.play("write_memo", memos(*((f"topic {n}", n, n) for n in range(1, 5))))
        server.play("pick_memo", '{"reason": "it says so", "picks": [2]}')
        models = replace(endpoint("m", base_url=server.base_url), embedder=EMBEDDER)
        turn = MemoChat(table_of(5, dim=256), models=models, clock=ManualClock(LATER)).ask("Which bakery?")
    assert (turn.recalled, turn.answer) == ((1,), "I see.")
    forms = [request.get("response_format", {}).get("json_schema", {}).get("name") for _, request in server.asked]
    assert forms == ["write_memo", "pick_memo", None]


# -- delete, edit, reload, undo, fork ----------------------------------------------------------------------------------


def test_a_deleted_row_leaves_every_prompt_and_its_memo_is_written_anew_of_the_rest():
    chat = Chat(write=memos(("all", 1, 4)), pick='{"picks": [1]}')
    lab = lab_of(10, chat)
    lab.summarise()
    lab.table.delete(2)
    assert memo(lab) == [("all", (4, 5, 6, 7))]
    chat.replies["write memo"] = memos(("three", 1, 3))
    turn = lab.ask("Which violin?", remember=False)
    assert memo(lab) == [("three", (0, 1, 3)), ("all", (4, 5, 6, 7))]
    assert turn.recalled == (0, 1, 3)
    assert not any("violin lessons" in messages[1][1] for _, messages in chat.asked[2:])
    assert [note.rows for note in lab.table.notes(MEMO) if note.stale] == []
    for row in (0, 1, 3):
        lab.table.delete(row)
    assert lab.ask("Hello?", remember=False).recalled == (4, 5, 6, 7)
    assert "three" not in json.dumps([note.text for note in lab.table.notes(MEMO)])


def test_an_edited_row_is_filed_anew_in_its_place():
    chat = Chat()
    lab = lab_of(10, chat)
    lab.summarise()
    lab.table.edit(1, user="A brewery.")
    chat.replies["write memo"] = memos(("brewery", 1, 1))
    lab.ask("Hello?", remember=False)
    assert [topic for topic, _ in memo(lab)][:3] == ["topic 1", "brewery", "topic 3"]
    assert "A brewery" in chat.prompts("write memo")[-1]
    assert len(lab.table.notes(MEMO)) == 9  # the spent one is empty, and used again next


def test_a_table_that_is_loaded_goes_on_where_it_was(tmp_path):
    table_of(7, dim=256).save(tmp_path / "talk.json")
    with lab_of(MemoryTable.load(tmp_path / "talk.json", embedder=EMBEDDER), Chat()) as lab:
        first = lab.ask("Hello?")
        left = memo(lab), lab.memo.recent, [turn.row for turn in lab.memory.history]
    assert first.row == 7
    again = lab_of(MemoryTable.load(tmp_path / "talk.json", embedder=EMBEDDER), Chat())
    assert (memo(again), again.memo.recent, [turn.row for turn in again.memory.history]) == left
    again.close()


def test_undo_takes_back_the_memo_that_the_turn_wrote():
    lab = lab_of(5, Chat())
    before = lab.memo.recent, lab.memory.state()
    for _ in range(2):
        lab.ask("Hello?")
        assert len(memo(lab)) == 4
        lab.undo()
        assert memo(lab) == []
        assert (lab.memo.recent, lab.memory.state()) == before
    assert len(lab.table.notes(MEMO)) == 4  # emptied, and used again


def test_a_fork_keeps_a_memo_of_its_own():
    lab = lab_of(5, Chat())
    other = lab.fork()
    other.ask("Hello?")
    assert (memo(lab), lab.memo.recent) == ([], [0, 1, 2, 3, 4])
    assert len(memo(other)) == 4
    assert other.fork(MemoChatSettings(find="joined")).config.find == "joined"


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(["tell", "ask", "delete", "edit", "undo", "fork"]), st.integers(0, 30)), max_size=30))
def test_whatever_happens_every_row_is_recent_or_in_one_memo_and_nothing_deleted_is_shown(events):
    replies = [each_its_own, "No.", ModelError("down"), memos(("odd", 2, 3), ("odd", 3, 9)), memos(("all", 1, 1))]
    chat, gone, told = Chat(pick='{"picks": [1, 2, 3, 4, 5]}'), set(), 7
    lab = lab_of(MemoryTable.from_dialogues([tagged(n) for n in range(told)], embedder=EMBEDDER), chat)
    for event, number in events:
        chat.replies["write memo"] = replies[number % len(replies)]
        rows, seen = lab.table.indices.tolist(), len(chat.asked)
        row = rows[number % len(rows)] if rows else None
        if event == "tell":
            lab.ask(tagged(told).user)
            told += 1
        elif event == "ask":
            lab.ask("What was it?", remember=False)
        elif event == "delete" and rows:
            gone.add(lab.table[row].user)
            lab.table.delete(row)
        elif event == "edit" and rows:
            gone.add(lab.table[row].user)
            lab.table.edit(row, user=tagged(told).user)
            told += 1
        elif event == "undo" and lab.turns:
            lab.undo()
        elif event == "fork":
            lab = lab.fork()
        filed = [row for _, rows in memo(lab) for row in rows]
        assert sorted(filed + lab.memo.recent) == lab.table.indices.tolist()
        assert not any(text in messages[1][1] for _, messages in chat.asked[seen:] for text in gone)


def test_notes_and_personality_of_other_systems_are_left_alone():
    table = table_of(6, dim=256)
    table.set_personality("Likes ships.")
    table.set_summary("A day at sea.", [0], DAY_0, kind="day")
    lab = lab_of(table, Chat())
    turn = lab.ask("Hello?")
    assert "ships" not in "".join(view.text for view in turn.answered_from)
    assert [note.text for note in table.notes("day")] == ["A day at sea."]
    assert len(memo(lab)) == 4


# -- offline -----------------------------------------------------------------------------------------------------------


def test_offline_finds_what_was_said_and_is_the_same_each_time():
    turns = []
    for _ in range(2):
        lab = lab_of(12)
        lab.summarise()
        turns.append(lab.ask("Which violin lessons?", remember=False))
    first, again = turns
    assert first.recalled[0] == 2
    assert "violin" in first.answer
    assert (first.answer, first.recalled, first.prompts) == (again.answer, again.recalled, again.prompts)
    assert first.replies[12]


def test_an_empty_table_answers_and_fills():
    lab = lab_of()
    assert lab.summarise() == 0
    assert lab.ask("Hello?").step(12).note == "the memo is empty: all is recent"
    assert lab.ask("And again?").answer


def test_a_turn_that_is_not_remembered_is_not_recent():
    lab = lab_of(3)
    lab.ask("Hello?", remember=False)
    assert [turn.row for turn in lab.memory.history] == [0, 1, 2]


# -- real data ---------------------------------------------------------------------------------------------------------


def found_share(topics, **settings):
    """The share of questions whose gold is among the rows of the picked memos, and the rows a question."""
    found = asked = rows = 0
    for topic in topics:
        lab = lab_of(MemoryTable.from_dialogues(topic.dialogues, embedder=EMBEDDER), **settings)
        lab.summarise()
        for question in topic.questions:
            turn = lab.ask(question.question, at=question.asked_at, remember=False)
            assert turn.answer
            if question.finds:
                asked, rows = asked + 1, rows + len(turn.recalled)
                found += any(lab.table[row].source in question.finds for row in turn.recalled)
    return found / asked, rows / asked


def test_on_a_bundled_topic_every_row_is_filed_once_or_recent():
    topic = load_topic("travel")
    lab = lab_of(MemoryTable.from_dialogues(topic.dialogues, embedder=EMBEDDER))
    lab.summarise()
    filed = [row for note in lab.memo.options for row in note.rows]
    assert filed + lab.memo.recent == list(range(len(topic.dialogues)))
    assert all(topic_of(note) and summary_of(note) for note in lab.memo.options)


def data_dir() -> Path:
    place = os.environ.get(DATA_VARIABLE)
    if not place:
        pytest.skip(f"{DATA_VARIABLE} names no folder of data")
    return Path(place)


@pytest.mark.parametrize("name", ["memorybank_en", "memorybank_cn"])
def test_on_memorybank_most_is_found_in_both_languages(name):
    share, rows = found_share(load_dataset(name, data_dir=data_dir())[:5])
    assert share > 0.5  # words alone: the hashed embedder knows no meaning
    assert rows < 7


def test_on_memochats_own_talks_a_topic_of_the_past_is_picked():
    """MT-Bench+: the last turn of a talk goes back to an earlier topic; `turn-info` names the turns that hold it."""
    path = data_dir() / "memochat_mtbenchplus" / "mtbenchplus.json"
    if not path.exists():
        pytest.skip("memochat_mtbenchplus is not in the folder of data")
    found = asked = 0
    for talk in json.loads(path.read_text(encoding="utf-8")):
        *told, last = [turn for turn in talk["conversations"] if turn["from"] == "human"]
        dialogues = [Dialogue(turn["value"], "", DAY_0 + timedelta(minutes=n), turn["turn-info"]) for n, turn in enumerate(told)]
        gold = last["turn-info"].removesuffix("-Q")
        lab = lab_of(MemoryTable.from_dialogues(dialogues, embedder=EMBEDDER))
        lab.summarise()
        turn = lab.ask(last["value"], remember=False)
        seen = {lab.table[row].source.rpartition("-")[0] for row in (*turn.recalled, *lab.memo.recent)}
        asked, found = asked + 1, found + any(source in gold for source in seen)
    assert asked == 54
    assert found > 27
