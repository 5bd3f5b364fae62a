"""One question as one system answered it: what an experiment writes down, a line of JSON each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ilstma_lab.errors import FormatError
from ilstma_lab.evaluation.datasets import RecallQuestion
from ilstma_lab.evaluation.grading import Grade
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.protocols import Grader
from ilstma_lab.recorder import describe
from ilstma_lab.trace import Turn


@dataclass(frozen=True, slots=True)
class Record:
    """The answer of `system` to one question of `topic`, rows by their source.

    `recalled`: best first, None for a system that recalls no rows. `named`: branch A's row; `a_alone`: its retrieve accuracy,
    None where branch A did not read or there is no gold. `rank`: the place of the first row with the answer, in branch B's
    ranking where the turn has one, else among the recalled rows; 0 where it is not among them, None without gold or rows.
    `hit`: None for a system without a cache. `retrieve`: the retrieve accuracy, None without gold. Seconds and tokens are the
    turn's. `failure` says why there is no answer: then every grade is 0. `trouble` names the steps that failed though an answer
    came. `grades` by the grader's name.
    """

    system: str
    topic: str
    repeat: int
    id: str
    kind: str
    answer: str = ""
    recalled: tuple[str, ...] | None = None
    named: str | None = None
    a_alone: float | None = None
    rank: int | None = None
    hit: bool | None = None
    retrieve: float | None = None
    seconds: float = 0.0
    seconds_after: float = 0.0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    failure: str = ""
    trouble: str = ""
    grades: Mapping[str, Grade] = field(default_factory=dict)

    @property
    def unit(self) -> tuple[str, str, int]:
        """System, topic, repeat: what is asked in one go, since an answer may depend on the questions before it."""
        return self.system, self.topic, self.repeat

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain JSON values."""
        return _adapter().dump_python(self, mode="json")

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Record:
        """Return the record that `to_dict` wrote. Raises FormatError for anything else."""
        try:
            return _adapter().validate_python(dict(data))
        except (ValueError, TypeError) as error:
            raise FormatError(f"not a record of an experiment: {error}") from None

    def to_json(self) -> str:
        """Return the record as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)


def ranked_sources(turn: Turn, table: MemoryTable) -> tuple[str, ...]:
    """Return the rows in the order in which the turn found them: branch B's ranking, else what it recalled."""
    ranked = [candidate.index for candidate in turn.recall.branch_b.candidates] if turn.recall else []
    return sources(ranked or shown_rows(turn), table)


def shown_rows(turn: Turn) -> tuple[int, ...]:
    """Return the recalled rows whose own words stood before the model, best first; not those that a text was written of."""
    shown = {row for view in turn.answered_from for row in view.rows}
    return tuple(row for row in turn.recalled if row in shown)


def sources(rows: Sequence[int], table: MemoryTable) -> tuple[str, ...]:
    """Return the sources of `rows` that the table holds."""
    return tuple(table[row].source for row in rows if row in table)


def rank_of(question: RecallQuestion, ranked: Sequence[str]) -> int:
    """Return the place of the first row with the answer, from 1; 0 where none is among `ranked`."""
    return next((place for place, source in enumerate(ranked, 1) if source in question.finds), 0)


def graded(question: RecallQuestion, answer: str, graders: Sequence[Grader], *, failure: str) -> dict[str, Grade]:
    """Return each grader's grade, without accuracy where the grader fails; where there is no answer 0, and none is asked."""
    if failure:
        return {grader.name: Grade(0.0, None, f"no answer: {failure}") for grader in graders}
    return {grader.name: _grade(grader, question, answer) for grader in graders}


def _grade(grader: Grader, question: RecallQuestion, answer: str) -> Grade:
    try:
        return grader.grade(question, answer)
    except Exception as error:
        return Grade(None, reason=f"the grader failed: {describe(error)}")


@lru_cache(maxsize=1)
def _adapter():
    from pydantic import TypeAdapter

    return TypeAdapter(Record)
