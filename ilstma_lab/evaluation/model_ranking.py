"""MemoryBank's ranking score: which of several base models answers better from one memory."""

from __future__ import annotations

from collections.abc import Mapping

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.experiment import Experiment
from ilstma_lab.evaluation.retrieved import RankingScores, ranking_scores


def rank_models(experiments: Mapping[str, Experiment], *, system: str, grader: str) -> RankingScores:
    """Return 1 / rank of each base model's answers through one system; `experiments` by the model's name.

    Each question counts with its first repeat. For "one memory", let all models prepare with the same parts, or offline. Raises
    InputError for fewer than two models, other questions, or a system or grader that one of them lacks.
    """
    first = next(iter(experiments.values()), None)
    for model, run in experiments.items():
        if run.questions != first.questions:
            raise InputError(f"{model} was asked other questions than {next(iter(experiments))}: there are no ranks to give")
        if system not in run.systems or grader not in run.graders:
            raise InputError(f"the experiment of {model} has no {system!r} graded by {grader!r}")
    return ranking_scores({model: _grades(run, system, grader) for model, run in experiments.items()})


def _grades(run: Experiment, system: str, grader: str):
    return [record.grades[grader] for record in run.of(system) if record.repeat == 0]
