"""What if: any turn of a session asked of its memory with other settings, beside what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.what_if import WhatIfResult, WhatIfs
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.plots.what_if import turns_spec
from ilstma_lab.replay import Session
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.what_if import changes_of, headline, style, summary_of, what_if_sides, what_if_text
from ilstma_lab.reprs.words import count
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick
from ilstma_lab.widgets.what_if_settings import config_code, config_of, parameters_of, usual_of

_SEGMENTS = ("cache", "summary", "personality", "relevant")
_ELSEWHERE = ("number", "alone", "unknown")
_PATIENCE = 20.0
_BEGUN_ANEW = "A row was edited or deleted, and the session began anew: ask, then build WhatIf(session) again."


class _Overtaken(Exception):
    """The reader has gone on to other settings."""


@dataclass(frozen=True)
class Shown:
    """A result, or the last one while a newer is computed; None before the first."""

    result: WhatIfResult | None
    waits: bool = False


class WhatIf(Explorable):
    """Change a setting and see what becomes of a recorded session: the turns that end otherwise, and one turn side by side.

    `session`: from `start_session(lab)`, called before the questions were asked (a ChatLab keeps its own, as `chat.session`).
    `turn`: the place of the turn in `session.turns`, from 0, by default the last. The session is run again on a fork, in a
    thread, with the recorded replies; the lab stays as it is. When the session begins anew, as its table is compacted, all is
    emptied. Raises InputError where the session's beginning is missing,
    where it has no answered turn, and for a turn that is not there or failed.
    """

    eyebrow = "What if"
    try_this = "Switch the cache off. How many hits are left, and by which rule?"
    reset_words = "Reset to the recorded"
    given = "session"
    rows = ((("turns", 1),), (("sides", 1),))

    def __init__(self, session: Session, *, turn: int | None = None, **parameters: Any):
        self._runs = WhatIfs(session)
        self.session = session
        self.turns = self._runs.turns
        self._usual = usual_of(session)
        self._results: dict[tuple, WhatIfResult] = {}
        self._last: WhatIfResult | None = None
        self.Parameters = parameters_of(self._usual, len(self.turns), session.start.table.embedder.name)
        if turn is not None or "number" not in parameters:
            parameters["number"] = self._place(-1 if turn is None else turn) + 1
        super().__init__(**parameters)
        self.add_class("what-if")
        self._start = session.start
        if session._lab is not None:
            session._lab.table.kept_by(self)

    @property
    def result(self) -> WhatIfResult | None:
        """What became of the session with the present settings; None while it runs (`wait()` waits for it)."""
        return self._results.get(self._key(self.parameters))

    @property
    def presets(self) -> Mapping[str, Any]:
        """Settings by name; turn, scope and what is done at an unknown prompt stay."""
        kept = {name: getattr(self.parameters, name) for name in _ELSEWHERE}
        named = {
            "As recorded": {},
            "k = 1": {"k": 1},
            "k = 5": {"k": 5},
            "Literal place": {"form": "literal"},
            "Plain cosine": {"ranking": "paper"},
            "No cache": {"cache": False},
            "A month later": {"days": 30},
        }
        return {name: self.Parameters(**kept, **changed) for name, changed in named.items()}

    def reset(self) -> None:
        """Return to the recorded settings; the turn stays."""
        self._go(self.Parameters(number=self.parameters.number))

    def settle(self, old: Any, new: Any) -> Any:
        """Return `new` with a k that the window has room for, and a limit of S that is not below its beginning."""
        room = 2 * new.offset + self.session.start.config.prefetch.include_centre
        return replace(
            new, k=min(new.k, room), limit_days=max(new.limit_days, new.first_days), number=min(new.number, len(self.turns))
        )

    def picked(self, figure: str, pick: Pick, p: Any) -> Any:
        """Return the parameters with the turn that was clicked, or the next in the direction of the arrow key."""
        if pick.kind == "hover":
            return None
        place = p.number - 1 + int(pick.x) if pick.kind == "step" else self._at_number(pick.x)
        return replace(p, number=min(max(place, 0), len(self.turns) - 1) + 1)

    def compute(self, p: Any) -> Shown:
        """Return the result where it is known, else the one before it. Raises InputError once the session began anew."""
        if not self.turns:
            raise InputError(_BEGUN_ANEW)
        result = self._results.get(self._key(p))
        return Shown(result or self._fitting(p), waits=result is None)

    def refine(self, p: Any, result: Shown) -> Shown:
        """Run the session again; it ends early when overtaken."""
        key = self._key(p)
        if key not in self._results:
            with suppress(_Overtaken):
                self._results[key] = self._runs.run(progress=lambda *_: self._go_on(key), **self._settings(p))
        return self.compute(p)

    def draw(self, p: Any, result: Shown) -> Drawing:
        """Return the row of turns, and the chosen turn side by side."""
        known, place = result.result, p.number - 1
        wait = tag("p", "Running again …", cls="wi-wait") if result.waits else None
        sides = what_if_sides(known, place) if known else None
        self._last = known or self._last
        return Drawing(
            finding="Running the session again …" if result.waits else known.finding,
            sub="" if result.waits else f"{summary_of(known)}{self._elsewhere(known, place)}",
            figures={"turns": self._figure(known, place)},
            panels={"sides": join(tag("style", style()), wait, sides)},
            live=self._live(known),
            code=self._code(p),
        )

    def forget(self, texts: Sequence[str] = ()) -> None:
        """Show nothing more, where the session began anew; `table.compact()` calls this."""
        if self.session.start is self._start:
            return
        self.turns = ()
        self.wait(_PATIENCE)
        self._start, self._runs, self._last = self.session.start, None, None
        self._results.clear()
        self._screen.put(Drawing(_BEGUN_ANEW, panels={"sides": Html("")}))

    def text(self) -> str:
        """Return the finding, and each turn that changed, as plain text."""
        return what_if_text(self.result) if self.result else self.drawing.finding

    def python(self) -> str:
        """Return code that builds this again."""
        if not self.turns:
            return "from ilstma_lab.widgets import WhatIf\n\nWhatIf(session)"
        usual = asdict(self.Parameters())
        changed = {name: value for name, value in asdict(self.parameters).items() if value != usual[name] and name != "number"}
        given = "".join(f", {name}={value!r}" for name, value in changed.items())
        turn = self.session.turns.index(self.turns[self.parameters.number - 1])
        return f"from ilstma_lab.widgets import WhatIf\n\nWhatIf(session, turn={turn}{given})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        self.wait(_PATIENCE)  # so that a saved page shows the result, not that it is being computed
        return super()._repr_mimebundle_(**kwargs)

    # -- from parameters to settings -----------------------------------------------------------------------------------------

    def _key(self, p: Any) -> tuple:
        return (p.number if p.alone else 0, *(value for name, value in asdict(p).items() if name != "number"))

    def _go_on(self, key: tuple) -> None:
        if not self.turns or key != self._key(self.parameters):
            raise _Overtaken

    def _fitting(self, p: Any) -> WhatIfResult | None:
        """The last result, if it holds the turn that is looked at."""
        last = self._last
        return last if last and last.first <= p.number - 1 < last.first + len(last.recorded) else None

    def _settings(self, p: Any) -> dict[str, Any]:
        """Return what `WhatIfs.run` is given."""
        return {
            "config": config_of(p, self._usual, self.session.start.config),
            "embedder": HashedEmbedder() if p.embedder else None,
            "days": p.days,
            "without": [name for name in _SEGMENTS if not getattr(p, name)],
            "alone": p.number - 1 if p.alone else None,
            "on_unknown": p.unknown,
        }

    def _place(self, turn: int) -> int:
        """Return the place among the answered turns of a place in the session."""
        every = self.session.turns
        if not -len(every) <= turn < len(every):
            raise InputError(f"there is no turn {turn}: the session has {len(every)}, counted from 0")
        if every[turn].failure:
            raise InputError(f"turn {turn} failed, so there is nothing to compare: choose one that was answered")
        return self.turns.index(every[turn])

    def _at_number(self, x: float) -> int:
        numbers = [turn.number for turn in self.turns]
        return min(range(len(numbers)), key=lambda place: abs(numbers[place] - x))

    def _figure(self, result: WhatIfResult | None, place: int) -> dict[str, Any]:
        recorded = result.recorded if result else self.turns
        changed = {self.turns[change.place].number for change in changes_of(result)} if result else ()
        replayed = result.replayed if result else ()
        return turns_spec(
            [turn.number for turn in recorded],
            [turn.hit for turn in recorded],
            [turn.hit for turn in replayed],
            changed,
            chosen=self.turns[place].number,
        )

    def _elsewhere(self, result: WhatIfResult, place: int) -> str:
        """Say which turn is shown where the finding speaks of another."""
        told = headline(result)
        return f" Shown below: turn {self.turns[place].number}." if told and told.place != place else ""

    def _live(self, result: WhatIfResult | None) -> Html:
        n = len(result.replayed) if result else 0
        hits = sum(turn.hit for turn in result.replayed) if result else 0
        before = sum(turn.hit for turn in (result.recorded[:n] if result else ()))
        told = f"of {count(n, 'turn')} hit; as recorded {before}"
        return tag("div", tag("b", hits, style="color:var(--cache-ink)"), tag("span", told), cls="readout")

    def _code(self, p: Any) -> str:
        """Return Python that gives the result without a screen."""
        loads = ["from dataclasses import replace", "", "from ilstma_lab.evaluation.what_if import what_if"]
        lines, given = [], ["session"]
        if parts := list(config_code(p, self._usual)):
            lines = ["config = session.start.config", *(text for text, _ in parts)]
            loads += [load for _, load in parts if load]
            given.append("config=config")
        settings = self._settings(p)
        if p.embedder:
            loads.append("from ilstma_lab.models.embedders import HashedEmbedder")
            given.append("embedder=HashedEmbedder()")
        shown = {"turn": settings["alone"], "days": p.days, "without": settings["without"]}
        given += [f"{name}={value!r}" for name, value in shown.items() if value or (name == "turn" and value is not None)]
        given += [f"on_unknown={p.unknown!r}"] if p.unknown != "stop" else []
        return "\n".join([*(loads if lines else loads[2:]), "", *lines, f"what_if({', '.join(given)})"])
