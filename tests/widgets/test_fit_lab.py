"""The fit lab: guess, fit on demand, its words where data are too few, the reader's own points and logs."""

from __future__ import annotations

import json
import statistics
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from ilstma_lab import Dialogue, MemoryTable
from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.data import load_forgetting
from ilstma_lab.forgetting.fitting import fit_recalls
from ilstma_lab.forgetting.recall_log import RecallLog
from ilstma_lab.forgetting.scores import log_loss
from ilstma_lab.forgetting.simulation import simulate_log
from ilstma_lab.forgetting.uncertainty import Interval
from ilstma_lab.widgets import fit_data, fit_lab
from ilstma_lab.widgets.fit_lab import FitLab
from ilstma_lab.widgets.fit_words import interval_words
from ilstma_lab.widgets.light_figure import Pick


def shown(lab: FitLab) -> FitLab:
    assert lab.wait(60)
    assert lab.error is None
    return lab


def trace(lab: FitLab, figure: str, uid: str) -> dict:
    return next(part for part in lab.figures[figure].spec["data"] if part.get("uid") == uid)


def uids(lab: FitLab, figure: str) -> set[str]:
    return {part.get("uid") for part in lab.figures[figure].spec["data"]}


@pytest.fixture(scope="module")
def fitted() -> FitLab:
    return shown(FitLab(fit=True))


def test_at_first_the_papers_curve_stands_beside_the_data_and_nothing_is_fitted():
    lab = FitLab()
    assert lab.parameters.n == 2
    curve = trace(lab, "data", "curve1")
    assert curve["y"] == pytest.approx(np.exp(-curve["x"] / 5.0))
    assert lab.drawing.finding == "Your guess misses by .455 nats a question, a constant by .684"
    assert lab.figures["surface"].alt == "Press Fit to see it."
    assert [name for name, on in lab._screen.presets.view["presets"] if on] == ["Paper's curve"]


def test_the_guess_is_scored_as_the_library_scores_it():
    lab = FitLab(sigmoid_rate=0.5)
    log = RecallLog.of(load_forgetting("simulated_recall_log"))
    strength = 5 + 18.5 * np.tanh(0.25 * (log.recall_times - 1))
    assert f"{log_loss(log.recalled, np.exp(-log.interval_days / strength)):.3f}"[1:] in lab.drawing.live


def test_fit_gives_the_librarys_numbers_with_errors_and_intervals(fitted):
    fit = fit_recalls(RecallLog.of(load_forgetting("simulated_recall_log")))
    numbers = fitted.drawing.panels["numbers"]
    for name, value in fit.values.items():
        assert f"{value:.3g} ± {fit.standard_errors[name]:.2g}" in numbers
    assert "20.4 to 30.5" in numbers
    assert fitted.drawing.finding == "S(1) is known within a factor of 1.3, rate within 5.7"
    assert trace(fitted, "data", "beside")["line"]["dash"] != "solid"
    assert trace(fitted, "surface", "ink-ring")["x"] == [pytest.approx(fit.values["limit_days"])]
    assert "On later data the fit beats a constant" in fitted.drawing.panels["scores"]
    assert "log loss, later" in fitted.drawing.panels["scores"]
    assert fitted.figures["calibration"].title.startswith("Predictions are off by")


def test_a_slider_moves_the_guess_and_never_fits(fitted, monkeypatch):
    lab = shown(FitLab(fit=True))
    best = trace(lab, "surface", "ink-ring")["x"]
    monkeypatch.setattr(fit_lab, "trust", lambda *_, **__: pytest.fail("a guess was dragged, nothing else"))
    before = trace(lab, "data", "beside")["y"]
    lab.sigmoid_limit_days.value = 40.0
    assert trace(lab, "data", "beside")["y"][-1] > before[-1]
    assert trace(lab, "surface", "ink-ring")["x"] == best
    assert trace(lab, "surface", "ink-guess")["x"][0] > best[0]
    assert not lab._screen.head.view["busy"]


def test_a_fit_is_made_once_and_remembered(monkeypatch):
    made = []
    real = fit_lab.trust
    monkeypatch.setattr(fit_lab, "trust", lambda *given, **more: made.append(1) or real(*given, **more))
    lab = FitLab()
    assert not made
    for on in (True, False, True):
        lab.fit.value = on
        shown(lab)
    assert len(made) == 1
    lab.strength.value = "linear"
    shown(lab)
    assert len(made) == 2


def test_h6_while_a_fit_runs_the_lab_is_busy_and_answers_and_the_fit_arrives(monkeypatch):
    inside, go_on = threading.Event(), threading.Event()
    real = fit_lab.trust

    def slow(*given, **more):
        inside.set()
        assert go_on.wait(20)
        return real(*given, **more)

    monkeypatch.setattr(fit_lab, "trust", slow)
    lab = FitLab(items=40)
    lab.fit.value = True
    assert inside.wait(20)
    assert lab._screen.head.view["busy"]
    lab.sigmoid_rate.value = 0.7
    assert lab.drawing.finding.startswith("Your guess misses")
    go_on.set()
    shown(lab)
    assert not lab._screen.head.view["busy"]
    assert "beside" in uids(lab, "data"), "the fit stands, and the guess that was dragged meanwhile beside it"


def test_bootstrap_by_item_comes_on_demand_and_goes_with_the_model(monkeypatch):
    monkeypatch.setattr(fit_lab, "_DRAWS", 20)
    lab = shown(FitLab(items=60, fit=True))
    assert "by item" not in lab.drawing.panels["numbers"]
    lab.bootstrap.value = True
    assert "by item" in shown(lab).drawing.panels["numbers"]
    lab.strength.value = "power"
    assert not shown(lab).parameters.bootstrap


@pytest.mark.parametrize("strength", ["sigmoid", "linear", "power"])
@pytest.mark.parametrize("retention", ["exponential", "stretched", "fsrs"])
def test_every_model_is_fitted_and_drawn(strength, retention):
    lab = shown(FitLab(strength=strength, retention=retention, items=80, fit=True))
    assert trace(lab, "surface", "contour")["z"].shape == (61, 61)
    kept = {"sigmoid": 3, "linear": 2, "power": 2}[strength] + (retention != "exponential")
    assert lab.drawing.panels["numbers"].count("<tr>") == kept + 1
    exec(lab.drawing.code, {})


ALL = simulate_log(items=40, questions=4)
C11 = {
    "all hits": (ALL.where(ALL.recalled), "all were recalled"),
    "all misses": (ALL.where(~ALL.recalled), "none was recalled"),
    "one row": (ALL.where(np.arange(len(ALL)) == 0), "1 questions, and 30 are needed"),
    "constant interval": (ALL.where(ALL.interval_days == 4), ""),
    "no row": (ALL.where(np.zeros(len(ALL), bool)), "0 questions"),
}


@pytest.mark.parametrize(("log", "reason"), C11.values(), ids=C11)
def test_c11_where_a_log_cannot_tell_the_defaults_stand_and_words_say_why(log, reason):
    lab = shown(FitLab(log, fit=True))
    assert lab.drawing.finding == ("Not identifiable: the defaults stand" if len(log) else "There is no question to fit")
    numbers = lab.drawing.panels["numbers"]
    assert f"Not identifiable: {reason}" in numbers
    assert numbers.count("anything") == 3, "each interval is all that is allowed"
    assert "defaults" in lab.drawing.panels["scores"]
    for name in lab.figures:
        lab.figure(name)


def test_c11_constant_interval_with_enough_questions():
    log = simulate_log(items=60, questions=3, gaps_days=(4.0,))
    assert "all intervals are alike" in shown(FitLab(log, fit=True)).drawing.panels["numbers"]


def test_c11_as_few_points_as_make_no_curve():
    lab = shown(FitLab(data="points", points="1 5, 2 9", fit=True))
    assert "2 different points for 3 free numbers" in lab.drawing.panels["numbers"]
    assert lab.drawing.finding == "Not identifiable: the defaults stand"
    assert shown(FitLab(data="points", points="1 5", fit=True)).drawing.finding == "Not identifiable: the defaults stand"


def test_chapter_viii_grows_by_the_same_step_and_does_not_tell_a_sigmoid():
    lab = shown(FitLab(data="daily36", strength="linear", fit=True))
    assert "2.58 ± 0.14" in lab.drawing.panels["numbers"]
    assert trace(lab, "data", "hollow")["y"].round(2).tolist() == [1.79, 4.15, 6.07, 9.67, 11.94]
    assert lab.retention.layout.display == "none"
    lab.strength.value = "sigmoid"
    shown(lab)
    assert lab.drawing.finding == "These data do not tell S(1), S(∞) and rate"
    assert "Not identifiable from these data: S(∞), rate." in lab.drawing.panels["numbers"]
    assert "A flat valley" in lab.figures["surface"].title


def test_points_are_edited_in_the_table_and_by_arrow_keys():
    lab = shown(FitLab(data="points", strength="linear", points="1 5, 2 10, 3 15", fit=True))
    lab.points.value = "1 5, 2 10, 3 15, 4 26"
    shown(lab)
    assert trace(lab, "data", "hollow")["y"].tolist() == [5, 10, 15, 26]
    lab._pick("data", Pick("click", "S seen", 4, 26))
    assert trace(lab, "data", "ink-ring")["x"] == [4]
    lab._pick("data", Pick("step", "", 0, -1))
    assert shown(lab).parameters.points == "1 5, 2 10, 3 15, 4 25.5"
    lab._pick("data", Pick("step", "", -1, 0))
    assert trace(lab, "data", "ink-ring")["x"] == [3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "at least one"),
        ("1 5, x", "point 2 must be two numbers"),
        ("0 5", "counted from 1"),
        ("1 -2", "positive"),
        ("1 nan", "positive"),
    ],
)
def test_points_that_cannot_be_taken_are_said_above_what_worked_last(text, said):
    lab = FitLab(data="points")
    before = trace(lab, "data", "hollow")["y"]
    lab.points.value = text
    assert said in lab._screen.head.view["error"]
    assert trace(lab, "data", "hollow")["y"] is before
    lab.points.value = "1 5, 2 8"
    assert lab._screen.head.view["error"] == ""


def test_pointing_at_the_likelihood_shows_that_curve_and_a_click_takes_it(fitted):
    lab = shown(FitLab(fit=True))
    before = trace(lab, "data", "beside")["y"]
    lab._pick("surface", Pick("hover", "likelihood", 30.0, 0.8))
    assert trace(lab, "data", "beside")["y"] is not before
    assert lab.parameters.sigmoid_limit_days == 23.5
    lab._pick("surface", Pick("leave"))
    assert trace(lab, "data", "beside")["y"] == pytest.approx(before)
    lab._pick("surface", Pick("click", "likelihood", 90.0, 0.8))
    assert (lab.parameters.sigmoid_limit_days, lab.parameters.sigmoid_rate) == (60.0, 0.8), "as far as the sliders reach"


def test_n_is_chosen_on_a_curve_and_by_keys():
    lab = FitLab()
    lab._pick("data", Pick("click", "seen, n = 5+", 4, 0.8))
    assert lab.parameters.n == 5
    assert "error_y" in trace(lab, "data", "dot5")
    lab._pick("data", Pick("step", "", 1, 0))
    lab._pick("data", Pick("step", "", -1, 0))
    assert lab.parameters.n == 4


def test_state_and_python_make_a_round_trip():
    lab = shown(FitLab(data="daily24", strength="power", power_exponent=1.25, fit=True, n=3))
    again = shown(FitLab.from_state(json.dumps(lab.state(), allow_nan=False)))
    assert again.state() == lab.state()
    assert again.drawing.panels == lab.drawing.panels
    assert "kind" not in lab.python()
    assert eval(lab.python().rsplit("\n", 1)[-1], {"FitLab": FitLab}).state() == lab.state()


def test_a_state_does_not_hold_the_readers_log_and_says_so():
    log = simulate_log(items=30, questions=4)
    lab = shown(FitLab(log, fit=True))
    assert lab.python().endswith("FitLab(log, data='yours', fit=True)")
    assert eval(lab.python().rsplit("\n", 1)[-1], {"FitLab": FitLab, "log": log}).state() == lab.state()
    again = FitLab.from_state(lab.state())
    assert "lab.give(log)" in again.drawing.sub
    again.give(log)
    assert shown(again).drawing.panels == lab.drawing.panels
    assert shown(FitLab.from_state(lab.state(), log=log)).drawing.panels == lab.drawing.panels


def test_an_own_log_comes_in_several_forms():
    log = simulate_log(items=20, questions=3)
    for source in (
        log,
        log.to_frame(),
        {name: getattr(log, name) for name in ("item", "at_days", "interval_days", "recall_times", "recalled")},
    ):
        assert len(fit_data.own(source)) == 60
    with pytest.raises(InputError, match="Give a RecallLog"):
        FitLab(3)
    with pytest.raises(InputError, match="missing: interval_days"):
        FitLab({"item": [1], "at_days": [0], "recall_times": [1], "recalled": [1]})


def test_a_memory_table_holds_recalls_only_which_the_lab_says():
    table = MemoryTable.from_dialogues([Dialogue("My cat is called Momo.", "Noted.", "2024-01-01T00:00:00Z", "0")])
    table.touch([0], "2024-01-03T00:00:00Z", "What is my cat called?")
    table.touch([0], "2024-01-08T00:00:00Z", "And the cat?")
    data = fit_data.own(SimpleNamespace(table=table))
    assert data.log.interval_days.tolist() == [2.0, 5.0]
    assert data.log.recall_times.tolist() == [1, 2]
    lab = shown(FitLab(table, fit=True))
    assert "0 not recalled" in lab.drawing.sub
    assert lab.drawing.finding == "Not identifiable: the defaults stand"
    table.close()


@pytest.mark.parametrize("name", FitLab.presets)
def test_each_preset_is_shown_and_marked(name):
    lab = FitLab(n=4)
    lab.preset(name)
    shown(lab)
    assert [name, True] in lab._screen.presets.view["presets"]
    assert lab.parameters.n == 4
    lab.reset()
    assert lab.parameters == FitLab().parameters


def test_an_interval_in_words():
    assert interval_words(Interval(0.05, 3.41, low_closed=False)) == "below 3.41"
    assert interval_words(Interval(0.05, 10, low_closed=False, high_closed=False)) == "anything"


def test_a_slider_event_takes_less_than_fifty_milliseconds(fitted):
    lab = shown(FitLab(fit=True))
    taken = []
    for number in range(1, 22):
        begin = time.perf_counter()
        lab.sigmoid_rate.value = 0.1 * number
        taken.append(time.perf_counter() - begin)
    assert statistics.median(taken) < 0.05
