"""A Turn explains itself without the engine: JSON both ways, prompts by step, what failed and where."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace

import pytest

from ilstma_lab import ILSTMA, Config, ManualClock, Turn, offline
from ilstma_lab.errors import FormatError, ModelError
from ilstma_lab.models.call import Call
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.recorder import Recorder, describe
from ilstma_lab.trace import TURN_VERSION, Verdict
from tests.stubs import StubJudge, StubResponder, asking, stub_lab, table_of


def miss() -> Turn:
    return stub_lab(8).ask(asking(3))


def hit() -> Turn:
    lab = stub_lab(8, judge=StubJudge(default=Verdict(True, "Yes.", (3,), "near", 0.9, 0.5)))
    lab.ask(asking(3))
    return lab.ask("Again?")


def failure() -> Turn:
    return stub_lab(8, responder=StubResponder(default=ModelError("down"))).ask(asking(3))


def empty() -> Turn:
    return stub_lab(0).ask("Hello?")


def unstored() -> Turn:
    return stub_lab(8).ask("你好，我对花生过敏 😀 </script>", remember=False)


def with_prompts() -> Turn:
    table = table_of(9)
    lab = ILSTMA(table, Config(trace="full"), models=offline(HashedEmbedder(dim=64)), clock=ManualClock.after(table))
    lab.summarise()
    lab.ask(asking(3))
    return lab.ask(asking(7))


@pytest.mark.parametrize("make", [miss, hit, failure, empty, unstored, with_prompts])
def test_json_both_ways(make):
    turn = make()
    text = turn.to_json()
    assert Turn.from_json(text) == turn
    assert Turn.from_dict(turn.to_dict()) == turn
    assert Turn.from_json(text).to_json() == text
    assert json.loads(text)["version"] == TURN_VERSION


@pytest.mark.parametrize("text", ["", "{", "[]x", '{"version": 1}', '{"version": 99}', "{}"])
def test_what_is_no_turn_is_refused(text):
    with pytest.raises(FormatError, match="turn"):
        Turn.from_json(text)


def test_another_version_is_named():
    with pytest.raises(FormatError, match="version 99"):
        Turn.from_dict({**miss().to_dict(), "version": 99})


def test_a_turn_is_frozen():
    with pytest.raises(FrozenInstanceError):
        miss().answer = "else"


def test_prompts_replies_and_tokens_by_step():
    calls = (
        Call("judge", "m", (("system", "rules"), ("user", "data")), "no", prompt_tokens=5, reply_tokens=1),
        Call("judge", "m", (("user", "again"),), "yes", prompt_tokens=3, reply_tokens=2, sent=False),
    )
    turn = replace(miss(), calls={2: calls, 9: ()})
    assert turn.prompts == {2: "[system]\nrules\n[user]\ndata\n\n(not sent: m)\n[user]\nagain"}
    assert turn.replies == {2: "no\n\nyes"}
    assert turn.tokens == {2: 11}


def test_a_step_that_did_not_run_is_none():
    turn = hit()
    assert (turn.step(3).name, turn.step(6)) == ("Keep", None)


def test_the_trace_keeps_twenty_candidates_or_all():
    counts = {}
    for trace in ("top", "full"):
        lab = stub_lab(table_of(30), Config(trace=trace))
        counts[trace] = len(lab.ask(asking(3)).recall.branch_b.candidates)
    assert counts == {"top": 20, "full": 30}


def test_an_error_is_described_with_type_message_and_place():
    with pytest.raises(AssertionError) as caught:
        raise AssertionError
    assert describe(caught.value).startswith("AssertionError (at test_trace.py:")
    assert describe(ValueError("no row 9")) == "ValueError: no row 9"


def test_the_recorder_goes_on_only_where_it_is_said_what_then():
    record = Recorder()
    with record.step(6, otherwise="nothing is recalled"):
        raise KeyError("x")
    with pytest.raises(KeyError), record.step(9):
        raise KeyError("y")
    with pytest.raises(KeyboardInterrupt), record.step(6, otherwise="nothing is recalled"):
        raise KeyboardInterrupt
    assert [(step.number, step.note) for step in record.steps] == [(6, "nothing is recalled"), (9, ""), (6, "")]
    assert all("KeyError" in step.error for step in record.steps[:2])


def test_calls_of_a_step_that_ran_twice_stand_together():
    record, call = Recorder(), Call("summarise", "m", (), "x")
    for _ in range(2):
        with record.step(5) as step:
            step.calls.append(call)
    assert record.calls == {5: (call, call)}


def test_g6_text_and_html_twins_hold_the_answer_escaped():
    turn = unstored()
    assert "</script>" not in turn._repr_html_()
    assert turn.answer in str(turn)
