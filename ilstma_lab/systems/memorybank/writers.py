"""Who writes the notes of days: by counting and quoting, offline, or by prompting a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Protocol

from ilstma_lab.errors import ModelError
from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.memory.records import Summary
from ilstma_lab.models.asking import Chat, lines_of_reply
from ilstma_lab.models.call import Call
from ilstma_lab.models.extractive_profile import ExtractiveProfiler
from ilstma_lab.models.extractive_summary import ExtractiveSummarizer
from ilstma_lab.models.overlap import lines_of
from ilstma_lab.models.prompts.messages import Messages
from ilstma_lab.models.sentences import content_words, is_chinese
from ilstma_lab.models.unsent import unsent
from ilstma_lab.systems.memorybank import prompts
from ilstma_lab.systems.memorybank.prompts import LINES, Task

Written = tuple[str, tuple[Call, ...]]

NOTE_CHARACTERS = 2_000
PROMPT_CHARACTERS = 24_000
"""How much of the dialogues or notes goes into one prompt: of a long day the rest goes into further ones."""

_WAYS = {
    "en": (
        "Reply: begin with the feeling, and give one small step.",
        "Reply: share the joy, and ask on.",
        "Reply: to the point.",
    ),
    "zh": ("回应：先体会心情，再给一小步建议。", "回应：一起高兴，再问下去。", "回应：直接、具体。"),
}


class Writer(Protocol):
    """Writes what MemoryBank keeps of days; each method returns the text and the calls that made it."""

    def day(self, dialogues: Sequence[MemoryEntry]) -> Written:
        """Return the events of one day, one fact a line, each line with its date."""
        ...

    def mood(self, dialogues: Sequence[MemoryEntry]) -> Written:
        """Return the user's traits and mood on one day, and how to speak to them."""
        ...

    def events(self, days: Sequence[Summary], dialogues: Sequence[MemoryEntry]) -> Written:
        """Return the events of all days in short."""
        ...

    def portrait(self, moods: Sequence[Summary], dialogues: Sequence[MemoryEntry]) -> Written:
        """Return one portrait of the user from the moods of all days; `dialogues` are those of these days."""
        ...


class ExtractiveWriter:
    """Quotes the most telling sentences of each day, and counts moods, questions and subjects. No language model."""

    def __init__(self) -> None:
        self._summarizer, self._profiler = ExtractiveSummarizer(LINES["day"]), ExtractiveProfiler()

    def day(self, dialogues: Sequence[MemoryEntry]) -> Written:
        """Return the most telling sentences of the day, each with date and speaker."""
        text = self._summarizer.summarize(dialogues)[0] or f"{dialogues[0].created.date()}: …"
        return text, (unsent("day", prompts.of_rows("day", dialogues), text),)

    def mood(self, dialogues: Sequence[MemoryEntry]) -> Written:
        """Return the day's counts, and a way to reply that follows from its mood words."""
        text = self._counted(dialogues)
        return text, (unsent("mood", prompts.of_rows("mood", dialogues), text),)

    def events(self, days: Sequence[Summary], dialogues: Sequence[MemoryEntry]) -> Written:
        """Return one line of each of the days that share most with others: the line that shares most, in the order of time."""
        spread = Counter(word for note in days for word in content_words(note.text))
        known = {word for word, count in spread.items() if 2 <= count <= max(2, len(days) // 2)}  # greetings are on all days
        best = [max((_shared(line, known), -at, line) for at, line in enumerate(lines_of(note.text))) for note in days]
        kept = sorted(range(len(best)), key=lambda at: (best[at][0], at))[-LINES["events"] :]
        text = "\n".join(best[at][2] for at in sorted(kept))
        return text, (unsent("events", _of_notes("events", days, dialogues), text),)

    def portrait(self, moods: Sequence[Summary], dialogues: Sequence[MemoryEntry]) -> Written:
        """Return the counts of all days together, which are the sums of the daily ones."""
        text = self._counted(dialogues)
        return text, (unsent("portrait", _of_notes("portrait", moods, dialogues), text),)

    def _counted(self, dialogues: Sequence[MemoryEntry]) -> str:
        counts = self._profiler.profile("", dialogues)[0]
        glad, low = _feelings(counts)
        ways = _WAYS["zh" if is_chinese("\n".join(dialogue.user for dialogue in dialogues)) else "en"]
        return "\n".join(filter(None, [counts, ways[0] if low > glad else ways[1] if glad > low else ways[2]]))


class PromptedWriter:
    """Asks a language model. Raises ModelError where it wrote nothing."""

    def __init__(self, chat: Chat):
        self.chat = chat

    def day(self, dialogues: Sequence[MemoryEntry]) -> Written:
        """Return the model's facts of the day, each with the day's date in front."""
        text, calls = self._of_rows("day", dialogues)
        day = str(dialogues[0].created.date())
        return "\n".join(line if line.startswith(day) else f"{day}: {line}" for line in text.splitlines()), calls

    def mood(self, dialogues: Sequence[MemoryEntry]) -> Written:
        """Return the model's lines on traits, mood and reply."""
        return self._of_rows("mood", dialogues)

    def events(self, days: Sequence[Summary], dialogues: Sequence[MemoryEntry]) -> Written:
        """Return the model's account of all days."""
        return self._ask("events", _of_notes("events", days, dialogues))

    def portrait(self, moods: Sequence[Summary], dialogues: Sequence[MemoryEntry]) -> Written:
        """Return the model's portrait."""
        return self._ask("portrait", _of_notes("portrait", moods, dialogues))

    def _of_rows(self, task: Task, dialogues: Sequence[MemoryEntry]) -> Written:
        said = [self._ask(task, prompts.of_rows(task, part)) for part in _parts(dialogues)]
        return "\n".join(text for text, _ in said), tuple(call for _, calls in said for call in calls)

    def _ask(self, task: Task, messages: Messages) -> Written:
        call = self.chat.complete(messages, purpose=task)
        text = lines_of_reply(call.reply, LINES[task], NOTE_CHARACTERS)
        if not text:
            raise ModelError(f"{self.chat.model} wrote nothing of the {task}: it is asked again, or use another model")
        return text, (call,)


def _parts(dialogues: Sequence[MemoryEntry]) -> list[list[MemoryEntry]]:
    """Return the dialogues in parts that fit into one prompt each; one that is too long alone is a part alone."""
    parts: list[list[MemoryEntry]] = [[]]
    used = 0
    for dialogue in dialogues:
        if parts[-1] and used + len(dialogue.text) > PROMPT_CHARACTERS:
            parts.append([])
            used = 0
        parts[-1].append(dialogue)
        used += len(dialogue.text)
    return parts


def _of_notes(task: Task, notes: Sequence[Summary], dialogues: Sequence[MemoryEntry]) -> Messages:
    """Return the prompt of what is global; where the notes are too long for one, the oldest days are left out."""
    days: dict[int, date] = {dialogue.index: dialogue.created.date() for dialogue in dialogues}
    first, used = len(notes), 0
    while first and used + len(notes[first - 1].text) <= PROMPT_CHARACTERS:
        first -= 1
        used += len(notes[first].text)
    shown = notes[first:] or notes[-1:]
    return prompts.of_notes(task, shown, [days[note.rows[0]] for note in shown])


def _shared(line: str, known: set[str]) -> tuple[float, int]:
    """Return the share of a line's words that are `known` from other days, damped for short lines, and how many words it has."""
    found = content_words(line)
    return len(found & known) / (1 + len(found)) ** 0.5, len(found)


def _feelings(counts: str) -> tuple[int, int]:
    """Return how many glad and low words the profiler's own line counts."""
    for line in counts.splitlines():
        head, _, rest = line.partition(": ")
        if head in ("Mood", "情绪"):
            glad, low = (int("".join(filter(str.isdigit, part)) or 0) for part in rest.split(","))
            return glad, low
    return 0, 0
