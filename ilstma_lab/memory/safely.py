"""Writing so that a file is whole at every moment, and changing disk and memory together."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replaced(path: Path, *, before: Callable[[], None] | None = None) -> Iterator[BinaryIO]:
    """Open a file beside `path` which, when the block ends well, is synced and takes the place of `path`.

    `before` is called between the two. Whatever fails, `path` is as it was. Permissions are kept. Raises OSError.
    """
    aside = path.with_name(path.name + ".tmp")
    try:
        with open(aside, "wb") as out:
            if path.exists():
                shutil.copymode(path, aside)
            yield out
            out.flush()
            os.fsync(out.fileno())
        if before is not None:
            before()
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make new names in `folder` durable, where the system can do that: not on Windows, nor on some network disks."""
    if os.name != "posix":
        return
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the block is done, so that disk and memory change together."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    caught: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: caught.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if caught:
            signal.raise_signal(signal.SIGINT)
