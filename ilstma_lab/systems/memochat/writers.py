"""Dividing recent dialogues into ranges of one topic: by falling similarity, or by a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.asking import Chat, ask_json, text_of
from ilstma_lab.models.call import Call
from ilstma_lab.models.extractive_summary import ExtractiveSummarizer
from ilstma_lab.models.parse import row_index
from ilstma_lab.models.prompts.fence import is_own
from ilstma_lab.models.sentences import content_words
from ilstma_lab.models.unsent import unsent
from ilstma_lab.systems.memochat import prompts

PURPOSE = "write memo"
TOPIC_CHARACTERS = 80
SUMMARY_CHARACTERS = 600
_TOPIC_WORDS = 3
_SUMMARY_LINES = 3
_MOST_RANGES = 100


@dataclass(frozen=True, slots=True)
class Slice:
    """A range of the dialogues that were divided, `start` <= place < `stop`, with its topic and summary."""

    topic: str
    summary: str
    start: int
    stop: int


class MemoWriter(Protocol):
    """Divides dialogues."""

    def split(self, dialogues: Sequence[MemoryEntry]) -> tuple[list[Slice] | None, tuple[Call, ...]]:
        """Return slices that cover `dialogues` in order, None where what came back cannot be read, and the calls."""
        ...


class ExtractiveMemoWriter:
    """Begins a new range where the cosine of neighbouring dialogues is below `similarity`. It understands no topic.

    A topic is named by three content words that many of its turns hold and few of the others; the summary is three telling
    sentences (`ExtractiveSummarizer`). .3 is the Universal Sentence Encoder's: in MemoryBank 82 % (English) and 86 % (Chinese) of
    neighbours within a day lie above it, and 82 % and 67 % of those of two days below. A dialogue without a vector stands alone.
    """

    def __init__(self, *, similarity: float = 0.3):
        self.similarity = similarity
        self._summarizer = ExtractiveSummarizer(_SUMMARY_LINES)

    def split(self, dialogues: Sequence[MemoryEntry]) -> tuple[list[Slice], tuple[Call, ...]]:
        """Return the slices, and the record of the prompt."""
        near = [a.vector is not None and b.vector is not None and a.vector @ b.vector for a, b in pairwise(dialogues)]
        starts = [0, *(at for at, cosine in enumerate(near, 1) if cosine is False or cosine < self.similarity)]
        slices = []
        for start, stop in pairwise([*starts, len(dialogues)]):
            part, others = dialogues[start:stop], [*dialogues[:start], *dialogues[stop:]]
            slices.append(Slice(named_topic(part, others), self._summarizer.summarize(part)[0], start, stop))
        said = "\n".join(f"[{part.start + 1}-{part.stop}] {part.topic}" for part in slices)
        return slices, (unsent(PURPOSE, prompts.write(dialogues), said),)


class PromptedMemoWriter:
    """Lets a language model divide. Its ranges are made to cover all dialogues once, see `covering`."""

    def __init__(self, chat: Chat):
        self.chat = chat

    def split(self, dialogues: Sequence[MemoryEntry]) -> tuple[list[Slice] | None, tuple[Call, ...]]:
        """Return the slices, None where two replies held no range that was shown, and the calls."""
        count = len(dialogues)
        found, calls = ask_json(self.chat, prompts.write(dialogues), PURPOSE, lambda reply: bool(_ranges(reply, count)))
        return covering(_ranges(found, count), count) if found else None, calls


def covering(ranges: Sequence[Slice], count: int) -> list[Slice]:
    """Return `ranges` so that each of `count` places lies in one: what overlaps stays with the range that begins first.

    What lies in none joins the range before it, at the beginning the one after it. A range with nothing left is dropped.

    >>> [(s.start, s.stop) for s in covering([Slice("b", "", 1, 4), Slice("a", "", 1, 2), Slice("c", "", 6, 7)], 8)]
    [(0, 6), (6, 8)]
    """
    kept: list[Slice] = []
    for part in sorted(ranges, key=lambda part: part.start):
        start = max(part.start, kept[-1].stop) if kept else 0
        if start < part.stop:
            kept = [*kept[:-1], replace(kept[-1], stop=start)] if kept else kept
            kept.append(replace(part, start=start))
    return [*kept[:-1], replace(kept[-1], stop=count)] if kept else []


def named_topic(dialogues: Sequence[MemoryEntry], others: Sequence[MemoryEntry] = ()) -> str:
    """Return the three content words that most turns of `dialogues` hold beyond those of `others`, the earliest first.

    Of Chinese pairs that share a character one is taken.
    """
    counted = _turns_with(dialogues)
    counted.subtract(word for word in _turns_with(others).elements() if word in counted)
    whole = "\n".join(dialogue.text for dialogue in dialogues).casefold()
    best: list[str] = []
    for word in sorted(counted, key=lambda word: (-counted[word], whole.find(word), word)):
        if word.isascii() or not any(set(word) & set(known) for known in best):
            best.append(word)
        if len(best) == _TOPIC_WORDS:
            break
    return " ".join(best)[:TOPIC_CHARACTERS] or "…"


def _turns_with(dialogues: Sequence[MemoryEntry]) -> Counter[str]:
    """Return for each content word how many turns hold it, the user's and the assistant's each counting as one."""
    return Counter(word for dialogue in dialogues for side in (dialogue.user, dialogue.assistant) for word in content_words(side))


def _ranges(reply: dict[str, Any], count: int) -> list[Slice]:
    """Return the ranges of a reply that can be used: with a topic, a summary, and a first dialogue that was shown.

    A topic that begins like a row's mark or a speaker's name is none: it would stand in a prompt where these do.
    """
    said = reply.get("memos")
    found = [_range(one, count) for one in (said[:_MOST_RANGES] if isinstance(said, list) else ())]
    return [part for part in found if part is not None]


def _range(said: Any, count: int) -> Slice | None:
    if not isinstance(said, dict):
        return None
    topic = " ".join(text_of(said.get("topic"), TOPIC_CHARACTERS).split())
    summary = text_of(said.get("summary"), SUMMARY_CHARACTERS)
    start, end = row_index(said.get("start"), range(1, count + 1)), row_index(said.get("end"), range(1, 10**6))
    if start is None or end is None or end < start or not topic or not summary or topic == prompts.NOTO or is_own(topic):
        return None
    return Slice(topic, summary, start - 1, min(end, count))
