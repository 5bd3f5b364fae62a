"""The light figure without a browser: what is sent, how often, and what is said of it."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from ilstma_lab.plots.template import describe
from ilstma_lab.widgets.light_figure import LightFigure, _send_plotly_once, packed

ATTACK = "</script><img src=x onerror=alert(1)>"


def spec(name: str = "R") -> dict:
    trace = {"type": "scatter", "name": name, "x": np.array([0.0, 1.0]), "y": np.array([1.0, 0.5])}
    layout = {
        "title": {"text": "It falls", "subtitle": {"text": "R by days"}},
        "meta": {"description": "From 1 to .5.", "x": "days"},
    }
    return {"data": [trace], "layout": layout}


def test_plotly_is_sent_once_a_kernel():
    LightFigure(spec())
    once = _send_plotly_once()
    figure = LightFigure(spec())
    assert _send_plotly_once() is once
    assert len(once.source) > 3_000_000
    assert len(str(figure.get_state())) < 200_000


def test_titles_and_description_stand_outside_the_picture_and_come_back_in_the_static_figure():
    figure = LightFigure(spec())
    assert (figure.title, figure.sub, figure.alt) == ("It falls", "R by days", "From 1 to .5.")
    assert "title" not in figure.view["layout"]
    static = figure.figure()
    assert static.layout.title.text == "It falls"
    assert static.layout.title.subtitle.text == "R by days"
    assert static.layout.margin.t > 40
    figure.alt = "Another sentence."
    assert figure.text().endswith("Another sentence.")


def test_a_go_figure_is_shown_as_well():
    figure = LightFigure(describe(go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name="a"), layout={"title_text": "Up"}), "It rises."))
    assert (figure.title, figure.alt) == ("Up", "It rises.")


def test_arrays_travel_as_bytes_of_half_the_size():
    sent = packed({"z": np.arange(6.0).reshape(2, 3), "n": [np.int64(3)], "words": np.array(["a"])})
    assert (sent["z"]["dtype"], sent["z"]["shape"], len(sent["z"]["bdata"])) == ("f4", "2,3", 24)
    assert np.frombuffer(sent["z"]["bdata"], "<f4").tolist() == [0, 1, 2, 3, 4, 5]
    assert (sent["n"], sent["words"]) == ([3], ["a"])


def test_no_chart_leaves_the_machine():
    config = LightFigure(spec()).config
    assert not config["showSendToCloud"]
    assert "sendChartToCloud" in config["modeBarButtonsToRemove"]


def test_g6_the_table_is_escaped():
    figure = LightFigure(spec(ATTACK))
    assert "<img" not in figure.table()
    assert "&lt;img" in figure.static()


def test_h3_a_second_listener_replaces_the_first():
    figure, heard = LightFigure(spec(), picks=True), []
    for number in range(3):
        figure.on_pick(lambda pick, number=number: heard.append(number))
    figure._receive(figure, {"kind": "click", "x": 1, "y": 1}, [])
    assert heard == [2]
