"""The nine-step player: one turn forward and back through the architecture, with all that each step read, wrote and asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import traitlets

from ilstma_lab.errors import InputError
from ilstma_lab.reprs.film import ran
from ilstma_lab.reprs.markup import Html
from ilstma_lab.reprs.picked import checked
from ilstma_lab.reprs.player import player_html
from ilstma_lab.reprs.step_words import TITLES, place
from ilstma_lab.reprs.steps import in_order, io_text
from ilstma_lab.reprs.turn import turn_text
from ilstma_lab.reprs.words import line
from ilstma_lab.trace import NINE_STEPS, Turn
from ilstma_lab.widgets.chat_state import with_prefetch
from ilstma_lab.widgets.drawn import Drawn, browser_part, look


class Player(Drawn):
    """One turn, or several, step by step. `player.step = 6` and `player.turn = 0` move it from Python as buttons do.

    `turns`: a Turn or a sequence of them; `turn` counts from 0, the last one unless given; `step` is one of the nine, by
    default the first that ran; `show` names what is open beside the step: "row 41", "segment cache", "chunk 3".
    Everything is told from the Turns alone, so a Turn that was loaded from JSON plays as well. Raises InputError for no
    turn, and for a turn, step or thing to show that is not there.
    """

    _esm = browser_part("player")
    _css = look("player")
    screen = "player"
    turn = traitlets.Int()
    step = traitlets.Int()

    def __init__(self, turns: Turn | Sequence[Turn], *, turn: int = -1, step: int | None = None, show: str = ""):
        self.turns = (turns,) if isinstance(turns, Turn) else tuple(turns) if isinstance(turns, Iterable) else ()
        if not self.turns or not all(isinstance(each, Turn) for each in self.turns):
            raise InputError("the player needs a Turn, or several: turn = lab.ask(...), or lab.turns after the first question")
        if others := {turn.system for turn in self.turns} - {"ILSTMA"}:
            raise InputError(
                f"the player shows the nine steps of ILSTMA, not a turn of {', '.join(sorted(others))}: print(turn) does"
            )
        self._single = isinstance(turns, Turn)
        self._shown = ""
        self._filled_by = [selection for _, selection in with_prefetch(self.turns)]
        self.set_trait("turn", turn)
        self.set_trait("step", self.steps[0] if step is None else step)
        self._shown = checked(self.current, show)
        super().__init__()
        self.observe(self._moved, names=("turn", "step"))

    # -- from Python -----------------------------------------------------------------------------------------------------

    @property
    def current(self) -> Turn:
        """The turn that is shown."""
        return self.turns[self.turn]

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps that ran in this turn, in their order: where the buttons lead."""
        return ran(self.current) or tuple(NINE_STEPS)

    def show(self, what: str = "") -> None:
        """Open "row 41", "segment cache" or "chunk 3" beside the step; "" closes it. Raises InputError for what is not there."""
        self._shown = checked(self.current, what)
        self.redraw()

    def state(self) -> dict[str, Any]:
        """Return where the player stands, as plain JSON values: `Player(turns, **state)` stands there again."""
        return {"turn": self.turn, "step": self.step, "show": self._shown}

    def python(self) -> str:
        """Return the code that shows this again; `turn` or `turns` in it is what was given here."""
        given = ["turn"] if self._single else ["turns", f"turn={self.turn}"]
        given += [f"step={self.step}"] + ([f"show={self._shown!r}"] if self._shown else [])
        about = f"  # the turn that asks {line(self.current.question, 60)!r}"
        return f"from ilstma_lab.widgets import Player\n\nPlayer({', '.join(given)}){about}\n"

    def html(self) -> Html:
        """Return the screen as it is now."""
        filled_by = self._filled_by[self.turn]
        return player_html(self.turns, self.turn, self.step, picked=self._shown, cached_by=filled_by, python=self.python())

    def text(self) -> str:
        """Return the step, and then the turn, as plain text."""
        steps = [f"  {io_text(step)}" for step in self.current.steps if step.number == self.step]
        return "\n".join([f"{TITLES[self.step]} ({place(self.current, self.step)})", *steps, "", turn_text(self.current)])

    # -- what comes from outside -------------------------------------------------------------------------------------------

    @traitlets.validate("turn")
    def _check_turn(self, proposal: Any) -> int:
        number = proposal["value"]
        if not -len(self.turns) <= number < len(self.turns):
            raise InputError(f"there is no turn {number}: {len(self.turns)} given, counted from 0")
        return number % len(self.turns)

    @traitlets.validate("step")
    def _check_step(self, proposal: Any) -> int:
        if proposal["value"] not in NINE_STEPS:
            raise InputError(f"there is no step {proposal['value']}: they are 1 to 9")
        return proposal["value"]

    def _moved(self, change: Any) -> None:
        if change["name"] == "turn":
            self._shown = ""
        self.redraw()

    def pressed(self, do: str, value: str) -> None:
        """Do what a button says; what cannot be done is left alone."""
        try:
            match do:
                case "step":
                    self.step = int(value)
                case "turn":
                    self.turn = int(value) if int(value) >= 0 else self.turn
                case "show":
                    self.show(value)
                case "first" | "back" | "next" | "last":
                    self.step = self._neighbour(do)
        except ValueError:  # InputError is one: a stale button, pressed before the new screen had come
            return

    def _neighbour(self, do: str) -> int:
        """The step that a move leads to; from a step that did not run, the nearest in the order of the paper."""
        steps, order = self.steps, in_order(self.current)
        here = order.index(self.step)
        before = [step for step in steps if order.index(step) < here]
        after = [step for step in steps if order.index(step) > here]
        ways = {"first": steps[:1], "back": before[-1:], "next": after[:1], "last": steps[-1:]}
        return (*ways[do], self.step)[0]
