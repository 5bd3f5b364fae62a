"""Policies that learn from the table's log of recalls: what was recalled last, most often, or after what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, ClassVar

from ilstma_lab.prefetch.ranking import RankedPolicy, Trigger, nearest

if TYPE_CHECKING:
    from ilstma_lab.protocols import PrefetchContext


@dataclass(frozen=True, kw_only=True)
class DemandLru(RankedPolicy):
    """No prefetch: the `k` rows recalled most recently stay, which is a cache that replaces the least recently used.

    It draws on the log, so a question that recalls nothing costs it no row.
    """

    trigger: Trigger = "every"
    label: ClassVar[str] = "demand LRU"
    needs_centre: ClassVar[bool] = False

    def ranked(self, context: PrefetchContext, at: int | None, end: int) -> Iterable[int]:
        """Return the recalled rows' positions, the last recalled first."""
        return map(context.table.position, _most_recent(recalls_by_question(context)))


@dataclass(frozen=True, kw_only=True)
class DemandLfu(RankedPolicy):
    """No prefetch: the `k` rows recalled most often stay; of two recalled equally often, the one recalled later."""

    trigger: Trigger = "every"
    label: ClassVar[str] = "demand LFU"
    needs_centre: ClassVar[bool] = False

    def ranked(self, context: PrefetchContext, at: int | None, end: int) -> Iterable[int]:
        """Return the recalled rows' positions, the most often recalled first."""
        asked = recalls_by_question(context)
        times = Counter(row for rows in asked for row in rows)
        return map(context.table.position, sorted(_most_recent(asked), key=lambda row: -times[row]))


@dataclass(frozen=True, kw_only=True)
class CoRecall(RankedPolicy):
    """The rows that the question after a recall of this row recalled most often (a first-order Markov prefetcher).

    Of two that followed equally often the later follower comes first; the nearest rows fill the places left.
    """

    label: ClassVar[str] = "co-recall"

    def ranked(self, context: PrefetchContext, at: int, end: int) -> Iterable[int]:
        """Return the followers' positions by how often they followed, then all by distance from the centre."""
        table, centre = context.table, int(context.table.indices[at])
        pairs = list(pairwise(recalls_by_question(context)))
        followed = Counter(row for rows, then in reversed(pairs) if centre in rows for row in then)
        return dict.fromkeys([*(table.position(row) for row, _ in followed.most_common()), *nearest(at, end)])


def recalls_by_question(context: PrefetchContext) -> list[tuple[int, ...]]:
    """Return the rows that each question recalled, oldest first and the present one last; rows of one question best first.

    Whether the log holds the present question already hangs on when writes are done; it is counted once. Records without a
    question's text stand for themselves.
    """
    log = list(context.table.recalls)
    own = tuple(row for row in context.recalled if row in context.table)
    if own and [(record.row, record.at) for record in log[-len(own) :]] == [(row, context.now) for row in own]:
        del log[-len(own) :]
    keyed = (((r.at, r.question) if r.question else number, r.row) for number, r in enumerate(log))
    asked = [tuple(row for _, row in group) for _, group in groupby(keyed, key=lambda pair: pair[0])]
    return [*asked, own]


def _most_recent(asked: list[tuple[int, ...]]) -> list[int]:
    return list(dict.fromkeys(row for rows in reversed(asked) for row in rows))
