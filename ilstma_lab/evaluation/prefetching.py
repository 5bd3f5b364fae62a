"""Paired replay: what each prefetch policy would have had in the cache, question by question. No model is asked.

A hit is a proxy: a row that answers the question lay in the cache. Whether a judge would have seen that is another question.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Literal

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.workload import Access, Workload
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.protocols import PrefetchContext, Prefetcher

HISTORY_TURNS = 7

Match = Literal["any", "all"]


@dataclass(frozen=True, slots=True)
class Served:
    """One question as a policy met it.

    `cache`: the rows that lay ready, best first. `near`: the answer lay in the cache or was recalled within the last seven turns.
    `late`: it was on its way, and not yet there. `issued`: rows that the refill after this question brought in, `useful`
    those of them that answered at least one question before they left.
    """

    access: Access
    cache: tuple[int, ...]
    hit: bool
    near: bool
    late: bool
    issued: tuple[int, ...]
    useful: tuple[int, ...]


@dataclass(frozen=True)
class PrefetchRun:
    """One policy over one workload."""

    policy: str
    workload: Workload
    served: tuple[Served, ...]

    @property
    def demands(self) -> tuple[Served, ...]:
        """The questions that some row answers."""
        return tuple(served for served in self.served if served.access.demand)


def replay_policy(
    workload: Workload, prefetcher: Prefetcher, *, policy: str = "", match: Match = "any", delay: int = 0
) -> PrefetchRun:
    """Return what `prefetcher` has ready at each question of `workload`, from an empty cache on.

    As in the engine: a miss empties the cache, writes what waited, touches what was recalled, and refills; a hit leaves
    the cache and its touches wait, unless the prefetcher's `trigger` is "every". `match`: whether "any" or "all" gold rows must
    lie in the cache. `delay`: how many further questions pass before a refill has arrived. No question becomes a row, so
    every policy meets the same table. Source: ILSTMA, section 3.6.2. Raises InputError for a prefetcher that cannot be used, or
    chooses rows that the table does not hold; how many it may hold is its own affair.
    """
    if match not in ("any", "all") or delay < 0:
        raise InputError(f'match must be "any" or "all", and delay >= 0 (got {match!r}, {delay})')
    trigger = getattr(prefetcher, "trigger", "miss")
    if isinstance(prefetcher, type) or not hasattr(prefetcher, "select") or trigger not in ("miss", "every"):
        raise InputError(
            "a prefetcher is an object with a method select(context), and with a trigger 'miss' or 'every' if it has one"
        )
    run = _Running(workload.table.fork(), every=trigger == "every", match=match, delay=delay)
    for number, (access, query) in enumerate(zip(workload.accesses, workload.queries, strict=True)):
        if (recalled := run.ask(access, number)) is not None:
            chooser = prefetcher.after(number) if hasattr(prefetcher, "after") else prefetcher
            run.refill(_chosen(chooser, PrefetchContext(query, recalled, run.table, access.at)), number)
    served = tuple(asked.served() for asked in run.asked)
    return PrefetchRun(policy or getattr(prefetcher, "label", type(prefetcher).__name__), workload, served)


def _chosen(prefetcher: Prefetcher, context: PrefetchContext) -> tuple[int, ...]:
    selection = prefetcher.select(context)
    if not isinstance(selection, Selection):
        raise InputError(f"select must return a Selection, such as Selection.of([3, 4]) (got {type(selection).__name__})")
    if unknown := [row for row in selection.chosen if row not in context.table]:
        raise InputError(f"the prefetcher chose rows that the table does not hold: {unknown[:5]}")
    return tuple(dict.fromkeys(selection.chosen))


@dataclass(slots=True)
class _Asked:
    access: Access
    cache: tuple[int, ...]
    hit: bool
    near: bool
    late: bool
    issued: tuple[int, ...] = ()
    useful: list[int] = field(default_factory=list)

    def served(self) -> Served:
        return Served(self.access, self.cache, self.hit, self.near, self.late, self.issued, tuple(self.useful))


class _Running:
    """The cache while a workload is replayed; `brought_by` leads from each row in it to the question whose refill brought it."""

    def __init__(self, table: MemoryTable, *, every: bool, match: Match, delay: int):
        self.table, self.every, self.delay = table, every, delay
        self.satisfied = any if match == "any" else all
        self.asked: list[_Asked] = []
        self.cache: tuple[int, ...] = ()
        self.brought_by: dict[int, _Asked] = {}
        self.coming: deque[tuple[int, tuple[int, ...], _Asked]] = deque()
        self.history: deque[tuple[int, ...]] = deque(maxlen=HISTORY_TURNS)

    def ask(self, access: Access, number: int) -> tuple[int, ...] | None:
        """Meet one question; return what a refill is to be centred on, None where the cache stays."""
        self._arrive(number)
        hit = self._holds(access, self.cache)
        earlier = {row for rows in self.history for row in rows}
        near = hit or self._holds(access, earlier.union(self.cache))
        late = not hit and self._holds(access, {*self.cache, *(row for _, rows, _ in self.coming for row in rows)})
        self.asked.append(_Asked(access, self.cache, hit, near, late))
        rows = tuple(row for row in self.cache if row in access.gold) if hit else access.recalled
        for row in rows if hit else ():
            if row not in self.brought_by[row].useful:
                self.brought_by[row].useful.append(row)
        self._touch(rows, access, waits=hit and not self.every)
        self.history.append(rows)
        if hit and not self.every:
            return None
        if not hit:
            self.cache, self.brought_by = (), {}
            self.coming.clear()
        return rows

    def refill(self, chosen: tuple[int, ...], number: int) -> None:
        """Send `chosen` on their way into the cache."""
        asked = self.asked[-1]
        asked.issued = tuple(row for row in chosen if row not in self.cache)
        self.coming.append((number + self.delay, chosen, asked))

    def _arrive(self, number: int) -> None:
        while self.coming and self.coming[0][0] < number:
            _, self.cache, asked = self.coming.popleft()
            self.brought_by = {row: self.brought_by.get(row, asked) for row in self.cache}

    def _holds(self, access: Access, rows) -> bool:
        return access.demand and self.satisfied(row in rows for row in access.gold)

    def _touch(self, rows: tuple[int, ...], access: Access, *, waits: bool) -> None:
        if not waits:
            self.table.write_waiting()
        if rows:
            self.table.touch(rows, access.at, access.question, deferred=waits)
