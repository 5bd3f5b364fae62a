"""The controls of the what-if screen: from recorded settings to parameters, and from parameters to settings and their code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ilstma_lab.config import Config
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.rivals import LogarithmicRetention, PowerRetention, StretchedRetention
from ilstma_lab.forgetting.strength import SigmoidStrength
from ilstma_lab.replay import Session
from ilstma_lab.widgets.controls import choice, slider, switch
from ilstma_lab.widgets.prefetch_words import FORMS

_AS_IS = ""
_CURVES = {
    curve.kind: curve for curve in (ExponentialRetention(), StretchedRetention(), PowerRetention(), LogarithmicRetention())
}
_RANKINGS = {"paper": Config(), "measured": Config.measured()}


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


def config_code(p: Any, usual: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
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


def parameters_of(usual: Mapping[str, Any], turns: int, present: str) -> type:
    """Return the class of the parameters, for a session of so many `turns` whose `usual` settings are the recorded ones."""
    curves = {"Exponential, Eq. 1": "exponential", "Stretched": "stretched", "Power law": "power", "Logarithmic": "logarithmic"}
    curves |= {} if usual["curve"] in curves.values() else {"As recorded": usual["curve"]}
    rules = {"Where A and B agree": "agree", "Where B leads as well": "margin", "Never": "never"}
    unsent = {"Stop there": "stop", "Let the offline part do it": "offline", "Assume the same verdict": "assume_same_verdict"}

    @dataclass(frozen=True)
    class WhatIfParameters:
        """The turn, and each setting that may be another; the defaults are the recorded ones."""

        number: int = slider(turns, 1, max(turns, 2), 1, label="Turn", about=f"of {turns}")
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
