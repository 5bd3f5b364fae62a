"""The global memory table: all long-term memory of one topic. One index is the only key everywhere, and is never reused."""

from __future__ import annotations

import atexit
import os
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ilstma_lab.errors import EmbeddingMismatchError, FormatError, IlstmaError, InputError, TableFileError
from ilstma_lab.memory.columns import Columns
from ilstma_lab.memory.contents import Contents
from ilstma_lab.memory.entry import SEARCHED_CHARACTERS, Dialogue, Kind, MemoryEntry, clean_text, to_instant, to_moment
from ilstma_lab.memory.readable import ReadableTable
from ilstma_lab.memory.records import GROUP, Summary
from ilstma_lab.memory.safely import uninterrupted
from ilstma_lab.memory.storage import Stored, TableFile
from ilstma_lab.memory.stored import recalls_of
from ilstma_lab.memory.telling import forget_spoken
from ilstma_lab.memory.values import LIMIT, named
from ilstma_lab.memory.vectors import read_vectors, write_vectors
from ilstma_lab.memory.withdrawal import withdrawn
from ilstma_lab.models.sentences import forget_words

if TYPE_CHECKING:
    from ilstma_lab.protocols import Embedder

Progress = Callable[[int, int], None]

_BATCH = 256
_PATIENCE = 3
_FOLD_BYTES = 1 << 20
_MOST_NOTES = 10
_open_tables: weakref.WeakSet[MemoryTable] = weakref.WeakSet()


class Keeper(Protocol):
    """Keeps texts of a table's rows beside it, as a lab keeps its turns."""

    def forget(self, texts: Sequence[str]) -> None:
        """Let go of what shows something that was edited or deleted since; `texts` are sentences that no row says any more."""


class TableWarning(UserWarning):
    """Something in a table's file had to be mended, dropped or replaced; the message says what."""


class MemoryTable(ReadableTable):
    """Rows of dialogues with creation time, last recall, recall times, text and vector (ILSTMA, section 3.2 and Table 1).

    A table lives in memory until `load` ties it to a file; then every change is on the disk when its method returns.
    Times are kept in microseconds since 1970-01-01 UTC; `vectors` (n, dim) float32 have length 1.
    """

    def __init__(self, *, embedder: Embedder | None = None, topic: str = ""):
        from ilstma_lab.models import default_embedder

        self.embedder = embedder if embedder is not None else default_embedder()
        self.topic = clean_text(topic, name="topic")
        self._columns = Columns(self.embedder.dim)
        self._contents = Contents()
        self._file: TableFile | None = None
        self._seq = 0
        self._fold_at = _FOLD_BYTES
        self._lock = threading.RLock()
        self._keepers: weakref.WeakKeyDictionary[Keeper, None] = weakref.WeakKeyDictionary()
        self.wait_seconds = 2.0

    # -- create ----------------------------------------------------------------------------------------------------

    @classmethod
    def from_dialogues(
        cls,
        dialogues: Iterable[Dialogue],
        *,
        embedder: Embedder | None = None,
        topic: str = "",
        progress: Progress | None = None,
    ) -> MemoryTable:
        """Return a table in memory with one row for each dialogue, sorted by time.

        `progress(done, total)` is called while rows are embedded. Raises InputError for anything but dialogues.
        """
        table = cls(embedder=embedder, topic=topic)
        rows = list(dialogues)
        for row in rows:
            if not isinstance(row, Dialogue):
                raise InputError(
                    f"from_dialogues needs Dialogue objects (got {type(row).__name__}); load_dialogues(path) reads files"
                )
        table._commit([table._added(offset, row) for offset, row in enumerate(sorted(rows, key=lambda d: d.at))])
        table.embed_pending(progress=progress)
        return table

    def add(self, dialogue: Dialogue, *, kind: Kind = "told", cites: Sequence[int] = (), quotes: Sequence[int] = ()) -> int:
        """Add a row and return its index. A row whose embedding fails is kept, marked pending, and tried again.

        `cites`: the rows that an asked row rests on; `quotes`: others whose words the assistant's side repeats.
        """
        with self._lock:
            event = self._added(0, dialogue, kind=kind, cites=cites, quotes=quotes)
            self._commit([event])
            self.embed_pending()
            return event["index"]

    # -- update and delete -----------------------------------------------------------------------------------------

    def edit(self, index: int, *, user: str | None = None, assistant: str | None = None) -> MemoryEntry:
        """Change a row's text and return the row; it is embedded again, and summaries that it stands in become stale.

        Answers in other rows that repeat what it says no more are taken out.
        """
        with self._lock:
            old = self[index]
            new = Dialogue(old.user if user is None else user, old.assistant if assistant is None else assistant, old.created)
            self._commit(withdrawn(self._contents, self._columns, index, (new.user, new.assistant)))
            self.embed_pending()
            return self[index]

    def delete(self, index: int) -> None:
        """Take a row out of everything at once: columns, log, deferred write; its summaries become stale.

        The asked rows that cite it go with it: their answers repeat what it said. Where another row's answer repeats it, that
        answer is taken out. Files, the turns of a lab and their exports hold what was said until the table is compacted.
        """
        with self._lock:
            self.position(index)
            events = withdrawn(self._contents, self._columns, index, None)
            self._commit(events)
            if any(event["op"] == "edit" for event in events):
                self.embed_pending()

    def touch(
        self, rows: Sequence[int], at: datetime, question: str = "", *, notes: Sequence[int] = (), deferred: bool = False
    ) -> None:
        """Record a recall of `rows` and of the summaries `notes`, by number: one recall more, last recalled `at`.

        Deferred: the rows' columns follow at `write_waiting`; summaries are never deferred.
        """
        with self._lock:
            self._commit([self.touched(rows, at, question, notes=notes, deferred=deferred)])

    def touched(
        self, rows: Sequence[int], at: datetime, question: str = "", *, notes: Sequence[int] = (), deferred: bool = False
    ) -> dict[str, Any]:
        """Return the event that `touch` commits, to be committed together with others."""
        for row in rows:
            self.position(row)
        if unknown := [number for number in notes if number not in self._contents.summaries]:
            raise KeyError(f"no summary {unknown[0]} in this table")
        question = clean_text(question, name="question")
        event = {
            "op": "touch",
            "rows": [int(r) for r in rows],
            "at": _iso(to_instant(at)),
            "question": question,
            "deferred": deferred,
        }
        return {**event, "notes": [int(number) for number in notes]} if notes else event

    def write_waiting(self) -> int:
        """Write the deferred touches into the columns and return how many rows changed."""
        with self._lock:
            count = len(self._contents.waiting)
            if count:
                self._commit([{"op": "write_waiting"}])
            return count

    def set_summary(
        self, text: str, rows: Sequence[int], at: datetime, *, replaces: int | None = None, kind: str = GROUP
    ) -> Summary:
        """Store a summary of `rows` and return it; with `replaces`, in place of that number. `kind`: see `Summary`."""
        with self._lock:
            number = replaces if replaces is not None else max(self._contents.summaries, default=-1) + 1
            event = {"op": "summary", "number": number, "text": clean_text(text), "rows": [int(r) for r in rows], "kind": kind}
            self._commit([{**event, "at": _iso(to_instant(at))}])
            return self._contents.summaries[number]

    def set_personality(self, text: str, rows: Sequence[int] = ()) -> None:
        """Store what is known of the user's ways; `rows` are those that it has newly taken in."""
        with self._lock:
            self._commit([{"op": "personality", "text": clean_text(text), "rows": [int(r) for r in rows]}])

    def open_question(self, question: str, at: datetime) -> None:
        """Remember a question before it is answered, so that a crash or a failing model does not lose it."""
        with self._lock:
            self._commit([{"op": "question", "text": clean_text(question), "at": _iso(to_moment(at))}])

    def close_turn(
        self,
        dialogue: Dialogue | None,
        touch: dict[str, Any] | None,
        *,
        kind: Kind = "told",
        cites: Sequence[int] = (),
        quotes: Sequence[int] = (),
        write_waiting: bool = False,
    ) -> int | None:
        """Commit the end of a turn in one journal line: deferred writes, touches, the new row, the question answered.

        Returns the new row's index, None without a dialogue.
        """
        with self._lock:
            events = [{"op": "write_waiting"}] if write_waiting and self._contents.waiting else []
            events += [touch] if touch else []
            if dialogue is not None:
                events.append(self._added(0, dialogue, kind=kind, cites=cites, quotes=quotes))
            self._commit([*events, {"op": "answered"}])
            return events[-1]["index"] if dialogue is not None else None

    def undo_turn(
        self,
        row: int | None,
        touched: Sequence[int],
        at: datetime,
        *,
        summaries: Sequence[Summary],
        personality: str,
        changed: Collection[int] = (),
    ) -> None:
        """Take back what a turn left, in one journal line: its row, whose index is not used again, its touches, its summaries.

        `row`: the turn's own, None where it stored none; `touched`: the rows whose recall at the moment `at` is taken back;
        `summaries` (of every kind, with their recalls) and `personality` as they were before it. A set that it made anew is
        emptied; its rows wait again. `changed`: rows that were edited or deleted since; what was written of them before is not
        brought back.
        """
        with self._lock:
            events = [{"op": "untouch", "rows": [int(r) for r in touched], "at": _iso(to_instant(at))}] if touched else []
            changed = set(changed)
            before = {summary.number: summary for summary in summaries if changed.isdisjoint(summary.rows)}
            for number, made in self._contents.summaries.items():
                old = before.get(number)
                if old != made and (old is None or not old.stale):
                    text, rows, when = (old.text, old.rows, old.at) if old else ("", (), made.at)
                    event = {"op": "summary", "number": number, "text": text, "rows": list(rows), "at": _iso(when)}
                    events.append({**event, "kind": made.kind, **recalls_of(old)})
            if personality != self.personality:
                event = {"op": "personality", "text": "", "anew": True} if changed else {"op": "personality", "text": personality}
                events.append(event)
            if row is not None and row in self:
                events += withdrawn(self._contents, self._columns, row, None)
            self._commit([*events, {"op": "answered"}])

    # -- vectors ---------------------------------------------------------------------------------------------------

    def embed_pending(self, *, progress: Progress | None = None) -> int:
        """Embed the rows that wait for a vector and return how many still wait. A failing embedder is a warning.

        A batch that fails is tried row by row, so that one text which cannot be embedded holds back no other.
        """
        with self._lock:
            waiting = np.flatnonzero(self._columns.pending)
            if not len(waiting):
                return 0
            batches = deque(waiting[start : start + _BATCH] for start in range(0, len(waiting), _BATCH))
            done, in_a_row, failure = 0, 0, ""
            while batches and in_a_row < _PATIENCE:
                batch = batches.popleft()
                try:
                    fresh = self.embed([self.text(at) for at in batch])
                except Exception as error:
                    in_a_row, failure = in_a_row + 1, _describe(error)
                    if len(batch) > 1:
                        batches.extendleft(batch[:, None])  # the newest row first
                    continue
                for at, vector in zip(batch, fresh, strict=True):
                    self._columns.set_vector(at, vector)
                done, in_a_row = done + len(batch), 0
                if progress:
                    progress(done, len(waiting))
            if failure:
                warnings.warn(
                    f"{len(waiting) - done} rows could not be embedded by {self.embedder.name} ({failure}). They are kept, "
                    "found by their words, and tried again at the next question.",
                    TableWarning,
                    stacklevel=2,
                )
            return len(waiting) - done

    def reembed(self, embedder: Embedder, *, progress: Progress | None = None) -> MemoryTable:
        """Embed all rows anew with another embedder and return the table."""
        with self._lock:
            self.embedder = embedder
            self._columns.reset_vectors(embedder.dim)
            self._contents.vectors.forget()
            self._contents.changes.extend(self._columns.index.tolist())
            self.embed_pending(progress=progress)
            if self._file:
                self.fold()
            return self

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return vectors of `texts` as rows are embedded here, shape (len(texts), dim), of length 1 (or 0).

        Raises EmbeddingMismatchError or InputError where the embedder returns another shape or numbers that are not finite.
        """
        from ilstma_lab.models.embedders import checked, unit

        texts = [text[:SEARCHED_CHARACTERS] for text in texts]
        return unit(checked(self.embedder.embed(texts, "row"), texts, self.embedder.dim))

    # -- disk ------------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike | None = None, *, vectors: bool = False) -> None:
        """Write a snapshot to `path`, or fold the journal of the table's own file.

        A table in memory stays in memory: go on with `MemoryTable.load(path)` to have every later change on the disk.

        `vectors`: put the vectors into the snapshot as base64 (the paper's self-contained form) as well as beside it. A table
        that is there is replaced and becomes the backup; raises TableFileError where anything else is there.
        """
        with self._lock:
            if path is None or (self._file and TableFile(path).path == self._file.path):
                self.fold(vectors=vectors)
                return
            file = TableFile(path)
            file.acquire(wait_seconds=self.wait_seconds)
            try:
                file.refuse_to_bury()
                file.write_snapshot(*self._snapshot(vectors=vectors))
                self._write_vectors(file)
            finally:
                file.close()

    @classmethod
    def load(
        cls,
        path: str | os.PathLike,
        *,
        embedder: Embedder | None = None,
        reembed: bool = False,
        progress: Progress | None = None,
    ) -> MemoryTable:
        """Return the table in `path`, tied to it: from now on every change is on the disk when its method returns.

        What a crash left behind is mended with a TableWarning. Raises EmbeddingMismatchError where the file was made with
        another embedder, unless `reembed`; FormatError or TableFileError where it cannot be read.
        """
        file = TableFile(path)
        stored = file.read()
        head, notes = stored.head, list(stored.notes)
        try:
            table = cls(embedder=embedder, topic=head.get("topic", ""))
            maker, dim = head.get("embedder"), head.get("dim")
            other = (maker, dim) != (table.embedder.name, table.embedder.dim)
            if other and not reembed:
                raise EmbeddingMismatchError(
                    f"{file.path.name} was made with {named(maker)} ({named(dim)} dimensions), and the embedder here is "
                    f"{table.embedder.name} ({table.embedder.dim} dimensions). Give the same one, or embed the rows anew with "
                    f"MemoryTable.load({file.path.name!r}, embedder=..., reembed=True)."
                )
            file.needs_mending |= table._take_over(stored, notes, vectors=not other)
        except (FormatError, InputError) as error:
            raise FormatError(
                f"{file.path.name} is damaged: {error}. Nothing was changed. Put a copy of it back, or let "
                f"`ilstma-lab doctor {file.path.name} --repair` mend what can be mended."
            ) from None
        table._read_vectors(file)
        table._file = file
        table._fold_at = max(_FOLD_BYTES, file.snapshot_bytes)
        table.embed_pending(progress=progress)
        if other:
            table.fold()
        for note in _first(notes):
            warnings.warn(f"{file.path.name}: {note}", TableWarning, stacklevel=2)
        _open_tables.add(table)
        return table

    def _take_over(self, stored: Stored, notes: list[str], *, vectors: bool) -> bool:
        """Fill this empty table with what was read, and return whether something in the journal was amiss, which is noted."""
        self._contents.restore(stored.head, stored.sections, self._columns, notes, vectors=vectors)
        self._seq = stored.head["seq"]
        return self._replay(stored.journal, notes)

    def fold(self, *, vectors: bool = False, keep_copies: bool = True) -> None:
        """Write the table's file anew and start an empty journal."""
        if self._file is None:
            raise InputError("this table has no file yet: give a path, as in table.save('emily.json')")
        with self._lock, uninterrupted():
            self._file.acquire(wait_seconds=self.wait_seconds)
            self._file.write_snapshot(*self._snapshot(vectors=vectors), keep_copies=keep_copies)
            self._write_vectors(self._file)
            self._fold_at = max(_FOLD_BYTES, self._file.snapshot_bytes)

    def compact(self) -> None:
        """Let go of all that was deleted or edited away: afterwards neither the table, its files nor its keepers hold any of it.

        The file is written anew, backups and damaged copies are removed, texts of stale summaries emptied. Each lab over the
        table drops the turns that showed some of it, and its cassette their replies; a session begins anew. What is out of reach
        stays as it is: a Turn, an export, a fork or a copy of a file that you hold, and replies that another process recorded,
        unless they repeat the text. Compact in the process that deleted: a file that was closed since holds no trace of what to
        look for in a cassette. Raises InputError where a cassette cannot be written; compact again then.
        """
        with self._lock:
            if self._contents.stale:
                self._commit([{"op": "forget"}])
            if self._file:
                self.fold(keep_copies=False)
                self._file.forget_chunks()
            count, texts = len(self._contents.old_texts), self._contents.unsaid()
        for keeper in list(self._keepers):  # without the table's lock: a lab that asks has its own, and waits for this one
            keeper.forget(texts)
        forget_words()
        forget_spoken()
        with self._lock:
            del self._contents.old_texts[:count]

    def kept_by(self, keeper: Keeper) -> None:
        """Let `compact` tell `keeper` what to forget, for as long as it lives; those that come last are told last."""
        self._keepers.pop(keeper, None)
        self._keepers[keeper] = None

    def check(self) -> tuple[str, ...]:
        """Return what is wrong with the table or its file, a sentence each; () when all is well. Nothing is changed."""
        from ilstma_lab.memory.check import check

        return check(self)

    def _write_vectors(self, file: TableFile) -> None:
        ready = np.flatnonzero(~self._columns.pending)
        if len(ready) == len(self):
            write_vectors(file.vectors, self.embedder, _Texts(self, ready), self._columns.vectors)
        else:
            write_vectors(file.vectors, self.embedder, _Texts(self, ready), self._columns.vectors[ready])

    def _read_vectors(self, file: TableFile) -> None:
        pending = np.flatnonzero(self._columns.pending)
        for at, vector in read_vectors(file.vectors, self.embedder, _Texts(self, pending)):
            self._columns.set_vector(pending[at], vector)

    def close(self) -> None:
        """Write the deferred touches, fold the journal into the snapshot, and let other writers in.

        A table that was only read writes nothing. One that is closed can be used on: the next change takes its file again.
        """
        with self._lock:
            if self._file is None or not self._file.held:
                return
            try:
                self.write_waiting()
                if self._file.journal_bytes or self._file.needs_mending:
                    self.fold()
            finally:
                self._file.close()

    def __enter__(self) -> MemoryTable:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # -- events: the only way in which anything changes --------------------------------------------------------------

    def _added(
        self, offset: int, dialogue: Dialogue, *, kind: Kind = "told", cites: Sequence[int] = (), quotes: Sequence[int] = ()
    ) -> dict[str, Any]:
        if self.next_index + offset >= LIMIT:
            raise InputError("this table is full: its next index would be 2**53; make a new one")
        if kind not in ("told", "asked"):
            raise InputError(f"kind must be 'told' or 'asked' (got {kind!r})")
        for row in (*cites, *quotes):
            self.position(row)
        if len(dialogue.text) > SEARCHED_CHARACTERS:
            warnings.warn(
                f"a dialogue of {len(dialogue.text):,} characters is stored whole, but found by its first "
                f"{SEARCHED_CHARACTERS:,} alone",
                TableWarning,
                stacklevel=4,
            )
        return {
            "op": "add",
            "index": self.next_index + offset,
            "created": _iso(dialogue.at),
            "user": dialogue.user,
            "assistant": dialogue.assistant,
            "source": dialogue.source,
            "kind": kind,
            "cites": [int(c) for c in cites],
            **({"quotes": [int(q) for q in quotes]} if quotes else {}),
        }

    def _commit(self, events: list[dict[str, Any]]) -> None:
        if not events:
            return
        with self._lock, uninterrupted():
            if self._file:
                self._file.acquire(wait_seconds=self.wait_seconds)
                if self._file.needs_mending:
                    self.fold()
                self._file.append(self._seq + 1, events)
            self._seq += 1
            for event in events:
                self._contents.apply(event, self._columns)
            if self._file and self._file.journal_bytes > self._fold_at:
                self._fold_long_journal()

    def _fold_long_journal(self) -> None:
        """Fold, or try again when the journal has doubled: what was committed is safe in it."""
        try:
            self.fold()
        except TableFileError as error:
            self._fold_at = 2 * self._file.journal_bytes
            warnings.warn(f"the journal could not be folded, and grows on: {error}", TableWarning, stacklevel=4)

    def _replay(self, records: Iterable[dict[str, Any]], notes: list[str]) -> bool:
        """Apply what the journal holds and return whether anything was amiss, which is noted."""
        before = len(notes)
        for record in records:
            if record["seq"] <= self._seq:
                continue
            if record["seq"] != self._seq + 1:
                notes.append(f"the journal lacks what stood between numbers {self._seq} and {record['seq']}")
            self._seq = record["seq"]
            for event in record["events"]:
                try:
                    self._contents.apply(event, self._columns)
                except (IlstmaError, KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                    notes.append(f"an event of the journal (number {self._seq}) could not be applied: {_describe(error)}")
        return len(notes) > before

    def _snapshot(self, *, vectors: bool) -> tuple[dict[str, Any], dict[str, Iterator[dict[str, Any]]]]:
        made_with = {"topic": self.topic, "embedder": self.embedder.name, "dim": self.embedder.dim}
        head = {**made_with, "seq": self._seq, **self._contents.head()}
        return head, self._contents.sections(self._columns, vectors=vectors)

    # -- copies ------------------------------------------------------------------------------------------------------

    def fork(self) -> MemoryTable:
        """Return a table in memory with the same rows: columns are copied, texts are shared. It is tied to no file."""
        with self._lock:
            other = MemoryTable(embedder=self.embedder, topic=self.topic)
            other._columns = self._columns.copy()
            other._contents = self._contents.copy()
            other._seq = self._seq
            return other

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs for a sweep: a table in memory, since a file has one writer."""
        if self._file is not None:
            raise InputError("a table that is tied to a file stays in its process: hand over table.fork()")
        return {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_keepers")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.RLock(), _keepers=weakref.WeakKeyDictionary())


class _Texts(Sequence):
    """The texts of some rows, joined only when one is looked at: a million of them are never all in memory twice."""

    def __init__(self, table: MemoryTable, positions: np.ndarray):
        self.table, self.positions = table, positions

    def __len__(self) -> int:
        return len(self.positions)

    def __getitem__(self, which):
        if isinstance(which, slice):
            return _Texts(self.table, self.positions[which])
        return self.table.text(self.positions[which])


def _first(notes: list[str]) -> list[str]:
    more = len(notes) - _MOST_NOTES
    return notes[:_MOST_NOTES] + ([f"and {more} notes more"] if more > 0 else [])


def _iso(instant: datetime) -> str:
    return instant.isoformat()


def _describe(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


@atexit.register
def _close_all() -> None:
    for table in list(_open_tables):
        try:
            table.close()
        except Exception as error:
            note = f"{table!r} could not be folded at exit ({_describe(error)}); its journal holds all."
            warnings.warn(note, TableWarning, stacklevel=1)
