"""What a sequence of questions allows, before any policy is tried on it: returns, reuse distances, steps, days between."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.evaluation.workload import Workload, demand_rows, gold_steps
from ilstma_lab.prefetch.bounds import reuse_distances

if TYPE_CHECKING:
    import pandas as pd

REUSE = (0, 1, 2, 4, 9, 19)
STEPS = {
    "20 back or more": (-np.inf, -20),
    "6 to 19 back": (-19, -6),
    "2 to 5 back": (-5, -2),
    "1 back": (-1, -1),
    "the same row": (0, 0),
    "1 on": (1, 1),
    "2 to 5 on": (2, 5),
    "6 to 19 on": (6, 19),
    "20 on or more": (20, np.inf),
}


@dataclass(frozen=True)
class WorkloadCard:
    """Some workloads as one: each conversation counts by itself, and what is counted is added up.

    `distinct` and `references`: rows and mentions of rows in the gold of all questions. `reuse`: for each question with gold the
    LRU stack distance of its row, inf where it was never asked for. `steps`: first gold minus the first gold before, in rows.
    `days`: time between two questions, in days. `orders`: where the order of the questions comes from.
    """

    names: tuple[str, ...]
    orders: tuple[str, ...]
    rows: int
    questions: int
    distinct: int
    references: int
    reuse: tuple[float, ...]
    steps: tuple[int, ...]
    days: tuple[float, ...]

    @property
    def demands(self) -> int:
        """How many questions some row answers."""
        return len(self.reuse)

    @property
    def compulsory_miss_ratio(self) -> float:
        """Distinct rows / references: what an infinite cache on demand must miss."""
        return self.distinct / self.references if self.references else float("nan")

    @property
    def seen_before(self) -> float:
        """The share of questions whose row, or one of them, an earlier question asked for."""
        return self.reused_within(np.inf)

    def reused_within(self, distance: float) -> float:
        """Return the share of questions with a finite reuse distance of at most `distance`: LRU hits with one row more."""
        counted = sum(reuse <= distance and reuse < np.inf for reuse in self.reuse)
        return counted / self.demands if self.demands else float("nan")

    def reuse_cdf(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the finite reuse distances that occur, rising, and the share of questions at or below each; both (m,)."""
        found = sorted(reuse for reuse in self.reuse if reuse < np.inf)
        at = np.unique(found)
        return at, np.array([bisect_right(found, distance) for distance in at], float) / max(self.demands, 1)

    def step_counts(self) -> dict[str, int]:
        """Return how many steps fall into each of nine classes, from far back to far on."""
        return {name: sum(low <= step <= high for step in self.steps) for name, (low, high) in STEPS.items()}

    @property
    def caveat(self) -> str:
        """What must be said of the order beside every hit ratio."""
        said = f"Order of the questions: {'; '.join(self.orders)}. Another order gives other hit ratios."
        if self.steps:
            on = sum(step > 0 for step in self.steps)
            said += f" Here {on} of {len(self.steps)} steps go on in the conversation: the more do, the better for the next rows."
        if self.days and max(self.days) == 0:
            said += " All are asked at one moment, so no time passes between them."
        return said

    def measures(self) -> list[tuple[str, float, int]]:
        """Return the card's figures as (name, value, n)."""
        middle = float(np.median(self.days)) if self.days else float("nan")
        return [
            ("compulsory miss ratio", self.compulsory_miss_ratio, self.references),
            ("asks for a row seen before", self.seen_before, self.demands),
            *((f"reuse distance {distance} or less", self.reused_within(distance), self.demands) for distance in REUSE),
            *((f"step: {name}", count / max(len(self.steps), 1), len(self.steps)) for name, count in self.step_counts().items()),
            ("median days between questions", middle, len(self.days)),
        ]

    def to_frame(self) -> pd.DataFrame:
        """Return the figures as pandas, one a line: measure, value, n. Steps and reuse are shares of n."""
        import pandas as pd

        return pd.DataFrame(self.measures(), columns=["measure", "value", "n"])

    def __str__(self) -> str:
        from ilstma_lab.reprs.words import line

        lines = [f"Workload {line(', '.join(self.names), 80)}: {self._finding()}", line(self.caveat, 600)]
        return "\n".join(lines + [f"{name:>30}  {_figure(name, value):>6}  n {n}" for name, value, n in self.measures()])

    def _repr_html_(self) -> str:
        from ilstma_lab.reprs.markup import page, tag
        from ilstma_lab.reprs.parts import bar, head
        from ilstma_lab.reprs.words import line

        heads = (
            tag("th", name, cls=cls, scope="col")
            for name, cls in (("measure", None), ("value", "num"), ("n", "num"), ("", "wide"))
        )
        rows = (
            tag(
                "tr",
                tag("td", name, style="white-space:nowrap"),
                tag("td", _figure(name, value), cls="num"),
                tag("td", f"{n:,}", cls="num dim"),
                tag("td", None if "days" in name or value != value else bar(value), cls="wide"),
            )
            for name, value, n in self.measures()
        )
        grid = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), cls="grid")
        top = head(f"Workload · {line(', '.join(self.names), 80)}", self._finding(), sub=line(self.caveat, 600))
        return page(top, tag("div", grid, cls="pane"), sections=("table",))

    def _finding(self) -> str:
        from ilstma_lab.reprs.words import count

        asked = f"{count(self.questions, 'question')} over {count(self.rows, 'row')}, {self.demands:,} with an answer in them"
        return asked + (f"; {self.seen_before:.0%} of these ask for a row seen before" if self.demands else "")


def workload_card(workloads: Sequence[Workload]) -> WorkloadCard:
    """Return the card of one or more workloads."""
    demands = demand_rows(workloads)
    return WorkloadCard(
        names=tuple(workload.name for workload in workloads),
        orders=tuple(dict.fromkeys(workload.order for workload in workloads)),
        rows=sum(len(workload.table) for workload in workloads),
        questions=sum(len(workload.accesses) for workload in workloads),
        distinct=sum(len(set(chain.from_iterable(golds))) for golds in demands),
        references=sum(len(gold) for golds in demands for gold in golds),
        reuse=tuple(float(distance) for golds in demands for distance in reuse_distances(golds)),
        steps=tuple(int(step) for workload in workloads for step in gold_steps(workload)),
        days=tuple(gap for workload in workloads for gap in _gaps(workload)),
    )


def _gaps(workload: Workload) -> list[float]:
    return [(later.at - earlier.at).total_seconds() / 86_400 for earlier, later in pairwise(workload.accesses)]


def _figure(name: str, value: float) -> str:
    from ilstma_lab.reprs.words import score

    if value != value:
        return "–"
    return f"{value:.1f}" if "days" in name else score(value)
