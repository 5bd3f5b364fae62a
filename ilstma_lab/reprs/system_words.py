"""What the segments of short-term memory are called and do, system by system: they are the same five, filled differently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class SegmentWords(NamedTuple):
    """A segment's name on screens, the rule that it follows, and what it says while it is empty."""

    label: str
    rule: str
    empty: str


_ILSTMA = {
    "cache": SegmentWords("Cache", "a miss refills it", "Empty: a miss fills it."),
    "summary": SegmentWords("Summary", "a miss replaces it", "Empty: nothing chosen."),
    "personality": SegmentWords("Personality", "stays", "Nothing known yet."),
    "history": SegmentWords("History", "queue of turns", "No turn yet."),
    "relevant": SegmentWords("Relevant", "only on a miss", "Empty: only a miss fills it."),
}
_BANK = {
    "personality": SegmentWords("Portrait", "anew after each day", "No day has ended yet."),
    "summary": SegmentWords("Events", "anew after each day", "No day has ended yet."),
    "relevant": SegmentWords("Recalled", "for each question", "Nothing is recalled."),
    "history": SegmentWords("History", "queue of turns", "No turn yet."),
}
_OTHERS = {
    "summary": SegmentWords("Summary", "", "Empty."),
    "personality": SegmentWords("Personality", "", "Empty."),
    "relevant": SegmentWords("Relevant", "for each question", "Empty."),
    "history": SegmentWords("History", "queue of turns", "No turn yet."),
}


def words_of(system: str) -> Mapping[str, SegmentWords]:
    """Return the words for the segments that a system fills, in the order in which they are shown."""
    return {"ILSTMA": _ILSTMA, "MemoryBank": _BANK, "SiliconFriend": _BANK}.get(system, _OTHERS)
