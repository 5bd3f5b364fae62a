"""The policy race: which cache would have had the answer ready, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.prefetching import PrefetchRun, replay_policy
from ilstma_lab.evaluation.workload import Workload
from ilstma_lab.plots.races import race_spec, served_spec
from ilstma_lab.prefetch.oracle import WindowOracle
from ilstma_lab.prefetch.policies import standard_policies
from ilstma_lab.protocols import Prefetcher
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import chip
from ilstma_lab.reprs.words import count, line
from ilstma_lab.widgets.controls import choice, slider
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick

_RACERS = (
    "ILSTMA",
    "ILSTMA, literal",
    "ILSTMA, every question",
    "next {k}",
    "nearest {k}",
    "similar",
    "demand LRU",
    "no prefetch",
)
ORACLE = "window oracle"


class PolicyRace(Explorable):
    """Move through the questions of one conversation and see which policy had a row ready that answers.

    `workloads`: one or several, see `evaluation.workload`. `policies`: prefetchers by name beside or in place of the usual ones.
    Click a column of the lower figure, or use the arrow keys, to choose a question.
    """

    eyebrow = "Prefetch lab, policies"
    try_this = "Find a question that one policy has ready and another has not. Which row made the difference?"
    given = "workloads"
    reset_words = "Reset"
    rows = ((("race", 1),), (("served", 1),), (("question", 1),))

    def __init__(
        self,
        workloads: Workload | Sequence[Workload],
        *,
        policies: Mapping[str, Prefetcher] | None = None,
        **parameters: Any,
    ):
        given = (workloads,) if isinstance(workloads, Workload) else tuple(workloads)
        self.workloads = {workload.name: workload for workload in given if len(workload)}
        if not self.workloads:
            raise InputError("no question of these workloads has a row that answers it: there is nothing to hit")
        self.policies = policies
        self.Parameters = _parameters(self.workloads)
        self._runs: dict[tuple, dict[str, PrefetchRun]] = {}
        super().__init__(**parameters)

    def settle(self, old: Any, new: Any) -> Any:
        """Return `new` with a question that the conversation has, and a window with room for k."""
        return replace(new, question=min(new.question, len(self.workloads[new.topic])), k=min(new.k, 2 * new.offset + 1))

    def picked(self, figure: str, pick: Pick, p: Any) -> Any:
        """Return the parameters with the question that was picked."""
        question = p.question + int(pick.x) if pick.kind == "step" else round(pick.x)
        return replace(p, question=int(np.clip(question, 1, len(self.workloads[p.topic]))))

    def compute(self, p: Any) -> dict[str, PrefetchRun]:
        """Return each policy's run over the chosen conversation."""
        asked = (p.topic, p.k, p.offset)
        if asked not in self._runs:
            workload = self.workloads[p.topic]
            future = tuple(access.gold for access in workload.accesses)
            racers = {**self._policies(p), ORACLE: WindowOracle(future=future, k=p.k, offset=p.offset)}
            self._runs[asked] = {name: replay_policy(workload, policy, policy=name) for name, policy in racers.items()}
        return self._runs[asked]

    def draw(self, p: Any, result: dict[str, PrefetchRun]) -> Drawing:
        """Return the race up to the question, the grid of hits, and the question with each cache."""
        hits = {name: np.array([served.hit for served in run.demands], float) for name, run in result.items()}
        first = next(iter(hits))
        demands = self.workloads[p.topic].demands
        race = race_spec(hits, upto=p.question, chosen=first, oracle=ORACLE)
        return Drawing(
            finding=_finding(hits, p),
            sub=f"{p.topic}: {count(len(demands), 'question')} with a row that answers, in the order of the data set",
            figures={
                "race": race,
                "served": served_spec(hits, at=p.question, questions=[access.question for access in demands]),
            },
            panels={"question": _question(result, p.question - 1)},
            code="from ilstma_lab.evaluation.prefetching import replay_policy\n\nreplay_policy(workload, prefetcher)",
        )

    def _policies(self, p: Any) -> Mapping[str, Prefetcher]:
        usual = standard_policies(k=p.k, offset=p.offset)
        chosen = {name: usual[name] for name in (racer.format(k=p.k) for racer in _RACERS) if name in usual}
        return {**(self.policies or {}), **chosen}


def _parameters(workloads: Mapping[str, Workload]) -> type:
    longest = max(map(len, workloads.values()))

    @dataclass(frozen=True)
    class RaceParameters:
        """The conversation, how far the race has gone, and what all caches have in common."""

        topic: str = choice(next(iter(workloads)), {name: name for name in workloads}, label="Conversation", dropdown=True)
        question: int = slider(longest, 1, longest, 1, label="Question", about="the race so far")
        k: int = slider(3, 1, 8, 1, label="k", about="rows cached", unit="rows")
        offset: int = slider(5, 1, 20, 1, label="Offset", about="ILSTMA's window and the oracle's", unit="rows")

    return RaceParameters


def _finding(hits: Mapping[str, np.ndarray], p: Any) -> str:
    so_far = {name: int(one[: p.question].sum()) for name, one in hits.items() if name != ORACLE}
    best = max(so_far.values())
    leaders = [name for name, hit in so_far.items() if hit == best]
    who = " and ".join(leaders) if len(leaders) <= 2 else f"{leaders[0]} and {len(leaders) - 1} others"
    asked = count(p.question, "question")
    oracle = f"an oracle in the same window has {int(hits[ORACLE][: p.question].sum())}"
    if not best:
        return f"After {asked} no policy has hit; {oracle}"
    return f"After {asked} {who} lead{'s' if len(leaders) == 1 else ''} with {best}; {oracle}"


def _question(runs: Mapping[str, PrefetchRun], at: int) -> Html:
    first = next(iter(runs.values())).demands[at].access
    gold = join(*(join(" ", chip(row, "relevant")) for row in first.gold[:6]))
    said = tag("p", f"“{line(first.question, 160)}”", tag("span", " answered by row", gold, cls="mid"))
    rows = []
    for name, run in runs.items():
        served = run.demands[at]
        cache = join(*(join(" ", chip(row, "cache" if row in first.gold else "")) for row in served.cache)) or "empty"
        rows.append(tag("tr", tag("td", name), tag("td", "hit" if served.hit else "miss"), tag("td", cache)))
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in ("policy", "", "in the cache"))))
    return join(said, tag("table", head, tag("tbody", *rows), cls="grid"))
