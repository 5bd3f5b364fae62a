"""ChatRsum's prompts: the memory made anew, and the answer from it."""

from __future__ import annotations

from collections.abc import Sequence

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.models.prompts import en, zh
from ilstma_lab.models.prompts.fence import fence, hang, set_off
from ilstma_lab.models.prompts.messages import Messages
from ilstma_lab.models.sentences import language

EMPTY = {"en": "(empty)", "zh": "（空）"}

ANSWER = {
    "en": f"""You are a companion who has talked with the user before. Answer them.
{en.DATA_RULE}
<summary> is your memory of all earlier sessions; <history> is the session that you are in. Rest on both, so that what you say
agrees with them, and speak in a way that suits what you know of the user. Where the question is about the past and neither
tells, say that you do not remember it: invent nothing.
Answer in the user's language, briefly, and give names, numbers and dates exactly as they were recorded.""",
    "zh": f"""你是以前就与用户交谈过的伙伴，请回答用户。
{zh.DATA_RULE}
<summary> 是你对以往各次谈话的全部记忆，<history> 是当前这次谈话。回答要与两者一致，说话方式要合乎你对用户的了解。
问的是过去的事而两处都没有，就说不记得，绝不编造。
用用户的语言简短回答；姓名、数字和日期要与记录完全一致。""",
}

REMEMBER = {
    "en": f"""You keep one short memory of all that you and a user have talked about. A session has ended: write the memory anew.
{en.DATA_RULE}
Start from <memory>. Add what this session tells about the user: who they are, what they like, what happened, what was agreed,
with names, numbers and dates. Where the session contradicts the memory, the session holds. Join what belongs together and let
small things go, so that what matters for later talk stays.
Write the whole memory, at most {{sentences}} sentences, one a line, and nothing else.""",
    "zh": f"""你为自己与一位用户的全部谈话保存一份简短的记忆。一次谈话刚结束，请把记忆重新写一遍。
{zh.DATA_RULE}
以 <memory> 为基础，补上这次谈话中关于用户的内容：其人、其喜好、发生的事、约定的事，连同姓名、数字和日期。
与记忆矛盾时以这次谈话为准。同类内容合并，琐事舍去，留下对以后谈话重要的内容。
写出完整的记忆，最多 {{sentences}} 句，每行一句，不要写别的。""",
}


def remember(memory: str, session: Sequence[MemoryEntry], *, sentences: int) -> Messages:
    """Return the prompt that makes the memory anew of itself and the session that ended."""
    told = language("\n".join(turn.user for turn in session))
    texts = zh if told == "zh" else en
    known = fence("memory", set_off(memory) or EMPTY[told])
    said = [(t, f"user: {hang(t.user)}\nassistant: {hang(t.assistant)}") for t in session]
    turns = [fence("turn", text, row=t.index, date=t.created.date()) for t, text in said]
    now = texts.NOW.format(date=session[-1].created.date())
    return ("system", REMEMBER[told].format(sentences=sentences)), ("user", "\n".join([known, *turns, now]))
