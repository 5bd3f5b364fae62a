"""The prompts of MemoChat in English and Chinese, and the messages that they make."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.memory.segments import shorten
from ilstma_lab.models.prompts import en, zh
from ilstma_lab.models.prompts.fence import fence, hang
from ilstma_lab.models.prompts.messages import Instructions, Messages
from ilstma_lab.models.sentences import language
from ilstma_lab.protocols import Query

DIALOGUE_TOKENS = 1_200
OPTION_TOKENS = 150
NOTO = "NOTO"

WRITE: Instructions = MappingProxyType(
    {
        "en": f"""You keep the memo of a long talk. You are shown its latest dialogues, each beginning with its number
in [brackets]. Divide them into stretches, each about one topic.
{en.DATA_RULE}
A stretch is a run of neighbouring dialogues. Stretches do not overlap, and together they hold every dialogue that you see.
For each write a "topic" of two to five words, a "summary" of one to three sentences that keeps names, numbers, times and
decisions, and the numbers of its first and last dialogue. Write topic and summary in the language of the dialogues.
Reply with one JSON object and nothing else:
{{"memos": [{{"topic": "...", "summary": "...", "start": first number, "end": last number}}]}}""",
        "zh": f"""你为一场很长的谈话做备忘。下面是最近的几段对话，每段以[方括号]里的编号开头。请按话题把它们分成几节。
{zh.DATA_RULE}
一节由相邻的若干段对话组成。各节互不重叠，合起来包含你看到的每一段对话。
为每一节写一个两到八个字的“话题”（topic），一到三句话的“摘要”（summary，保留姓名、数字、时间和决定），
以及这一节第一段和最后一段的编号（start、end）。话题和摘要用对话所用的语言来写。
只回复一个 JSON 对象，不要写别的：
{{"memos": [{{"topic": "……", "summary": "……", "start": 第一段的编号, "end": 最后一段的编号}}]}}""",
    }
)

PICK: Instructions = MappingProxyType(
    {
        "en": f"""You look for what a question is about in the memo of a long talk. Each option begins with its number in
[brackets]: a topic and a summary of what was said on it. Pick the options whose dialogues are needed to answer the question.
{en.DATA_RULE}
Pick as few as you can, the most fitting first. Option 0, {NOTO}, stands for none of the others.
Reply with one JSON object and nothing else: {{"reason": "a few words", "picks": [option numbers]}}
Name only numbers that you see.""",
        "zh": f"""请在一场很长的谈话的备忘中，找出与问题有关的内容。每个选项以[方括号]里的编号开头，写着一个话题和关于它的摘要。
请选出回答这个问题所需要的选项。
{zh.DATA_RULE}
尽量少选，最合适的排在最前面。选项 0（{NOTO}）表示其他选项都不合适。
只回复一个 JSON 对象，不要写别的：{{"reason": "几个字", "picks": [选项编号]}}
只能使用你看到的编号。""",
    }
)

ANSWER: Instructions = MappingProxyType(
    {
        "en": f"""You continue a long talk with the user. <relevant> holds memos of earlier topics (topic, summary) and their
dialogues, <history> the recent dialogues.
{en.DATA_RULE}
Answer the user's input from the memos and dialogues that fit it, then from the recent dialogues, then from general
knowledge. Where it asks about the past and nothing here says it, tell the user plainly that you do not remember it.
Answer in the user's language, naturally and briefly, and give names, numbers and dates exactly as they were recorded.""",
        "zh": f"""你正与用户继续一场很长的谈话。
<relevant> 里是以前话题的备忘（话题、摘要）和相应的对话，<history> 里是最近的对话。
{zh.DATA_RULE}
回答用户时，先依据合适的备忘和对话，再依据最近的对话，最后才用常识。问的是过去的事而这里没有，就坦率地说不记得。
用用户的语言回答，自然而简短；姓名、数字和日期要与记录完全一致。""",
    }
)

_NONE = {"en": "None of the others.", "zh": "其他选项都不合适。"}
_SPEAKERS = {"en": ("User", "Assistant"), "zh": ("用户", "助手")}


def write(dialogues: Sequence[MemoryEntry]) -> Messages:
    """Return the prompt that divides dialogues, numbered from 1, into ranges of one topic each; a long one is shortened."""
    chosen = language("\n".join(d.user for d in dialogues))
    user, assistant = _SPEAKERS[chosen]
    numbered = []
    for number, dialogue in enumerate(dialogues, 1):
        said = f"{user}: {hang(dialogue.user)}\n{assistant}: {hang(dialogue.assistant)}"
        numbered.append(f"[{number}] {dialogue.created.date()}\n{shorten(said, DIALOGUE_TOKENS)}")
    return ("system", WRITE[chosen]), ("user", fence("dialogues", "\n".join(numbered)))


def pick(query: Query, options: Sequence[str]) -> Messages:
    """Return the prompt that picks from options, numbered from 1; number 0 is NOTO."""
    chosen = language(query.text)
    listed = "\n".join(numbered(options, none=_NONE[chosen]))
    return ("system", PICK[chosen]), ("user", f"{fence('options', listed)}\n\n{fence('question', query.text)}")


def numbered(options: Sequence[str], *, none: str = _NONE["en"]) -> list[str]:
    """Return the lines of a list of options; each is shortened to `OPTION_TOKENS`."""
    return [f"[0] {NOTO}. {none}"] + [f"[{n}] {shorten(hang(text), OPTION_TOKENS)}" for n, text in enumerate(options, 1)]
