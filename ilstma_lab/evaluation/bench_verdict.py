"""What a bench may say in one sentence: by which metric it can judge, over how many questions, and who stands where."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bench import Bench, Measured

FEW = 10
"""Fewer pairs than these are no ground for a verdict."""

_SAID = {"accuracy": ("answers better than", "answers worse than"), "retrieve": ("recalls more than", "recalls less than")}


def finding(bench: Bench) -> str:
    """Return in one sentence whom the favourite is better than, as far as the bands tell, with the n of the pairs.

    Where fewer than `FEW` answers were graded it says so, and speaks of the rows recalled instead.
    """
    name = bench.favourite
    if name in bench.broken:
        return f"{name} failed at every question: nothing can be compared with it"
    if len(bench.systems) - len(bench.broken) - 1 < 1:
        return f"{name} alone: nothing to compare it with"
    metric = judged_by(bench)
    few = "" if metric == "accuracy" else f"{too_few(bench)}. "
    if not metric:
        return f"{few}Nothing can be told by the rows recalled either (retrieve, n = {bench.measured(name, 'retrieve').n})"
    pairs = pairs_of(bench, metric)
    better, worse, open_ = standing(bench, metric)
    said = " and ".join(f"{how} {_listed(whom)}" for how, whom in zip(_SAID[metric], (better, worse), strict=True) if whom)
    parts = [said] if said else []
    parts += [f"cannot be told from {_listed(open_)}"] if open_ else []
    counted = f"n = {_span([pair.n for pair in pairs.values()])}"
    return f"{few}{name} {', and '.join(parts)} ({counted if metric == 'accuracy' else f'{metric}, {counted}'})"


def broken_lines(bench: Bench) -> Iterator[str]:
    """Yield a line for each system that failed at every question, with its first failure."""
    for system in bench.broken:
        yield f"{system} failed at every question: {bench.first_failure(system)}"


def judged_by(bench: Bench) -> str:
    """Return the metric of the finding: accuracy, or retrieve where too few answers are graded; "" where neither will do."""
    return next((metric for metric in _SAID if pairs_of(bench, metric)), "")


def pairs_of(bench: Bench, metric: str) -> dict[str, Measured]:
    """Return the favourite's difference to each other system that has at least `FEW` pairs."""
    pairs = {each: bench.difference(each, metric) for each in bench.systems if each != bench.favourite}
    return {each: pair for each, pair in pairs.items() if pair.n >= FEW}


def standing(bench: Bench, metric: str = "accuracy") -> tuple[list[str], list[str], list[str]]:
    """Return the systems that the favourite is better than, worse than, and those for which its band holds 0."""
    pairs = pairs_of(bench, metric)
    better = [each for each, pair in pairs.items() if pair.band.low > 0]
    worse = [each for each, pair in pairs.items() if pair.band.high < 0]
    return better, worse, [each for each in pairs if each not in better and each not in worse]


def too_few(bench: Bench) -> str:
    """Return that too few answers were graded, with their n, or that too few questions were asked."""
    graded = bench.measured(bench.favourite, "accuracy").n
    if graded == bench.n:
        return f"Too few questions to judge by (n = {graded})"
    return f"Too few answers could be graded (n = {graded} of {bench.n})"


def _span(counts: Sequence[int]) -> str:
    return " to ".join(dict.fromkeys((str(min(counts)), str(max(counts)))))


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
