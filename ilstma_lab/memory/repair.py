"""A table's files put right: what snapshot, journals and backup still hold, written anew; what was damaged is kept aside."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ilstma_lab.errors import FormatError, IlstmaError, ModelError
from ilstma_lab.memory.salvage import Salvage, salvage
from ilstma_lab.memory.snapshot import ForeignFileError, read_snapshot
from ilstma_lab.memory.storage import OTHERS, TORN, Stored, TableFile
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.memory.values import shown
from ilstma_lab.memory.vectors import MOST_DIMENSIONS, look_at_vectors

if TYPE_CHECKING:
    from ilstma_lab.protocols import Embedder

_WAIT_SECONDS = 2.0


@dataclass(frozen=True)
class MadeWith:
    """The embedder that a file names. It embeds nothing: a file is read and written anew without."""

    name: str
    dim: int

    def embed(self, texts: Sequence[str], kind: Literal["row", "query"]) -> np.ndarray:
        """Raise ModelError."""
        raise ModelError(f"only the name of {self.name} is known here; load the table with the embedder itself")


@dataclass
class Reading:
    """A table in memory, read from `source` as far as it goes; `mended` and `lost` tell how it differs from what was written."""

    table: MemoryTable
    source: str
    series: str
    mended: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)


@dataclass
class Plan:
    """How a table's files can be put right: `best` is what is written anew, None where nothing can be saved.

    `found` is what is amiss in the table; `damaged_copies` and `damaged_caches` are files beside it.
    """

    file: TableFile
    best: Reading | None = None
    found: list[str] = field(default_factory=list)
    damaged_copies: list[Path] = field(default_factory=list)
    damaged_caches: list[Path] = field(default_factory=list)

    @property
    def needed(self) -> bool:
        """Whether anything is to be put right."""
        return bool(self.found or self.damaged_copies or self.damaged_caches)


def plan_repair(path: str | os.PathLike[str]) -> Plan:
    """Return how the files of a table can be put right. Nothing is changed, and whatever they hold, nothing is raised."""
    plan = Plan(file := TableFile(path))
    try:
        stored = file.read()
        table = _strictly(stored, plan.found)
        plan.found += [*stored.notes, *table.check()]
        plan.best = Reading(table, file.path.name, file.series)
    except IlstmaError as error:
        plan.found.append(str(error))
        if _is_foreign(file.path):
            return plan
    if plan.found:
        plan.best = _best(file)
    if plan.best:
        plan.damaged_copies = [copy for copy in (file.backup, file.old_journal) if copy.exists() and not _is_whole(file, copy)]
        plan.damaged_caches = [cache for cache in (file.vectors, file.chunks) if cache.exists() and not cache_is_whole(cache)]
    return plan


def repair(plan: Plan) -> list[str]:
    """Carry out a plan and return what was done. Damaged files are kept aside first, except caches, which are made again.

    Raises TableBusyError while the table is open for writing elsewhere, FormatError where nothing can be saved.
    """
    file, done = plan.file, []
    if plan.best is None:
        raise FormatError(f"{file.path.name} cannot be repaired: {'; '.join(plan.found)}. Nothing was changed.")
    file.acquire(wait_seconds=_WAIT_SECONDS)
    try:
        for cache in plan.damaged_caches:
            cache.unlink()
            done.append(f"{cache.name} was removed; it is made again from the table")
        if plan.found or plan.damaged_copies:
            done += _write_anew(plan, plan.best)
    finally:
        file.close()
    return done


def _write_anew(plan: Plan, best: Reading) -> list[str]:
    file, table, before = plan.file, best.table, set(plan.file.kept_aside())
    for copy in (file.backup, file.old_journal) if best.lost else plan.damaged_copies:
        file.keep_aside(copy)
    with_vectors = len(table) > 0 and not table.pending.any()
    table._read_vectors(file)
    file.needs_mending, file.series = True, best.series
    file.write_snapshot(*table._snapshot(vectors=with_vectors))
    table._write_vectors(file)
    kept = sorted(set(file.kept_aside()) - before)
    return [
        f"{file.path.name} was written anew from {best.source}: {len(table)} rows",
        *(f"{name} was kept aside" for name in kept),
    ]


# -- reading -----------------------------------------------------------------------------------------------------------


def _best(file: TableFile) -> Reading | None:
    """Return the reading that lost nothing, else the one with the most rows, None where there is none."""
    readings = []
    for snapshot in (file.path, file.backup):
        with suppress(IlstmaError, OSError):
            readings.append(_leniently(file, salvage(snapshot), snapshot.name))
    if not readings:
        readings = [one for one in [_leniently(file, Salvage.of_nothing(), "the journals alone")] if len(one.table)]
    return min(readings, key=lambda one: (bool(one.lost), -len(one.table), len(one.lost) + len(one.mended)), default=None)


def _strictly(stored: Stored, notes: list[str]) -> MemoryTable:
    table = MemoryTable(embedder=_maker(stored.head), topic=stored.head.get("topic", ""))
    table._take_over(stored, notes, vectors=table.embedder.dim == stored.head.get("dim"))
    return table


def _leniently(file: TableFile, found: Salvage, source: str) -> Reading:
    """Return what is left of a snapshot, with what the journals hold."""
    head, mended, lost = found.head, found.mended, found.lost
    series = head.get("series") or _series_of(file.journal)
    commits = _commits(file, series, mended, lost)
    if type(head.get("seq")) is not int or head["seq"] < 0:
        head["seq"] = min(commits, default=1) - 1
        lost.append("the number of the snapshot's last commit; the journals are taken to follow it")
    if _maker(head) is None:
        lost.append("the name of the embedder; the default one stands there now")
    table = _strictly(Stored(head, found.sections, []), mended)
    table._replay((commits[seq] for seq in sorted(commits)), lost)
    return Reading(_tidied(table, found, mended, lost), source, series or file.series, mended, lost)


def _tidied(table: MemoryTable, found: Salvage, mended: list[str], lost: list[str]) -> MemoryTable:
    """Return the table without names of rows that are not there, and with the rows that need an index, as its last."""
    head, sections = table._snapshot(vectors=True)
    again = Salvage(head, {name: list(rows) for name, rows in sections.items()}, mended=mended, lost=lost).sift()
    for row in found.spare:
        index = again.head["next_index"]
        mended.append(f"a row with the index {shown(row['index'])} is row {index} now")
        again.sections["entries"].append({**row, "index": index})
        again.head["next_index"] += 1
    return _strictly(Stored(again.sift().head, again.sections, []), mended)


def _commits(file: TableFile, series: str, mended: list[str], lost: list[str]) -> dict[int, dict[str, Any]]:
    """Return what both journals hold of this series, by number; a line that cannot be read is lost."""
    reader, commits = TableFile(file.path), {}
    reader.series = series
    for journal in (file.old_journal, file.journal):
        notes: list[str] = []
        try:
            commits.update((record["seq"], record) for record in reader._read_journal(journal, notes))
        except OSError as error:
            notes.append(f"{journal.name} cannot be read: {error.strerror or error}")
        for note in notes:
            (mended if note.endswith((TORN, OTHERS)) else lost).append(note)
    return commits


def _series_of(journal: Path) -> str:
    """Return the series that the last line of a journal that can be read names, "" where none does."""
    lines = journal.read_bytes().splitlines() if journal.is_file() else []
    for line in reversed(lines):
        with suppress(ValueError, RecursionError, TypeError, AttributeError):
            return str(json.loads(line).get("series", ""))
    return ""


def _is_foreign(snapshot: Path) -> bool:
    try:
        read_snapshot(snapshot)
    except (FormatError, OSError) as error:
        return isinstance(error, ForeignFileError)
    return False


def _maker(head: dict[str, Any]) -> Embedder | None:
    name, dim = head.get("embedder"), head.get("dim")
    known = isinstance(name, str) and type(dim) is int and 0 < dim <= MOST_DIMENSIONS
    return MadeWith(name, dim) if known else None


# -- files beside ------------------------------------------------------------------------------------------------------


def _is_whole(file: TableFile, copy: Path) -> bool:
    """Tell whether the backup, or its journal, would do its service."""
    notes: list[str] = []
    try:
        if copy == file.backup:
            head, sections = read_snapshot(copy)
            _strictly(Stored(head, sections, []), notes)
        else:
            TableFile(file.path)._read_journal(copy, notes)
    except (IlstmaError, OSError):
        return False
    return all(note.endswith((TORN, OTHERS)) for note in notes)


def cache_is_whole(cache: Path) -> bool:
    """Tell whether a cache of vectors holds what its header promises."""
    try:
        promised, whole, _ = look_at_vectors(cache)
    except (FormatError, OSError):
        return False
    return promised == whole
