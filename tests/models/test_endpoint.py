from __future__ import annotations

import pickle

import httpx2
import numpy as np
import pytest

from ilstma_lab.errors import EmbeddingMismatchError, ModelError
from ilstma_lab.models import default_embedder, endpoint
from ilstma_lab.models.chat import MAX_REPLY_CHARACTERS, ChatClient
from ilstma_lab.models.endpoint_embedder import EndpointEmbedder
from tests.models.stand_in import KEY, Endpoint, refused, said, streamed

ASK = (("system", "Be brief."), ("user", "Hello"))
SCHEMA = {"type": "object", "properties": {}}


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def test_a_reply_comes_with_the_endpoint_s_own_count():
    served = Endpoint(said("Hi."))
    call = ChatClient("m", **served.options()).complete(ASK, purpose="answer")
    assert (call.reply, call.prompt_tokens, call.reply_tokens, call.cached_tokens) == ("Hi.", 11, 3, 8)
    assert (call.sent, call.estimated) == (True, False)
    assert served.requests[0]["temperature"] == 0
    assert served.requests[0]["messages"] == [{"role": role, "content": content} for role, content in ASK]


def test_without_usage_tokens_are_estimated():
    call = ChatClient("m", **Endpoint(said("Hi.", usage=False)).options()).complete(ASK, purpose="answer")
    assert call.estimated
    assert (call.prompt_tokens, call.reply_tokens) == (4, 2)


def test_passing_failures_are_tried_again_after_growing_waits():
    served = Endpoint(refused(503, "busy"), refused(500, "oops"), httpx2.ConnectError("down"), said("Hi."))
    assert ChatClient("m", **served.options()).complete(ASK, purpose="answer").reply == "Hi."
    assert served.waits == [0.5, 1.0, 2.0]


def test_retry_after_is_honoured_as_seconds_and_as_a_date():
    date, later = "Wed, 10 May 2023 12:00:00 GMT", "Wed, 10 May 2023 12:00:09 GMT"
    served = Endpoint(refused(429, "slow", retry_after="7"), refused(429, "slow", retry_after=later, date=date), said("Hi."))
    ChatClient("m", **served.options()).complete(ASK, purpose="answer")
    assert served.waits == [7.0, 9.0]


@pytest.mark.parametrize(
    ("answer", "tries", "message"),
    [
        (refused(401, f"bad key {KEY}"), 1, "Check the key in OPENAI_API_KEY"),
        (refused(404, "no such model"), 1, "Check the model's name and the base URL"),
        (refused(429, "slow", retry_after="3600"), 1, "The limit or the quota is used up"),
        (refused(503, "busy"), 4, "The endpoint itself fails"),
        (httpx2.ReadTimeout("slow"), 4, "longer timeout"),
        (httpx2.ConnectError("down"), 4, "Check that the endpoint runs"),
        (httpx2.Response(200, json={"error": "?"}), 1, "chat completions"),
    ],
)
def test_g4_each_failure_names_the_endpoint_says_what_to_do_and_hides_the_key(answer, tries, message):
    served = Endpoint(answer)
    with pytest.raises(ModelError, match=message) as caught:
        ChatClient("m", **served.options()).complete(ASK, purpose="answer")
    assert "http://127.0.0.1:9/v1" in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(served.requests) == tries


def test_g4_no_key_in_reprs_or_fields():
    client = ChatClient("m", **Endpoint(said("Hi.")).options())
    assert KEY not in repr(client) + repr(vars(client)) + repr(vars(client.connection))
    embedder = EndpointEmbedder("e", base_url="http://127.0.0.1:9/v1")
    assert KEY.encode() not in pickle.dumps(embedder)


def test_g4_a_key_that_a_reply_echoes_is_blotted_out():
    echo = f"Your key is {KEY}, and {KEY[:9]} no more."
    call = ChatClient("m", **Endpoint(said(echo)).options()).complete(ASK, purpose="answer")
    assert call.reply == f"Your key is [key], and {KEY[:9]} no more."


@pytest.mark.parametrize("size", [1, 2, 7, 20, 100])
@pytest.mark.parametrize("echo", [f"It is {KEY}.", f"{KEY[:5]}{KEY}{KEY[:5]}", f"{KEY}{KEY}", KEY[:-1], "s, sk, sk-"])
def test_g4_a_key_in_the_pieces_of_a_stream_is_blotted_out(echo, size):
    pieces = [echo[at : at + size] for at in range(0, len(echo), size)]
    stream = ChatClient("m", **Endpoint(streamed(*pieces)).options()).stream(ASK, purpose="answer")
    assert "".join(stream) == stream.call.reply == echo.replace(KEY, "[key]")


def test_a_word_in_place_of_a_key_stays_in_replies(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "ollama")
    stream = ChatClient("m", **Endpoint(streamed("I run in o", "llama.")).options()).stream(ASK, purpose="answer")
    assert list(stream) == ["I run in o", "llama."]


def test_a_missing_key_or_address_says_what_to_set(monkeypatch):
    with pytest.raises(ModelError, match="OPENAI_BASE_URL"):
        endpoint("m")
    with pytest.raises(ModelError, match="holds a name or password") as caught:
        endpoint("m", base_url="https://me:secret@example.com/v1")
    assert "secret" not in str(caught.value)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        endpoint("m", base_url="https://example.com/v1")
    assert endpoint("m", base_url="http://localhost:8080/v1").embedder is default_embedder()


@pytest.mark.parametrize("host", ["[::1", "127.0.0.1:abc", "127.0.0.1:99999", "127.0.0.1:0", "my host", "[x]:80"])
def test_an_address_that_cannot_be_read_says_what_to_write(host):
    for make in (ChatClient, EndpointEmbedder):
        with pytest.raises(ModelError, match=r"cannot be read: write scheme, host, port and path"):
            make("m", base_url=f"http://{host}/v1")
    assert ChatClient("m", base_url="http://[::1]:8080/v1").connection.host == "[::1]:8080"


def test_g4_a_key_in_an_address_is_not_shown():
    assert KEY not in repr(ChatClient("m", base_url=f"http://127.0.0.1/{KEY}/v1"))


def test_refused_structured_output_falls_back_to_plain_text_and_is_remembered():
    served = Endpoint(refused(400, "response_format is not supported"), said("{}"))
    client = ChatClient("m", **served.options())
    client.complete(ASK, purpose="judge", schema=SCHEMA)
    client.complete(ASK, purpose="judge", schema=SCHEMA)
    assert ["response_format" in request for request in served.requests] == [True, False, False]
    assert served.waits == []


def test_a_refused_parameter_is_left_out_alone():
    served = Endpoint(refused(400, "Unsupported parameter: max_tokens"), said("{}"))
    ChatClient("m", **served.options()).complete(ASK, purpose="judge", schema=SCHEMA)
    assert "max_tokens" not in served.requests[1]
    assert "response_format" in served.requests[1]


def test_a_refusal_for_another_reason_is_an_error():
    served = Endpoint(refused(400, "prompt is too long"))
    with pytest.raises(ModelError, match="lower the token budget"):
        ChatClient("m", **served.options()).complete(ASK, purpose="answer")
    assert len(served.requests) == 1


def test_a_stream_gives_pieces_then_its_call():
    stream = ChatClient("m", **Endpoint(streamed("He", "llo", ".")).options()).stream(ASK, purpose="answer")
    assert stream.call is None
    assert list(stream) == ["He", "llo", "."]
    assert (stream.call.reply, stream.call.prompt_tokens, stream.call.estimated) == ("Hello.", 5, False)
    heard = []
    call = ChatClient("m", **Endpoint(streamed("a", "b")).options()).complete(ASK, purpose="answer", on_piece=heard.append)
    assert (heard, call.reply) == (["a", "b"], "ab")


def test_a_stream_that_breaks_off_says_so():
    def broken(request):
        def body():
            yield streamed("Hel", end=False).content
            raise httpx2.ReadError("gone")

        return httpx2.Response(200, content=body(), headers={"content-type": "text/event-stream"})

    stream = ChatClient("m", **Endpoint(broken).options()).stream(ASK, purpose="answer")
    assert next(stream) == "Hel"
    with pytest.raises(ModelError, match="broke off after 3 characters"):
        next(stream)


def test_d9_runaway_replies_are_cut():
    long = "x" * 50_000
    assert (
        len(ChatClient("m", **Endpoint(said(long)).options()).complete(ASK, purpose="answer").reply) < MAX_REPLY_CHARACTERS + 10
    )
    stream = ChatClient("m", **Endpoint(streamed(*[long[:15_000]] * 4)).options()).stream(ASK, purpose="answer")
    assert len("".join(stream)) < MAX_REPLY_CHARACTERS + 10
    assert stream.call.reply.endswith("[…]")


def vectors(*rows):
    data = [{"object": "embedding", "index": i, "embedding": list(r)} for i, r in enumerate(rows)]
    return httpx2.Response(
        200, json={"object": "list", "model": "e", "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    )


def test_endpoint_embedder_learns_its_dimension_batches_and_keeps_order():
    served = Endpoint(vectors([1, 0]), vectors([0, 2], [3, 0]), vectors([0, 5]))
    embedder = EndpointEmbedder("e", batch=2, **served.options())
    assert (embedder.name, embedder.dim) == ("e@127.0.0.1:9", 2)
    assert embedder.embed(["a", "", "b", "c"], "row") == pytest.approx(np.array([[0, 1], [0, 0], [1, 0], [0, 1]]))
    assert [request["input"] for request in served.requests[1:]] == [["a", "b"], ["c"]]


def test_endpoint_embedder_refuses_a_wrong_count_or_dimension():
    short = EndpointEmbedder("e", **Endpoint(vectors([1, 0])).options())
    with pytest.raises(ModelError, match="1 vectors for 2 texts"):
        short.embed(["a", "b"], "row")
    changed = EndpointEmbedder("e", **Endpoint(vectors([1, 0]), vectors([1, 0, 0])).options())
    with pytest.raises(EmbeddingMismatchError, match=r"\[3\] dimensions where 2"):
        changed.embed(["a"], "row")
