"""Replays: the same with the same settings, nothing sent, and whatever was never sent is labelled or stops."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ilstma_lab import ILSTMA, Config, Dialogue, ManualClock, MemoryTable
from ilstma_lab.errors import InputError, ModelError, UnknownPromptError
from ilstma_lab.memory.segments import SegmentLimits
from ilstma_lab.models import offline
from ilstma_lab.models.call import Call
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.models.extractive_judge import ExtractiveJudge
from ilstma_lab.models.prompted import (
    PromptedJudge,
    PromptedMerger,
    PromptedProfiler,
    PromptedReader,
    PromptedResponder,
    PromptedSummarizer,
)
from ilstma_lab.models.stream import Stream
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.replay import compare, replay, start_session

EMBEDDER = HashedEmbedder(dim=64)
START = datetime(2024, 5, 1, 9, tzinfo=UTC)
TOLD = (
    "the red kite nests in the old oak",
    "my sister Ida sails on Fridays",
    "the green boat leaks at the stern",
    "we eat soup on Sundays",
)
QUESTIONS = ("Where does the red kite nest?", "When does Ida sail?", "Where does the red kite nest?", "What leaks?")
OTHER = Config(prefetch=WindowPrefetch(offset=1, k=1))


class FakeChat:
    """A model that hits every second time, names row 1, and counts what it is asked."""

    model = "fake-model"

    def __init__(self):
        self.asked = 0
        self.broken = False

    def complete(self, messages, *, purpose, schema=None, on_piece=None):
        if self.broken:
            raise ModelError("the endpoint is gone")
        self.asked += 1
        hit = {"reasoning": "", "answerable": self.asked % 2 == 0, "answer": f"hit {self.asked}", "used": []}
        reply = {
            "judge": json.dumps(hit),
            "read": '{"reason": "", "index": 1}',
            "merge": '{"reasoning": "", "similar": false, "merged": []}',
        }
        return Call(purpose, self.model, messages, reply.get(purpose, f"{purpose} {self.asked}"), seconds=2.0)

    def stream(self, messages, *, purpose):
        return Stream.of(self.complete(messages, purpose=purpose))


def dialogues():
    return [Dialogue(text, "I see.", START + timedelta(days=day), f"day {day}") for day, text in enumerate(TOLD)]


def offline_models():
    return replace(offline(EMBEDDER), judge=ExtractiveJudge(calibrated_for=EMBEDDER.name))


def prompted_models(chat):
    return replace(
        offline(EMBEDDER),
        name=chat.model,
        judge=PromptedJudge(chat),
        reader=PromptedReader(chat),
        responder=PromptedResponder(chat),
        summarizer=PromptedSummarizer(chat),
        merger=PromptedMerger(chat),
        profiler=PromptedProfiler(chat),
    )


def new_lab(models, config=None):
    table = MemoryTable.from_dialogues(dialogues(), embedder=EMBEDDER)
    return ILSTMA(table, config, models=models, clock=ManualClock.after(table))


def ask_all(lab, questions=QUESTIONS):
    return [lab.ask(question, at=START + timedelta(days=9, minutes=number)) for number, question in enumerate(questions)]


def without_seconds(value):
    if isinstance(value, dict):
        return {name: without_seconds(part) for name, part in value.items() if not name.startswith("seconds")}
    return [without_seconds(part) for part in value] if isinstance(value, list) else value


def alike(turn, other):
    return without_seconds(turn.to_dict()) == without_seconds(other.to_dict())


@pytest.fixture
def chat():
    return FakeChat()


@pytest.fixture
def session(chat):
    lab = new_lab(prompted_models(chat))
    session = start_session(lab)
    ask_all(lab)
    chat.broken = True  # from here on nothing may be sent
    return session


def test_an_offline_session_runs_again_with_equal_turns():
    lab = new_lab(offline_models())
    lab.ask("What do we eat on Sundays?", at=START + timedelta(days=8))
    session = start_session(lab)
    asked = ask_all(lab)
    rows = len(lab.table)
    again = replay(session)
    assert [turn.number for turn in again] == [2, 3, 4, 5]
    assert any(turn.hit for turn in again)
    assert all(alike(turn, other) for turn, other in zip(asked, again, strict=True))
    assert compare(asked, again) == [{}] * 4
    assert len(lab.table) == rows
    assert alike(replay(session)[-1], again[-1]), "a replay leaves the session as it was"


def test_an_offline_session_with_another_config_needs_no_reply():
    lab = new_lab(offline_models())
    session = start_session(lab)
    asked = ask_all(lab)
    again = replay(session, config=OTHER, on_unknown="stop")
    assert {len(turn.prefetch.chosen) for turn in again if turn.prefetch} == {1}
    assert any("cache" in changed for changed in compare(asked, again))
    assert all(turn.labels == () for turn in again)


def test_a_session_knows_the_turns_since_its_start():
    lab = new_lab(offline_models())
    ask_all(lab, QUESTIONS[:1])
    session = start_session(lab)
    assert session.turns == ()
    asked = ask_all(lab, QUESTIONS[1:2])
    assert session.turns == tuple(asked)
    assert "1 turns" in repr(session)


def test_remember_false_is_kept():
    lab = new_lab(offline_models())
    session = start_session(lab)
    lab.ask(QUESTIONS[0], at=START + timedelta(days=9), remember=False)
    lab.ask(QUESTIONS[1], at=START + timedelta(days=9))
    assert [turn.row for turn in replay(session)] == [None, 4]


def test_recorded_replies_are_taken_and_nothing_is_sent(session, chat):
    asked = chat.asked
    again = replay(session)
    assert chat.asked == asked
    assert {turn.hit for turn in again} == {True, False}
    assert all(alike(turn, other) for turn, other in zip(session.turns, again, strict=True))
    assert all(turn.labels == () for turn in again)
    assert any(5 in turn.calls for turn in again), "a summary was made in the session and came from its recording"
    assert {call.seconds for turn in again for calls in turn.calls.values() for call in calls} == {2.0}


def test_a_prompt_never_sent_stops_the_replay(session):
    with pytest.raises(UnknownPromptError, match="never sent to fake-model"):
        replay(session, config=OTHER)
    with pytest.raises(UnknownPromptError):
        replay(session, models=replace(session.start.models, responder=PromptedResponder(Renamed())))


class Renamed(FakeChat):
    model = "another-model"


def test_offline_stands_in_and_says_so(session, chat):
    asked = chat.asked
    again = replay(session, config=OTHER, on_unknown="offline")
    assert chat.asked == asked
    assert again[0].labels == ()
    assert again[0].answer == session.turns[0].answer
    assert "verdict: extractive, for this prompt was never sent" in again[1].labels
    for turn in again[1:]:
        unsent = [call for calls in turn.calls.values() for call in calls if not call.sent]
        assert bool(unsent) == bool(turn.labels)
        assert turn.answer


def test_the_same_verdict_is_assumed_and_labelled(session):
    recorded = session.turns
    again = replay(session, config=OTHER, on_unknown="assume_same_verdict")
    assert [turn.hit for turn in again] == [turn.hit for turn in recorded]
    assert [turn.answer for turn in again] == [turn.answer for turn in recorded]
    assert "verdict: assumed as recorded, for this prompt was never sent" in again[1].labels
    assert again[1].verdict.calls == (), "a call that was not made is not shown as one"
    assert compare(recorded, again)[1]["labels"] == ((), again[1].labels)


def test_an_answer_never_given_is_the_recorded_one(session):
    small = Config(short_term=SegmentLimits(token_budget=60))
    again = replay(session, config=small, on_unknown="assume_same_verdict")
    changed = [turn for turn in again if any(label.startswith("answer: assumed") for label in turn.labels)]
    assert changed
    assert [turn.answer for turn in again] == [turn.answer for turn in session.turns]


def test_models_given_are_used_as_they_are_when_offline(session, chat):
    again = replay(session, models=offline_models())
    assert {turn.models for turn in again} == {offline_models().name}
    assert all(turn.labels == () for turn in again)


def test_turns_that_failed_are_left_out(chat):
    lab = new_lab(prompted_models(chat))
    session = start_session(lab)
    ask_all(lab, QUESTIONS[:1])
    chat.broken = True
    failed = lab.ask(QUESTIONS[1], at=START + timedelta(days=9, minutes=1))
    chat.broken = False
    lab.retry()
    assert failed.failure
    again = replay(session)
    assert len(session.turns) == 3
    assert [turn.answer for turn in again] == [turn.answer for turn in session.turns if not turn.failure]


def test_an_unknown_choice_is_refused(session):
    with pytest.raises(InputError, match="stop, offline, assume_same_verdict"):
        replay(session, on_unknown="guess")
