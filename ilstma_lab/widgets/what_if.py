"""What if: any turn of a session asked of its memory with other settings, beside what was recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ilstma_lab.config import Config
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.what_if import WhatIfResult, WhatIfs
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.rivals import LogarithmicRetention, PowerRetention, StretchedRetention
from ilstma_lab.forgetting.strength import SigmoidStrength
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.plots.what_if import turns_spec
from ilstma_lab.replay import Session
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.what_if import sides_html, style, summary_of, what_if_text
from ilstma_lab.reprs.words import count
from ilstma_lab.widgets.controls import choice, slider, switch
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick
from ilstma_lab.widgets.prefetch_words import FORMS

_AS_IS = ""
_CURVES = {
    curve.kind: curve for curve in (ExponentialRetention(), StretchedRetention(), PowerRetention(), LogarithmicRetention())
}
_RANKINGS = {"paper": Config(), "measured": Config.measured()}
_SEGMENTS = ("cache", "summary", "personality", "relevant")
_ELSEWHERE = ("turn", "alone", "unknown")
_PATIENCE = 20.0


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
    thread, with the recorded replies; the lab stays as it is. Raises InputError where the session's beginning is missing,
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
        self.Parameters = _parameters(self._usual, len(self.turns), session.start.table.embedder.name)
        if turn is not None or "turn" not in parameters:
            parameters["turn"] = self._place(-1 if turn is None else turn) + 1
        super().__init__(**parameters)
        self.add_class("what-if")

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
        self._go(self.Parameters(turn=self.parameters.turn))

    def settle(self, old: Any, new: Any) -> Any:
        """Return `new` with a k that the window has room for, and a limit of S that is not below its beginning."""
        room = 2 * new.offset + self.session.start.config.prefetch.include_centre
        return replace(
            new, k=min(new.k, room), limit_days=max(new.limit_days, new.first_days), turn=min(new.turn, len(self.turns))
        )

    def picked(self, figure: str, pick: Pick, p: Any) -> Any:
        """Return the parameters with the turn that was clicked, or the next in the direction of the arrow key."""
        if pick.kind == "hover":
            return None
        place = p.turn - 1 + int(pick.x) if pick.kind == "step" else self._at_number(pick.x)
        return replace(p, turn=min(max(place, 0), len(self.turns) - 1) + 1)

    def compute(self, p: Any) -> Shown:
        """Return the result where it is known, else the one before it."""
        result = self._results.get(self._key(p))
        return Shown(result or self._fitting(p), waits=result is None)

    def refine(self, p: Any, result: Shown) -> Shown:
        """Run the session again; it ends early when overtaken."""
        key = self._key(p)
        if key not in self._results:
            try:
                self._results[key] = self._runs.run(progress=lambda *_: self._go_on(key), **self._settings(p))
            except _Overtaken:
                return result
        return self.compute(p)

    def draw(self, p: Any, result: Shown) -> Drawing:
        """Return the row of turns, and the chosen turn side by side."""
        known, place = result.result, p.turn - 1
        wait = tag("p", "Running again …", cls="wi-wait") if result.waits else None
        sides = sides_html(known, place) if known else None
        self._last = known or self._last
        return Drawing(
            finding="Running the session again …" if result.waits else known.finding,
            sub="" if result.waits else summary_of(known),
            figures={"turns": self._figure(known, place)},
            panels={"sides": join(tag("style", style()), wait, sides)},
            live=self._live(known),
            code=self._code(p),
        )

    def text(self) -> str:
        """Return the finding, and each turn that changed, as plain text."""
        return what_if_text(self.result) if self.result else self.drawing.finding

    def python(self) -> str:
        """Return code that builds this again."""
        usual = asdict(self.Parameters())
        changed = {name: value for name, value in asdict(self.parameters).items() if value != usual[name] and name != "turn"}
        given = "".join(f", {name}={value!r}" for name, value in changed.items())
        return f"from ilstma_lab.widgets import WhatIf\n\nWhatIf(session, turn={self.parameters.turn - 1}{given})"

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        self.wait(_PATIENCE)  # so that a saved page shows the result, not that it is being computed
        return super()._repr_mimebundle_(**kwargs)

    # -- from parameters to settings -----------------------------------------------------------------------------------------

    def _key(self, p: Any) -> tuple:
        return (p.turn if p.alone else 0, *(value for name, value in asdict(p).items() if name != "turn"))

    def _go_on(self, key: tuple) -> None:
        if key != self._key(self.parameters):
            raise _Overtaken

    def _fitting(self, p: Any) -> WhatIfResult | None:
        """The last result, if it holds the turn that is looked at."""
        last = self._last
        return last if last and last.first <= p.turn - 1 < last.first + len(last.recorded) else None

    def _settings(self, p: Any) -> dict[str, Any]:
        """Return what `WhatIfs.run` is given."""
        return {
            "config": config_of(p, self._usual, self.session.start.config),
            "embedder": HashedEmbedder() if p.embedder else None,
            "days": p.days,
            "without": [name for name in _SEGMENTS if not getattr(p, name)],
            "alone": p.turn - 1 if p.alone else None,
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
        recorded = self.turns if result is None or result.first == 0 else result.recorded
        changed = {self.turns[change.place].number for change in result.changes} if result else ()
        replayed = result.replayed if result else ()
        return turns_spec(
            [turn.number for turn in recorded],
            [turn.hit for turn in recorded],
            [turn.hit for turn in replayed],
            changed,
            chosen=self.turns[place].number,
        )

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
        if parts := list(_config_code(p, self._usual)):
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


def usual_of(session: Session) -> dict[str, Any]:
    """Return the recorded settings as parameters of the controls."""
    config = session.start.config
    strength, place = config.prefetch.strength, config.prefetch.place
    sigmoid = strength if isinstance(strength, SigmoidStrength) else SigmoidStrength()
    return {
        "k": config.prefetch.k,
        "offset": config.prefetch.offset,
        "form": place.form,
        "first_days": round(sigmoid.first_days, 1),
        "limit_days": round(sigmoid.limit_days, 1),
        "curve": getattr(config.prefetch.retention, "kind", _AS_IS),
        "narrow": config.retrieval.narrow,
        "history": config.short_term.history_turns,
        "budget": config.short_term.token_budget,
    }


def config_of(p: Any, usual: Mapping[str, Any], recorded: Config) -> Config | None:
    """Return the recorded config with what the controls changed, None where they changed nothing of it."""
    prefetch, retrieval, limits = recorded.prefetch, recorded.retrieval, recorded.short_term
    changed = _changed(p, usual)
    size = {name: changed[name] for name in ("k", "offset") if name in changed}
    if "form" in changed:
        size["place"] = replace(prefetch.place, form=p.form)
    if "curve" in changed:
        size["retention"] = _CURVES[p.curve]
    if {"first_days", "limit_days"} & changed.keys():
        size["strength"] = SigmoidStrength.from_limits(first_days=p.first_days, limit_days=p.limit_days)
    if p.ranking:
        retrieval = replace(retrieval, dialogues=_RANKINGS[p.ranking].retrieval.dialogues)
    if "narrow" in changed:
        retrieval = replace(retrieval, narrow=p.narrow)
    names = {"history": "history_turns", "budget": "token_budget"}
    limits = replace(limits, **{name: changed[short] for short, name in names.items() if short in changed})
    config = replace(recorded, prefetch=replace(prefetch, **size), retrieval=retrieval, short_term=limits)
    return None if config == recorded else config


def _changed(p: Any, usual: Mapping[str, Any]) -> dict[str, Any]:
    return {name: getattr(p, name) for name, value in usual.items() if getattr(p, name) != value}


def _config_code(p: Any, usual: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each line that changes `config`, with what it must import."""
    changed = _changed(p, usual)
    inner = [f"{name}={changed[name]!r}" for name in ("k", "offset") if name in changed]
    load = ""
    if "form" in changed:
        inner.append(f"place=replace(config.prefetch.place, form={p.form!r})")
    if "curve" in changed:
        name, load = type(_CURVES[p.curve]).__name__, f"from {type(_CURVES[p.curve]).__module__} import "
        inner.append(f"retention={name}()")
        load += name
    if inner:
        yield f"config = replace(config, prefetch=replace(config.prefetch, {', '.join(inner)}))", load
    if {"first_days", "limit_days"} & changed.keys():
        made = f"SigmoidStrength.from_limits(first_days={p.first_days!r}, limit_days={p.limit_days!r})"
        loads = "from ilstma_lab.forgetting.strength import SigmoidStrength"
        yield f"config = replace(config, prefetch=replace(config.prefetch, strength={made}))", loads
    found = [f"narrow={p.narrow!r}"] if "narrow" in changed else []
    load = ""
    if p.ranking:
        made = "Config()" if p.ranking == "paper" else "Config.measured()"
        found.append(f"dialogues={made}.retrieval.dialogues")
        load = "from ilstma_lab import Config"
    if found:
        yield f"config = replace(config, retrieval=replace(config.retrieval, {', '.join(found)}))", load
    names = {"history": "history_turns", "budget": "token_budget"}
    held = [f"{name}={changed[short]!r}" for short, name in names.items() if short in changed]
    if held:
        yield f"config = replace(config, short_term=replace(config.short_term, {', '.join(held)}))", ""


def _parameters(usual: Mapping[str, Any], turns: int, present: str) -> type:
    curves = {"Exponential, Eq. 1": "exponential", "Stretched": "stretched", "Power law": "power", "Logarithmic": "logarithmic"}
    curves |= {} if usual["curve"] in curves.values() else {"As recorded": usual["curve"]}
    rules = {"Where A and B agree": "agree", "Where B leads as well": "margin", "Never": "never"}
    unsent = {"Stop there": "stop", "Let the offline part do it": "offline", "Assume the same verdict": "assume_same_verdict"}

    @dataclass(frozen=True)
    class WhatIfParameters:
        """The turn, and each setting that may be another; the defaults are the recorded ones."""

        turn: int = slider(turns, 1, max(turns, 2), 1, label="Turn", about=f"of {turns}")
        alone: bool = choice(False, {"Whole session": False, "This turn alone": True}, label="Run again")
        k: int = slider(usual["k"], 1, max(20, usual["k"]), 1, label="k", about="rows cached", unit="rows")
        offset: int = slider(usual["offset"], 1, max(20, usual["offset"]), 1, label="Offset", about="rows each side", unit="rows")
        form: str = choice(usual["form"], FORMS, label="Place form")
        first_days: float = slider(
            usual["first_days"], 0.5, max(40, usual["first_days"]), 0.5, label="S(1)", about="strength when new", unit="days"
        )
        limit_days: float = slider(
            usual["limit_days"], 1, max(120, usual["limit_days"]), 0.5, label="S(∞)", about="after many recalls", unit="days"
        )
        curve: str = choice(usual["curve"], curves, label="Forgetting curve", dropdown=True)
        ranking: str = choice(
            _AS_IS,
            {"As recorded": _AS_IS, "Plain cosine (the paper)": "paper", "Cosine, words, days (measured)": "measured"},
            label="Branch B ranks by",
            dropdown=True,
        )
        narrow: str = choice(usual["narrow"], rules, label="Recall one row alone", dropdown=True)
        embedder: str = choice(_AS_IS, {present: _AS_IS, "Hashed words": "hashed"}, label="Embedder", dropdown=True)
        history: int = slider(usual["history"], 0, max(20, usual["history"]), 1, label="History", unit="turns")
        budget: int = slider(
            usual["budget"], 100, max(6000, usual["budget"]), 100, label="Token budget", unit="tokens", live=False
        )
        days: int = slider(0, 0, 365, 1, label="Clock", about="asked later", unit="days")
        cache: bool = switch(True, label="The cache is filled")
        summary: bool = switch(True, label="A summary is chosen")
        personality: bool = switch(True, label="The personality is known")
        relevant: bool = switch(True, label="Recalled rows are shown")
        unknown: str = choice("stop", unsent, label="At a prompt never sent", dropdown=True)

    return WhatIfParameters
