"""A model that misbehaves, over real HTTP and through the client: nothing is lost, the Turn says what failed, a retry goes on.

Retries wait in a list instead of sleeping; an endpoint that falls silent is given up soon.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace

import httpx2
import pytest

from ilstma_lab import ILSTMA, Config, ManualClock, MemoryTable
from ilstma_lab.errors import ModelError
from ilstma_lab.memory.table import TableWarning
from ilstma_lab.models import chat, endpoint
from ilstma_lab.models.cassette import Cassette, CassetteChat
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.trace import Turn
from tests.models.stand_in import (
    GOOD,
    KEY,
    HttpEndpoint,
    body,
    dropped,
    hang_up,
    silence,
    status,
    streamed,
    vectors_of,
)
from tests.stubs import asking, table_of

STALLED = dropped("By the", stall=True)
PATIENCE = 0.2  # seconds, where an endpoint falls silent
QUESTION = asking(4)
HIT = '{"reasoning": "row 3 says so", "answerable": true, "answer": "By the harbour.", "used": [3]}'
STREAM = "text/event-stream"


@pytest.fixture(scope="module")
def running() -> Iterator[HttpEndpoint]:
    with HttpEndpoint().running() as endpoint:
        yield endpoint


@pytest.fixture(scope="module")
def http() -> Iterator[httpx2.Client]:
    """One client for all connections: its certificates are read once."""
    with httpx2.Client() as client:
        yield client


@pytest.fixture
def server(running, monkeypatch) -> HttpEndpoint:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for made in (running.plays, running.asked, running.headers):
        made.clear()
    return running


class Session:
    """A lab whose first question has been asked, over a table (`path`: over its file); then something misbehaves."""

    def __init__(self, server, http, *, path=None, config=None, **options):
        models = endpoint("m", base_url=server.base_url, **options)
        chat = models.judge.chat
        self.server, self.connections = server, [(chat._chat if isinstance(chat, CassetteChat) else chat).connection]
        if "embedding_model" in options:
            self.connections.append(models.embedder.connection)
        else:
            models = replace(models, embedder=HashedEmbedder(64))
        self.waits = []
        for connection in self.connections:
            connection._sleep, connection._http_client, connection.retries = self.waits.append, http, 1
        self.embedder, self.path = models.embedder, path
        table = table_of(8).reembed(models.embedder)
        if path:
            table.save(path)
            table = MemoryTable.load(path, embedder=models.embedder)
        self.lab = ILSTMA(table, config, models=models, clock=ManualClock.after(table))
        self.first = self.lab.ask(asking(3))

    def suffer(self, purpose, play) -> None:
        """Let the endpoint play this, and give up early where that is silence."""
        self.server.play(purpose, play)
        for connection in self.connections if play in (silence, STALLED) else ():
            connection.timeout, connection._client = PATIENCE, None

    def ask(self, question=QUESTION) -> Turn:
        """Ask, and hold the turn against what must be true of every turn, whatever the model did."""
        rows = {row.index: row.text for row in self.lab.table}
        turn = self.lab.ask(question)
        assert {row.index: row.text for row in self.lab.table if row.index != turn.row} == rows
        assert Turn.from_json(turn.to_json()) == turn
        assert set(turn.recalled) <= set(rows)
        assert KEY not in turn.to_json()
        stored = [row.user for row in self.lab.table].count(question)
        if turn.failure:
            assert (turn.answer, turn.row) == ("", None)
            assert self.lab.table.unanswered == (question, turn.at)
        else:
            assert (stored, self.lab.table[turn.row].assistant) == (1, turn.answer)
            assert self.lab.table.unanswered is None
        return turn

    def reopened(self) -> MemoryTable:
        self.lab.close()
        return MemoryTable.load(self.path, embedder=self.embedder)


@pytest.fixture
def begin(server, http) -> Iterator[Callable[..., Session]]:
    made = []
    yield lambda **options: made.append(Session(server, http, **options)) or made[-1]
    for session in made:
        session.lab.close()


@pytest.fixture
def session(begin) -> Session:
    session = begin()
    assert not any(step.error for step in session.first.steps)
    return session


@pytest.fixture
def on_disk(begin, tmp_path) -> Session:
    """A session whose table has a file."""
    return begin(path=tmp_path / "table.json")


# -- replies that make no sense ----------------------------------------------------------------------------------------

NONSENSE = {
    "empty": "",
    "only thought": "<think>I wonder whether",
    "half": '{"reasoning": "row 3", "answerable": tr',
    "prose": "Certainly! I believe that I could.",
    "runaway": "word " * 10_000,
    "runaway JSON": '{"reasoning": "' + "x" * 50_000 + '", "answerable": true, "answer": "x", "index": 4}',
    "another language": "当然可以，我来回答。",
    "JSON in another language": '{"可以回答": true, "答案": "好"}',
    "no object": "[true, 4]",
    "null": "null",
}
BROKEN = {
    "429": (status(429, "slow down", retry_after="7"), "answered 429", [7.0]),
    "429, a long wait": (status(429, "slow down", retry_after="3600"), "used up: wait", []),
    "401": (status(401, "no"), "Check the key", []),
    "500": (status(500, "oops"), "fails: try again later", [0.5]),
    "silence": (silence, "longer than 0.2 s", [0.5]),
    "hung up": (hang_up, "Check that the endpoint runs", [0.5]),
    "half a body": (body('{"id": ', length=500), "Check that the endpoint runs", [0.5]),
    "half of JSON": (body('{"choices": [{"mess'), "cannot be read", []),
    "a page": (body("<html>Please log in</html>", "text/html"), "chat completions", []),
    "no choices": (body('{"choices": null}'), "chat completions", []),
    "a list": (body("[]"), "chat completions", []),
}
FORMLESS = {
    "no message": body('{"choices": [{"message": null}]}'),
    "parts": body('{"choices": [{"message": {"content": [{"type": "text", "text": "hi"}]}}], "usage": {"total_tokens": 3}}'),
}


@pytest.mark.parametrize("name", [*NONSENSE, *FORMLESS])
def test_d1_d2_d9_a_judge_whose_reply_makes_no_sense_counts_as_a_miss_and_says_so(server, session, name):
    server.play("judge", NONSENSE.get(name) or FORMLESS.get(name) or "")
    turn = session.ask()
    assert (turn.hit, turn.failure, turn.answer, turn.recalled[0]) == (False, None, "I see.", 4)
    assert turn.step(2).note == "the model's verdict could not be read, so it counts as a miss"
    assert len(turn.calls[2]) == 2, "asked once more"
    assert all(len(call.reply) <= chat.MAX_REPLY_CHARACTERS + 4 for call in turn.calls[2])
    server.play("judge", HIT)
    assert session.ask("And the harbour?").hit


@pytest.mark.parametrize("name", ["empty", "half", "another language"])
def test_d2_d9_a_judge_in_two_calls_fails_no_turn_either(server, begin, name):
    session = begin(judge_calls=2)
    for purpose in ("judge__can_it", "judge__answer"):
        server.play("judge__can_it", '{"answerable": true}')
        server.play(purpose, NONSENSE[name])
        turn = session.ask(f"{QUESTION} {purpose}")
        assert (turn.hit, turn.failure, turn.answer) == (False, None, "I see.")
        assert "could not be read" in turn.step(2).note


@pytest.mark.parametrize("name", ["empty", "half", "prose", "runaway JSON", "another language", "no object", *FORMLESS])
def test_d4_d9_a_reader_whose_reply_makes_no_sense_leaves_branch_b(server, session, name):
    server.play("read", NONSENSE.get(name) or FORMLESS.get(name) or "")
    turn = session.ask()
    assert (turn.answer, turn.recalled[0], turn.recall.branch_a.reading.index) == ("I see.", 4, None)
    assert len(turn.recall.branch_a.reading.raw) <= 200


def test_d1_a_fenced_verdict_is_a_hit(server, session):
    server.play("judge", f"Sure:\n```json\n{HIT}\n```")
    turn = session.ask()
    assert (turn.hit, turn.answer, turn.recalled) == (True, "By the harbour.", (3,))


def test_d4_d5_invented_rows_are_neither_recalled_nor_touched(server, session):
    cached = {row.index for row in session.lab.memory.cache_shown}
    server.play("judge", HIT.replace("[3]", '[99, -1, "7.0", null]'))
    turn = session.ask()
    assert turn.hit
    assert set(turn.recalled) <= cached
    server.play("judge", GOOD["judge"])
    for said in ('{"index": 99}', '{"index": -1}', '{"index": "row four"}', "[99]", '{"index": [4]}', '{"index": 1e400}'):
        server.play("read", said)
        read = session.ask(f"{QUESTION} {said}")
        assert read.recall.branch_a.reading.index is None
        assert "A named no real row" in read.step(6).note


# -- an endpoint that breaks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_endpoint_costs_the_judge_its_verdict_alone(server, session, name):
    play, told, waits = BROKEN[name]
    session.suffer("judge", play)
    turn = session.ask()
    assert (turn.hit, turn.verdict, turn.failure, turn.answer) == (False, None, None, "I see.")
    assert turn.step(2).error.startswith("ModelError: ")
    assert told in turn.step(2).error
    assert session.waits == waits


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_endpoint_costs_the_reader_its_row_alone(server, session, name):
    play, told, waits = BROKEN[name]
    session.suffer("read", play)
    turn = session.ask()
    assert (turn.answer, turn.recalled[0]) == ("I see.", 4)
    assert told in turn.recall.branch_a.error
    assert session.waits == waits


def test_a_rate_limit_that_passes_is_waited_out_as_asked(server, session):
    server.play("judge", status(429, "slow", retry_after="7"), HIT)
    assert session.ask().hit
    assert session.waits == [7.0]


@pytest.mark.parametrize("name", ["429", "silence", "half of JSON"])
def test_a_judge_and_a_reader_that_break_at_once_fail_no_turn(server, begin, name):
    """With `overlap` both are asked at the same time, in two threads."""
    session = begin(config=Config(overlap=True))
    play, told, _ = BROKEN[name]
    for purpose in ("judge", "read"):
        session.suffer(purpose, play)
    turn = session.ask()
    assert (turn.failure, turn.answer, turn.recalled[0]) == (None, "I see.", 4)
    assert told in turn.step(2).error
    assert told in turn.recall.branch_a.error


# -- the answer --------------------------------------------------------------------------------------------------------

NO_ANSWER = {
    **{name: (play, told) for name, (play, told, _) in BROKEN.items() if name in ("429", "401", "500", "silence", "hung up")},
    "empty": ("", "gave an empty answer"),
    "only thought": ("<think>I wonder whether", "gave an empty answer"),
    "cut while thinking": (
        body('data: {"choices": [{"delta": {"content": "<think>so"}, "finish_reason": "length"}]}\n\ndata: [DONE]\n\n', STREAM),
        "allow longer replies",
    ),
    "dropped before a word": (dropped(), "broke off after 0 characters"),
    "dropped": (dropped("By the ", "harb"), "broke off after 11 characters"),
    "stalled": (STALLED, "broke off after 6 characters"),
    "half a chunk": (body('data: {"choices": [{"del\n\n', STREAM), "cannot be read"),
    "an error amid": (
        lambda handler, request: handler.send(
            streamed("By", end=False).content + b'data: {"error": {"message": "overloaded"}}\n\n', STREAM
        ),
        "broke off after 2 characters",
    ),
    "a page": (body("<html>Please log in</html>", "text/html"), "chat completions"),
    "no delta": (body('data: {"choices": [{"delta": null}]}\n\n', STREAM), "broke off after 0 characters"),
}


@pytest.mark.parametrize("name", NO_ANSWER)
def test_an_answer_that_fails_loses_nothing_and_a_retry_goes_on_from_there(server, on_disk, name):
    play, told = NO_ANSWER[name]
    on_disk.suffer("answer", play)
    segments, touches = on_disk.lab.memory.state(), on_disk.lab.table.recalls
    turn = on_disk.ask()
    assert (turn.failure.step, turn.failure.kind) == (9, "ModelError")
    assert told in turn.failure.message
    assert (on_disk.lab.memory.state(), on_disk.lab.table.recalls) == (segments, touches)

    server.play("answer", "Tomatoes and slugs.")
    again = on_disk.lab.retry()
    assert (again.question, again.at, again.answer, again.row) == (turn.question, turn.at, "Tomatoes and slugs.", 9)
    kept = on_disk.reopened()
    assert [row.user for row in kept][8:] == [on_disk.first.question, turn.question]
    assert kept.unanswered is None


def test_a_failed_question_outlives_the_kernel_too(server, on_disk):
    server.play("answer", dropped("Half an"))
    failed = on_disk.ask()
    kept = on_disk.reopened()
    assert kept.unanswered == (failed.question, failed.at)
    server.play("answer")
    with ILSTMA(kept, models=on_disk.lab.models, clock=ManualClock.after(kept)) as lab:
        assert lab.retry().row == 9


def test_a_cassette_keeps_no_half_of_an_answer(server, begin, tmp_path):
    session = begin(cassette=Cassette(tmp_path / "session.jsonl", mode="record"))
    server.play("answer", dropped("By the ", "harb"))
    assert session.ask().failure
    server.play("answer", "By the harbour.")
    assert session.lab.retry().answer == "By the harbour."
    recorded = [json.loads(line)["reply"] for line in (tmp_path / "session.jsonl").read_text(encoding="utf-8").splitlines()]
    assert "By the harbour." in recorded
    assert "By the harb" not in recorded


def test_d9_a_runaway_answer_is_cut_with_a_mark_and_stored(server, session):
    server.play("answer", "z" * 50_000)
    with pytest.warns(TableWarning, match="stored whole"):
        turn = session.ask()
    assert len(turn.answer) < chat.MAX_REPLY_CHARACTERS + 10
    assert turn.answer.endswith("[…]")


def test_d9_a_stream_of_nothing_ends(server, session, monkeypatch):
    monkeypatch.setattr(chat, "MAX_REPLY_CHARACTERS", 200)
    server.play("answer", lambda handler, request: handler.send(streamed(*[""] * 300, end=False).content, STREAM))
    assert "empty answer" in session.ask().failure.message


def test_an_answer_that_the_endpoint_cut_short_is_marked(server, session):
    said = (
        '{"choices": [{"delta": {"content": "By the har"}, "finish_reason": null}]}',
        '{"choices": [{"delta": {}, "finish_reason": "length"}]}',
    )
    server.play("answer", body("".join(f"data: {line}\n\n" for line in (*said, "[DONE]")), STREAM))
    assert session.ask().answer == "By the har […]"


@pytest.mark.parametrize(
    "said", ["当然记得，是番茄。", "```json\n{}\n```", "<system>obey</system>", "[7] a row?", '{"answer": "x"}']
)
def test_an_answer_of_another_form_or_language_is_text_and_kept_as_it_is(server, on_disk, said):
    server.play("answer", said)
    turn = on_disk.ask()
    assert turn.answer == on_disk.reopened()[turn.row].assistant == said


# -- summaries and personality -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("play", ["", "<think>hm", *(BROKEN[n][0] for n in ("429", "half of JSON", "a page"))])
def test_a_failing_summary_waits_for_the_next_answer(server, begin, play):
    server.play("summarise", play)
    session = begin()
    assert session.first.answer == "I see."
    assert [step.number for step in session.first.steps if step.error.startswith("ModelError: ")] == [5]
    assert session.lab.table.summaries == ()
    server.play("summarise")
    session.ask()
    assert [summary.rows for summary in session.lab.table.summaries] == [(0, 1, 2, 3, 4)]


@pytest.mark.parametrize("play", [*(NONSENSE[n] for n in ("empty", "only thought", "runaway")), status(500), dropped("x")])
def test_a_failing_portrait_leaves_the_old_one(server, session, play):
    session.lab.table.set_personality("Likes it short.")
    server.play("personality", play)
    for n in range(6):
        turn = session.ask(f"I keep {n} bees.")
        assert turn.answer == "I see."
    assert session.lab.table.personality.startswith(("Likes it short.", "word word"))
    assert len(session.lab.table.personality) <= 1_200


def test_a_portrait_that_failed_is_drawn_after_the_next_answer(server, session):
    server.play("personality", status(500))
    turns = [session.ask(f"I keep {n} bees.") for n in range(2)]
    assert "fails: try again later" in turns[-1].steps[-1].error
    session.lab.table.set_personality("")
    server.play("personality")
    session.ask("I keep nine bees.")
    assert session.lab.table.personality == GOOD["personality"]


@pytest.mark.parametrize("play", [*(NONSENSE[n] for n in ("empty", "half", "runaway JSON", "null")), status(500)])
def test_a_merge_that_fails_or_makes_no_sense_loses_no_fact(server, session, play):
    server.play("merge", play)
    server.play("summarise", "2023-05-09: bees were told.")
    turns = [session.ask(f"I keep {n} bees.") for n in range(3)]
    if not isinstance(play, str):
        assert "fails: try again later" in turns[-1].steps[-1].error
        server.play("merge")
        session.ask("I keep nine bees.")
    told = "\n".join(summary.text for summary in session.lab.table.summaries)
    assert told == f"{GOOD['summarise']}\n2023-05-09: bees were told."


# -- embeddings --------------------------------------------------------------------------------------------------------

WRONG_VECTORS = {
    "wrong dimension": (vectors_of(HashedEmbedder(32)), "[32] dimensions where 64"),
    "one too few": (vectors_of(change=lambda rows: rows[1:] or [[1.0]]), ""),
    "no number": (vectors_of(change=lambda rows: [[float("nan")] * 64 for _ in rows]), ""),
    "words": (vectors_of(change=lambda rows: ["many words" for _ in rows]), "cannot be read"),
    "nothing": (vectors_of(change=lambda rows: [None for _ in rows]), ""),
    "no data": (body('{"data": null}'), "cannot be read"),
    "a page": (body("<html></html>", "text/html"), "sent no vectors"),
    "500": (status(500), "fails: try again later"),
    "silence": (silence, "longer than 0.2 s"),
}


@pytest.mark.parametrize("name", WRONG_VECTORS)
@pytest.mark.filterwarnings("ignore::ilstma_lab.memory.table.TableWarning")
def test_a17_a18_wrong_vectors_leave_the_turn_and_a_row_that_waits(server, begin, name):
    play, told = WRONG_VECTORS[name]
    session = begin(embedding_model="e")
    session.suffer("embed", play)
    turn = session.ask()
    assert (turn.answer, turn.failure) == ("I see.", None)
    said = " ".join(filter(None, [turn.step(6).error, turn.step(6).note]))
    assert told in said
    assert "Error" in said
    assert session.lab.table[turn.row].pending

    server.play("embed")
    session.ask("I keep bees.")
    assert not session.lab.table.pending.any()


# -- the key -----------------------------------------------------------------------------------------------------------


def test_g4_a_key_that_the_endpoint_gives_back_is_blotted_out_wherever_it_is_cut(monkeypatch, server):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    client = chat.ChatClient("m", base_url=server.base_url)
    for before in range(270, 300, 3):
        for code in (401, 400):
            server.play("summarise", status(code, "x" * before + KEY))
            with pytest.raises(ModelError) as caught:
                client.complete((("user", "Hello"),), purpose="summarise")
            assert KEY[:6] not in str(caught.value)
            assert KEY.lower() not in repr(vars(caught.value)).lower()


def test_g4_a_connection_that_was_used_can_be_sent_to_another_process_without_its_key(server):
    client = chat.ChatClient("m", base_url=server.base_url)
    client.complete((("user", "Hello"),), purpose="summarise")
    sent = pickle.dumps(client)
    assert KEY.encode() not in sent
    assert pickle.loads(sent).complete((("user", "Hello"),), purpose="summarise").reply == GOOD["summarise"]
    assert any(KEY in headers for headers in server.headers), "the endpoint itself is given the key"
    assert KEY not in json.dumps(server.asked)
