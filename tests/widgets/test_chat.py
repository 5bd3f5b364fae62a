"""The chat lab without a browser: what it shows is plain state, and messages do what buttons do."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
import traitlets

import ilstma_lab.widgets
from ilstma_lab import SystemClock
from ilstma_lab.clock import ManualClock
from ilstma_lab.errors import InputError
from ilstma_lab.retrieval.recall import Reading
from ilstma_lab.trace import Verdict
from ilstma_lab.widgets import ChatLab
from tests.stubs import StubJudge, StubReader, StubResponder, asking, stub_lab

ATTACK = "</script><img src=x onerror=alert(1)>"


def hit(query, memory) -> Verdict:
    return Verdict(True, "Yes.", used=(memory.cache[1].index,))


def press(chat: ChatLab, **message) -> None:
    """Do what the browser does, and wait for what it started."""
    before = set(threading.enumerate())
    chat._desk.receive(chat, message, [])
    for thread in set(threading.enumerate()) - before:
        thread.join(10)


def test_ask_from_python_returns_the_turn_and_shows_it():
    chat = ChatLab(stub_lab(judge=StubJudge({"hit": hit})), questions=[asking(3), "hit"], title="Stub")
    assert chat.view["questions"] == [asking(3), "hit"]
    turn = chat.ask(asking(3))
    shown = chat.view["turns"][-1]
    assert (shown["question"], shown["answer"], shown["outcome"]) == (turn.question, turn.answer, "miss")
    assert chat.view["questions"] == ["hit"], "a question that was asked is no longer suggested"
    assert chat.view["eyebrow"] == "Chat lab · Stub · 9 rows"
    assert not chat.busy
    assert chat.live == {}


def test_state_is_plain_json():
    chat = ChatLab(stub_lab(judge=StubJudge({"hit": hit})))
    chat.ask(asking(3))
    chat.ask("hit")
    assert json.loads(json.dumps(chat.state(), allow_nan=False)) == chat.state()


def test_a_hit_shows_arithmetic_waiting_touches_and_the_finding():
    lab = stub_lab(judge=StubJudge({"hit": hit}), reader=StubReader({asking(3): Reading(3)}))
    chat = ChatLab(lab)
    first = chat.ask(asking(3))
    chat.ask("hit")
    row = first.prefetch.rows[1]
    arithmetic = chat.view["turns"][-1]["why"]["arithmetic"]
    assert arithmetic["score"] == f"{row.score:.3f}".removeprefix("0")
    (waits,) = chat.view["waiting"]
    assert waits["row"] == row.index
    assert waits["recalls"] == ["1", "2"]
    assert waits["strength"] == ["5.00", "16.75 d"]
    assert waits["last"][1] == "today"
    assert chat.view["finding"] == "One of two answers came from memory at hand"
    press(chat, do="write")
    assert chat.view["waiting"] == []
    assert lab.table[row.index].recall_times == 2
    chat.ask("hit")
    assert [waits["last"] for waits in chat.view["waiting"]] == [["today", "today"]]


def test_guesses_are_scored():
    chat = ChatLab(stub_lab(judge=StubJudge({"hit": hit})))
    chat.ask(asking(3), guess="miss")
    chat.ask("hit", guess="miss")
    assert chat.view["score"] == "1 of 2 right so far"
    with pytest.raises(InputError, match="'hit' or 'miss'"):
        chat.ask("hit", guess="maybe")


def test_h5_an_answer_streams_piece_by_piece_into_state(monkeypatch, capsys):
    monkeypatch.setattr("ilstma_lab.widgets.chat_stream.PAUSE_SECONDS", -1)
    responder = StubResponder({asking(3): lambda query, memory: iter(["one ", "two"])})
    chat = ChatLab(stub_lab(responder=responder))
    seen = []
    chat.observe(lambda change: seen.append(change["new"]), names="live")
    press(chat, do="ask", question=asking(3), guess=None)
    assert [live["answer"] for live in seen if live and live["doing"] == "answers"] == ["one", "one two"]
    assert seen[0]["question"] == asking(3)
    assert seen[-1] == {}
    assert chat.view["turns"][-1]["answer"] == "one two"
    assert capsys.readouterr().out == "", "a print from a thread would land in another cell"


def test_h3_a_click_while_busy_asks_nothing():
    inside, go_on = threading.Event(), threading.Event()

    def slow(query, memory) -> str:
        inside.set()
        go_on.wait(10)
        return "Done."

    lab = stub_lab(responder=StubResponder(default=slow))
    chat = ChatLab(lab)
    chat._desk.receive(chat, {"do": "ask", "question": asking(3), "guess": None}, [])
    inside.wait(10)
    for _ in range(3):
        chat._desk.receive(chat, {"do": "ask", "question": asking(4), "guess": None}, [])
    with pytest.raises(InputError, match="wait for its answer"):
        chat.ask(asking(4))
    worker = next(thread for thread in threading.enumerate() if "_in_thread" in thread.name)
    go_on.set()
    worker.join(10)
    assert [turn.question for turn in lab.turns] == [asking(3)]
    assert (chat.busy, chat.error) == (False, {})


def test_a_failing_model_keeps_the_question_and_can_be_tried_again():
    responder = StubResponder({asking(3): ConnectionError("the endpoint is down: start it")})
    chat = ChatLab(stub_lab(responder=responder))
    press(chat, do="ask", question=asking(3), guess="hit")
    shown = chat.view["turns"][-1]
    assert shown["outcome"] == "failed"
    assert "the endpoint is down: start it" in shown["failure"]
    assert chat.error["question"] == asking(3), "it goes back into the composer"
    assert chat.view["score"] == "", "a failure is no miss"
    responder.script.clear()
    press(chat, do="retry")
    assert chat.view["turns"][-1]["outcome"] == "miss"
    assert chat.error == {}


def test_a_failed_question_is_let_go_when_another_is_asked():
    chat = ChatLab(stub_lab(responder=StubResponder({asking(3): ConnectionError("down")})))
    assert chat.ask(asking(3)).failure
    chat.ask(asking(4))
    assert chat.error == {}
    assert [turn["outcome"] for turn in chat.view["turns"]] == ["failed", "miss"]


def test_what_is_raised_is_shown_in_the_conversation():
    chat = ChatLab(stub_lab())
    press(chat, do="ask", question=" \u200b ", guess=None)
    assert "blank" in chat.error["message"]
    press(chat, do="retry")
    assert "no question is left unanswered" in chat.error["message"]
    assert not chat.busy
    with pytest.raises(InputError, match="blank"):
        chat.ask("")


@pytest.mark.parametrize("message", [{}, {"do": "ask"}, {"do": "ask", "question": 3, "guess": None}, {"do": "rm"}])
def test_other_messages_are_ignored(message):
    chat = ChatLab(stub_lab())
    press(chat, **message)
    assert chat.view["turns"] == []
    assert not chat.busy


def test_the_clock_moves_only_by_hand():
    chat = ChatLab(stub_lab())
    before = chat.view["clock"]
    press(chat, do="skip", days=1)
    assert before == {"day": "Tue 9 May 2023", "moves": True}
    assert chat.view["clock"]["day"] == "Wed 10 May 2023"
    assert not ChatLab(stub_lab(clock=SystemClock())).view["clock"]["moves"]


def test_a_long_talk_sends_only_its_end():
    lab = stub_lab()
    for number in range(25):
        lab.ask(asking(number % 8), remember=False)
    chat = ChatLab(lab)
    assert len(chat.view["turns"]) == 20
    assert chat.view["turns"][-1]["key"] == 24
    assert len(chat.view["costs"]["bars"]) == 6


def test_g6_what_stands_in_for_the_widget_is_escaped():
    lab = stub_lab(responder=StubResponder(default=ATTACK))
    chat = ChatLab(lab, title=ATTACK, questions=[ATTACK])
    chat.ask(ATTACK)
    bundle, _ = chat._repr_mimebundle_()
    assert "<img" not in bundle["text/html"]
    assert "<script" not in bundle["text/html"]
    assert "alert(1)" in bundle["text/html"]
    assert "A  </script>" in bundle["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_g6_the_browser_part_writes_text_only_and_loads_nothing():
    for path in (Path(ilstma_lab.widgets.__file__).parent / "static").glob("*.js"):
        source = path.read_text(encoding="utf-8")
        for forbidden in (
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "http:",
            "https:",
            "import ",
        ):
            assert forbidden not in source, f"{path.name}: {forbidden}"


def test_the_state_is_checked():
    with pytest.raises(traitlets.TraitError):
        ChatLab(stub_lab()).view = "no dictionary"


@pytest.mark.parametrize("days", [0, -1, 36_501, 10**7, float("nan")])
def test_a_skip_that_no_clock_can_make_moves_nothing(days):
    chat = ChatLab(stub_lab())
    before = chat.lab.clock.now()
    with pytest.raises(InputError, match="1 to 36,500 days"):
        chat.skip(days)
    assert chat.lab.clock.now() == before


def test_no_skip_leads_past_the_year_9999():
    chat = ChatLab(stub_lab(clock=ManualClock(datetime(9999, 12, 1, tzinfo=UTC))))
    chat.skip(7)
    with pytest.raises(InputError, match="past 9999"):
        chat.skip(30)
    assert chat.lab.clock.now().day == 8


def test_the_chat_is_free_again_even_where_it_cannot_be_shown(monkeypatch):
    chat = ChatLab(stub_lab())
    with monkeypatch.context() as broken:
        broken.setattr("ilstma_lab.widgets.chat.view_of", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            chat.ask("Where does Calvin live?")
    assert chat.ask("Where does Calvin live?").answer
