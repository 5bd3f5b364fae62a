"""The segment panel without a browser: its numbers are short-term memory's own."""

from __future__ import annotations

import json

import pytest
import traitlets

from ilstma_lab import Config
from ilstma_lab.errors import InputError
from ilstma_lab.memory.segments import CUT_ORDER, SegmentLimits
from ilstma_lab.widgets import SegmentPanel
from tests.stubs import StubResponder, asking, stub_lab
from tests.widgets.test_player import ATTACK, nodes, text


def asked(*questions: str, budget: int = 3000, **parts):
    lab = stub_lab(9, Config(short_term=SegmentLimits(token_budget=budget)), **parts)
    for question in questions:
        lab.ask(question)
    return lab


def test_tokens_and_budget_are_the_memorys():
    lab = asked(asking(3), asking(5))
    panel = SegmentPanel(lab)
    views = {view.name: view for view in lab.memory.views()}
    assert {card.name: card.tokens for card in panel.cards} == {name: view.tokens for name, view in views.items()}
    assert f"{sum(view.tokens for view in views.values()):,} of 3,000 tokens, nothing cut" in text(panel.view)


def test_the_switch_shows_what_the_next_hit_keeps_and_the_next_miss_clears():
    lab = asked(asking(3))
    panel = SegmentPanel(lab)
    tokens = {view.name: view.tokens for view in lab.memory.views()}
    assert f"The next hit clears {tokens['relevant']:,} of" in text(panel.view)
    panel.pressed("after", "miss")
    assert panel.after == "miss"
    assert f"The next miss clears {tokens['relevant'] + tokens['cache'] + tokens['summary']:,} of" in text(panel.view)
    gone = [text(node[2:]) for node in nodes(panel.view, "goes")]
    assert [shown.split()[0] for shown in gone] == ["Cache", "Summary", "Relevant"]
    panel.pressed("after", "later")
    assert panel.after == "miss"


def test_what_the_switch_says_is_what_then_happens():
    lab = asked(asking(3))
    kept = {view.name: view.text for view in lab.memory.views()}
    lab.ask(asking(5))
    turn = lab.turns[-1]
    assert not turn.hit
    before = {view.name: view.text for view in turn.segments_before}
    assert before["relevant"] == ""
    assert before["cache"] == kept["cache"], "the judge still sees it"
    assert {view.name: view.text for view in turn.answered_from}["cache"] == "", "the miss clears it"


def test_what_was_cut_is_marked_with_the_reason_and_the_order():
    lab = asked(asking(3), asking(5), asking(6), budget=60)
    panel = SegmentPanel(lab)
    cut = {view.name: view.cut_tokens for view in lab.memory.views() if view.cut_tokens}
    assert cut
    shown = text(panel.view)
    for number in cut.values():
        assert f"{number:,} token" in shown
    wanted = sum(view.tokens + view.cut_tokens for view in lab.memory.views())
    assert f"hold {wanted:,} tokens, {wanted - 60:,} over the budget" in shown
    (order,) = nodes(panel.view, "sp-order")
    marked = [name for name, node in zip(CUT_ORDER, order[2:], strict=True) if node[1].get("class") == "was-cut"]
    assert set(marked) == set(cut)


def test_it_follows_the_turns_of_its_lab():
    lab = asked()
    panel = SegmentPanel(lab)
    assert "Short-term memory is empty" in text(panel.view)
    lab.ask(asking(3), on_event=panel.follow)
    followed = panel.view
    panel.refresh()
    assert panel.view == followed
    assert "1 row" in text(panel.view) or lab.memory.cache


def test_a_turn_and_a_memory_are_shown_as_well():
    lab = asked(asking(3))
    turn, memory = SegmentPanel(lab.turns[0]), SegmentPanel(lab.memory)
    assert [card.tokens for card in turn.cards] == [card.tokens for card in memory.cards]
    assert "after turn 1" in text(turn.view)
    with pytest.raises(InputError, match=r"a lab, lab\.memory or a Turn"):
        SegmentPanel(lab.table)
    with pytest.raises(traitlets.TraitError):
        SegmentPanel(lab, after="later")


def test_state_brings_the_panel_back():
    panel = SegmentPanel(asked(asking(3)), after="miss")
    assert json.loads(json.dumps(panel.state())) == {"after": "miss"}
    assert "after a miss: cleared, then refilled by the prefetch" in panel.text()


def test_g6_stored_text_stays_text():
    lab = asked(ATTACK, asking(3), responder=StubResponder(default=ATTACK))
    lab.table.set_personality(ATTACK * 2000)
    panel = SegmentPanel(lab)
    assert not {"img", "script"} & {node[0] for node in nodes(panel.view)}
    assert "onerror" in text(panel.view)
    assert "<img" not in panel.static()
    assert len(json.dumps(panel.view)) < 30_000
