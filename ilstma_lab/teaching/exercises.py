"""Exercises: `check` says which property of an answer fails, never the answer; `hint` says a little more at each call."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from numbers import Real
from typing import Any, Literal

from ilstma_lab.errors import InputError
from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.reprs.words import line
from ilstma_lab.teaching.progress import progress

State = Literal["holds", "fails", "not looked at"]
_MARKS = {"holds": "✓", "fails": "✗", "not looked at": "·"}
NOT_YET = "Not answered yet: put your answer in place of the dots, and run this cell again."
_hinted: Counter[str] = Counter()


@dataclass(frozen=True)
class Property:
    """One thing that must be true of an answer, in words that do not give it away."""

    says: str
    holds: Callable[[Any], bool]


@dataclass(frozen=True)
class Exercise:
    """What an answer is looked at for, in this order, and its hints, from a nudge to the last step before the answer."""

    properties: tuple[Property, ...]
    hints: tuple[str, ...]


@dataclass(frozen=True)
class Checked:
    """How an answer did: each property with its state, and what was raised, if anything, while one was looked at."""

    key: str
    properties: tuple[tuple[str, State], ...]
    raised: str = ""

    @property
    def passed(self) -> bool:
        """Whether all properties hold."""
        return bool(self.properties) and all(state == "holds" for _, state in self.properties)

    @property
    def finding(self) -> str:
        """The outcome in a sentence."""
        if not self.properties:
            return NOT_YET
        if self.passed:
            return f"{self.key}: solved."
        return f'{self.key}: not yet. Stuck? hint("{self.key}")'

    def __str__(self) -> str:
        return "\n".join(
            filter(None, [self.finding, *(f"  {_MARKS[state]} {says}" for says, state in self.properties), self.raised])
        )

    __repr__ = __str__

    def _repr_html_(self) -> Html:
        items = (
            tag("li", f"{_MARKS[state]} ", says, cls=None if state != "not looked at" else "dim")
            for says, state in self.properties
        )
        raised = tag("p", self.raised, cls="fail") if self.raised else None
        return page(tag("div", tag("p", tag("b", self.finding)), tag("ul", *items), raised, cls="pane"))


@dataclass(frozen=True)
class Hinted:
    """Hints, the newest last."""

    said: tuple[str, ...]
    of: int

    @property
    def more(self) -> str:
        """How many are left, in words."""
        left = self.of - len(self.said)
        return f"{left} more: run it again" if left else "that was the last; a worked answer is in solutions/"

    def __str__(self) -> str:
        return "\n".join([*(f"{number}. {text}" for number, text in enumerate(self.said, 1)), f"({self.more})"])

    __repr__ = __str__

    def _repr_html_(self) -> Html:
        items = (tag("li", f"{number}. {text}") for number, text in enumerate(self.said, 1))
        return page(tag("div", tag("ul", *items), tag("p", self.more, cls="dim"), cls="pane"))


def check(key: str, answer: Any) -> Checked:
    """Return how `answer` does in exercise `key`, such as "03-B", and keep whether it is solved. It raises only for unknown keys.

    `...` stands for an answer that is not given yet. Properties are looked at in order, up to the first that fails.
    """
    task = exercise(key)
    if answer is ...:
        return Checked(key, ())
    states: list[tuple[str, State]] = []
    raised = ""
    for wanted in task.properties:
        if states and states[-1][1] != "holds":
            states.append((wanted.says, "not looked at"))
            continue
        try:
            holds = bool(wanted.holds(answer))
        except Exception as error:  # the answer is the reader's: whatever it does is told, not raised
            holds, raised = False, line(f"Looking at it raised {type(error).__name__}: {error}", 300)
        states.append((wanted.says, "holds" if holds else "fails"))
    checked = Checked(key, tuple(states), raised)
    progress().put("solved", key, checked.passed)
    return checked


def hint(key: str) -> Hinted:
    """Return the hints of exercise `key` so far; each call says one more."""
    hints = exercise(key).hints
    _hinted[key] = min(_hinted[key] + 1, len(hints))
    return Hinted(hints[: _hinted[key]], len(hints))


def exercise(key: str) -> Exercise:
    """Return the exercise `key`: "03-B" is "B" in teaching/checks/lesson03.py. Raises InputError for an unknown one."""
    number, _, letter = str(key).partition("-")
    exercises: Mapping[str, Exercise] = {}
    if re.fullmatch(r"\d\d", number):
        name = f"ilstma_lab.teaching.checks.lesson{number}"
        if find_spec(name):
            exercises = import_module(name).EXERCISES
    if letter not in exercises:
        known = ", ".join(f"{number}-{known}" for known in exercises) or f"none for a lesson {number!r}"
        raise InputError(f"there is no exercise {key!r}; there are: {known}")
    return exercises[letter]


def near(value: Any, truth: float, *, tolerance: float) -> bool:
    """Return whether a number is within `tolerance` of `truth`; what is no number is not.

    >>> near(0.67, 0.6703, tolerance=0.005), near("0.67", 0.6703, tolerance=0.005)
    (True, False)
    """
    return isinstance(value, Real) and not isinstance(value, bool) and abs(value - truth) <= tolerance
