"""The forgetting bank: its masks are MemoryBank's own, its controls change the picture alone, its text is escaped."""

from __future__ import annotations

import json
import time
from datetime import timedelta

import numpy as np
import pytest

from ilstma_lab import Dialogue, ManualClock, MemoryTable
from ilstma_lab.errors import InputError
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.plots.memorybank import FORMS
from ilstma_lab.systems.memorybank import Forgetting, MemoryBank, MemoryBankSettings
from ilstma_lab.widgets.forgetting_bank import ForgettingBank
from ilstma_lab.widgets.light_figure import Pick
from tests.stubs import DAY_0, table_of

ATTACK = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def bank() -> MemoryBank:
    """Twenty rows, a row a day, of which 3 and 18 were recalled on the last, and a summary of each day."""
    table = table_of(20)
    table.touch((3, 18), DAY_0 + timedelta(days=19), "what of three?")
    made = MemoryBank(table, clock=ManualClock(DAY_0 + timedelta(days=20)))
    made.summarise()
    return made


def kept(lab: ForgettingBank) -> int:
    return sum(len(part["x"]) for part in lab.figures["bank"].spec["data"] if part.get("uid", "").startswith("dot-"))


def masked_by_system(bank: MemoryBank, form: str, days: int) -> int:
    forgetful = MemoryBank(bank.table, MemoryBankSettings(forgetting=FORMS[form]), clock=bank.clock)
    return len(forgetful.forgotten(bank.clock.now() + timedelta(days=days)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("days", [0, 1, 3])
def test_what_is_masked_is_what_the_system_forgets(bank, form, days):
    lab = ForgettingBank(bank, form=form, days=days)
    assert kept(lab) == 40 - masked_by_system(bank, form, days)
    assert f"keeps {kept(lab)} of 40 pieces on" in lab.drawing.finding


def test_recalls_help_under_the_papers_form_and_harm_under_the_inverted_one(bank):
    lab = ForgettingBank(bank)
    fresh = kept(lab)
    lab.recalls.value = 9
    assert kept(lab) > fresh
    lab.form.value = "inverted S"
    many = kept(lab)
    lab.recalls.value = 0
    assert kept(lab) > many


def test_nothing_is_changed(bank):
    before = bank.table.recall_times.tolist(), bank.table.last_recall.tolist()
    ForgettingBank(bank, recalls=9, days=20)
    assert (bank.table.recall_times.tolist(), bank.table.last_recall.tolist()) == before


def test_the_dots_count_what_is_kept_on_each_day(bank):
    lab = ForgettingBank(bank, recalls=4)
    counted = next(part for part in lab.figures["kept"].spec["data"] if part.get("uid") == "dot-counted")["y"]
    assert (np.diff(counted) <= 0).all(), "what is forgotten stays so"
    for days in (0, 7, 19):
        lab.days.value = days
        assert kept(lab) == counted[days]


def test_a_picked_piece_shows_its_draw(bank):
    lab = ForgettingBank(bank)
    lab._pick("bank", Pick("click", "row, kept", 18, 1))
    said = lab.drawing.panels["piece"]
    left = Forgetting().retention(np.array([1]), np.array([2]))[0]
    for text in ("t = 1 day", "S = 2", f"{left:.3f}"[1:], ">18<"):
        assert text in said
    lab._pick("bank", Pick("step", "", -1, 0))
    assert "18 Jun" not in lab.drawing.panels["piece"]
    assert lab.parameters.piece == 20 + 18, "the summary of the day stands before its row"
    before = lab.parameters
    lab._pick("bank", Pick("click", "", 18, 7))
    assert lab.parameters == before, "nothing stands there"


@pytest.mark.parametrize(
    ("form", "said"), [("redrawn", "must be won"), ("public code", "spared"), ("inverted S", "exp(−t / 5 · S)")]
)
def test_each_form_says_how_the_piece_was_drawn(bank, form, said):
    assert said in ForgettingBank(bank, form=form).drawing.panels["piece"]


def test_a_lost_login_is_named(bank):
    lab = ForgettingBank(bank, form="redrawn", piece=0)
    assert "lost at login" in lab.drawing.panels["piece"]
    assert "masked" in lab.drawing.panels["piece"]


def test_arrow_keys_stop_at_the_ends_and_the_clock_is_picked(bank):
    lab = ForgettingBank(bank)
    lab.set(piece=19)
    lab._pick("bank", Pick("step", "", 1, 0))
    assert lab.parameters.piece == 19
    lab._pick("kept", Pick("click", "paper, mean", 4.2, 3))
    assert lab.days.value == 4
    lab._pick("kept", Pick("step", "", -1, 0))
    assert lab.days.value == 3


def test_a_table_without_notes_is_shown_too():
    lab = ForgettingBank(table_of(1))
    assert "of 1 piece" in lab.drawing.finding
    assert lab.python().endswith("ForgettingBank(table)")
    assert lab.figure("kept").data


def test_presets_reset_state_and_python(bank):
    lab = ForgettingBank(bank, days=5, piece=3)
    for name in lab.presets:
        lab.preset(name)
        assert lab.error is None
    again = ForgettingBank.from_state(json.dumps(lab.state()), bank)
    assert again.state() == lab.state()
    load, _, call = lab.python().rpartition("\n")
    names = {"bank": bank}
    exec(load, names)
    assert eval(call, names).state() == lab.state()
    lab.reset()
    assert (lab.parameters.days, lab.parameters.form, lab.parameters.recalls) == (0, "paper", 0)


@pytest.mark.parametrize("form", FORMS)
def test_the_code_below_builds_the_settings(bank, form):
    names: dict = {}
    load, _, call = ForgettingBank(bank, form=form).drawing.code.rpartition("\n")
    exec(load, names)
    assert eval(call, names) == MemoryBankSettings(forgetting=FORMS[form])


def test_g6_what_was_said_stays_text():
    table = MemoryTable.from_dialogues([Dialogue(ATTACK, ATTACK, DAY_0)], embedder=HashedEmbedder(dim=16))
    lab = ForgettingBank(table)
    shown = "".join([*lab.drawing.panels.values(), lab.drawing.live, lab.static()])
    assert "<img" not in shown
    assert "&lt;img" in shown
    assert "img" not in json.dumps(lab.figures["bank"].spec, default=str)


def test_an_event_takes_less_than_50_ms(bank):
    lab = ForgettingBank(bank, form="redrawn")
    spent = []
    for days in range(1, 8):
        begin = time.thread_time()
        lab.days.value = days
        spent.append(time.thread_time() - begin)
    assert sorted(spent)[3] < 0.05


def test_a_table_that_lost_its_rows_says_so():
    table = table_of(1)
    lab = ForgettingBank(table)
    table.delete(0)
    lab.days.value = 3
    assert lab._screen.head.view["error"].startswith("the table has no row any more")


@pytest.mark.parametrize(("wrong", "said"), [(None, "give a MemoryBank or a table"), ("x.json", "give a MemoryBank or a table")])
def test_the_wrong_kind_is_told_what_to_give(wrong, said):
    with pytest.raises(InputError, match=said):
        ForgettingBank(wrong)


def test_an_empty_table_is_refused():
    with pytest.raises(InputError, match="the table is empty"):
        ForgettingBank(MemoryTable(embedder=HashedEmbedder(dim=16)))
