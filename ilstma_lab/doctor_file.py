"""A table's files, one by one: what is whole, damaged or missing, and what a repair would do, or did."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from ilstma_lab.doctor import Finding, render
from ilstma_lab.errors import FormatError, IlstmaError
from ilstma_lab.memory.repair import Plan, plan_repair, repair
from ilstma_lab.memory.snapshot import read_snapshot
from ilstma_lab.memory.storage import TableFile
from ilstma_lab.memory.values import named
from ilstma_lab.memory.vectors import look_at_vectors
from ilstma_lab.reprs.words import count

WHOLE, REPAIRABLE, HOPELESS = 0, 1, 2
_MOST_SENTENCES = 10
_SEE = "The table's own line says what to do."


@dataclass(frozen=True)
class Checkup:
    """What was found in a table's files, the exit code, what a repair mends and loses, and what it has done, if one was made."""

    path: Path
    findings: list[Finding]
    code: int
    mended: list[str]
    lost: list[str]
    done: list[str]

    def to_json(self) -> str:
        """Return the checkup as a JSON object."""
        return json.dumps({**asdict(self), "path": str(self.path)}, indent=1, ensure_ascii=True)

    def __str__(self) -> str:
        lines = [render(self.findings)]
        for title, sentences in (("Done", self.done), ("Mended" if self.done else "To mend", self.mended), ("Lost", self.lost)):
            lines += [f"\n{title}:", *(f"- {sentence}" for sentence in _in_short(sentences))] if sentences else []
        return "\n".join(lines)


def look_at_file(path: str | os.PathLike[str]) -> Checkup:
    """Return how a table's files are. They are read, never changed.

    Raises InputError for a path that can name no file, TableFileError where a device, a pipe or a socket is in a file's place.
    """
    plan = plan_repair(path)
    best = plan.best
    code = HOPELESS if best is None else REPAIRABLE if plan.needed else WHOLE
    findings = [_verdict(plan, code), *_parts(plan.file, best.series if best else plan.file.series)]
    mended, lost = (best.mended, best.lost) if best else ([], [])
    return Checkup(plan.file.path, findings, code, mended, lost, [])


def repair_file(path: str | os.PathLike[str]) -> Checkup:
    """Repair a table's files where that is needed and can be done, and return how they are then, with what was done.

    Raises TableBusyError while the table is open for writing elsewhere.
    """
    plan = plan_repair(path)
    if plan.best is None or not plan.needed:
        return look_at_file(path)
    done, after = repair(plan), look_at_file(path)
    code = REPAIRABLE if after.code == WHOLE else HOPELESS
    return Checkup(after.path, after.findings, code, plan.best.mended, plan.best.lost, done)


def _verdict(plan: Plan, code: int) -> Finding:
    name, best = f"table {plan.file.path.name}", plan.best
    if best is None:
        cure = "Put a copy of it back, or make it anew from the dialogues: ilstma-lab import SOURCE -o FILE"
        if plan.file.backup.exists():
            cure = f"If the table is to be again as {plan.file.backup.name} has it, move {plan.file.path.name} away first. {cure}"
        return Finding(name, "bad", "; ".join(_in_short(plan.found)), cure)
    table = best.table
    size = f"{_size(len(table), len(table.written))}, {count(table._seq, 'commit')}"
    if code == WHOLE:
        return Finding(name, "ok", f"{size}; every promise is kept")
    files = [*plan.damaged_copies, *plan.damaged_caches]
    what = "; ".join(_in_short([*plan.found, *(f"{file.name} is damaged" for file in files)]))
    cure = f"ilstma-lab doctor {plan.file.path.name} --repair   (from {best.source}: {size}"
    cure += f"; lost: {count(len(best.lost), 'thing')})" if best.lost else "; nothing is lost)"
    return Finding(name, "bad" if best.lost or plan.file.needs_mending else "warn", what, cure)


def _parts(file: TableFile, series: str) -> Iterator[Finding]:
    yield _looked_at("snapshot", file.path, _snapshot, missing="bad")
    yield _looked_at("journal", file.journal, lambda path: _journal(path, series), none="none: the snapshot holds all")
    yield _looked_at("backup", file.backup, _snapshot, none="none yet: the first fold of a journal makes it")
    yield _looked_at("its journal", file.old_journal, lambda path: _journal(path, series))
    yield _looked_at("vector cache", file.vectors, _cache, none="none: texts are embedded again when the table is loaded")
    yield _looked_at("chunk cache", file.chunks, _cache, none="none: chunks are embedded when they are searched")
    yield _lock(file)
    yield _embedder(file)


def _looked_at(
    name: str, path: Path, look: Callable[[Path], tuple[str, str]], *, none: str = "none", missing: str = "ok"
) -> Finding:
    """Return what `look` tells of a file: a state and what was seen; or that it is not there."""
    if not path.exists():
        return Finding(name, "ok", none) if missing == "ok" else Finding(name, missing, f"{path.name} is not there", _SEE)
    try:
        state, detail = look(path)
    except FormatError as error:
        return Finding(name, "bad", str(error), _SEE)
    except OSError as error:
        return Finding(name, "bad", f"{path.name} cannot be read: {error.strerror or error}", _SEE)
    return Finding(name, state, f"{path.name}: {detail}", "" if state == "ok" else _SEE)


def _snapshot(path: Path) -> tuple[str, str]:
    head, sections = read_snapshot(path)
    return "ok", f"{_size(len(sections['entries']), len(sections['summaries']))}, up to commit {head['seq']}"


def _size(rows: int, summaries: int) -> str:
    return f"{count(rows, 'row')}, {count(summaries, 'summary', 'summaries')}"


def _journal(path: Path, series: str) -> tuple[str, str]:
    reader, notes = TableFile(path), []
    reader.series = series
    records = reader._read_journal(path, notes)
    numbers = f", number {records[0]['seq']} to {records[-1]['seq']}" if records else ""
    return "warn" if notes else "ok", "; ".join(_in_short([f"{count(len(records), 'commit')}{numbers}", *notes]))


def _cache(path: Path) -> tuple[str, str]:
    promised, whole, dim = look_at_vectors(path)
    damaged = f", {promised - whole} of {promised} are damaged or missing" if promised != whole else ""
    return "warn" if damaged else "ok", f"{whole} vectors of {dim} dimensions{damaged}"


def _lock(file: TableFile) -> Finding:
    if not _is_held(file.lock):
        return Finding("lock", "ok", "free to write")
    cure = "Close the other one (table.close(), or shut its kernel down) before you change or repair the table; reading works."
    return Finding("lock", "warn", "the table is open for writing elsewhere", cure)


def _is_held(lock: Path) -> bool:
    """Tell whether another process holds the lock; a lock file that is not there is not made."""
    if not lock.exists():
        return False
    from filelock import FileLock, Timeout

    try:
        with FileLock(lock, timeout=0):
            return False
    except Timeout:
        return True
    except (OSError, NotImplementedError):  # in a folder that cannot be written to nobody can hold it
        return False


def _embedder(file: TableFile) -> Finding:
    from ilstma_lab.models import default_embedder

    try:
        head = file.read().head
    except IlstmaError:
        return Finding("made with", "warn", "unknown: the snapshot cannot be read", _SEE)
    default, name, dim = default_embedder(), head.get("embedder"), head.get("dim")
    if (name, dim) == (default.name, default.dim):
        return Finding("made with", "ok", f"{name}, {dim} dimensions: the default embedder")
    cure = "Give the same embedder when you load it, or embed anew: MemoryTable.load(path, reembed=True)"
    return Finding(
        "made with", "warn", f"{named(name)} ({named(dim)} dimensions); the default is {default.name} ({default.dim})", cure
    )


def _in_short(sentences: list[str]) -> list[str]:
    more = len(sentences) - _MOST_SENTENCES
    return sentences[:_MOST_SENTENCES] + ([f"and {more} more"] if more > 0 else [])
