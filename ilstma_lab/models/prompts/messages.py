"""The messages of every prompt: instructions first, data in fences, the question last (the stable before the changing)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import ModuleType
from typing import TYPE_CHECKING, Literal

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.prompts import en, zh
from ilstma_lab.models.prompts.fence import fence, hang, set_off
from ilstma_lab.models.sentences import Language, language

if TYPE_CHECKING:
    from ilstma_lab.memory.segments import ShortTermMemory
    from ilstma_lab.protocols import Query
    from ilstma_lab.retrieval.recall import Chunk

Messages = tuple[tuple[str, str], ...]
GradeWording = Literal["strict", "lenient"]
Instructions = Mapping[Language, str]
"""What a system tells the model before the memory, in each language; `DATA_RULE` of that language belongs into it."""

SUMMARY_LINES = 6
PERSONALITY_LINES = 8


def _object(**properties: dict) -> dict:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


_TEXT = {"type": "string"}
_FLAG = {"type": "boolean"}
_NUMBER = {"type": "integer"}
_ROWS = {"type": "array", "items": _NUMBER}

SCHEMAS: dict[str, dict] = {
    "judge": _object(reasoning=_TEXT, answerable=_FLAG, answer=_TEXT, used=_ROWS),
    "judge: can it": _object(answerable=_FLAG),
    "judge: answer": _object(answer=_TEXT, used=_ROWS),
    "read": _object(reason=_TEXT, index={"type": ["integer", "null"]}),
    "merge": _object(reasoning=_TEXT, similar=_FLAG, merged={"type": "array", "items": _TEXT}),
    "grade": _object(reason=_TEXT, accuracy={"type": "number"}, coherence={"type": "number"}),
    "control: can it": _object(answerable=_FLAG),
    "turn summary": _object(user=_TEXT, assistant=_TEXT),
    "write memo": _object(memos={"type": "array", "items": _object(topic=_TEXT, summary=_TEXT, start=_NUMBER, end=_NUMBER)}),
    "pick memo": _object(reason=_TEXT, picks=_ROWS),
}
"""The JSON schema of each purpose whose reply is structured, in every system."""

REPLY_TOKENS = {"judge": 400, "judge: can it": 30, "judge: answer": 300, "read": 120, "grade": 200}
"""Where a structured reply ends at the latest: small models run on in a free field, and a cut reply is read as no answer."""


def judge(query: Query, memory: ShortTermMemory) -> Messages:
    """Return the prompt of step 2 in one call: can short-term memory answer, and what is the answer?"""
    return _about_memory(_texts(query.text).JUDGE, query, memory)


def judge_can(query: Query, memory: ShortTermMemory) -> Messages:
    """Return the first of two prompts of step 2: can short-term memory answer?"""
    return _about_memory(_texts(query.text).JUDGE_CAN, query, memory)


def judge_answer(query: Query, memory: ShortTermMemory) -> Messages:
    """Return the second of two prompts of step 2: the answer, once the first said that there is one."""
    return _about_memory(_texts(query.text).JUDGE_ANSWER, query, memory)


def answer(query: Query, memory: ShortTermMemory, *, instructions: Instructions | None = None) -> Messages:
    """Return the prompt of step 9; `instructions` stand in place of ILSTMA's."""
    system = instructions[language(query.text)] if instructions else _texts(query.text).ANSWER
    return _about_memory(system, query, memory)


def read(query: Query, chunks: Sequence[Chunk]) -> Messages:
    """Return the prompt of branch A's reader: which one dialogue of these excerpts holds the answer?"""
    excerpts = "\n".join(fence("excerpt", chunk.text) for chunk in chunks)  # not numbered: a model would take that for the row
    return ("system", _texts(query.text).READ), ("user", f"{excerpts}\n\n{_question(query)}")


def summarise(dialogues: Sequence[MemoryEntry]) -> Messages:
    """Return the prompt for the summary of a group of dialogues; the reference date is that of the last one."""
    texts = _texts_of(dialogues)
    return ("system", texts.SUMMARISE.format(lines=SUMMARY_LINES)), ("user", _dialogues(dialogues, texts))


def merge(old: str, new: str) -> Messages:
    """Return the prompt for the overlap update of two summaries, whose lines carry their own dates."""
    return ("system", _texts(old + new).MERGE), ("user", f"{fence('old', old)}\n{fence('new', new)}")


def personality(portrait: str, dialogues: Sequence[MemoryEntry]) -> Messages:
    """Return the prompt for the user's portrait, updated by these dialogues; the reference date is that of the last one."""
    texts = _texts_of(dialogues)
    known = fence("portrait", set_off(portrait) or texts.NO_PORTRAIT)
    return ("system", texts.PERSONALITY.format(lines=PERSONALITY_LINES)), ("user", f"{known}\n{_dialogues(dialogues, texts)}")


def grade(question: str, answer: str, *, label: str, at: datetime, wording: GradeWording = "lenient") -> Messages:
    """Return the prompt that grades `answer` against the right answer `label`, for a question asked at `at`.

    A blank label stands for what was never talked about. "lenient" gives .5 for a part of the facts, "strict" 0.
    """
    texts = _texts(question)
    data = [fence("question", question), fence("right_answer", label or texts.NEVER_SAID), fence("answer", answer)]
    return ("system", texts.GRADE[wording]), ("user", "\n".join([*data, "", texts.NOW.format(date=at.date())]))


def again(messages: Messages, reply: str) -> Messages:
    """Return `messages` with a reply that could not be read and the request to write it again."""
    return *messages, ("assistant", reply), ("user", _texts(messages[0][1]).AGAIN)


def _about_memory(system: str, query: Query, memory: ShortTermMemory) -> Messages:
    return ("system", system), ("user", f"{memory.render(language(query.text))}\n\n{_question(query)}")


def _question(query: Query) -> str:
    return f"{_texts(query.text).NOW.format(date=query.at.date())}\n{fence('question', query.text)}"


def _dialogues(dialogues: Sequence[MemoryEntry], texts: ModuleType) -> str:
    said = [(d, f"user: {hang(d.user)}\nassistant: {hang(d.assistant)}") for d in dialogues]
    rows = [fence("dialogue", text, row=d.index, date=d.created.date()) for d, text in said]
    latest = max((d.created for d in dialogues), default=None)
    return "\n".join([*rows, texts.NOW.format(date=latest.date())] if latest else rows)


def _texts_of(dialogues: Sequence[MemoryEntry]) -> ModuleType:
    return _texts("\n".join(d.user for d in dialogues))


def _texts(text: str) -> ModuleType:
    choice: Language = language(text)
    return zh if choice == "zh" else en
