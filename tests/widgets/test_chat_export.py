"""What is taken away of a chat: JSON that gives the turns back, Markdown in which nothing that was said is markup."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import mistune
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.reprs.words import plain
from ilstma_lab.widgets import ChatLab, Player
from ilstma_lab.widgets.chat_export import escaped, turns_of
from tests.stubs import StubJudge, StubResponder, asking, stub_lab
from tests.widgets.test_chat import ATTACK, hit, press

_PLUGINS = ["strikethrough", "table", "url", "footnotes", "task_lists", "math", "def_list", "mark", "superscript"]
_render = mistune.create_markdown(escape=False, plugins=_PLUGINS)


class Read(HTMLParser):
    """The elements and the text of HTML."""

    def __init__(self, html: str):
        super().__init__()
        self.tags, self.words = set(), ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add((tag, *attrs))

    def handle_data(self, data):
        self.words += data


@pytest.fixture
def chat() -> ChatLab:
    lab = stub_lab(
        judge=StubJudge({"hit": hit}), responder=StubResponder({asking(4): ConnectionError("down"), asking(5): "好。"})
    )
    chat = ChatLab(lab)
    for question in (asking(3), "hit", asking(4), asking(5)):
        chat.ask(question)
    return chat


def test_json_gives_every_turn_back_whole(chat, tmp_path):
    path = chat.export(tmp_path / "chat.json")
    text = path.read_text(encoding="utf-8")
    assert text == chat.to_json()
    turns = turns_of(text)
    assert [turn.to_dict() for turn in turns] == [turn.to_dict() for turn in chat.lab.turns]
    assert Player(turns).current.answer == "好。"
    data = json.loads(text)
    assert (data["version"], data["topic"], data["rows"]) == (1, "stub", len(chat.lab.table))
    for other in ("no json", "[]", json.dumps({**data, "version": 9}), json.dumps({**data, "turns": [{}]})):
        with pytest.raises(FormatError):
            turns_of(other)


def test_markdown_reads_like_the_conversation(chat, tmp_path):
    text = chat.export(tmp_path / "chat.md").read_text(encoding="utf-8")
    read = Read(_render(text))
    for words in (asking(3), "I see.", "Turn 2: hit", "Step 9 (Answer) failed, ConnectionError: down", "好。", "Why this memory"):
        assert words in read.words
    assert {tag for tag, *_ in read.tags} == {"h1", "h2", "p", "strong", "blockquote"}


def test_each_attempt_at_a_question_has_a_heading_of_its_own():
    chat = ChatLab(stub_lab(responder=StubResponder({asking(4): ConnectionError("down")})))
    chat.ask(asking(4))
    chat.retry()
    text = chat.to_markdown()
    headings = [line.partition(", 0")[0].rpartition(": ")[0] for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## Turn 1", "## Turn 1, attempt 2"]
    assert "\n1 turn, " in text


def test_a_file_that_is_there_or_of_another_kind_is_not_written(chat, tmp_path):
    chat.export(tmp_path / "chat.md")
    with pytest.raises(InputError, match="exists"):
        chat.export(tmp_path / "chat.md")
    with pytest.raises(InputError, match=r"\.json .* or \.md"):
        chat.export(tmp_path / "chat.html")
    with pytest.raises(InputError, match="cannot write"):
        chat.export(tmp_path / "none" / "chat.md")


def test_the_browser_gets_the_same_as_a_download(chat):
    sent = []
    chat.send = lambda content, buffers=None: sent.append(content)
    press(chat, do="export", kind="md")
    press(chat, do="export", kind="json")
    assert [(file["name"], file["save"]) for file in sent] == [("chat.md", chat.to_markdown()), ("chat.json", chat.to_json())]


def test_g6_an_attack_is_text_in_both_exports():
    lab = stub_lab(responder=StubResponder(default=f"{ATTACK}\n[click](javascript:alert(1)) $$x$$ ![](x) `code`\n\n# Title"))
    lab.table.topic = ATTACK
    chat = ChatLab(lab)
    chat.ask(f"{ATTACK} <b>*bold*</b>")
    html = _render(chat.to_markdown())
    assert {tag for tag, *_ in Read(html).tags} == {"h1", "h2", "p", "strong", "blockquote", "br"}
    assert "[click](javascript:alert(1)) $$x$$ ![](x) `code`" in Read(html).words
    assert json.loads(chat.to_json())["turns"][0]["question"] == f"{ATTACK} <b>*bold*</b>"


@given(st.text(alphabet=st.one_of(st.sampled_from("`*_[]()<>#+-=.!|~$&@:^{}\\/ \n\t1a花w"), st.characters()), max_size=60))
@example("1. one\n2) two\n- x\n+ y\n***\n---\n===\n# h\n> q\n    code\n```\nx\n```")
@example("www.example.com http://x.y a@b.c :smile: \\(x\\) $x$ ~~a~~ | a | b |\n|---|---|\n[^1]: note")
@example("term\n: meaning\n==mark== ^up^ [ ] <!-- -->")
def test_whatever_was_said_shows_as_it_was(text):
    read = Read(_render("\n".join(f"> {line}" for line in escaped(text).split("\n"))))
    assert {tag for tag, *_ in read.tags} <= {"blockquote", "p", "br"}
    assert read.words.split() == plain(text, 10**6).split()
