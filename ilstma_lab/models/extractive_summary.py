"""Summaries without a language model: telling sentences are kept, and similar lines are overwritten by newer ones."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.call import Call
from ilstma_lab.models.embedders import checked, unit
from ilstma_lab.models.overlap import Part, lines_of, merged_text, overlap
from ilstma_lab.models.prompts import messages
from ilstma_lab.models.sentences import content_words, sentences
from ilstma_lab.models.unsent import unsent

if TYPE_CHECKING:
    from ilstma_lab.protocols import Embedder

LINE_CHARACTERS = 240
PER_DIALOGUE = 2
DATE_PREFIX = re.compile(r"^\d{4}-\d\d-\d\d[^:：]{0,12}[:：]\s*")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+|[《“\"][^《》“”\"]{2,40}[》”\"]")
_NUMBER = re.compile(r"\d|[一二三四五六七八九十百千两]+[天日月年点个次岁元]")
_TIME = re.compile(
    r"\b(?:today|yesterday|tomorrow|tonight|morning|evening|week(?:end)?|month|year|birthday|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b"
    r"|今天|昨天|明天|周末|星期|上午|下午|晚上|生日|去年|明年",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?？][\"'”’）)]*$")


class ExtractiveSummarizer:
    """Keeps the most telling sentences of a group: those with times, names, numbers, and words that come up again.

    At most `lines` lines, two from one dialogue, each "date, speaker: sentence".
    """

    def __init__(self, lines: int = messages.SUMMARY_LINES):
        self.lines = lines

    def summarize(self, dialogues: Sequence[MemoryEntry]) -> tuple[str, tuple[Call, ...]]:
        """Return the summary, one fact a line in the order of the dialogues, and the record of the prompt."""
        repeated = Counter(word for dialogue in dialogues for word in content_words(dialogue.text))
        best: list[tuple[float, int, int, str]] = []  # (score, dialogue, place in it, line)
        for number, dialogue in enumerate(dialogues):
            day = dialogue.created.date()
            scored = [
                (telling(sentence, repeated, user=who == "user"), number, place, f"{day}, {who}: {one_line(sentence)}")
                for place, (who, sentence) in enumerate(said_in(dialogue))
            ]
            best += sorted(scored, key=lambda line: (-line[0], line[2]))[:PER_DIALOGUE]
        kept = sorted(best, key=lambda line: (-line[0], line[1], line[2]))[: self.lines]
        summary = "\n".join(line[3] for line in sorted(kept, key=lambda line: line[1:3]))
        return summary, (unsent("summarise", messages.summarise(dialogues), summary),)


class ExtractiveMerger:
    """The overlap update: a new line whose cosine to an old one reaches `similarity` takes its place.

    Dates and speakers at the head of a line are left out of the comparison; the other new lines follow at the end. The default
    .7 is the Universal Sentence Encoder's: of 7 hand-made updates ("practises twice a week", "now every day") 4 reach it, of
    all pairs of a user's sentences in MemoryBank .1 % (English) and .5 % (Chinese).
    """

    def __init__(self, embedder: Embedder, *, similarity: float = 0.7):
        self.embedder = embedder
        self.similarity = similarity

    def merge(self, old: str, new: str) -> tuple[str | None, tuple[Call, ...]]:
        """Return both summaries in one, None where no line is similar, and the record of the prompt."""
        merged = merged_text(self.parts(old, new))
        return merged, (unsent("merge", messages.merge(old, new), merged or "(nothing similar)"),)

    def parts(self, old: str, new: str) -> tuple[Part, ...]:
        """Return what `merge` decides on, line by line."""
        lines, fresh = lines_of(old), lines_of(new)
        cosines = self._vectors(fresh) @ self._vectors(lines).T if lines and fresh else ()  # (n_new, n_old)
        return overlap(lines, fresh, cosines, threshold=self.similarity)

    def _vectors(self, lines: list[str]) -> np.ndarray:
        facts = [DATE_PREFIX.sub("", line) or line for line in lines]
        return unit(checked(self.embedder.embed(facts, "row"), facts, self.embedder.dim))


def said_in(dialogue: MemoryEntry) -> list[tuple[str, str]]:
    """Return the sentences of a dialogue, each with who said it: "user" or "assistant"."""
    return [("user", s) for s in sentences(dialogue.user)] + [("assistant", s) for s in sentences(dialogue.assistant)]


def telling(sentence: str, repeated: Counter[str], *, user: bool) -> float:
    """Return how much a sentence tells: names, numbers, times, and words that `repeated` counts more than once."""
    found = content_words(sentence)
    again = sum(1 for word in found if repeated[word] > 1) / (1 + len(found)) ** 0.5
    marks = len(_NAME.findall(sentence)) + bool(_NUMBER.search(sentence)) + bool(_TIME.search(sentence))
    return again + min(marks, 4) + min(len(found), 12) / 12 + 0.5 * user - 2.0 * bool(_ASKS.search(sentence))


def one_line(sentence: str) -> str:
    """Return `sentence` in one line of at most `LINE_CHARACTERS`."""
    line = " ".join(sentence.split())
    return line if len(line) <= LINE_CHARACTERS else line[: LINE_CHARACTERS - 1] + "…"
