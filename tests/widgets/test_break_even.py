"""The break-even chart: the paper's figures at first, two calls, overlap, and ratios of one's own."""

from __future__ import annotations

import json

import numpy as np
import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.timing import TimeModel
from ilstma_lab.widgets.break_even import BreakEven, ratio_band
from ilstma_lab.widgets.light_figure import Pick


def trace(lab: BreakEven, uid: str) -> dict:
    return next(part for part in lab.figures["pays"].spec["data"] if part["uid"] == uid)


def finding(lab: BreakEven) -> str:
    return lab.drawing.finding.replace("\u00a0", " ")


def test_the_papers_figures_stand_at_first():
    lab = BreakEven()
    assert finding(lab) == "At 35.35 % of hits the cache saves 1.11 s a question; it breaks even at 13.9 %"
    for number in ("0.72 s", "5.89 s", "4.06 s", "13.9 %", "21.4 %"):
        assert number in lab.drawing.panels["numbers"]
    band = ratio_band(0.3535, 259)
    assert (round(band.low, 3), round(band.high, 3)) == (0.295, 0.412)
    assert trace(lab, "band0")["x"] == pytest.approx([band.low, band.high])


def test_a_slower_judge_needs_more_hits():
    lab = BreakEven()
    lab.judge.value = 1.44
    assert "breaks even at 27.9 %" in finding(lab)
    lab.judge.value = 2.0
    assert finding(lab).startswith("Too close to call: it breaks even at 38.7 %")
    lab.n.value = 0
    assert finding(lab).startswith("At 35.35 % of hits the cache costs 0.17 s")
    lab.judge.value = 6.0
    assert finding(lab).startswith("It can never pay")
    assert "never" in lab.drawing.panels["numbers"]


def test_two_calls_and_overlap_are_the_time_models_own():
    lab = BreakEven(calls=2, judge=1.0, full=5.0, answer=2.0)
    assert lab.compute(lab.parameters).break_even == pytest.approx(1 / 3)
    assert "breaks even at 33.3 %" in finding(lab)
    lab.overlap.value = True
    assert "it pays from the first hit on" in finding(lab)
    assert "max(J, F − A)" in lab.drawing.panels["numbers"]


def test_the_answer_is_a_part_of_the_full_path():
    lab = BreakEven(answer=4.0)
    lab.full.value = 3.0
    assert lab.parameters.answer == 3.0
    assert lab.error is None


def test_a_place_on_the_line_is_picked_or_stepped_to():
    lab = BreakEven(ratio=50.0)
    lab._pick("pays", Pick("click", "with the cache, s", 0.25, 4.0))
    assert lab.parameters.ratio == 25.0
    lab._pick("pays", Pick("step", "", 1, 0))
    assert lab.parameters.ratio == 26.0
    lab._pick("pays", Pick("click", "with the cache, s", -0.5, 4.0))
    lab._pick("pays", Pick("step", "", -1, 0))
    assert lab.parameters.ratio == 0.0
    assert lab.error is None


@pytest.mark.parametrize("name", BreakEven.presets)
def test_each_preset_is_marked_and_reset_leads_back(name):
    lab = BreakEven(judge=3.0)
    lab.preset(name)
    assert lab.error is None
    assert [name, True] in lab._screen.presets.view["presets"]
    lab.reset()
    assert lab.parameters == BreakEven().parameters


def test_ratios_of_ones_own_stand_on_the_line_as_text():
    ratios = {"<b>mine</b>": Band(0.1, 0.04, 0.17), "next 3": 0.07}
    lab = BreakEven(ratios)
    model = lab.compute(lab.parameters)
    assert trace(lab, "dot-ratios")["y"][:2] == pytest.approx([model.mean_seconds(0.1), model.mean_seconds(0.07)])
    assert "&lt;b&gt;mine" in str(trace(lab, "words-right")["text"])
    assert "<b>mine" not in lab.static()
    assert BreakEven.from_state(json.dumps(lab.state()), ratios).text() == lab.text()


def test_what_is_copied_as_python_runs():
    lab = BreakEven(judge=1.5, calls=2)
    names: dict = {}
    exec(lab.drawing.code.replace("TimeModel(", "model = TimeModel("), names)
    assert names["model"] == lab.compute(lab.parameters)
    assert isinstance(names["model"], TimeModel)
    exec(lab.python().replace("BreakEven(", "again = BreakEven("), names)
    assert names["again"].parameters == lab.parameters
    assert BreakEven({"next 3": 0.07}).python().endswith("BreakEven(ratios)")


def test_without_a_judges_seconds_the_sentence_still_reads():
    assert finding(BreakEven(judge=0)) == "At 35.35 % of hits the cache saves 1.83 s a question; it pays from the first hit on"
    assert finding(BreakEven(judge=0, ratio=1.0, n=50)).startswith("At 1.00 % of hits the cache saves")


@pytest.mark.parametrize(
    ("ratios", "said"),
    [
        ([0.3], "by name"),
        ({0: 0.1}, "a name of its own"),
        ({"this ratio": 0.1}, "a name of its own"),
        ({"a": 35}, "shares from 0 to 1: 'a' is 35"),
        ({"a": float("nan")}, "shares from 0 to 1"),
        ({"a": "0.3"}, "shares from 0 to 1"),
        ({"a": Band(0.3, 0.2, float("nan"))}, "shares from 0 to 1"),
    ],
)
def test_what_is_no_ratio_is_refused(ratios, said):
    with pytest.raises(InputError, match=said):
        BreakEven(ratios)


def test_a_ratio_may_be_a_numpy_number():
    lab = BreakEven({"mine": np.float64(0.1)}, n=np.int64(0))
    assert trace(lab, "dot-ratios")["x"][0] == 0.1
    json.dumps(lab.state())
