"""Whether an answer says honestly that it does not know: by patterns, English and Chinese."""

from __future__ import annotations

import re

from ilstma_lab.evaluation.grade_text import folded

_SAID = "(?:said|told|mentioned|given|gave|named|stated|discussed|recorded|shared|specified|talked|brought|noted|described|came)"
_REFUSALS = (
    r"\b(?:i|we)(?: \w+)?(?: \w+)? (?:do not|don't|did not|didn't|cannot|can't|could not|couldn't|am unable to|was unable to|"
    r"am not able to)(?: \w+)? (?:remember|recall|know|find|see|tell|answer|say|retrieve|locate|recollect)\b",
    r"\bi (?:find|found|see|have|hold|remember|recall|know) (?:nothing|no)\b",
    r"\bi(?:'m| am) (?:not sure|not aware|unaware|unsure)\b",
    r"\b(?:i|we) (?:do not|don't) have (?:any|a|an|enough|the|that|this|such|information|details?|access)\b",
    r"\bi have(?: not|n't) (?:been told|got|any|heard|seen|a record)\b",
    rf"\byou(?: have|'ve| had)? (?:never|not|haven't|hadn't)(?: \w+)? {_SAID}\b",
    rf"\byou(?: have not|haven't| had not| hadn't)(?: \w+)? {_SAID}\b",
    r"\byou (?:did not|didn't) (?:\w+ )?(?:say|tell|mention|give|name|state|discuss|specify|talk|share|describe)\b",
    rf"\b(?:was|were|is|are|has|have|had|been)(?: been)?(?:n't| not| never)(?: \w+)?(?: been)?(?: \w+)? {_SAID}\b",
    rf"\b(?:never|not) (?:came up|come up|{_SAID[3:-1]}) (?:to me|before|in (?:our|the|my|your|any))",
    rf"\bno\b[^.;!?]{{0,80}}\b(?:was|were|is|are|has been|have been|had been)(?: ever)? {_SAID}\b",
    r"\b(?:there(?:'s| is| was| are| were)|has|have|hold|holds|contain|contains|find|found) "
    r"(?:no|not any|nothing|n't any)\b[^.;!?]{0,40}"
    r"\b(?:record|mention|memory|memories|information|note|trace|details?|about|on|of)\b",
    r"\b(?:does not|do not|doesn't|don't|did not|didn't) (?:contain|mention|say|include|specify|hold|tell|provide)\b",
    r"\bnot (?:in|part of) (?:my|the|our) (?:memory|memories|records?|conversations?)\b",
    "(?:没有?|未|不|无法)(?:能|曾|在)?(?:找到|记得|记录|查到|提到|提过|提及|说过|说起|讲过|告诉|聊过|谈过|谈到|想起|回忆|得知)",
    "(?:不|无法|不能)(?:太|很)?(?:确定|知道|清楚|回答)",
    "(?:找|记|想|答|查|说)不(?:到|得|起|出|清)",
    "(?:没有|没|无)(?:相关|有关|关于|任何|这方面)[^。！？]{0,20}(?:记忆|记录|信息|内容|对话|印象)",
    "(?:没|没有|毫无)印象|从(?:来)?(?:没有?|未)[^。！？]{0,12}(?:说|提|讲|告诉|聊|谈)",
)
_REFUSAL = re.compile("|".join(_REFUSALS))
_HEDGED = (
    r"i think|i believe|i guess|i'd guess|i would guess|(?:it was|it is|it's)(?! only| never| not)|probably|likely|"
    r"(?:might|could|must|should) (?:be|have been)"
)
_GUESS = re.compile(
    rf"\b(?:but|though|although|however|still|perhaps|maybe)\b[^.!?]{{0,60}}\b(?:{_HEDGED})\b"
    r"|\b(?:my (?:best )?guess|perhaps it|maybe it|it was probably|it might be|it might have been)\b"
    "|(?:但|不过|可是|然而)[^。！？]{0,20}(?:应该|可能|好像|也许|大概|估计|我猜|我想)|我猜|大概是|可能是|应该是|也许是"
)
_QUOTATION = re.compile(r"^(?:on \d{1,2} \w+(?: \d+)? \(row \d+\)|i noted: |(?:\d+年)?\d+月\d+日\(第\d+行\)|我记下的是:)")
_QUOTED = re.compile(r"\"[^\"]*\"")


def says_unknown(answer: str) -> bool:
    """Tell whether `answer` says that it does not remember, or was never told, and offers no guess beside.

    What stands in quotation marks does not count, nor a line by which the offline answerer quotes a row: it claims to answer.

    >>> says_unknown("I find nothing on this in my memory."), says_unknown("I don't recall, but I think it was the Toyota.")
    (True, False)
    >>> says_unknown("你从来没有说过。"), says_unknown('On 5 May (row 3) you said: "I don\\'t remember."')
    (True, False)
    """
    lines = [folded(line) for line in answer.splitlines()]
    if any(_QUOTATION.match(line) for line in lines):
        return False
    said = _QUOTED.sub(" ", "\n".join(lines))
    return _REFUSAL.search(said) is not None and _GUESS.search(said) is None
