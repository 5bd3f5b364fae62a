"""Means with their bands as lines of text and as JSON values, the same in every report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.terminal import fit

NAME_WIDTH = 24


def both_bands(bands: Callable[..., Mapping[str, Band]], *arguments: Any, topics: int) -> list[Mapping[str, Band]]:
    """Return `bands(*arguments, by=...)` by question and, where there are several topics, by topic."""
    return [bands(*arguments, by=by) for by in (("question", "topic") if topics > 1 else ("question",))]


def table_head(metrics: Sequence[str], *, width: int) -> str:
    """Return the line above columns of `width`."""
    return (" " * NAME_WIDTH + "".join(metric.ljust(width) for metric in metrics)).rstrip()


def table_lines(
    name: str, metrics: Sequence[str], bands: Sequence[Mapping[str, Band]], *, width: int, sign: str = ""
) -> Iterator[str]:
    """Yield a line with means and bands by question and, where there are such bands, one below it with those by topic."""
    for number, by in enumerate(bands):
        cells = [_cell(metric, by[metric], sign=sign, below=number > 0).ljust(width) for metric in metrics]
        yield (fit(name if number == 0 else "", NAME_WIDTH - 1).ljust(NAME_WIDTH) + "".join(cells)).rstrip()


def figures_of(bands: Callable[..., Mapping[str, Band]], *arguments: Any, topics: int) -> dict[str, dict[str, float | None]]:
    """Return each metric's mean and the ends of its bands as JSON values, None for nan."""
    by_question, by_topic = [*both_bands(bands, *arguments, topics=topics), None][:2]
    found = {}
    for metric, band in by_question.items():
        ends = {"mean": band.mean, "low": band.low, "high": band.high}
        if by_topic:
            ends |= {"topic_low": by_topic[metric].low, "topic_high": by_topic[metric].high}
        found[metric] = {name: None if np.isnan(value) else round(value, 6) for name, value in ends.items()}
    return found


def share(value: float, sign: str = "") -> str:
    """Return a share between -1 and 1, always as wide: ".87", "1.0"; with the sign "+" "+.09"."""
    text = f"{value + 0.0:{sign}.2f}"
    return text[:-1] if text.endswith("1.00") else text.replace("0.", ".", 1)


def ends(band: Band, sign: str = "") -> str:
    """Return both ends of a band."""
    return f"{share(band.low, sign)}{'..' if sign else '-'}{share(band.high, sign)}"


def _cell(metric: str, band: Band, *, sign: str, below: bool) -> str:
    if np.isnan(band.mean) or metric == "rows":
        return "" if below else "-" if np.isnan(band.mean) else f"{band.mean:{sign}.2f}"
    mean = share(band.mean, sign)
    return f"{' ' * len(mean) if below else mean} {ends(band, sign)}"
