"""Measure what the README states: `python -m benchmarks [NAME ...] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from benchmarks import durability, importing, memory, overlap, prefetch, search, turn
from benchmarks.measure import Result

NAMES = ("turn", "durability", "prefetch", "overlap", "search", "memory", "importing")


def main() -> int:
    """Print each figure with its bound; return 0 when all hold, else 1."""
    options = _options()
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {platform.system()} {platform.machine()}; medians.")
    results = []
    options.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        chosen = _benchmarks(Path(folder).resolve(), options.memory_rows)
        for name in options.names or NAMES:
            for result in chosen[name]():
                results.append(result)
                print(result, flush=True)
    if options.json:
        options.json.write_text(json.dumps([result.to_dict() for result in results], indent=1) + "\n", encoding="utf-8")
    return 0 if all(result.holds for result in results) else 1


def _benchmarks(folder: Path, memory_rows: list[int]) -> dict[str, Callable[[], Iterator[Result]]]:
    return {
        "turn": turn.run,
        "durability": lambda: durability.run(folder=folder),
        "prefetch": prefetch.run,
        "overlap": overlap.run,
        "search": search.run,
        "memory": lambda: memory.run(folder=folder, rows=tuple(memory_rows)),
        "importing": importing.run,
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure what the README states.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which to run: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE too")
    parser.add_argument(
        "--memory-rows", type=int, nargs="+", default=[200_000, 1_000_000], metavar="N", help="table sizes of the memory figures"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path("build"), help="where tables are written for a while: on the disk that is measured"
    )
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
