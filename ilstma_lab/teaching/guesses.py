"""Hit or miss, guessed before each reveal: recorded turns one by one, the cache that the judge saw, and the score so far."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from ilstma_lab.errors import InputError
from ilstma_lab.reprs.live import press
from ilstma_lab.reprs.markup import Html, stylesheet, tag
from ilstma_lab.reprs.parts import badge, chip, head, sentence
from ilstma_lab.reprs.turn import outcome
from ilstma_lab.reprs.why import why
from ilstma_lab.reprs.words import line, plain
from ilstma_lab.teaching.progress import progress
from ilstma_lab.trace import Turn
from ilstma_lab.widgets.drawn import Drawn

_CHOICES = ("hit", "miss")


def _read(folder: str, name: str) -> str:
    return (files("ilstma_lab") / folder / "static" / name).read_text(encoding="utf-8")


class Guesses(Drawn):
    """Recorded turns to be guessed: hit or miss? What happened, and why, is shown once a guess is there.

    `key` is where the guesses are kept, as those of `predict` are, so that they come back after a restart. Without a
    browser: `guesses.guess(3, "hit")` by the turn's number. Raises InputError for no turn.
    """

    _esm = _read("widgets", "shell.js") + _read("widgets", "drawn.js") + _read("teaching", "guesses.js")
    _css = stylesheet() + _read("teaching", "guesses.css")
    screen = "guesses"

    def __init__(self, turns: Sequence[Turn], *, key: str):
        self.turns = {turn.number: turn for turn in turns}
        if not self.turns:
            raise InputError("give the turns to be guessed: lab.turns, after the questions")
        self.key = key
        self.at = next((number for number in self.turns if self.guessed(number) is None), next(iter(self.turns)))
        super().__init__()

    def guess(self, number: int, end: str) -> None:
        """Commit to "hit" or "miss" for turn `number`; a guess once made stays. Raises InputError for anything else."""
        if number not in self.turns or end not in _CHOICES:
            raise InputError(
                f'guess "hit" or "miss" for one of the turns {", ".join(map(str, self.turns))} (got {number}, {end!r})'
            )
        if self.guessed(number) is None:
            progress().put("guesses", self._key(number), end)
        self.at = number
        self.redraw()

    def guessed(self, number: int) -> str | None:
        """Return what was guessed of turn `number`, None where nothing was."""
        kept = progress().get("guesses", self._key(number))
        return kept if kept in _CHOICES else None

    @property
    def score(self) -> tuple[int, int]:
        """How many guesses were right, and how many there are."""
        made = [(self.guessed(number), outcome(turn)) for number, turn in self.turns.items() if self.guessed(number)]
        return sum(guess == end for guess, end in made), len(made)

    def html(self) -> Html:
        """Return the screen as it is now."""
        right, made = self.score
        title = f"{right} of {made} right" if made else "Hit or miss?"
        again = press("again", "Guess again from the start", cls="btn") if made == len(self.turns) else None
        return tag(
            "section",
            head("Hit or miss, before it is revealed", title, *([again] if again else [])),
            tag("div", *map(self._chip, self.turns), cls="gs-turns", role="group", aria_label="Turns"),
            tag("div", *_asked(self.turns[self.at]), cls="pane"),
            tag("div", self._told() if self.guessed(self.at) else self._ask(), cls="pane", role="status"),
            cls="w",
            tabindex="-1",
            aria_label="Guess hit or miss",
        )

    def text(self) -> str:
        """Return the score and the turns as plain text; what was not guessed stays hidden."""
        right, made = self.score
        lines = [f"Hit or miss? {right} of {made} right, {len(self.turns)} turns."]
        for number, turn in self.turns.items():
            guess = self.guessed(number)
            told = f"guessed {guess}, was a {outcome(turn)}" if guess else "not guessed yet"
            lines.append(f"  {number} {line(turn.question, 70)}: {told}")
        return "\n".join(lines)

    def pressed(self, do: str, value: str) -> None:
        """Do what a button says; what cannot be done is left alone."""
        if do == "guess" and value in _CHOICES:
            self.guess(self.at, value)
        elif do == "turn" and value.isascii() and value.isdigit() and int(value) in self.turns:
            self.at = int(value)
            self.redraw()
        elif do == "again":
            for number in self.turns:
                progress().put("guesses", self._key(number), None)
            self.at = next(iter(self.turns))
            self.redraw()

    def _key(self, number: int) -> str:
        return f"{self.key}-{number}"

    def _chip(self, number: int) -> Html:
        guess, end = self.guessed(number), outcome(self.turns[number])
        right = guess == end
        mark = tag("span", "✓" if right else "✗", cls="right" if right else "wrong") if guess else None
        name = f"Turn {number}: " + (f"guessed {guess}, was a {end}" if guess else "not guessed yet")
        here = number == self.at
        cls, current = ("chip on", "true") if here else ("chip", None)
        return press("turn", number, mark, value=number, cls=cls, title=name, aria_label=name, aria_current=current)

    def _ask(self) -> Html:
        buttons = (press("guess", end.capitalize(), value=end, cls="btn") for end in _CHOICES)
        return tag("div", tag("b", "Your guess:"), *buttons, cls="gs-ask")

    def _told(self) -> Html:
        turn, guess = self.turns[self.at], self.guessed(self.at)
        later = [number for number in self.turns if number > self.at]
        onward = press("turn", f"Turn {later[0]}", value=later[0], cls="btn pri") if later else None
        verdict = "You guessed it." if guess == outcome(turn) else f"You guessed {guess}."
        return tag(
            "div",
            tag("p", badge(outcome(turn)), " ", tag("b", verdict)),
            tag("p", sentence(why(turn).sentence), cls="mid"),
            tag("p", line(turn.answer, 240), cls="answer", dir="auto"),
            tag("div", onward, cls="gs-ask") if onward else None,
            cls="gs-told",
        )


def _asked(turn: Turn) -> list[Html]:
    cached = next((view.rows for view in turn.segments_before if view.name == "cache"), ())
    rows = [tag("li", chip(row, "cache"), tag("span", _said(turn, row), dir="auto")) for row in cached]
    held = tag("ul", *rows, cls="gs-rows") if rows else tag("p", "The cache is empty.", cls="dim")
    return [
        tag("p", tag("b", f"Turn {turn.number}"), " ", tag("span", plain(turn.question, 600), dir="auto"), cls="gs-q"),
        tag("p", "In the cache:" if rows else "", cls="dim", style="margin-top:10px") if rows else Html(""),
        held,
    ]


def _said(turn: Turn, row: int) -> Any:
    view = turn.rows.get(row)
    return line(f"{view.user} — {view.assistant}", 320) if view else "…"
