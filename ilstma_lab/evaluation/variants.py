"""Your own variant against the rest: the same questions, paired intervals, a page that says what was measured."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ilstma_lab.clock import ManualClock
from ilstma_lab.config import Config
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.asking import TRIED_ROWS, Factory, table_of
from ilstma_lab.evaluation.bench import Bench, Measured
from ilstma_lab.evaluation.datasets import Topic, load_dataset
from ilstma_lab.evaluation.experiment import Progress, first_questions, run_systems
from ilstma_lab.evaluation.grading import Facts
from ilstma_lab.evaluation.lineup import TITLES, title_of
from ilstma_lab.evaluation.parts import Variant, try_out, variant_of
from ilstma_lab.evaluation.plain_table import PlainTable, unbroken
from ilstma_lab.evaluation.tables import share
from ilstma_lab.models import Models, offline
from ilstma_lab.protocols import Grader
from ilstma_lab.systems import find_system

if TYPE_CHECKING:
    from ilstma_lab.evaluation.variant_card import Card
    from ilstma_lab.reprs.markup import Html

BASELINE = "ILSTMA (measured)"
_SHOWN = ("accuracy", "retrieve", "rows", "hits")


@dataclass(frozen=True)
class Leaderboard:
    """Variants by answer accuracy, each with its paired difference to the baseline; `card(name)` is the page of one."""

    bench: Bench
    variants: Mapping[str, Variant]
    date: str = ""
    remarks: Mapping[str, str] = field(default_factory=dict)

    @property
    def baseline(self) -> str:
        """The system that the others are compared with."""
        return self.bench.favourite

    @property
    def ranked(self) -> tuple[str, ...]:
        """All systems, the highest accuracy first."""
        level = {system: self.bench.measured(system, "accuracy").band.mean for system in self.bench.systems}
        return tuple(sorted(level, key=lambda system: -level[system] if level[system] == level[system] else 1.0))

    def gain(self, name: str, metric: str = "accuracy") -> Measured:
        """Return the variant's metric less the baseline's, paired by question."""
        return Bench(self.bench.experiment, name, self.bench.grader).difference(self.baseline, metric)

    def verdict(self, name: str, metric: str = "accuracy") -> str:
        """Return in words whether the variant helps, and the n: its band lies above 0, below 0, or holds it.

        A band that holds 0 leaves it open: neither that it helps can be told, nor that it does not. "changes nothing": the metric
        is the same on every question.
        """
        gain = self.gain(name, metric)
        return f"{said(gain)} at n = {gain.n}" if gain.n else "not measured"

    def table(self) -> PlainTable:
        """Return the leaderboard."""
        from ilstma_lab.reprs.words import seconds

        rows = []
        for name in self.ranked:
            rows_each, hits = (self.bench.measured(name, metric) for metric in ("rows", "hits"))
            median = self.bench.median_seconds(name)
            rest = f"{rows_each.band.mean:.2f}" if rows_each.n else "-", share(hits.band.mean) if hits.n else "-"
            rows.append(
                (
                    name,
                    *self._cells(name, "accuracy"),
                    *self._cells(name, "retrieve"),
                    *rest,
                    seconds(median.band.mean) if median.n else "-",
                )
            )
        by_metric = (head for metric in ("accuracy", "retrieve") for head in (metric, "less baseline", self._n(metric)))
        heads = ("", *by_metric, "rows", "hits", "median")
        return PlainTable(heads, tuple(rows), words=(0, 3, 6))

    def notes(self, *names: str, shown: Collection[str] = _SHOWN) -> Iterator[str]:
        """Yield what is to be known beside the figures `shown` of the variants `names` (without any: of all)."""
        from ilstma_lab.evaluation.bench_tables import notes
        from ilstma_lab.evaluation.bench_verdict import broken_lines

        yield from broken_lines(self.bench)
        own = self.bench.measured(self.baseline, "rows").band.mean
        for name in names or self.variants:
            if (rows := self.bench.measured(name, "rows").band.mean) > own + 0.5:
                yield f"{name} recalls {rows:.1f} rows a question, {self.baseline} {own:.1f}: more rows alone raise retrieve."
            if name in self.remarks:
                yield self.remarks[name]
        yield from notes(self.bench, shown=shown)

    def card(self, name: str) -> Card:
        """Return the page of one variant. Raises InputError for a name that is none of the variants."""
        from ilstma_lab.evaluation.variant_card import card_of

        if name not in self.variants:
            raise InputError(f"no variant {name!r}; there are {', '.join(self.variants)}")
        return card_of(self, name)

    def finding(self) -> str:
        """Return what came of the variants in one sentence, those of one verdict together."""
        alike: dict[str, list[str]] = {}
        for name in self.variants:
            if name != self.baseline:
                alike.setdefault(self.verdict(name), []).append(name)
        return "By accuracy: " + "; ".join(f"{verdict} ({', '.join(names)})" for verdict, names in alike.items())

    def __repr__(self) -> str:
        return f"Leaderboard({', '.join(self.variants)} against {self.baseline}, n = {self.bench.n})"

    def __str__(self) -> str:
        from ilstma_lab.evaluation.bench_tables import asked

        return "\n".join([asked(self.bench), self.finding(), "", self.table().text(), "", *self.notes()])

    def _repr_html_(self) -> Html:
        from ilstma_lab.evaluation.bench_tables import asked
        from ilstma_lab.reprs.bench import panes
        from ilstma_lab.reprs.markup import page, tag
        from ilstma_lab.reprs.parts import head

        below = tag("div", *(tag("p", note, cls="mid") for note in self.notes()), cls="pane")
        return page(head("Variants", unbroken(self.finding()), sub=asked(self.bench)), *panes([("", self.table())]), below)

    def _cells(self, name: str, metric: str) -> tuple[str, str, str]:
        """Return the metric with its band, the difference to the baseline with its band, and what it says."""
        from ilstma_lab.evaluation.bench_tables import banded

        level = banded(self.bench.measured(name, metric))
        if name == self.baseline:
            return level, "baseline", ""
        gain = self.gain(name, metric)
        return level, banded(gain, "+"), said(gain) if gain.n else ""

    def _n(self, metric: str) -> str:
        """Return the n of the verdicts, for the head of their column."""
        counts = sorted({self.gain(name, metric).n for name in self.ranked if name != self.baseline})
        return "n = " + " to ".join(dict.fromkeys(map(str, [*counts[:1], *counts[-1:]])))


def compare(
    variants: Mapping[str, Any],
    data: str | Sequence[Topic] = "ilstma5",
    *,
    baseline: str = BASELINE,
    beside: Sequence[str] = (),
    graders: Sequence[Grader] | None = None,
    models: Models | None = None,
    config: Config | None = None,
    questions: int | None = None,
    repeats: int = 1,
    jobs: int = 1,
    date: str = "",
    store: str | Path | None = None,
    progress: Progress | None = None,
) -> Leaderboard:
    """Return how each variant does against `baseline` on the questions of `data`, with paired 95 % intervals.

    A variant is a Retriever, a Prefetcher, a part of Models (known by its one method) in an ILSTMA with `config` (default:
    measured, as the baseline), a Config, a Lab class, or a function `(table, *, models, clock)` that makes labs. `beside`: more
    systems by name. `questions`: only the first so many of each topic. `date` stands on the cards; the kit asks no clock.

    Each variant is tried on one question first. Raises InputError where one is of no such kind or fails there.
    """
    if not variants:
        raise InputError('no variant is given: compare({"mine": MyRetriever()}, "ilstma5")')
    topics = load_dataset(data) if isinstance(data, str) else list(data)
    topics = first_questions(topics, questions) if questions else topics
    own = {name: variant_of(name, value, config or Config.measured()) for name, value in variants.items()}
    systems: dict[str, Factory] = {**own, **_known([baseline, *beside], own)}
    remarks = _try_out(own.values(), topics, models or offline())
    chosen = tuple(graders) if graders else (Facts("strict"), Facts("lenient"))
    found = run_systems(
        topics,
        systems,
        graders=chosen,
        models=models,
        repeats=repeats,
        data=data if isinstance(data, str) else ", ".join(topic.name for topic in topics),
        store=store,
        jobs=jobs,
        progress=progress,
    )
    return Leaderboard(Bench(found, title_of(baseline), chosen[0].name), own, date, remarks)


def said(gain: Measured) -> str:
    """Return in words what a paired difference and its band allow to say."""
    band = gain.band
    if band.low == band.high == 0:
        return "changes nothing"
    return "helps" if band.low > 0 else "does harm" if band.high < 0 else "cannot tell"


def _known(names: Sequence[str], own: Mapping[str, Variant]) -> dict[str, Factory]:
    by_title = {title: name for name, title in TITLES.items()}
    return {title_of(by_title.get(name, name)): find_system(by_title.get(name, name)) for name in names if name not in own}


def _try_out(variants: Iterable[Variant], topics: Sequence[Topic], models: Models) -> dict[str, str]:
    topic = next((topic for topic in topics if topic.questions and topic.dialogues), None)
    if topic is None:
        raise InputError("the data has no question about a dialogue: there is nothing to compare on")
    table = table_of(replace(topic, dialogues=topic.dialogues[:TRIED_ROWS]), models.embedder)
    clock, question = ManualClock.after(table), topic.questions[0].question
    remarks = {variant.name: try_out(variant, table.fork(), question, models, clock=clock) for variant in variants}
    return {name: remark for name, remark in remarks.items() if remark}
