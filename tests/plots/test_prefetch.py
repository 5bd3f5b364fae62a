"""Figures of the prefetch: every bar is what the window says, ticks have room, gaps are no numbers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.plots.hit_map import hit_map_spec
from ilstma_lab.plots.prefetch import clock_spec, strip_spec
from ilstma_lab.plots.spec import drawn, tables, titles
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.selection import ScoredRow, Selection
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.protocols import PrefetchContext, Query
from tests.stubs import DAY_0, table_of

TABLE = table_of(30)
NOW = DAY_0 + timedelta(days=31)
USUAL = WindowPrefetch()
OFFSETS, KS = (1, 2, 3, 4), (1, 2, 3)


def select(setting: WindowPrefetch = USUAL, *, centre: int = 15, days: int = 0) -> Selection:
    now = NOW + timedelta(days=days)
    return setting.select(PrefetchContext(Query("", now, TABLE.embedder), (centre,), TABLE, now))


def part(spec: dict, uid: str) -> dict:
    return next(trace for trace in spec["data"] if trace.get("uid") == uid)


def uids(spec: dict) -> set[str]:
    return {trace.get("uid") for trace in spec["data"]}


settings = st.builds(
    lambda offset, k, form, weight, centre: WindowPrefetch(
        k=min(k, 2 * offset + centre), offset=offset, include_centre=centre, place=PlaceTerm(form=form, weight=weight)
    ),
    st.integers(1, 12),
    st.integers(1, 8),
    st.sampled_from(["nearness", "rescaled", "literal"]),
    st.floats(0, 3),
    st.booleans(),
)


@given(setting=settings, centre=st.integers(0, 29), chosen=st.none() | st.integers(0, 40))
def test_every_bar_is_what_the_window_says(setting, centre, chosen):
    found = select(setting, centre=centre)
    spec = strip_spec(found, range(30), chosen=chosen)
    time, place = part(spec, "bar-time"), part(spec, "bar-place")
    assert time["x"].tolist() == place["x"].tolist() == [row.index for row in found.rows]
    assert (time["y"] + place["y"]).tolist() == [row.score for row in found.rows]
    assert [opacity == 1 for opacity in time["marker"]["opacity"]] == [row.chosen for row in found.rows]
    assert tuple(part(spec, "dot-cached")["x"]) == found.chosen
    assert {*part(spec, "unread")["x"], *time["x"].tolist(), centre} == set(range(30))
    assert ("ink-box" in uids(spec)) == (chosen in range(30))
    low, high = spec["layout"]["yaxis"]["range"]
    assert all(low <= value <= high for trace in spec["data"] for value in np.ravel(trace["y"]))


@given(first=st.integers(0, 9_990), size=st.integers(2, 45), wanted=st.sets(st.integers(0, 44), max_size=10))
def test_ticks_do_not_overlap_and_the_boxed_row_has_one(first, size, wanted):
    rows = range(first, first + size)
    important = [first + at for at in wanted if at < size]
    selection = Selection(
        tuple(ScoredRow(row, 1.0, 1.0, 0.0, 1, chosen=True) for row in important), important[0] if important else None
    )
    axis = strip_spec(selection, rows, chosen=important[0] if important else None)["layout"]["xaxis"]
    pixels = 600 / (size + 0.4)
    assert (np.diff(axis["tickvals"]) * pixels >= 6.6 * len(str(rows[-1]))).all()
    assert set(important[:1]) <= set(axis["tickvals"])


def test_the_title_tells_both_sides_of_the_border():
    said = titles(strip_spec(select(), range(30)))[0]
    assert said == "Row 14 is the last to enter, with .533; row 17 stays out with .356"
    ties = Selection((ScoredRow(4, 1.0, 0.5, 0.5, 1, chosen=True), ScoredRow(2, 1.0, 0.5, 0.5, 1)), 3, 1)
    assert titles(strip_spec(ties, range(6)))[0] == "Rows 4 and 2 tie at 1.000: the later row enters, 4"
    close = Selection((ScoredRow(4, 2e-4, 2e-4, 0.0, 1, chosen=True), ScoredRow(2, 1e-4, 1e-4, 0.0, 1)), 3, 1)
    assert titles(strip_spec(close, range(6)))[0] == "Row 4 is the last to enter, less than .001 ahead of row 2"
    assert titles(strip_spec(Selection((), 3), range(6)))[0] == "Nothing is cached"


def test_the_recalled_row_is_named_on_the_axis():
    for centre_in, word in ((True, "recalled"), (False, "left out")):
        axis = strip_spec(select(replace(USUAL, include_centre=centre_in)), range(30))["layout"]["xaxis"]
        assert any(text.startswith(("<b>15</b><br>", "15<br>")) and text.endswith(word) for text in axis["ticktext"])


def test_the_clock_shows_the_place_of_each_row_on_each_day():
    by_day = [select(days=day) for day in range(40)]
    heat = clock_spec(by_day, chosen=3, since="1 Jun 2023")["data"][0]
    for day, selection in enumerate(by_day):
        column = dict(zip(heat["y"].tolist(), heat["z"][:, day], strict=True))
        assert {row: place for row, place in column.items() if place} == {row: at for at, row in enumerate(selection.chosen, 1)}


def test_the_clocks_title_counts_the_changes():
    one, other = (Selection((ScoredRow(row, 1.0, 1.0, 0.0, 0, chosen=True),), row) for row in (1, 2))
    said = [
        titles(clock_spec(days, chosen=0, since="today"))[0] for days in ([one] * 5, [one, one, other], [one, other, one, one])
    ]
    assert said == [
        "Within 4 days the choice stays the same",
        "The choice changes once in 2 days",
        "The choice changes 2 times in 3 days; from day 2 on it stays",
    ]


def map_of(ratios: np.ndarray, *, chosen: tuple[int, int] = (2, 2)) -> dict:
    room = np.array([[2 * offset >= k for offset in OFFSETS] for k in KS])
    beside = {"next 2": 0.2, "paper": 0.35, "unlimited": 0.36}
    shared = {"chosen": chosen, "room": room, "oracle": [0.1, 0.2, 0.3, 0.4], "beside": beside, "usual": (3, 2), "papers_k": 3}
    return hit_map_spec(ratios, OFFSETS, KS, **shared)


@pytest.fixture
def ratios() -> np.ndarray:
    """All known, but for the cell in which three rows have no room."""
    known = np.arange(12).reshape(3, 4) / 50
    known[2, 0] = np.nan
    return known


def test_the_map_holds_percent_and_leaves_gaps(ratios):
    heat = part(map_of(ratios), "map")
    assert heat["z"][1].tolist() == pytest.approx([8, 10, 12, 14])
    assert heat["z"][2, 0] == heat["text"][2][0] == ""
    assert heat["text"][2][3] == "22"
    drawn(map_of(ratios))


def test_what_is_not_computed_is_a_dot_and_said_so(ratios):
    assert "words-waits" not in uids(map_of(ratios))
    assert "none3" in uids(map_of(ratios)), "no room: hatched"
    ratios[0, 1:] = np.nan
    spec = map_of(ratios)
    assert part(spec, "words-waits")["x"] == [2, 3, 4]
    assert part(spec, "words-waits")["y"] == [1, 1, 1]
    assert titles(spec)[0] == "± 2 rows hit 10.0 % at k = 2; computing the map, 8 cells of 11"


@pytest.mark.parametrize("missing", [slice(0, 0), slice(0, 3), slice(2, 3)])
def test_no_figure_says_nan(ratios, missing):
    here = ratios[1, 1]
    ratios[missing, :] = np.nan
    ratios[1, 1] = here
    spec = map_of(ratios)
    cells = [cell for table in tables(spec) for row in (table.head, *table.rows) for cell in row]
    said = [*titles(spec), *cells, *(str(trace.get("text", "")) for trace in spec["data"])]
    assert not any("nan" in text.lower() for text in said)
    drawn(spec)


def test_tables_name_offsets_and_ks(ratios):
    curves, whole = tables(map_of(ratios))
    assert curves.head == ("offset", "window oracle, %", "this score, k = 2, %")
    assert [row[0] for row in curves.rows] == ["1", "2", "3", "4"]
    assert whole.head == ("offset →", "1", "2", "3", "4")
    assert [row[0] for row in whole.rows] == ["k = 1", "k = 2", "k = 3"]
    assert whole.rows[2][1] == ""


def test_the_best_window_is_named(ratios):
    assert titles(map_of(ratios))[0] == "At k = 2, ± 4 rows hit 14.0 %, ± 2 rows 10.0 %"
    assert titles(map_of(ratios, chosen=(4, 2)))[0] == "At k = 2 no window hits more than ± 4: 14.0 %"


def test_labels_beside_the_lines_keep_apart(ratios):
    spec = map_of(ratios)
    top = spec["layout"]["yaxis2"]["range"][1]
    assert (np.diff(part(spec, "words-levels")["y"]) >= 0.08 * top).all()
