"""How many answers other processes have come to, counted in a file: one byte an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

EVERY = 0.5
"""Seconds between two reports."""


@contextmanager
def reported(report: Callable[[int], None]) -> Iterator[Path]:
    """Yield a file for `tick`; until the block is left a thread calls `report(count)` whenever the count has grown."""
    with TemporaryDirectory() as folder:
        file, left = Path(folder, "answers"), Event()
        file.touch()
        thread = Thread(target=_report, args=(file, left, report), daemon=True)
        thread.start()
        try:
            yield file
        finally:
            left.set()
            thread.join()


def tick(file: Path) -> None:
    """Count one answer."""
    with file.open("ab") as counted:
        counted.write(b".")


def _report(file: Path, left: Event, report: Callable[[int], None]) -> None:
    told = 0
    while not left.wait(EVERY):
        count = file.stat().st_size
        if count > told:
            report(count)
            told = count
