"""What a variant may be: a part of ILSTMA known by its one method, a Config, or a lab; and whether it does what its part does."""

from __future__ import annotations

import copy
import hashlib
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from ilstma_lab.clock import Clock
from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.cell_source import code_of
from ilstma_lab.evaluation.fingerprint import setting_of
from ilstma_lab.evaluation.watched import Watched, kind_of
from ilstma_lab.lab import Lab
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.recorder import describe
from ilstma_lab.retrieval.recall import Reading, Recall
from ilstma_lab.trace import Turn, Verdict


@dataclass(frozen=True)
class Role:
    """A part of ILSTMA: its method, where it goes (in the lab or in Models), what its method takes and returns."""

    method: str
    place: str
    of_models: bool
    takes: tuple[str, ...]
    returns: tuple[type, ...]
    named: tuple[str, ...] = ()

    @property
    def signature(self) -> str:
        """The method's first line, as a class has it."""
        return f"def {self.method}({', '.join(['self', *self.takes, *(['*', *self.named] if self.named else [])])})"


ROLES = (
    Role("retrieve", "retriever", False, ("question", "table"), (Recall,), named=("now",)),
    Role("select", "prefetcher", False, ("context",), (Selection,)),
    Role("judge", "judge", True, ("query", "memory"), (Verdict,)),
    Role("read", "reader", True, ("query", "chunks"), (Reading,)),
    Role("summarize", "summarizer", True, ("dialogues",), (tuple,)),
    Role("merge", "merger", True, ("old", "new"), (tuple,)),
    Role("profile", "profiler", True, ("personality", "dialogues"), (tuple,)),
    Role("answer", "responder", True, ("query", "memory"), (str, Iterator)),
)
"""The parts that a variant may replace, by their one method (`ilstma_lab.protocols`)."""


@dataclass(frozen=True)
class Variant:
    """What makes labs with one thing of the reader's own: called as `variant(table, models=..., clock=...)`.

    A part is copied for each lab, so that nothing it remembers of one topic reaches another, and it is watched: a question at
    which it raises, or returns what its part does not return, raises InputError, where ILSTMA itself would go on without it.
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
        part = Watched(self._copy(), self.role)
        if self.role.of_models:
            models = replace(models, **{self.role.place: part})
            return _Watching(table, self.config, models=models, clock=clock, watched=part)
        return _Watching(table, self.config, models=models, clock=clock, watched=part, **{self.role.place: part})

    @property
    def setting(self) -> str:
        """The value's parameters and a hash of its code, for the experiment's fingerprint."""
        return f"{setting_of(self.value)}; code {hashlib.sha256(self.source.encode()).hexdigest()[:16]}"

    @property
    def source(self) -> str:
        """The code of the value's class, or of the value where it is a class or function; "" where Python cannot tell it."""
        return code_of(type(self.value) if self.role or isinstance(self.value, Config) else self.value)

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


class _Watching(ILSTMA):
    """ILSTMA with a watched part: a question at which the part is wrong has no answer."""

    def __init__(self, table: MemoryTable, config: Config, *, watched: Watched, **parts: Any):
        super().__init__(table, config, **parts)
        self._watched = watched

    def ask(self, question: str, **options: Any) -> Turn:
        """Return the turn. Raises InputError that says what the part did."""
        self._watched.faults.clear()
        turn = super().ask(question, **options)
        if self._watched.faults:
            raise InputError(self._watched.faults[0])
        return turn


def variant_of(name: str, value: Any, config: Config) -> Variant:
    """Return the variant that `value` makes; parts stand in an ILSTMA with `config`. Raises InputError for anything else."""
    if isinstance(value, Config) or (inspect.isclass(value) and issubclass(value, Lab)):
        return Variant(name, value, config)
    roles = [role for role in ROLES if callable(getattr(value, role.method, None))]
    if inspect.isclass(value):
        raise InputError(f"{name}: {value.__name__} is a class{_of_a_class(value, roles)}")
    if len(roles) > 1:
        methods = ", ".join(role.method for role in roles)
        raise InputError(f"{name}: {type(value).__name__} has the methods of several parts ({methods}): give a part for each")
    if roles:
        check_arguments(name, value, roles[0])
        return Variant(name, value, config, roles[0])
    if callable(value):
        _check_maker(name, value)
        return Variant(name, value, config)
    methods = ", ".join(role.method for role in ROLES)
    raise InputError(
        f"{name}: {kind_of(value)} is nothing that can be compared{_meant(value)}; give a part of ILSTMA (an object with one "
        f"method of {methods}), a Config, a Lab class, or a function that makes labs"
    )


def try_out(variant: Variant, table: MemoryTable, question: str, models: Models, *, clock: Clock) -> str:
    """Ask the variant one question twice (the first turn skips the judge), and return what to know of it, "" for nothing.

    Raises InputError that says what goes wrong.
    """
    try:
        lab = variant(table, models=models, clock=clock)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{variant.name}: no lab can be made: {type(error).__name__}: {error}") from error
    if not isinstance(lab, Lab):
        raise InputError(f"{variant.name}: {_called(variant.value)} returned {kind_of(lab)}, not a Lab")
    try:
        lab.summarise()
        turns = [lab.ask(question, at=clock.now(), remember=False) for _ in range(2)]
    except Exception as error:
        said = str(error) if isinstance(error, InputError) else describe(error)
        raise InputError(f"{variant.name} fails on a question: {said}") from error
    for turn in turns:
        failed = [turn.failure.message] if turn.failure else [step.error for step in turn.steps if step.error]
        failed += [turn.recall.branch_a.error] if turn.recall and turn.recall.branch_a.error else []
        if failed:
            raise InputError(f"{variant.name} fails on a question: {failed[0]}")
    usual, cached = variant.config.prefetch.k, max(len(turn.prefetch.chosen) if turn.prefetch else 0 for turn in turns)
    if variant.role and variant.role.place == "prefetcher" and cached > usual:
        return f"{variant.name} keeps {cached} rows in the cache, ILSTMA {usual}: more room alone means more hits."
    return ""


def check_arguments(name: str, value: Any, role: Role) -> None:
    """Raise InputError where the part's method cannot be called as the engine calls it."""
    method = getattr(value, role.method)
    try:
        inspect.signature(method).bind(*role.takes, **dict.fromkeys(role.named))
    except TypeError as error:
        raise InputError(
            f"{name}: {type(value).__name__}.{role.method}{inspect.signature(method)} does not take what it is given ({error}); "
            f"write {role.signature}"
        ) from None
    except ValueError:  # a method without a signature, of an extension
        return


def _check_maker(name: str, value: Callable) -> None:
    try:
        inspect.signature(value).bind("table", models=None, clock=None)
    except TypeError as error:
        raise InputError(
            f"{name}: a function that stands alone makes labs, and is called with a table and models= and clock= ({error}); "
            f"a part is an object: a class with its one method, such as {ROLES[0].signature}"
        ) from None
    except ValueError:
        return


def _of_a_class(value: type, roles: list[Role]) -> str:
    if not roles:
        return (
            f"{_meant(value)}; a class must be a Lab, or have a part's one method and be given as an object, {value.__name__}()"
        )
    try:
        inspect.signature(value).bind()
    except (TypeError, ValueError):
        return f": give one of it, {value.__name__}(...), with what it is made of"
    return f": give one of it, {value.__name__}()"


def _meant(value: Any) -> str:
    """Return which of its names may be a part's method, misspelt or no method at all."""
    for role in ROLES:
        if hasattr(value, role.method):
            return f": its {role.method!r} is no method"
        if near := get_close_matches(role.method, [name for name in dir(value) if not name.startswith("_")], 1, 0.8):
            return f": it has {near[0]!r}; is {role.method!r} meant?"
    return ""


def _called(value: Any) -> str:
    return getattr(value, "__name__", type(value).__name__)
