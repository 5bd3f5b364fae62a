"""Tolerant reading of what language models reply: thinking dropped, JSON found in prose, only rows that exist accepted."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_TRAILING_COMMA = re.compile(r",(?=\s*[}\]])")
_LITERALS = {"true": "True", "false": "False", "null": "None"}
_STRING_OR_LITERAL = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|\b(?:true|false|null)\b")
_INDEX = re.compile(r"\s*\[?\s*(\d{1,18})\s*\]?\s*")
_OPEN, _CLOSE = "<think", "</think"
MAX_OBJECTS = 20


def without_thinking(reply: str | None) -> str:
    """Return `reply` without <think>…</think> and outer blanks; an unfinished thought is dropped to its end.

    >>> without_thinking("<think>Is it 3?</think> 4 ")
    '4'
    """
    return _THINKING.sub("", reply or "").strip()


def visible(pieces: Iterable[str]) -> Iterator[str]:
    """Yield `pieces` as they come, without a <think>…</think> at their beginning.

    >>> list(visible(["<th", "ink>hm", "</thi", "nk>He", "llo"]))
    ['He', 'llo']
    """
    held, speaking = "", False
    for piece in pieces:
        if speaking:
            yield piece
            continue
        held += piece
        start = held.lstrip().lower()
        if _OPEN.startswith(start[: len(_OPEN)]) and not (start.startswith(_OPEN) and re.search(_CLOSE + "(?:ing)?>", start)):
            continue
        held, speaking = _THINKING.sub("", held, count=1).lstrip(), True
        if held:
            yield held
            held = ""
        else:
            speaking = False
    rest = without_thinking(held)
    if rest:
        yield rest


def json_object(reply: str | None) -> dict[str, Any] | None:
    """Return the first JSON object in `reply`, None where there is none.

    Fences, prose around it, trailing commas and single quotes are forgiven; nothing is evaluated but literals.

    >>> json_object("Sure:\\n```json\\n{'index': 3, 'reason': null,}\\n```")
    {'index': 3, 'reason': None}
    """
    text = without_thinking(reply)
    start = text.find("{")
    for _ in range(MAX_OBJECTS):
        if start < 0:
            return None
        for candidate in _balanced(text, start):
            found = _loads(candidate)
            if isinstance(found, dict):
                return found
        start = text.find("{", start + 1)
    return None


def row_index(value: Any, shown: Collection[int]) -> int | None:
    """Return `value` as a row index if it is one of `shown`, else None. "[3]" and "3" are read; "3.0", -1 and True are not.

    >>> row_index("[3]", {3, 4}), row_index(12, {3, 4}), row_index("3.0", {3, 4})
    (3, None, None)
    """
    if isinstance(value, str):
        match = _INDEX.fullmatch(value)
        value = int(match[1]) if match else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if value in shown else None


def flag(value: Any) -> bool | None:
    """Return a yes or no that was written as a truth value or a word, None where it is neither.

    >>> flag("Yes."), flag(False), flag("maybe"), flag("不能")
    (True, False, None, False)
    """
    if isinstance(value, bool):
        return value
    word = value.strip().strip(".!。！\"'").lower() if isinstance(value, str) else ""
    return {"yes": True, "true": True, "是": True, "能": True, "no": False, "false": False, "否": False, "不能": False}.get(word)


def _balanced(text: str, start: int) -> Iterator[str]:
    """Yield `text` from the brace at `start` to the one that closes it: first minding strings, then braces alone."""
    for pattern in (r"\"(?:\\.|[^\"\\])*\"|[{}]", r"[{}]"):
        depth = 0
        for match in re.finditer(pattern, text[start:]):
            depth += {"{": 1, "}": -1}.get(match[0], 0)
            if depth == 0:
                yield text[start : start + match.end()]
                break


def _loads(text: str) -> Any:
    text = _TRAILING_COMMA.sub("", text)
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(_STRING_OR_LITERAL.sub(lambda match: _LITERALS.get(match[0], match[0]), text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
