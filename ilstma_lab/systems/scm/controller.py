"""The memory controller's judgement: can a turn, or its summary, answer the question?"""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.asking import Chat, ask_json
from ilstma_lab.models.call import Call
from ilstma_lab.models.extractive_judge import ExtractiveJudge
from ilstma_lab.models.parse import flag
from ilstma_lab.models.sentence_vectors import SentenceVectors
from ilstma_lab.models.unsent import unsent
from ilstma_lab.protocols import Query
from ilstma_lab.retrieval.dates import named_days
from ilstma_lab.systems.scm import prompts

THRESHOLD = 0.25
_PURPOSE = "control: can it"


class Controller(Protocol):
    """Judges one turn at a time."""

    def can(self, query: Query, turn: MemoryEntry, summary: str = "") -> tuple[bool, tuple[Call, ...]]:
        """Return whether the turn answers, or where `summary` is given its summary alone, and the calls."""
        ...


class ExtractiveController:
    """Decides by similarity alone, and knows no answer when it sees one.

    A text can answer where its evidence reaches `threshold`: nearness in meaning of its telling sentences, words shared with the
    question, the day that the question names, added up as the offline hit judge does (`ExtractiveJudge.evidence`).

    The threshold was chosen on MemoryBank with the Universal Sentence Encoder, of the rows that a cosine puts in the second to
    sixth place: at 0.25 it keeps 94 % of 79 that hold the answer and drops 52 % of 476 others. Elsewhere it does less well: on
    ilstma5 it keeps 84 % of 43 and drops 54 % of 407, on SCM's own Chinese dialogues 83 % of 29 and 23 % of 111.
    """

    def __init__(self, threshold: float = THRESHOLD, *, vectors: SentenceVectors | None = None):
        self.threshold = threshold
        self.judge = ExtractiveJudge(threshold, vectors=vectors)

    def can(self, query: Query, turn: MemoryEntry, summary: str = "") -> tuple[bool, tuple[Call, ...]]:
        """Return whether the evidence is enough, and the record of the prompt."""
        shown = replace(turn, user=summary, assistant="") if summary else turn
        on_day = turn.created.date() in named_days(query.text, query.at.date())
        found = self.judge.evidence(query, shown, on_day=on_day)
        can = found.score >= self.threshold
        reply = f"{str(can).lower()}: {found}"
        return can, (unsent(_PURPOSE, prompts.can_answer(query, turn, summary or turn.text), reply),)


class PromptedController:
    """Asks a language model. What cannot be read falls to the safe side: the turn stays, and stays whole."""

    def __init__(self, chat: Chat):
        self.chat = chat

    def can(self, query: Query, turn: MemoryEntry, summary: str = "") -> tuple[bool, tuple[Call, ...]]:
        """Return the model's verdict and the calls."""
        messages = prompts.can_answer(query, turn, summary or turn.text)
        found, calls = ask_json(self.chat, messages, _PURPOSE, _has_flag, otherwise=_plain_flag)
        return (not summary if found is None else flag(found["answerable"])), calls


def _has_flag(reply: dict) -> bool:
    return flag(reply.get("answerable")) is not None


def _plain_flag(reply: str) -> dict | None:
    return None if flag(reply) is None else {"answerable": flag(reply)}
