"""The chat lab as a page of its own, served by Voila: for those who want no notebook."""

from __future__ import annotations

import sys
from importlib.resources import as_file, files
from importlib.util import find_spec

from ilstma_lab.errors import InputError

_NOTHING_FROM_ELSEWHERE = "default-src 'self' data: blob: 'unsafe-inline' 'unsafe-eval'"
"""Voila's page names an icon font on a public server; with this header the browser does not ask there."""


def serve(*, port: int = 8866, browser: bool = True) -> int:
    """Serve the chat lab on this machine until Ctrl-C, and return Voila's exit code. Each visitor has a memory of their own.

    Raises InputError where Voila is not installed.
    """
    if find_spec("voila") is None:
        raise InputError("the app needs Voila: pip install 'ilstma-lab[app]', or in a checkout `make app`")
    import subprocess

    with as_file(files("ilstma_lab") / "assets" / "app.ipynb") as notebook:
        command = [
            *(sys.executable, "-m", "voila", str(notebook), f"--port={port}", "--Voila.ip=127.0.0.1", "--strip_sources=True"),
            f'--Voila.tornado_settings={{"headers": {{"Content-Security-Policy": "{_NOTHING_FROM_ELSEWHERE}"}}}}',
        ]
        return subprocess.call(command if browser else [*command, "--no-browser"])
