"""SCM's prompts: the answer, the summary of a turn, and the controller's two questions."""

from __future__ import annotations

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.prompts import en, zh
from ilstma_lab.models.prompts.fence import fence, hang, set_off
from ilstma_lab.models.prompts.messages import Messages
from ilstma_lab.models.sentences import language
from ilstma_lab.protocols import Query

ANSWER = {
    "en": f"""You are an assistant in a long conversation. Answer the user's question.
{en.DATA_RULE}
<relevant> holds earlier turns of this conversation in the order of time, long ones in short. The last of them, or the turn in
<history>, comes right before the question. Use them where they bear on the question and leave the others aside. Where it is
about the past and no turn tells, say that you do not remember it: invent nothing.
Answer in the user's language, briefly, and give names, numbers and dates exactly as they were recorded.""",
    "zh": f"""你正在与用户进行一场很长的对话，请回答用户的问题。
{zh.DATA_RULE}
<relevant> 中是这场对话里较早的几轮，按时间排列，较长的只留摘要；其中最后一轮，或 <history> 中的一轮，紧接在问题之前。
与问题有关的就用，无关的不必理会。问的是过去的事而这几轮里没有，就说不记得，绝不编造。
用用户的语言简短回答；姓名、数字和日期要与记录完全一致。""",
}

SUMMARISE = {
    "en": f"""You shorten one turn of a conversation, so that it can be recalled later in few words.
{en.DATA_RULE}
Write one sentence on what the user said and one on what the assistant said. Keep names, numbers, dates and requests.
Reply with one JSON object and nothing else: {{"user": "one sentence", "assistant": "one sentence"}}
Where a side said nothing, leave its sentence empty.""",
    "zh": f"""请把对话中的一轮缩短，以便日后用几句话就能想起。
{zh.DATA_RULE}
用户说的写成一句，助手说的写成一句；姓名、数字、日期和请求要保留。
只回复一个 JSON 对象，不要写别的：{{"user": "一句话", "assistant": "一句话"}}
某一方没有说话，就把那一句留空。""",
}

CAN = {
    "en": f"""You decide whether one earlier turn of a conversation is enough to answer a question.
{en.DATA_RULE}
Reply true if what <turn> holds answers the question or a part of it, false if it does not.
Reply with one JSON object and nothing else: {{"answerable": true or false}}""",
    "zh": f"""请判断：只凭对话中较早的这一轮，能否回答这个问题。
{zh.DATA_RULE}
<turn> 的内容能回答这个问题或其中一部分，就回复 true，否则回复 false。
只回复一个 JSON 对象，不要写别的：{{"answerable": true 或 false}}""",
}


def summarise(turn: MemoryEntry) -> Messages:
    """Return the prompt for the summary of one long turn."""
    said = f"user: {hang(turn.user)}\nassistant: {hang(turn.assistant)}"
    return ("system", SUMMARISE[language(turn.text)]), ("user", fence("turn", said, row=turn.index, date=turn.created.date()))


def can_answer(query: Query, turn: MemoryEntry, text: str) -> Messages:
    """Return the prompt that asks whether `text`, a turn or its summary, answers the question."""
    told, texts = language(query.text), zh if language(query.text) == "zh" else en
    shown = fence("turn", set_off(text), row=turn.index, date=turn.created.date())
    asked = f"{texts.NOW.format(date=query.at.date())}\n{fence('question', query.text)}"
    return ("system", CAN[told]), ("user", f"{shown}\n\n{asked}")
