"""The gallery above a case: a tile for each, by kind, with gold recalled or lost; what is chosen, and where to go next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ilstma_lab.evaluation.cases import Case
from ilstma_lab.reprs.words import line
from ilstma_lab.widgets.retrieval_words import KINDS

_TILES = 60


@dataclass(frozen=True)
class Choice:
    """The case that is open, by its place, and which cases the steps go through: one kind only, only where gold is lost."""

    at: int = 0
    only: str = ""
    lost: bool = False

    def takes(self, case: Case) -> bool:
        """Return whether the steps stop at `case`."""
        return self.only in ("", case.decision) and not (self.lost and (not case.gold or case.found))

    def step(self, cases: Sequence[Case], by: int) -> int | None:
        """Return the place of the next case that is taken, forward (1) or back (-1); None at the end."""
        ahead = range(self.at + by, len(cases) if by > 0 else -1, by)
        return next((at for at in ahead if self.takes(cases[at])), None)


def gallery(cases: Sequence[Case], choice: Choice) -> dict[str, Any]:
    """Return the tiles by kind and the chips, as plain JSON values; of a long kind the 60 tiles around the open case."""
    if len(cases) < 2:
        return {"groups": [], "lost": None}
    lost = sum(bool(case.gold) and not case.found for case in cases)
    return {
        "groups": [_group(kind, rule, cases, choice) for kind, rule in KINDS.items()],
        "lost": {"label": "Gold lost", "count": lost, "on": choice.lost},
    }


def _group(kind: str, rule: str, cases: Sequence[Case], choice: Choice) -> dict[str, Any]:
    places = [at for at, case in enumerate(cases) if case.decision == kind]
    here = places.index(choice.at) if choice.at in places else 0
    first = max(0, min(here - _TILES // 2, len(places) - _TILES))
    shown = places[first : first + _TILES]
    return {
        "kind": kind,
        "label": kind.capitalize(),
        "count": len(places),
        "on": choice.only == kind,
        "rule": rule,
        "tiles": [_tile(at, cases[at], choice) for at in shown],
        "before": first,
        "after": len(places) - first - len(shown),
    }


def _tile(at: int, case: Case, choice: Choice) -> dict[str, Any]:
    kept = ("kept" if case.found else "lost") if case.gold else ""
    return {
        "at": at,
        "kept": kept,
        "open": at == choice.at,
        "pale": not choice.takes(case),
        "scripted": case.scripted,
        "title": line(case.question, 120) + (" (scripted)" if case.scripted else ""),
    }
