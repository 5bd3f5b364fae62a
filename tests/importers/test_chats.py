"""ChatGPT, ShareGPT, Telegram, WhatsApp: what people said to each other, and nothing else."""

from __future__ import annotations

import copy

import pytest

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.importers import conversations, load_dialogues
from ilstma_lab.importers.pairing import Message, exchanges


def texts(loaded):
    return [(d.user, d.assistant) for d in loaded]


def test_runs_of_one_speaker_are_merged_and_a_group_keeps_its_names():
    said = [("Ben", "Hello"), ("Ana", "Hi"), ("Ana", "Tea?"), ("Ben", "Yes"), ("Cem", "No"), ("Ben", "Why?"), ("Ana", "Bye")]
    pairs = list(exchanges([Message(who, text, None, str(i)) for i, (who, text) in enumerate(said)], "Ana"))
    assert [(e.user, e.assistant) for e in pairs] == [
        ("", "Ben: Hello"),
        ("Hi\nTea?", "Ben: Yes\nCem: No\nBen: Why?"),
        ("Bye", ""),
    ]
    assert [e.places for e in pairs] == [("0",), ("1", "2", "3", "4", "5"), ("6",)]


def test_chatgpt_is_the_visible_thread(save, samples):
    loaded = load_dialogues(save(samples["chatgpt"]), conversation="id-1")
    assert texts(loaded) == [("Which tea?", "Oolong."), ("This one?", "")]
    assert [d.source for d in loaded] == ["u1", "u2"]
    assert [d.at.isoformat() for d in loaded] == ["2024-02-01T10:00:00+00:00", "2024-02-02T10:00:00.500000+00:00"]
    notes = "\n".join(loaded.notes)
    for said in ("hidden messages 1", "messages to a tool 1", "tool messages 1", "image_asset_pointer parts 1", "other branches"):
        assert said in notes
    assert load_dialogues(save(samples["chatgpt"]), conversation="id-2") == []


@pytest.mark.parametrize(
    ("node", "key", "value", "problem"),
    [
        ("root", "parent", "u2", "circle"),
        ("u1", "parent", "gone", "'gone' must be an object"),
        ("u1", "parent", ["x"], "a parent must be a node's id"),
        ("u2", "message", "text", "node u2: 'message' must be an object"),
    ],
)
def test_chatgpt_trees_that_are_broken(node, key, value, problem, save, samples):
    data = copy.deepcopy(samples["chatgpt"])
    data[0]["mapping"][node][key] = value
    with pytest.raises(FormatError, match=f"conversation 'Tea', .*{problem}"):
        load_dialogues(save(data), conversation="id-1")


def test_chatgpt_content_of_another_kind_is_counted(save, samples):
    data = copy.deepcopy(samples["chatgpt"][:1])
    data[0]["mapping"]["new"]["message"]["content"] = {"content_type": "thoughts", "thoughts": []}
    data[0]["mapping"]["u2"]["message"]["content"] = {"content_type": "code", "text": "print(1)"}
    loaded = load_dialogues(save(data))
    assert texts(loaded) == [("Which tea?", ""), ("print(1)", "")]
    assert "thoughts contents 1, messages without text 1" in "\n".join(loaded.notes)


def test_sharegpt_runs_and_empty_answers(save, samples):
    loaded = load_dialogues(save(samples["sharegpt"]))
    assert texts(loaded) == [("", "Welcome."), ("Hi\nI row.", "Good."), ("Draw it.", ""), ("Bye.", "")]
    assert [d.source for d in loaded] == ["s1#1", "s1#2", "s1#5", "s1#7"]
    assert loaded.synthetic_times
    assert "system messages 1, empty turns 1" in "\n".join(loaded.notes)
    with pytest.raises(FormatError, match="conversation 's1', turn 0: unknown speaker 'alien'"):
        load_dialogues(save([{"id": "s1", "conversations": [{"from": "alien", "value": "x"}]}]))


def test_telegram_single_chat(save, samples):
    loaded = load_dialogues(save(samples["telegram"]))
    assert texts(loaded) == [("Dinner?", "Ben: Yes, Friday\ndeleted account userNone: Who is this?")]
    assert (loaded[0].source, loaded[0].at.isoformat()) == ("2", "2024-02-01T09:02:00+00:00")
    notes = "\n".join(loaded.notes)
    assert "service messages 1, media 1" in notes
    assert "forwarded" in notes
    assert load_dialogues(save(samples["telegram"]), user="Ben")[0].user == ""


def test_telegram_account_and_old_exports(save, samples):
    old = {"name": None, "type": "saved_messages", "id": 5, "messages": [copy.deepcopy(samples["telegram"]["messages"][1])]}
    del old["messages"][0]["date_unixtime"]
    path = save({"about": "", "chats": {"list": [samples["telegram"], old]}})
    assert conversations(path) == ["Ben", "saved_messages"]
    loaded = load_dialogues(path, conversation="5")
    assert loaded[0].at.isoformat() == "2024-02-01T10:00:00+00:00"
    assert "times have no zone: read as UTC" in loaded.notes


def test_telegram_names_the_message(save, samples):
    data = copy.deepcopy(samples["telegram"])
    data["messages"][2]["date_unixtime"] = "soon"
    with pytest.raises(FormatError, match="conversation 'Ben', message 3: 'date_unixtime' must be Unix seconds"):
        load_dialogues(save(data))


def test_whatsapp_android(save, samples):
    loaded = load_dialogues(save(samples["whatsapp"], "WhatsApp Chat with Ben.txt"))
    assert texts(loaded) == [("Dinner on Friday?", "Yes!\nTwo things:\n1) tea"), ("Our boat", "")]
    assert [(d.source, d.at.isoformat()) for d in loaded] == [
        ("line 2", "2024-01-25T09:01:00+00:00"),
        ("line 7", "2024-02-02T09:06:00+00:00"),
    ]
    notes = "\n".join(loaded.notes)
    for said in (
        "the day comes first, as line 1 shows",
        "system lines 2",
        "media 2",
        "notices and other media 1",
        "read as UTC",
        "'Ana'",
    ):
        assert said in notes


def test_whatsapp_ios(save, samples):
    loaded = load_dialogues(save(samples["ios"]))
    assert texts(loaded) == [("Dinner?", "Look:")]
    assert loaded[0].at.isoformat() == "2024-01-31T00:01:40+00:00"
    notes = "\n".join(loaded.notes)
    assert "the month comes first" in notes
    assert "+49 170 0000000" in notes


def test_whatsapp_day_and_month_are_not_guessed(save):
    path = save("5/1/24, 09:00 - Ana: Hi\n6/1/24, 09:00 - Ben: Ho\n")
    with pytest.raises(InputError, match="day_first=True"):
        load_dialogues(path)
    assert load_dialogues(path, day_first=True)[0].at.isoformat() == "2024-01-05T09:00:00+00:00"
    assert load_dialogues(path, day_first=False)[0].at.isoformat() == "2024-05-01T09:00:00+00:00"
    with pytest.raises(FormatError, match="line 2: day_first=False cannot be"):
        load_dialogues(save("5/1/24, 09:00 - Ana: Hi\n25/1/24, 09:00 - Ben: Ho\n"), day_first=False)
    with pytest.raises(FormatError, match=r"line 1: .*another order than in line 2"):
        load_dialogues(save("25/1/24, 09:00 - Ana: Hi\n1/25/24, 09:00 - Ben: Ho\n"))


@pytest.mark.parametrize(
    ("header", "at"),
    [
        ("2024-02-01, 9:05 p. m. - Ana: x", "2024-02-01T21:05"),
        ("01.02.24, 09:05 - Ana: x", "2024-02-01T09:05"),
        ("2024/2/1 下午9:05 - Ana: x", "2024-02-01T21:05"),
        ("1-2-2024 12.05 am - Ana: x", "2024-02-01T00:05"),
        ("[2/2/24, 21:05:06] Ana: x", "2024-02-02T21:05"),
    ],
)
def test_whatsapp_dates_of_many_countries(header, at, save):
    loaded = load_dialogues(save(header), day_first=True)
    assert [(d.user, d.at.strftime("%Y-%m-%dT%H:%M")) for d in loaded] == [("x", at)]


def test_whatsapp_keeps_words_that_look_like_a_file(save):
    said = "I read hobbit.pdf (a great book)"
    assert load_dialogues(save(f"2024-02-01, 09:00 - Ana: {said}"))[0].user == said


def test_whatsapp_bad_dates_are_named(save):
    with pytest.raises(FormatError, match="line 2: not a date and time"):
        load_dialogues(save("2024-02-01, 09:00 - Ana: x\n2024-02-31, 09:00 - Ana: y\n"))
    with pytest.raises(FormatError, match="line 1: no date, time and sender"):
        load_dialogues(save("hello\n2024-02-01, 09:00 - Ana: x\n"), format="whatsapp")


def test_a_whatsapp_system_line_with_a_title_in_quotes_is_nobody_s_message(tmp_path):
    file = tmp_path / "chat.txt"
    file.write_text(
        '13/01/24, 09:00 - Ben created group "Trip: Rome"\n13/01/24, 09:01 - Ana: first\n13/01/24, 09:02 - Ben: second\n'
    )
    (row,) = load_dialogues(file)
    assert (row.user, row.assistant) == ("first", "second")
