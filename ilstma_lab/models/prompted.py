"""The parts that prompt a language model. What cannot be read falls to the safe side: a miss, no row, nothing merged."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ilstma_lab.errors import InputError, ModelError
from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.asking import Chat, ask_json, lines_of_reply, spoken, text_of
from ilstma_lab.models.call import Call
from ilstma_lab.models.parse import flag, row_index, without_thinking
from ilstma_lab.models.prompts import messages as prompts
from ilstma_lab.models.prompts.messages import Instructions
from ilstma_lab.retrieval.recall import Chunk, Reading
from ilstma_lab.trace import Verdict

if TYPE_CHECKING:
    from ilstma_lab.memory.segments import ShortTermMemory
    from ilstma_lab.protocols import Query

Reply = dict[str, Any]

SUMMARY_CHARACTERS = 2_000
PERSONALITY_CHARACTERS = 1_200
ANSWER_CHARACTERS = 4_000
_PROMPTED = re.compile(r"^\s*</?(?:portrait|dialogue)\b", re.MULTILINE)


class PromptedJudge:
    """Step 2 with one call (verdict and answer in one JSON reply) or two (first yes or no, then the answer)."""

    def __init__(self, chat: Chat, *, calls: int = 1):
        if calls not in (1, 2):
            raise InputError(f"calls must be 1 (verdict and answer together) or 2 (one after the other), got {calls}")
        self.chat = chat
        self.calls = calls

    def judge(self, query: Query, memory: ShortTermMemory) -> Verdict:
        """Return hit or miss; a reply that cannot be read twice is a miss, and the reason says so."""
        shown = {row.index for row in memory.cache_shown} | {turn.row for turn in memory.history if turn.row is not None}
        if self.calls == 1:
            found, calls = ask_json(self.chat, prompts.judge(query, memory), "judge", _has_verdict)
            return _verdict(found, found, shown, calls)
        can, calls = ask_json(self.chat, prompts.judge_can(query, memory), "judge: can it", _has_flag, otherwise=_plain_flag)
        if can is None or not flag(can["answerable"]):
            return _verdict(can, {}, shown, calls)
        found, more = ask_json(self.chat, prompts.judge_answer(query, memory), "judge: answer", _has_answer)
        return _verdict(can if found else None, found or {}, shown, calls + more)


class PromptedReader:
    """Branch A: the model names one dialogue; a number that was not shown is no index."""

    def __init__(self, chat: Chat):
        self.chat = chat

    def read(self, query: Query, chunks: Sequence[Chunk]) -> Reading:
        """Return the row that the model named, index None (with `raw` what it said) where that is not a row it was shown."""
        shown = {row for chunk in chunks for row in chunk.rows}
        found, calls = ask_json(self.chat, prompts.read(query, chunks), "read", _has_index, otherwise=_plain_index)
        if found is None:
            return Reading(None, without_thinking(calls[-1].reply)[:200], "the reply could not be read", calls=calls)
        said = found["index"]
        index = row_index(said, shown)
        raw = "" if said is None else str(said)[:200]
        reason = text_of(found.get("reason"), 400) if index is not None or said is None else f"{raw} is not a row that was shown"
        return Reading(index, raw, reason, calls=calls)


class PromptedResponder:
    """Step 9: the answer, piece by piece as it comes; `instructions` are those of another system than ILSTMA."""

    def __init__(self, chat: Chat, *, instructions: Instructions | None = None):
        self.chat = chat
        self.instructions = instructions

    def instructed(self, instructions: Instructions) -> PromptedResponder:
        """Return the same responder with other instructions."""
        return PromptedResponder(self.chat, instructions=instructions)

    def answer(self, query: Query, memory: ShortTermMemory) -> Iterator[str]:
        """Return the answer as a stream, without the model's thinking; reading it raises ModelError if the endpoint fails."""
        return spoken(self.chat, prompts.answer(query, memory, instructions=self.instructions))


class PromptedSummarizer:
    """Step 5: the summary of a group, one fact a line."""

    def __init__(self, chat: Chat):
        self.chat = chat

    def summarize(self, dialogues: Sequence[MemoryEntry]) -> tuple[str, tuple[Call, ...]]:
        """Return the summary and its call. Raises ModelError where the model wrote nothing."""
        call = self.chat.complete(prompts.summarise(dialogues), purpose="summarise")
        summary = lines_of_reply(call.reply, prompts.SUMMARY_LINES, SUMMARY_CHARACTERS)
        if not summary:
            raise ModelError(f"{self.chat.model} wrote an empty summary: summarise again, or use another model")
        return summary, (call,)


class PromptedMerger:
    """Step 5: the overlap update, reasoned step by step; what cannot be read merges nothing, so no fact is lost."""

    def __init__(self, chat: Chat):
        self.chat = chat

    def merge(self, old: str, new: str) -> tuple[str | None, tuple[Call, ...]]:
        """Return both summaries in one, None where nothing is similar, and the calls."""
        found, calls = ask_json(self.chat, prompts.merge(old, new), "merge", lambda reply: flag(reply.get("similar")) is not None)
        lines = found.get("merged") if found and flag(found["similar"]) else None
        lines = lines.splitlines() if isinstance(lines, str) else lines
        merged = [text_of(line, 500) for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
        return "\n".join(line for line in merged if line) or None, calls


class PromptedProfiler:
    """Step 5: the user's portrait, updated."""

    def __init__(self, chat: Chat):
        self.chat = chat

    def profile(self, personality: str, dialogues: Sequence[MemoryEntry]) -> tuple[str, tuple[Call, ...]]:
        """Return the updated portrait and its call; the old one where the model wrote nothing, or gave back its prompt."""
        call = self.chat.complete(prompts.personality(personality, dialogues), purpose="personality")
        written = lines_of_reply(call.reply, prompts.PERSONALITY_LINES, PERSONALITY_CHARACTERS)
        return personality if not written or _PROMPTED.search(call.reply) else written, (call,)


def _verdict(judged: Reply | None, answered: Reply | None, shown: Collection[int], calls: tuple[Call, ...]) -> Verdict:
    if judged is None or answered is None:
        return Verdict(False, reason="the model's verdict could not be read, so it counts as a miss", calls=calls)
    reason = text_of(judged.get("reasoning"), 400)
    answer = text_of(answered.get("answer"), ANSWER_CHARACTERS)
    if not flag(judged["answerable"]):
        return Verdict(False, reason=reason or "the model says that the memory does not answer this", calls=calls)
    if not answer:
        return Verdict(False, reason="the model says that it can answer, but gave no answer", calls=calls)
    return Verdict(True, answer, _used(answered.get("used"), shown), reason, calls=calls)


def _used(said: Any, shown: Collection[int]) -> tuple[int, ...] | None:
    """Return the rows that the model named and was shown; () where it named none, None where all it named are unknown."""
    if not isinstance(said, list):
        return None
    rows = tuple(dict.fromkeys(row for row in (row_index(value, shown) for value in said) if row is not None))
    return None if said and not rows else rows


def _has_verdict(reply: dict[str, Any]) -> bool:
    return _has_flag(reply) and (not flag(reply["answerable"]) or _has_answer(reply))


def _has_flag(reply: dict[str, Any]) -> bool:
    return flag(reply.get("answerable")) is not None


def _has_index(reply: dict[str, Any]) -> bool:
    return "index" in reply


def _has_answer(reply: dict[str, Any]) -> bool:
    return bool(text_of(reply.get("answer"), ANSWER_CHARACTERS))


def _plain_flag(reply: str) -> dict[str, Any] | None:
    return None if flag(reply) is None else {"answerable": flag(reply)}


def _plain_index(reply: str) -> dict[str, Any] | None:
    return {"index": reply} if reply and len(reply) <= 24 and "{" not in reply else None
