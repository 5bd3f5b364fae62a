"""WhatsApp's "Export chat": a text file (or its zip) of Android or iOS."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ilstma_lab.importers.content import Content
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.formats import Format, whole_file
from ilstma_lab.importers.job import Job
from ilstma_lab.importers.pairing import Message, add_exchanges, choose_user
from ilstma_lab.importers.whatsapp_dates import DATE_AND_TIME, DateOrder
from ilstma_lab.memory.entry import is_blank

_IOS, _ANDROID = rf"\[{DATE_AND_TIME}\]", DATE_AND_TIME.replace("?P<", "?P<a_") + " [-\u2013]"
_HEADER = re.compile(rf"(?:{_IOS}|{_ANDROID}) ?(?P<rest>.*)", re.ASCII | re.IGNORECASE)
_SENDER = re.compile(r"(?:~ ?)?(?P<sender>[^:\n]{1,100}): ?(?P<text>.*)", re.DOTALL)
_MARKS = (*range(0x200E, 0x2010), *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
_INVISIBLE = dict.fromkeys(_MARKS) | {0x202F: " ", 0xA0: " "}
_MARKED = re.compile(r"[^:]*:[^\]]*\] ?[^:]{1,100}: ?\u200e")
_MEDIA = re.compile(r"<[^<>]{3,80}>|(image|video|audio|sticker|gif|document|contact card) omitted", re.IGNORECASE)
_ATTACHED = "file attached|archivo adjunto|Datei angehängt|fichier joint|arquivo anexado|文件附件"
_FILE = re.compile(rf"[^\n]+\.\w{{2,5}} \(({_ATTACHED})\)(\n|$)", re.IGNORECASE)
_NOTICE = re.compile(
    r"messages and calls are end-to-end encrypted.*|this message was deleted\.?|you deleted this message\.?", re.I | re.DOTALL
)
_QUOTES = set('"“”„«»「」')
_EDITED = re.compile(r" ?<This message was edited>$")


@dataclass(slots=True)
class _Line:
    number: int
    when: re.Match[str]
    texts: list[str]
    marked: bool  # iOS puts an invisible mark before the text of notices and media

    @property
    def date(self) -> dict[str, str]:
        return {key.removeprefix("a_"): value for key, value in self.when.groupdict().items() if value is not None}


def matches(content: Content) -> bool:
    """Tell whether the first line begins with a date, a time and the mark of a message."""
    first = content.text.lstrip().split("\n", 1)[0]
    return _HEADER.fullmatch(first.translate(_INVISIBLE).strip()) is not None


def split(content: Content) -> list[Conversation]:
    """Return the file as one conversation."""
    return whole_file(content, content.text)


def read(text: str, job: Job) -> None:
    """Add every exchange; `source` is "line 3", where its first message begins.

    Times have no zone and are read as UTC. Nothing in a file says whether 5/1 is in May or in January: a number
    above 12 settles it, else `day_first` must. Raises InputError where neither does.
    """
    lines = _lines(text, job)
    order = DateOrder.of([(f"line {line.number}", line.date) for line in lines], job)
    messages = []
    for line in lines:
        place = f"line {line.number}"
        at = order.instant(line.date, place, job)
        if message := _message(line, job):
            messages.append(Message(*message, at, place))
    job.note("times have no zone: read as UTC")
    if messages:
        add_exchanges(job, messages, choose_user(job, [message.speaker for message in messages]))


def _lines(text: str, job: Job) -> Sequence[_Line]:
    """Return the lines with a header; a line without one goes on with the message before it."""
    found: list[_Line] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        plain = raw.translate(_INVISIBLE).rstrip("\r")
        if header := _HEADER.fullmatch(plain):
            found.append(_Line(number, header, [header["rest"]], _MARKED.match(raw) is not None))
        elif found:
            found[-1].texts.append(plain)
        elif plain.strip():
            job.fail(f"line {number}", "no date, time and sender, as in '01/05/2024, 09:01 - Ana: Hello'")
    return found


def _message(line: _Line, job: Job) -> tuple[str, str] | None:
    """Return sender and text; None, counted, for system lines, media and notices."""
    said = _SENDER.fullmatch("\n".join(line.texts).rstrip())
    if said is None or _QUOTES & set(said["sender"]):  # Ben created group "Trip: Rome"
        return job.skip("system lines")
    text = _EDITED.sub("", said["text"])
    if _MEDIA.fullmatch(text):
        return job.skip("media")
    if line.marked or _NOTICE.fullmatch(text):
        return job.skip("notices and other media")
    if named := _FILE.match(text):
        job.skip("media")
        text = text[named.end() :]  # a caption follows the file's name
    if is_blank(text):
        return None if named else job.skip("empty messages")
    return said["sender"].strip(), text


FORMAT = Format("whatsapp", "WhatsApp: the text file of 'Export chat', Android or iOS", matches, split, read, people=True)
