"""What one can look at in a memory table: rows, columns, log, summaries. Nothing here changes anything."""

from __future__ import annotations

import os
import threading
from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.forgetting.retention import MICROSECONDS_PER_DAY, whole_days
from ilstma_lab.memory.columns import ASKED, Columns
from ilstma_lab.memory.contents import Contents
from ilstma_lab.memory.entry import Kind, MemoryEntry, from_microseconds, to_instant, to_microseconds
from ilstma_lab.memory.records import GROUP, RecallRecord, Summary
from ilstma_lab.memory.storage import TableFile
from ilstma_lab.memory.withdrawal import PERSONALITY, Source, summary_number, withdrawn

if TYPE_CHECKING:
    import pandas as pd

    from ilstma_lab.protocols import Embedder

MICROSECONDS_PER_MINUTE = 60_000_000


class ReadableTable:
    """The reading face of `MemoryTable`."""

    embedder: Embedder
    topic: str
    _columns: Columns
    _contents: Contents
    _file: TableFile | None
    _lock: threading.RLock

    def __len__(self) -> int:
        return self._columns.size

    def __contains__(self, index: object) -> bool:
        return isinstance(index, int | np.integer) and self._columns.position(int(index)) is not None

    def __iter__(self) -> Iterator[MemoryEntry]:
        return (self._contents.entry(at, self._columns) for at in range(len(self)))

    def __getitem__(self, index: int) -> MemoryEntry:
        with self._lock:
            return self._contents.entry(self.position(index), self._columns)

    def position(self, index: int) -> int:
        """Return where the row with `index` stands in creation order. Raises KeyError where there is none."""
        at = self._columns.position(int(index))
        if at is None:
            raise KeyError(f"no row {index} in this table: it holds {len(self)} rows, and the next index is {self.next_index}")
        return at

    def text(self, at: int) -> str:
        """Return the text of the row at position `at`: what is embedded and searched."""
        return self._contents.text(at)

    def sides(self, index: int) -> tuple[str, str]:
        """Return what the user and the assistant said in the row with `index`. Raises KeyError where there is none."""
        at = self.position(index)
        return self._contents.users[at], self._contents.assistants[at]

    def day_of(self, index: int) -> date:
        """Return the speaker's day on which the row with `index` was created."""
        at = self.position(index)
        return from_microseconds(self._columns.created[at], offset=self._columns.offset[at]).date()

    def preview(self, at: int, characters: int) -> str:
        """Return the start of the user's text of the row at position `at`."""
        return self._contents.users[at][:characters]

    def kind_of(self, at: int) -> Kind:
        """Return the kind of the row at position `at`."""
        return "asked" if self._columns.kind[at] == ASKED else "told"

    def cites(self, index: int) -> tuple[int, ...]:
        """Return the rows that an asked row rests on; () for others."""
        return self._contents.cites.get(index, ())

    def quotes(self, index: int) -> tuple[int, ...]:
        """Return the rows that it does not cite, but whose words its assistant's side repeats."""
        return self._contents.quotes.get(index, ())

    def hanging_on(self, index: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the other rows that go when this one is deleted, and those whose answers are taken out: both repeat it."""
        self.position(index)
        _, *others = withdrawn(self._contents, self._columns, index, None)
        gone = {event["index"]: event["op"] == "delete" for event in others}
        return tuple(row for row in sorted(gone) if gone[row]), tuple(row for row in sorted(gone) if not gone[row])

    @property
    def indices(self) -> np.ndarray:
        """The rows' indices, shape (n,), rising."""
        return _read_only(self._columns.index)

    @property
    def created(self) -> np.ndarray:
        """Creation times, shape (n,), microseconds."""
        return _read_only(self._columns.created)

    @property
    def days(self) -> np.ndarray:
        """The speaker's days on which rows were created, shape (n,), counted from 1970-01-01."""
        local = self._columns.created + self._columns.offset.astype(np.int64) * MICROSECONDS_PER_MINUTE
        return local // MICROSECONDS_PER_DAY

    @property
    def pending_count(self) -> int:
        """How many rows still wait for their vector."""
        return int(self._columns.pending.sum())

    @property
    def last_recall(self) -> np.ndarray:
        """Times of the last recall, shape (n,), microseconds; creation counts as a recall."""
        return _read_only(self._columns.last_recall)

    @property
    def recall_times(self) -> np.ndarray:
        """Numbers of recalls, shape (n,); at least 1."""
        return _read_only(self._columns.recall_times)

    @property
    def pending(self) -> np.ndarray:
        """Which rows still wait for their vector, shape (n,)."""
        return _read_only(self._columns.pending)

    @property
    def vectors(self) -> np.ndarray:
        """The rows' vectors, shape (n, dim), float32, of length 1; zeros where pending. No copy."""
        return _read_only(self._columns.vectors)

    @property
    def summaries(self) -> tuple[Summary, ...]:
        """The sets of high-dimensional information, oldest first."""
        return self._contents.of_kind(GROUP)

    def notes(self, kind: str) -> tuple[Summary, ...]:
        """Return what a system wrote under `kind` of rows, oldest first; see `Summary`."""
        return self._contents.of_kind(kind)

    @property
    def written(self) -> tuple[Summary, ...]:
        """The summaries of every kind, oldest first."""
        return tuple(self._contents.summaries.values())

    def summary(self, number: int) -> Summary | None:
        """Return the set with `number`, or None."""
        return self._contents.summaries.get(number)

    @property
    def stale(self) -> frozenset[int]:
        """Numbers of the sets that are to be made anew: a row of theirs was edited or deleted."""
        return frozenset(number for number in self._contents.stale if self._contents.summaries[number].kind == GROUP)

    def unsummarised(self, count: int) -> tuple[int, ...]:
        """Return the `count` oldest told rows that stand in no summary; () where there are fewer."""
        rows = tuple(islice(self._contents.loose, count))
        return rows if len(rows) == count else ()

    @property
    def unsummarised_count(self) -> int:
        """How many told rows stand in no summary."""
        return len(self._contents.loose)

    @property
    def personality(self) -> str:
        """What is known of the user's ways; it begins anew, empty, when a row that it had taken in is edited or deleted."""
        return self._contents.personality

    def unprofiled(self, count: int) -> tuple[int, ...]:
        """Return up to `count` of the oldest summarised rows that the personality has not taken in."""
        return tuple(islice(self._contents.unprofiled, count))

    @property
    def unprofiled_count(self) -> int:
        """How many summarised rows the personality has not taken in: none, unless one that it had was edited or deleted."""
        return len(self._contents.unprofiled)

    @property
    def recalls(self) -> tuple[RecallRecord, ...]:
        """The log of recalls, oldest first."""
        return tuple(self._contents.recalls)

    @property
    def waiting(self) -> dict[int, tuple[int, datetime]]:
        """Rows in the deferred write: index -> (recalls to add, last recall)."""
        return {row: (count, from_microseconds(last)) for row, (count, last) in self._contents.waiting.items()}

    @property
    def unanswered(self) -> tuple[str, datetime] | None:
        """The question that was asked and not yet answered, with its time; None where there is none."""
        return self._contents.unanswered

    @property
    def next_index(self) -> int:
        """The index that the next row will get."""
        return self._contents.next_index

    @property
    def last_created(self) -> datetime:
        """When the newest row was created."""
        at = int(self._columns.created.argmax())
        return from_microseconds(self._columns.created[at], offset=self._columns.offset[at])

    @property
    def path(self) -> os.PathLike | None:
        """The file that the table is tied to, or None."""
        return self._file.path if self._file else None

    @property
    def changes(self) -> Sequence[int]:
        """Indices of rows that were added, edited or deleted, in order: what a search structure must look at again."""
        return self._contents.changes

    @property
    def withdrawn(self) -> Sequence[Source]:
        """What no longer holds, in order: each row that was edited or deleted, and the names of what was written of it."""
        return self._contents.withdrawn

    def writing(self, name: str) -> tuple[str, Collection[int]]:
        """Return a text that was written of rows, by its name in `withdrawn`, and these rows; "" and () for another name."""
        if name == PERSONALITY:
            return self._contents.personality, self._contents.profiled
        found = self._contents.summaries.get(summary_number(name))
        return (found.text, found.rows) if found else ("", ())

    def summary_vectors(self) -> np.ndarray:
        """Return the summaries' vectors, shape (number of summaries, dim), of length 1."""
        return self.note_vectors(GROUP)

    def note_vectors(self, kind: str) -> np.ndarray:
        """Return the vectors of `notes(kind)`, shape (number of them, dim), of length 1 (or 0 for a blank text)."""
        with self._lock:
            held = self._contents
            wanted = [note.number for note in held.of_kind(kind)]
            return held.vectors.of(wanted, held.summaries, embed=self.embed, dim=self.embedder.dim)

    def to_frame(self, now: datetime | None = None) -> pd.DataFrame:
        """Return the table as pandas: Table 1 of the ILSTMA paper, with its five columns first.

        `time_interval` is in whole days at `now` (default: the last moment that the table knows), clamped at 0; `clamped`
        tells where a row's last recall lies after `now`.
        """
        import pandas as pd

        columns = self._columns
        known = max(int(columns.last_recall.max()), int(columns.created.max())) if len(self) else 0
        interval = whole_days(to_microseconds(to_instant(now)) if now is not None else known, columns.last_recall)
        rows = range(len(self))
        vectors = columns.vectors.copy()
        return pd.DataFrame(
            {
                "time_interval": np.maximum(interval, 0),
                "recall_times": columns.recall_times.copy(),
                "text": [self.text(at) for at in rows],
                "embedding_vector": [None if columns.pending[at] else vectors[at] for at in rows],
                "kind": [self.kind_of(at) for at in rows],
                "created": pd.DatetimeIndex(columns.created.astype("datetime64[us]")).tz_localize("UTC"),
                "last_recall": pd.DatetimeIndex(columns.last_recall.astype("datetime64[us]")).tz_localize("UTC"),
                "source": list(self._contents.sources),
                "clamped": interval < 0,
            },
            index=pd.Index(columns.index.copy(), name="index"),
        )

    def __repr__(self) -> str:
        from ilstma_lab.reprs.words import line

        where = f" in {line(self._file.path.name)}" if self._file else ""
        return f"<MemoryTable {line(self.topic, 80) or 'without topic'}: {len(self)} rows{where}>"

    def __str__(self) -> str:
        from ilstma_lab.reprs import table_text

        return table_text(self)

    def _repr_html_(self) -> str:
        from ilstma_lab.reprs import table_html

        return table_html(self)


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
