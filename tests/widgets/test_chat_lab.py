"""The chat lab's controls without a browser: stop, undo, days, choice of memory and model, hand-over of a turn."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

import ilstma_lab.models
from benchmarks.local_endpoint import ANSWER, MODEL, LocalEndpoint
from ilstma_lab import ILSTMA, Dialogue, MemoryTable, SystemClock
from ilstma_lab.clock import ShiftedClock
from ilstma_lab.errors import InputError, ModelError
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.widgets import ChatLab, Player
from ilstma_lab.widgets.chat_source import suggestions, topic_label
from ilstma_lab.widgets.chat_state import view_of
from ilstma_lab.widgets.chat_stream import StoppedError
from tests.models.stand_in import KEY
from tests.stubs import StubJudge, StubResponder, asking, stub_lab, table_of
from tests.widgets.test_chat import hit, press

OTHER = "dentist, what did I say?"


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> HashedEmbedder:
    """What is opened without an embedder gets a quick one."""
    embedder = HashedEmbedder(dim=64)
    monkeypatch.setattr(ilstma_lab.models, "default_embedder", lambda: embedder)
    return embedder


@pytest.fixture
def saved(tmp_path, cheap):
    """The file of a table of eight rows."""
    table_of(8).save(tmp_path / "mine.json")
    return tmp_path / "mine.json"


class Slow:
    """A responder that says a word, then waits for `go_on` before each further one."""

    def __init__(self):
        self.said, self.go_on = threading.Event(), threading.Event()

    def __call__(self, query, memory):
        yield "one "
        self.said.set()
        self.go_on.wait(10)
        yield "two"


def stopped(chat: ChatLab, slow: Slow, stop: Callable[[], object]) -> None:
    """Ask in a thread as the browser does, stop in mid-answer, and wait for the end."""
    chat._desk.receive(chat, {"do": "ask", "question": asking(3), "guess": None}, [])
    (worker,) = [thread for thread in threading.enumerate() if "_in_thread" in thread.name]
    slow.said.wait(10)
    stop()
    assert chat.live["doing"].startswith("stops as soon as")
    slow.go_on.set()
    worker.join(10)


def test_a_stopped_answer_leaves_nothing_but_its_question(cheap):
    slow = Slow()
    lab = stub_lab(judge=StubJudge({"hit": hit}), responder=StubResponder({asking(3): slow}))
    chat = ChatLab(lab)
    chat.ask(asking(5))
    before = lab.table.next_index, lab.memory.state(), dict(lab.table.waiting), lab.table.recall_times.tolist()
    stopped(chat, slow, lambda: chat._desk.receive(chat, {"do": "stop"}, []))
    assert (lab.table.next_index, lab.memory.state(), dict(lab.table.waiting), lab.table.recall_times.tolist()) == before
    assert [turn.question for turn in lab.turns] == [asking(5)]
    assert chat.view["open"]["question"] == asking(3)
    assert chat.view["open"]["answer"] == "one two", "what had come is shown, and kept nowhere"
    assert (chat.busy, chat.live, chat.error) == (False, {}, {"message": "", "question": asking(3)})
    lab.models.responder.script.clear()
    press(chat, do="retry")
    assert chat.view["open"] is None
    assert [turn.question for turn in lab.turns] == [asking(5), asking(3)]


def test_ask_from_python_says_that_it_was_stopped():
    chat = ChatLab(stub_lab(responder=StubResponder({asking(3): lambda query, memory: iter(["one ", chat.stop() and "two"])})))
    with pytest.raises(StoppedError, match=r"retry\(\) asks it again"):
        chat.ask(asking(3))
    assert not chat.stop(), "nothing runs"


def test_an_answer_that_is_whole_is_not_stopped():
    lab = stub_lab()
    chat = ChatLab(lab)
    chat.observe(lambda change: "Answer done" in change["new"].get("doing", "") and chat.stop(), names="live")
    turn = chat.ask(asking(3))
    assert turn.row in lab.table
    assert chat.view["open"] is None


def test_undo_takes_the_turn_back_and_returns_the_question_to_the_composer():
    lab = stub_lab(judge=StubJudge({"hit": hit}))
    chat = ChatLab(lab)
    first = chat.ask(asking(3), guess="miss")
    chat.ask("hit", guess="miss")
    chat.play(1)
    press(chat, do="undo")
    assert [turn["question"] for turn in chat.view["turns"]] == [asking(3)]
    assert chat.error == {"message": "", "question": "hit"}
    assert chat.view["score"] == "1 of 1 right so far"
    assert chat.view["waiting"] == []
    assert (chat.player, chat.playing) == (None, -1), "a turn that is gone is not played on"
    assert chat.undo() == first
    assert first.row not in lab.table
    press(chat, do="undo")
    assert "no turn of this lab is left" in chat.error["message"]


def test_undo_first_lets_go_of_a_question_that_was_left_open():
    slow = Slow()
    lab = stub_lab(responder=StubResponder({asking(3): slow}))
    chat = ChatLab(lab)
    chat.ask(asking(5))
    stopped(chat, slow, chat.stop)
    assert chat.undo() is None
    assert (lab.table.unanswered, chat.view["open"], len(lab.turns)) == (None, None, 1)
    assert chat.error["question"] == asking(3)


def test_undoing_what_was_asked_before_the_chat_begins_the_session_anew():
    lab = stub_lab()
    lab.ask(asking(3))
    chat = ChatLab(lab)
    chat.undo()
    turn = chat.ask(asking(4))
    assert chat.session.turns == (turn,)


@pytest.mark.parametrize("days", [1, 7, 30])
def test_days_pass_and_what_that_means_is_said(days: int):
    chat = ChatLab(stub_lab())
    chat.ask(asking(3))
    now = chat.lab.clock.now()
    press(chat, do="skip", days=days)
    assert chat.lab.clock.now() - now == timedelta(days=days)
    assert "lesson 05" in chat.view["try_this"]
    assert chat.view["try_this"].startswith(f"{days} day")


def test_the_clock_runs_on_from_the_end_of_an_old_table(saved):
    chat = ChatLab(table=saved)
    assert isinstance(chat.lab.clock, ShiftedClock)
    assert chat.view["clock"] == {"day": "Tue 9 May 2023", "moves": True}
    with pytest.raises(InputError, match="computer's clock"):
        ChatLab(stub_lab(clock=SystemClock())).skip(1)


def test_what_to_try_names_the_row_that_missed_the_cache():
    lab = stub_lab()
    chat = ChatLab(lab)
    assert chat.view["try_this"].startswith("Ask one of the suggestions")
    selection = chat.ask(asking(3)).prefetch
    loser = next(row for row in selection.rows if not row.chosen)
    assert f"Row {loser.index} missed the cache by " in chat.view["try_this"]
    assert lab.table[loser.index].user in chat.view["try_this"]


def test_a_judge_that_failed_is_told_of_in_the_conversation():
    lab = stub_lab(judge=StubJudge({asking(4): ModelError("the endpoint answers 500: try again later")}))
    chat = ChatLab(lab)
    chat.ask(asking(3))
    chat.ask(asking(4))
    (note,) = chat.view["turns"][-1]["notes"]
    assert note.startswith("Step 2 (Judge) failed: ModelError: the endpoint answers 500: try again later")


def test_every_turn_is_handed_to_the_player_below_the_chat():
    chat = ChatLab(stub_lab())
    turns = [chat.ask(asking(number)) for number in (3, 4)]
    bundle, _ = chat._repr_mimebundle_()
    whole = bundle["application/vnd.jupyter.widget-view+json"]["model_id"]
    press(chat, do="play", turn=0)
    assert isinstance(chat.player, Player)
    assert (chat.player.current, chat.playing) == (turns[0], 0)
    assert chat._whole.children == (chat, chat.player)
    assert chat._whole.model_id == whole
    press(chat, do="close")
    assert (chat._whole.children, chat.player, chat.playing) == ((chat,), None, -1)
    assert chat.play().current == turns[1]
    press(chat, do="play", turn=9)
    assert chat.playing == 1


def test_what_if_runs_the_session_of_the_chat_with_other_settings():
    lab = stub_lab()
    lab.ask(asking(1))
    chat = ChatLab(lab)
    for number in (3, 4):
        chat.ask(asking(number))
    shown = chat.what_if()
    assert shown.parameters.number == 2
    assert shown.turns[1].question == asking(4)
    assert chat._whole.children == (chat, shown)
    press(chat, do="what_if", turn=1)
    assert chat._whole.children[1].parameters.number == 1
    with pytest.raises(InputError, match="there is no turn 5"):
        chat.what_if(5)
    with pytest.raises(InputError, match="before the chat was opened"):
        chat.what_if(0)


# -- which memory, which model ---------------------------------------------------------------------------------------------


def test_without_a_lab_it_opens_travel_by_the_factory_that_is_given():
    asked = []

    def new_lab(topic: str, tell) -> ILSTMA:
        asked.append(topic)
        tell("Embedding", 1, 2)
        return stub_lab()

    chat = ChatLab(new_lab=new_lab)
    assert chat.view["setup"]["topic"] == "travel"
    assert chat.view["questions"] == list(suggestions("travel"))
    chat.ask(asking(3))
    old = chat.lab
    press(chat, do="open", topic="travel_zh", table="", model="", base_url="")
    assert asked == ["travel", "travel_zh"]
    assert chat.lab is not old
    assert (chat.view["turns"], chat.error, chat.task["state"]) == ([], {}, "done")
    assert "支架" in "".join(chat.view["questions"]), "a conversation in Chinese has suggestions in Chinese"
    assert {"name": "travel_zh", "label": topic_label("travel_zh")} in chat.view["setup"]["topics"]


def test_what_becomes_of_the_present_lab_is_said_before(saved):
    chat = ChatLab(stub_lab())
    assert "Nothing was said here yet" in chat.view["setup"]["fate"]
    chat.ask(asking(3))
    assert "this kernel’s memory alone" in chat.view["setup"]["fate"]
    assert "stays in mine.json" in ChatLab(table=saved).view["setup"]["fate"]


def test_a_file_is_opened_written_to_and_let_go_of(saved):
    chat = ChatLab(table=saved)
    row = chat.ask(asking(3)).row
    press(chat, do="open", topic="", table=str(saved), model="", base_url="")
    assert chat.task["state"] == "done", chat.task
    assert row in chat.lab.table
    assert chat.view["past"][-1]["row"] == row, "the screen begins where the memory ends"
    chat._take(stub_lab())
    assert row in MemoryTable.load(saved)


def test_what_cannot_be_opened_leaves_the_present_lab(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    chat = ChatLab(stub_lab())
    chat.ask(asking(3))
    lab = chat.lab
    for asked, said in (
        ({"topic": "cooking", "table": "", "model": "", "base_url": ""}, "no bundled topic"),
        ({"topic": "", "table": str(tmp_path / "none.json"), "model": "", "base_url": ""}, "none.json"),
        ({"topic": "", "table": "", "model": "m", "base_url": "https://api.example.com/v1"}, "OPENAI_API_KEY"),
        ({"topic": "", "table": "", "model": "m", "base_url": "ftp://x"}, "no endpoint"),
    ):
        press(chat, do="open", **asked)
        assert chat.task["state"] == "failed"
        assert said in chat.task["message"]
        assert chat.lab is lab
        assert len(chat.view["turns"]) == 1
    with pytest.raises(InputError, match="not both"):
        ChatLab(lab, table="mine.json")


def test_g4_a_model_at_an_endpoint_thinks_and_its_key_is_nowhere(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    chat = ChatLab(stub_lab())
    chat.ask(asking(3))
    table = chat.lab.table
    with LocalEndpoint(hits=lambda question: "again" in question, waits={}).running() as endpoint:
        press(chat, do="open", topic="", table="", model=MODEL, base_url=endpoint.base_url)
        assert chat.task["state"] == "done", chat.task
        assert chat.lab.table is table, "the memory stays, with what was said"
        assert chat.ask(asking(4)).answer == ANSWER
        assert chat.ask("again?").hit
    setup = chat.view["setup"]
    assert (setup["models"], setup["model"], setup["offline"]) == (MODEL, MODEL, False)
    assert "OPENAI_API_KEY alone, which is set" in setup["key"]
    everything = repr((chat.state(), chat.task, chat.get_state(), chat)) + chat.to_json() + chat.to_markdown() + chat.static()
    assert KEY not in everything
    press(chat, do="open", topic="", table="", model="", base_url="")
    assert chat.view["setup"]["offline"]


def test_the_screen_opens_on_ten_thousand_rows_and_follows(cheap, benchmark_seconds):
    start = datetime(2026, 2, 1, tzinfo=UTC)
    said = [Dialogue(f"boat {n}", "Noted.", start + timedelta(minutes=n)) for n in range(10_000)]
    table = MemoryTable.from_dialogues(said, embedder=cheap)
    lab = stub_lab(table)
    assert benchmark_seconds(lambda: ChatLab(lab)) < 2
    chat = ChatLab(lab)
    for number in range(25):
        chat.ask(f"boat {number}?")
    assert benchmark_seconds(chat.refresh) < 0.1
    assert benchmark_seconds(lambda: view_of(lab, questions=(), title="", guesses={})) < 0.1


@pytest.fixture
def benchmark_seconds() -> Callable[[Callable[[], object]], float]:
    """The best of three, so that a busy machine does not decide."""
    import time

    def measure(act: Callable[[], object]) -> float:
        spent = []
        for _ in range(3):
            begun = time.perf_counter()
            act()
            spent.append(time.perf_counter() - begun)
        return min(spent)

    return measure
