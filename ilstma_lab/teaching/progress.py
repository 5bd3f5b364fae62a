"""What the reader guessed and solved, kept beside the lessons, so that it survives a restart of the kernel."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from ilstma_lab.memory.safely import replaced

FILE = ".ilstma-progress.json"


class Progress:
    """Guesses and solved exercises by key, in one small JSON file; in the kernel alone where that cannot be written.

    The file is read again before each change, so that lessons open side by side do not lose each other's entries.
    """

    def __init__(self, path: Path):
        self.path = path
        self._unwritten: dict[str, dict[str, Any]] = {}

    def get(self, kind: str, key: str) -> Any:
        """Return what was kept under `key`, None where nothing was; `kind` is "guesses" or "solved"."""
        return self._entries().get(kind, {}).get(key)

    def put(self, kind: str, key: str, value: Any) -> None:
        """Keep a plain JSON value under `key`."""
        self._unwritten.setdefault(kind, {})[key] = value
        entries = self._entries()
        try:
            with replaced(self.path) as out:
                out.write(json.dumps({"format": 1, **entries}, ensure_ascii=False, indent=1, sort_keys=True).encode())
        except OSError:
            return  # a folder that cannot be written to: the kernel remembers
        self._unwritten.clear()

    def _entries(self) -> dict[str, dict[str, Any]]:
        """Return what the file holds (one that cannot be read holds nothing), under what is not yet written."""
        try:
            stored = json.loads(self.path.read_bytes())
        except (OSError, ValueError):
            stored = {}
        kept = {kind: part for kind, part in stored.items() if isinstance(part, dict)} if isinstance(stored, dict) else {}
        return {kind: {**kept.get(kind, {}), **self._unwritten.get(kind, {})} for kind in kept.keys() | self._unwritten.keys()}


def progress() -> Progress:
    """Return the progress kept in the current folder, which in Jupyter is the lesson's."""
    return _of(Path.cwd())


@lru_cache(maxsize=8)
def _of(folder: Path) -> Progress:
    return Progress(folder / FILE)
