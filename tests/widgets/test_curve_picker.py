"""The curve picker on Ebbinghaus' seven points: known errors of fit, sliders against best fit."""

from __future__ import annotations

import pytest

from ilstma_lab.widgets.curve_picker import CURVES, CurvePicker, best


@pytest.mark.parametrize(
    ("kind", "rmse"), [("exponential", 0.255), ("power", 0.019), ("ebbinghaus", 0.016), ("wickelgren", 0.019), ("fsrs", 0.027)]
)
def test_each_curve_at_its_best_misses_by_what_is_known(kind, rmse):
    lab = CurvePicker(curve=kind, fit=True)
    assert lab.drawing.finding == f"{CURVES[kind][0]} misses the seven points by {rmse:.3f}".replace(" 0.", " .")


def test_his_own_constants():
    assert CurvePicker(curve="ebbinghaus").drawing.finding.endswith(".017")


def test_best_fit_moves_the_sliders_and_a_dragged_slider_ends_it():
    lab = CurvePicker(curve="power")
    lab.power_exponent.value = 0.4
    lab.fit.value = True
    assert lab.parameters.power_exponent == pytest.approx(0.131, abs=5e-4)
    lab.power_exponent.value = 0.131  # the browser's answer, the nearest step: no drag
    assert lab.parameters.fit
    lab.power_scale.value = 0.5
    assert not lab.parameters.fit
    assert not lab.fit.value
    lab.fit.value = True
    lab.curve.value = "logarithmic"
    assert lab.parameters.logarithmic_slope == pytest.approx(best("logarithmic").values["slope"])


def test_only_the_chosen_curves_sliders_are_shown():
    lab = CurvePicker()
    lab.curve.value = "ebbinghaus"
    shown = [name for name, control in lab.controls.items() if control.layout.display is None]
    assert shown == ["curve", "fit", "ebbinghaus_k", "ebbinghaus_c", "axis", "others"]


def test_time_in_decades_or_even():
    lab = CurvePicker()
    assert lab.figure("curves").layout.xaxis.type == "log"
    lab.axis.value = "even"
    assert lab.figure("curves").layout.xaxis.type == "linear"
    assert lab.figure("residuals").layout.xaxis.type == "linear"


@pytest.mark.parametrize("name", CurvePicker.presets)
def test_each_preset_is_marked(name):
    lab = CurvePicker()
    lab.preset(name)
    assert [name, True] in lab._screen.presets.view["presets"]


def test_copied_code_gives_the_curve_at_the_points():
    lab = CurvePicker(curve="power", fit=True)
    *lines, last = lab.drawing.code.splitlines()
    names: dict = {}
    exec("\n".join([*lines, f"said = {last}"]), names)
    assert names["said"].tolist() == pytest.approx(lab.compute(lab.parameters)[1].tolist())
