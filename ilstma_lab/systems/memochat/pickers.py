"""Picking from the memo: by similarity and shared words, or by a language model that reads a list of options."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from ilstma_lab.models.asking import Chat, ask_json
from ilstma_lab.models.call import Call
from ilstma_lab.models.parse import row_index
from ilstma_lab.models.sentences import content_words
from ilstma_lab.models.unsent import unsent
from ilstma_lab.protocols import Query
from ilstma_lab.systems.memochat import prompts
from ilstma_lab.tokens import estimate_tokens

PURPOSE = "pick memo"


class Picker(Protocol):
    """Picks from options."""

    def pick(self, query: Query, options: Sequence[str]) -> tuple[tuple[int, ...] | None, tuple[Call, ...]]:
        """Return the places of the picked `options`, best first, None where the reply cannot be read, and the calls."""
        ...


class PromptedPicker:
    """Lets a language model pick by number; numbers that were not shown are ignored, and so is NOTO's."""

    def __init__(self, chat: Chat):
        self.chat = chat

    def pick(self, query: Query, options: Sequence[str]) -> tuple[tuple[int, ...] | None, tuple[Call, ...]]:
        """Return the picked places in the order of the reply, () for NOTO alone, None for an unreadable reply."""
        found, calls = ask_json(
            self.chat,
            prompts.pick(query, options),
            PURPOSE,
            lambda reply: _said(reply) is not None,
            otherwise=_plain,
        )
        if found is None:
            return None, calls
        numbers = (row_index(value, range(1, len(options) + 1)) for value in _said(found))
        return tuple(dict.fromkeys(number - 1 for number in numbers if number is not None)), calls


class ExtractivePicker:
    """Picks at most `picks` options by rank: their cosine to the question, and the rare words that they share with it.

    It reads nothing: an option that shares no content word with the question and whose cosine is below `floor` is not picked.
    """

    def __init__(self, vectors: np.ndarray, *, picks: int = 2, floor: float = 0.3):
        self.vectors = vectors  # (n_options, dim)
        self.picks, self.floor = picks, floor

    def pick(self, query: Query, options: Sequence[str]) -> tuple[tuple[int, ...], tuple[Call, ...]]:
        """Return the picked places, nearest first, and the record of the prompt."""
        cosine, shared = self.vectors @ query.vector, shared_words(query.text, options)  # (n_options,)
        order = np.lexsort((-np.arange(len(options)), -(cosine + shared)))
        picked = tuple(int(at) for at in order[: self.picks] if shared[at] > 0 or cosine[at] >= self.floor)
        said = "#".join(str(at + 1) for at in picked) or "0"
        return picked, (unsent(PURPOSE, prompts.pick(query, options), said),)


def shared_words(question: str, options: Sequence[str]) -> np.ndarray:
    """Return for each option the share of the question's content words that it holds, rare ones counting more; (n_options,)."""
    held = [content_words(option) for option in options]
    in_options = Counter(word for words in held for word in words)
    weight = {word: math.log1p(len(options) / (1 + in_options[word])) for word in content_words(question)}
    total = math.fsum(weight.values())
    return np.array([math.fsum(weight[word] for word in weight if word in words) / total if total else 0.0 for words in held])


def within(question: str, options: Sequence[str], tokens: int) -> list[int]:
    """Return the places of the options that a list of so many tokens holds, in their order; one at least.

    Where not all do, those that share the rarest words with the question are kept, the later ones where they share as much.
    """
    cost = [estimate_tokens(line) for line in prompts.numbered(options)[1:]]
    if sum(cost) <= tokens:
        return list(range(len(options)))
    shared, kept = shared_words(question, options), []
    for at in sorted(range(len(options)), key=lambda at: (-shared[at], -at)):
        if (tokens := tokens - cost[at]) < 0 and kept:
            break
        kept.append(at)
    return sorted(kept)


def _said(reply: dict[str, Any]) -> list[Any] | None:
    picks = reply.get("picks")
    picks = [picks] if isinstance(picks, int | str) and not isinstance(picks, bool) else picks
    return picks if isinstance(picks, list) else None


def _plain(reply: str) -> dict[str, Any] | None:
    """Read numbers without JSON, such as "2#3"."""
    numbers = re.findall(r"\d{1,9}", reply)
    return {"picks": numbers} if numbers and len(reply) <= 40 and "{" not in reply else None
