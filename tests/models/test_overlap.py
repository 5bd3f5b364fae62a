"""The parts of an overlap update: what the merger decides on is what it returns, and no line is lost that nothing overlaps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.models.extractive_summary import ExtractiveMerger
from ilstma_lab.models.overlap import compared, lines_of, merged_text, overlap
from tests.stubs import THINGS

WORDS = HashedEmbedder(dim=256)


@st.composite
def updates(draw):
    n_old, n_new = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    cells = draw(st.lists(st.integers(0, 10), min_size=n_old * n_new, max_size=n_old * n_new))
    old, new = [f"old {at}" for at in range(n_old)], [f"new {at}" for at in range(n_new)]
    return old, new, np.array(cells, float).reshape(n_new, n_old) / 10


@given(updates())
def test_every_line_has_one_fate_and_the_result_is_the_parts_in_order(update):
    old, new, likeness = update
    parts = overlap(old, new, likeness, threshold=0.7)
    assert [part.old for part in parts if part.old] == old
    assert sorted(part.new for part in parts if part.new) == sorted(new)
    assert [part.new for part in parts if part.kind == "new"] == [
        line for line in new if line in {p.new for p in parts if not p.old}
    ]
    over = [part for part in parts if part.kind == "overwritten"]
    for part in over:
        assert part.similarity == likeness[new.index(part.new), old.index(part.old)] >= 0.7
    assert bool(over) == bool((likeness >= 0.7).any())
    result = merged_text(parts)
    assert (result is None) == (not over)
    if result:
        assert result.splitlines() == [part.line for part in parts]


@given(updates())
def test_a_new_line_stays_apart_only_where_no_free_old_line_is_near(update):
    old, new, likeness = update
    parts = overlap(old, new, likeness, threshold=0.7)
    taken = {part.old for part in parts if part.kind == "overwritten"}
    for part in parts:
        if part.kind == "new":
            free = [at for at, line in enumerate(old) if line not in taken]
            assert all(likeness[new.index(part.new), at] < 0.7 for at in free)


@given(
    st.lists(st.sampled_from(THINGS), min_size=1, max_size=5, unique=True),
    st.lists(st.sampled_from(THINGS), min_size=1, max_size=5),
)
def test_the_merger_merges_what_its_parts_say(old, new):
    merger = ExtractiveMerger(WORDS)
    texts = "\n".join(old), "\n".join(new)
    merged, (call,) = merger.merge(*texts)
    assert merged == merged_text(merger.parts(*texts))
    assert call.purpose == "merge"
    assert (merged is None) == set(old).isdisjoint(new)


def test_blank_summaries_overlap_with_nothing():
    merger = ExtractiveMerger(WORDS)
    assert merger.parts("", "") == ()
    assert [part.kind for part in merger.parts(" \n", "a line")] == ["new"]
    assert merger.merge("a line", "")[0] is None


def test_what_a_model_wrote_is_aligned_by_common_words():
    old = ["Mara practises the cello twice a week.", "Her aunt lives in Bergen.", "She is allergic to peanuts."]
    new = ["Mara practises the cello every day.", "She bought a green bicycle."]
    result = ["Mara practises the cello every day.", "Her aunt lives in Bergen.", "She bought a green bicycle."]
    parts = compared(old, new, result)
    assert [(part.kind, part.line) for part in parts] == [
        ("overwritten", result[0]),
        ("kept", result[1]),
        ("dropped", ""),
        ("new", result[2]),
    ]
    assert parts[2].old == "She is allergic to peanuts."


def test_a_new_line_that_the_model_left_out_is_dropped_and_one_that_it_rewrote_is_not():
    parts = compared(
        ["An engine was repaired."],
        ["Tom's exam in law is in July.", "A wholly other matter."],
        ["In July Tom has an exam in law."],
    )
    assert {(part.kind, part.old or part.new) for part in parts} == {
        ("dropped", "An engine was repaired."),
        ("new", "In July Tom has an exam in law."),
        ("dropped", "A wholly other matter."),
    }


def test_lines_of_skips_blank_ones():
    assert lines_of("a\n\n \nb") == ["a", "b"]
