"""Messages of several speakers into dialogues of a user and an assistant."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from ilstma_lab.errors import InputError
from ilstma_lab.importers.conversation import listed
from ilstma_lab.importers.job import Job
from ilstma_lab.memory.entry import is_blank

ASSISTANT = "assistant"
USER = "user"


@dataclass(frozen=True, slots=True)
class Message:
    """What one speaker said once. `place` leads back to the file."""

    speaker: str
    text: str
    at: datetime | None
    place: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """The user's turn and the answer to it. `at` is when it began; `places` are those of its messages."""

    user: str
    assistant: str
    at: datetime | None
    places: tuple[str, ...]


def exchanges(messages: Sequence[Message], user: str) -> Iterator[Exchange]:
    """Yield `messages` as exchanges: what `user` said in a row is one turn, what was said until the next is the answer.

    An answer that nothing comes before has an empty user's turn. Where several others speak, their names stand before their
    words. A blank message still parts what stands before it from what stands after it.

    >>> talk = [Message("Ana", "Hi", None, "1"), Message("Ana", "Dinner?", None, "2"), Message("Ben", "Yes", None, "3")]
    >>> [(e.user, e.assistant, e.places) for e in exchanges(talk, "Ana")]
    [('Hi\\nDinner?', 'Yes', ('1', '2', '3'))]
    """
    group = len({message.speaker for message in messages} - {user}) > 1
    said: list[Message] = []
    for message in messages:
        if message.speaker == user and said and said[-1].speaker != user:
            yield from _exchange(said, user, group=group)
            said = []
        said.append(message)
    yield from _exchange(said, user, group=group)


def add_exchanges(job: Job, messages: Sequence[Message], user: str) -> None:
    """Add `messages` to `job`, a dialogue an exchange; its source is the place of its first message."""
    for exchange in job.track(list(exchanges(messages, user))):
        job.add(exchange.user, exchange.assistant, at=exchange.at, source=exchange.places[0], place=exchange.places[0])


def choose_user(job: Job, speakers: Sequence[str]) -> str:
    """Return the speaker whose turns are the user's: the one that `job.user` names, else the first of them."""
    names = list(dict.fromkeys(speakers))
    if job.user is None:
        chosen = names[0]
        job.note(f"the user's turns are those of {chosen!r} (user=... names another)")
    else:
        wanted = job.user.strip().casefold()
        found = [name for name in names if name.strip().casefold() == wanted]
        if len(found) != 1:
            raise InputError(f"{job.content.name}: no single speaker is called {job.user!r}. There are {listed(names)}")
        chosen = found[0]
        job.note(f"the user's turns are those of {chosen!r}")
    job.note(f"the other turns are those of {listed([name for name in names if name != chosen], limit=10) or 'nobody'}")
    return chosen


def _exchange(said: Sequence[Message], user: str, *, group: bool) -> Iterator[Exchange]:
    spoken = [message for message in said if not is_blank(message.text)]
    asked = [message.text for message in spoken if message.speaker == user]
    answered = [f"{m.speaker}: {m.text}" if group else m.text for m in spoken if m.speaker != user]
    if spoken:
        yield Exchange("\n".join(asked), "\n".join(answered), said[0].at, tuple(message.place for message in said))
