"""What else must go when a row is edited or deleted: the answers that repeat what it no longer says."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ilstma_lab.memory.columns import Columns
from ilstma_lab.models.sentences import content_words, language

if TYPE_CHECKING:
    from ilstma_lab.memory.contents import Contents
    from ilstma_lab.memory.table import MemoryTable

Sides = tuple[str, str]
Source = int | str
"""A row by its index, or what was written of rows by its name."""

PERSONALITY = "personality"
WRITTEN = "written"
"""The names of the personality, and of anything at all that was written of rows."""

TAKEN_OUT = {"en": "[taken out with a row that it repeated]", "zh": "[已随其复述的记录一并删去]"}


def summary_name(number: int) -> str:
    """Return the name of a summary among what rows were made into."""
    return f"summary {number}"


def repeated_rows(answer: str, question: str, sources: Collection[Source], table: MemoryTable) -> tuple[int, ...]:
    """Return the rows among `sources`, or that these were written of, whose words `answer` has, and `question` has not.

    Words that a row among them says itself are not looked for in what was written.
    """
    wanted = content_words(answer) - content_words(question)
    held = {row: wanted & content_words(_text(row, table)) for row in sources if row in table}
    missing = wanted.difference(*held.values())
    for name in sorted(source for source in sources if isinstance(source, str)):
        text, rows = table.writing(name)
        if said := missing & content_words(text):
            held.update((row, said & content_words(_text(row, table))) for row in rows if row in table and not held.get(row))
    return tuple(sorted(row for row, said in held.items() if said))


def withdrawn(contents: Contents, columns: Columns, index: int, new: Sides | None) -> list[dict[str, Any]]:
    """Return the events by which the row `index` becomes `new` (None: is deleted), with all that hangs on it.

    Asked rows that cite a row which goes go with it. In other rows that cite or repeat one which changes, the assistant's side is
    taken out where it has words that neither its question nor what else it rests on says any more.
    """
    becomes: dict[int, Sides | None] = {int(index): new}
    known = 0
    while known < len(becomes):  # an answer may repeat an answer
        known = len(becomes)
        for row in sorted(contents.cites.keys() | contents.quotes.keys()):
            if row in becomes or (position := columns.position(row)) is None:
                continue
            if any(becomes.get(cited, "") is None for cited in contents.cites.get(row, ())):
                becomes[row] = None
            elif _repeats(row, contents, columns, becomes):
                becomes[row] = (contents.users[position], TAKEN_OUT[language(contents.assistants[position])])
    return [_event(row, sides) for row, sides in becomes.items()]


def _repeats(row: int, contents: Contents, columns: Columns, becomes: dict[int, Sides | None]) -> bool:
    """Tell whether the answer in `row` says what was in rows that change, and stands nowhere else that it rests on."""
    sources = {*contents.cites.get(row, ()), *contents.quotes.get(row, ())}
    if becomes.keys().isdisjoint(sources):
        return False
    at = columns.position(row)
    positions = {source: place for source in sources if (place := columns.position(source)) is not None}
    lost = set().union(*(content_words(contents.text(place)) for source, place in positions.items() if source in becomes))
    stays = content_words(contents.users[at]).union(
        *(content_words("\n".join(becomes.get(source, ()) or ())) for source in positions if source in becomes),
        *(content_words(contents.text(place)) for source, place in positions.items() if source not in becomes),
    )
    return bool(content_words(contents.assistants[at]) & lost - stays)


def _event(row: int, sides: Sides | None) -> dict[str, Any]:
    if sides is None:
        return {"op": "delete", "index": row}
    return {"op": "edit", "index": row, "user": sides[0], "assistant": sides[1]}


def _text(row: int, table: MemoryTable) -> str:
    return table.text(table.position(row))
