"""LongMemEval: questions, each with its haystack of dated sessions of user and assistant (a JSON list or JSON Lines)."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from ilstma_lab.importers.content import Content, kind_of, shown
from ilstma_lab.importers.conversation import Conversation
from ilstma_lab.importers.formats import Format, split_records
from ilstma_lab.importers.job import Job
from ilstma_lab.importers.pairing import ASSISTANT, USER, Message, exchanges
from ilstma_lab.importers.times import Ticker
from ilstma_lab.memory.entry import is_blank

_WHEN = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})(?: \([A-Za-z]+\))? (\d{1,2}):(\d{2})", re.ASCII)


def matches(content: Content) -> bool:
    """Tell whether the first object has a haystack."""
    return "haystack_sessions" in content.first


def split(content: Content) -> list[Conversation]:
    """Return one conversation a question: its haystack, called by the question's id."""
    return split_records(content, "question_id")


def read(record: Any, job: Job) -> None:
    """Add every exchange of the haystack, sessions by date; `source` is "session#turn".

    The turn is the 0-based place, in the session, of the exchange's first message: an answer that stands at 5 belongs to the row
    that begins at 4. A session id that stands twice in a haystack gets "~2" the second time.
    """
    job.note("turns have no time of their own: those of a session follow its start (read as UTC), a second apart")
    clock = Ticker(timedelta(seconds=1), fail=job.fail)
    for start, ident, session in job.track(sorted(_sessions(record, job), key=lambda each: each[0])):
        for exchange in exchanges(_messages(session, ident, job), USER):
            job.add(exchange.user, exchange.assistant, at=clock.next(start), source=exchange.places[0], place=exchange.places[0])


def _sessions(record: Any, job: Job) -> list[tuple[datetime, str, Any]]:
    columns = [job.get(record, key, list, "") for key in ("haystack_dates", "haystack_session_ids", "haystack_sessions")]
    if len({len(column) for column in columns}) > 1:
        counts = ", ".join(str(len(column)) for column in columns)
        job.fail("haystack", f"it must have as many dates as session ids and sessions (got {counts})")
    found, times = [], Counter()
    for date, ident, session in zip(*columns, strict=True):
        if not isinstance(ident, str | int):
            job.fail("haystack_session_ids", f"an id must be a text or a number (got {kind_of(ident)})")
        name = str(ident)
        times[name] += 1
        if times[name] > 1:
            job.note(f"session {name!r} stands twice: the second is called {name}~{times[name]}")
            name = f"{name}~{times[name]}"
        found.append((_start(date, name, job), name, session))
    return found


def _messages(session: Any, ident: str, job: Job) -> list[Message]:
    messages = []
    for number, turn in enumerate(job.get({ident: session}, ident, list, "haystack")):
        place = f"{ident}#{number}"
        role, text = job.get(turn, "role", str, place), job.get(turn, "content", str, place)
        if role not in (USER, ASSISTANT):
            job.fail(place, f"the role must be user or assistant (got {role!r})")
        if is_blank(text):
            job.skip("empty turns")
        messages.append(Message(role, text, None, place))
    return messages


def _start(text: Any, ident: str, job: Job) -> datetime:
    found = _WHEN.fullmatch(text.strip()) if isinstance(text, str) else None
    try:
        return datetime(*(int(number) for number in found.groups()), tzinfo=UTC)
    except (AttributeError, ValueError):
        job.fail(f"session {ident}", f"not a date such as '2023/05/28 (Sun) 19:47' (got {shown(text)})")


FORMAT = Format("longmemeval", "LongMemEval: a haystack of dated sessions for each question", matches, split, read)
