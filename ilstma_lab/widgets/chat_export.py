"""What was said, to take away: JSON that holds every turn whole, and Markdown in which stored text stays text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.reprs.turn import failure_line, outcome
from ilstma_lab.reprs.why import text_of, why
from ilstma_lab.reprs.words import count, day, plain, seconds
from ilstma_lab.trace import Turn

if TYPE_CHECKING:
    from ilstma_lab.engine import ILSTMA

FORMAT, VERSION = "ilstma-lab chat", 1
ANSWER_CHARACTERS = 100_000
_AS_ENTITY = "\\<>&$@"
_SPECIAL = re.compile(r"[\\<>&$@`*_\[\]|~^=]|:(?=//|\w+:)|(?<=www)\.|^[-+#:]", re.IGNORECASE)
_NUMBERED = re.compile(r"^(\d+)([.)])")
_SPACE = "&#160;"


def chat_dict(lab: ILSTMA) -> dict[str, Any]:
    """Return the lab's turns as plain JSON values, each whole as `Turn.to_dict` gives it; no key and no address is in it."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "topic": lab.table.topic,
        "models": lab.models.name,
        "day": lab.clock.now().isoformat(),
        "rows": len(lab.table),
        "turns": [turn.to_dict() for turn in lab.turns],
    }


def chat_json(lab: ILSTMA) -> str:
    """Return `chat_dict` as text."""
    return json.dumps(chat_dict(lab), ensure_ascii=False, allow_nan=False, indent=1)


def turns_of(text: str) -> list[Turn]:
    """Return the turns of an exported chat, to be played or compared. Raises FormatError for anything else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"not an exported chat: {error}") from None
    known = isinstance(data, Mapping) and data.get("format") == FORMAT and isinstance(data.get("turns"), list)
    if not known or data.get("version") != VERSION:
        raise FormatError(f"not an exported chat of version {VERSION}: export one with chat.export('chat.json')")
    return [Turn.from_dict(turn) for turn in data["turns"]]


def chat_markdown(lab: ILSTMA, filled_by: list[tuple[Turn, Selection | None]]) -> str:
    """Return the conversation as Markdown; `filled_by` pairs each turn with the prefetch that had filled its cache."""
    title = f"# Chat over {escaped(lab.table.topic or 'a memory')}"
    attempts = _attempts([turn for turn, _ in filled_by])
    about = f"{count(attempts.count(1), 'turn')}, {escaped(lab.models.name)}, {day(lab.clock.now())}"
    told = (_turn_markdown(turn, by, attempt) for (turn, by), attempt in zip(filled_by, attempts, strict=True))
    return "\n\n".join([title, about, *told]) + "\n"


def escaped(text: str) -> str:
    r"""Return `text` as Markdown that shows it as it is: no markup, no HTML, no link, no formula comes of it.

    >>> print(escaped("# 1 < 2 *so*"))
    \# 1 &#60; 2 \*so\*
    """
    lines = plain(text, ANSWER_CHARACTERS).split("\n")
    return "\\\n".join(_escaped_line(line) for line in lines)


def write(path: str | Path, lab: ILSTMA, markdown: str) -> Path:
    """Write the chat to `path`, as its ending says: .json or .md. Raises InputError for another, or where a file is there."""
    path = Path(path)
    texts = {".json": lambda: chat_json(lab), ".md": lambda: markdown}
    if path.suffix not in texts:
        raise InputError(f"{path}: name a file that ends in .json (every turn whole) or .md (to be read)")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(texts[path.suffix]())
    except FileExistsError:
        raise InputError(f"{path} exists: give another name; nothing was written") from None
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def _escaped_line(line: str) -> str:
    words = line.lstrip(" \t")
    safe = _NUMBERED.sub(r"\1\\\2", _SPECIAL.sub(_escape, words))
    return _SPACE * (len(line) - len(words)) + safe or _SPACE


def _escape(special: re.Match[str]) -> str:
    return f"&#{ord(special[0])};" if special[0] in _AS_ENTITY else "\\" + special[0]


def _attempts(turns: list[Turn]) -> list[int]:
    """Return for each turn how often its question was asked until then: above 1 where the attempt before it failed."""
    attempts: list[int] = []
    for at, turn in enumerate(turns):
        again = at and turns[at - 1].failure and turns[at - 1].question == turn.question
        attempts.append(attempts[-1] + 1 if again else 1)
    return attempts


def _turn_markdown(turn: Turn, filled_by: Selection | None, attempt: int) -> str:
    again = f", attempt {attempt}" if attempt > 1 else ""
    reason = why(turn, cached_by=filled_by)
    said = failure_line(turn) if turn.failure else f"{reason.title}: {text_of(reason.sentence)}"
    parts = [
        f"## Turn {turn.number}{again}: {outcome(turn)}, {seconds(turn.seconds)}",
        f"**You**, {day(turn.at)}",
        _quoted(turn.question),
        "**Answer**",
        _quoted(turn.answer) if turn.answer else "(none)",
        escaped(said),
    ]
    return "\n\n".join(parts)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in escaped(text).split("\n"))
