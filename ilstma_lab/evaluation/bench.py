"""Memory systems side by side: every metric with its n and 95 % band, paired differences to a favourite, kind by kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bench_metrics import METRICS, values_of
from ilstma_lab.evaluation.bootstrap import Band, bootstrap
from ilstma_lab.evaluation.experiment import Experiment

if TYPE_CHECKING:
    import pandas as pd

By = Literal["question", "topic"]
NOTHING = Band(np.nan, np.nan, np.nan)


@dataclass(frozen=True, slots=True)
class Measured:
    """A metric's mean over `n` questions with its 95 % band; nan where n is 0."""

    n: int
    band: Band


@dataclass(frozen=True)
class Bench:
    """An experiment's figures. `favourite` is compared with each other system, question by question; `grader` grades answers.

    With `kind` only that kind of question counts. A question asked several times counts once, with the mean of its repeats.
    """

    experiment: Experiment
    favourite: str
    grader: str
    kind: str = ""

    def __post_init__(self) -> None:
        for what, given, known in (
            ("system", self.favourite, self.experiment.systems),
            ("grader", self.grader, self.experiment.graders),
            ("kind", self.kind, ("", *self.kinds)),
        ):
            if given not in known:
                raise InputError(f"no {what} {given!r} in this experiment; there are {', '.join(filter(None, known))}")

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in their order."""
        return self.experiment.systems

    @property
    def kinds(self) -> dict[str, int]:
        """How many questions there are of each kind, in the order of their first."""
        counts: dict[str, int] = {}
        for _, question in self.experiment.questions:
            counts[question.kind] = counts.get(question.kind, 0) + 1
        return counts

    @cached_property
    def broken(self) -> tuple[str, ...]:
        """The systems that failed at every question: they have no figures, and nothing is compared with them."""
        return tuple(each for each in self.systems if (own := self.experiment.of(each)) and all(record.failure for record in own))

    @property
    def n(self) -> int:
        """How many questions were asked."""
        return len(self._places)

    def of_kind(self, kind: str) -> Bench:
        """Return the figures of one kind of question."""
        return Bench(self.experiment, self.favourite, self.grader, kind)

    def graded_by(self, grader: str) -> Bench:
        """Return the figures as another grader sees the same answers."""
        return Bench(self.experiment, self.favourite, grader, self.kind)

    def failures(self, system: str) -> int:
        """Return how many answers failed."""
        return sum(bool(record.failure) for record in self._records(system))

    def first_failure(self, system: str) -> str:
        """Return what the first failed answer says, "" where none failed."""
        return next((record.failure for record in self.experiment.of(system) if record.failure), "")

    def values(self, system: str, metric: str) -> np.ndarray:
        """Return the metric of each question, shape (n,): the mean of its repeats, nan where there is none.

        A failed answer counts as 0; a system that only fails has no values.
        """
        if system in self.broken:
            return np.full(self.n, np.nan)
        records = self._records(system)
        found = values_of(metric, records, grader=self.grader)
        total, count = np.zeros(self.n), np.zeros(self.n)
        for record, value in zip(records, found, strict=True):
            if not np.isnan(value):
                at = self._places[record.topic, record.id]
                total[at] += value
                count[at] += 1
        return np.divide(total, count, out=np.full(self.n, np.nan), where=count > 0)

    def measured(self, system: str, metric: str, *, by: By = "question") -> Measured:
        """Return the metric's mean with its n and its band, drawn by question or by whole topics."""
        key = system, metric, by
        if key not in self._known:
            self._known[key] = self._measured(self.values(system, metric), by)
        return self._known[key]

    def difference(self, system: str, metric: str, *, by: By = "question") -> Measured:
        """Return the favourite's metric less that of `system`, over the questions for which both have it."""
        return self._measured(self.values(self.favourite, metric) - self.values(system, metric), by)

    def median_seconds(self, system: str) -> Measured:
        """Return the median of the seconds of a question, with its band (percentiles of 4000 draws)."""
        seconds = self.values(system, "seconds")
        seconds = seconds[~np.isnan(seconds)]
        if not len(seconds):
            return Measured(0, NOTHING)
        drawn = np.random.default_rng(0).integers(len(seconds), size=(4000, len(seconds)))
        low, high = np.quantile(np.median(seconds[drawn], axis=1), [0.025, 0.975])
        return Measured(len(seconds), Band(float(np.median(seconds)), float(low), float(high)))

    def has(self, metric: str) -> bool:
        """Tell whether some system has the metric."""
        return any(self.measured(system, metric).n for system in self.systems)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each system and metric: n, mean and band, and the favourite's paired difference with its band."""
        import pandas as pd

        rows = []
        for system in self.systems:
            for metric in METRICS:
                level, gain = self.measured(system, metric), self.difference(system, metric)
                bands = {"mean": level.band.mean, "low": level.band.low, "high": level.band.high}
                against = {"gain_n": gain.n, "gain": gain.band.mean, "gain_low": gain.band.low, "gain_high": gain.band.high}
                rows.append({"system": system, "metric": metric, "n": level.n, **bands, **against})
        return pd.DataFrame(rows)

    def to_dict(self, *, by_kind: bool = False) -> dict[str, Any]:
        """Return the figures as JSON values, None where there is none; `by_kind` adds those of each kind of question."""
        run = self.experiment
        figures = {
            "data": run.data,
            "questions": self.n,
            "kinds": self.kinds if not self.kind else {self.kind: self.n},
            "topics": [topic.name for topic in run.topics],
            "rows": run.rows,
            "models": run.models,
            "repeats": 1 if run.deterministic else run.repeats,
            "deterministic": run.deterministic,
            "grader": self.grader,
            "favourite": self.favourite,
            "broken": {system: self.first_failure(system) for system in self.broken},
            "systems": {system: self._figures(system) for system in self.systems},
            "notes": list(run.notes),
        }
        if by_kind:
            figures["by_kind"] = {kind: self.of_kind(kind).to_dict() for kind in self.kinds}
        return figures

    def text(self, *, by_kind: bool = False) -> str:
        """Return the tables as text of at most 120 columns; with `by_kind` also answers and retrieval kind by kind."""
        from ilstma_lab.reprs.bench import bench_text

        return bench_text(self, by_kind=by_kind)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Bench({self.experiment!r}, favourite={self.favourite!r}, grader={self.grader!r}, kind={self.kind!r})"

    def _repr_html_(self) -> str:
        from ilstma_lab.reprs.bench import bench_html

        return bench_html(self)

    @cached_property
    def _known(self) -> dict[tuple[str, str, str], Measured]:
        return {}

    @cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        asked = [(topic, q.id) for topic, q in self.experiment.questions if self.kind in ("", q.kind)]
        return {key: at for at, key in enumerate(asked)}

    def _records(self, system: str):
        return tuple(record for record in self.experiment.of(system) if (record.topic, record.id) in self._places)

    def _measured(self, values: np.ndarray, by: By) -> Measured:
        there = ~np.isnan(values)
        if not there.any():
            return Measured(0, NOTHING)
        clusters = [topic for (topic, _), have in zip(self._places, there, strict=True) if have] if by == "topic" else None
        return Measured(int(there.sum()), bootstrap(values[there][:, None], clusters=clusters)[0])

    def _figures(self, system: str) -> dict[str, Any]:
        found: dict[str, Any] = {metric: _json(self.measured(system, metric)) for metric in METRICS}
        found["median seconds"] = _json(self.median_seconds(system))
        found["failures"] = self.failures(system)
        found["difference"] = {metric: _json(self.difference(system, metric)) for metric in ("accuracy", "retrieve", "seconds")}
        graders = {name: self.graded_by(name) for name in self.experiment.graders}
        found["accuracy by grader"] = {name: _json(bench.measured(system, "accuracy")) for name, bench in graders.items()}
        return found


def _json(measured: Measured) -> dict[str, float | int | None]:
    ends = {"mean": measured.band.mean, "low": measured.band.low, "high": measured.band.high}
    return {"n": measured.n, **{name: None if np.isnan(value) else round(value, 6) for name, value in ends.items()}}
