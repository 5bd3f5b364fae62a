"""The base of explorables, on a small lab made here: controls, state, presets, errors, slow work."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from typing import ClassVar

import ipywidgets
import numpy as np
import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.reprs.markup import tag
from ilstma_lab.widgets.controls import choice, slider, switch
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick

ATTACK = "</script><img src=x onerror=alert(1)>"


@dataclass(frozen=True)
class LineParameters:
    slope: float = slider(1.0, 0, 5, 0.1, label="Slope", about="how steep", unit="per day")
    steps: int = slider(5, 2, 9, 1, label="Steps", live=False)
    kind: str = choice("line", {"Line": "line", "Square": "square"})
    bend: float = slider(2.0, 1, 3, 0.1, label="Bend", when=("kind", "square"))
    doubled: bool = switch(False, label="Twice")
    at: int = slider(1, 0, 4, 1, label="Chosen place", shown=False)


class Line(Explorable):
    Parameters = LineParameters
    eyebrow = "A line"
    presets: ClassVar = {"Usual": LineParameters(), "Steep": LineParameters(slope=4.0)}

    def compute(self, p: LineParameters) -> np.ndarray:
        self.computed = [*self.__dict__.get("computed", []), p]
        if p.slope == 0:
            raise InputError("a slope of 0 is no line: raise it")
        if p.slope == 5:
            raise ZeroDivisionError("five")
        return p.slope * np.arange(p.steps) * (1 + p.doubled)

    def draw(self, p: LineParameters, result: np.ndarray) -> Drawing:
        trace = {"type": "scatter", "name": "y", "x": np.arange(p.steps), "y": result}
        layout = {"title": {"text": f"Up to {result[-1]:g}"}, "meta": {"description": f"A line to {result[-1]:g}."}}
        panels = {"note": tag("p", ATTACK)}
        return Drawing(f"It ends at {result[-1]:g}", figures={"line": {"data": [trace], "layout": layout}}, panels=panels)

    def picked(self, figure: str, pick: Pick, p: LineParameters) -> LineParameters:
        return replace(p, slope=pick.y, at=int(pick.x))


def ys(lab: Explorable) -> list[float]:
    return np.asarray(lab.figure().data[0].y).round(6).tolist()


def test_a_control_set_from_python_changes_the_trace_and_the_finding():
    lab = Line()
    lab.slope.value = 2.5
    assert ys(lab) == [0, 2.5, 5, 7.5, 10]
    assert lab.drawing.finding == "It ends at 10"
    assert lab.figures["line"].title == "Up to 10"
    assert lab.figures["line"].alt == "A line to 10."
    lab.steps.value = 3
    lab.doubled.value = True
    assert ys(lab) == [0, 5, 10]


def test_controls_say_units_and_mark_the_default():
    lab = Line(slope=3.0)
    words = lab.slope.description
    assert "<b>Slope</b>, how steep" in words
    assert "per day" in words
    assert "0.2000 *" in words, "the tick stands at the default, not where the reader is"
    assert isinstance(lab.kind, ipywidgets.ToggleButtons)
    assert (lab.slope.continuous_update, lab.steps.continuous_update) == (True, False)


def test_a_control_is_shown_only_when_it_matters():
    lab = Line()
    assert lab.bend.layout.display == "none"
    lab.kind.value = "square"
    assert lab.bend.layout.display is None
    assert lab.at.layout.display == "none"


def test_state_makes_a_round_trip_through_json():
    lab = Line(slope=2.0, kind="square")
    again = Line.from_state(json.dumps(lab.state(), allow_nan=False))
    assert again.state() == lab.state()
    assert ys(again) == ys(lab)


@pytest.mark.parametrize("state", ["{", {}, [1], {"explorable": "Other", "version": 1, "parameters": {}}, {"explorable": "Line"}])
def test_a_foreign_state_is_refused(state):
    with pytest.raises(InputError, match="state"):
        Line.from_state(state)


def test_every_value_that_cannot_be_taken_is_named():
    with pytest.raises(InputError, match=r"slope must be a number from 0 to 5 \(got 9\); kind .*; colour is unknown|colour"):
        Line(slope=9, kind="cube", colour="red")
    lab = Line()
    with pytest.raises(InputError, match="doubled must be true or false"):
        lab.set(doubled="yes")
    assert lab.parameters == LineParameters()


def test_copied_python_builds_the_same():
    lab = Line(slope=2.0, doubled=True)
    code = lab.python().rsplit("\n", 1)[-1]
    assert eval(code, {"Line": Line}).state() == lab.state()


def test_presets_and_reset():
    lab = Line(at=3)
    assert lab._screen.presets.view == {"presets": [["Usual", True], ["Steep", False]], "yours": False}
    lab._press("preset", "Steep")
    assert (lab.parameters.slope, lab.parameters.at) == (4.0, 3), "a chosen place stays"
    assert lab._screen.presets.view["presets"][1] == ["Steep", True]
    lab.slope.value = 3.5
    assert lab._screen.presets.view["yours"]
    lab._press("reset", "")
    assert lab.parameters == LineParameters()
    assert lab.slope.value == 1.0
    with pytest.raises(InputError, match="Usual, Steep"):
        lab.preset("Other")


def test_an_error_is_shown_in_the_widget_above_what_worked_last():
    lab = Line()
    lab.slope.value = 0.0
    assert lab._screen.head.view["error"] == "a slope of 0 is no line: raise it"
    assert ys(lab) == [0, 1, 2, 3, 4]
    lab.slope.value = 5.0
    assert lab._screen.head.view["error"].startswith("ZeroDivisionError: five.")
    lab.slope.value = 2.0
    assert lab._screen.head.view["error"] == ""
    assert lab.error is None
    with pytest.raises(ZeroDivisionError):
        lab.set(slope=5.0)


def test_a_hover_is_a_look_and_a_click_a_choice():
    lab = Line()
    figure = lab.figures["line"]
    figure._receive(figure, {"kind": "hover", "trace": "y", "x": 2, "y": 3.0}, [])
    assert ys(lab)[1] == 3.0
    assert lab.parameters == LineParameters()
    figure._receive(figure, {"kind": "leave", "x": 0, "y": 0}, [])
    assert ys(lab)[1] == 1.0
    figure._receive(figure, {"kind": "click", "trace": "y", "x": 2, "y": 3.0}, [])
    assert (lab.parameters.slope, lab.parameters.at, lab.at.value) == (3.0, 2, 2)
    for message in ({}, {"kind": "rm"}, {"kind": "click", "x": "2", "y": 0}):
        figure._receive(figure, message, [])
    assert lab.parameters.at == 2


def test_set_draws_once():
    lab = Line()
    before = len(lab.computed)
    lab.set(slope=2.0, steps=4, kind="square", doubled=True)
    assert len(lab.computed) == before + 1


def test_h3_shown_three_times_and_made_three_times_a_change_computes_once():
    labs = [Line() for _ in range(3)]
    for _ in range(3):
        labs[-1]._repr_mimebundle_()
    before = [len(lab.computed) for lab in labs]
    labs[-1].slope.value = 2.0
    assert [len(lab.computed) for lab in labs] == [before[0], before[1], before[2] + 1]


def test_a_slider_stands_on_its_steps_and_leaves_what_lies_between_alone():
    lab = Line(slope=1.234)
    assert lab.slope.value == 1.2
    lab.doubled.value = True
    assert lab.parameters.slope == 1.234
    lab.slope.value = 0.1 + 0.2
    assert lab.slope.value == lab.parameters.slope == 0.3


def test_h6_a_stale_answer_of_the_browser_does_not_undo_the_last_value():
    lab = Line()
    for value in (2.0, 3.0, 4.0):
        lab.slope.value = value
    lab.slope.set_state({"value": 3.0000000000000004})
    assert lab.parameters.slope == lab.slope.value == 4.0
    lab.slope.set_state({"value": 4.1})  # a reader's key
    lab.slope.set_state({"value": 3.0})
    assert lab.parameters.slope == 3.0


class Slow(Line):
    def compute(self, p: LineParameters) -> np.ndarray:
        return np.zeros(p.steps)

    def refine(self, p: LineParameters, result: np.ndarray) -> np.ndarray:
        self.refined = [*self.__dict__.get("refined", []), p.slope]
        if "inside" in self.__dict__:
            self.inside.set()
            self.go_on.wait(10)
        if p.slope == 0:
            raise InputError("a slope of 0 is no line: raise it")
        return Line.compute(self, p)


def test_h6_of_fifty_quick_changes_three_are_computed_at_most_and_the_last_one_wins():
    lab = Slow()
    assert lab.wait(10)
    lab.refined, lab.inside, lab.go_on = [], threading.Event(), threading.Event()
    for number in range(1, 51):
        lab.slope.value = number / 20
    assert lab.inside.wait(10)
    assert lab._screen.head.view["busy"]
    lab.go_on.set()
    assert lab.wait(10)
    assert len(lab.refined) <= 3
    assert lab.refined[-1] == 2.5
    assert ys(lab)[1] == 2.5
    assert not lab._screen.head.view["busy"]


def test_an_error_of_slow_work_is_shown_too():
    lab = Slow()
    lab.slope.value = 0.0
    assert lab.wait(10)
    assert lab._screen.head.view["error"] == "a slope of 0 is no line: raise it"


def test_tables_stand_in_for_figures():
    lab = Line(steps=3)
    lab._press("table", "")
    figure = lab.figures["line"]
    assert figure.as_table
    assert figure.tables == [{"head": ["x", "y"], "rows": [["0", "0"], ["1", "1"], ["2", "2"]]}]
    lab.slope.value = 2.0
    assert figure.tables[0]["rows"][1] == ["1", "2"]


def test_g6_what_stands_in_for_the_widget_is_escaped():
    lab = Line()
    bundle = lab._repr_mimebundle_()
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "<img" not in bundle["text/html"]
    assert "&lt;img" in bundle["text/html"]
    assert "It ends at 4" in bundle["text/plain"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_an_unknown_name_says_what_there_is():
    with pytest.raises(AttributeError, match="its parameters: slope, steps"):
        _ = Line().speed
    with pytest.raises(InputError, match="there are line"):
        Line().figure("map")


@pytest.mark.parametrize("value", [2.5, 10, "3", True, float("nan")])
def test_a_whole_number_takes_no_fraction(value):
    lab = Line()
    with pytest.raises(InputError, match=r"steps must be a whole number from 2 to 9 \(got "):
        lab.set(steps=value)
    assert (lab.parameters, lab.error) == (LineParameters(), None)


def test_numbers_are_held_as_their_parameter_is_whatever_kind_is_given():
    lab = Line(slope=2, steps=np.int64(4))
    lab.set(at=3.0)
    assert lab.python().rsplit("\n", 1)[-1] == "Line(slope=2.0, steps=4, at=3)"
    lab.slope.value = 2.5
    assert lab.parameters.slope == 2.5, "a whole number given to a slider of fractions does not make it whole"


def test_a_set_that_fails_leaves_all_as_it_was():
    lab = Line(slope=2.0)
    with pytest.raises(InputError, match="no line"):
        lab.set(slope=0.0, steps=3)
    assert (lab.parameters, lab.slope.value, lab.error) == (LineParameters(slope=2.0), 2.0, None)
    assert lab._screen.head.view["error"] == ""
    assert ys(lab) == [0, 2, 4, 6, 8]


def test_bounds_are_written_plainly_or_said_in_words():
    assert slider(1, 0, 2**31, 1, label="").metadata["control"].problem(-1) == "must be a whole number from 0 to 2147483648"
    worded = slider(1, 0, 9, 1, label="", meaning="the index of a row").metadata["control"]
    assert worded.problem(1.5) == "must be the index of a row"
    assert slider(1, 1, 1, 1, label="").metadata["control"].widget(1).value == 1, "bounds that meet"


def test_a_pick_that_fails_is_shown_in_the_widget():
    lab = Line()
    lab._pick("line", Pick("click", "y", float("nan"), 1))
    assert "nan" in lab._screen.head.view["error"].lower()
