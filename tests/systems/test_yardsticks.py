"""Yardsticks: what each shows and says, in both languages, and that none keeps anything."""

from __future__ import annotations

import sys
from datetime import timedelta

import pytest

from ilstma_lab import Dialogue, ManualClock, MemoryTable
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.baselines import MissingBaseline
from ilstma_lab.memory.segments import SegmentLimits
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.systems.yardsticks import (
    Constant,
    ConstantSettings,
    FullContext,
    FullContextSettings,
    LastTurns,
    LastTurnsSettings,
    PlainBm25,
    PlainBm25Settings,
)
from tests.models.stand_in import Scripted
from tests.stubs import DAY_0, StubResponder, asking, stub_models, table_of

ALL = (Constant, LastTurns, FullContext, PlainBm25)


def lab_of(kind, table=12, config=None, **options):
    table = table_of(table) if isinstance(table, int) else table
    return kind(table, config, clock=ManualClock.after(table), **options)


def shown(turn) -> tuple[int, ...]:
    return next(view.rows for view in turn.answered_from if view.name == "relevant")


# -- each by hand ------------------------------------------------------------------------------------------------------


def test_the_constant_answer_is_in_the_language_of_the_question_and_asks_no_model():
    lab = lab_of(Constant, models=stub_models(responder=StubResponder(default=RuntimeError("asked")), chat=Scripted()))
    assert lab.ask("Which guesthouse was it?").answer == "I do not remember that."
    assert lab.ask("我住过哪家旅馆？").answer == "我不记得这件事。"
    assert lab.models.chat is None
    assert not lab.retrieves
    assert lab.turns[0].models == "no model"
    assert not lab.turns[0].tokens
    assert lab_of(Constant, config=ConstantSettings(en="No.")).ask("Is it so?").answer == "No."


def test_the_last_turns_are_shown_in_the_order_of_time_and_nothing_else():
    table = table_of(12)
    table.set_personality("Likes ships.")
    lab = lab_of(LastTurns, table)
    turn = lab.ask(asking(1))
    assert shown(turn) == (5, 6, 7, 8, 9, 10, 11)
    assert turn.recalled == ()
    assert {view.name for view in turn.answered_from if view.text} == {"relevant"}
    assert shown(lab.ask("And now?")) == (6, 7, 8, 9, 10, 11, 12)  # the turn before is a row, and the last
    assert shown(lab_of(LastTurns, config=LastTurnsSettings(turns=2)).ask("Well?")) == (10, 11)


def test_full_context_shows_all_and_quotes_the_nearest_wherever_it_stands():
    lab = lab_of(FullContext)
    for number in (0, 6, 11):
        turn = lab.ask(asking(number), remember=False)
        assert shown(turn) == tuple(range(12))
        assert f"(row {number})" in turn.answer.splitlines()[0]
        assert turn.step(4).note == ""


def test_full_context_leaves_out_the_oldest_where_the_budget_cuts_and_says_how_many():
    config = FullContextSettings(short_term=SegmentLimits(history_turns=0, token_budget=120))
    turn = lab_of(FullContext, config=config).ask(asking(0), remember=False)
    kept = shown(turn)
    assert kept == tuple(range(12 - len(kept), 12))
    assert 1 < len(kept) < 12
    assert turn.step(4).note == f"{12 - len(kept)} of 12 dialogues are left out, the oldest: 120 tokens hold no more"
    assert sum(view.tokens for view in turn.answered_from) <= 120
    assert "(row 0)" not in turn.answer  # what is not shown is not quoted


def test_bm25_recalls_the_rows_that_share_words_best_first():
    said = ["the red boat sank", "a boat", "red red wine", "nothing here"]
    table = MemoryTable.from_dialogues(
        [Dialogue(text, "ok", DAY_0 + timedelta(days=n)) for n, text in enumerate(said)], embedder=HashedEmbedder(64)
    )
    lab = lab_of(PlainBm25, table)
    assert lab.ask("Which red boat?", remember=False).recalled[0] == 0
    assert lab.ask("wine", remember=False).recalled == (2,)
    assert lab.ask("Anything about kites?", remember=False).recalled == ()
    assert lab_of(PlainBm25, table, PlainBm25Settings(rows=3)).ask("red boat", remember=False).recalled[0] == 0
    table.delete(0)
    assert 0 not in lab.ask("Which red boat?", remember=False).recalled
    lab.ask("My kite is purple.")
    assert lab.ask("What is purple?", remember=False).recalled[0] == 4


def test_bm25_finds_chinese_and_an_answer_quotes_it():
    table = MemoryTable.from_dialogues(
        [Dialogue("我喜欢桂花糕。", "好的。", DAY_0), Dialogue("今天下雨了。", "带伞。", DAY_0 + timedelta(days=1))],
        embedder=HashedEmbedder(64),
    )
    turn = lab_of(PlainBm25, table).ask("我喜欢什么糕？桂花？")
    assert turn.recalled[0] == 0
    assert "桂花糕" in turn.answer


def test_bm25_without_its_library_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(MissingBaseline, match=r"pip install 'ilstma-lab\[evaluate\]'"):
        lab_of(PlainBm25)


# -- alike for all -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ALL)
def test_an_empty_table_or_one_without_words_is_answered(kind):
    clock = ManualClock(DAY_0)
    lab = kind(MemoryTable(embedder=HashedEmbedder(64)), clock=clock)
    assert lab.ask("Hello?").answer
    assert lab.ask("Again?").answer
    silent = kind(MemoryTable.from_dialogues([Dialogue("!!!", "…", DAY_0)], embedder=HashedEmbedder(64)), clock=clock)
    assert silent.ask("Hello?").answer


@pytest.mark.parametrize("kind", ALL)
def test_nothing_is_written_of_rows_and_the_same_question_gets_the_same_answer(kind):
    lab = lab_of(kind)
    assert lab.summarise() == 0
    first, again = (lab.ask(asking(3), remember=False) for _ in range(2))
    assert (first.answer, first.recalled, shown(first)) == (again.answer, again.recalled, shown(again))
    assert lab.table.written == ()
    assert len(lab.table) == 12
    assert lab.table.recalls == ()
    assert first.system == kind.system


@pytest.mark.parametrize("kind", ALL)
def test_a_fork_is_its_own_and_undo_takes_a_turn_back(kind):
    lab = lab_of(kind)
    before = lab.ask(asking(3), remember=False).answer
    other = lab.fork()
    other.ask("The lighthouse keeper is called Ada.")
    assert (len(lab.table), len(other.table)) == (12, 13)
    other.undo()
    assert len(other.table) == 12
    assert other.ask(asking(3), remember=False).answer == before


@pytest.mark.parametrize("kind", [LastTurns, FullContext, PlainBm25])
def test_a_deleted_row_stands_in_no_prompt(kind):
    lab = lab_of(kind)
    lab.table.delete(8)
    turn = lab.ask(asking(8), remember=False)
    assert 8 not in shown(turn)
    assert "keeper" not in "".join(view.text for view in turn.answered_from)


def test_a_language_model_answers_from_what_is_shown():
    responder = StubResponder(default=lambda query, memory: f"{len(memory.relevant)} rows")
    said = {kind: lab_of(kind, models=stub_models(responder=responder)).ask(asking(1)).answer for kind in ALL}
    assert said == {Constant: "I do not remember that.", LastTurns: "7 rows", FullContext: "12 rows", PlainBm25: "1 rows"}


@pytest.mark.parametrize("settings", [lambda: LastTurnsSettings(turns=0), lambda: PlainBm25Settings(rows=0)])
def test_settings_that_show_nothing_are_refused(settings):
    with pytest.raises(InputError, match=">= 1"):
        settings()
