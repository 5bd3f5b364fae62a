"""Your own variant against the rest: the same questions, paired intervals, a page that says what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ilstma_lab.clock import ManualClock
from ilstma_lab.config import Config
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.asking import Factory, table_of
from ilstma_lab.evaluation.bench import Bench, Measured
from ilstma_lab.evaluation.datasets import Topic, load_dataset
from ilstma_lab.evaluation.experiment import Progress, first_questions, run_systems
from ilstma_lab.evaluation.grading import Facts
from ilstma_lab.evaluation.lineup import TITLES, title_of
from ilstma_lab.evaluation.parts import Variant, try_out, variant_of
from ilstma_lab.evaluation.plain_table import PlainTable
from ilstma_lab.models import Models, offline
from ilstma_lab.protocols import Grader
from ilstma_lab.systems import find_system

if TYPE_CHECKING:
    from ilstma_lab.evaluation.variant_card import Card
    from ilstma_lab.reprs.markup import Html

BASELINE = "ILSTMA (measured)"
_TRIED_ROWS = 12


@dataclass(frozen=True)
class Leaderboard:
    """Variants by answer accuracy, each with its paired difference to the baseline; `card(name)` is the page of one."""

    bench: Bench
    variants: Mapping[str, Variant]
    date: str = ""

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
        """Return in words whether the variant helps: its band lies above 0, below 0, or holds it.

        A band that holds 0 leaves it open: neither that it helps can be told, nor that it does not.
        """
        gain = self.gain(name, metric)
        if not gain.n:
            return "not measured"
        said = "helps" if gain.band.low > 0 else "does harm" if gain.band.high < 0 else "cannot tell"
        return f"{said} at n = {gain.n}"

    def table(self) -> PlainTable:
        """Return the leaderboard."""
        from ilstma_lab.evaluation.bench_tables import banded, time_of

        rows = []
        for name in self.ranked:
            own = name == self.baseline
            rows.append(
                (
                    name,
                    banded(self.bench.measured(name, "accuracy")),
                    "baseline" if own else banded(self.gain(name), "+"),
                    "" if own else self.verdict(name),
                    banded(self.bench.measured(name, "retrieve")),
                    "" if own else banded(self.gain(name, "retrieve"), "+"),
                    time_of(self.bench.median_seconds(name)),
                )
            )
        heads = ("", "accuracy", f"less {self.baseline}", "verdict", "retrieve", "less the baseline's", "median to the answer")
        return PlainTable(heads, tuple(rows))

    def card(self, name: str) -> Card:
        """Return the page of one variant. Raises InputError for a name that is none of the variants."""
        from ilstma_lab.evaluation.variant_card import card_of

        if name not in self.variants:
            raise InputError(f"no variant {name!r}; there are {', '.join(self.variants)}")
        return card_of(self, name)

    def finding(self) -> str:
        """Return what came of the variants in one sentence."""
        return "; ".join(f"{name}: {self.verdict(name)}" for name in self.variants if name != self.baseline)

    def __str__(self) -> str:
        from ilstma_lab.evaluation.bench_tables import asked, notes

        return "\n".join([asked(self.bench), self.finding(), "", self.table().text(), "", *notes(self.bench)])

    def _repr_html_(self) -> Html:
        from ilstma_lab.evaluation.bench_tables import asked, notes
        from ilstma_lab.reprs.bench import panes
        from ilstma_lab.reprs.markup import page, tag
        from ilstma_lab.reprs.parts import head

        said = tag("div", *(tag("p", note, cls="mid") for note in notes(self.bench)), cls="pane")
        return page(head("Variants", self.finding(), sub=asked(self.bench)), *panes([("", self.table())]), said)


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
    _try_out(own.values(), topics, models or offline())
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
    return Leaderboard(Bench(found, title_of(baseline), chosen[0].name), own, date)


def _known(names: Sequence[str], own: Mapping[str, Variant]) -> dict[str, Factory]:
    by_title = {title: name for name, title in TITLES.items()}
    return {title_of(by_title.get(name, name)): find_system(by_title.get(name, name)) for name in names if name not in own}


def _try_out(variants: Iterable[Variant], topics: Sequence[Topic], models: Models) -> None:
    topic = next((topic for topic in topics if topic.questions and topic.dialogues), None)
    if topic is None:
        raise InputError("the data has no question about a dialogue: there is nothing to compare on")
    table = table_of(replace(topic, dialogues=topic.dialogues[:_TRIED_ROWS]), models.embedder)
    for variant in variants:
        try_out(variant, table.fork(), topic.questions[0].question, models, clock=ManualClock.after(table))
