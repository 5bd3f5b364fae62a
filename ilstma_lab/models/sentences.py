"""Sentences, words and language of a text, English or Chinese, by rules alone."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Literal

Language = Literal["en", "zh"]

CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CLOSERS = "\"'”’」』）)\\]》"
# Left to re to compile and keep when first used: sets with the CJK ranges take 15 ms, which no import should wait for.
_BREAK = rf"(?<=[.!?…])[{_CLOSERS}]*\s+|(?<=[。！？；…])[{_CLOSERS}]*(?![{_CLOSERS}。！？；…])|\n+"
_ABBREVIATION = re.compile(r"(?:\b(?:mr|mrs|ms|dr|prof|st|mt|jr|sr|vs|no|approx|e\.g|i\.e|a\.m|p\.m)|\b[a-z])\.$", re.IGNORECASE)
_ENGLISH_I = re.compile(r"\bI\.$")
_TOKEN = rf"[{CJK}]|[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)*"
_RUN = rf"[{CJK}]+|[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)*"
_HAN = "[\u3400-\u4dbf\u4e00-\u9fff]"
_CJK = f"[{CJK}]"
_FIRST_CJK = CJK[0]
_TELLING_LENGTH = 12
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")

STOPWORDS = frozenset(
    """a about again ago all also am an and any are as at be because been before but by can could did do does doing done else
    ever few for from get give go got had has have he her here hers him his how i if in into is it its it's i'm i've just know
    last let like may me mention mentioned might more most much my no not now of on once one or our out please remember said
    say she should so some tell than thank thanks that that's the their them then there these they thing things think this
    those time to told too up us very want was we were what when where which who why will with would yes yet you your yours
    什么 怎么 可以 没有 时候 知道 记得 告诉 因为 所以 但是 如果 谢谢 曾经 之前 上次 提到""".split()
)
_PARTICLES = re.compile("[的了是我你您他她它们吗呢吧啊嗯很也都就还和跟在这那什么怎]")


def sentences(text: str) -> list[str]:
    """Return the sentences of `text`, stripped, none blank; decimals, times and common abbreviations are not split.

    >>> sentences('Dr. Wu paid 3.50 at 10.30 a.m. today. "Really?" Yes!')
    ['Dr. Wu paid 3.50 at 10.30 a.m. today.', '"Really?"', 'Yes!']
    >>> sentences("我去了公园。你呢？")
    ['我去了公园。', '你呢？']
    """
    found: list[str] = []
    start = 0
    for match in re.finditer(_BREAK, text):
        piece = text[start : match.end()].strip()
        if "\n" not in match[0] and _ABBREVIATION.search(piece) and not _ENGLISH_I.search(piece):
            continue
        found.append(piece)
        start = match.end()
    found.append(text[start:].strip())
    return [piece for piece in found if piece]


def tokens(text: str) -> list[str]:
    """Return the lower-cased words of `text` in order, each CJK character being one; a possessive 's is dropped.

    >>> tokens("Emily's ２ cats 很可爱")
    ['emily', '2', 'cats', '很', '可', '爱']
    """
    return [token.removesuffix("'s") for token in re.findall(_TOKEN, _folded(text))]


def words(text: str) -> list[str]:
    """Return the lower-cased words of `text`; neighbouring CJK characters count as pairs, a lone one as itself.

    Pairs do not reach over punctuation or spaces.

    >>> words("She likes 桂花糕")
    ['she', 'likes', '桂花', '花糕']
    """
    if text.isascii():
        return [word.removesuffix("'s") for word in _ASCII_WORD.findall(text.lower())]
    found: list[str] = []
    for run in re.findall(_RUN, _folded(text)):
        if run < _FIRST_CJK or not re.match(_CJK, run):
            found.append(run.removesuffix("'s"))
        else:
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
    return found


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """Return the distinct words of `text` that carry meaning: without stop words, particles and single letters.

    >>> sorted(content_words("What was the name of the novel that I read?"))
    ['name', 'novel', 'read']
    """
    return frozenset(w for w in words(text) if w not in STOPWORDS and (len(w) > 1 or w.isdigit()) and not _PARTICLES.search(w))


def saying(texts: Iterable[str]) -> Callable[[str], bool]:
    """Return what tells whether a text holds a sentence of `texts` that is long enough to be known again: 12 letters, 6 Chinese.

    Only words count: a sentence is found whatever a fence, an indent or JSON put between them.

    >>> saying(["I keep the key under the mat. Yes."])('{"answer": "Yes: i keep\\\\n the key under\\\\n the mat"}')
    True
    """
    known = tuple(sentence for text in texts for sentence in _telling(text))

    def says(text: str) -> bool:
        said = _said(text) if known else ""
        return any(sentence in said for sentence in known)

    return says


def repeating(answer: str) -> Callable[[str], bool]:
    """Return what tells whether `answer` holds a sentence of a text, as `saying` does the other way round."""
    said = _said(answer)
    return lambda text: any(sentence in said for sentence in _telling(text))


@lru_cache(maxsize=4096)
def _telling(text: str) -> tuple[str, ...]:
    return tuple(_said(sentence) for sentence in sentences(text) if _length(sentence) >= _TELLING_LENGTH)


def _said(text: str) -> str:
    return f" {' '.join(tokens(html.unescape(text.replace(chr(92) + 'n', ' '))))} "


def _length(sentence: str) -> int:
    return len(sentence) + len(re.findall(_CJK, sentence))


def forget_words() -> None:
    """Empty what is remembered of texts whose words were looked up."""
    content_words.cache_clear()
    _telling.cache_clear()


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold().replace("’", "'")


def language(text: str) -> Language:
    """Return "zh" where Chinese characters outnumber other words, else "en".

    >>> language("我在 Berlin 读书"), language("What does 桂花 mean?")
    ('zh', 'en')
    """
    return "zh" if is_chinese(text) else "en"


def is_chinese(text: str) -> bool:
    """Tell whether `text` reads as Chinese: more Chinese characters than other words."""
    chinese = len(re.findall(_HAN, text))
    return chinese > len(re.findall(_TOKEN, text)) - chinese
