"""What-if: what changed first is found, one turn alone, segments off, the clock moved, another embedder, unknown prompts said."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ilstma_lab import ILSTMA, Config, Dialogue, ManualClock, MemoryTable
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.what_if import WhatIfs, what_if
from ilstma_lab.memory.segments import SegmentLimits
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.replay import Session, replay, start_session
from ilstma_lab.reprs.sides import line_diff
from ilstma_lab.reprs.what_if import summary_of, what_if_sides
from tests.test_replay import EMBEDDER, FakeChat, offline_models, prompted_models

START = datetime(2024, 5, 1, 9, tzinfo=UTC)
TOLD = (
    "the red kite nests in the old oak",
    "my sister Ida sails on Fridays",
    "the green boat leaks at the stern",
    "we eat soup on Sundays",
    "the blue bicycle stands in the cellar",
)
QUESTIONS = (
    "What leaks at the stern?",
    "When does my sister Ida sail?",
    "Where does the red kite nest?",
    "Where is the bicycle?",
)
ATTACK = "</script><img src=x onerror=alert(1)>"


def new_lab(models=None, config=None):
    rows = [Dialogue(text, "I see.", START + timedelta(days=day), f"day {day}") for day, text in enumerate(TOLD)]
    table = MemoryTable.from_dialogues(rows, embedder=EMBEDDER)
    return ILSTMA(table, config, models=models or offline_models(), clock=ManualClock.after(table))


def recorded(lab, questions=QUESTIONS):
    session = start_session(lab)
    for number, question in enumerate(questions):
        lab.ask(question, at=START + timedelta(days=9, minutes=number))
    return session


NARROW = Config(prefetch=WindowPrefetch(k=1, offset=2))
WIDE = Config(prefetch=WindowPrefetch(k=5, offset=2))


def hits(turns):
    return [turn.hit for turn in turns]


@pytest.fixture
def session():
    return recorded(new_lab(config=NARROW))


def test_the_same_settings_change_nothing(session):
    result = what_if(session)
    assert result.changes == ()
    assert result.settings == ()
    assert "nothing changes in 4 turns" in result.finding


def test_the_finding_names_the_row_that_would_have_been_cached(session):
    result = what_if(session, config=WIDE)
    assert not session.turns[1].hit
    assert result.flips[0].place == 1
    assert result.finding == "With k = 5, row 1 would have been cached: turn 2 hits"
    first = result.changes[0]
    assert (first.place, first.name, first.before) == (0, "the next cache", (2,))
    assert set(first.after) == set(range(5))
    assert "First to change: the next cache of turn 1, 2 → 2" in summary_of(result)


def test_and_the_other_way_round():
    result = what_if(recorded(new_lab(config=WIDE)), config=NARROW)
    assert result.finding == "With k = 1, row 1 would not have been cached: turn 2 misses"


def test_changes_are_those_of_replay_and_nothing_else_is_touched(session):
    rows, turns = len(session.start.table), session.turns
    result = what_if(session, config=WIDE)
    assert hits(result.replayed) == hits(replay(session, config=WIDE))
    assert (len(session.start.table), session.turns) == (rows, turns)


def test_one_turn_alone_begins_from_what_was_recorded(session):
    runs = WhatIfs(session)
    alone = runs.run(alone=1, config=WIDE)
    assert (alone.first, len(alone.recorded)) == (1, 1)
    assert hits(alone.replayed) == [False], "the cache was filled before, with k = 1"
    assert [change.name for change in alone.changes] == ["the next cache"]
    assert alone.of(1) == (session.turns[1], alone.replayed[0])
    assert runs.run(alone=-1).changes == ()
    with pytest.raises(InputError, match="holds the turns 1 to 1"):
        alone.of(0)


@pytest.mark.parametrize("name", ["cache", "summary", "personality", "history", "relevant"])
def test_a_segment_stays_empty(name):
    lab = new_lab(config=WIDE)
    lab.table.set_personality("sails")
    lab.table.set_summary("the boat", [2], START)
    result = what_if(recorded(lab), without=[name])
    assert result.settings == (f"no {name}",)
    for turn in result.replayed:
        views = (*turn.segments_before, *turn.answered_from, *turn.segments_after)
        assert {view.text for view in views if view.name == name} == {""}
    assert any(change.name == f"the {name}" or name == "relevant" for change in result.changes)


def test_days_move_the_clock_alone(session):
    later = what_if(session, days=30)
    assert [turn.at - one.at for turn, one in zip(later.replayed, session.turns, strict=True)] == [timedelta(days=30)] * 4
    first = later.replayed[0].prefetch
    assert max(row.time for row in first.rows if row.distance) < max(
        row.time for row in session.turns[0].prefetch.rows if row.distance
    )
    assert later.settings == ("the clock 30 days on",)


def test_another_embedder_embeds_the_rows_again(session):
    other = HashedEmbedder(dim=32)
    result = what_if(session, embedder=other)
    assert result.settings == ("the embedder hashed-words-32",)
    assert result.replayed[0].recall.branch_b.candidates[0].score != session.turns[0].recall.branch_b.candidates[0].score
    assert session.start.table.embedder is EMBEDDER


class Counting(HashedEmbedder):
    asked = 0

    def embed(self, texts, kind):
        self.asked += len(texts)
        return super().embed(texts, kind)


def test_texts_are_embedded_once_for_all_what_ifs_of_a_session(session):
    embedder = Counting(dim=16)
    what_if(session, embedder=embedder)
    asked = embedder.asked
    what_if(session, embedder=embedder)
    assert 0 < asked == embedder.asked


def test_settings_are_told_in_words(session):
    place = replace(WIDE.prefetch.place, form="literal")
    limits = SegmentLimits(history_turns=2, token_budget=300)
    config = Config(prefetch=replace(WIDE.prefetch, place=place), short_term=limits)
    assert what_if(session, config=config).settings == ("a history of 2 turns", "300 tokens", "k = 5", "literal place")
    assert "B with other words, preceding, days" in what_if(session, config=Config.measured()).settings


def test_prompts_are_compared_line_by_line():
    assert line_diff("a\nb\nc\nd\ne", "a\nb\nc\nd\nx") == [("…", "3 equal lines"), (" ", "d"), ("-", "e"), ("+", "x")]
    assert line_diff("same", "same") == []


def test_what_others_wrote_is_shown_as_text():
    result = what_if(recorded(new_lab(), (f"What leaks {ATTACK}?", QUESTIONS[1])), config=NARROW)
    for html in (result._repr_html_(), what_if_sides(result, 0)):
        assert "<img" not in html
        assert "&lt;/script&gt;" in html
    assert "Turn 1" in str(result)


# -- with recorded replies -------------------------------------------------------------------------------------------------


@pytest.fixture
def prompted():
    chat = FakeChat()
    session = recorded(new_lab(prompted_models(chat)))
    chat.broken = True  # from here on nothing may be sent
    return session


def test_stop_ends_at_the_unknown_prompt_and_says_where(prompted):
    result = what_if(prompted, config=NARROW)
    assert len(result.replayed) == 1
    assert result.stopped.startswith("turn 2: this 'judge' prompt was never sent to fake-model")
    assert "Stopped at turn 2" in summary_of(result)
    assert result.of(3)[1] is None
    assert "stopped before this turn" in what_if_sides(result, 3)


@pytest.mark.parametrize("choice", ["offline", "assume_same_verdict"])
def test_what_was_not_recorded_is_labelled(prompted, choice):
    result = what_if(prompted, config=NARROW, on_unknown=choice)
    assert len(result.replayed) == 4
    assert result.replayed[0].labels == ()
    assert "for this prompt was never sent" in result.replayed[1].labels[0]
    assert "not wholly from recorded replies" in summary_of(result)
    assert "for this prompt was never sent" in what_if_sides(result, 1)


def test_a_turn_alone_with_recorded_replies_sends_nothing(prompted):
    assert what_if(prompted, turn=2).changes == ()


def test_overlap_asks_nothing_that_was_not_recorded(prompted):
    plain = replay(prompted, on_unknown="stop")
    overlapped = replay(prompted, config=Config(overlap=True), on_unknown="stop")
    assert [turn.answer for turn in overlapped] == [turn.answer for turn in plain]


def test_a_replay_days_later(prompted):
    later = replay(prompted, days=3, on_unknown="offline")
    assert [turn.at - one.at for turn, one in zip(later, prompted.turns, strict=True)] == [timedelta(days=3)] * 4


# -- what is refused -------------------------------------------------------------------------------------------------------


def test_turns_without_their_beginning_are_refused(session):
    for given in (list(session.turns), session.start):
        with pytest.raises(InputError, match=r"start_session\(lab\).*before the first question"):
            what_if(given)
    with pytest.raises(InputError, match="no answered turn yet"):
        what_if(start_session(new_lab()))
    with pytest.raises(InputError, match="no segment cash"):
        what_if(session, without=["cash"])
    with pytest.raises(InputError, match="there is no turn 9"):
        what_if(session, turn=9)


def test_a_session_can_be_made_of_its_parts(session):
    again = Session(session.start, list(session.turns))
    assert what_if(again).changes == ()
