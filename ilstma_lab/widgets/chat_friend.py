"""What the chat shows of a system that is not ILSTMA: sentences, and beside the segments what the curve has let go of."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ilstma_lab.lab import Lab
from ilstma_lab.memory.segments import Note
from ilstma_lab.reprs.words import MONTHS, count, line, score, seconds, spelled
from ilstma_lab.systems.memorybank import MemoryBank
from ilstma_lab.trace import Turn

INVITATION = "Tell how you are, or ask about what was said. What fits is recalled, by row and by day."
STEPS = (1, 4, 10, 6, 5, 9)
_FORGOTTEN_ROWS = 3


def not_here(lab: Lab) -> str:
    """Return why parts of the chat are missing."""
    return f"Guess, player, what-if and prefetch follow ILSTMA’s nine steps; {lab.system} has no judge and no cache."


def finding_of(answered: Sequence[Turn]) -> str:
    """Return the session so far in one sentence."""
    if not answered:
        return "Each answer says which memories it had"
    recalled = sum(bool(turn.recalled) for turn in answered)
    if len(answered) == 1:
        return "The first answer had memories to rest on" if recalled else "The first answer had no memory to rest on"
    return f"{spelled(recalled) if recalled else 'None'} of {spelled(len(answered)).lower()} answers had memories to rest on"


def sub_of(answered: Sequence[Turn]) -> str:
    """Return what stands below the finding."""
    return f"{seconds(fmean(turn.seconds for turn in answered))} a turn on average." if answered else ""


def try_this(lab: Lab, answered: Sequence[Turn]) -> str:
    """Return what a reader may try next."""
    if not answered:
        return "Ask one of the suggestions, then say how you feel about it."
    if getattr(lab.config, "forgetting", None) is None:
        return "Under “Memory and model”, choose the SiliconFriend that forgets, and ask the same again."
    return (
        "Let 7 days pass and ask the last question again: what was recalled has more strength than the rest. Is it still there?"
    )


def recalled_rows(lab: Lab) -> list[list[Any]]:
    """Return the recalled pieces as the segment shows them: row or day, text, cosine."""
    found = lab.turns[-1].step(6) if lab.turns else None
    scores = found.wrote.get("scores", {}) if found else {}
    scored = {str(name): score(value) for name, value in scores.items()}
    rows = [[row.index, line(row.user, 90), scored.get(str(row.index), "")] for row in lab.memory.relevant]
    for note in lab.memory.notes:
        day = lab.table.day_of(note.rows[0])
        rows.append([f"{day.day} {MONTHS[day.month - 1]}", line(_undated(note.text), 90), scored.get(str(day), "")])
    return rows


def forgotten_card(lab: Lab) -> dict[str, Any] | None:
    """Return the card of what the curve has let go of by the lab's clock; None for a system that has no curve."""
    if not isinstance(lab, MemoryBank):
        return None
    gone = lab.forgotten()
    rows, days = [piece for piece in gone if not isinstance(piece, Note)], [piece for piece in gone if isinstance(piece, Note)]
    whole = len(lab.table) + len([note for note in lab.table.notes("day") if note.text and not note.stale])
    shown = [[row, line(lab.table[row].user, 90), ""] for row in rows[-_FORGOTTEN_ROWS:]]
    if lab.config.forgetting is None:
        text = "Nothing: this companion does not forget."
    elif not gone:
        text = "Nothing yet. Let days pass: what is not recalled fades."
    else:
        text = f"{count(len(rows), 'row')} and {count(len(days), 'day')}, masked and not deleted." + (
            " The latest:" if shown else ""
        )
    rule = f"{len(gone):,} of {count(whole, 'piece')}" if lab.config.forgetting else "by the curve"
    empty = {"name": "forgotten", "label": "Forgotten", "tokens": "", "share": 0, "role": "none", "queue": None}
    return {**empty, "rule": rule, "rows": shown, "text": text, "empty": not gone}


def _undated(text: str) -> str:
    """Return the first line of a note without its date, which stands before it."""
    first = text.partition("\n")[0]
    return first.partition(": ")[2] or first
