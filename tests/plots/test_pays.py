"""The break-even figure: where the lines meet, what stands beside them, and labels that keep clear of each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.timing import TimeModel
from ilstma_lab.plots.pays import even_words, pays_spec
from ilstma_lab.plots.spec import drawn, tables, titles

PAPER = TimeModel.from_table4()
RATIOS = {"yours": Band(0.31, 0.267, 0.357), "next 3": 0.30, "oracle": 0.615}


def trace(spec: dict, uid: str) -> dict:
    return next(part for part in spec["data"] if part["uid"] == uid)


def said(spec: dict) -> dict[str, tuple[float, float]]:
    """Return where each label beside a dot stands."""
    sides = [part for part in spec["data"] if part["uid"] in ("words-left", "words-right")]
    return {text: (x, y) for part in sides for text, x, y in zip(part["text"], part["x"], part["y"], strict=True)}


def test_the_lines_meet_at_the_papers_break_even():
    spec = pays_spec(PAPER, {})
    assert trace(spec, "even")["x"] == pytest.approx([0.139, 0.139], abs=5e-4)
    assert trace(spec, "words-even")["text"] == ["<b>breaks even at 13.9 %</b>"]
    slanted = trace(spec, "ink-with")
    at_even = np.interp(PAPER.break_even, slanted["x"], slanted["y"])
    assert at_even == pytest.approx(trace(spec, "ink-without")["y"][0])
    assert titles(spec)[0] == "The cache breaks even at 13.9 % of hits"


def test_what_the_tuner_asks_for():
    spec = pays_spec(PAPER, RATIOS, chosen="yours", height=270)
    assert titles(spec)[0] == "It saves 0.89 s a question"
    assert spec["layout"]["height"] == 270
    assert "<b>yours 31.0 %</b>" in said(spec)
    assert trace(spec, "band0")["x"] == [0.267, 0.357]
    assert trace(spec, "ink-ring")["x"] == [0.31]
    assert trace(spec, "dot-ratios")["y"] == pytest.approx([PAPER.mean_seconds(ratio) for ratio in (0.31, 0.30, 0.615)])


def test_a_band_across_the_break_even_leaves_it_open():
    model = TimeModel(1.0, 4.0)
    assert titles(pays_spec(model, {"yours": Band(0.3, 0.2, 0.4)}, chosen="yours"))[0].startswith("Too close to call")
    assert titles(pays_spec(model, {"yours": 0.2}, chosen="yours"))[0] == "It costs 0.20 s a question"


@pytest.mark.parametrize(
    ("model", "words", "areas"),
    [
        (TimeModel(6.0, 5.0), "never pays", {"costs"}),
        (TimeModel(6.0, 5.0, answer_seconds=5.0, judge_calls=2), "never pays", {"costs"}),
        (TimeModel(1.0, 5.0, answer_seconds=2.0, overlap=True), "pays from the first hit on", {"saves"}),
        (TimeModel(1.0, 5.0), "breaks even at 20.0 %", {"costs", "saves"}),
    ],
)
def test_also_where_the_lines_never_meet(model: TimeModel, words: str, areas: set[str]):
    spec = pays_spec(model, RATIOS, chosen="yours")
    assert even_words(model) == words
    assert {part["uid"] for part in spec["data"]} & {"costs", "saves"} == areas
    assert "inf" not in str(spec["layout"])
    drawn(spec)


@given(
    st.lists(st.floats(0, 1), max_size=6),
    st.floats(0.01, 20),
    st.floats(0.5, 20),
)
def test_labels_keep_clear_of_each_other_and_of_the_level_line(ratios: list[float], judge: float, full: float):
    spec = pays_spec(TimeModel(judge, full), {f"policy {number}": ratio for number, ratio in enumerate(ratios)})
    low, high = spec["layout"]["yaxis"]["range"]
    least = 0.9 * 0.6 * 0.085 / 1.26 * (high - low)
    for part in spec["data"]:
        if part["uid"] in ("words-left", "words-right"):
            assert all(abs(one - other) >= least for one, other in itertools.combinations(part["y"], 2))
            assert all(abs(y - full) >= least for y in part["y"])


def test_a_name_is_text_and_no_markup():
    spec = pays_spec(PAPER, {"<a href='x'>me</a>": 0.2})
    assert list(said(spec)) == ["&lt;a href='x'&gt;me&lt;/a&gt; 20.0 %"]
    uids = [part.uid for part in drawn(spec).data]
    assert len(uids) == len(set(uids))
    assert all(uid.replace("-", "").isalnum() for uid in uids), "plotly uses them as selectors"


def test_the_table_holds_both_lines():
    (table,) = tables(pays_spec(PAPER, RATIOS))
    assert table.head == ("hit ratio", "no cache, s", "with the cache, s")


def test_a_judge_that_costs_nothing_makes_a_sentence_and_is_never_too_close_to_call():
    spec = pays_spec(TimeModel(0.0, 5.0), {"yours": Band(0.02, 0.0, 0.05), "numpy's": np.float64(0.3)}, chosen="yours")
    assert titles(spec)[0] == "It saves 0.10 s a question"
    assert "; it pays from the first hit on." in spec["layout"]["meta"]["description"]
