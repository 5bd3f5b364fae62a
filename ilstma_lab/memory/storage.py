"""A table on disk: a readable snapshot, a journal of what came since, their backups, a lock, and a cache of vectors.

`emily.json` is the snapshot, one entry a line. `emily.json.journal` gets one fsynced line for each commit. When the journal is
folded into a new snapshot, the old pair stays as `.bak` and `.journal.bak`: together they hold all that the new snapshot holds.
A snapshot names its series, and so does each line of a journal: what is left of a table that was saved over is not replayed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ilstma_lab.errors import FormatError, InputError, TableBusyError, TableFileError
from ilstma_lab.memory.safely import replaced, sync_folder
from ilstma_lab.memory.snapshot import ForeignFileError, read_snapshot, snapshot_lines
from ilstma_lab.memory.values import LIMIT, whole

_READS = 5
TORN = "was torn before it was acknowledged, and was dropped"
OTHERS = "belong to another table that had this name, and were left out"


@dataclass
class Stored:
    """What was read: the snapshot's head, its sections, the journal's records after it, and what had to be mended."""

    head: dict[str, Any]
    sections: dict[str, Collection[dict[str, Any]]]
    journal: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)


class TableFile:
    """The files of one table. Reading takes no lock; the first write takes it and keeps it until `close`.

    `needs_mending`: the files hold something damaged, which the next snapshot puts right and keeps aside.

    Raises InputError for a path that can name no file, TableFileError where a device, a pipe or a socket is in the place of one:
    a pipe would be waited for, and a device replaced.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = _file_path(path)
        self.journal = self._beside(".journal")
        self.backup = self._beside(".bak")
        self.old_journal = self._beside(".journal.bak")
        self.vectors = self._beside(".vectors.npy")
        self.chunks = self._beside(".chunks.npy")
        self.lock = self._beside(".lock")
        for file in (self.path, self.journal, self.backup, self.old_journal, self.vectors, self.chunks, self.lock):
            if os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file):
                raise _no_file(file, "a device, a pipe or a socket")
        self.series = secrets.token_hex(8)
        self.needs_mending = False
        self._lock = None
        self._holder = 0
        self._out: int | None = None
        self._seen: tuple | None = None
        self._journal_end = 0

    def _beside(self, ending: str) -> Path:
        return self.path.with_name(self.path.name + ending)

    # -- reading ---------------------------------------------------------------------------------------------------

    def read(self) -> Stored:
        """Return the newest state that the files hold. A damaged snapshot is replaced by its backup, and said so.

        Raises FormatError where no whole snapshot of this kit is there, TableFileError where none can be read.
        """
        try:
            for _ in range(_READS):
                self._seen = self._fingerprint()
                stored = self._read_once()
                if self._fingerprint()[0] == self._seen[0]:  # else a writer folded its journal meanwhile: the two do not fit
                    break
            return stored
        except OSError as error:
            raise TableFileError(
                f"cannot read {error.filename or self.path}: {error.strerror}. Check the name and its permissions."
            ) from None

    def _read_once(self) -> Stored:
        notes: list[str] = []
        head, sections, whole = self._read_snapshot(notes)
        self.needs_mending = not whole
        self.series = head.get("series", "")
        journals = [self.journal] if whole else [self.old_journal, self.journal]
        records = [record for path in journals for record in self._read_journal(path, notes)]
        return Stored(head, sections, [record for record in records if record["seq"] > head["seq"]], notes)

    def _read_snapshot(self, notes: list[str]) -> tuple[dict[str, Any], dict[str, list[dict[str, Any]]], bool]:
        try:
            return *read_snapshot(self.path), True
        except FileNotFoundError:
            if not self.backup.exists():
                raise TableFileError(
                    f"no table at {self.path}. Make one with `ilstma-lab import SOURCE -o FILE`, or table.save(path)."
                ) from None
            notes.append(f"{self.path.name} is missing; its backup was read instead")
        except ForeignFileError:
            raise
        except FormatError as error:
            if not self.backup.exists():
                raise FormatError(
                    f"{error}. It has no backup ({self.backup.name}); nothing was changed. Put a copy of it back, or "
                    "import the conversation anew."
                ) from None
            notes.append(f"{error}. Its backup was read instead; the damaged file will be kept aside")
        return *read_snapshot(self.backup), False

    def _read_journal(self, path: Path, notes: list[str]) -> list[dict[str, Any]]:
        data = path.read_bytes() if path.exists() else b""
        whole = data.rfind(b"\n") + 1
        if path == self.journal:
            self._journal_end = whole
        if whole < len(data):
            notes.append(f"the last line of {path.name} {TORN}")
        records, others = [], 0
        for number, line in enumerate(data[:whole].split(b"\n")[:-1], 1):
            try:
                record = _record(line)
            except (ValueError, KeyError, TypeError, RecursionError):
                notes.append(f"line {number} of {path.name} cannot be read, and was left out")
                self.needs_mending = True
                continue
            if record.get("series", "") == self.series:
                records.append(record)
            else:
                others += 1
        if others:
            notes.append(f"{others} lines of {path.name} {OTHERS}")
        return records

    # -- the lock --------------------------------------------------------------------------------------------------

    @property
    def held(self) -> bool:
        """Whether this process holds the right to write through this object."""
        return self._lock is not None and self._holder == os.getpid()

    def acquire(self, *, wait_seconds: float) -> None:
        """Take the right to write, unless it is held already.

        Raises TableBusyError while another holder writes, TableFileError when the files changed since they were read.
        """
        if self.held:
            self._refuse_what_changed(mine=True)
            return
        from filelock import FileLock, Timeout

        if os.path.isdir(self.path):
            raise _no_file(self.path, "a folder")
        if self._seen is not None and not self.path.parent.exists():  # taking the lock would make the folder again
            raise self._gone()
        lock = FileLock(self.lock, thread_local=False)  # asked in one thread, closed in another
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=wait_seconds)
        except Timeout:
            if not self.lock.exists():
                raise self._unwritable("its lock cannot be made there") from None
            raise TableBusyError(
                f"{self.path.name} is open for writing elsewhere: in another notebook or process, or in another table here. "
                "Close that one (table.close(), or shut its kernel down) and try again; nothing was changed."
            ) from None
        except (OSError, NotImplementedError) as error:
            raise self._unwritable(getattr(error, "strerror", None) or error) from None
        try:
            self._refuse_what_changed()
        except TableFileError:
            lock.release()
            raise
        self._lock, self._holder = lock, os.getpid()

    def _refuse_what_changed(self, *, mine: bool = False) -> None:
        """Raise TableFileError where the files are not as they were read, or as this object left them while it holds the lock."""
        if self._seen is None:
            return
        now, seen = self._fingerprint(), self._seen
        if mine:  # a network disk may set the time of a file that is still open for writing
            now, seen = (now[0], now[1] and now[1][:2]), (seen[0], seen[1] and seen[1][:2])
        if now == seen:
            return
        if seen[0] and not now[0]:
            raise self._gone()
        raise TableFileError(
            f"{self.path.name} was changed by someone else since it was loaded. Load it again; nothing was changed."
        )

    def _unwritable(self, reason: object) -> TableFileError:
        return TableFileError(f"cannot write beside {self.path}: {reason}. Choose a folder you may write to.")

    def _gone(self) -> TableFileError:
        return TableFileError(
            f"{self.path} is gone: it or its folder was moved or deleted. Put it back, or write the table to a new file with "
            "table.save(path); nothing was changed."
        )

    def close(self) -> None:
        """Let go of the journal and the lock; a later write takes them again."""
        if self.held:
            self._close_journal()
            with suppress(TableFileError):
                self._refuse_what_changed(mine=True)
                self._seen = self._fingerprint()
            self._lock.release()
            self._lock = None

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def _fingerprint(self) -> tuple:
        def of(path: Path) -> tuple | None:
            try:
                status = path.stat()
            except OSError:
                return None
            return status.st_ino, status.st_size, status.st_mtime_ns

        return of(self.path), of(self.journal)

    # -- writing ---------------------------------------------------------------------------------------------------

    def append(self, seq: int, events: list[dict[str, Any]]) -> None:
        """Add one line to the journal and return when it is on the disk; on failure the journal is as before."""
        if seq >= LIMIT:
            raise TableFileError(f"{self.journal.name} counted its last commit: write the table to a new file, table.save(path)")
        record = {"seq": seq, "series": self.series, "events": events}
        line = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        try:
            if self._out is None:
                self._open_journal()
            done = 0
            while done < len(line):
                done += os.write(self._out, line[done:])
            os.fsync(self._out)
        except BaseException as error:
            self._close_journal(cut=True)
            self._seen = self._fingerprint()
            if not isinstance(error, OSError):
                raise
            raise TableFileError(
                f"cannot write {self.journal.name}: {error.strerror or error}. Free some space or check the folder, then try "
                "again; the table is as before."
            ) from None
        self._journal_end += len(line)
        self._seen = self._fingerprint()

    def _open_journal(self) -> None:
        fresh = not self.journal.exists()
        self._out = os.open(self.journal, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        os.ftruncate(self._out, self._journal_end)
        os.lseek(self._out, self._journal_end, os.SEEK_SET)
        if fresh:
            if self.path.exists():
                shutil.copymode(self.path, self.journal)
            sync_folder(self.path.parent)

    def _close_journal(self, *, cut: bool = False) -> None:
        if self._out is None:
            return
        if cut:
            with suppress(OSError):  # else it is cut when it is opened again
                os.ftruncate(self._out, self._journal_end)
        with suppress(OSError):
            os.close(self._out)
        self._out = None

    @property
    def journal_bytes(self) -> int:
        """The journal's length."""
        return self._journal_end

    @property
    def snapshot_bytes(self) -> int:
        """The snapshot's length."""
        return self.path.stat().st_size if self.path.exists() else 0

    def write_snapshot(
        self, head: dict[str, Any], sections: dict[str, Iterable[dict[str, Any]]], *, keep_copies: bool = True
    ) -> None:
        """Put a new snapshot in place of the old one, which stays as backup together with its journal.

        Without `keep_copies` the new snapshot is all that is left: no backup, no journal, nothing kept aside.
        """
        mending = self.needs_mending
        lines = snapshot_lines({"series": self.series, **head}, sections)
        try:
            with replaced(self.path, before=self._keep_damaged if mending else self._back_up) as out:
                out.writelines(line.encode() for line in lines)
            if mending:  # what was damaged is no backup; a copy, as two names of one file would be damaged together
                shutil.copy2(self.path, self._beside(".bak.tmp"))
                os.replace(self._beside(".bak.tmp"), self.backup)
            self._close_journal()
            if mending:  # a copy of its snapshot needs no journal
                self.old_journal.unlink(missing_ok=True)
                self.journal.unlink(missing_ok=True)
            elif self.journal.exists():
                os.replace(self.journal, self.old_journal)
            self._journal_end = 0
            if not keep_copies:
                self._remove_copies()
            sync_folder(self.path.parent)
        except OSError as error:
            self._seen = self._fingerprint()
            raise TableFileError(
                f"cannot write {self.path}: {error.strerror or error}. Free some space or check the folder, then try again; "
                "nothing is lost: the file as it was and its journal hold all."
            ) from None
        self.needs_mending = False
        self._seen = self._fingerprint()

    def refuse_to_bury(self) -> None:
        """Raise TableFileError where a snapshot written here would take the place of anything but a whole table."""
        if not self.path.exists() or (self.path.stat().st_size == 0 and not self.backup.exists()):
            return
        try:
            read_snapshot(self.path)
        except (FormatError, OSError) as error:
            raise TableFileError(
                f"{self.path} is there, and is no whole table, so it was not overwritten ({error}). Give another name, or move "
                "that file away; a damaged table is mended by MemoryTable.load(path).save()."
            ) from None

    def forget_chunks(self) -> None:
        """Remove the cache of branch A's chunks beside the table."""
        try:
            self.chunks.unlink(missing_ok=True)
        except OSError as error:
            raise TableFileError(f"cannot remove {self.chunks.name}: {error.strerror or error}. Remove it by hand.") from None

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

    def keep_aside(self, file: Path) -> None:
        """Copy one of the table's files, if it is there, to a name of its own, such as `emily.json.damaged1`."""
        if file.exists():
            shutil.copy2(file, _free_name(file))

    def kept_aside(self) -> list[str]:
        """Return the names of the damaged files that were kept."""
        ours = re.compile(re.escape(self.path.name) + r"(\.bak|\.journal|\.journal\.bak)?\.damaged\d+")
        return [file.name for file in self.path.parent.iterdir() if ours.fullmatch(file.name)]

    def _keep_damaged(self) -> None:
        self.keep_aside(self.path)
        self.keep_aside(self.journal)

    def _remove_copies(self) -> None:
        aside = self.kept_aside()
        ours = re.compile(re.escape(self.path.name) + r"(\.bak|\.journal\.bak|(\.(bak|vectors\.npy|chunks\.npy))?\.tmp)")
        for file in self.path.parent.iterdir():
            if ours.fullmatch(file.name) or file.name in aside:
                file.unlink()


def _file_path(path: str | os.PathLike[str]) -> Path:
    """Return the one path of a table's file, by whatever way it was named: two ways to one file must meet at one lock."""
    try:
        found = Path(os.path.realpath(os.path.expanduser(path)))
    except ValueError:
        found = None
    if found is None or not os.fspath(path) or not found.name:
        raise InputError(f"{os.fspath(path)!r} can name no file: give a path such as 'emily.json'")
    return found


def _no_file(path: Path, kind: str) -> TableFileError:
    return TableFileError(f"{path} is {kind} and no file: give the path of a table's file, such as 'emily.json'")


def _record(line: bytes) -> dict[str, Any]:
    record = json.loads(line)
    whole(record["seq"], name="a commit's number")
    if not isinstance(record["events"], list):
        raise ValueError("not a commit")
    return record


def _free_name(path: Path) -> Path:
    number = 1
    while (name := path.with_name(f"{path.name}.damaged{number}")).exists():
        number += 1
    return name
