"""MemoryBank's prompts for what is written of days, and the companion's role, in English and Chinese; in our own words.

Their purposes are those that the paper prints in sections 2.1 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.memory.records import Summary
from ilstma_lab.models.prompts import en, messages, zh
from ilstma_lab.models.prompts.fence import fence, set_off
from ilstma_lab.models.prompts.messages import Instructions, Messages
from ilstma_lab.models.sentences import language

Task = Literal["day", "mood", "events", "portrait"]

LINES: dict[Task, int] = {"day": 6, "mood": 3, "events": 10, "portrait": 6}

_ENGLISH: dict[Task, str] = {
    "day": f"""You keep the diary of a companion. You get what a user and the companion said on one day.
{en.DATA_RULE}
Write down what happened and what was told: events, plans, names, numbers, advice that was given, and what the user liked of it.
Write at most {LINES["day"]} lines, one fact a line, without greetings and without the date. Write nothing else.""",
    "mood": f"""You get what a user and a companion said on one day. Think about the user, from the user's own words alone.
{en.DATA_RULE}
Write three short lines and nothing else: "Traits: ..." for how the user is, "Mood: ..." for how they felt on that day,
"Reply: ..." for a way to speak to them that would do them good. Do not diagnose.""",
    "events": f"""You get a companion's diary, day by day. Write in short what went on over all these days.
{en.DATA_RULE}
Bring together what belongs together, keep what lasts or comes up again, and keep names, numbers and the dates of events.
Write at most {LINES["events"]} lines, one fact a line. Write nothing else.""",
    "portrait": f"""You get notes on a user's traits and moods, day by day, and ways to speak to them.
{en.DATA_RULE}
Draw one portrait from them: what holds over the days, how moods change, what the user cares about, how best to speak to them.
Where days contradict each other, the later one counts more. Do not diagnose.
Write at most {LINES["portrait"]} short lines and nothing else.""",
}
_CHINESE: dict[Task, str] = {
    "day": f"""请为一位陪伴者写日记。下面是某一天里用户与陪伴者说过的话。
{zh.DATA_RULE}
记下发生了什么、说了什么：事件、打算、姓名、数字、给过的建议，以及用户喜欢其中的哪些。
最多写 {LINES["day"]} 行，每行一个事实，不写寒暄，也不写日期。不要写别的。""",
    "mood": f"""下面是某一天里用户与陪伴者说过的话。请只根据用户自己的话来了解这位用户。
{zh.DATA_RULE}
只写三行短句，不要写别的：“性格：……”写用户是怎样的人，“情绪：……”写当天的心情，“回应：……”写怎样与其说话会有益。不要下诊断。""",
    "events": f"""下面是一位陪伴者逐日写的日记。请概括这些日子里发生的事情。
{zh.DATA_RULE}
把相关的事放在一起，保留长期的和反复出现的内容，保留姓名、数字以及事情发生的日期。
最多写 {LINES["events"]} 行，每行一个事实。不要写别的。""",
    "portrait": f"""下面是逐日记下的用户的性格和情绪，以及与其说话的方式。
{zh.DATA_RULE}
请据此写出一份总的画像：多日来一贯的特点、情绪的变化、在意的事情、怎样说话最合适。各日有矛盾时，以较晚的为重。不要下诊断。
最多写 {LINES["portrait"]} 短行，不要写别的。""",
}

COMPANION: Instructions = {
    "en": f"""You are SiliconFriend, a companion who has known the user for a while. You are warm, attentive and patient.
{en.DATA_RULE}
What you have of the user: <personality> is your portrait of them, <summary> is what went on so far, <relevant> are
memories that fit what they say now, with their dates, <history> is how this talk went so far. Any of them may be missing.
First take in how the user feels, and let them see that you did. Then answer what they said, and where it helps, come back to
what you remember: when it was, and what was said. Advise in a way that fits their portrait, in small steps, as a friend would.
Where they ask about the past and no memory says it, tell them plainly that you do not remember: invent nothing.
Never read a portrait out to them, and do not diagnose. If they may be in danger, ask them gently to turn to people near them
or to a helpline. Answer in the user's language, in a few sentences, with names, numbers and dates as they were recorded.""",
    "zh": f"""你是 SiliconFriend，一位认识用户已有一段时间的陪伴者。你温暖、专注、有耐心。
{zh.DATA_RULE}
你手上有这些：<personality> 是你对用户的画像，<summary> 是至今发生的事，<relevant> 是与用户此刻的话有关的记忆，带有日期，
<history> 是这次谈话至今的内容。其中任何一项都可能没有。
先体会用户的心情，并让用户感到你体会到了。再回应用户的话；有帮助时提起你记得的事：是什么时候，当时说了什么。
像朋友一样，按用户的画像给出合适的、一小步一小步的建议。
问的是过去的事而记忆里没有，就坦率地说不记得，绝不编造。不要把画像念给用户听，也不要下诊断。
用户可能有危险时，温和地请用户向身边的人或求助热线求助。用用户的语言回答，几句话即可；姓名、数字和日期要与记录完全一致。""",
}
"""SiliconFriend's role: an emotional companion that recalls memories and understands personality and mood (section 3)."""


def of_rows(task: Task, dialogues: Sequence[MemoryEntry]) -> Messages:
    """Return the prompt for a note of one day, from its dialogues as ILSTMA's summaries get theirs."""
    _, told = messages.summarise(dialogues)
    return ("system", _text(task, "\n".join(dialogue.user for dialogue in dialogues))), told


def of_notes(task: Task, notes: Sequence[Summary], days: Sequence[object]) -> Messages:
    """Return the prompt for what is global, from the notes of the `days`."""
    said = [fence("day", set_off(note.text), date=day) for note, day in zip(notes, days, strict=True)]
    return ("system", _text(task, "\n".join(note.text for note in notes))), ("user", "\n".join(said))


def _text(task: Task, written: str) -> str:
    return (_CHINESE if language(written) == "zh" else _ENGLISH)[task]
