"""A reader's own chat in the chat lab: sent in parts, asked about where that must be, and nothing lost where it is no chat."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import ilstma_lab.models
from ilstma_lab import MemoryTable
from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.widgets import ChatLab
from ilstma_lab.widgets.chat_import import UPLOAD_MEGABYTES, AnswerNeededError, Upload
from tests.stubs import asking, stub_lab
from tests.widgets.test_chat import press

DIARY = "\n".join(
    json.dumps({"user": user, "assistant": "记下了。", "at": f"2024-02-0{day}T09:00:00Z"}, ensure_ascii=False)
    for day, user in enumerate(
        ["我对花生过敏。", "I row on Mondays. </script><img src=x onerror=alert(1)>", "The boat is blue."], 1
    )
)
TWO = json.dumps({"Ana": {"history": {"2023-05-01": [{"query": "Hi", "response": "Hello"}]}}, "Ben": {"history": {}}})
WHATSAPP = "01/05/2024, 09:01 - Ana: Where is the boat?\n02/05/2024, 09:02 - Ben: At the pier.\n03/05/2024, 09:03 - Ana: Ah.\n"


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is imported is embedded by a quick embedder."""
    embedder = HashedEmbedder(dim=64)
    monkeypatch.setattr(ilstma_lab.models, "default_embedder", lambda: embedder)


@pytest.fixture
def chat() -> ChatLab:
    """A chat in which something was said, and which notes what it sends to the browser."""
    chat = ChatLab(stub_lab())
    chat.ask(asking(3))
    chat.sent = []
    chat.send = lambda content, buffers=None: chat.sent.append(content)
    return chat


def upload(chat: ChatLab, name: str, data: bytes, *, part: int = 50) -> None:
    for at in range(0, max(len(data), 1), part):
        chat._desk.receive(chat, {"do": "upload", "name": name, "size": len(data), "at": at}, [memoryview(data[at : at + part])])


def bring(chat: ChatLab, name: str, data: str | bytes, *, to: str = "", **answers: str) -> dict:
    """Send a file and import it, as the panel does; return what the panel then says."""
    upload(chat, name, data.encode() if isinstance(data, str) else data)
    press(chat, do="import", to=to, answers=answers)
    return chat.task


def test_a_file_becomes_a_memory_to_be_asked(chat):
    seen = []
    chat.observe(lambda change: seen.append(change["new"].get("message", "")), names="task")
    said = bring(chat, "diary.jsonl", DIARY)
    assert said["state"] == "done", said
    assert said["notes"][0] == "Read as jsonl: 3 dialogues, in this kernel’s memory alone."
    assert [part["received"] for part in chat.sent][-1] == len(DIARY.encode())
    assert [message for message in seen if message.startswith(("Reading: 3 of 3", "Embedding: 3 of 3"))]
    assert chat.view["eyebrow"] == "Chat lab · diary · 3 rows"
    assert chat.view["turns"] == []
    assert chat._desk.upload is None, "the file does not stay"
    turn = chat.ask("What am I allergic to? 花生")
    assert turn.row == 3
    assert chat.view["past"] == []


def test_it_is_kept_in_the_file_that_is_named_and_in_no_other(chat, tmp_path):
    mine = tmp_path / "mine.json"
    said = bring(chat, "diary.jsonl", DIARY, to=str(mine))
    assert said["notes"][0].endswith(f"kept in {mine}.")
    row = chat.ask("What colour is the boat?").row
    lab = chat.lab
    for there in (mine, tmp_path / "no folder" / "mine.json"):
        assert bring(chat, "diary.jsonl", DIARY, to=str(there))["state"] == "failed"
        assert chat.lab is lab
    assert "exists" in bring(chat, "diary.jsonl", DIARY, to=str(mine))["message"]
    lab.close()
    assert MemoryTable.load(mine)[row].user == "What colour is the boat?"


def test_where_several_conversations_are_in_it_one_is_chosen(chat):
    lab = chat.lab
    said = bring(chat, "bank.json", TWO)
    assert (said["state"], said["conversations"]) == ("needs", ["Ana", "Ben"])
    assert "choose one" in said["message"]
    assert chat.lab is lab, "the present lab stays"
    press(chat, do="import", to="", answers={"conversation": "Ana"})  # the file is here already
    assert chat.task["state"] == "done", chat.task
    assert chat.lab.table[0].user == "Hi"


def test_a_new_file_is_asked_nothing_of_the_old_one(chat):
    bring(chat, "bank.json", TWO)
    upload(chat, "diary.jsonl", DIARY.encode())
    assert chat.task == {}, "what was asked about the other file is over"
    press(chat, do="import", to="", answers={})
    assert chat.task["state"] == "done", chat.task
    bring(chat, "bank.json", TWO)
    upload(chat, "none.json", b"")
    press(chat, do="import", to="", answers={"conversation": "Ana"})
    assert "choose a file first" in chat.task["message"], "the other file is not taken in its place"


def test_where_day_and_month_are_not_clear_the_order_is_chosen(chat):
    said = bring(chat, "chat.txt", WHATSAPP)
    assert (said["state"], said["day_first"]) == ("needs", True)
    assert "day_first" not in said["message"], "it says what to choose, not what to type"
    press(chat, do="import", to="", answers={"day_first": "day", "user": "ben"})
    assert chat.task["state"] == "done", chat.task
    assert chat.lab.table[0].created.month == 5
    assert "At the pier." in [row.user for row in chat.lab.table]


def zipped(tmp_path: Path, member: str) -> bytes:
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as archive:
        archive.writestr(member, "x")
    return (tmp_path / "photos.zip").read_bytes()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("page.html", "<!DOCTYPE html><p>Hello</p>", "This is a web page: export the chat again as JSON"),
        ("paper.pdf", "%PDF-1.7", "This is a PDF"),
        ("photos.zip", "boat.png", "cannot tell which file in this zip is the chat"),
        ("half.zip", b"PK\x03\x04 broken", "this zip file cannot be read"),
        ("notes.txt", "buy milk", "not in a format that this kit knows"),
        ("empty.jsonl", '{"user": "", "assistant": "", "at": "2024-02-01"}\n' * 2, "nothing was imported"),
        ("latin.txt", b"\xe9t\xe9", "not UTF-8"),
    ],
)
def test_what_is_no_chat_is_told_clearly_and_loses_nothing(chat, tmp_path, name, data, said):
    lab = chat.lab
    task = bring(chat, name, zipped(tmp_path, data) if name == "photos.zip" else data)
    assert task["state"] == "failed"
    assert said in task["message"]
    assert "Traceback" not in task["message"]
    assert chat.lab is lab
    assert len(chat.view["turns"]) == 1
    assert not chat.busy


def test_the_limit_is_stated_and_a_part_out_of_order_refused(chat):
    chat._desk.receive(chat, {"do": "upload", "name": "big.zip", "size": UPLOAD_MEGABYTES * 2**20 + 1, "at": 0}, [b"x"])
    assert chat.sent == [{"received": -1}]
    assert f"up to {UPLOAD_MEGABYTES} MB" in chat.task["message"]
    assert "chat.import_chat(" in chat.task["message"]
    chat._desk.receive(chat, {"do": "upload", "name": "a.jsonl", "size": 10, "at": 5}, [b"x"])
    assert chat.sent[-1] == {"received": -1}
    press(chat, do="import", to="", answers={})
    assert "choose a file first" in chat.task["message"]


def test_the_panel_speaks_of_its_fields_and_of_no_arguments(chat):
    told = [bring(chat, "notes.txt", "buy milk")["message"]]
    upload(chat, "none.json", b"")
    told.append(chat.task["message"])
    assert "Export the chat again in one of these" in told[0]
    assert "is empty: choose another file" in told[1]
    told.append(bring(chat, "diary.jsonl", DIARY, user="Ana")["message"])
    assert "Leave “You, in a chat of people” empty" in told[2]
    told += bring(chat, "chat.txt", WHATSAPP, day_first="day")["notes"]
    assert "name another under “You, in a chat of people”" in "".join(told)
    for words in ("format=", "--", "user=", "`user`", "day_first", "Python"):
        assert words not in "".join(told)


@pytest.mark.parametrize("name", ["../../etc/passwd", "..\\..\\x", "/etc/passwd", "..", "", "a\0b", "舟" * 300, "\ud83d.txt"])
def test_a_file_name_leads_nowhere(name):
    upload = Upload(name, 4)
    upload.add(0, b"text")
    assert upload.path.read_bytes() == b"text"
    assert upload.path.parent.name.startswith("ilstma-chat-")
    folder = upload.path.parent
    upload.close()
    assert not folder.exists()


def test_from_python_a_path_is_enough(tmp_path):
    path = tmp_path / "bank.json"
    path.write_text(TWO, encoding="utf-8")
    chat = ChatLab(stub_lab())
    with pytest.raises(AnswerNeededError, match="2 conversations: choose one") as needed:
        chat.import_chat(path)
    assert needed.value.conversations == ("Ana", "Ben")
    dialogues = chat.import_chat(path, conversation="Ana", to=tmp_path / "ana.json")
    assert (dialogues.format, len(dialogues)) == ("memorybank", 1)
    assert chat.lab.table.path.name == "ana.json"
    with pytest.raises(InputError, match="cannot read"):
        chat.import_chat(tmp_path / "none.json")
    (tmp_path / "x.html").write_text("<html>", encoding="utf-8")
    with pytest.raises(FormatError, match="web page"):
        chat.import_chat(tmp_path / "x.html")
