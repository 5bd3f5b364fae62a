"""The bundled data on forgetting; data/forgetting/SOURCES.md tells where each comes from."""

from __future__ import annotations

import csv

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.resources import data_dir


def forgetting_data() -> tuple[str, ...]:
    """Return the names that `load_forgetting` knows, in alphabetical order."""
    return tuple(sorted(path.stem for path in (data_dir() / "forgetting").glob("*.csv")))


def load_forgetting(name: str) -> dict[str, np.ndarray]:
    """Return one bundled table as columns by name, numbers where all cells are numbers. Raises InputError for an unknown name.

    >>> load_forgetting("ebbinghaus_1885_time")["savings_percent"].tolist()
    [58.2, 44.2, 35.8, 33.7, 27.8, 25.4, 21.1]
    """
    known = forgetting_data()
    if name not in known:
        raise InputError(f"no forgetting data {name!r}; there are: {', '.join(known) or 'none'}")
    lines = (data_dir() / "forgetting" / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    head, *rows = csv.reader(line for line in lines if line and not line.startswith("#"))
    return {column: _numbers(cells) for column, cells in zip(head, zip(*rows, strict=True), strict=True)}


def _numbers(cells: tuple[str, ...]) -> np.ndarray:
    for kind in (np.int64, np.float64):
        try:
            return np.array(cells).astype(kind)
        except ValueError:
            continue
    return np.array(cells)
