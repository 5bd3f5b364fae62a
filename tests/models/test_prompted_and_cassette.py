from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import FormatError, InputError, ModelError, UnknownPromptError
from ilstma_lab.models import endpoint
from ilstma_lab.models.cassette import Cassette
from ilstma_lab.models.chat import ChatClient
from ilstma_lab.models.parse import json_object, row_index, visible, without_thinking
from ilstma_lab.models.prompted import (
    PromptedJudge,
    PromptedMerger,
    PromptedProfiler,
    PromptedReader,
    PromptedResponder,
    PromptedSummarizer,
)
from ilstma_lab.models.prompts.messages import SCHEMAS
from ilstma_lab.retrieval.recall import Chunk
from tests.models.stand_in import KEY, Asked, Endpoint, Memory, Scripted, row, said, streamed

QUERY = Asked("Where do I live?")
MEMORY = Memory(cache=(row(3, "I live in Oslo."), row(4, "I like tea.")))
CHUNKS = [Chunk(0, (3, 4), "[3] I live in Oslo.\n[4] I like tea.", 1.0)]
HIT = {"reasoning": "row 3 says so", "answerable": True, "answer": "In Oslo.", "used": [3]}


@pytest.mark.parametrize(
    "reply",
    [
        json.dumps(HIT),
        f"Sure! Here it is:\n```json\n{json.dumps(HIT)}\n```\nAnything else?",
        json.dumps(HIT)[:-1] + ",}",
        str(HIT),
        "<think>{'answerable': False}</think>" + json.dumps(HIT),
    ],
)
def test_d1_untidy_json_is_read(reply):
    assert json_object(reply) == HIT
    verdict = PromptedJudge(Scripted(reply)).judge(QUERY, MEMORY)
    assert (verdict.hit, verdict.answer, verdict.used) == (True, "In Oslo.", (3,))


def test_d1_braces_and_quotes_inside_strings_do_no_harm():
    assert json_object('{"a": "it\'s {fine} and true,}"}') is not None
    assert json_object("{'a': 'true', 'b': true}") == {"a": "true", "b": True}
    assert json_object('{x} then {"a": 1}') == {"a": 1}
    assert json_object("{" * 5000) is None


@given(st.text())
def test_d2_no_reply_breaks_the_parser(reply):
    assert json_object(reply) is None or isinstance(json_object(reply), dict)
    assert "".join(visible([reply])).strip() == without_thinking(reply) or "<think" in reply.lower()


@pytest.mark.parametrize("reply", ["", "<think>I wonder", "I am not sure.", '{"type": "bot"}', '{"answerable": "perhaps"}'])
def test_d2_d7_an_unreadable_verdict_is_asked_once_more_and_then_a_miss(reply):
    chat = Scripted(reply, reply)
    verdict = PromptedJudge(chat).judge(QUERY, MEMORY)
    assert not verdict.hit
    assert "could not be read" in verdict.reason
    assert len(verdict.calls) == 2
    assert chat.asked[1][1][-1][0] == "user"
    assert PromptedJudge(Scripted(reply, json.dumps(HIT))).judge(QUERY, MEMORY).hit


@pytest.mark.parametrize(
    ("used", "expected"), [([], ()), ([99], None), ("3", None), ([4, "[3]", 99, 4], (4, 3)), ([True, 3.0], None)]
)
def test_d5_only_rows_that_were_shown_count_as_used(used, expected):
    assert PromptedJudge(Scripted(json.dumps({**HIT, "used": used}))).judge(QUERY, MEMORY).used == expected


def test_judge_in_two_calls():
    chat = Scripted("Yes.", '{"answer": "In Oslo.", "used": [3]}')
    verdict = PromptedJudge(chat, calls=2).judge(QUERY, MEMORY)
    assert (verdict.hit, verdict.answer, verdict.used) == (True, "In Oslo.", (3,))
    assert [purpose for purpose, _ in chat.asked] == ["judge: can it", "judge: answer"]
    assert not PromptedJudge(Scripted('{"answerable": false}'), calls=2).judge(QUERY, MEMORY).hit
    assert not PromptedJudge(Scripted("yes", "hm", "hm"), calls=2).judge(QUERY, MEMORY).hit


@pytest.mark.parametrize("said_index", [12, -1, "3.0", "0b9c6d1e-77aa-4d0e", True, 3.5])
def test_d4_an_index_that_was_not_shown_is_rejected_and_logged(said_index):
    reading = PromptedReader(Scripted(json.dumps({"index": said_index, "reason": "x"}))).read(QUERY, CHUNKS)
    assert reading.index is None
    assert reading.raw == str(said_index)
    assert "not a row that was shown" in reading.reason


def test_reader_reads_a_named_row_a_bare_number_and_null():
    assert PromptedReader(Scripted('{"reason": "Oslo", "index": 3}')).read(QUERY, CHUNKS).index == 3
    assert PromptedReader(Scripted("[4]")).read(QUERY, CHUNKS).index == 4
    nothing = PromptedReader(Scripted('{"reason": "none", "index": null}')).read(QUERY, CHUNKS)
    assert (nothing.index, nothing.raw, nothing.reason) == (None, "", "none")
    assert row_index("9" * 400, {1}) is None


def test_responder_streams_without_thinking():
    stream = PromptedResponder(Scripted("<think>Oslo?</think>You live in Oslo.")).answer(QUERY, MEMORY)
    pieces = list(stream)
    assert "".join(pieces) == "You live in Oslo."
    assert len(pieces) > 2
    assert stream.call.reply.startswith("<think>")
    with pytest.raises(ModelError, match="empty answer"):
        list(PromptedResponder(Scripted("<think>hm")).answer(QUERY, MEMORY))


def test_summary_merge_and_profile_are_bounded_and_safe():
    summary, _ = PromptedSummarizer(Scripted("- a\n\n* b\n" + "c\n" * 50)).summarize(MEMORY.cache)
    assert summary.splitlines() == ["a", "b", "c", "c", "c", "c"]
    with pytest.raises(ModelError, match="empty summary"):
        PromptedSummarizer(Scripted("")).summarize(MEMORY.cache)
    assert PromptedMerger(Scripted('{"similar": true, "merged": ["x", "y"]}')).merge("x", "y")[0] == "x\ny"
    for reply in ('{"similar": false, "merged": []}', '{"similar": true, "merged": []}', '{"similar": true, "merged": 3}'):
        assert PromptedMerger(Scripted(reply)).merge("x", "y")[0] is None
    assert PromptedMerger(Scripted("no", "idea")).merge("x", "y")[0] is None
    assert PromptedProfiler(Scripted("")).profile("Kind.", MEMORY.cache)[0] == "Kind."
    echo = '<portrait>\n  Kind.\n</portrait>\n<dialogue row="0">\n  user: hello\n</dialogue>'
    assert PromptedProfiler(Scripted(echo)).profile("Kind.", MEMORY.cache)[0] == "Kind.", "the prompt given back is no portrait"
    assert len(PromptedProfiler(Scripted("x" * 50_000)).profile("", MEMORY.cache)[0]) <= 1200


def test_cassette_records_and_replays_without_an_endpoint(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    path = tmp_path / "session.jsonl"
    served = Endpoint(said(json.dumps(HIT)), streamed("In ", "Oslo."))
    chat = Cassette(path, mode="record").around("m", ChatClient("m", **served.options()))
    PromptedJudge(chat).judge(QUERY, MEMORY)
    list(PromptedResponder(chat).answer(QUERY, MEMORY))
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) == 2
    assert KEY not in text
    assert "127.0.0.1" not in text

    monkeypatch.delenv("OPENAI_API_KEY")
    models = endpoint("m", cassette=Cassette(path))
    verdict = models.judge.judge(QUERY, MEMORY)
    assert (verdict.answer, verdict.calls[0].prompt_tokens) == ("In Oslo.", 11)
    assert "".join(models.responder.answer(QUERY, MEMORY)) == "In Oslo."
    with pytest.raises(UnknownPromptError, match="never sent to m"):
        models.judge.judge(Asked("Who am I?"), MEMORY)
    with pytest.raises(UnknownPromptError):
        endpoint("other", cassette=Cassette(path)).judge.judge(QUERY, MEMORY)


def test_cassette_from_turns_replays_sent_prompts():
    chat = Scripted(json.dumps(HIT))
    calls = PromptedJudge(chat).judge(QUERY, MEMORY).calls
    cassette = Cassette.from_turns([SimpleNamespace(calls={2: calls})])
    assert len(cassette) == 1
    replayed = cassette.around("scripted").complete(calls[0].messages, purpose="judge", schema=SCHEMAS["judge"])
    assert replayed == calls[0]


def test_cassette_says_what_is_wrong_with_its_file(tmp_path):
    with pytest.raises(InputError, match="no cassette at"):
        Cassette(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match='"extend" or "replay"'):
        Cassette(mode="both")
    with pytest.raises(InputError, match="needs a chat client"):
        Cassette(mode="record").around("m")
    torn = tmp_path / "torn.jsonl"
    torn.write_text('\ufeff{"key": "a"', encoding="utf-8")
    with pytest.raises(FormatError, match="line 1"):
        Cassette(torn)


def test_a_recording_that_broke_off_asks_only_what_it_has_not(tmp_path):
    path, chat = tmp_path / "c.jsonl", Scripted("one", "two")
    Cassette(path, mode="extend").around("scripted", chat).complete((("user", "first"),), purpose="answer")
    again = Cassette(path, mode="extend").around("scripted", chat)
    assert again.complete((("user", "first"),), purpose="answer").reply == "one"
    assert again.complete((("user", "second"),), purpose="answer").reply == "two"
    assert len(chat.asked) == 2
