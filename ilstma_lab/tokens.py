"""An estimate of tokens that knows Chinese, Japanese and Korean. An endpoint's own count is preferred where there is one."""

from __future__ import annotations

import re
from functools import lru_cache

_CJK = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
_PIECES = re.compile(rf"{_CJK}|(?:(?!{_CJK})[^\W_])+|[^\w\s]|_")
_LETTERS_PER_TOKEN = 6


@lru_cache(maxsize=1024)
def estimate_tokens(text: str) -> int:
    """Return about how many tokens `text` costs: a word up to 6 letters is one, so is a CJK character or a mark.

    It is an estimate, not a tokenizer, and is labelled so wherever it is shown.

    >>> estimate_tokens("Which guesthouse?"), estimate_tokens("我对花生过敏")
    (4, 6)
    """
    total = 0
    for piece in _PIECES.findall(text):
        total += 1 if len(piece) <= _LETTERS_PER_TOKEN else -(-len(piece) // _LETTERS_PER_TOKEN)
    return total
