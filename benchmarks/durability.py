"""Making a turn durable, from the finished answer to the return of ask(), beside bare append-and-fsync calls of its line."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import stubs
from benchmarks.measure import Result, seconds
from benchmarks.turn import new_lab
from ilstma_lab import ILSTMA, MemoryTable

BOUND = 5.0
_WARM_UP = 10


def run(*, folder: Path, rows: tuple[int, ...] = (1_000, 100_000), n: int = 100) -> Iterator[Result]:
    """Yield the ratio for misses and for hits at each number of rows; a bare append follows each turn, with that turn's line."""
    for size in rows:
        path = folder / f"table-{size}.json"
        stubs.table(size).save(path)
        with MemoryTable.load(path, embedder=stubs.ReadyVectors()) as table:
            lab, judge = new_lab(table)
            yield from _ratios(lab, judge, folder / "bare", size, n)


def _ratios(lab: ILSTMA, judge: stubs.ReadyModels, bare_path: Path, size: int, n: int) -> Iterator[Result]:
    turns, appends = {False: [], True: []}, {False: [], True: []}
    bare = os.open(bare_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for number in range(2 * (n + _WARM_UP)):
        judge.hits = number % 2 == 1
        durable = _after_answer(lab, stubs.question(number))
        append = _append(bare, _last_line(Path(f"{lab.table.path}.journal")))
        if number >= 2 * _WARM_UP:
            turns[judge.hits].append(durable)
            appends[judge.hits].append(append)
    os.close(bare)
    for hit, name in ((False, "a miss"), (True, "a hit")):
        turn, append = statistics.median(turns[hit]), statistics.median(appends[hit])
        details = {"turn, ms": 1e3 * turn, "bare append and fsync, ms": 1e3 * append}
        yield Result(f"making {name} durable at {size:,} rows", turn / append, BOUND, "times", n, details)


def _after_answer(lab: ILSTMA, question: str) -> float:
    """Return the seconds from the last piece of the answer to the return of ask()."""
    answered = 0.0

    def listen(event) -> None:
        nonlocal answered
        if event.kind == "piece":
            answered = time.perf_counter()

    lab.ask(question, on_event=listen)
    return time.perf_counter() - answered


def _append(descriptor: int, line: bytes) -> float:
    return seconds(lambda: (os.write(descriptor, line), os.fsync(descriptor)))


def _last_line(journal: Path) -> bytes:
    with open(journal, "rb") as file:
        file.seek(-min(16_384, journal.stat().st_size), os.SEEK_END)
        return file.read().splitlines(keepends=True)[-1]
