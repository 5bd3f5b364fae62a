"""How good the rows are that a turn recalled: the papers' retrieval metrics of one question, and 1 / rank over base models.

MemoryBank's correctness needs nothing of its own: it is a grade's accuracy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band, bootstrap

if TYPE_CHECKING:
    from ilstma_lab.evaluation.datasets import RecallQuestion
    from ilstma_lab.evaluation.grading import Grade
    from ilstma_lab.memory.entry import Dialogue


def near_rows(question: RecallQuestion, dialogues: Sequence[Dialogue]) -> frozenset[str]:
    """Return the sources of rows near the gold: those of a gold row's day (the speaker's), and those just before and after one.

    Gold rows themselves are among them. Before and after are meant in the order of time.
    """
    rows = sorted(dialogues, key=lambda dialogue: dialogue.at)
    places = [place for place, row in enumerate(rows) if row.source in question.finds]
    days = {rows[place].at.date() for place in places}
    beside = {place + step for place in places for step in (-1, 0, 1)}
    return frozenset(row.source for place, row in enumerate(rows) if place in beside or row.at.date() in days)


def retrieve_accuracy(
    question: RecallQuestion, recalled: Sequence[str], *, dialogues: Sequence[Dialogue], written_of: Sequence[str] = ()
) -> float | None:
    """Return 1 where a gold row is among the recalled sources, .5 where a row near one is (`near_rows`), else 0.

    `written_of` are rows of which a summary was recalled in their place: a gold row among them counts .5, for its words may or
    may not be in it.
    None where the question has no gold: there is no row to find. With branch A's row alone as `recalled` this is ILSTMA's
    Recall Accuracy.

    Paper note: ILSTMA (section 4.2) grades {0, .5, 1} by GPT-4 "based on the semantic proximity to the correct answer" and does
    not say what .5 is. Ours is decided by place, so that it is the same for every system and run.
    """
    if not question.finds:
        return None
    if not question.finds.isdisjoint(recalled):
        return 1.0
    return 0.0 if near_rows(question, dialogues).isdisjoint([*recalled, *written_of]) else 0.5


def memorybank_retrieval(question: RecallQuestion, recalled: Sequence[str]) -> float | None:
    """Return 1 where a gold row is among the recalled sources, else 0 (MemoryBank, section 4.2); None without gold."""
    return hit_at(question, recalled, k=len(recalled))


def hit_at(question: RecallQuestion, recalled: Sequence[str], *, k: int) -> float | None:
    """Return 1 where a gold row is among the first `k` recalled sources, else 0; None without gold."""
    return float(not question.finds.isdisjoint(recalled[:k])) if question.finds else None


def reciprocal_rank(question: RecallQuestion, recalled: Sequence[str]) -> float | None:
    """Return 1 / place of the first gold row among the recalled sources, from 1; 0 where none is; None without gold."""
    if not question.finds:
        return None
    return next((1 / place for place, source in enumerate(recalled, 1) if source in question.finds), 0.0)


def false_hit(grade: Grade, *, hit: bool) -> bool | None:
    """Return whether a hit's answer is wrong, accuracy 0, by the grader that gave `grade`; None on a miss or without accuracy."""
    return grade.accuracy == 0 if hit and grade.accuracy is not None else None


@dataclass(frozen=True, eq=False)
class RankingScores:
    """MemoryBank's ranking score of base models that answered the same questions on one memory.

    `values`: 1 / rank, shape (n_questions, n_models). `left_out`: questions that some model has no accuracy for.
    """

    models: tuple[str, ...]
    values: np.ndarray
    left_out: int

    def __len__(self) -> int:
        return len(self.values)

    def bands(self) -> dict[str, Band]:
        """Return each model's mean 1 / rank with its 95 % band, drawn by question."""
        return dict(zip(self.models, bootstrap(self.values), strict=True))


def ranking_scores(grades: Mapping[str, Sequence[Grade]]) -> RankingScores:
    """Return 1 / rank of each model on each question; `grades` holds by model one grade a question, in the same order.

    The better accuracy ranks first, at a tie the better coherence where all models have one. Models that still tie share
    alike what their places give: two that are both best get (1 + 1/2) / 2 each. Raises InputError for fewer than two models, or
    where they were not asked the same number of questions.

    Paper note: MemoryBank (section 4.2) has people rank three models' answers, and does not speak of ties.
    """
    if len(grades) < 2 or len({len(each) for each in grades.values()}) != 1:
        raise InputError("ranking needs two base models or more, each with one grade for each of the same questions")
    questions = list(zip(*grades.values(), strict=True))
    ranked = [_shares(graded) for graded in questions if all(grade.accuracy is not None for grade in graded)]
    values = np.array(ranked, float).reshape(-1, len(grades))
    return RankingScores(tuple(grades), values, len(questions) - len(ranked))


def _shares(graded: Sequence[Grade]) -> list[float]:
    coherent = all(grade.coherence is not None for grade in graded)
    merits = [(grade.accuracy, grade.coherence if coherent else 0.0) for grade in graded]
    places = [[place for place, merit in enumerate(sorted(merits, reverse=True), 1) if merit == mine] for mine in merits]
    return [sum(1 / place for place in mine) / len(mine) for mine in places]
