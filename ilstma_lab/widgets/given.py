"""What explorables are given beside their parameters, and what they say of anything else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.workload import Workload


def workloads_of(given: Any) -> tuple[Workload, ...]:
    """Return the workloads that were given, one or several.

    Raises InputError for anything else, and where no question has a row that answers it.
    """
    several = (given,) if isinstance(given, Workload) else tuple(given) if isinstance(given, Iterable) else ()
    if not several or not all(isinstance(each, Workload) for each in several):
        raise InputError(
            f"give a workload, or several, as workload_of(load_topic(...)) or generate() return them (got {type(given).__name__})"
        )
    if not any(map(len, several)):
        raise InputError("no question of these workloads has a row that answers it: there is nothing to hit")
    return several
