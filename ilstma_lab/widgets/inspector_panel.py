"""One row of the table in full: its texts, where it comes from, what hangs on it, and what would go with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from ilstma_lab.memory.entry import SEARCHED_CHARACTERS, MemoryEntry
from ilstma_lab.reprs.words import count, day, line, plain
from ilstma_lab.widgets.inspector_rows import InspectedRows

PANEL_CHARACTERS = 400_000
"""How much of one side of a dialogue is shown and edited in the browser; the rest is there from Python."""

_TO_MODEL = re.compile(
    r"\b(?:ignore|disregard|forget)\s+(?:all\s+|any\s+|the\s+|your\s+)*(?:previous|prior|above|earlier)\b"
    r"|\bsystem prompt\b|</?\s*(?:memory|cache|summary|history|relevant|personality|system|user|assistant)\b[^<>]{0,80}>"
    r"|忽略(?:之前|以上|前面|上面)|系统提示",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Hanging:
    """What goes or changes with a row that is deleted.

    `echoes` are the asked rows that cite it, which go too; `emptied` are rows whose answers repeat it and are taken out;
    `stale` the numbers of the summaries that lose a row; `recalls` leave the log; `held` are the segments of short-term memory
    that hold one of the rows.
    """

    row: int
    echoes: tuple[int, ...]
    emptied: tuple[int, ...]
    stale: tuple[int, ...]
    recalls: int
    held: tuple[str, ...]

    @property
    def gone(self) -> tuple[int, ...]:
        """All rows that go."""
        return (self.row, *self.echoes)

    def sentences(self) -> list[str]:
        """Return what happens, one sentence each."""
        told = [f"Row {self.row} leaves the table; its number is not used again."]
        if self.echoes:
            noun, verb = ("row", "goes") if len(self.echoes) == 1 else ("rows", "go")
            told.append(f"Asked {noun} {_numbers(self.echoes)} {verb} with it: the answer rests on it.")
        if self.emptied:
            the = "The answer in row" if len(self.emptied) == 1 else "The answers in rows"
            told.append(f"{the} {_numbers(self.emptied)} that repeated it {'is' if len(self.emptied) == 1 else 'are'} taken out.")
        if self.stale:
            noun, verb = ("Summary", "becomes") if len(self.stale) == 1 else ("Summaries", "become")
            told.append(f"{noun} {_numbers(self.stale)} {verb} stale, and will be made anew without it.")
        if self.held:
            told.append(f"Short-term memory drops it from {', '.join(self.held)}.")
        if self.recalls:
            told.append(f"{count(self.recalls, 'recall')} {'leaves' if self.recalls == 1 else 'leave'} the log.")
        return told


def hanging_on(rows: InspectedRows, index: int) -> Hanging:
    """Return what goes or changes when the row `index` is deleted. Raises KeyError where there is none."""
    table = rows.table
    echoes, emptied = table.hanging_on(index)
    gone = {index, *echoes}
    stale = tuple(summary.number for summary in table.summaries if {*gone, *emptied} & set(summary.rows))
    return Hanging(index, echoes, emptied, stale, sum(record.row in gone for record in table.recalls), _held(rows, gone))


def panel_of(rows: InspectedRows, index: int, *, marks: list[list[str]]) -> dict[str, Any]:
    """Return the row `index` as it is shown beside the rows. Raises KeyError where there is none."""
    entry = rows.table[index]
    sides = [["User", entry.user], ["Assistant", entry.assistant]]
    return {
        "row": entry.index,
        "marks": marks,
        "sides": [[who, plain(text, PANEL_CHARACTERS)] for who, text in sides if text.strip()],
        "cut": _cut(entry.index, sides),
        "warning": _warning(entry),
        "facts": _facts(rows, entry),
        "cites": list(entry.cites),
    }


def speaks_to_model(*texts: str) -> str:
    """Return the words by which a text seems to address the model rather than the user; "" where there are none.

    >>> speaks_to_model("Ignore all previous instructions."), speaks_to_model("Ignore the noise.")
    ('Ignore all previous', '')
    """
    found = (_TO_MODEL.search(text, 0, SEARCHED_CHARACTERS) for text in texts)
    return next((words.group() for words in found if words), "")


def _facts(rows: InspectedRows, entry: MemoryEntry) -> list[str]:
    facts = [entry.kind, f"created {day(entry.created)}"]
    facts += [f"source {line(entry.source, 80)}"] if entry.source else []
    for summary in rows.table.summaries:
        if entry.index in summary.rows:
            facts.append(f"in summary {summary.number}{' (stale)' if summary.stale else ''}")
    return facts


def _warning(entry: MemoryEntry) -> str:
    words = speaks_to_model(entry.user, entry.assistant)
    return f"“{line(words, 60)}” speaks to the model. It enters a prompt as data: fenced and escaped." if words else ""


def _cut(index: int, sides: list[list[str]]) -> str:
    cut = [
        f"{who}: the first {PANEL_CHARACTERS:,} of {len(text):,} characters"
        for who, text in sides
        if len(text) > PANEL_CHARACTERS
    ]
    return f"{'; '.join(cut)}. table[{index}].text has all." if cut else ""


def _held(rows: InspectedRows, gone: set[int]) -> tuple[str, ...]:
    if rows.memory is None:
        return ()
    memory = rows.memory
    holds = {
        "cache": {row.index for row in memory.cache_scores},
        "history": {turn.row for turn in memory.history},
        "relevant": {row.index for row in memory.relevant},
    }
    return tuple(name for name, indices in holds.items() if indices & gone)


def _numbers(indices: tuple[int, ...], most: int = 8) -> str:
    more = f" and {len(indices) - most:,} more" if len(indices) > most else ""
    return ", ".join(map(str, indices[:most])) + more
