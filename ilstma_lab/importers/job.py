"""One import as it runs: what was asked for, what was read, what is to be said about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NoReturn, TypeVar

from ilstma_lab.errors import InputError
from ilstma_lab.importers.content import Content, kind_of
from ilstma_lab.importers.conversation import Conversation, brief, listed
from ilstma_lab.importers.times import DIALOGUES_A_DAY, synthetic_time
from ilstma_lab.memory.entry import Dialogue, is_blank, to_instant

Item = TypeVar("Item")
Progress = Callable[[int, int], object]

_MOST_NOTES = 50
_KINDS = {dict: "an object", list: "a list", str: "a text"}


class Imported(list[Dialogue]):
    """The dialogues of one conversation, oldest first, and what is to be said about how they were read.

    `notes`: what was skipped, assumed or chosen. `synthetic_times`: whether the file had no dates, so that made-up ones stand in.
    """

    def __init__(
        self,
        dialogues: Iterable[Dialogue] = (),
        *,
        format: str = "",
        conversation: str = "",
        notes: Sequence[str] = (),
        synthetic_times: bool = False,
    ):
        super().__init__(dialogues)
        self.format = format
        self.conversation = conversation
        self.notes = list(notes)
        self.synthetic_times = synthetic_times


@dataclass(frozen=True, slots=True)
class _Row:
    user: str
    assistant: str
    at: datetime | None
    source: str
    place: str


@dataclass
class Job:
    """What a format's reader adds to: rows, counts of what it skipped, notes. Errors name file, conversation and place."""

    content: Content
    conversation: Conversation
    user: str | None = None
    day_first: bool | None = None
    progress: Progress | None = None
    notes: dict[str, None] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    _rows: list[_Row] = field(default_factory=list)

    def fail(self, place: str, problem: str) -> NoReturn:
        """Raise FormatError for `place` in this conversation."""
        where = f"conversation '{brief(self.conversation.name, limit=80)}'"
        self.content.fail(f"{where}, {place}" if place else where, problem)

    def note(self, text: str) -> None:
        """Say `text` once in the notes."""
        self.notes.setdefault(text)

    def skip(self, what: str, count: int = 1) -> None:
        """Count what is not read; `what` is a plural."""
        if count:
            self.skipped[what] += count

    def get(self, record: Any, key: str, kind: type, place: str) -> Any:
        """Return `record[key]`, which must be of `kind` (dict, list or str)."""
        if not isinstance(record, dict):
            self.fail(place, f"an object is expected here (got {kind_of(record)})")
        if not isinstance(record.get(key), kind):
            found = kind_of(record[key]) if key in record else "nothing"
            self.fail(place, f"{key!r} must be {_KINDS[kind]} (got {found})")
        return record[key]

    def instant(self, value: Any, place: str) -> datetime:
        """Return `value` as an instant in UTC."""
        if isinstance(value, dict | list):
            self.fail(place, f"a point in time is expected here (got {kind_of(value)})")
        try:
            return to_instant(value)
        except InputError as error:
            self.fail(place, str(error))

    def track(self, items: Sequence[Item]) -> Iterator[Item]:
        """Yield `items`, telling `progress(done, total)` about a hundred times in all."""
        stride = max(1, len(items) // 100)
        for done, item in enumerate(items, start=1):
            yield item
            if self.progress and (done % stride == 0 or done == len(items)):
                self.progress(done, len(items))

    def add(self, user: str, assistant: str, *, at: datetime | None, source: str, place: str) -> None:
        """Add one dialogue. Where both sides are blank it is counted instead; `at` None asks for a synthetic date."""
        if is_blank(user) and is_blank(assistant):
            self.skip("empty turns")
        else:
            self._rows.append(_Row(user, assistant, at, source, place))

    def finish(self, format: str) -> Imported:
        """Return what was read, sorted by time (turns of one instant keep the file's order), with all notes."""
        undated = [row for row in self._rows if row.at is None]
        if undated and len(undated) < len(self._rows):
            self.fail(undated[0].place, "no time here, though other turns have one. Date all of them, or none.")
        dialogues = [
            Dialogue(row.user, row.assistant, row.at or synthetic_time(number), row.source)
            for number, row in enumerate(self._rows)
        ]
        self._note_what_was_found(undated=bool(undated))
        return Imported(
            sorted(dialogues, key=lambda dialogue: dialogue.at),
            format=format,
            conversation=self.conversation.name,
            notes=self._told(),
            synthetic_times=bool(undated),
        )

    def _told(self) -> list[str]:
        notes, more = [brief(note, limit=1_000) for note in self.notes], len(self.notes) - _MOST_NOTES
        return notes if more <= 0 else [*notes[: _MOST_NOTES // 2], f"{more} notes more", *notes[-_MOST_NOTES // 2 :]]

    def _note_what_was_found(self, *, undated: bool) -> None:
        if undated:
            self.note(f"synthetic times: the file has no dates; {DIALOGUES_A_DAY} dialogues a day from 2000-01-01 (UTC) stand in")
        if self.skipped:
            self.note("skipped: " + ", ".join(f"{what} {count}" for what, count in self.skipped.items()))
        if lonely := sum(is_blank(row.user) or is_blank(row.assistant) for row in self._rows):
            self.note(f"kept with one side empty: {lonely} of {len(self._rows)} dialogues")
        sources = Counter(row.source for row in self._rows)
        if twins := [source for source, count in sources.items() if count > 1]:
            self.note(f"sources that more than one dialogue has: {listed(twins, limit=5)}")
        if not self._rows:
            self.note("no dialogue was found")
