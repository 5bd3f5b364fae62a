"""What the referee gives: how often its ruling keeps the answer, beside what other rules would keep (ILSTMA, section 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ilstma_lab.config import Config
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band, bootstrap
from ilstma_lab.evaluation.cases import Case, cases_of
from ilstma_lab.evaluation.datasets import Topic
from ilstma_lab.models import Models, offline
from ilstma_lab.retrieval.recall import Recall

if TYPE_CHECKING:
    import pandas as pd

    from ilstma_lab.reprs.markup import Html

DECISIONS = ("agree", "disagree", "invented", "unread")
METRICS = ("found", "accuracy", "rows")

Bands = dict[str, dict[str, Band]]
Progress = Callable[[int, int], None]


def _named(recall: Recall) -> tuple[int, ...]:
    return () if recall.branch_a.named is None else (recall.branch_a.named,)


A_ALONE, B_FIRST, REFEREE, B_TWO, UNION = "A alone", "B's first", "referee", "B's two", "A and B's two"
RULES: dict[str, Callable[[Recall], tuple[int, ...]]] = {
    A_ALONE: _named,
    B_FIRST: lambda recall: recall.branch_b.winners[:1],
    REFEREE: lambda recall: recall.recalled,
    B_TWO: lambda recall: recall.branch_b.winners,
    UNION: lambda recall: tuple(dict.fromkeys((*_named(recall), *recall.branch_b.winners))),
}
"""Which rows each rule recalls. What the last one lacks, no ruling between the two searches can find."""


@dataclass(frozen=True)
class RefereeReport:
    """The cases of one data set, and what each rule of `RULES` would have recalled.

    found: a gold row is among the rows. accuracy: `Case.grade` of them. rows: how many they are. `left_out` counts the
    questions without gold. `with_summary`: the same questions, asked together with the summary nearest to each.
    """

    data: str
    system: str
    reader: str
    cases: tuple[Case, ...]
    rows: int = 0
    left_out: int = 0
    with_summary: RefereeReport | None = None

    def __len__(self) -> int:
        return len(self.counted)

    @cached_property
    def counted(self) -> tuple[Case, ...]:
        """The cases that are measured: with gold, and with a reading that a reader gave."""
        return tuple(case for case in self.cases if case.gold and not case.scripted)

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that the counted questions are about, in their order."""
        return tuple(dict.fromkeys(case.topic for case in self.counted))

    @cached_property
    def confusion(self) -> dict[str, tuple[int, int]]:
        """For each decision how many questions it kept a gold row for, and how many it lost all of."""
        kept = {decision: [case.found for case in self.counted if case.decision == decision] for decision in DECISIONS}
        return {decision: (sum(found), len(found) - sum(found)) for decision, found in kept.items()}

    @cached_property
    def values(self) -> np.ndarray:
        """`METRICS` by rule for every counted question, shape (n_questions, n_rules, 3)."""
        shape = (-1, len(RULES), len(METRICS))
        return np.array([[_measured(case, rule) for rule in RULES.values()] for case in self.counted], float).reshape(shape)

    @property
    def branch_a_accuracy(self) -> Band:
        """The accuracy of branch A alone: the paper's Recall Accuracy, .663."""
        return self.bands()[A_ALONE]["accuracy"]

    @property
    def retrieve_accuracy(self) -> Band:
        """The accuracy of what the referee recalls: the paper's Retrieve Accuracy, .938."""
        return self.bands()[REFEREE]["accuracy"]

    @property
    def seen(self) -> int:
        """For how many questions A's reader was shown part of a gold row."""
        return sum(case.seen for case in self.counted)

    @property
    def failed(self) -> int:
        """On how many questions a branch failed."""
        return sum(bool(case.recall.branch_a.error or case.recall.branch_b.error) for case in self.counted)

    def found(self, rule: str) -> int:
        """Return for how many questions `rule` recalls a gold row."""
        return int(self.values[:, _place(rule), 0].sum())

    def exchanged(self, rule: str, base: str) -> tuple[int, int]:
        """Return how many questions only `rule` finds a gold row for, and how many only `base`."""
        one, other = self.values[:, _place(rule), 0], self.values[:, _place(base), 0]
        return int((one > other).sum()), int((one < other).sum())

    def bands(self, *, by: Literal["question", "topic"] = "question") -> Bands:
        """Return the mean of each metric by rule with its 95 % band, drawn by question or by whole topics."""
        return self._bands(self.values, by)

    def differences(self, base: str, *, by: Literal["question", "topic"] = "question") -> Bands:
        """Return the paired difference of each rule to the rule `base`."""
        return self._bands(self.values - self.values[:, [_place(base)]], by)

    def change(self, base: RefereeReport, *, by: Literal["question", "topic"] = "question") -> Bands:
        """Return each rule's paired difference to the same rule in `base`. Raises InputError if the questions differ."""
        if [(case.topic, case.id) for case in self.counted] != [(case.topic, case.id) for case in base.counted]:
            raise InputError(f"{self.system} and {base.system} were asked different questions: there are no pairs to compare")
        return self._bands(self.values - base.values, by)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a case: the question, both searches, the ruling, and whether gold was recalled."""
        import pandas as pd

        return pd.DataFrame([_record(case) for case in self.cases])

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values: counts, means, and ends of the bands by question and by topic."""
        from ilstma_lab.evaluation.referee_text import referee_figures

        return referee_figures(self)

    def __str__(self) -> str:
        from ilstma_lab.evaluation.referee_text import referee_text

        return referee_text(self)

    def _repr_html_(self) -> Html:
        from ilstma_lab.evaluation.referee_html import referee_html

        return referee_html(self)

    def _bands(self, values: np.ndarray, by: str) -> Bands:
        clusters = [case.topic for case in self.counted] if by == "topic" else None
        bands = iter(bootstrap(values.reshape(len(values), len(RULES) * len(METRICS)), clusters=clusters))
        return {rule: {metric: next(bands) for metric in METRICS} for rule in RULES}


def evaluate_referee(
    topics: Sequence[Topic],
    config: Config | None = None,
    *,
    models: Models | None = None,
    data: str = "",
    system: str = "",
    with_summary: bool = False,
    progress: Progress | None = None,
) -> RefereeReport:
    """Return every question of `topics` that has gold as a case, and what each rule would have recalled.

    `with_summary` asks each question a second time, joined with the summary nearest to it (ILSTMA, section 4.3.3).
    `progress(done, total)` counts questions. See `cases_of` for what is raised.
    """
    config, models = config or Config(), models or offline()
    total = sum(bool(question.finds) for topic in topics for question in topic.questions) * (1 + with_summary)
    cases: list[Case] = []
    for case in _all_cases(topics, config, models, with_summary):
        cases.append(case)
        if progress:
            progress(len(cases), total)
    asked = sum(len(topic.questions) for topic in topics)
    half = len(cases) // (1 + with_summary)
    rows = sum(len(topic.dialogues) for topic in topics)
    report = RefereeReport(data, system, models.name, tuple(cases[:half]), rows, asked - half)
    summarised = replace(report, system=f"{system} with summary".strip(), cases=tuple(cases[half:]))
    return replace(report, with_summary=summarised) if with_summary else report


def _all_cases(topics: Sequence[Topic], config: Config, models: Models, with_summary: bool) -> Iterator[Case]:
    for joined in (False, True)[: 1 + with_summary]:
        for topic in topics:
            yield from cases_of(topic, config, models=models, with_summary=joined)


def _measured(case: Case, rule: Callable[[Recall], tuple[int, ...]]) -> tuple[float, ...]:
    rows = rule(case.recall)
    return case.holds(rows), case.grade(rows), len(rows)


def _place(rule: str) -> int:
    if rule not in RULES:
        raise InputError(f"no rule {rule!r}; there are {', '.join(RULES)}")
    return list(RULES).index(rule)


def _record(case: Case) -> dict[str, Any]:
    return {
        "topic": case.topic,
        "id": case.id,
        "question": case.question,
        "decision": case.decision,
        "gold": list(case.gold),
        "named": case.named,
        "said": case.recall.branch_a.reading.raw,
        "winners": list(case.winners),
        "recalled": list(case.recall.recalled),
        "found": case.found if case.gold else None,
        "accuracy": case.grade(case.recall.recalled) if case.gold else None,
        "seen_by_reader": case.seen if case.gold else None,
        "scripted": case.scripted,
    }
