"""Whether a text stands in an answer, whatever the case, spacing, width and marks, and never inside a longer number or word."""

from __future__ import annotations

import re
import unicodedata

from ilstma_lab.models.sentences import CJK

_MARKS = str.maketrans("’‘“”„«»–—，；：？！（）", '\'\'"""""--,;:?!()')
_BESIDE_CJK = re.compile(f"(?<=[{CJK}]) | (?=[{CJK}])")
_OUTER = " .,;:!?'\"。、…"
_WORD = f"[^\\W_{CJK}]"


def folded(text: str) -> str:
    """Return `text` in one form: NFKC, no case, one kind of quotation mark and dash, single spaces and none beside Chinese.

    >>> folded("  Café\\n№ ２ ’s"), folded("2021 年 11 月")
    ("café no 2 's", '2021年11月')
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).translate(_MARKS)
    return _BESIDE_CJK.sub("", " ".join(text.split()))


def holds(answer: str, wanted: str) -> bool:
    """Tell whether `wanted`, without its outer marks, stands in `answer`; False where it holds nothing to look for.

    It may be a plural there, and a number may have a unit or an ending ("20th").

    >>> holds("On the 15 May, 1,264 euros", "5 May"), holds("on the ５ may.", "5 May."), holds("a 264.50 b", "264")
    (False, True, False)
    >>> holds("almonds, on the 20th", "almond"), holds("almonds, on the 20th", "20")
    (True, True)
    """
    wanted = folded(wanted).strip(_OUTER)
    if not wanted:
        return False
    before = f"(?<!{_WORD})(?<!\\d[.,])" if re.match(_WORD, wanted) else ""
    after = r"(?![.,]?\d)" if wanted[-1].isdecimal() else f"(?:e?s)?(?!{_WORD})" if re.match(_WORD, wanted[-1]) else ""
    return re.search(before + re.escape(wanted) + after, folded(answer)) is not None
