"""The chat lab with SiliconFriend: chosen from the list, its own words and cards, what only ILSTMA has is said to be missing."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from ilstma_lab import ILSTMA, Dialogue, MemoryTable
from ilstma_lab.errors import InputError
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.systems.memorybank import Forgetting, MemoryBankSettings, SiliconFriend, companion
from ilstma_lab.widgets import ChatLab
from ilstma_lab.widgets.chat_export import turns_of
from tests.stubs import asking, stub_lab
from tests.systems.test_memorybank import EMBEDDER, TEXT, bank
from tests.widgets.test_chat import ATTACK, press
from tests.widgets.test_chat_lab import cheap, saved  # noqa: F401  (fixtures)


def friend(**settings) -> SiliconFriend:
    lab = bank(TEXT)
    return companion(lab.table, MemoryBankSettings(context_turns=0, **settings), models=offline(EMBEDDER), clock=lab.clock)


def cards(chat: ChatLab) -> dict[str, dict]:
    return {card["label"]: card for card in chat.view["memory"]["cards"]}


def test_the_companion_shows_portrait_events_recalled_history_and_forgotten():
    chat = ChatLab(friend(), questions=["Who is the cello teacher?"])
    assert list(cards(chat)) == ["Portrait", "Events", "Recalled", "History", "Forgotten"]
    assert chat.view["eyebrow"] == "Chat lab · SiliconFriend · Ivy · 6 rows"
    assert "Turns: read 6" in cards(chat)["Portrait"]["text"]
    turn = chat.ask("Who is the cello teacher?")
    shown = cards(chat)["Recalled"]["rows"]
    assert shown[0][0] == turn.recalled[0] == 1
    assert all(number.startswith(".") for *_, number in shown)
    assert cards(chat)["Forgotten"]["text"].startswith("Nothing: this companion does not forget")
    assert chat.view["turns"][-1]["outcome"] == "recalled"
    assert json.loads(json.dumps(chat.state(), allow_nan=False)) == chat.state()


def test_a_recalled_day_is_shown_with_its_date():
    chat = ChatLab(friend(top=9))
    chat.ask("ferry to Bergen")
    days = [row for row in cards(chat)["Recalled"]["rows"] if isinstance(row[0], str)]
    assert [day for day, *_ in days] == ["2 May", "4 May", "1 May"]
    assert days[0][1].startswith("My aunt in Bergen is ill")
    assert "the day 2023-05-02" in "".join(part for part in chat.view["turns"][-1]["why"]["sentence"] if isinstance(part, str))


def test_days_pass_and_the_curve_lets_go():
    chat = ChatLab(friend(forgetting=Forgetting()))
    press(chat, do="skip", days=30)
    card = cards(chat)["Forgotten"]
    assert (card["rule"], card["empty"]) == ("9 of 9 pieces", False)
    assert card["text"] == "6 rows and 3 days, masked and not deleted. The latest:"
    assert [row for row, *_ in card["rows"]] == [3, 4, 5]
    turn = chat.ask("Who is the cello teacher?")
    assert turn.recalled == ()
    assert chat.view["turns"][-1]["outcome"] == "answered"
    assert "had let go of 9 pieces" in "".join(chat.view["turns"][-1]["why"]["sentence"])
    assert len(chat.lab.table) == 7


def test_what_only_ilstma_has_is_left_out_and_said():
    chat = ChatLab(friend())
    chat.ask("Who is the cello teacher?")
    assert (chat.view["judges"], chat.view["waiting"]) == (False, [])
    assert "follow ILSTMA’s nine steps" in chat.view["not_here"]
    assert chat.view["steps"] == [1, 4, 10, 6, 5, 9]
    for act in (chat.play, chat.what_if):
        with pytest.raises(InputError, match="SiliconFriend has no judge and no cache"):
            act()
    press(chat, do="play", turn=0)
    assert "no judge" in chat.error["message"]
    plain = ChatLab(stub_lab())
    assert (plain.view["judges"], plain.view["not_here"]) == (True, "")


def test_the_system_is_chosen_over_the_present_memory_and_back(cheap):  # noqa: F811
    chat = ChatLab(stub_lab())
    chat.ask(asking(3))
    table = chat.lab.table
    assert [one["name"] for one in chat.view["setup"]["systems"]] == ["ilstma", "friend", "friend_forgets"]
    press(chat, do="open", topic="", table="", model="", base_url="", system="friend_forgets")
    assert chat.task["state"] == "done", chat.task
    assert isinstance(chat.lab, SiliconFriend)
    assert chat.lab.table is table
    assert chat.lab.config.forgetting == Forgetting()
    assert chat.view["setup"]["system"] == "friend_forgets"
    assert "Turns: read" in cards(chat)["Portrait"]["text"], "it can be talked to at once"
    press(chat, do="open", topic="", table="", model="", base_url="", system="")
    assert chat.lab.config.forgetting == Forgetting(), "without a choice it stays"
    press(chat, do="open", topic="", table="", model="", base_url="", system="ilstma")
    assert isinstance(chat.lab, ILSTMA)
    assert chat.lab.table is table
    press(chat, do="open", topic="", table="", model="", base_url="", system="eliza")
    assert "no system 'eliza' to talk to" in chat.task["message"]
    assert isinstance(chat.lab, ILSTMA)


def test_a_topic_and_a_file_are_opened_for_the_companion(saved):  # noqa: F811
    chat = ChatLab(new_lab=lambda topic, tell: stub_lab())
    press(chat, do="open", topic="travel_zh", table="", model="", base_url="", system="friend")
    assert isinstance(chat.lab, SiliconFriend)
    assert chat.view["setup"]["topic"] == "travel_zh"
    press(chat, do="open", topic="", table=str(saved), model="", base_url="", system="")
    assert isinstance(chat.lab, SiliconFriend), "whom one talks to stays"
    row = chat.ask(asking(3)).row
    chat._take(stub_lab())
    with MemoryTable.load(saved, embedder=HashedEmbedder(dim=64)) as table:
        assert row in table
        assert table.notes("portrait")


def test_undo_takes_a_turn_back_with_its_recalls():
    chat = ChatLab(friend())
    chat.ask("Who is the cello teacher?")
    chat.undo()
    assert chat.view["turns"] == []
    assert chat.lab.table.recall_times.tolist() == [1] * 6
    assert chat.error["question"] == "Who is the cello teacher?"


def test_the_conversation_is_taken_away_and_read_again():
    chat = ChatLab(friend())
    chat.lab.table.add(Dialogue(ATTACK, "Noted.", chat.lab.clock.now() - timedelta(hours=1)))
    chat.ask("script img onerror alert")
    (turn,) = turns_of(chat.to_json())
    assert turn.system == "SiliconFriend"
    assert turn == chat.lab.turns[0]
    assert "recalled" in chat.to_markdown()
    for shown in (chat.static(), chat.lab.turns[0]._repr_html_(), chat.lab.memory._repr_html_()):
        assert ATTACK not in shown
        assert "Portrait" in shown
    text = str(chat.lab.turns[0])
    assert text.startswith("SiliconFriend, turn 1, ")
    assert "miss" not in text
    assert "Cache" not in text


def test_a_chat_of_ones_own_is_imported_for_the_companion(tmp_path, cheap):  # noqa: F811
    path = tmp_path / "mine.jsonl"
    path.write_text('{"user": "I row.", "assistant": "Where?", "at": "2024-02-02T08:00:00Z"}\n', encoding="utf-8")
    chat = ChatLab(friend())
    chat.import_chat(path)
    assert isinstance(chat.lab, SiliconFriend)
    assert len(chat.lab.table) == 1
    assert cards(chat)["Portrait"]["text"]
