"""Recall started with the judge, beside recall after it: a scripted endpoint with set latencies that serves several at a time."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from datetime import UTC, datetime

from benchmarks.local_endpoint import LocalEndpoint
from benchmarks.measure import Result
from ilstma_lab import ILSTMA, Config, Dialogue, ManualClock, MemoryTable, endpoint
from ilstma_lab.evaluation.timing import TimeModel, wasted_tokens
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.trace import Turn

WAITS = {"judge": 0.3, "read": 0.2, "answer": 0.2}
BOUND = 0.9
_AGAIN = "Again, number"
_ABOUT = ("the harbour", "the bakery", "a violin", "the passport office", "a bicycle", "slugs", "chess", "an umbrella")


def run(*, n: int = 12) -> Iterator[Result]:
    """Yield the ratio of the mean seconds over `n` judged questions of each side, every second of them a hit."""
    turns = {overlap: asked(overlap=overlap, n=n) for overlap in (False, True)}
    means = {overlap: statistics.fmean(turn.seconds for turn in side) for overlap, side in turns.items()}
    parts = TimeModel(WAITS["judge"], WAITS["read"] + WAITS["answer"], answer_seconds=WAITS["answer"])
    rate = statistics.fmean(turn.hit for turn in turns[True])
    details = {
        "one after the other, s": means[False],
        "overlapped, s": means[True],
        "by the latencies alone, of that": parts.overlapped().mean_seconds(rate) / parts.mean_seconds(rate),
        "tokens read for nothing, a hit": wasted_tokens(turns[True]) / sum(turn.hit for turn in turns[True]),
    }
    yield Result(
        "recall overlapped with the judge, of one after the other", means[True] / means[False], BOUND, "times", n, details
    )


def asked(*, overlap: bool, n: int) -> list[Turn]:
    """Return `n` turns, every second one a hit, after a first that is not judged."""
    with LocalEndpoint(hits=lambda question: _AGAIN in question, waits=WAITS).running() as served:
        clock = ManualClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
        rows = [Dialogue(f"We spoke of {thing}.", f"Yes, of {thing}.", clock.now()) for thing in _ABOUT]
        table = MemoryTable.from_dialogues(rows, embedder=HashedEmbedder(256), topic="overlap")
        models = endpoint("scripted", base_url=served.base_url)
        lab = ILSTMA(table, Config(overlap=overlap), models=models, clock=clock)
        lab.ask("Where were we?", remember=False)
        return [lab.ask(f"{_AGAIN} {i}?" if i % 2 else f"What of {_ABOUT[i % 8]}?", remember=False) for i in range(n)]
