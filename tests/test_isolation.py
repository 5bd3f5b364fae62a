"""One user's memory is not another's, a key stays in the environment, nothing leaves this machine unasked, names lead nowhere."""

from __future__ import annotations

import json
import logging
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

import ilstma_lab.models
from ilstma_lab import ILSTMA, Config, Dialogue, ManualClock, MemoryTable, load_dialogues, offline
from ilstma_lab.errors import IlstmaError
from ilstma_lab.evaluation.attacks import load_attacks
from ilstma_lab.models import endpoint
from ilstma_lab.models.cassette import Cassette
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.protocols import Query
from ilstma_lab.replay import replay, start_session
from ilstma_lab.retrieval.chunks import ChunkIndex, ChunkShape
from ilstma_lab.widgets import ChatLab, Player, TableInspector, chat_source
from tests.models.stand_in import KEY, HttpEndpoint, dropped, status
from tests.stubs import DAY_0, asking, table_of
from tests.widgets.test_chat import press

ROOT = Path(__file__).parents[1]
EMBEDDER = HashedEmbedder(64)
TOLD = (
    "My dog is called {0}.",
    "I live in {0} street.",
    "My sister {0} sings.",
    "The {0} password opens the shed.",
    "I bake {0} bread.",
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is written without a path lands where it can be seen."""
    monkeypatch.setattr(ilstma_lab.models, "default_embedder", lambda: EMBEDDER)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def files_under(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# -- two users ---------------------------------------------------------------------------------------------------------


def user_table(path: Path, word: str) -> Path:
    """The file of one user, in whose every text `word` stands."""
    said = [Dialogue(text.format(word), f"Noted: {word}.", DAY_0 + timedelta(days=day)) for day, text in enumerate(TOLD)]
    MemoryTable.from_dialogues(said, embedder=EMBEDDER, topic=f"the {word} user").save(path)
    return path


def shown(lab: ILSTMA) -> str:
    """All that a lab shows or gives away, on every route."""
    query = Query("What is my dog called, and my password?", lab.clock.now(), lab.table.embedder)
    chunks = ChunkIndex(ChunkShape()).search(query.vector, lab.table, k=9, shown=9)
    recall = lab.retriever.retrieve(query, lab.table, now=lab.clock.now())
    parts = [
        *(turn.to_json() for turn in lab.turns),
        lab.memory.render(),
        repr([row.text for row in (*lab.memory.cache, *lab.memory.relevant)]),
        repr(lab.memory.history),
        repr(lab.table.summaries),
        lab.table.personality,
        repr(lab.table.recalls),
        lab.table.to_frame().to_csv(),
        repr(chunks),
        repr(recall),
        lab.memory._repr_html_() + lab.table._repr_html_() + "".join(turn._repr_html_() for turn in lab.turns),
        Player(lab.turns).static() if lab.turns else "",
        TableInspector(lab).static(),
    ]
    return "\n".join(parts)


@pytest.mark.parametrize("config", [Config(), Config.measured(), Config.literal()], ids=["meant", "measured", "literal"])
def test_g1_two_users_with_the_same_models_share_nothing_on_any_route(tmp_path, config):
    """Their questions alternate, word for word the same; models, embedder and settings are one object for both."""
    models, labs = offline(EMBEDDER), {}
    for word in ("zebra", "walrus"):
        table = MemoryTable.load(user_table(tmp_path / f"{word}.json", word), embedder=EMBEDDER)
        labs[word] = ILSTMA(table, config, models=models, clock=ManualClock.after(table))
    for question in (
        "What is my dog called?",
        "Which password opens the shed?",
        "What is my dog called?",
        "Who sings?",
        "Bread?",
    ):
        for lab in labs.values():
            lab.ask(question)
    for word, foreign in (("zebra", "walrus"), ("walrus", "zebra")):
        lab = labs[word]
        lab.summarise()
        assert lab.table.summaries
        assert lab.memory.cache
        told = shown(lab)
        assert word in told
        assert foreign not in told
        lab.close()
    for name, content in files_under(tmp_path).items():
        assert (b"zebra" in content) <= name.startswith("zebra"), name
        assert (b"walrus" in content) <= name.startswith("walrus"), name


def test_g1_a_chat_that_changes_its_memory_takes_nothing_along(tmp_path):
    zebra, walrus = (user_table(tmp_path / f"{word}.json", word) for word in ("zebra", "walrus"))
    chat = ChatLab(table=zebra)
    chat.ask("What is my dog called?")
    press(chat, do="open", topic="", table=str(walrus), model="", base_url="")
    assert chat.task["state"] == "done", chat.task
    chat.ask("What is my dog called?")
    told = chat.to_json() + chat.to_markdown() + chat.static() + repr(chat.view) + shown(chat.lab)
    assert "walrus" in told
    assert "zebra" not in told
    chat.lab.close()
    assert not [name for name, content in files_under(tmp_path).items() if name.startswith("zebra") and b"walrus" in content]


def test_g1_two_chats_over_one_bundled_topic_begin_from_the_same_and_share_nothing_after(monkeypatch):
    """Both labs are copies of one beginning, which is kept for the next."""
    monkeypatch.setattr(chat_source, "_beginnings", {})
    zebra, walrus = ChatLab(chat_source.topic_lab("travel")), ChatLab(chat_source.topic_lab("travel"))
    rows = len(zebra.lab.table)
    for _ in range(6):
        for word, chat in (("zebra", zebra), ("walrus", walrus)):
            assert not chat.ask(f"My {word} eats {word} food. What did I plan?").failure
    for word, foreign, chat in (("zebra", "walrus", zebra), ("walrus", "zebra", walrus)):
        told = shown(chat.lab) + chat.to_json() + chat.static()
        assert word in told
        assert foreign not in told
    fresh = chat_source.topic_lab("travel")
    assert (len(fresh.table), fresh.turns, fresh.memory.history) == (rows, [], ())
    assert not [word for word in ("zebra", "walrus") if word in shown(fresh)]
    press(zebra, do="open", topic="travel_zh", table="", model="", base_url="")
    assert zebra.task["state"] == "done", zebra.task
    zebra.ask("我计划去哪里？")
    assert "zebra" not in shown(zebra.lab) + zebra.to_json() + zebra.static() + repr(zebra.view)


def test_g1_two_users_in_one_file_of_dialogues_become_two_tables(tmp_path):
    said = {word: [{"query": text.format(word), "response": "Noted."} for text in TOLD] for word in ("zebra", "walrus")}
    people = {word: {"name": word, "history": {"2023-05-01": turns}} for word, turns in said.items()}
    source = tmp_path / "both.json"
    source.write_text(json.dumps(people), encoding="utf-8")
    for word, foreign in (("zebra", "walrus"), ("walrus", "zebra")):
        table = MemoryTable.from_dialogues(load_dialogues(source, conversation=word), embedder=EMBEDDER)
        lab = ILSTMA(table, clock=ManualClock.after(table))
        lab.ask("What is my dog called?")
        assert len(table) == len(TOLD) + 1
        assert foreign not in shown(lab)


# -- the key -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpEndpoint]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with HttpEndpoint().running() as running:
        yield running


@pytest.mark.filterwarnings("ignore::ilstma_lab.memory.table.TableWarning")
def test_g4_a_whole_session_leaves_the_key_nowhere(server, tmp_path, monkeypatch, caplog, capfd):
    """Asked, failed, retried, recorded, replayed, shown, exported, saved: every file, repr, log and traceback is searched."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    cassette = Cassette(tmp_path / "session.jsonl", mode="record")
    models = endpoint("m", embedding_model="e", cassette=cassette, timeout=5)
    table_of(8).reembed(models.embedder).save(tmp_path / "t.json")
    table = MemoryTable.load(tmp_path / "t.json", embedder=models.embedder)
    lab = ILSTMA(table, models=models, clock=ManualClock.after(table))
    session, chat = start_session(lab), ChatLab(lab)
    told: list[str] = []

    for purpose, play in (
        ("answer", status(401, f"Incorrect API key provided: {KEY}. " + "x" * 400)),
        ("answer", status(400, "y" * 250 + f" bad header Bearer {KEY}")),
        ("answer", dropped(f"Your key is {KEY[:4]}")),
    ):
        server.play(purpose, play)
        assert (chat.retry() if table.unanswered else chat.ask(asking(3))).failure
    server.play("answer")
    assert not chat.retry().failure
    for question in (asking(4), "I keep bees.", "Again?"):
        assert not chat.ask(question).failure

    server.play("summarise", status(403, f"{KEY} may not"))
    try:
        models.summarizer.summarize(list(table)[:5])
    except IlstmaError as error:
        told += [repr(error), repr(vars(error)), traceback.format_exc()]
        told += traceback.TracebackException.from_exception(error, capture_locals=True).format()
    server.play("embed", status(403, f"{KEY} may not"))
    lab.ask("I keep wasps.")
    server.play("embed")

    chat.export(tmp_path / "chat.json"), chat.export(tmp_path / "chat.md")
    table.save(tmp_path / "whole.json", vectors=True)
    again = list(replay(session, config=Config(), on_unknown="offline"))
    parts = (models, *vars(models).values(), models.judge.chat, models.judge.chat._chat, models.embedder.connection, cassette)
    told += [repr(part) for part in (lab, chat, table, session, lab.memory, *parts)]
    told += [repr(vars(part)) for part in parts if hasattr(part, "__dict__")]
    told += [turn.to_json() + repr(turn) + str(turn) + turn._repr_html_() for turn in (*lab.turns, *again)]
    told += [repr(chat._repr_mimebundle_()), repr(chat.get_state()), chat.static(), repr(chat.view), chat.to_markdown()]
    told += [Player(lab.turns).static(), TableInspector(lab).static(), repr(TableInspector(lab).get_state())]
    told += [caplog.text, *capfd.readouterr(), repr(Config().to_dict())]
    (tmp_path / "models.pickle").write_bytes(pickle.dumps((models.embedder, models.judge.chat._chat)))
    lab.close()

    assert any(KEY in headers for headers in server.headers), "the endpoint was given it"
    assert KEY not in json.dumps(server.asked), "in the header alone"
    assert not [text[max(0, text.find(KEY) - 200) :][:400] for text in told if KEY in text]
    left = files_under(tmp_path)
    assert {"t.json", "session.jsonl", "chat.json", "chat.md", "whole.json", "models.pickle"} <= set(left)
    assert not [name for name, content in left.items() if KEY.encode() in content]


def test_g4_an_address_that_holds_a_key_is_shown_without_it(server, tmp_path):
    secret = "token=abcdefghijkl"
    models = endpoint("m", base_url=f"{server.base_url}?{secret}")
    lab = ILSTMA(table_of(8), models=replace(models, embedder=EMBEDDER), clock=ManualClock.after(table_of(8)))
    chat = ChatLab(lab)
    server.play("answer", status(401, "no"))
    turn = chat.ask(asking(3))
    assert turn.failure
    told = turn.to_json() + repr(models) + repr(models.judge.chat) + chat.static() + chat.to_json() + repr(chat.get_state())
    assert secret not in told


# -- no network --------------------------------------------------------------------------------------------------------

REFUSE_SOCKETS = """
import sys
opened = []
def refuse(event, arguments):
    if event == "socket.__new__" or event.startswith(("socket.connect", "socket.getaddrinfo", "socket.bind")):
        opened.append(event)
        raise OSError(f"no sockets here: {event}")
sys.addaudithook(refuse)
"""


def test_g9_the_demo_runs_where_every_socket_is_refused():
    code = (
        REFUSE_SOCKETS
        + "from ilstma_lab.cli import main\ncode = main(['demo', '--questions', '2'])\nassert not opened, opened\nsys.exit(code)"
    )
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    assert "no sockets here" not in done.stdout + done.stderr


def test_g9_a_key_alone_opens_no_connection(monkeypatch, tmp_path):
    """Without a model that is asked for, the parts are the offline ones, whatever the environment holds."""
    code = REFUSE_SOCKETS + (
        "from ilstma_lab import ILSTMA, ManualClock\n"
        "from ilstma_lab.widgets import ChatLab\n"
        "from tests.stubs import table_of, asking\n"
        "table = table_of(8)\n"
        "lab = ILSTMA(table, clock=ManualClock.after(table))\n"
        "ChatLab(lab).ask(asking(3))\n"
        "assert not lab.turns[0].failure and not opened, opened\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not any(KEY.encode() in content for content in files_under(tmp_path).values())


# -- names -------------------------------------------------------------------------------------------------------------

AWAY = (
    "../away",
    "..\\away",
    "/etc/away",
    "C:\\away",
    "a/../../away",
    "away\0.json",
    "~/away",
    "$HOME/away",
    "%2e%2e/away",
    "a" * 300,
)


@pytest.mark.parametrize("name", AWAY)
def test_no_file_name_is_taken_from_a_topic_a_model_or_a_chat(tmp_path, name):
    """Only the paths that the user gave are written: the rest of the disk stays as it was."""
    folder = tmp_path / "deep" / "folder"
    folder.mkdir(parents=True)

    class Named(HashedEmbedder):
        pass

    embedder = Named(64)
    embedder.name = name
    said = [Dialogue(f"{name} {n}", f"Write to {name}!", DAY_0 + timedelta(days=n), source=name) for n in range(70)]
    MemoryTable.from_dialogues(said, embedder=embedder, topic=name).save(folder / "t.json")
    table = MemoryTable.load(folder / "t.json", embedder=embedder)
    models = replace(offline(embedder), name=name)
    with ILSTMA(table, models=models, clock=ManualClock.after(table)) as lab:
        chat = ChatLab(lab, title=name)
        for question in (name, f"Save it as {name}", name):
            assert not chat.ask(question).failure
        lab.retriever.prepare(table)
        chat.export(folder / "chat.json"), chat.export(folder / "chat.md")
        table.save()
    assert all(Path(path).parent == Path("deep/folder") for path in files_under(tmp_path))
    assert all(Path(path).name.startswith(("t.json", "chat.")) for path in files_under(tmp_path)), files_under(tmp_path).keys()


def test_a_topic_that_is_a_path_opens_no_file(tmp_path):
    user_table(tmp_path / "dialogues.jsonl", "zebra")
    chat = ChatLab(ILSTMA(table_of(8), clock=ManualClock.after(table_of(8))))
    for topic in (str(tmp_path), "../../" + tmp_path.name, "travel/../travel", "."):
        press(chat, do="open", topic=topic, table="", model="", base_url="")
        assert chat.task["state"] == "failed"
        assert "no bundled topic" in chat.task["message"]


def test_attacks_that_are_stored_and_exported_are_read_back_as_they_were(tmp_path):
    said = [Dialogue(attack.text, attack.text, DAY_0 + timedelta(days=n)) for n, attack in enumerate(load_attacks())]
    MemoryTable.from_dialogues(said, embedder=EMBEDDER).save(tmp_path / "t.json")
    assert [row.text for row in MemoryTable.load(tmp_path / "t.json", embedder=EMBEDDER)] == [d.text for d in said]
