"""A kernel that is killed in mid-answer: every acknowledged turn is there, and the unanswered question is offered again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import ilstma_lab.models
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.widgets import ChatLab
from tests.stubs import asking, table_of
from tests.widgets.test_chat import press

ROOT = Path(__file__).parents[2]
CHILD = """
import sys, threading
from dataclasses import replace
import ilstma_lab.models
from ilstma_lab.models.always_miss import AlwaysMiss
from ilstma_lab.models.embedders import HashedEmbedder
embedder = HashedEmbedder(dim=64)
ilstma_lab.models.default_embedder = lambda: embedder
from ilstma_lab.widgets import ChatLab
from tests.stubs import StubResponder, asking

def endless(query, memory):
    yield "A first word"
    print("in mid-answer", flush=True)
    threading.Event().wait()

chat = ChatLab(table=sys.argv[1])
responder = StubResponder({asking(5): endless}, "Acknowledged.")
chat.lab.models = replace(chat.lab.models, judge=AlwaysMiss(), responder=responder)
for number in (3, 4, 5):
    turn = chat.ask(asking(number))
    print("acknowledged", turn.row, flush=True)
"""


def test_a_kernel_killed_in_mid_answer_loses_no_acknowledged_turn(tmp_path, monkeypatch):
    embedder = HashedEmbedder(dim=64)
    monkeypatch.setattr(ilstma_lab.models, "default_embedder", lambda: embedder)
    path = tmp_path / "mine.json"
    table_of(8).save(path)
    rows = killed_in_mid_answer(path)
    chat = ChatLab(table=path)
    assert [chat.lab.table[row].user for row in rows] == [asking(3), asking(4)]
    assert len(chat.lab.table) == 8 + len(rows)
    assert chat.view["open"]["question"] == asking(5)
    assert "left unanswered" in chat.view["open"]["words"]
    assert [past["row"] for past in chat.view["past"]][-2:] == rows
    press(chat, do="retry")
    assert chat.view["open"] is None
    assert chat.lab.turns[-1].question == asking(5)
    assert chat.lab.turns[-1].row == rows[-1] + 1


def killed_in_mid_answer(path: Path) -> list[int]:
    """Run a chat on the table in a process of its own, kill that in mid-answer, and return the rows it had acknowledged."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    rows = []
    with child:
        for said in child.stdout:
            if said.startswith("in mid-answer"):
                break
            rows.append(int(said.split()[1]))
        child.send_signal(signal.SIGKILL)
        child.wait(20)
    assert child.returncode == -signal.SIGKILL
    return rows
