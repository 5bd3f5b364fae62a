"""A part of the reader's own under watch: what it raises is kept, and what it returns is looked at before it is used."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Any

from ilstma_lab.errors import InputError
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.recorder import describe
from ilstma_lab.retrieval.recall import Recall

if TYPE_CHECKING:
    from ilstma_lab.evaluation.parts import Role


class Watched:
    """Does what `part` does. `faults` says, since it was last cleared, what the part raised or returned amiss."""

    def __init__(self, part: Any, role: Role):
        self.faults: list[str] = []
        self._part, self._role = part, role
        setattr(self, role.method, self._call)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def _call(self, *given: Any, **named: Any) -> Any:
        try:
            said = getattr(self._part, self._role.method)(*given, **named)
        except Exception as error:
            self.faults.append(str(error) if isinstance(error, InputError) else f"{describe(error)}{_hint(error)}")
            raise
        if wrong := fault_of(self._role, said, given):
            self.faults.append(f"{type(self._part).__name__}.{self._role.method} {wrong}")
            raise InputError(self.faults[-1])
        return said


def fault_of(role: Role, said: Any, given: tuple[Any, ...]) -> str:
    """Return what is wrong with what a part `said` when it was `given` its arguments; "" where nothing is."""
    if not isinstance(said, role.returns):
        if inspect.iscoroutine(said):
            said.close()
            return "is async, and is not waited for: write def, not async def"
        wanted = " or ".join(each.__name__ for each in role.returns)
        cure = ": does it end with a return?" if said is None else _MAKES.get(role.returns[0], "")
        return f"returned {kind_of(said)} where a {wanted} is needed{cure}"
    if isinstance(said, Recall):
        return _fault_of_rows("recalled", said.recalled, given[1])
    if isinstance(said, Selection):
        return _fault_of_rows("chose", said.chosen, given[0].table)
    if isinstance(said, tuple) and len(said) != 2:
        return f"returned {len(said)} things where a text and the calls that made it are needed: (text, ())"
    return ""


def kind_of(value: Any) -> str:
    """Return in words what a value is.

    >>> kind_of([1]), kind_of(3), kind_of(None)
    ('a list', 'an int', 'None')
    """
    name = type(value).__name__
    return "None" if value is None else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


_MAKES = {
    Recall: ": ranked(question, table, score) of ilstma_lab.evaluation.ranked makes one",
    Selection: ": Selection.of(rows) makes one",
    tuple: ": (text, ()) is one",
}


def _fault_of_rows(did: str, rows: Any, table: MemoryTable) -> str:
    if not isinstance(rows, Iterable):
        return f"{did} {kind_of(rows)} where a tuple of row indices is needed"
    for row in rows:
        if isinstance(row, bool) or not isinstance(row, Integral):
            return f"{did} {kind_of(row)} where row indices are needed: whole numbers, as table.indices has them"
        if row not in table:
            ends = f", {table.indices[0]} to {table.indices[-1]}" if len(table) else ""
            return f"{did} row {row}, which is not there: this table holds {len(table)} rows{ends}"
    return ""


def _hint(error: Exception) -> str:
    if isinstance(error, AttributeError) and "'Query' object" in str(error):
        return "; the question's words are question.text, its vector question.vector"
    return ""
