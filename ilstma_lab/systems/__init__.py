"""Memory systems to compare: ILSTMA, MemoryBank, SCM, MemoChat, ChatRsum, and yardsticks; each is a `Lab` over a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING

from ilstma_lab.errors import InputError

if TYPE_CHECKING:
    from ilstma_lab.lab import Lab

SYSTEMS: Mapping[str, str] = MappingProxyType(
    {
        "ilstma": "ilstma_lab.engine:ILSTMA",
        "ilstma_measured": "ilstma_lab.systems.presets:measured_ilstma",
        "memorybank": "ilstma_lab.systems.memorybank:MemoryBank",
        "memorybank_question": "ilstma_lab.systems.presets:question_memorybank",
        "scm": "ilstma_lab.systems.scm:SCM",
        "memochat": "ilstma_lab.systems.memochat:MemoChat",
        "chatrsum": "ilstma_lab.systems.chatrsum:ChatRsum",
    }
)
"""Where each system is made: a class, or a function of the same arguments `(table, *, models, clock)`."""

YARDSTICKS: Mapping[str, str] = MappingProxyType(
    {
        "constant": "ilstma_lab.systems.yardsticks:Constant",
        "last_turns": "ilstma_lab.systems.yardsticks:LastTurns",
        "full_context": "ilstma_lab.systems.yardsticks:FullContext",
        "bm25": "ilstma_lab.systems.yardsticks:PlainBm25",
    }
)
"""What every comparison shows beside the systems: answers that need no memory, all of it, or word search alone."""


def find_system(name: str) -> Callable[..., Lab]:
    """Return what makes the labs of a system: one of `SYSTEMS` or `YARDSTICKS`, or `module:Class` of your own.

    Raises InputError where there is none of that name.
    """
    place = SYSTEMS.get(name) or YARDSTICKS.get(name) or name
    module, colon, attribute = place.partition(":")
    if not colon:
        raise InputError(f"no system {name!r}; there are {', '.join([*SYSTEMS, *YARDSTICKS])}, or module:Class of your own")
    try:
        found = getattr(import_module(module), attribute, None)
    except ImportError as error:
        raise InputError(f"{name}: {module} cannot be imported ({error}); start where Python finds it") from None
    if not callable(found):
        raise InputError(f"{name}: {module} has no class or function {attribute!r}")
    return found
