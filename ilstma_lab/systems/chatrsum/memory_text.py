"""The memory after a session, made of the memory before it and that session: M(i) = model(M(i-1), session i)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Protocol

from ilstma_lab.errors import ModelError
from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.asking import Chat, lines_of_reply
from ilstma_lab.models.call import Call
from ilstma_lab.models.extractive_summary import DATE_PREFIX, PER_DIALOGUE, one_line, telling
from ilstma_lab.models.overlap import lines_of
from ilstma_lab.models.sentences import content_words, sentences
from ilstma_lab.models.unsent import unsent
from ilstma_lab.systems.chatrsum import prompts

_PURPOSE = "memory"
_CHARACTERS = 12_000
_LINES = 200


class MemoryWriter(Protocol):
    """Makes the memory anew at the end of a session."""

    def write(self, memory: str, session: Sequence[MemoryEntry]) -> tuple[str, tuple[Call, ...]]:
        """Return the memory after `session`, one sentence a line, and the calls that made it."""
        ...


class ExtractiveMemoryWriter:
    """Keeps the `count` most telling lines of the memory and of what the user told in the session, two of one dialogue, in order.

    A line tells as in `ExtractiveSummarizer`: times, names, numbers, words that come up again. A sentence stands once, with its
    last date; of two that tell as much the newer stays.
    """

    def __init__(self, count: int):
        self.count = count

    def write(self, memory: str, session: Sequence[MemoryEntry]) -> tuple[str, tuple[Call, ...]]:
        """Return the lines, each "date, user: sentence", and the record of the prompt."""
        lines = {_fact(line): line for line in lines_of(memory)}
        repeated = Counter(word for text in [*lines, *(turn.user for turn in session)] for word in content_words(text))

        def best(facts: Iterable[str], count: int) -> list[str]:
            return sorted(facts, key=lambda fact: telling(fact, repeated, user=True), reverse=True)[:count]

        for turn in session:
            said = [one_line(sentence) for sentence in sentences(turn.user)]
            for fact in sorted(best(said, PER_DIALOGUE), key=said.index):
                lines.pop(fact, None)
                lines[fact] = f"{turn.created.date()}, user: {fact}"
        kept = best(reversed(lines), self.count)
        text = "\n".join(line for fact, line in lines.items() if fact in kept)
        return text, (unsent(_PURPOSE, prompts.remember(memory, session, sentences=self.count), text),)


class PromptedMemoryWriter:
    """Asks a language model for the memory, at most `count` sentences."""

    def __init__(self, chat: Chat, count: int):
        self.chat = chat
        self.count = count

    def write(self, memory: str, session: Sequence[MemoryEntry]) -> tuple[str, tuple[Call, ...]]:
        """Return the memory and its call. Raises ModelError where the model wrote nothing: the memory stays as it was."""
        call = self.chat.complete(prompts.remember(memory, session, sentences=self.count), purpose=_PURPOSE)
        said = sentences(lines_of_reply(call.reply, _LINES, _CHARACTERS))
        if not said:
            raise ModelError(f"{self.chat.model} wrote an empty memory: the old one stays; summarise again, or use another model")
        return "\n".join(said[: self.count]), (call,)


def _fact(line: str) -> str:
    return DATE_PREFIX.sub("", line)
