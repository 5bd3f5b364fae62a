"""What an answer says that it must have from somewhere: words that carry meaning, and runs of words and signs that carry none."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache

from ilstma_lab.models.sentences import CJK, STOPWORDS, content_words

_LEAST_RUN = 5  # four would link "I'm here for you", "how have you been"
_LEAST_ODD = 2
_MOST_PHRASE = 8
_TOKEN = rf"[{CJK}]|[^\W_{CJK}]+(?:['’.][^\W_{CJK}]+)*|(?<=\w)#|[^\w\s]"  # compiled by re when first used, as in sentences
_PHRASE = r"[:：](?:\s+|(?<=：))([^.!?。！？\n\"“”「」]+)|[\"“«「『]([^\"”»」』\n]+)[\"”»」』]"
_SIGNS = frozenset("&%@#")
_MARKUP = frozenset("<>=|~")


class Telling:
    """The parts of one answer by which what it was made from is known again.

    A part is a word that carries meaning, or a run: five stop words or Chinese characters ("to be or not to"), two single letters
    or signs ("Q X", "C++", two emoji), or a phrase of two to eight words after a colon or in quotation marks.
    """

    def __init__(self, answer: str):
        self.words, self.runs = content_words(answer), frozenset(_runs(answer))
        self.parts = self.words | self.runs

    def held(self, text: str) -> frozenset[str]:
        """Return the parts that `text` has too."""
        words = self.words & content_words(text)
        if not self.runs:
            return words
        said = _spoken(text)
        return words.union(run for run in self.runs if _said([run]) in said)


def may_hold(parts: Collection[str], text: str) -> bool:
    """Tell, quickly, whether `text` may have one of `parts`: False is certain."""
    folded = _folded(text)
    return any(part.partition(" ")[0] in folded for part in parts)


def _runs(text: str) -> Iterator[str]:
    found, words = _tokens(text), content_words(text)
    for least, fits in ((_LEAST_RUN, lambda token: token not in words), (_LEAST_ODD, _is_odd)):
        fitting = 0
        for end, token in enumerate(found, 1):
            fitting = fitting + 1 if fits(token) else 0
            if fitting >= least:
                yield " ".join(found[end - least : end])
    for match in re.finditer(_PHRASE, text):
        phrase = _tokens(match[1] or match[2])
        if 1 < len(phrase) <= _MOST_PHRASE:
            yield " ".join(phrase)


def _tokens(text: str) -> list[str]:
    """Return words, Chinese characters and signs in order, without punctuation and marks of Markdown or HTML."""
    found = re.findall(_TOKEN, _folded(text))
    return [token.removesuffix("'s") for token in found if token[0].isalnum() or _is_sign(token)]


def _is_sign(token: str) -> bool:
    return token in _SIGNS or (token not in _MARKUP and unicodedata.category(token) in ("Sc", "Sm", "So"))


def _is_odd(token: str) -> bool:
    return len(token) == 1 and token not in STOPWORDS and not re.match(f"[{CJK}]", token)


@lru_cache(maxsize=4096)
def _spoken(text: str) -> str:
    return _said(_tokens(text))


def forget_spoken() -> None:
    """Empty what is remembered of texts that answers were compared with."""
    _spoken.cache_clear()


def _said(tokens: Collection[str]) -> str:
    return f" {' '.join(tokens)} "


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
