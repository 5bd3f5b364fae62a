"""The bundled recordings: found beside the data, readable, without secrets, and with their source told."""

from __future__ import annotations

import json

import pytest

from ilstma_lab import endpoint
from ilstma_lab.evaluation.recorded import ask_both, recorded_chat
from ilstma_lab.evaluation.recorded_systems import recorded_systems
from ilstma_lab.models.cassette import Cassette
from ilstma_lab.resources import cassettes_dir, data_dir

TRAVEL = "travel_prefetch.jsonl"


def test_the_recording_of_lesson_09_is_bundled():
    assert cassettes_dir() == data_dir() / "cassettes"
    assert len(Cassette(cassettes_dir() / TRAVEL)) >= 24


def test_it_replays_whole():
    models = endpoint("qwen2.5-coder-1.5b", cassette=Cassette(cassettes_dir() / TRAVEL))
    for asked in ask_both("travel", models):
        for turn in (asked.prefetched, asked.full):
            assert not turn.failure
            assert not [step.error for step in turn.steps if step.error], "a prompt has changed: record the run again"
            assert not turn.recall or not turn.recall.branch_a.error


@pytest.mark.slow
@pytest.mark.parametrize("topic", ["travel", "travel_zh"])
def test_a_chat_of_ten_turns_replays_whole(topic):
    models = endpoint("qwen2.5-coder-1.5b", cassette=Cassette(cassettes_dir() / f"{topic}_chat.jsonl"))
    turns = list(recorded_chat(topic, models))
    assert len(turns) == 10
    for turn in turns:
        assert not turn.failure
        assert not [step.error for step in turn.steps if step.error]


def test_its_source_and_licence_are_told():
    stated = (data_dir() / "SOURCES.md").read_text(encoding="utf-8")
    for needed in (TRAVEL, "Qwen2.5-Coder-1.5B-Instruct", "Apache-2.0", "prompt cache was off"):
        assert needed in stated


def test_it_holds_calls_with_their_cost_and_nothing_else():
    calls = [json.loads(line) for line in (cassettes_dir() / TRAVEL).read_text(encoding="utf-8").splitlines()]
    assert {call["purpose"] for call in calls} == {"judge", "read", "answer"}
    assert {call["cached_tokens"] for call in calls} == {0}, "the server's prompt cache was off"
    assert all(call["seconds"] > 0 and call["prompt_tokens"] > 0 for call in calls)
    known = {"key", "purpose", "model", "reply", "seconds", "prompt_tokens", "reply_tokens", "cached_tokens", "estimated"}
    assert set().union(*calls) == known


def test_the_systems_of_the_recording_replay_whole_and_give_the_table_of_the_readme():
    models = endpoint("qwen2.5-coder-1.5b", cassette=Cassette(cassettes_dir() / TRAVEL))
    ilstma, bank, bm25 = recorded_systems("travel", models)
    assert [found.system for found in (ilstma, bank, bm25)] == ["ILSTMA", "MemoryBank", "BM25"]
    assert {found.n for found in (ilstma, bank, bm25)} == {24}
    assert [round(found.seconds.mean, 1) for found in (ilstma, bank)] == [31.3, 14.4]
    assert [round(24 * found.strict.mean, 1) for found in (ilstma, bank, bm25)] == [2.5, 1.5, 1.5]
    assert (ilstma.hits, bank.hits, bm25.hits) == (14, None, None)
    assert all(found.difference.low < 0 < found.difference.high for found in (bank, bm25)), "nobody is ahead beyond chance"
