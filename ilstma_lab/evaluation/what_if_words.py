"""What differs between recorded settings and others, in a few words each."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.memory.segments import SEGMENTS
from ilstma_lab.models import Models
from ilstma_lab.protocols import Embedder

_WORDS = {
    "short_term.history_turns": "a history of {} turns",
    "short_term.token_budget": "{} tokens",
    "retrieval.narrow": "narrowing: {}",
    "prefetch.offset": "offset {}",
    "prefetch.place.form": "{} place",
    "prefetch.place.weight": "weight of place {}",
    "prefetch.retention": "the {} curve",
    "prefetch.strength": "{}",
}
_RANKING = "retrieval.dialogues."


def differences(
    start: ILSTMA, config: Config | None, models: Models | None, embedder: Embedder | None, days: int, without: Collection[str]
) -> Iterator[str]:
    """Yield what differs from the settings of `start`, in words: "k = 5", "literal place", "the clock 3 days on"."""
    if config is not None:
        yield from _in_words(dict(_flat(start.config)), dict(_flat(config)))
    if models is not None and models.name != start.models.name:
        yield f"the model {models.name}"
    if embedder is not None and embedder.name != start.table.embedder.name:
        yield f"the embedder {embedder.name}"
    if days:
        yield f"the clock {abs(days)} {'day' if abs(days) == 1 else 'days'} {'on' if days > 0 else 'back'}"
    yield from (f"no {name}" for name in SEGMENTS if name in without)


def _in_words(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    changed = {name: value for name, value in new.items() if name != "overlap" and (name not in old or old[name] != value)}
    ranking = [name.removeprefix(_RANKING) for name in changed if name.startswith(_RANKING)]
    if len(ranking) > 1:
        plain = all(new[_RANKING + name] == 0 for name in ("words", "sentences", "preceding", "days"))
        yield "B by plain cosine" if plain else f"B with other {', '.join(ranking)}"
        changed = {name: value for name, value in changed.items() if not name.startswith(_RANKING)}
    for name, value in changed.items():
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        yield _WORDS.get(name, f"{name.rpartition('.')[2].replace('_', ' ')} = {{}}").format(shown)


def _flat(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each parameter by its path; a curve counts as one."""
    for each in fields(part):
        name, value = f"{path}{each.name}", getattr(part, each.name)
        if name == "prefetch.strength":
            yield name, _strength_in_words(value)
        elif name == "prefetch.retention":
            yield name, getattr(value, "kind", type(value).__name__)
        elif is_dataclass(value):
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


def _strength_in_words(strength: Any) -> str:
    ends = [("S(1)", "first_days"), ("S(∞)", "limit_days")]
    known = [f"{name} = {getattr(strength, field):g} days" for name, field in ends if hasattr(strength, field)]
    return " and ".join(known) or str(strength)
