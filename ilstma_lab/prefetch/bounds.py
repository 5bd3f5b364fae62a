"""What no policy of a kind can pass, over sequences of questions; each bound says what it assumes.

A sequence holds, for each question in order, the rows any of which answers it: positions in creation order, or one number.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.prefetch.oracle import Gold, longest_run

Demands = Sequence[int | Sequence[int]]


@dataclass(frozen=True, slots=True)
class Bound:
    """A hit ratio that cannot be passed under what it `assumes`, over `n` questions."""

    name: str
    ratio: float
    n: int
    assumes: str

    def __str__(self) -> str:
        return f"{self.name}: {self.ratio:.2f} (n = {self.n}). {self.assumes}"


def bounds(sequences: Sequence[Demands], *, k: int = 3, offset: int = 5) -> tuple[Bound, ...]:
    """Return the four bounds over some conversations: MIN on demand, window oracle, refill ceiling, unlimited oracle.

    Every conversation begins with an empty cache of `k` rows.
    """
    n = sum(len(_asked(demands)) for demands in sequences)

    def share(hits: Callable[[Demands], int]) -> float:
        return sum(map(hits, sequences)) / n if n else float("nan")

    return (
        Bound(
            "MIN on demand",
            share(lambda demands: min_hits(demands, k, bypass=True)),
            n,
            f"Assumes that a row comes into the cache only by being recalled, and that the future is known: of {k} + 1 rows "
            "the one asked for again last goes. Exact where one row answers each question. It bounds no prefetcher.",
        ),
        Bound(
            "window oracle",
            share(lambda demands: oracle_hits(demands, k, offset=offset)),
            n,
            f"Assumes that the coming questions are known, that recall is perfect, and that the cache is filled on a miss only, "
            f"with {k} rows at most {offset} rows away from the first row that answers the missed question.",
        ),
        Bound(
            "refill ceiling",
            refill_ceiling(k),
            n,
            f"Assumes that the cache is filled on a miss only and that each row is asked for once: after a miss come at most {k} "
            "hits. Questions that return to a row, or that no row answers, may lead past it.",
        ),
        Bound(
            "unlimited oracle",
            share(lambda demands: oracle_hits(demands, k)),
            n,
            f"Assumes that the coming questions are known and that the cache is filled on a miss only, with any {k} rows; "
            "a question that no row answers counts for nothing and fills it too.",
        ),
    )


def reuse_distances(demands: Demands) -> np.ndarray:
    """Return for each question how many other rows were asked for since its row last was (LRU stack distance), inf if never.

    A question asks for all rows that answer it, the first of them last; its distance is that of the nearest. Shape (n,), float64.

    >>> reuse_distances([4, 7, 4, 4]).tolist()
    [inf, inf, 1.0, 0.0]
    """
    stack: list[int] = []
    found = []
    for gold in _asked(demands):
        found.append(next((float(depth) for depth, row in enumerate(stack) if row in gold), np.inf))
        stack = [*gold, *(row for row in stack if row not in gold)]
    return np.array(found, np.float64)


def lru_hits(demands: Demands, k: int) -> int:
    """Return the hits of a cache on demand that holds the `k` rows asked for last: the reuse distances below k.

    >>> lru_hits([0, 1, 2, 0, 1, 3, 0, 3, 1, 2, 1], 3)
    6
    """
    _check(k)
    return int((reuse_distances(demands) < k).sum())


def fifo_misses(demands: Demands, k: int) -> int:
    """Return the misses of a cache on demand from which the row that came first goes first; more room can mean more misses.

    >>> [fifo_misses([1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5], k) for k in (3, 4)]
    [9, 10]
    """
    _check(k)
    cache: deque[int] = deque(maxlen=k)
    misses = 0
    for gold in _asked(demands):
        if not any(row in cache for row in gold):
            misses += 1
            cache.append(gold[0])
    return misses


def min_hits(demands: Demands, k: int, *, bypass: bool = False) -> int:
    """Return the most hits of any cache on demand with room for `k` rows: the row used farthest ahead goes (Belady, 1966).

    `bypass`: whether a row that was missed may be let go at once, as LFU does; Belady's rule keeps it. Exact where one row
    answers each question. Where several do, each of them may stay, and the rule is a good choice, not a proven one.

    >>> min_hits([0, 1, 2, 0, 1, 3, 0, 3, 1, 2, 1], 3)
    6
    """
    _check(k)
    asked = _asked(demands)
    uses: dict[int, list[int]] = defaultdict(list)
    for at, gold in enumerate(asked):
        for row in gold:
            uses[row].append(at)

    def next_use(row: int, at: int) -> tuple[int, int]:
        later = bisect_right(uses[row], at)
        return uses[row][later] if later < len(uses[row]) else len(asked), row

    cache: set[int] = set()
    hits = 0
    for at, gold in enumerate(asked):
        hit = not cache.isdisjoint(gold)
        hits += hit
        stays = set() if hit or bypass else {min(gold, key=lambda row: next_use(row, at))}
        cache.update(gold)
        while len(cache) > k:
            cache.remove(max(cache - stays, key=lambda row: next_use(row, at)))
    return hits


def oracle_hits(demands: Demands, k: int, *, offset: int | None = None) -> int:
    """Return the most hits of any prefetcher that fills `k` places on a miss only, within `offset` of the missed question's row.

    `offset` None: from the whole table. A run of hits may be left early, so that the next miss falls where its window is worth
    more. A question that no row answers is a miss that does not count: with an offset it empties the cache, else it fills it too.
    """
    _check(k)
    coming = [_rows(gold) for gold in demands]
    misses = [0] * (len(coming) + 1)  # misses[at]: the fewest from question `at` on, where that one is not in the cache
    for at in reversed(range(len(coming))):
        run, _ = longest_run(coming[at + 1 :], k, inside=_window(coming[at], offset))
        misses[at] = bool(coming[at]) + min(misses[at + 1 : at + 2 + run])
    return sum(map(bool, coming)) - misses[0]


def refill_ceiling(k: int) -> float:
    """Return k / (k + 1): the hit ratio of a refill on a miss only, where each row is asked for once.

    >>> refill_ceiling(3)
    0.75
    """
    _check(k)
    return k / (k + 1)


def _window(gold: Gold, offset: int | None) -> Callable[[int], bool]:
    if offset is None:
        return lambda row: True
    return lambda row: bool(gold) and abs(row - gold[0]) <= offset


def _asked(demands: Demands) -> list[Gold]:
    return [rows for rows in map(_rows, demands) if rows]


def _rows(gold: int | Sequence[int]) -> Gold:
    return (int(gold),) if isinstance(gold, int | np.integer) else tuple(gold)


def _check(k: int) -> None:
    if k < 1:
        raise InputError(f"k must be >= 1 (got {k})")
