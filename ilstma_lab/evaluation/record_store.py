"""A file of records that a stopped experiment goes on with: a head that says what was measured, then one line a record."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.evaluation.records import Record

FORMAT = "ilstma-lab systems 1"


class RecordStore:
    """The records of one experiment in a JSON lines file; each line is on the disk when `add` returns.

    `fingerprint` says what makes the experiment: settings, data, graders, version. A file of another one is refused with what
    differs, and left as it is. What was asked in one go and did not come to its end is dropped, to be asked again: a system's
    answers depend on the questions before. `dropped` counts those records, `torn` tells of half a line at the end.
    """

    def __init__(self, path: str | Path, fingerprint: Mapping[str, Any], *, questions: Mapping[str, int]):
        self.path = Path(path)
        self.dropped, self.torn = 0, False
        self.records = self._read(fingerprint, questions)
        if self.dropped or self.torn or not self.path.exists():
            self._rewrite(fingerprint)

    def add(self, record: Record) -> None:
        """Write one record."""
        self.records.append(record)
        with self.path.open("a", encoding="utf-8", newline="\n") as file:
            _write(file, [record.to_json()])

    def notes(self) -> tuple[str, ...]:
        """Return what the file had, in words: what was gone on from, what was dropped."""
        if not self.records and not self.dropped and not self.torn:
            return ()
        said = f"gone on with {self.path.name}: {len(self.records)} records were there"
        said += f", {self.dropped} of unfinished runs are asked again" if self.dropped else ""
        return (said + (", half a line at the end was dropped" if self.torn else ""),)

    def _read(self, fingerprint: Mapping[str, Any], questions: Mapping[str, int]) -> list[Record]:
        if not self.path.exists() or not self.path.stat().st_size:
            self.path.unlink(missing_ok=True)
            return []
        whole, newline, torn = self.path.read_bytes().rpartition(b"\n")
        if not newline and _head(fingerprint).encode().startswith(torn):
            self.torn = True
            return []
        try:
            head, *lines = [json.loads(line) for line in whole.decode("utf-8").split("\n")]
            if head.get("format") != FORMAT or not isinstance(head.get("fingerprint"), dict):
                raise ValueError("the first line is of another format")
            records = [Record.from_dict(line) for line in lines]
        except (ValueError, AttributeError, IndexError, RecursionError) as error:
            raise FormatError(f"{self.path} does not hold records of systems: give another file ({error})") from None
        _compare(self.path, head["fingerprint"], fingerprint)
        self.torn = bool(torn)
        return self._finished(records, questions)

    def _finished(self, records: Iterable[Record], questions: Mapping[str, int]) -> list[Record]:
        """Return the records of units that hold each of their topic's questions."""
        units: dict[tuple, dict[str, Record]] = {}
        for record in records:
            units.setdefault(record.unit, {})[record.id] = record
        kept = [unit for (_, topic, _), unit in units.items() if len(unit) == questions.get(topic)]
        self.dropped = sum(map(len, units.values())) - sum(map(len, kept))
        return [record for unit in kept for record in unit.values()]

    def _rewrite(self, fingerprint: Mapping[str, Any]) -> None:
        aside = self.path.with_name(self.path.name + ".new")
        try:
            with aside.open("w", encoding="utf-8", newline="\n") as file:
                _write(file, [_head(fingerprint), *(record.to_json() for record in self.records)])
            aside.replace(self.path)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written ({error.strerror}): give another place") from None


def _head(fingerprint: Mapping[str, Any]) -> str:
    return json.dumps({"format": FORMAT, "fingerprint": fingerprint}, ensure_ascii=False, allow_nan=False)


def _write(file, lines: Iterable[str]) -> None:
    file.write("".join(f"{line}\n" for line in lines))
    file.flush()
    os.fsync(file.fileno())


def _compare(path: Path, stored: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    wanted = json.loads(json.dumps(wanted))
    differs = [_difference(name, stored.get(name), wanted.get(name)) for name in {**stored, **wanted}]
    if said := "; ".join(filter(None, differs)):
        raise InputError(f"{path} holds another experiment: {said}. Give another file; nothing was written")


def _difference(name: str, stored: Any, wanted: Any) -> str:
    if stored == wanted:
        return ""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        changed = [key for key in {**stored, **wanted} if stored.get(key) != wanted.get(key)]
        return f"{name} of {', '.join(changed)} differ"
    return f"{name} was {stored!r}, is {wanted!r}"
