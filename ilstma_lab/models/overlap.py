"""The parts of an overlap update (ILSTMA, section 3.5 and Figure 5): which old line gave way to which new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Literal

import numpy as np

from ilstma_lab.models.sentences import content_words

SHARED_WORDS = 0.3
"""From this share of common words on, `compared` takes a line for the successor of another."""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of an update: an old line, the new line that stands in its place or beside it, and how similar they are.

    A kept part has no `new` line, a new part no `old` one; a dropped part stood in one of both summaries and is missing from the
    result. `near`: the free old line that a new part came nearest to, and `similarity` how near; nan where nothing was compared.
    """

    kind: Literal["kept", "overwritten", "new", "dropped"]
    old: str = ""
    new: str = ""
    similarity: float = nan
    near: str = ""

    @property
    def line(self) -> str:
        """The line that stands in the result, "" where none does."""
        return "" if self.kind == "dropped" else self.new or self.old


def overlap(old: Sequence[str], new: Sequence[str], similarities: np.ndarray, *, threshold: float) -> tuple[Part, ...]:
    """Return the update part by part: the old lines in their order, then the new ones that took no old one's place.

    A new line overwrites the old line nearest to it if their similarity reaches `threshold`; an old line gives way once, and
    earlier new lines choose first. `similarities` has shape (n_new, n_old).

    >>> parts = overlap(["cello twice a week", "an aunt in Bergen"], ["cello daily"], np.array([[0.8, 0.1]]), threshold=0.7)
    >>> [(part.kind, part.line) for part in parts]
    [('overwritten', 'cello daily'), ('kept', 'an aunt in Bergen')]
    """
    free = np.array(similarities, float).reshape(len(new), len(old))
    parts, added = [Part("kept", line) for line in old], []
    for line, row in zip(new, free, strict=True):
        nearest = int(np.argmax(row)) if np.isfinite(row).any() else None
        if nearest is None:
            added.append(Part("new", new=line))
        elif row[nearest] >= threshold:
            parts[nearest] = Part("overwritten", old[nearest], line, float(row[nearest]))
            free[:, nearest] = -np.inf
        else:
            added.append(Part("new", new=line, similarity=float(row[nearest]), near=old[nearest]))
    return (*parts, *added)


def merged_text(parts: Sequence[Part]) -> str | None:
    """Return the summary that the parts make, None where nothing is similar: then both summaries stay as they are."""
    if not any(part.kind == "overwritten" for part in parts):
        return None
    return "\n".join(part.line for part in parts if part.line)


def compared(old: Sequence[str], new: Sequence[str], result: Sequence[str]) -> tuple[Part, ...]:
    """Return the parts of an update that a language model wrote, read off its lines afterwards.

    The rule: a line found word for word in the result is kept, or new. An old line that is missing was overwritten by the line of
    the result that shares most words with it, at least `SHARED_WORDS` of them; without one it is dropped, and so is a
    new line that no line of the result resembles. Which line the model had in mind no rule can tell.
    """
    gone, fresh = [line for line in old if line not in result], [line for line in result if line not in old]
    found = overlap(gone, fresh, _shared_words(fresh, gone), threshold=SHARED_WORDS)
    fates = {part.old: replace(part, kind="dropped") if part.kind == "kept" else part for part in found if part.old}
    resembled = _shared_words(new, result).max(axis=1, initial=0.0) >= SHARED_WORDS
    lost = [Part("dropped", new=line) for line, like in zip(new, resembled, strict=True) if not like and line not in result]
    return (*(fates.get(line, Part("kept", line)) for line in old), *(part for part in found if not part.old), *lost)


def lines_of(text: str) -> list[str]:
    """Return the lines of a summary that are not blank."""
    return [line for line in text.splitlines() if line.strip()]


def _shared_words(these: Sequence[str], those: Sequence[str]) -> np.ndarray:
    """Return the share of words that each pair has in common, shape (len(these), len(those))."""
    sets = [[content_words(line) for line in lines] for lines in (these, those)]
    shares = [[len(a & b) / max(len(a | b), 1) for b in sets[1]] for a in sets[0]]
    return np.array(shares, float).reshape(len(these), len(those))
