"""What else must go when a row is edited or deleted: the answers that repeat what it no longer says."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from ilstma_lab.memory.columns import Columns
from ilstma_lab.memory.telling import Telling, may_hold
from ilstma_lab.models.sentences import content_words, language, repeating, saying, sentences

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


def summary_number(name: str) -> int | None:
    """Return the number in a name that `summary_name` gave, None for another name."""
    head, _, number = name.partition(" ")
    return int(number) if head == "summary" else None


def repeated_rows(answer: str, question: str, sources: Collection[Source], table: MemoryTable) -> tuple[int, ...]:
    """Return the rows among `sources`, or that these were written of, that say what `answer` does and `question` does not.

    What is compared are the parts of a `Telling`. A row counts too where `answer` has a whole sentence of it. What a row among
    `sources` says is not looked for in what was written.
    """
    telling, texts = Telling(answer), {row: _text(row, table) for row in sources if row in table}
    wanted = telling.parts - telling.held(question)
    held = {row: wanted & telling.held(text) for row, text in texts.items()}
    missing = wanted.difference(*held.values())
    for row, parts in _written_of(missing, sources, telling, table).items():
        if not held.get(row) and row in table and may_hold(parts, text := _text(row, table)):
            held[row] = parts & telling.held(text)
    repeats = repeating(answer)
    whole = {row for row, text in texts.items() if not held[row] and telling.words & content_words(text) and repeats(text)}
    return tuple(sorted(whole.union(row for row, said in held.items() if said)))


def _written_of(
    parts: frozenset[str], sources: Collection[Source], telling: Telling, table: MemoryTable
) -> dict[int, frozenset[str]]:
    """Return the rows of which something among `sources` was written that says some of `parts`, each with these."""
    found: dict[int, frozenset[str]] = {}
    for text, rows in (table.writing(name) for name in sources if isinstance(name, str)):
        if said := parts & telling.held(text):
            found.update((row, said | found.get(row, frozenset())) for row in rows)
    return found


def withdrawn(contents: Contents, columns: Columns, index: int, new: Sides | None) -> list[dict[str, Any]]:
    """Return the events by which the row `index` becomes `new` (None: is deleted), with all that hangs on it.

    Asked rows that cite a row which goes go with it. In other rows that cite or repeat one which changes, the assistant's side is
    taken out where it has words, a run of them, or a sentence, that neither its question nor what else it rests on says any more.
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
    texts = {source: contents.text(place) for source in sources if (place := columns.position(source)) is not None}
    was = [text for source, text in texts.items() if source in becomes]
    user, answer = (side[columns.position(row)] for side in (contents.users, contents.assistants))
    now = [user, *("\n".join(becomes.get(source, (text,)) or ()) for source, text in texts.items())]
    telling = Telling(answer)
    lost = frozenset().union(*map(telling.held, was)).difference(*map(telling.held, now))
    said = [says for text in was for sentence in sentences(text) if (says := saying([sentence]))(answer)]
    return bool(lost) or any(not any(map(says, now)) for says in said)


def _event(row: int, sides: Sides | None) -> dict[str, Any]:
    if sides is None:
        return {"op": "delete", "index": row}
    return {"op": "edit", "index": row, "user": sides[0], "assistant": sides[1]}


def _text(row: int, table: MemoryTable) -> str:
    return table.text(table.position(row))
