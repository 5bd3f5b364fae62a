"""The sigmoid explorer: the paper's numbers, two ways to say a curve, three linked views."""

from __future__ import annotations

import numpy as np
import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.strength import SigmoidStrength
from ilstma_lab.widgets.light_figure import Pick
from ilstma_lab.widgets.sigmoid_explorer import SigmoidExplorer


def trace(lab: SigmoidExplorer, figure: str, uid: str) -> dict:
    return next(part for part in lab.figures[figure].spec["data"] if part.get("uid") == uid)


def test_the_papers_numbers_stand_at_first():
    lab = SigmoidExplorer()
    assert trace(lab, "strength", "dot")["y"][:5].round(3).tolist() == [5.0, 16.75, 21.745, 23.093, 23.409]
    assert "R(7, 2) = .658" in str(trace(lab, "retention", "words-chosen")["text"])
    assert lab.drawing.finding == "A second recall adds 11.8 days of strength, a fifth only 0.3"


def test_three_wishes_of_the_mock_screen():
    lab = SigmoidExplorer(first_days=8.0, rate=0.9)
    assert lab.drawing.finding == "A second recall adds 6.5 days of strength, a fifth only 1.1"
    assert "SigmoidStrength(alpha=31.0, beta=-7.5, xi=-0.9, mu=1.0)" in lab.drawing.code
    for number in ("14.54", "10.1", ".618", "23.50"):
        assert number in lab.drawing.panels["numbers"]


def test_a_slider_moves_curve_map_and_numbers():
    lab = SigmoidExplorer()
    before = trace(lab, "map", "ink-half")["x"]
    lab.rate.value = 0.3
    assert trace(lab, "strength", "dot")["y"][1] == pytest.approx(SigmoidStrength.from_limits(rate=0.3).days(np.array([2]))[0])
    assert trace(lab, "map", "ink-half")["x"] != before
    assert trace(lab, "strength", "dot")["y"][0] == pytest.approx(5.0), "the rate leaves S(1) where it is"


def test_the_same_curve_in_four_constants_and_back():
    lab = SigmoidExplorer(first_days=8.0, rate=0.9)
    wishes = trace(lab, "strength", "dot")["y"]
    lab.form.value = "constants"
    assert (lab.alpha.value, lab.beta.value, lab.xi.value, lab.mu.value) == (31.0, -7.5, -0.9, 1.0)
    assert trace(lab, "strength", "dot")["y"] == pytest.approx(wishes)
    lab.alpha.value = 35.0
    lab.form.value = "wishes"
    assert (lab.first_days.value, lab.limit_days.value, lab.rate.value) == (10.0, 27.5, 0.9)


@pytest.mark.parametrize("name", SigmoidExplorer.presets)
def test_each_preset_is_a_curve_and_is_marked(name):
    lab = SigmoidExplorer(t=20, n=4)
    lab.preset(name)
    assert lab.error is None
    assert [name, True] in lab._screen.presets.view["presets"]
    assert (lab.parameters.t, lab.parameters.n) == (20, 4)


def test_presets_have_the_shapes_that_their_names_say():
    lab = SigmoidExplorer()
    shapes = {}
    for name in lab.presets:
        lab.preset(name)
        shapes[name] = lab.figures["strength"].title
    assert shapes["Linear-like"] == "Strength grows by nearly the same step"
    assert shapes["Slow start, μ = 3"] == "Slow start: recall 3 adds most"
    lab.preset("Ebbinghaus, 36")
    implied = [1.79, 4.15, 6.07, 9.67, 11.94]  # Ebbinghaus, chapter VIII, 36 syllables, under Eq. 1
    assert trace(lab, "strength", "dot")["y"][:5] == pytest.approx(implied, abs=0.5)


@pytest.mark.parametrize(
    ("figure", "pick", "place"),
    [
        ("map", Pick("click", "R", 14, 4), (14, 4)),
        ("retention", Pick("click", "n = 5", 9.6, 0.6), (10, 5)),
        ("retention", Pick("click", "paper, n = 2", 9.6, 0.6), (10, 2)),
        ("strength", Pick("click", "S in days", 3, 20), (7, 3)),
        ("strength", Pick("click", "S in days", 8, 20), (7, 5)),
        ("map", Pick("step", "", 1, 0), (8, 2)),
        ("map", Pick("step", "", 0, 1), (7, 3)),
        ("strength", Pick("step", "", -1, 0), (7, 1)),
    ],
)
def test_a_place_chosen_in_one_view_is_marked_in_all(figure, pick, place):
    lab = SigmoidExplorer()
    lab._pick(figure, pick)
    t, n = place
    assert (lab.parameters.t, lab.parameters.n) == place
    assert trace(lab, "retention", "ink-cross")["x"] == [t, t]
    assert trace(lab, "strength", "ink-ring")["x"] == [n]
    assert trace(lab, "map", "ink-box")["x"][0] == t - 0.5
    assert f"R({t}, {n})" in str(trace(lab, "retention", "words-chosen")["text"])


def test_the_chosen_place_stays_on_the_map():
    lab = SigmoidExplorer(t=0, n=1)
    for x, y in ((-1, 0), (0, -1)):
        lab._pick("map", Pick("step", "", x, y))
    assert (lab.parameters.t, lab.parameters.n) == (0, 1)


def test_a_limit_below_the_first_strength_is_said():
    lab = SigmoidExplorer()
    lab.set(first_days=20.0)
    lab.limit_days.value = 10.0
    assert "S(1) = 20 days lies above the limit of 10" in lab._screen.head.view["error"]
    with pytest.raises(InputError, match="lower S"):
        lab.set(limit_days=11.0)
    lab.reset()
    assert lab._screen.head.view["error"] == ""


def test_each_view_has_a_static_twin_and_a_sentence():
    lab = SigmoidExplorer()
    for name in ("strength", "retention", "map"):
        assert lab.figure(name).layout.title.text == lab.figures[name].title
        assert lab.figures[name].alt
