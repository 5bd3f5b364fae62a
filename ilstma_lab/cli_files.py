"""Files that `ilstma-lab evaluate` writes: where they may stand, and how they are written."""

from __future__ import annotations

import argparse
from pathlib import Path

from ilstma_lab.errors import InputError


def save(path: str, text: str) -> None:
    """Write `text` to `path`. Raises InputError where that cannot be done."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): give another place") from None


def check_places(*paths: str | None) -> None:
    """Raise InputError where a file cannot stand: measuring takes minutes, so that is said before."""
    for path in filter(None, paths):
        if Path(path).is_dir():
            raise InputError(f"{path} is a folder: give the name of a file in it")
        if not Path(path).parent.is_dir():
            raise InputError(f"{path} cannot be written: there is no folder {Path(path).parent}")


def figure_file(text: str) -> str:
    """Return the name of a file for a figure, as argparse takes it. Raises ArgumentTypeError for another ending."""
    if not text.endswith((".html", ".json")):
        raise argparse.ArgumentTypeError(f"FILE.html or FILE.json is needed (got {text!r})")
    return text
