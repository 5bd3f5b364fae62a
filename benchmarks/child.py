"""Fresh processes, for what a process can show only once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[1]
_WITH_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}  # an installed package is compiled once, so no figure counts compiling


def run_child(module: str, *arguments: str) -> str:
    """Return what `python -m module arguments` prints."""
    return _run("-m", module, *arguments)


def run_code(code: str) -> str:
    """Return what `python -c code` prints."""
    return _run("-c", code)


def _run(*arguments: str) -> str:
    environment = {**os.environ, **_WITH_BYTECODE}
    return subprocess.run(
        [sys.executable, *arguments], cwd=_ROOT, env=environment, stdout=subprocess.PIPE, check=True, text=True
    ).stdout
