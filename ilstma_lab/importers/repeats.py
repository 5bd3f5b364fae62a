"""Dialogues that say word for word what an earlier one said."""

from __future__ import annotations

import unicodedata

from ilstma_lab.importers.job import Imported
from ilstma_lab.memory.entry import Dialogue


def without_repeats(dialogues: Imported) -> Imported:
    """Return the dialogues whose words no earlier one has; a note counts those left out.

    Case, spacing, width and composition do not count, so a chat that was exported twice comes in once. A dialogue that only
    resembles another stays.
    """
    first: dict[tuple[str, str], Dialogue] = {}
    for dialogue in dialogues:
        first.setdefault((_folded(dialogue.user), _folded(dialogue.assistant)), dialogue)
    left_out = len(dialogues) - len(first)
    note = f"{left_out} left out: an earlier dialogue says the same, word for word"
    return Imported(
        first.values(),
        format=dialogues.format,
        conversation=dialogues.conversation,
        notes=[*dialogues.notes, *([note] if left_out else [])],
        synthetic_times=dialogues.synthetic_times,
    )


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())
