"""What a table holds beside its number columns, and how each event changes both. Replaying the events gives the same table."""

from __future__ import annotations

import base64
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.memory.columns import ASKED, TOLD, Columns
from ilstma_lab.memory.entry import (
    MemoryEntry,
    clean_text,
    from_microseconds,
    is_blank,
    offset_minutes,
    to_instant,
    to_microseconds,
    to_moment,
)
from ilstma_lab.memory.records import GROUP, RecallRecord, Summary
from ilstma_lab.memory.stored import stored_recall, stored_summary, stored_wait, summary_form
from ilstma_lab.memory.summary_vectors import SummaryVectors
from ilstma_lab.memory.values import LIMIT, MOST_RECALLS, indices, shown, whole
from ilstma_lab.memory.withdrawal import PERSONALITY, WRITTEN, Source, summary_name
from ilstma_lab.models.sentences import sentences


class Contents:
    """Texts and sources by position, citations, quotations, summaries, personality, the log of recalls, the deferred write.

    `summaries` holds those of every kind. `loose` are the told rows that stand in no group's summary yet, oldest first; `stale`
    the numbers of summaries to be made anew. `unprofiled` are the summarised rows that the personality has not taken in: all of
    them, once one that it had taken in is edited or deleted, for then it begins anew.

    `cites` are the rows that an asked row rests on; `quotes` further rows whose words the assistant's side of a row repeats.
    `withdrawn` names, in order, each row that was edited or deleted since the table was opened, and what was written of it;
    `old_texts` is what no longer holds, until the table is compacted. A snapshot holds neither.
    """

    def __init__(self) -> None:
        self.users: list[str] = []
        self.assistants: list[str] = []
        self.sources: list[str] = []
        self.cites: dict[int, tuple[int, ...]] = {}
        self.quotes: dict[int, tuple[int, ...]] = {}
        self.summaries: dict[int, Summary] = {}
        self.personality = ""
        self.recalls: list[RecallRecord] = []
        self.waiting: dict[int, tuple[int, int]] = {}
        self.unanswered = None
        self.next_index = 0
        self.changes: list[int] = []
        self.withdrawn: list[Source] = []
        self.old_texts: list[str] = []
        self.loose: dict[int, None] = {}
        self.stale: set[int] = set()
        self.profiled: set[int] = set()
        self.unprofiled: dict[int, None] = {}
        self.vectors = SummaryVectors()
        self._by_kind: dict[str, tuple[Summary, ...]] = {}

    def text(self, at: int) -> str:
        """Return the text of the row at position `at`."""
        return f"{self.users[at]}\n{self.assistants[at]}"

    def entry(self, at: int, columns: Columns) -> MemoryEntry:
        """Return the row at position `at` as it stands now."""
        index = int(columns.index[at])
        vector = None
        if not columns.pending[at]:
            vector = columns.vectors[at].copy()  # a view would show another row's vector after a delete
            vector.flags.writeable = False
        return MemoryEntry(
            index=index,
            created=from_microseconds(columns.created[at], offset=columns.offset[at]),
            last_recall=from_microseconds(columns.last_recall[at]),
            recall_times=int(columns.recall_times[at]),
            user=self.users[at],
            assistant=self.assistants[at],
            source=self.sources[at],
            kind="asked" if columns.kind[at] == ASKED else "told",
            cites=self.cites.get(index, ()),
            vector=vector,
        )

    # -- events ----------------------------------------------------------------------------------------------------

    def apply(self, event: dict[str, Any], columns: Columns) -> None:
        """Let one event change columns and contents."""
        handler = getattr(self, f"_on_{event['op']}", None)
        if handler is None:
            raise FormatError(f"unknown event {event['op']!r}: it comes from a newer ilstma-lab; update this one")
        handler(event, columns)

    def _on_add(self, event: dict[str, Any], columns: Columns) -> None:
        index = event["index"]
        if type(index) is not int or not 0 <= index < LIMIT:
            raise InputError(f"an index is a whole number from 0 up (got {shown(index)})")
        kind = ASKED if event.get("kind") == "asked" else TOLD
        created = to_moment(event["created"])
        texts = [clean_text(event[part]) for part in ("user", "assistant")] + [clean_text(event.get("source", ""))]
        cites, quotes = _indices(event.get("cites", ())), _indices(event.get("quotes", ()))
        columns.append(index, to_microseconds(created), offset=offset_minutes(created), kind=kind)
        for column, text in zip((self.users, self.assistants, self.sources), texts, strict=True):
            column.append(text)
        if cites:
            self.cites[index] = cites
        if quotes:
            self.quotes[index] = quotes
        self.next_index = max(self.next_index, index + 1)
        if kind == TOLD:
            self.loose[index] = None
        self.changes.append(index)

    def _on_edit(self, event: dict[str, Any], columns: Columns) -> None:
        index, at = event["index"], self._position(event, columns)
        self._forget_question(self.users[at])
        old, new = (self.users[at], self.assistants[at]), (clean_text(event["user"]), clean_text(event["assistant"]))
        if old != new:
            self._withdraw(index, self.text(at))
        self.users[at], self.assistants[at] = new
        columns.set_vector(at, None)
        self._spoil_summaries(index)
        self._spoil_personality(index)
        self.changes.append(index)

    def _on_delete(self, event: dict[str, Any], columns: Columns) -> None:
        index, at = event["index"], self._position(event, columns)
        self._forget_question(self.users[at])
        self._withdraw(index, self.text(at))
        columns.delete(at)
        for texts in (self.users, self.assistants, self.sources):
            del texts[at]
        self.waiting.pop(index, None)
        self.loose.pop(index, None)
        asked = {record.question for record in self.recalls if record.row == index}
        self.recalls = [record for record in self.recalls if record.row != index]
        for question in asked.difference(self.users):  # it was not stored, and only led to the row
            self._forget_question(question)
        self.cites, self.quotes = _without(index, self.cites), _without(index, self.quotes)
        self._spoil_summaries(index, gone=True)
        self._spoil_personality(index, gone=True)
        self.changes.append(index)

    def _on_touch(self, event: dict[str, Any], columns: Columns) -> None:
        at = to_instant(event["at"])
        for number in indices(event.get("notes", ()), name="a summary's number"):
            self._recall_note(number, at)
        for row in indices(event["rows"]):
            if columns.position(row) is None:  # deleted since the turn began
                continue
            self.recalls.append(RecallRecord(row, at, clean_text(event.get("question", "")), hit=bool(event["deferred"])))
            count, last = self.waiting.pop(row, (0, to_microseconds(at)))
            change = (min(count + 1, MOST_RECALLS), max(last, to_microseconds(at)))
            if event["deferred"]:
                self.waiting[row] = change
            else:
                self._write(row, change, columns)

    def _recall_note(self, number: int, at: datetime) -> None:
        note = self.summaries.get(number)
        if note is not None:
            times, last = min(note.recall_times + 1, MOST_RECALLS), max(at, note.last_recall or at)
            self.summaries[number] = replace(note, recall_times=times, last_recall=last)
            self._by_kind = {}

    def _on_untouch(self, event: dict[str, Any], columns: Columns) -> None:
        """Take back the recalls that one turn made: the log knows when each row was recalled before."""
        instant = to_instant(event["at"])
        for row in indices(event["rows"]):
            log = [at for at, record in enumerate(self.recalls) if record.row == row]
            made = next((at for at in reversed(log) if self.recalls[at].at == instant), None)
            position = columns.position(row)
            if made is None or position is None:
                continue
            del self.recalls[made]
            before = (to_microseconds(record.at) for record in self.recalls if record.row == row)
            last = max([int(columns.created[position]), *before])
            count, _ = self.waiting.pop(row, (0, 0))
            if count > 1:
                self.waiting[row] = (count - 1, last)
            elif not count:
                columns.recall_times[position] = max(1, columns.recall_times[position] - 1)
                columns.last_recall[position] = last

    def _on_write_waiting(self, event: dict[str, Any], columns: Columns) -> None:
        for row, change in self.waiting.items():
            self._write(row, change, columns)
        self.waiting = {}

    def _write(self, row: int, change: tuple[int, int], columns: Columns) -> None:
        at = columns.position(row)
        if at is not None:
            columns.recall_times[at] = min(int(columns.recall_times[at]) + change[0], MOST_RECALLS)
            columns.last_recall[at] = max(columns.last_recall[at], change[1])

    def _on_summary(self, event: dict[str, Any], columns: Columns) -> None:
        summary = stored_summary(event)
        old = self.summaries.get(summary.number)
        if old and "recall_times" not in event:  # written anew, it has been recalled as often as before
            summary = replace(summary, recall_times=old.recall_times, last_recall=old.last_recall)
        self._keep_summary(summary)
        if old and old.kind == GROUP:
            self._loosen(set(old.rows) - set(summary.rows), columns)

    def _on_personality(self, event: dict[str, Any], columns: Columns) -> None:
        """A text, and the rows that it has newly taken in; "anew" lets it take in all rows again."""
        self.personality = clean_text(event["text"])
        if event.get("anew"):
            self._begin_personality(self.profiled)
        for row in indices(event.get("rows", ())):
            self.profiled.add(row)
            self.unprofiled.pop(row, None)

    def _on_question(self, event: dict[str, Any], columns: Columns) -> None:
        self.unanswered = (clean_text(event["text"]), to_moment(event["at"]))

    def _on_answered(self, event: dict[str, Any], columns: Columns) -> None:
        self.unanswered = None

    def _position(self, event: dict[str, Any], columns: Columns) -> int:
        index = whole(event["index"], name="an index")
        at = columns.position(index)
        if at is None:
            raise InputError(f"there is no row {index}")
        return at

    def _keep_summary(self, summary: Summary) -> None:
        self._set_summary(summary)
        for row in summary.rows if summary.kind == GROUP else ():
            self.loose.pop(row, None)
            if row not in self.profiled:
                self.unprofiled[row] = None

    def _loosen(self, rows: set[int], columns: Columns) -> None:
        """Let told rows that a replaced summary held, and none holds now, wait for a summary again."""
        if not rows:
            return
        held = {row for summary in self.summaries.values() if summary.kind == GROUP for row in summary.rows}
        loose = {r: None for r in rows - held if (at := columns.position(r)) is not None and columns.kind[at] == TOLD}
        for row in rows - held:
            self.profiled.discard(row)
            self.unprofiled.pop(row, None)
        if loose:
            self.loose = dict.fromkeys(sorted(self.loose | loose))

    def _spoil_personality(self, index: int, *, gone: bool = False) -> None:
        if gone:
            self.unprofiled.pop(index, None)
        if index in self.profiled:
            self.profiled.discard(index)
            self._withdraw(PERSONALITY, self.personality)
            self._begin_personality(self.profiled if gone else self.profiled | {index})

    def _begin_personality(self, rows: set[int]) -> None:
        self.unprofiled = dict.fromkeys(sorted(rows | self.unprofiled.keys()))
        self.profiled, self.personality = set(), ""

    def _spoil_summaries(self, index: int, *, gone: bool = False) -> None:
        for summary in list(self.summaries.values()):
            if index in summary.rows:
                self._withdraw(summary_name(summary.number), summary.text)
                self._set_summary(replace(summary, stale=True, text="" if gone else summary.text))

    def _withdraw(self, name: Source, text: str) -> None:
        self.withdrawn += [name] if isinstance(name, int) else [name, WRITTEN]
        if text:
            self.old_texts.append(text)

    def _on_forget(self, event: dict[str, Any], columns: Columns) -> None:
        """Empty the texts that are to be made anew."""
        for number in self.stale:
            self._set_summary(replace(self.summaries[number], text=""))

    def _set_summary(self, summary: Summary) -> None:
        self.summaries[summary.number] = summary
        self._by_kind = {}
        self.vectors.wait_for(summary.number)
        (self.stale.add if summary.stale else self.stale.discard)(summary.number)

    def _forget_question(self, text: str) -> None:
        """Keep that rows were recalled, but not by what, where the question's own row is deleted or rewritten."""
        self.recalls = [replace(record, question="") if record.question == text else record for record in self.recalls]

    def unsaid(self) -> tuple[str, ...]:
        """Return the sentences of `old_texts` that no row says any more."""
        once = {sentence for text in self.old_texts for sentence in sentences(text)}
        for said in (self.users, self.assistants) if once else ():
            for text in said:
                once.difference_update(sentences(text))
        return tuple(once)

    def of_kind(self, kind: str) -> tuple[Summary, ...]:
        """Return the summaries of one kind, oldest first."""
        if kind not in self._by_kind:
            self._by_kind[kind] = tuple(summary for summary in self.summaries.values() if summary.kind == kind)
        return self._by_kind[kind]

    # -- snapshot --------------------------------------------------------------------------------------------------

    def head(self) -> dict[str, Any]:
        """Return the single values of a snapshot."""
        asked = self.unanswered
        return {
            "next_index": self.next_index,
            "personality": self.personality,
            "unprofiled": list(self.unprofiled),
            "waiting": [[row, count, from_microseconds(last).isoformat()] for row, (count, last) in self.waiting.items()],
            "unanswered": None if asked is None else {"text": asked[0], "at": asked[1].isoformat()},
        }

    def sections(self, columns: Columns, *, vectors: bool) -> dict[str, Iterator[dict[str, Any]]]:
        """Return the lists of a snapshot, row by row."""
        return {
            "summaries": map(summary_form, self.summaries.values()),
            "entries": (self._stored(at, columns, vectors=vectors) for at in range(columns.size)),
            "recalls": ({"row": r.row, "at": r.at.isoformat(), "question": r.question, "hit": r.hit} for r in self.recalls),
        }

    def _stored(self, at: int, columns: Columns, *, vectors: bool) -> dict[str, Any]:
        index = int(columns.index[at])
        row = {
            "index": index,
            "created": from_microseconds(columns.created[at], offset=columns.offset[at]).isoformat(),
            "last_recall": from_microseconds(columns.last_recall[at]).isoformat(),
            "recall_times": int(columns.recall_times[at]),
            "kind": "asked" if columns.kind[at] == ASKED else "told",
            "user": self.users[at],
            "assistant": self.assistants[at],
            "source": self.sources[at],
        }
        if index in self.cites:
            row["cites"] = list(self.cites[index])
        if index in self.quotes:
            row["quotes"] = list(self.quotes[index])
        if vectors and not columns.pending[at]:
            row["vector"] = base64.b64encode(columns.vectors[at].astype("<f4").tobytes()).decode("ascii")
        return row

    def restore(
        self,
        head: dict[str, Any],
        sections: dict[str, Collection[dict[str, Any]]],
        columns: Columns,
        notes: list[str],
        *,
        vectors: bool = True,
    ) -> None:
        """Take over what a snapshot holds; what cannot be used in a row is replaced and noted. Raises FormatError."""
        entries = sections["entries"]
        columns.reserve(len(entries))
        for row in entries:
            self._restore_row(row, columns, notes, vectors=vectors)
        try:
            self._restore_rest(head, sections)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise FormatError(f"the head, summaries or recalls cannot be read: {type(error).__name__}: {error}") from None

    def _restore_rest(self, head: dict[str, Any], sections: dict[str, Collection[dict[str, Any]]]) -> None:
        for row in sections["summaries"]:
            summary = stored_summary(row)
            if summary.number in self.summaries:
                raise FormatError(f"summary {summary.number} stands twice")
            self._keep_summary(summary)
        self.recalls = [stored_recall(row) for row in sections["recalls"]]
        self.personality = clean_text(head.get("personality") or "")
        self.profiled, self.unprofiled = set(self.unprofiled), {}
        for row in indices(head.get("unprofiled", ())):
            self.profiled.discard(row)
            self.unprofiled[row] = None
        self.waiting = dict(stored_wait(item) for item in head.get("waiting", []))
        if asked := head.get("unanswered"):
            self.unanswered = (clean_text(asked["text"]), to_moment(asked["at"]))
        self.next_index = max(self.next_index, whole(head.get("next_index", 0), name="next_index", most=LIMIT))

    def _restore_row(self, row: dict[str, Any], columns: Columns, notes: list[str], *, vectors: bool) -> None:
        try:
            self._on_add(row, columns)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            where = f"row {shown(row.get('index'))}" if isinstance(row, dict) else f"the row {shown(row)}"
            raise FormatError(f"{where} cannot be read: {type(error).__name__}: {error}") from None
        at = columns.size - 1
        try:
            columns.last_recall[at] = to_microseconds(to_instant(row["last_recall"] or "missing"))
        except (KeyError, InputError):
            notes.append(
                f"row {row['index']}: its last recall {shown(row.get('last_recall'))} is no time; its creation is used instead"
            )
        if columns.last_recall[at] < columns.created[at]:
            columns.last_recall[at] = columns.created[at]
            notes.append(f"row {row['index']}: its last recall lies before its creation, which is used instead")
        times = row.get("recall_times", 1)
        if type(times) is int and 1 <= times <= MOST_RECALLS:
            columns.recall_times[at] = times
        else:
            notes.append(f"row {row['index']}: recall_times must be a whole number >= 1 (got {shown(times)}); 1 is used instead")
        if vectors and "vector" in row:
            self._restore_vector(row, columns, notes)

    def _restore_vector(self, row: dict[str, Any], columns: Columns, notes: list[str]) -> None:
        try:
            vector = np.frombuffer(base64.b64decode(row["vector"], validate=True), "<f4")
        except (ValueError, TypeError):
            vector = np.empty(0, "<f4")
        length = np.linalg.norm(vector.astype(float)) if np.isfinite(vector).all() else 0.0
        if vector.shape == (columns.dim,) and (length or is_blank(self.text(columns.size - 1))):
            columns.set_vector(columns.size - 1, vector / (length or 1.0))
        else:
            notes.append(f"row {row['index']}: its vector is damaged or of another length; the row is embedded again")

    def copy(self) -> Contents:
        """Return contents of their own; the texts themselves are shared."""
        other = Contents()
        for name, value in vars(self).items():
            setattr(other, name, value.copy() if isinstance(value, list | dict | set | SummaryVectors) else value)
        other.old_texts = []
        return other


def _indices(rows: Collection[Any]) -> tuple[int, ...]:
    return tuple(row for row in rows if type(row) is int)


def _without(index: int, rests_on: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    left = {row: tuple(other for other in others if other != index) for row, others in rests_on.items() if row != index}
    return {row: others for row, others in left.items() if others}
