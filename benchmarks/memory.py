"""Memory of a loaded table, and at the peak of loading it, beside the bytes of its vectors and its text."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks import stubs
from benchmarks.child import run_child
from benchmarks.measure import Result
from ilstma_lab import MemoryTable

BOUND_LOADED, BOUND_PEAK = 1.3, 1.6


def run(*, folder: Path, rows: tuple[int, ...] = (200_000,)) -> Iterator[Result]:
    """Yield both ratios at each number of rows; each table is loaded once, in a process of its own."""
    for size in rows:
        path = folder / f"memory-{size}.json"
        run_child("benchmarks.memory", "make", str(path), str(size))
        used = json.loads(run_child("benchmarks.memory", "load", str(path)))
        needed = used["vectors"] + used["text"]
        details = {name: used[name] / 1e6 for name in used}
        details = {f"{name}, MB": value for name, value in details.items()}
        yield Result(f"memory of a table of {size:,} rows", used["loaded"] / needed, BOUND_LOADED, "times", 1, details)
        yield Result(f"memory at the peak of loading {size:,} rows", used["peak"] / needed, BOUND_PEAK, "times", 1)


def _load(path: str) -> dict[str, int]:
    embedder = stubs.ReadyVectors()
    before = _status()
    table = MemoryTable.load(path, embedder=embedder)
    after = _status()
    return {
        "vectors": table.vectors.nbytes,
        "text": sum(len(row.user.encode()) + len(row.assistant.encode()) + len(row.source.encode()) for row in table),
        "loaded": after["VmRSS"] - before["VmRSS"],
        "peak": after["VmHWM"] - before["VmRSS"],
    }


def _status() -> dict[str, int]:
    """Return this process' resident memory now (VmRSS) and at its highest (VmHWM), in bytes; Linux tells both."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return {line.split(":")[0]: 1024 * int(line.split()[1]) for line in lines if line.startswith(("VmRSS", "VmHWM"))}


if __name__ == "__main__":
    if sys.argv[1] == "make":
        stubs.table(int(sys.argv[3])).save(sys.argv[2])
    else:
        print(json.dumps(_load(sys.argv[2])))
