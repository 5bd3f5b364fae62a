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
    return _share(words(answer), set(words(text)))


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
    said = words(question)
    asking = sum(len(words(s)) for s in sentences(question) if s.rstrip("\"'”’」』）)").endswith(_QUESTION_MARKS))
    held = set(words("\n".join(row.text for row in rows)))
    repeats = bool(rows) and _share(words(answer), held) >= _ECHO_SHARE
    return "asked" if repeats and (2 * asking >= len(said) or _share(said, held) == 1) else "told"


def _share(said: Sequence[str], held: set[str]) -> float:
    """Return the share of the words `said` that are `held`."""
    return len(held.intersection(said)) / len(set(said)) if said else 0.0
