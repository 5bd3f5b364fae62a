"""The what-if screen, set from Python: it waits for nothing, shows the newest alone, and refuses what it cannot compare."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import timedelta
from time import perf_counter

import pytest

from ilstma_lab import Config
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.what_if import WhatIfResult, what_if
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.replay import start_session
from ilstma_lab.reprs.what_if import summary_of, what_if_sides
from ilstma_lab.widgets import WhatIf
from ilstma_lab.widgets.light_figure import Pick
from tests.test_replay import FakeChat, prompted_models
from tests.test_what_if import ATTACK, NARROW, QUESTIONS, START, new_lab, recorded


@pytest.fixture
def session():
    return recorded(new_lab(config=NARROW))


@pytest.fixture
def screen(session):
    return done(WhatIf(session))


def done(screen: WhatIf) -> WhatIf:
    assert screen.wait(30)
    assert screen.error is None
    return screen


def test_it_begins_at_the_last_turn_with_nothing_changed(screen):
    assert screen.parameters.number == 4
    assert screen.result.changes == ()
    assert "nothing changes" in screen.drawing.finding


def test_a_slider_runs_the_session_again(screen):
    screen.k.value = 5
    done(screen)
    assert screen.drawing.finding == "With k = 5, row 1 would have been cached: turn 2 hits"
    assert "First to change" in screen.drawing.sub
    assert "turn 2: " not in screen.text()
    assert "Turn 2, miss -> hit" in screen.text()


def test_it_says_which_turn_is_shown_where_the_finding_speaks_of_another(screen):
    screen.set(k=5)
    done(screen)
    assert "turn 2 hits" in screen.drawing.finding
    assert screen.drawing.sub.endswith("Shown below: turn 4.")
    screen.set(number=2)
    assert "Shown below" not in done(screen).drawing.sub


def test_no_relevant_segment_is_told_in_words(screen):
    screen.set(relevant=False)
    assert done(screen).drawing.finding.startswith("With no recalled rows shown, ")


def test_turns_are_listed_in_rising_order(session):
    told = str(what_if(session, config=Config(prefetch=WindowPrefetch(k=5, offset=2))))
    numbers = [int(line.split(",")[0].removeprefix("Turn ")) for line in told.splitlines() if line.startswith("Turn ")]
    assert numbers == sorted(numbers)
    assert len(numbers) > 1


def echoing(result: WhatIfResult, *, before: bool) -> WhatIfResult:
    """The result with an echo first in B's ranking of the first turn, as recorded or as run again."""
    turns = result.recorded if before else result.replayed
    recall = turns[0].recall
    echo = replace(recall.branch_b.candidates[0], index=77, won=False, kind="asked", echo_of=(0,))
    branch = replace(recall.branch_b, candidates=(echo, *recall.branch_b.candidates))
    turn = replace(turns[0], recall=replace(recall, branch_b=branch))
    return replace(result, **{"recorded" if before else "replayed": (turn, *turns[1:])})


@pytest.mark.parametrize("before", [True, False])
def test_an_echo_is_no_candidate_and_its_move_no_change(session, before):
    result = echoing(what_if(session), before=before)
    assert [change.name for change in result.changes] == ["B's ranking"]
    assert "nothing changes" in result.finding
    assert "First to change" not in summary_of(result)
    assert "77" not in what_if_sides(result, 0)


def test_moving_a_slider_computes_nothing_meanwhile(screen):
    begun = perf_counter()
    for k in (2, 3, 4, 5, 4, 3, 2):
        screen.k.value = k
    assert perf_counter() - begun < 1, "seven moves draw what is known, and wait for no replay"
    done(screen)
    assert screen.result.settings == ("k = 2",)


@pytest.mark.parametrize(
    ("name", "value", "settings"),
    [
        ("offset", 4, ("offset 4",)),
        ("form", "literal", ("literal place",)),
        ("curve", "power", ("the power curve",)),
        ("first_days", 9.0, ("S(1) = 9 days and S(∞) = 23.5 days",)),
        ("ranking", "measured", ("B with other words, preceding, days",)),
        ("narrow", "never", ("narrowing: never",)),
        ("embedder", "hashed", ("the embedder hashed-words-1024",)),
        ("history", 0, ("a history of 0 turns",)),
        ("budget", 200, ("200 tokens",)),
        ("days", 30, ("the clock 30 days on",)),
        ("cache", False, ("no cache",)),
        ("summary", False, ("no summary",)),
    ],
)
def test_every_control_is_a_setting_and_its_python_gives_the_same(session, screen, name, value, settings):
    screen.set(**{name: value})
    done(screen)
    assert screen.result.settings == settings
    *lines, last = screen.drawing.code.splitlines()
    names = {"session": session}
    exec("\n".join(lines), names)  # the kit's own code, as a reader would paste it
    assert eval(last, names).finding == screen.result.finding
    screen.reset()
    assert done(screen).result.settings == ()


def test_a_click_and_an_arrow_key_choose_the_turn(screen):
    screen._pick("turns", Pick("click", x=2.2))
    assert screen.parameters.number == 2
    screen._pick("turns", Pick("step", x=-1))
    screen._pick("turns", Pick("step", x=-1))
    assert screen.parameters.number == 1
    assert QUESTIONS[0] in screen.drawing.panels["sides"]


def test_one_turn_alone(screen):
    screen.set(number=2, alone=True, k=5)
    done(screen)
    assert (screen.result.first, len(screen.result.replayed)) == (1, 1)
    assert not screen.result.flips


def test_k_stays_within_the_window(screen):
    screen.set(k=9, offset=1)
    assert screen.parameters.k == 3


def test_it_is_written_and_read_again(session, screen):
    screen.set(k=5, number=2)
    done(screen)
    again = done(WhatIf.from_state(json.dumps(screen.state()), session))
    assert asdict(again.parameters) == asdict(screen.parameters)
    assert again.python() == screen.python() == "from ilstma_lab.widgets import WhatIf\n\nWhatIf(session, turn=1, k=5)"
    bundle = screen._repr_mimebundle_()
    assert "would have been cached" in bundle["text/html"]
    assert "<script" not in bundle["text/html"]


def test_an_unknown_prompt_stops_it_until_a_choice_is_made():
    chat = FakeChat()
    session = recorded(new_lab(prompted_models(chat)))
    chat.broken = True
    screen = done(WhatIf(session, k=1))
    assert "Stopped at turn 2" in screen.drawing.sub
    screen.unknown.value = "offline"
    done(screen)
    assert len(screen.result.replayed) == 4
    assert "labelled" in screen.drawing.sub
    assert "for this prompt was never sent" in screen.drawing.panels["sides"]


def test_a_strength_of_another_kind_is_kept_until_it_is_changed():
    from ilstma_lab.forgetting.strength import LinearStrength

    lab = new_lab(config=Config(prefetch=WindowPrefetch(k=1, strength=LinearStrength())))
    assert done(WhatIf(recorded(lab))).result.settings == ()


def test_what_others_wrote_is_text_on_the_screen():
    screen = done(WhatIf(recorded(new_lab(), (f"What leaks {ATTACK}?", QUESTIONS[1])), turn=0))
    for html in (screen.drawing.panels["sides"], screen.static()):
        assert "<img" not in html
        assert "&lt;/script&gt;" in html


def test_what_cannot_be_compared_is_refused(session):
    for given in (session.turns, new_lab()):
        with pytest.raises(InputError, match="start_session"):
            WhatIf(given)
    with pytest.raises(InputError, match="there is no turn 7"):
        WhatIf(session, turn=7)


def test_a_failed_turn_is_refused_and_the_others_keep_their_places():
    chat = FakeChat()
    lab = new_lab(prompted_models(chat))
    session = start_session(lab)
    lab.ask(QUESTIONS[0], at=START + timedelta(days=9))
    chat.broken = True
    assert lab.ask(QUESTIONS[1], at=START + timedelta(days=9, minutes=1)).failure
    chat.broken = False
    lab.retry()
    with pytest.raises(InputError, match="turn 1 failed"):
        WhatIf(session, turn=1)
    assert done(WhatIf(session, turn=2)).parameters.number == 2
