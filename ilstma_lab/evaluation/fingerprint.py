"""What an experiment is made of, in words and hashes: two that differ in any of it cannot share their records."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

from ilstma_lab.clock import ManualClock
from ilstma_lab.evaluation.cell_source import code_behind
from ilstma_lab.evaluation.datasets import Topic
from ilstma_lab.lab import Lab
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models
from ilstma_lab.protocols import Grader
from ilstma_lab.recorder import describe

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def fingerprint(
    topics: Sequence[Topic], systems: Mapping[str, Callable[..., Lab]], graders: Sequence[Grader], models: Models
) -> dict[str, Any]:
    """Return the kit's version, a hash of each topic, each system's settings, the graders and the models, as JSON values."""
    from ilstma_lab import __version__

    return {
        "version": __version__,
        "models": f"{models.name}, {models.embedder.name}",
        "graders": [setting_of(grader) for grader in graders],
        "data": {topic.name: _hash(repr((topic.dialogues, topic.questions))) for topic in topics},
        "systems": {name: system_setting(factory, models) for name, factory in systems.items()},
    }


def system_setting(factory: Callable[..., Lab], models: Models) -> str:
    """Return the class, the settings and, where it is not the kit's, a hash of the code of what `factory` makes.

    The code is that of the class, of its base classes outside the kit, of a function that makes it, and of the module files in
    which they stand. A change in modules that these import is not seen.
    """
    own = getattr(factory, "setting", "")
    try:
        table = MemoryTable(embedder=models.embedder)
        lab = factory(table, models=models, clock=ManualClock.after(table))
    except Exception as error:
        return f"cannot be made: {describe(error)}"
    made_by = _named(factory) if isinstance(factory, FunctionType) else ""
    return "; ".join(filter(None, (_named(type(lab)), _plain(lab.config), own, made_by)))


def setting_of(part: Any) -> str:
    """Return the name of a part, its parameters as its repr tells them, and a hash of its code where it is not the kit's."""
    return "; ".join(filter(None, (_named(type(part)), getattr(part, "name", ""), _plain(part))))


def _named(made: type | FunctionType) -> str:
    name = f"{made.__module__}.{made.__qualname__}"
    if made.__module__.startswith("ilstma_lab."):
        return name
    return f"{name} {_hash(code_behind(made))}"


def _plain(value: Any) -> str:
    return _ADDRESS.sub("", repr(value))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
