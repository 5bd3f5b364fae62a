"""What a variant may be: a part of ILSTMA known by its one method, a Config, or a lab; and whether it does what its part does."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ilstma_lab.clock import Clock
from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.fingerprint import setting_of
from ilstma_lab.lab import Lab
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.retrieval.recall import Reading, Recall
from ilstma_lab.trace import Verdict


@dataclass(frozen=True)
class Role:
    """A part of ILSTMA: its method, where it goes (in the lab or in Models), how it is called, what it returns."""

    method: str
    place: str
    of_models: bool
    arguments: tuple[int, tuple[str, ...]]
    returns: tuple[type, ...]


ROLES = (
    Role("retrieve", "retriever", False, (2, ("now",)), (Recall,)),
    Role("select", "prefetcher", False, (1, ()), (Selection,)),
    Role("judge", "judge", True, (2, ()), (Verdict,)),
    Role("read", "reader", True, (2, ()), (Reading,)),
    Role("summarize", "summarizer", True, (1, ()), (tuple,)),
    Role("merge", "merger", True, (2, ()), (tuple,)),
    Role("profile", "profiler", True, (2, ()), (tuple,)),
    Role("answer", "responder", True, (2, ()), (str, Iterator)),
)
"""The parts that a variant may replace, by their one method (`ilstma_lab.protocols`)."""


@dataclass(frozen=True)
class Variant:
    """What makes labs with one thing of the reader's own: called as `variant(table, models=..., clock=...)`.

    A part is copied for each lab, so that nothing it remembers of one topic reaches another.
    """

    name: str
    value: Any
    config: Config
    role: Role | None = None

    def __call__(self, table: MemoryTable, *, models: Models | None = None, clock: Clock | None = None) -> Lab:
        """Return a lab over `table`."""
        models = models or offline(table.embedder)
        if isinstance(self.value, Config):
            return ILSTMA(table, self.value, models=models, clock=clock)
        if self.role is None:
            return self.value(table, models=models, clock=clock)
        part = self._copy()
        if self.role.of_models:
            return ILSTMA(table, self.config, models=replace(models, **{self.role.place: part}), clock=clock)
        return ILSTMA(table, self.config, models=models, clock=clock, **{self.role.place: part})

    @property
    def setting(self) -> str:
        """The value's parameters, for the experiment's fingerprint."""
        return setting_of(self.value)

    @property
    def what(self) -> str:
        """What kind of thing the value is."""
        if isinstance(self.value, Config):
            return "Config"
        return self.role.place if self.role else "lab"

    def _copy(self) -> Any:
        try:
            return copy.deepcopy(self.value)
        except Exception as error:
            raise InputError(
                f"{self.name}: {type(self.value).__name__} cannot be copied for each topic ({error}); give a function that makes "
                "a lab with it instead: lambda table, **parts: ILSTMA(table, ..., **parts)"
            ) from None


def variant_of(name: str, value: Any, config: Config) -> Variant:
    """Return the variant that `value` makes; parts stand in an ILSTMA with `config`. Raises InputError for anything else."""
    if isinstance(value, Config) or (inspect.isclass(value) and issubclass(value, Lab)):
        return Variant(name, value, config)
    roles = [role for role in ROLES if callable(getattr(value, role.method, None))]
    if inspect.isclass(value):
        hint = f": give one of it, {value.__name__}()" if roles else "; a class must be a Lab"
        raise InputError(f"{name}: {value.__name__} is a class{hint}")
    if len(roles) > 1:
        methods = ", ".join(role.method for role in roles)
        raise InputError(f"{name}: {type(value).__name__} has the methods of several parts ({methods}): give a part for each")
    if roles:
        _check_arguments(name, value, roles[0])
        return Variant(name, value, config, roles[0])
    if callable(value):
        return Variant(name, value, config)
    methods = ", ".join(role.method for role in ROLES)
    raise InputError(
        f"{name}: {_kind(value)} is nothing that can be compared; give a part of ILSTMA (an object with one method of "
        f"{methods}), a Config, a Lab class, or a function that makes labs"
    )


def try_out(variant: Variant, table: MemoryTable, question: str, models: Models, *, clock: Clock) -> None:
    """Ask the variant one question twice (the first turn skips the judge). Raises InputError that says what goes wrong."""
    try:
        lab = variant(table, models=models, clock=clock)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{variant.name}: no lab can be made: {type(error).__name__}: {error}") from error
    if not isinstance(lab, Lab):
        raise InputError(f"{variant.name}: {_called(variant.value)} returned {_kind(lab)}, not a Lab")
    watched = _watch(variant, lab)
    try:
        lab.summarise()
        turns = [lab.ask(question, at=clock.now(), remember=False) for _ in range(2)]
    except Exception as error:
        watched()
        raise InputError(f"{variant.name} fails on a question: {type(error).__name__}: {error}") from error
    watched()
    for turn in turns:
        failed = [turn.failure.message] if turn.failure else [step.error for step in turn.steps if step.error]
        failed += [turn.recall.branch_a.error] if turn.recall and turn.recall.branch_a.error else []
        if failed:
            raise InputError(f"{variant.name} fails on a question: {failed[0]}")


def _watch(variant: Variant, lab: Lab) -> Callable[[], None]:
    """Note what the variant's method returns and raises in this lab; return what raises an InputError where it is wrong."""
    role = variant.role
    if role is None:
        return lambda: None
    part = getattr(lab.models if role.of_models else lab, role.place)
    own, wrong = getattr(part, role.method), []

    def watching(*arguments: Any, **named: Any) -> Any:
        said = own(*arguments, **named)
        if not isinstance(said, role.returns):
            wrong.append(said)
        return said

    try:
        setattr(part, role.method, watching)
    except (AttributeError, TypeError):  # a frozen part, or one with slots: the turn itself tells what goes wrong
        return lambda: None

    def check() -> None:
        if wrong:
            wanted = " or ".join(returned.__name__ for returned in role.returns)
            called = f"{type(variant.value).__name__}.{role.method}"
            raise InputError(f"{variant.name}: {called} returned {_kind(wrong[0])} where a {wanted} is needed")

    return check


def _check_arguments(name: str, value: Any, role: Role) -> None:
    method = getattr(value, role.method)
    positions, named = role.arguments
    try:
        inspect.signature(method).bind(*range(positions), **dict.fromkeys(named))
    except TypeError as error:
        protocol = f"{positions} argument{'s' * (positions != 1)}" + "".join(f" and {each}=" for each in named)
        raise InputError(
            f"{name}: {type(value).__name__}.{role.method}{inspect.signature(method)} is called with {protocol} ({error}); "
            f"ilstma_lab.protocols shows the part"
        ) from None
    except ValueError:  # a method without a signature, of an extension
        return


def _kind(value: Any) -> str:
    return "None" if value is None else f"{'an' if type(value).__name__[0] in 'aeiou' else 'a'} {type(value).__name__}"


def _called(value: Any) -> str:
    return getattr(value, "__name__", type(value).__name__)
