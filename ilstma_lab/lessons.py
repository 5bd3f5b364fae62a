"""A working copy of the lessons, in which what the reader wrote is never overwritten, and JupyterLab on it.

A lesson is compared by the sources of its cells: running it changes outputs and counts, not the lesson. So a lesson that was
run but not edited is replaced when the kit brings a newer one (this is reported; its outputs come back when it is run again),
and an edited one stays, with the newer beside it as "00_name (new).ipynb". Delete a lesson to get it back as it was.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from ilstma_lab import resources
from ilstma_lab.errors import InputError

MANIFEST = ".ilstma-lessons.json"
_SKIPPED = {"__pycache__", ".ipynb_checkpoints"}


def working_copy(target: str | os.PathLike[str] | None = None, *, say: Callable[[str], None] = print) -> Path:
    """Return a folder that holds the lessons to work in, brought up to date; `say` is told each change to an existing file.

    Without `target` it is `.lessons` in a checkout, which git ignores, else `ilstma-lab-lessons` in the home folder.
    Raises InputError where the folder cannot be written, or is the kit's own.
    """
    source = resources.notebooks_dir()
    folder = Path(target).expanduser().absolute() if target is not None else _default_folder()
    if folder.resolve().is_relative_to(source.resolve()):
        raise InputError(f"{folder} holds the lessons as the kit ships them. Give another folder for the working copy.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        offered = _read_manifest(folder)
        for lesson in _bundled_lessons(source):
            _bring(source, folder, lesson, offered, say)
        _write(folder / MANIFEST, json.dumps({"format": 1, "offered": offered}, indent=1, sort_keys=True).encode())
    except OSError as error:
        raise InputError(
            f"cannot write the lessons to {folder}: {error.strerror or error}. Give a folder you may write to."
        ) from None
    return folder


def open_lab(target: str | os.PathLike[str] | None = None, *, browser: bool | None = None) -> None:
    """Run JupyterLab on a working copy of the lessons until it is ended with Ctrl-C.

    `browser`: whether to open one; None opens one where there is a display. Without a browser the address is printed.
    """
    folder = working_copy(target)
    show = has_display() if browser is None else browser
    print(f"Lessons: {folder}\nJupyterLab starts; Ctrl-C ends it.", flush=True)
    from jupyterlab.labapp import LabApp

    with contextlib.suppress(KeyboardInterrupt):
        server = LabApp.initialize_server(argv=lab_arguments(folder, browser=show))
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGTERM))  # Ctrl-C ends it in order, without asking
        server.no_browser_open_file = True  # print the address, not the path of a file that holds it
        if not show:
            tunnel = f"ssh -L {server.port}:127.0.0.1:{server.port} {socket.gethostname()}"
            print(f"No browser is opened here. From another computer, run this first:  {tunnel}", flush=True)
        server.start()


def lab_arguments(folder: Path, *, browser: bool) -> list[str]:
    """Return JupyterLab's arguments: this machine only, a free port, no news, no look-ups, no installing."""
    first = min((path.name for path in folder.glob("[0-9]*.ipynb")), default="")
    arguments = [
        f"--ServerApp.root_dir={folder}",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port_retries=100",  # from 8888 on, the first that is free
        "--ServerApp.log_level=WARN",
        "--LabApp.log_level=WARN",
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        "--LabApp.extension_manager=readonly",
        "--LanguageServerManager.autodetect=False",  # the lessons need none, and looking for them starts npm
        f"--LabApp.default_url=/lab/tree/{first}",
    ]
    if not browser:
        arguments.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--allow-root")
    return arguments


def has_display() -> bool:
    """Tell whether a browser opened here could be seen: not over ssh, and on Linux only with a display."""
    if os.environ.get("SSH_CONNECTION"):
        return False
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _default_folder() -> Path:
    checkout = resources.checkout_dir()
    return checkout / ".lessons" if checkout else Path.home() / "ilstma-lab-lessons"


def _bundled_lessons(source: Path) -> Iterator[str]:
    """Yield the files to copy, as posix paths below `source`: lessons, solutions, what they need."""
    for path in sorted(source.rglob("*")):
        below = path.relative_to(source)
        if path.is_file() and not _SKIPPED & set(below.parts) and not path.name.startswith("."):
            yield below.as_posix()


def _bring(source: Path, folder: Path, lesson: str, offered: dict[str, str], say: Callable[[str], None]) -> None:
    """Bring one lesson up to date; `offered` maps each file to the digest of what was last put there, or beside it."""
    bundled, mine = source / lesson, folder / lesson
    newest, last_offered = _digest(bundled), offered.get(lesson)
    if not mine.exists():
        _copy(bundled, mine)
    elif (present := _digest(mine)) == newest or last_offered == newest:
        pass  # up to date, or edited since this very version was offered
    elif present == last_offered:
        ran = _has_outputs(mine)
        _copy(bundled, mine)
        say(
            f"{lesson}: a newer lesson replaced yours, which you had not edited"
            + (" (run it again for its outputs)" if ran else "")
        )
    else:
        beside = _free_place(mine, offered, folder)
        _copy(bundled, beside)
        offered[beside.relative_to(folder).as_posix()] = newest
        say(f"{lesson}: you edited it, so it stays; the newer lesson is beside it as {beside.name!r}")
    offered[lesson] = newest


def _free_place(mine: Path, offered: dict[str, str], folder: Path) -> Path:
    """Return where the newer lesson may go: "(new)", or "(new 2)" where the reader edited that one too."""
    number = 1
    while True:
        beside = mine.with_stem(f"{mine.stem} (new{'' if number == 1 else f' {number}'})")
        if not beside.exists() or offered.get(beside.relative_to(folder).as_posix()) == _digest(beside):
            return beside
        number += 1


def _digest(path: Path) -> str:
    """Return a digest of what the lesson says: kind and source of its cells, or the bytes of what is no notebook.

    Blank cells do not count: JupyterLab adds one when the last cell is run.
    """
    content = path.read_bytes()
    if path.suffix == ".ipynb":
        with contextlib.suppress(ValueError, KeyError, TypeError):
            cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(content)["cells"]]
            content = json.dumps([cell for cell in cells if cell[1].strip()]).encode()
    return hashlib.sha256(content).hexdigest()


def _has_outputs(path: Path) -> bool:
    return path.suffix == ".ipynb" and any(cell.get("outputs") for cell in json.loads(path.read_bytes())["cells"])


def _read_manifest(folder: Path) -> dict[str, str]:
    """Return what was offered so far; an unreadable manifest counts as none, and then nothing that differs is overwritten."""
    try:
        offered = json.loads((folder / MANIFEST).read_bytes())["offered"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return {str(name): str(digest) for name, digest in offered.items()} if isinstance(offered, dict) else {}


def _copy(source: Path, target: Path) -> None:
    """Copy the content alone: a wheel's files may be read-only, and a working copy may not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    _write(target, source.read_bytes())


def _write(target: Path, content: bytes) -> None:
    aside = target.with_name(f".{target.name}.tmp")
    aside.write_bytes(content)
    with contextlib.suppress(FileNotFoundError):
        shutil.copymode(target, aside)
    os.replace(aside, target)
