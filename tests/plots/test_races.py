"""The race of policies: hits so far, who was ready when, and labels that fit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.plots.races import race_spec, served_spec
from ilstma_lab.plots.spec import drawn, tables, titles

HITS = {"ILSTMA": np.array([0.0, 1, 0, 1]), "next 3": np.array([0.0, 1, 0, 0]), "oracle": np.array([0.0, 1, 1, 1])}


def trace(spec: dict, uid: str) -> dict:
    return next(part for part in spec["data"] if part["uid"] == uid)


def test_hits_are_counted_up_to_the_question():
    spec = race_spec(HITS, upto=3, chosen="ILSTMA", oracle="oracle")
    assert trace(spec, "chosen")["y"].tolist() == [0, 0, 1, 1]
    assert trace(spec, "ink-oracle")["y"].tolist() == [0, 0, 1, 2]
    assert trace(spec, "other1")["name"] == "next 3"
    assert titles(spec)[0] == "One leads with 2 hits after 3 questions"
    assert "<b>1  ILSTMA</b>" in "".join(trace(spec, "words-policies")["text"])


def test_the_axes_stay_where_they_are_while_the_race_goes_on():
    frames = [race_spec(HITS, upto=upto, chosen="ILSTMA")["layout"] for upto in (1, 4)]
    assert frames[0]["xaxis"] == frames[1]["xaxis"]
    assert frames[0]["yaxis"] == frames[1]["yaxis"]


def test_the_grid_says_who_was_ready():
    spec = served_spec(HITS, at=4, chosen="ILSTMA", question="Which boat?")
    assert trace(spec, "grid")["z"].tolist() == [list(hits) for hits in HITS.values()]
    assert trace(spec, "ink-box")["x"][0] == 3.5
    assert titles(spec)[0] == "Question 4: 2 of 3 caches had a row that answers"
    assert titles(spec)[2].endswith("Which boat?")
    assert titles(served_spec(HITS, at=1, chosen="ILSTMA"))[0] == "Question 1: no cache had a row that answers"
    (table,) = tables(spec)
    assert table.rows[0][1:] == ("0", "1", "0", "1")


@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=10), st.integers(1, 6))
def test_labels_stand_apart_and_inside(hits: list[list[bool]], upto: int):
    named = {f"policy {number}": np.array(one, float) for number, one in enumerate(hits)}
    spec = race_spec(named, upto=upto, chosen="policy 0")
    top = spec["layout"]["yaxis"]["range"][1]
    places = trace(spec, "words-policies")["y"]
    assert len(places) == len(hits)
    assert all(abs(one - other) >= 0.05 * top for one, other in itertools.combinations(places, 2))
    assert min(places) >= -0.001
    assert max(places) <= top + 1e-9


@pytest.mark.parametrize("make", [race_spec, served_spec])
def test_a_name_is_text_and_cut_to_fit(make):
    name = "<b>a policy</b> whose name goes on and on"
    at = {"upto": 4} if make is race_spec else {"at": 4}
    spec = make({name: HITS["ILSTMA"]}, chosen="none", **at)
    shown = str(trace(spec, "words-policies")["text"] if make is race_spec else spec["layout"]["yaxis"]["ticktext"])
    assert "&lt;b&gt;a policy" in shown
    assert "<b>a" not in shown
    assert "…" in shown
    uids = [part.uid for part in drawn(spec).data]
    assert len(uids) == len(set(uids))
    assert all(uid.replace("-", "").isalnum() for uid in uids), "plotly uses them as selectors"
