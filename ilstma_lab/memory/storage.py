"""A table on disk: a readable snapshot, a journal of what came since, their backups, a lock, and a cache of vectors.

`emily.json` is the snapshot, one entry a line. `emily.json.journal` gets one fsynced line for each commit. When the journal is
folded into a new snapshot, the old pair stays as `.bak` and `.journal.bak`: together they hold all that the new snapshot holds.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ilstma_lab.errors import FormatError, TableBusyError, TableFileError

FORMAT = "ilstma-table"
VERSION = 1
_SECTIONS = ("summaries", "entries", "recalls")


@dataclass
class Stored:
    """What was read: the snapshot's head, its sections, the journal's records after it, and what had to be mended."""

    head: dict[str, Any]
    sections: dict[str, list[dict[str, Any]]]
    journal: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)
    damaged: bool = False


class TableFile:
    """The files of one table. Reading takes no lock; the first write takes it and keeps it until `close`."""

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path).expanduser().absolute()
        self.journal = self._beside(".journal")
        self.backup = self._beside(".bak")
        self.old_journal = self._beside(".journal.bak")
        self.vectors = self._beside(".vectors.npy")
        self._lock = None
        self._out: int | None = None
        self._seen: tuple | None = None
        self._journal_end = 0
        self._mend = False

    def _beside(self, ending: str) -> Path:
        return self.path.with_name(self.path.name + ending)

    # -- reading ---------------------------------------------------------------------------------------------------

    def read(self) -> Stored:
        """Return the newest state that the files hold. A damaged snapshot is replaced by its backup, and said so."""
        self._seen = self._fingerprint()
        notes: list[str] = []
        damaged = False
        try:
            head, sections = read_snapshot(self.path)
        except FileNotFoundError:
            if not self.backup.exists():
                raise TableFileError(f"no table at {self.path}. Create one with MemoryTable(...).save(path).") from None
            damaged = True
            notes.append(f"{self.path.name} is missing; its backup was read instead")
        except FormatError as error:
            if not self.backup.exists() or getattr(error, "foreign", False):
                raise
            damaged = True
            notes.append(f"{error}. Its backup was read instead; the damaged file will be kept aside")
        if damaged:
            head, sections = read_snapshot(self.backup)
        records = [r for p in (self.old_journal, self.journal) for r in self._read_journal(p, notes)]
        after = [r for r in records if r["seq"] > head["seq"]]
        self._mend = damaged
        return Stored(head, sections, after, notes, damaged)

    def _read_journal(self, path: Path, notes: list[str]) -> list[dict[str, Any]]:
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            data = b""
        if path == self.journal:
            self._journal_end = data.rfind(b"\n") + 1
        records = []
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line:
                continue
            try:
                record = json.loads(line)
                record["seq"], record["events"]
                records.append(record)
            except (ValueError, KeyError, TypeError):
                torn = not data.endswith(b"\n") and number == data.count(b"\n") + 1
                what = "was torn by a crash before it was acknowledged" if torn else "cannot be read"
                notes.append(f"line {number} of {path.name} {what}, and was dropped")
                self._mend = self._mend or not torn
        return records

    # -- the lock --------------------------------------------------------------------------------------------------

    def acquire(self, *, wait_seconds: float) -> bool:
        """Take the right to write; return whether it was taken just now.

        Raises TableBusyError while another holder writes, TableFileError when the files changed since they were read.
        """
        if self._lock is not None:
            return False
        from filelock import FileLock, Timeout

        lock = FileLock(self._beside(".lock"))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=wait_seconds)
        except Timeout:
            raise TableBusyError(
                f"{self.path.name} is open for writing elsewhere: in another notebook or process, or in another table here. "
                "Close that one (table.close(), or shut its kernel down) and try again; nothing was changed."
            ) from None
        except OSError as error:
            raise TableFileError(f"cannot write beside {self.path}: {error.strerror or error}. Choose a folder you may write to.") from None
        if self._seen is not None and self._fingerprint() != self._seen:
            lock.release()
            raise TableFileError(f"{self.path.name} was changed by someone else since it was loaded. Load it again; nothing was changed.")
        self._lock = lock
        return True

    def close(self) -> None:
        """Let go of the journal and the lock."""
        if self._out is not None:
            os.close(self._out)
            self._out = None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    @property
    def needs_mending(self) -> bool:
        """Whether the files hold something damaged that the next snapshot puts right."""
        return self._mend

    def _fingerprint(self) -> tuple:
        def of(path: Path) -> tuple | None:
            try:
                status = path.stat()
            except OSError:
                return None
            return status.st_ino, status.st_size, status.st_mtime_ns

        return of(self.path), of(self.journal)

    # -- writing ---------------------------------------------------------------------------------------------------

    def append(self, record: dict[str, Any]) -> None:
        """Add one record to the journal and return when it is on the disk; on failure the journal is as before."""
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        try:
            if self._out is None:
                self._out = os.open(self.journal, os.O_WRONLY | os.O_CREAT, 0o600)
                os.ftruncate(self._out, self._journal_end)
                os.lseek(self._out, self._journal_end, os.SEEK_SET)
                _sync_folder(self.path.parent)
            done = 0
            while done < len(line):
                done += os.write(self._out, line[done:])
            os.fsync(self._out)
        except OSError as error:
            if self._out is not None:
                os.ftruncate(self._out, self._journal_end)
                os.lseek(self._out, self._journal_end, os.SEEK_SET)
            raise TableFileError(
                f"cannot write {self.journal.name}: {error.strerror or error}. Free some space or check the folder, then try "
                "again; the table is as before."
            ) from None
        self._journal_end += len(line)

    @property
    def journal_bytes(self) -> int:
        """The journal's length."""
        return self._journal_end

    @property
    def snapshot_bytes(self) -> int:
        """The snapshot's length."""
        return self.path.stat().st_size if self.path.exists() else 0

    def write_snapshot(self, lines: Iterable[str], *, keep_backup: bool = True) -> None:
        """Put a new snapshot in place of the old one, which stays as backup together with its journal."""
        try:
            mending = self._mend
            write_aside(self.path, lines, before=self._keep_damaged if mending else self._back_up)
            if mending:
                self._back_up()
            if self._out is not None:
                os.close(self._out)
                self._out = None
            if self.journal.exists():
                os.replace(self.journal, self.old_journal)
            if not keep_backup:
                self.backup.unlink(missing_ok=True)
                self.old_journal.unlink(missing_ok=True)
            _sync_folder(self.path.parent)
        except OSError as error:
            raise TableFileError(
                f"cannot write {self.path}: {error.strerror or error}. The old file is untouched and the journal holds what came since."
            ) from None
        self._journal_end = 0
        self._mend = False

    def _back_up(self) -> None:
        if not self.path.exists():
            return
        aside = self._beside(".bak.tmp")
        aside.unlink(missing_ok=True)
        try:
            os.link(self.path, aside)
        except OSError:
            shutil.copy2(self.path, aside)
        os.replace(aside, self.backup)

    def _keep_damaged(self) -> None:
        for bad in (self.path, self.journal):
            if bad.exists():
                shutil.copy2(bad, _free_name(bad))


def write_aside(path: Path, lines: Iterable[str], *, before=None) -> None:
    """Write `lines` beside `path`, sync them, call `before`, then rename: `path` is whole at every moment."""
    aside = path.with_name(path.name + ".tmp")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with open(aside, "w", encoding="utf-8", newline="\n") as out:
            for line in lines:
                out.write(line)
            out.flush()
            os.fsync(out.fileno())
        if before is not None:
            before()
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    _sync_folder(path.parent)


def snapshot_lines(head: dict[str, Any], sections: dict[str, Iterable[dict[str, Any]]]) -> Iterator[str]:
    """Yield a snapshot as text: one JSON document, one row a line."""
    yield "{\n"
    for key, value in {"format": FORMAT, "version": VERSION, **head}.items():
        yield f"{json.dumps(key)}: {_dump(value)},\n"
    for number, name in enumerate(_SECTIONS):
        yield f'"{name}": ['
        between = "\n"
        for row in sections[name]:
            yield between + _dump(row)
            between = ",\n"
        yield "\n]" + (",\n" if number + 1 < len(_SECTIONS) else "\n")
    yield "}\n"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def read_snapshot(path: Path) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]:
    """Return head and sections of a snapshot. Raises FormatError where it is empty, cut, foreign or from a newer kit."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path.name} is not UTF-8 text (byte {error.start})") from None
    if not text.strip():
        raise FormatError(f"{path.name} is empty")
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"{path.name} is not whole: line {error.lineno}, column {error.colno}: {error.msg}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise _foreign(f"{path.name} is not a memory table. To read a conversation in another format use load_dialogues({path.name!r}).")
    if not isinstance(document.get("version"), int) or document["version"] > VERSION:
        raise _foreign(f"{path.name} has version {document.get('version')!r}; this kit reads up to {VERSION}. Update ilstma-lab.")
    sections = {name: document.pop(name, []) for name in _SECTIONS}
    if not isinstance(document.get("seq"), int) or not all(isinstance(rows, list) for rows in sections.values()):
        raise FormatError(f"{path.name} lacks its sequence number or a section")
    return document, sections


def _foreign(message: str) -> FormatError:
    error = FormatError(message)
    error.foreign = True
    return error


def _free_name(path: Path) -> Path:
    number = 1
    while (name := path.with_name(f"{path.name}.damaged{number}")).exists():
        number += 1
    return name


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the block is done, so that disk and memory change together."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[tuple] = []
    before = signal.signal(signal.SIGINT, lambda *args: caught.append(args))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if caught and callable(before):
            before(*caught[0])
