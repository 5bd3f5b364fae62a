"""Slow work beside the screen: of many requests only the newest is worth doing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Latest:
    """Runs `work(request)` in a thread, one at a time. A request that comes meanwhile replaces the one that waits.

    `work` deals with its own errors. `busy` is told True when work is asked for, and False when none is left.
    """

    def __init__(self, work: Callable[[Any], None], *, busy: Callable[[bool], None]):
        self._work, self._busy = work, busy
        self._lock = threading.Lock()
        self._waiting: list[Any] = []  # none or one
        self._thread: threading.Thread | None = None

    def submit(self, request: Any) -> None:
        """Do `request` as soon as what runs now is done, unless a newer one comes first."""
        with self._lock:
            self._waiting = [request]
            self._busy(True)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Return whether all was done within `seconds`."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)
        return self._thread is None

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._busy(False)
                    self._thread = None
                    return
                request = self._waiting.pop()
            self._work(request)
