"""The figure of facts kept: one size alone, and every number in the table."""

from __future__ import annotations

import numpy as np
import pytest

from ilstma_lab.evaluation.summary_loss import Fact, FactsKept
from ilstma_lab.plots.spec import drawn, tables, titles
from ilstma_lab.plots.summaries import loss_spec


def kept(sizes: tuple[int, ...], n: int = 20) -> FactsKept:
    draw = np.random.default_rng(1)
    some = draw.random((n, len(sizes))) < 0.6
    facts = tuple(Fact("<b>topic", f"q{at // 2}", "<img src=x>") for at in range(n))
    return FactsKept(
        sizes, facts, some, some, some & (draw.random(some.shape) < 0.3), np.ones(len(sizes)), np.zeros(len(sizes)), 0, "m"
    )


@pytest.mark.parametrize("sizes", [(5,), (2, 5, 10), (3, 4)])
def test_every_share_stands_in_the_table_within_its_band(sizes):
    found = kept(sizes)
    spec = loss_spec(found)
    (table,) = tables(spec)
    assert [row[0] for row in table.rows] == [str(size) for size in sizes]
    shade = next(trace for trace in spec["data"] if trace["uid"] == "band-kept")
    for at, size in enumerate(sizes):
        band = found.bands()[size]
        assert shade["y"][at] == pytest.approx(100 * band.high)
        assert shade["y"][-1 - at] == pytest.approx(100 * band.low)
    assert ("words-5" in {trace["uid"] for trace in spec["data"] if "uid" in trace}) == (5 in sizes)
    assert "<" not in "".join(titles(spec))
    assert drawn(spec).layout.title.text
