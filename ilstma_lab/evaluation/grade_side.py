"""The same answers under several graders: what each gives on average, and how often two give the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.grading import Answered, Grade
from ilstma_lab.evaluation.plain_table import PlainTable
from ilstma_lab.evaluation.tables import share
from ilstma_lab.reprs.words import count

if TYPE_CHECKING:
    import pandas as pd

    from ilstma_lab.protocols import Grader
    from ilstma_lab.reprs.markup import Html

ALL = "all"


@dataclass(frozen=True)
class SideBySide:
    """`grades[name][i]` is what the grader of that name says of `answers[i]`."""

    answers: tuple[Answered, ...]
    grades: dict[str, tuple[Grade, ...]]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of question, in the order in which they come, and then all of them."""
        found = tuple(dict.fromkeys(answer.question.kind for answer in self.answers))
        return (*found, ALL) if len(found) > 1 else found

    def accuracy(self, grader: str, kind: str = ALL) -> tuple[float, int]:
        """Return a grader's mean accuracy on one kind of question, nan where it graded none, and how many it graded."""
        given = self._accuracies(grader)[self._of(kind)]
        graded = given[~np.isnan(given)]
        return float(graded.mean()) if len(graded) else np.nan, len(graded)

    def agreement(self, one: str, other: str, kind: str = ALL) -> tuple[float, int]:
        """Return the share of answers to which two graders give the same accuracy, and how many both graded."""
        pairs = np.stack([self._accuracies(one), self._accuracies(other)])[:, self._of(kind)]
        both = pairs[:, ~np.isnan(pairs).any(axis=0)]
        return float((both[0] == both[1]).mean()) if both.size else np.nan, both.shape[1]

    def to_frame(self) -> pd.DataFrame:
        """Return one row an answer: each grader's accuracy, coherence and reason, the accuracy under the grader's own name."""
        import pandas as pd

        rows = []
        for at, answer in enumerate(self.answers):
            row = {"system": answer.system, "id": answer.question.id, "kind": answer.question.kind}
            row |= {"question": answer.question.question, "label": answer.question.label, "answer": answer.answer}
            for name, grades in self.grades.items():
                row |= {name: grades[at].accuracy, f"{name}: coherence": grades[at].coherence, f"{name}: why": grades[at].reason}
            rows.append(row)
        numbers = [column for name in self.grades for column in (name, f"{name}: coherence")]
        return pd.DataFrame(rows).astype(dict.fromkeys(numbers, float))

    def tables(self) -> tuple[PlainTable, PlainTable]:
        """Return mean accuracy by grader and kind, and agreement by pair of graders and kind; each figure with its n."""
        heads = tuple(kind.replace("_", " ") for kind in self.kinds)
        means = tuple((name, *(_cell(self.accuracy(name, kind)) for kind in self.kinds)) for name in self.grades)
        pairs = tuple(
            (f"{one} = {other}", *(_cell(self.agreement(one, other, kind)) for kind in self.kinds))
            for one, other in combinations(self.grades, 2)
        )
        return PlainTable(("mean accuracy", *heads), means), PlainTable(("same grade", *heads), pairs)

    def __str__(self) -> str:
        return "\n\n".join([self._title(), *(table.text() for table in self.tables() if table.rows), *self._notes()])

    def _repr_html_(self) -> Html:
        from ilstma_lab.evaluation.plain_table import tables_html

        return tables_html("Graders side by side", self._title(), [table for table in self.tables() if table.rows], self._notes())

    def _title(self) -> str:
        systems = len({answer.system for answer in self.answers})
        return f"{count(len(self.answers), 'answer')} of {count(systems, 'system')} under {count(len(self.grades), 'grader')}"

    def _notes(self) -> Iterator[str]:
        for name, grades in self.grades.items():
            if left := [grade for grade in grades if grade.accuracy is None]:
                why = "; ".join(dict.fromkeys(grade.reason for grade in left[:3]))
                yield f"{name} left {count(len(left), 'answer')} without a grade: {why}"

    def _accuracies(self, grader: str) -> np.ndarray:
        return np.array([np.nan if grade.accuracy is None else grade.accuracy for grade in self.grades[grader]])  # (n_answers,)

    def _of(self, kind: str) -> np.ndarray:
        return np.array([kind in (ALL, answer.question.kind) for answer in self.answers])  # (n_answers,)


def side_by_side(answers: Sequence[Answered], graders: Sequence[Grader]) -> SideBySide:
    """Return the grades of all `graders` for the same answers; anything with system, question and answer will do for one.

    Raises InputError where there is no answer or no grader, or where two graders share a name.
    """
    names = [grader.name for grader in graders]
    if not answers or not names:
        raise InputError("give at least one answer and one grader: side_by_side(answers, offline_graders())")
    if len(set(names)) < len(names):
        raise InputError(f"each grader needs a name of its own (got {', '.join(names)})")
    grades = {grader.name: tuple(grader.grade(each.question, each.answer) for each in answers) for grader in graders}
    return SideBySide(tuple(answers), grades)


def _cell(figure: tuple[float, int]) -> str:
    value, n = figure
    return f"{share(value)} n {n}" if n else "- n 0"
