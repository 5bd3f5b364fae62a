"""A guess before the truth: `predict` asks and keeps it, `reveal` puts the truth beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from numbers import Real
from typing import Any

import traitlets

from ilstma_lab.errors import InputError
from ilstma_lab.reprs.markup import Html, page, stylesheet, tag
from ilstma_lab.reprs.words import line
from ilstma_lab.teaching.progress import progress
from ilstma_lab.widgets.shell import Shell

Guess = str | float | None
NO_GUESS = "no guess yet"


def _read(folder: str, name: str) -> str:
    return (files("ilstma_lab") / folder / "static" / name).read_text(encoding="utf-8")


class Prediction(Shell):
    """A question put before the truth is shown. `guess` is set by the reader, in the browser or from Python; None is none yet.

    It is one of `options`, or a finite number in `unit` where there are none. A guess is kept at once, and comes back
    after a restart.
    """

    _esm = _read("widgets", "shell.js") + _read("teaching", "predict.js")
    _css = stylesheet() + _read("teaching", "teaching.css")
    question = traitlets.Unicode().tag(sync=True)
    options = traitlets.List(traitlets.Unicode()).tag(sync=True)
    unit = traitlets.Unicode().tag(sync=True)
    guess = traitlets.Any(None, allow_none=True).tag(sync=True)
    told = traitlets.Unicode().tag(sync=True)

    def __init__(self, key: str, question: str, options: Sequence[str] = (), *, unit: str = ""):
        super().__init__(question=question, options=list(options), unit=unit)
        self.key = key
        kept = progress().get("guesses", key)
        if self._possible(kept):
            self.guess = kept
        self.observe(lambda change: progress().put("guesses", key, change["new"]), names="guess")

    @traitlets.validate("guess")
    def _valid(self, proposal: dict[str, Any]) -> Guess:
        if not self._possible(guess := proposal["value"]):
            wanted = f"one of {', '.join(map(repr, self.options))}" if self.options else "a finite number"
            raise InputError(f"a guess is {wanted}, or None to take it back (got {guess!r})")
        return guess

    def _possible(self, guess: object) -> bool:
        if self.options or guess is None:
            return guess is None or guess in self.options
        return isinstance(guess, Real) and not isinstance(guess, bool) and math.isfinite(guess)

    def static(self) -> Html:
        """Return question and guess as HTML without a script."""
        options = tag("p", " · ".join(self.options), cls="mid") if self.options else None
        return page(
            tag("div", tag("p", tag("b", self.question), dir="auto"), options, tag("p", self._state(), cls="dim"), cls="pane")
        )

    def text(self) -> str:
        """Return question and guess as plain text."""
        options = f" ({' / '.join(self.options)})" if self.options else ""
        return f"Predict: {self.question}{options}\n{self._state()}"

    def _state(self) -> str:
        """Return the guess, with the truth once both are there: without a guess the truth stays hidden."""
        return f"Your guess: {shown(self.guess, self.unit)}" + (f". {self.told}" if self.told and self.guess is not None else "")


@dataclass(frozen=True)
class Revealed:
    """The truth beside the guess."""

    guess: Guess
    truth: str | float
    unit: str = ""
    note: str = ""

    @property
    def verdict(self) -> str:
        """How near the guess came, in words."""
        if self.guess is None:
            return "You had no guess: next time, commit to one first."
        if self.guess == self.truth:
            return "You guessed it."
        if isinstance(self.guess, Real) and isinstance(self.truth, Real):
            return f"Off by {shown(abs(self.truth - self.guess), self.unit)}."
        return "Not what you guessed."

    def __str__(self) -> str:
        lines = [
            f"Your guess: {shown(self.guess, self.unit)}",
            f"The truth:  {shown(self.truth, self.unit)}",
            self.verdict,
            self.note,
        ]
        return "\n".join(filter(None, lines))

    __repr__ = __str__

    def _repr_html_(self) -> Html:
        pairs = (("You guessed", self.guess), ("It is", self.truth))
        cells = (
            tag("div", tag("p", name, cls="eyebrow"), tag("p", shown(value, self.unit), cls="finding"), dir="auto")
            for name, value in pairs
        )
        side_by_side = tag("div", *cells, style="display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:16px;width:100%")
        note = tag("p", self.note, cls="mid") if self.note else None
        return page(tag("header", side_by_side, cls="w-head"), tag("div", tag("p", self.verdict), note, cls="pane"))


_asked: dict[str, Prediction] = {}  # by key, of this kernel: what `reveal` writes its truth into


def predict(key: str, question: str, options: Sequence[str] = (), *, unit: str = "") -> Prediction:
    """Return a question to be answered before the truth is shown: by one of `options`, else by a number in `unit`.

    Without a browser, set `predict(...).guess`.
    """
    _asked[key] = Prediction(key, question, options, unit=unit)
    return _asked[key]


def reveal(key: str, truth: str | float, *, note: str = "") -> Revealed:
    """Return the truth beside the guess that was kept under `key`; `note` says why it is so. Works without a guess, too."""
    asked = _asked.get(key)
    guess = asked.guess if asked else progress().get("guesses", key)
    revealed = Revealed(guess, truth, asked.unit if asked else "", note)
    if asked:
        asked.told = f"It is: {shown(truth, asked.unit)}"
    return revealed


def shown(value: Guess, unit: str = "") -> str:
    """Return a guess or a truth as it is written: text as it is, numbers with three digits and their unit.

    >>> shown("miss"), shown(0.83661, "days"), shown(None), shown(96)
    ('miss', '0.837 days', 'no guess yet', '96')
    """
    if value is None:
        return NO_GUESS
    if isinstance(value, Real):
        number = f"{value:,}" if float(value).is_integer() else f"{value:.3g}"
        return f"{number} {unit}".strip()
    return line(str(value), 200)
