"""The offline reader of branch A: the dialogue that shares the most telling words with the question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ilstma_lab.models.prompts import messages
from ilstma_lab.models.sentences import content_words
from ilstma_lab.models.unsent import unsent
from ilstma_lab.retrieval.recall import Chunk, Reading

if TYPE_CHECKING:
    from ilstma_lab.protocols import Query

_MARK = re.compile(r"^\[(\d+)\]\s", re.MULTILINE)


class ExtractiveReader:
    """Names the row whose shown part shares the words of the greatest total weight with the question.

    A word weighs log(1 + rows shown / rows that hold it); stop words weigh nothing, Chinese counts by character
    pairs. It counts words where branch B measures angles between vectors, so that the two branches err independently.
    """

    def read(self, query: Query, chunks: Sequence[Chunk]) -> Reading:
        """Return the row with the highest score (the earlier one in chunk order at a tie), index None where no word is shared."""
        shown = parts(chunks)
        asked = content_words(query.text)
        held = {index: asked & found for index, found in shown.items()}
        frequency = Counter(word for found in held.values() for word in found)
        weight = {word: math.log1p(len(shown) / count) for word, count in frequency.items()}
        scores = {index: sum(weight[word] for word in sorted(found)) for index, found in held.items() if found}
        best = max(scores, key=scores.__getitem__, default=None)
        if best is None:
            raw, reason = "", "no row shown shares a word with the question"
        else:
            raw, reason = f"[{best}]", "shares " + ", ".join(sorted(held[best], key=lambda word: (-weight[word], word))[:6])
        return Reading(best, raw, reason, scores, (unsent("read", messages.read(query, chunks), raw or reason),))


def parts(chunks: Sequence[Chunk]) -> dict[int, frozenset[str]]:
    """Return the content words of each row's shown part, in the order in which the rows are first shown."""
    found: dict[int, frozenset[str]] = {}
    for chunk in chunks:
        for index, text in rows_of_chunk(chunk):
            found[index] = found.get(index, frozenset()) | content_words(text)
    return found


def rows_of_chunk(chunk: Chunk) -> list[tuple[int, str]]:
    """Return each row of a chunk with the part of its text that the chunk holds, in their order.

    A chunk's text is "[index] text" joined; it may begin inside a row, whose mark then stands in an earlier chunk.
    A number in brackets that is not the next of the chunk's rows belongs to the text.
    """
    order = {index: place for place, index in enumerate(chunk.rows)}
    starts: list[tuple[int, int, int]] = []  # (row, start of its mark, start of its text)
    for mark in _MARK.finditer(chunk.text):
        place = order.get(int(mark[1]), -1)
        if place > (order[starts[-1][0]] if starts else -1):
            starts.append((int(mark[1]), mark.start(), mark.end()))
    ends = [start for _, start, _ in starts[1:]] + [len(chunk.text)]
    split = [(row, chunk.text[begin:end]) for (row, _, begin), end in zip(starts, ends, strict=True)] if starts else []
    head = chunk.text[: starts[0][1]] if starts else chunk.text
    if head.strip() and chunk.rows and (not starts or starts[0][0] != chunk.rows[0]):
        split.insert(0, (chunk.rows[0], head))
    return split
