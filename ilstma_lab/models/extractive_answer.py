"""Answers by quotation: what was said, when, in which row. No language model, and the wording says so by quoting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ilstma_lab.memory.entry import MemoryEntry, is_blank
from ilstma_lab.models.prompts import messages
from ilstma_lab.models.sentence_vectors import SentenceVectors
from ilstma_lab.models.sentences import is_chinese
from ilstma_lab.models.stream import Stream
from ilstma_lab.models.unsent import unsent

if TYPE_CHECKING:
    from ilstma_lab.memory.segments import ShortTermMemory
    from ilstma_lab.protocols import Query

QUOTE_CHARACTERS = 400
_MONTHS = "January February March April May June July August September October November December".split()
_CUT = " […]"


class ExtractiveResponder:
    """Answers by quoting: from each of the best `rows` relevant rows the user's turn and the assistant's nearest sentence.

    Relevant rows are taken in the order of the retrieval, or with `nearest` by their cosine to the question, for systems that put
    them in the order of time; rows of the cache only where none is relevant. Where there is neither, the nearest line of the
    summary and of the notes is quoted. `instructions` are shown in the prompt that would have been sent.
    """

    def __init__(
        self,
        *,
        rows: int = 2,
        vectors: SentenceVectors | None = None,
        instructions: messages.Instructions | None = None,
        nearest: bool = False,
    ):
        self.rows = rows
        self.vectors = vectors or SentenceVectors()
        self.instructions = instructions
        self.nearest = nearest

    def instructed(self, instructions: messages.Instructions) -> ExtractiveResponder:
        """Return the same responder with other instructions."""
        return ExtractiveResponder(rows=self.rows, vectors=self.vectors, instructions=instructions, nearest=self.nearest)

    def quoting_nearest(self) -> ExtractiveResponder:
        """Return the same responder, which quotes the nearest of the relevant rows, whatever their order."""
        return ExtractiveResponder(rows=self.rows, vectors=self.vectors, instructions=self.instructions, nearest=True)

    def answer(self, query: Query, memory: ShortTermMemory) -> Iterator[str]:
        """Return the answer as a stream of one piece, in the question's language; it says so where the memory holds nothing."""
        rows = memory.relevant or memory.cache
        rows = (nearest_first(query, rows) if self.nearest else rows)[: self.rows]
        written = "\n".join([memory.summary, *(note.text for note in memory.notes)])
        said = quote(query, rows, self.vectors) if rows or is_blank(written) else quote_line(query, written, self.vectors)
        return Stream.of(unsent("answer", messages.answer(query, memory, instructions=self.instructions), said))


def nearest_first(query: Query, rows: Sequence[MemoryEntry]) -> list[MemoryEntry]:
    """Return `rows` by their cosine to the question, the later first where it is the same; rows without a vector come last."""
    cosine = {row.index: -2.0 if row.vector is None else float(row.vector @ query.vector) for row in rows}
    return sorted(rows, key=lambda row: (-cosine[row.index], -row.index))


def quote(query: Query, rows: Sequence[MemoryEntry], vectors: SentenceVectors) -> str:
    """Return what these rows say on the question, one line a row, with date and row number; the judge uses it too."""
    chinese = is_chinese(query.text)
    lines = [_quote_row(query, row, vectors, chinese=chinese) for row in rows]
    if not lines:
        return "在我的记忆里没有找到与此有关的内容。" if chinese else "I find nothing on this in my memory."
    return "\n".join(lines)


def quote_line(query: Query, written: str, vectors: SentenceVectors) -> str:
    """Return the line of `written` (one fact a line) that is nearest to the question, as a quotation."""
    line = vectors.nearest(written, query.vector, query.embedder)[0][:QUOTE_CHARACTERS]
    return f"我记下的是：“{line}”" if is_chinese(query.text) else f'I noted: "{line}"'


def _quote_row(query: Query, row: MemoryEntry, vectors: SentenceVectors, *, chinese: bool) -> str:
    said = _clip(row.user, query, vectors)
    answered = vectors.nearest(row.assistant, query.vector, query.embedder)[0]
    answered = answered if len(answered) <= QUOTE_CHARACTERS else answered[:QUOTE_CHARACTERS] + _CUT
    day = spoken_date(row.created, query.at, chinese=chinese)
    if chinese:
        parts = [f"你说：“{said}”" if said else "", f"我回答：“{answered}”" if answered else ""]
        return f"{day}（第 {row.index} 行）" + "".join(part for part in parts if part)
    parts = [f'you said: "{said}"' if said else "", f'I answered: "{answered}"' if answered else ""]
    return f"On {day} (row {row.index}) " + " ".join(part for part in parts if part)


def _clip(turn: str, query: Query, vectors: SentenceVectors) -> str:
    if is_blank(turn):
        return ""
    whole = " ".join(turn.split())
    if len(whole) <= QUOTE_CHARACTERS:
        return whole
    best = vectors.nearest(turn, query.vector, query.embedder)[0]
    return best[:QUOTE_CHARACTERS] + _CUT


def spoken_date(day: datetime, today: datetime, *, chinese: bool) -> str:
    """Return a date as one says it; the year is left out where it is that of `today`.

    >>> from datetime import UTC
    >>> spoken_date(datetime(2023, 4, 5, tzinfo=UTC), datetime(2023, 5, 1, tzinfo=UTC), chinese=False)
    '5 April'
    """
    year = day.year if day.year != today.year else None
    if chinese:
        return (f"{year}年" if year else "") + f"{day.month}月{day.day}日"
    return f"{day.day} {_MONTHS[day.month - 1]}" + (f" {year}" if year else "")
