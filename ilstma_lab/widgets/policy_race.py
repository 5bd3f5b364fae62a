"""The policy race: which cache would have had the answer ready, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from itertools import count as numbers
from typing import Any

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.prefetching import PrefetchRun, Served, replay_policy
from ilstma_lab.evaluation.workload import Workload, gold_steps
from ilstma_lab.plots.races import race_spec, served_spec
from ilstma_lab.prefetch.oracle import WindowOracle
from ilstma_lab.prefetch.policies import standard_policies
from ilstma_lab.protocols import Prefetcher
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import badge, chip, chips
from ilstma_lab.reprs.words import count, line
from ilstma_lab.widgets.controls import choice, slider
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick
from ilstma_lab.widgets.given import workloads_of

ORACLE = "window oracle"
_RACERS = (
    "ILSTMA",
    "ILSTMA, literal",
    "ILSTMA, every question",
    "next {k}",
    "nearest {k}",
    "similar to the question",
    "demand LRU",
    "no prefetch",
)
_ROOM = {"3 rows of ± 5": (3, 5), "3 rows of ± 20": (3, 20), "8 rows of ± 20": (8, 20)}
_CODE = """from ilstma_lab.evaluation.prefetching import replay_policy
from ilstma_lab.prefetch.policies import standard_policies

{workload}racers = {racers}
{{name: replay_policy(workload, policy, policy=name) for name, policy in racers.items()}}"""


class PolicyRace(Explorable):
    """Move through the questions of a conversation and see which policy had a row ready that answers.

    `workloads`: what `workload_of` or `generate` return, one or several; of one name the second is shown with a 2.
    `policies`: prefetchers of yours by name; they come first, and one with the name of a usual one takes its place. Click a
    cell of the upper figure, or go there with the arrow keys: left and right to another question, up and down to another
    policy, which is then the one in colour.
    """

    eyebrow = "Prefetch lab, policies"
    try_this = "Find a question that one policy has ready and another has not. Which row made the difference?"
    reset_words = "Reset"
    rows = ((("served", 1),), (("race", 1),), (("question", 1),))

    def __init__(
        self,
        workloads: Workload | Sequence[Workload],
        policies: Mapping[str, Prefetcher] | None = None,
        **parameters: Any,
    ):
        several = workloads_of(workloads)
        self._names = _own_names([workload.name for workload in several])
        self.workloads = {name: workload for name, workload in zip(self._names, several, strict=True) if len(workload)}
        self.policies = _by_name(policies)
        given = "workload" if isinstance(workloads, Workload) else "workloads"
        self.given = given + (", policies" if self.policies else "")
        self.Parameters = _parameters(self.workloads, len(self._racers(3, 5)) + 1)
        self._runs: dict[tuple[str, int, int], dict[str, PrefetchRun]] = {}
        super().__init__(**parameters)

    @property
    def presets(self) -> dict[str, Any]:
        """How much room the caches have, by name; the conversation and the question stay."""
        return {name: replace(self.parameters, k=k, offset=offset) for name, (k, offset) in _ROOM.items()}

    def settle(self, old: Any, new: Any) -> Any:
        """Return `new` with a question that the conversation has, and a window with room for k."""
        return replace(new, question=min(new.question, len(self.workloads[new.topic])), k=min(new.k, 2 * new.offset + 1))

    def picked(self, figure: str, pick: Pick, p: Any) -> Any:
        """Return the parameters with the question that was picked, and below with the policy."""
        step, racer = pick.kind == "step", p.racer
        question = p.question + pick.x if step else pick.x
        if step or figure == "served":
            racer = p.racer - pick.y if step else pick.y
        most = len(self._racers(p.k, p.offset))
        asked = int(np.clip(round(question), 1, len(self.workloads[p.topic])))
        return replace(p, question=asked, racer=int(np.clip(round(racer), 0, most)))

    def compute(self, p: Any) -> dict[str, PrefetchRun]:
        """Return each policy's run over the chosen conversation, the oracle's last."""
        asked = (p.topic, p.k, p.offset)
        if asked not in self._runs:
            workload = self.workloads[p.topic]
            racers = {**self._racers(p.k, p.offset), ORACLE: WindowOracle(future=workload.golds, k=p.k, offset=p.offset)}
            self._runs[asked] = {name: replay_policy(workload, policy, policy=name) for name, policy in racers.items()}
        return self._runs[asked]

    def draw(self, p: Any, result: dict[str, PrefetchRun]) -> Drawing:
        """Return the grid of hits, the race up to the question, and the question with each cache."""
        hits = {name: np.array([served.hit for served in run.demands], float) for name, run in result.items()}
        workload, chosen = self.workloads[p.topic], list(hits)[p.racer]
        demands = workload.demands
        about = f"{p.topic}: {count(len(demands), 'question')} that some row answers, {line(workload.order, 120)}"
        return Drawing(
            finding=_finding(hits, p.question),
            sub=f"{about}. A hit: such a row lies in the cache.",
            figures={
                "served": served_spec(hits, at=p.question, chosen=chosen, question=line(demands[p.question - 1].question, 200)),
                "race": race_spec(hits, upto=p.question, chosen=chosen, oracle=ORACLE),
            },
            panels={"question": _question(workload, result, p.question - 1, chosen)},
            code=self._code(p),
        )

    def _racers(self, k: int, offset: int) -> dict[str, Prefetcher]:
        usual = standard_policies(k=k, offset=offset)
        chosen = {name: usual[name] for name in (racer.format(k=k) for racer in _RACERS)}
        return {**self.policies, **{name: policy for name, policy in chosen.items() if name not in self.policies}}

    def _code(self, p: Any) -> str:
        picked = f"workload = workloads[{self._names.index(p.topic)}]  # {line(p.topic, 60)!r}\n"
        usual = f"standard_policies(k={p.k}, offset={p.offset})"
        return _CODE.format(
            workload=picked if self.given.startswith("workloads") else "",
            racers=f"{{**{usual}, **policies}}" if self.policies else usual,
        )


def _own_names(names: Sequence[str]) -> list[str]:
    """Return `names` with a number behind each that stood before.

    >>> _own_names(["chat", "walk", "chat"])
    ['chat', 'walk', 'chat (2)']
    """
    own: list[str] = []
    for name in names:
        own.append(next(one for one in chain([name], (f"{name} ({number})" for number in numbers(2))) if one not in own))
    return own


def _by_name(policies: Any) -> dict[str, Prefetcher]:
    named = dict(policies) if isinstance(policies, Mapping) else {}
    if (policies is not None and not isinstance(policies, Mapping)) or not all(
        isinstance(name, str) and hasattr(policy, "select") for name, policy in named.items()
    ):
        raise InputError("give policies by name, each with a select(context): {'mine': NextRows(k=3)}")
    if ORACLE in named:
        raise InputError(f"{ORACLE!r} is the name of the oracle, which always runs: give your policy another")
    return named


def _parameters(workloads: Mapping[str, Workload], racers: int) -> type:
    longest = max(map(len, workloads.values()))

    @dataclass(frozen=True)
    class RaceParameters:
        """The conversation, how far the race has gone, what all caches have in common; hidden: the policy in colour."""

        topic: str = choice(next(iter(workloads)), {name: name for name in workloads}, label="Conversation", dropdown=True)
        question: int = slider(longest, 1, max(longest, 2), 1, label="Question", about="the race so far")
        k: int = slider(3, 1, 8, 1, label="k", about="rows cached", unit="rows")
        offset: int = slider(5, 1, 20, 1, label="Offset", about="ILSTMA's window and the oracle's", unit="rows")
        racer: int = slider(0, 0, racers - 1, 1, label="Policy", shown=False)

    return RaceParameters


def _finding(hits: Mapping[str, np.ndarray], asked: int) -> str:
    so_far = {name: int(one[:asked].sum()) for name, one in hits.items() if name != ORACLE}
    best = max(so_far.values())
    leaders = [line(name, 40) for name, hit in so_far.items() if hit == best]
    who = " and ".join(leaders) if len(leaders) <= 2 else f"{leaders[0]} and {len(leaders) - 1} others"
    oracle = f"a {ORACLE} has {int(hits[ORACLE][:asked].sum())}"
    if not best:
        return f"After {count(asked, 'question')} no policy has hit; {oracle}"
    return f"After {count(asked, 'question')} {who} lead{'s' if len(leaders) == 1 else ''} with {best}; {oracle}"


def _question(workload: Workload, runs: Mapping[str, PrefetchRun], at: int, chosen: str) -> Html:
    """The question, the rows that answer it and how far the conversation jumped to them, and what lay in each cache."""
    access = workload.demands[at]
    asked = tag("p", tag("b", f"“{line(access.question, 160)}”"), dir="auto")
    answered = tag("p", "Answered by row", chips(access.gold[:6], "relevant"), _jump(workload, at), cls="mid")
    rows = (_row(name, run.demands[at], on=name == chosen) for name, run in runs.items())
    head = tag("thead", tag("tr", *(tag("th", name, scope="col") for name in ("policy", "", "in its cache"))))
    return join(asked, answered, tag("table", head, tag("tbody", *rows), cls="grid", style="margin-top:8px"))


def _row(name: str, served: Served, *, on: bool) -> Html:
    cells = (join(" ", chip(row, "cache" if row in served.access.gold else "")) for row in served.cache)
    cache = join(*cells) if served.cache else tag("span", "empty", cls="dim")
    outcome = badge("hit" if served.hit else "miss")
    return tag("tr", tag("td", line(name, 40)), tag("td", outcome), tag("td", cache), cls="on" if on else None)


def _jump(workload: Workload, at: int) -> str:
    if at == 0:
        return ", the first question: every cache is empty"
    step = int(gold_steps(workload)[at - 1])
    if step == 0:
        return ", the row of the question before"
    return f", {count(abs(step), 'row')} {'after' if step > 0 else 'before'} the row of the question before"
