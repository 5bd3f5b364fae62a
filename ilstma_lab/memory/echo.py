"""Which rows an answer rests on, and whether a finished turn says anything that its rows did not say already."""

from __future__ import annotations

from collections.abc import Sequence

from ilstma_lab.memory.entry import Kind, MemoryEntry
from ilstma_lab.models.sentences import sentences, words

_ECHO_SHARE = 0.5
_QUESTION_MARKS = ("?", "？")


def share_held(answer: str, text: str) -> float:
    """Return the share of the answer's words that `text` holds, in [0, 1].

    >>> share_held("row 44", "Row forty-four"), share_held("", "anything")
    (0.5, 0.0)
    """
    said = set(words(answer))
    return len(said & set(words(text))) / len(said) if said else 0.0


def used_rows(answer: str, rows: Sequence[MemoryEntry]) -> tuple[int, ...]:
    """Return the indices of `rows` that hold at least half of what the best of them holds of the answer's words."""
    shares = {row.index: share_held(answer, row.text) for row in rows}
    best = max(shares.values(), default=0.0)
    return tuple(index for index, share in shares.items() if best and share >= best / 2)


def kind_of_turn(question: str, answer: str, rows: Sequence[MemoryEntry]) -> Kind:
    """Return "asked" for a turn that asks more than it tells and whose answer mostly repeats `rows`; else "told".

    It asks more than it tells when at least half of its words stand in sentences with a question mark, or when `rows` hold all
    of its words already.
    """
    asking = sum(len(words(s)) for s in sentences(question) if s.rstrip("\"'”’」』）)").endswith(_QUESTION_MARKS))
    held = "\n".join(row.text for row in rows)
    repeats = bool(rows) and share_held(answer, held) >= _ECHO_SHARE
    asks = 2 * asking >= len(words(question)) or share_held(question, held) == 1
    return "asked" if repeats and asks else "told"
