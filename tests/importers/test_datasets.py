"""MemoryBank, SCM, LoCoMo, LongMemEval: sources that lead back to the gold, times, quirks."""

from __future__ import annotations

import copy
import json
import re

import pytest

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.importers import load_dialogues


def test_memorybank_days_are_sorted_and_turns_keep_their_order(save, samples):
    loaded = load_dialogues(save(samples["memorybank"]), conversation="Ivy")
    assert [(d.source, d.at.isoformat(timespec="minutes")) for d in loaded] == [
        ("2024-02-01#0", "2024-02-01T00:00+00:00"),
        ("2024-02-02#0", "2024-02-02T00:00+00:00"),
        ("2024-02-02#1", "2024-02-02T00:01+00:00"),
    ]
    assert not loaded.synthetic_times
    for said in ("no time of day", "2024-02-03 is empty", "not read.*meta_information", "one side empty: 1 of 3"):
        assert re.search(said, "\n".join(loaded.notes))


def test_memorybank_turns_that_stand_twice_are_kept(save):
    turn = {"query": "Hi", "response": "Hello"}
    loaded = load_dialogues(save({"Roland": {"history": {"2023-04-30": [turn, turn]}}}))
    assert [d.source for d in loaded] == ["2023-04-30#0", "2023-04-30#1"]


def test_memorybank_turns_never_run_into_the_next_day(save):
    long = [{"query": str(i), "response": "x"} for i in range(1500)]
    loaded = load_dialogues(save({"A": {"history": {"2024-01-02": [{"query": "last", "response": "x"}], "2024-01-01": long}}}))
    assert [d.user for d in loaded] == [*(str(i) for i in range(1500)), "last"]


def test_memorybank_names_file_conversation_and_place(save, samples):
    bank = copy.deepcopy(samples["memorybank"])
    bank[" Ivy "]["history"]["2024-02-02"][1] = {"query": 7, "response": "x"}
    with pytest.raises(
        FormatError, match=r"bank\.json, conversation 'Ivy', 2024-02-02 turn 1: 'query' must be a text \(got a number\)"
    ):
        load_dialogues(save(bank, "bank.json"), conversation="Ivy")
    assert load_dialogues(save(bank), conversation="Oskar")
    with pytest.raises(FormatError, match="'2024-13-01': not a day"):
        load_dialogues(save({"A": {"history": {"2024-13-01": []}}}))


def test_a_conversation_without_a_dialogue_says_so(save):
    loaded = load_dialogues(save({"A": {"history": {"2024-01-01": []}}}))
    assert loaded == []
    assert "no dialogue was found" in loaded.notes


def test_scm_turns_are_pairs(save, samples):
    loaded = load_dialogues(save(samples["scm"]), conversation="long_1")
    assert [(d.source, d.user, d.assistant) for d in loaded] == [("0", "q0", "a0"), ("1", "q1", "a1"), ("2", "q2", "")]
    with pytest.raises(FormatError, match="turn 1"):
        load_dialogues(save([{"id": "x", "dialogue": ["a", "b", "c", None]}]))


def test_locomo_rows_hold_two_turns_and_their_dia_ids(save, samples):
    loaded = load_dialogues(save(samples["locomo"]))
    assert [(d.source, d.user, d.assistant) for d in loaded] == [
        ("D1:1,D1:2", "Look! [a photo of a kettle]", "Nice."),
        ("D1:3", "Bye.", ""),
        ("D2:1", "", "I row."),
    ]
    assert [d.at.isoformat() for d in loaded[::2]] == ["2023-05-08T13:56:00+00:00", "2024-01-02T00:05:00+00:00"]
    notes = "\n".join(loaded.notes)
    for said in ("'Ana' (user=... names another)", "1 session dates have no session", "1 turns show a picture", "not read: qa"):
        assert said in notes


def test_locomo_can_take_the_other_speaker_as_the_user(save, samples):
    loaded = load_dialogues(save(samples["locomo"]), user=" ben")
    assert [(d.source, d.user) for d in loaded] == [("D1:1", ""), ("D1:2,D1:3", "Nice."), ("D2:1", "I row.")]
    with pytest.raises(InputError, match=r"called 'Cem'.*'Ana', 'Ben'"):
        load_dialogues(save(samples["locomo"]), user="Cem")


def test_locomo_names_what_it_does_not_understand(save, samples):
    for key, value, problem in (
        ("session_1_date_time", "yesterday", "session_1_date_time: not a time such as"),
        ("session_1", [{"speaker": "Cem", "dia_id": "D1:1", "text": "x"}], "session_1 turn 0: 'Cem' is neither"),
        ("session_1", [{"speaker": "Ana", "text": "x"}], "session_1 turn 0: 'dia_id' must be a text"),
    ):
        data = copy.deepcopy(samples["locomo"])
        data[0]["conversation"][key] = value
        with pytest.raises(FormatError, match=problem):
            load_dialogues(save(data))


def test_longmemeval_sources_are_session_and_turn(save, samples):
    loaded = load_dialogues(save(samples["longmemeval"]))
    assert loaded.conversation == "q1"
    assert [(d.source, d.user, d.assistant) for d in loaded] == [
        ("s_a#0", "", "a0"),
        ("s_a#1", "a1", "a2"),
        ("s_a#3", "a3", ""),
        ("s_b#0", "b0", "b1"),
        ("s_b~2#0", "c0", ""),
        ("s_b~2#2", "c2", ""),
    ]
    assert loaded[0].at.isoformat() == "2024-02-01T23:59:00+00:00"
    notes = "\n".join(loaded.notes)
    assert "'s_b' stands twice" in notes
    assert "empty turns 1" in notes


def test_longmemeval_comes_as_json_lines_too(save, samples):
    other = samples["longmemeval"] | {"question_id": "q2"}
    path = save(json.dumps(samples["longmemeval"]) + "\n" + json.dumps(other) + "\n")
    assert len(load_dialogues(path, conversation="q2")) == 6
    with pytest.raises(FormatError, match=r"as many dates .*got 1, 3, 3"):
        load_dialogues(save(samples["longmemeval"] | {"haystack_dates": ["2024/02/02 (Fri) 10:00"]}))
