"""What can be saved from a damaged snapshot: every line and every value that still says something."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.memory.entry import clean_text, is_blank, to_moment
from ilstma_lab.memory.records import GROUP
from ilstma_lab.memory.snapshot import SECTIONS, ForeignFileError, read_document, read_snapshot
from ilstma_lab.memory.stored import stored_recall, stored_summary, stored_wait
from ilstma_lab.memory.values import LIMIT, MOST_RECALLS, shown

Row = dict[str, Any]

_TEXTS = ("user", "assistant", "source")
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


@dataclass
class Salvage:
    """A snapshot of which every part can be used.

    `spare`: rows in need of a new index; `mended` and `lost`: sentences. `head` may lack its sequence number and its embedder.
    """

    head: dict[str, Any]
    sections: dict[str, list[Any]]
    spare: list[Row] = field(default_factory=list)
    mended: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    @classmethod
    def of_nothing(cls) -> Salvage:
        """Return the salvage of a snapshot that is gone."""
        return cls({}, {name: [] for name in SECTIONS}).sift()

    def sift(self) -> Salvage:
        """Leave out every value that cannot be, and every name of a row that is not there; return this salvage."""
        self.sections["entries"] = self._rows()
        live = {row["index"] for row in self.sections["entries"]}
        known = self.head.get("next_index")
        known = known if type(known) is int and 0 <= known <= LIMIT else 0
        self.head["next_index"] = max(known, *(index + 1 for index in live), 0)
        self.sections["summaries"] = self._summaries(live)
        self.sections["recalls"] = self._each(self.sections["recalls"], "recalls", lambda row: stored_recall(row).row in live)
        waiting = self.head.get("waiting", [])
        waiting = waiting if isinstance(waiting, list) else []
        self.head["waiting"] = self._each(waiting, "deferred touches", lambda item: stored_wait(item)[0] in live)
        for row in self.sections["entries"]:
            for name in ("cites", "quotes"):
                row.update({name: [other for other in row[name] if other in live]} if name in row else {})
        self._count_recalls()
        self._sift_head()
        return self

    def _rows(self) -> list[Row]:
        found: dict[int, Row] = {}
        created = "1970-01-01"
        for value in self.sections["entries"]:
            row = self._row(value, created)
            if row is None:
                continue
            index, created = row["index"], row["created"]
            if type(index) is not int or not 0 <= index < LIMIT or (index in found and _said(row) != _said(found[index])):
                self.spare.append(row)
            elif index in found:
                self.mended.append(f"row {index} stood twice")
            else:
                found[index] = row
        return [found[index] for index in sorted(found)]

    def _row(self, value: Any, before: str) -> Row | None:
        """Return one row with texts and a time, None where no word of it is left."""
        name = f"row {shown(value.get('index'))}" if isinstance(value, dict) else f"the row {shown(value)}"
        row = {"index": None, **value} if isinstance(value, dict) else {}
        unreadable = {part: row[part] for part in _TEXTS if not isinstance(row.get(part, ""), str)}
        row.update({part: "" for part in _TEXTS if part in unreadable or part not in row})
        if is_blank(row["user"]) and is_blank(row["assistant"]):
            self.lost.append(f"{name}: no word of it can be read")
            return None
        self.lost += [f"{name}: its {part} ({shown(text)})" for part, text in unreadable.items()]
        try:
            to_moment(row.get("created"))
        except InputError:
            self.mended.append(f"{name}: its creation {shown(row.get('created'))} is no time; that of the row before it is used")
            row["created"] = before
        for part in ("cites", "quotes"):
            others = row.pop(part, None)
            row.update({part: others} if isinstance(others, list) else {})
        return row

    def _summaries(self, live: set[int]) -> list[Row]:
        found: dict[int, Row] = {}
        for value in self._each(self.sections["summaries"], "summaries", lambda row: bool(stored_summary(row))):
            rows = [row for row in value["rows"] if row < self.head["next_index"]]
            number = value["number"] if value["number"] not in found else max(found) + 1
            if len(rows) < len(value["rows"]) or number != value["number"]:
                self.mended.append(f"summary {value['number']} named rows that never were, or had the number of another")
            stale = bool(value.get("stale")) or not live.issuperset(value["rows"])
            found[number] = {**value, "number": number, "rows": rows, "stale": stale}
        return list(found.values())

    def _each(self, values: Iterable[Any], name: str, take: Callable[[Any], bool]) -> list[Any]:
        kept, gone = [], 0
        for value in values:
            try:
                good = take(value)
            except _DAMAGE:
                self.lost.append(f"one of the {name}: {shown(value)}")
                continue
            if good:
                kept.append(value)
            gone += not good
        if gone:
            self.mended.append(f"{gone} of the {name} named rows that are not there, and were left out")
        return kept

    def _count_recalls(self) -> None:
        """Let each row count at least the recalls that the log holds of it."""
        logged = Counter(record["row"] for record in self.sections["recalls"])
        waiting = {row: count for row, count, _ in self.head["waiting"]}
        for row in self.sections["entries"]:
            least = max(1, 1 + logged[row["index"]] - waiting.get(row["index"], 0))
            times = row.get("recall_times", 1)
            if type(times) is not int or not least <= times <= MOST_RECALLS:
                self.mended.append(f"row {row['index']}: it counted {shown(times)} recalls, and {least} by the log")
                row["recall_times"] = least

    def _sift_head(self) -> None:
        head = self.head
        held = {row for one in self.sections["summaries"] if one.get("kind", GROUP) == GROUP for row in one["rows"]}
        waits = head.get("unprofiled", [])
        head["unprofiled"] = (
            [row for row in waits if type(row) is int and row in held] if isinstance(waits, list) else sorted(held)
        )
        for name in ("topic", "personality", "series"):
            if not isinstance(head.get(name, ""), str):
                self.lost.append(f"the {name}: {shown(head[name])}")
                head[name] = ""
            head[name] = clean_text(head.get(name, ""))
        try:
            asked = head.get("unanswered")
            head["unanswered"] = asked and {"text": clean_text(asked["text"]), "at": to_moment(asked["at"]).isoformat()}
        except _DAMAGE:
            self.lost.append(f"the question that was left unanswered: {shown(head['unanswered'])}")
            head["unanswered"] = None


def salvage(path: Path) -> Salvage:
    """Return what can be saved from a snapshot. Raises FormatError where nothing can, OSError where it cannot be read."""
    try:
        head, sections = read_snapshot(path)
        return Salvage(head, {name: list(rows) for name, rows in sections.items()}).sift()
    except ForeignFileError:
        raise
    except FormatError as error:
        found = _from_parts(path).sift()
        if not found.sections["entries"] and not found.spare:
            raise
        found.lost.append(f"what stood in the damaged part of {path.name}: {error}")
        return found


def _from_parts(path: Path) -> Salvage:
    """Return what a document holds that lacks a part, or else what the lines of the file say."""
    try:
        head = dict(read_document(path))
    except (FormatError, TypeError, ValueError):
        return _from_lines(path.read_bytes())
    sections = {name: head.pop(name, None) for name in SECTIONS}
    lists = {name: isinstance(rows, Iterable) and not isinstance(rows, str | dict) for name, rows in sections.items()}
    return Salvage(head, {name: list(rows) if lists[name] else [] for name, rows in sections.items()})


def _from_lines(data: bytes) -> Salvage:
    """Return what whole lines of a snapshot say that is no whole document: the kit writes one row a line."""
    found = Salvage.of_nothing()
    for line in data.decode("utf-8", "replace").splitlines():
        text = line.strip().rstrip(",")
        try:
            value = json.loads(text if text.startswith("{") else f"{{{text}}}")
        except (ValueError, RecursionError):
            continue
        marks = {"summaries": ("number", "rows"), "entries": ("user", "created"), "recalls": ("row", "at")}
        part = next((name for name, keys in marks.items() if all(key in value for key in keys)), None)
        if part:
            found.sections[part].append(value)
        elif not text.startswith("{"):
            found.head.update(value)
    return found


def _said(row: Row) -> tuple[str, str]:
    return row["user"], row["assistant"]
