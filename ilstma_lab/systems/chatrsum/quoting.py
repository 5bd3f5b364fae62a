"""Answers by quotation from the memory and the current session: no row is searched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ilstma_lab.memory.entry import is_blank
from ilstma_lab.models.extractive_answer import ExtractiveResponder, quote, quote_line
from ilstma_lab.models.prompts import messages
from ilstma_lab.models.sentences import sentences
from ilstma_lab.models.stream import Stream
from ilstma_lab.models.unsent import unsent

if TYPE_CHECKING:
    from ilstma_lab.memory.segments import ShortTermMemory
    from ilstma_lab.protocols import Query

_QUESTION_MARKS = ("?", "？")


class SessionResponder(ExtractiveResponder):
    """Quotes the line of the memory, or what the user told in this session, whichever is nearer to the question."""

    @classmethod
    def like(cls, other: ExtractiveResponder) -> SessionResponder:
        """Return one with the vectors and the instructions of another offline responder."""
        return cls(vectors=other.vectors, instructions=other.instructions)

    def answer(self, query: Query, memory: ShortTermMemory) -> Iterator[str]:
        """Return the answer as a stream of one piece; it says so where there is nothing to quote."""
        known = [memory.summary, *(_told(turn.user) for turn in memory.history)]
        known = [text for text in known if not is_blank(text)]
        nearest = max(known, key=lambda text: self.vectors.nearest(text, query.vector, query.embedder)[1], default="")
        said = quote_line(query, nearest, self.vectors) if nearest else quote(query, (), self.vectors)
        return Stream.of(unsent("answer", messages.answer(query, memory, instructions=self.instructions), said))


def _told(turn: str) -> str:
    """Return the sentences of a turn that do not ask."""
    return "\n".join(sentence for sentence in sentences(turn) if not sentence.rstrip("\"'”’」』）)").endswith(_QUESTION_MARKS))
