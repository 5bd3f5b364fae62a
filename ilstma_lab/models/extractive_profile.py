"""A portrait by counting: mood words, questions, politeness, and what the user keeps coming back to."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.call import Call
from ilstma_lab.models.prompts import messages
from ilstma_lab.models.sentences import content_words, is_chinese
from ilstma_lab.models.unsent import unsent

SUBJECTS = 12
NOTE_CHARACTERS = 600
SUBJECT_CHARACTERS = 40

_GLAD = re.compile(
    r"\b(?:glad|happy|love[ds]?|enjoy(?:ed|ing)?|great|wonderful|excited|fun|proud|beautiful|nice|relax(?:ed|ing)?)\b"
    r"|喜欢|开心|高兴|快乐|太好|很棒|期待|享受|放松|美好",
    re.IGNORECASE,
)
_LOW = re.compile(
    r"\b(?:sad|tired|worried|anxious|afraid|angry|lonely|stress(?:ed|ful)?|upset|difficult|hate[ds]?|bad|pressure|lost|depressed)\b"
    r"|难过|伤心|累|担心|焦虑|害怕|生气|孤独|压力|烦|困难|沮丧|失落",
    re.IGNORECASE,
)
_POLITE = re.compile(r"\b(?:please|thanks?|thank you|sorry|could you|would you)\b|请|谢谢|感谢|麻烦|不好意思|抱歉", re.IGNORECASE)
_ITEM = re.compile(r"([^\s,，:：][^,，:：]*?)\s+(\d+)(?=\s*(?:[,，(（]|$))")

_NO_SUBJECT = frozenset(
    """one two three four five six seven eight nine ten day days week month year today tomorrow yesterday morning evening night
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
    november december good better first last next really still got""".split()
)

_ENGLISH = ("Turns", "Mood", "Comes back to", "read", "with a question", "polite", "glad", "low")
_CHINESE = ("发言", "情绪", "常谈到", "共", "提问", "客气", "愉快", "低落")


class ExtractiveProfiler:
    """Counts by fixed word lists and keeps the counts in the portrait's own text, so that each group adds to the last.

    Lines that it did not write (by a person, by a language model) are kept on top, up to 600 characters.
    """

    def profile(self, personality: str, dialogues: Sequence[MemoryEntry]) -> tuple[str, tuple[Call, ...]]:
        """Return the portrait, updated by what the user wrote in `dialogues`, and the record of the prompt."""
        turns = [dialogue.user for dialogue in dialogues if dialogue.user.strip()]
        names = _CHINESE if is_chinese("\n".join(turns) or personality) else _ENGLISH
        notes, habits, mood, subjects = _parse(personality)
        for turn in turns:
            habits.update({0: 1, 1: int("?" in turn or "？" in turn), 2: int(bool(_POLITE.search(turn)))})
            mood.update({0: len(_GLAD.findall(turn)), 1: len(_LOW.findall(turn))})
            subjects.update(filter(_is_subject, content_words(_POLITE.sub(" ", turn))))
        portrait = "\n".join([*notes, *_lines(names, habits, mood, subjects)])
        return portrait, (unsent("personality", messages.personality(personality, dialogues), portrait),)


def _is_subject(word: str) -> bool:
    return word.isalpha() and len(word) <= SUBJECT_CHARACTERS and word not in _NO_SUBJECT


def _lines(names: tuple[str, ...], habits: Counter[int], mood: Counter[int], subjects: Counter[str]) -> list[str]:
    if not habits[0]:
        return []
    turns, feeling, topics, *words = names
    lines = [
        f"{turns}: {words[0]} {habits[0]}, {words[1]} {habits[1]}, {words[2]} {habits[2]}",
        f"{feeling}: {words[3]} {mood[0]}, {words[4]} {mood[1]}",
    ]
    common = sorted(subjects.items(), key=lambda item: (-item[1], item[0]))[:SUBJECTS]
    return [*lines, f"{topics}: " + ", ".join(f"{word} {count}" for word, count in common)] if common else lines


def _parse(personality: str) -> tuple[list[str], Counter[int], Counter[int], Counter[str]]:
    """Return the lines of other hands and the counts that `_lines` wrote, whatever their language."""
    notes: list[str] = []
    counts: list[list[tuple[str, int]]] = [[], [], []]
    room = NOTE_CHARACTERS
    for line in personality.splitlines():
        head, _, rest = line.partition(": ")
        kind = next((k for k in range(3) if head in (_ENGLISH[k], _CHINESE[k])), None)
        if kind is not None and _ITEM.search(rest):
            counts[kind] += [(word, int(number)) for word, number in _ITEM.findall(rest)]
        elif line.strip() and len(line) <= room:
            notes.append(line)
            room -= len(line)
    habits, mood = (Counter({place: number for place, (_, number) in enumerate(found)}) for found in counts[:2])
    return notes, habits, mood, Counter(dict(counts[2]))
