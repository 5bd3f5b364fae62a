"""A turn's own work, without disk: models that return at once, vectors that are ready, 1,000 rows with their summaries."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator

from benchmarks import stubs
from benchmarks.measure import Result, seconds
from ilstma_lab import ILSTMA, Config, ManualClock

ROWS = 1_000
BOUND_MS = 1.0
_WARM_UP = 10


def run(*, n: int = 100) -> Iterator[Result]:
    """Yield a miss turn's and a hit turn's milliseconds; they take turns, and every fifth new row brings a summary."""
    lab, judge = new_lab(stubs.table(ROWS))
    taken, steps = {False: [], True: []}, {False: defaultdict(list), True: defaultdict(list)}
    for number in range(2 * (n + _WARM_UP)):
        judge.hits = number % 2 == 1
        whole = seconds(lambda number=number: lab.ask(stubs.question(number)))
        if number >= 2 * _WARM_UP:
            taken[judge.hits].append(1e3 * whole)
            note_steps(steps[judge.hits], lab.turns[-1], whole)
    for hit, name in ((False, "a miss"), (True, "a hit")):
        where = {f"{step}, us": 1e6 * statistics.median(values) for step, values in steps[hit].items()}
        yield Result(f"own work of {name} at {ROWS:,} rows", statistics.median(taken[hit]), BOUND_MS, "ms", n, where)


def new_lab(table) -> tuple[ILSTMA, stubs.ReadyModels]:
    """Return a lab with ready models over `table`, and its judge."""
    ready, judge = stubs.models(table.embedder)
    return ILSTMA(table, Config(), models=ready, clock=ManualClock.after(table)), judge


def note_steps(steps: dict[str, list[float]], turn, whole: float) -> None:
    """Add each step's seconds, and what lies between them."""
    by_name: dict[str, float] = defaultdict(float)
    for step in turn.steps:
        by_name[f"{step.number} {step.name}"] += step.seconds
    by_name["between the steps"] = whole - sum(by_name.values())
    for name, value in by_name.items():
        steps[name].append(value)
