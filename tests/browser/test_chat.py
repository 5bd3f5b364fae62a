"""The chat lab in a real JupyterLab: by keyboard alone, stopped and taken back, a chat brought in and taken away, both themes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

from tests.browser.driver import CONTRAST, LEAST, OVERFLOW

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.driver import LabServer, Notebook

ATTACK = "</script><img src=x onerror=alert(1)>"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}  # else Lab asks which one
SETUP = f"""
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
import ilstma_lab.models
from ilstma_lab import ILSTMA, Dialogue, ManualClock, MemoryTable
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.widgets import ChatLab

embedder = HashedEmbedder(dim=64)
ilstma_lab.models.default_embedder = lambda: embedder
start = datetime(2026, 2, 1, 9, tzinfo=UTC)
texts = ["The boat is blue.", "我对花生过敏。", {ATTACK!r}, "We sail on Monday.", "Ruth brings tea.", "The key is under the mat."]
said = [Dialogue(text, "Noted.", start + timedelta(days=day)) for day, text in enumerate(texts)]


class Talker:
    def answer(self, query, memory):
        yield f"You said: {{memory.relevant[0].user}} " if memory.relevant else "I do not know. "
        for number in range(2_000 if "slowly" in query.text else 3):
            threading.Event().wait(0.02)
            yield f"word {{number}} "
"""
CHAT = """
table = MemoryTable.from_dialogues(said, topic="Sailing")
models = replace(offline(embedder), responder=Talker())
lab = ILSTMA(table, models=models, clock=ManualClock.after(table))
chat = ChatLab(lab, questions=["What colour is the boat?", "我对什么过敏？"])
chat
"""
DIARY = "\n".join(json.dumps({"user": f"I row on day {n}.", "assistant": "Good.", "at": f"2024-02-0{n}"}) for n in range(1, 8))
BANK = json.dumps(
    {name: {"history": {"2023-05-01": [{"query": f"I am {name}", "response": "Hello"}]}} for name in ("Ana", "Ben")}
)


@pytest.fixture(scope="module")
def notebook(server: LabServer, open_lesson: Callable[[str], Notebook]) -> Notebook:
    """A notebook with a chat over six rows, run."""
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, CHAT)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), Path(server.root) / "chat.ipynb")
    notebook = open_lesson("chat.ipynb")
    notebook.page.on("dialog", lambda dialog: notebook.complaints.append(dialog.message))
    notebook.run_all()
    return notebook


@pytest.fixture
def chat(notebook: Notebook) -> Locator:
    """The chat, drawn."""
    chat = notebook.page.locator(".jp-OutputArea .chatlab")
    chat.locator("textarea").wait_for()
    return chat


def ask(chat: Locator, text: str) -> None:
    """Type a question and press Enter."""
    chat.locator("textarea").focus()
    chat.page.keyboard.type(text)
    chat.page.keyboard.press("Enter")


def turns(chat: Locator, number: int) -> None:
    """Wait until so many turns are in the conversation and nothing runs."""
    chat.page.wait_for_function(
        "([root, n]) => root.querySelectorAll('.earlier > li, .turns > [data-key]').length === n "
        "&& !root.querySelector('.pri').disabled && root.querySelector('.ic-stop').hidden",
        arg=[chat.element_handle(), number],
    )


def by_key(chat: Locator, control: Locator, *keys: str) -> None:
    """Press keys on a control, by default Enter."""
    control.focus()
    for key in keys or ("Enter",):
        chat.page.keyboard.press(key)


def test_the_screen_begins_where_the_memory_ends(notebook: Notebook, chat: Locator):
    assert notebook.errors() == []
    assert chat.locator(".past .rows li").all_inner_texts()[-1].split("\n")[0] == "5"
    assert chat.locator(".segs h3").all_inner_texts() == ["Cache", "Summary", "Personality", "History", "Relevant"]


def test_an_answer_streams_and_says_why(chat: Locator):
    chat.evaluate(
        "root => { window.pieces = new Set(); new MutationObserver(() => {"
        " const live = root.querySelector('.talk:has(.pipes) .answer'); if (live) window.pieces.add(live.textContent) })"
        ".observe(root, { childList: true, subtree: true }) }"
    )
    ask(chat, "What colour is the boat?")
    turns(chat, 1)
    assert chat.page.evaluate("window.pieces.size") >= 2
    assert "The boat is blue." in chat.locator(".turns .answer").inner_text()
    assert chat.locator(".turns .badge.miss").count() == 1
    assert chat.locator("button.chip").count() == 1, "what was asked is no longer suggested"
    assert chat.locator(".foot").inner_text().startswith("Try this")


def test_a_question_in_chinese_and_one_that_attacks_are_text(notebook: Notebook, chat: Locator):
    by_key(chat, chat.locator("button.chip").first)
    chat.page.keyboard.press("Enter")
    turns(chat, 2)
    assert "我对花生过敏" in chat.locator(".turns .answer").last.inner_text()
    ask(chat, ATTACK)
    turns(chat, 3)
    assert chat.locator(".turns .q").last.inner_text() == ATTACK
    assert chat.locator("img, script").count() == 0
    assert notebook.complaints == []


def test_escape_stops_the_answer_and_the_question_stays(chat: Locator):
    ask(chat, "Tell me slowly.")
    chat.locator(".talk:has(.pipes) .answer", has_text="word 1").wait_for()
    assert chat.locator("textarea").input_value() == ""
    chat.page.keyboard.press("Escape")
    chat.locator(".open").wait_for()
    turns(chat, 3)
    assert "Nothing else of its turn was kept" in chat.locator(".open").inner_text()
    assert chat.locator("textarea").input_value() == "Tell me slowly."
    by_key(chat, chat.locator(".open .retry"))
    chat.locator(".talk:has(.pipes) .answer", has_text="word 1").wait_for()
    by_key(chat, chat.locator(".ic-stop"))
    chat.locator(".open").wait_for()


def test_undo_lets_go_of_the_open_question_then_of_the_last_turn(chat: Locator):
    undo = chat.get_by_role("button", name="Take back the last turn")
    by_key(chat, undo)
    chat.locator(".open").wait_for(state="detached")
    turns(chat, 3)
    chat.locator("textarea").fill("")
    by_key(chat, undo)
    turns(chat, 2)
    assert chat.locator("textarea").input_value() == ATTACK
    chat.locator("textarea").fill("")


def test_days_pass(chat: Locator):
    before = chat.locator(".ic-clock").inner_text()
    by_key(chat, chat.get_by_title("Let 7 days pass"))
    chat.locator(".foot", has_text="7 days passed since the last question").wait_for()
    assert (before, chat.locator(".ic-clock").inner_text()) == ("Sat 7 Feb 2026", "Sat 14 Feb 2026")


def test_earlier_turns_fold_and_unfold(chat: Locator):
    for number in range(3, 6):
        ask(chat, f"Who brings tea, {number}?")
        turns(chat, number)
    assert chat.locator(".earlier > li").count() == 1
    by_key(chat, chat.locator(".earlier summary").first)
    assert "The boat is blue." in chat.locator(".earlier .answer").inner_text()
    by_key(chat, chat.locator(".earlier summary").first)


def test_a_turn_is_handed_to_the_player_and_to_what_if(notebook: Notebook, chat: Locator):
    by_key(chat, chat.locator(".turns [data-turn]").first)
    player = notebook.page.locator(".jp-OutputArea .player")
    player.get_by_text("Player · turn 2 of 5").wait_for()
    assert chat.locator("[data-turn][aria-pressed=true]").count() == 1
    by_key(chat, chat.get_by_role("button", name="Close the player"))
    player.wait_for(state="detached")
    by_key(chat, chat.locator(".foot").get_by_role("button", name="What if"))
    what_if = notebook.page.locator(".jp-OutputArea .what-if")
    what_if.get_by_text("What if", exact=True).wait_for()
    assert what_if.locator(".finding").inner_text()


def test_both_exports_come_as_downloads(chat: Locator):
    by_key(chat, chat.get_by_role("button", name="Export"))
    assert "A saved notebook also keeps what was said" in chat.locator(".panel:visible").inner_text()
    for name, begins in (("JSON", '{\n "format": "ilstma-lab chat"'), ("Markdown", "# Chat over Sailing")):
        with chat.page.expect_download() as download:
            by_key(chat, chat.get_by_role("button", name=name, exact=True))
        assert Path(download.value.path()).read_text(encoding="utf-8").startswith(begins)
    chat.page.keyboard.press("Escape")
    assert chat.get_by_role("button", name="Export").evaluate("node => node === document.activeElement")
    assert chat.locator(".panel:visible").count() == 0


def test_keys_pressed_in_a_panel_leave_the_notebook_alone(notebook: Notebook, chat: Locator):
    before = notebook.cells()
    by_key(chat, chat.get_by_title("Choose memory and model"))
    by_key(chat, chat.get_by_role("button", name="Endpoint"), "Enter", "b", "a", "d", "d", "x")
    chat.get_by_text("The key comes from the environment variable OPENAI_API_KEY alone, which is not set").wait_for()
    by_key(chat, chat.get_by_label("Model", exact=True), "m")
    by_key(chat, chat.get_by_label("Base URL"), "x")
    by_key(chat, chat.get_by_role("button", name="Open", exact=True))
    chat.locator(".panel:visible").get_by_text("no endpoint").wait_for()
    assert chat.get_by_label("Model", exact=True).input_value() == "m", "what was typed stays"
    assert notebook.cells() == before
    turns(chat, 5)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_can_be_read_and_nothing_sticks_out(notebook: Notebook, chat: Locator, dark: bool):
    size = notebook.page.viewport_size
    notebook.use_theme(dark=dark)
    for width in (1000, 700):
        notebook.fit(chat.locator(".w"), width)
        for panel in ("Import", "Export", None):
            if panel:
                by_key(chat, chat.get_by_role("button", name=panel, exact=True).first)
            assert chat.evaluate(OVERFLOW) == []
            assert notebook.page.evaluate(CONTRAST, [chat.element_handle(), LEAST]) == []
            notebook.picture(f"chat_{panel or 'talk'}_{width}_{'dark' if dark else 'light'}")
            notebook.page.keyboard.press("Escape")
    notebook.page.set_viewport_size(size)
    notebook.settle()


def test_a_chat_of_ones_own_is_brought_in(chat: Locator):
    by_key(chat, chat.get_by_role("button", name="Import", exact=True).first)
    panel = chat.locator(".panel:visible")
    go = panel.get_by_role("button", name="Import")
    choose = panel.locator("[type=file]")
    choose.set_input_files({"name": "page.html", "mimeType": "text/html", "buffer": b"<html><p>Hello"})
    by_key(chat, go)
    panel.get_by_text("This is a web page").wait_for()
    choose.set_input_files({"name": "bank.json", "mimeType": "application/json", "buffer": BANK.encode()})
    by_key(chat, go)
    panel.get_by_text("bank.json holds 2 conversations: choose one.").wait_for()
    assert chat.locator(".eyebrow").inner_text().startswith("Chat lab · Sailing")
    panel.get_by_label("Conversation").select_option("Ben")
    by_key(chat, go)
    panel.get_by_text("Read as memorybank: 1 dialogue").wait_for()
    assert chat.locator(".eyebrow").inner_text() == "Chat lab · Ben · 1 row"
    choose.set_input_files({"name": "diary.jsonl", "mimeType": "text/plain", "buffer": DIARY.encode()})
    by_key(chat, go)
    panel.get_by_text("Read as jsonl: 7 dialogues, in this kernel’s memory alone.").wait_for()
    chat.page.keyboard.press("Escape")
    ask(chat, "Do I row?")
    turns(chat, 1)
    assert "row" in chat.locator(".turns .answer").inner_text()


def test_nothing_was_complained_of_or_fetched_from_elsewhere(notebook: Notebook):
    assert notebook.errors() == []
    assert notebook.complaints == []
    assert notebook.outside == []
