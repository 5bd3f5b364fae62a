"""A session run again on a fork with other settings, with the replies that were recorded.

session = start_session(lab)
...                                    # ask as usual
turns = replay(session, config=Config.literal(), on_unknown="offline")
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import takewhile
from typing import Any, Literal

from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.errors import InputError, UnknownPromptError
from ilstma_lab.models import Models, offline
from ilstma_lab.models.cassette import Cassette
from ilstma_lab.models.stream import Stream
from ilstma_lab.protocols import Embedder
from ilstma_lab.retrieval.recall import Reading
from ilstma_lab.trace import Turn, Verdict

OnUnknown = Literal["stop", "offline", "assume_same_verdict"]

_CHOICES = ("stop", "offline", "assume_same_verdict")
_PARTS = ("judge", "reader", "responder", "summarizer", "merger", "profiler")
_COMPARED = ("hit", "answer", "recalled", "kind", "labels")


class Session:
    """A starting snapshot, as a fork that nothing asks, and the turns since: those of `turns` from place `first` on.

    `embedders`, by name: what embeds for replays that share their vectors (evaluation/what_if.py). `lab`: whose turns these are;
    when its table is compacted after a row was edited or deleted, the session begins anew.
    """

    def __init__(self, start: ILSTMA, turns: list[Turn], *, first: int = 0, lab: ILSTMA | None = None):
        self.start = start
        self._turns = turns
        self._earlier = turns[:first]
        self.embedders: dict[str, Embedder] = {}
        self._lab = lab
        self._seen = len(start.table.withdrawn)
        if lab is not None:
            lab.table.kept_by(self)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns since the start, oldest first. Those of before may have been taken back meanwhile."""
        kept = zip(self._earlier, self._turns, strict=False)
        return tuple(self._turns[sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], kept)) :])

    def forget(self, texts: Sequence[str] = ()) -> None:
        """Begin anew with the lab as it stands, where a row was edited or deleted since; `table.compact()` calls this."""
        if len(self._lab.table.withdrawn) > self._seen:
            self.start, self._earlier = self._lab.fork(), list(self._turns)
            self._seen = len(self._lab.table.withdrawn)
            self.embedders = {}

    def __repr__(self) -> str:
        return f"<Session of {len(self.turns)} turns from {self.start!r}>"


def start_session(lab: ILSTMA) -> Session:
    """Return a session that collects the turns of `lab` from now on.

    It knows of turns alone: rows that are added, edited or deleted between them by other means are not run again.
    """
    return Session(lab.fork(), lab.turns, first=len(lab.turns), lab=lab)


def replay(
    session: Session,
    *,
    config: Config | None = None,
    models: Models | None = None,
    on_unknown: OnUnknown = "stop",
    days: int = 0,
) -> list[Turn]:
    """Return the session's turns, run again from its start with `config` and `models` (None: as they were).

    Every question is asked when it was asked then, or `days` days later. Offline parts run again and give the same. Parts that
    prompt a model take the recorded reply where the prompt is the same. What happens at a prompt that was never sent is said
    by `on_unknown`:

    - "stop": raise UnknownPromptError;
    - "offline": the extractive part does it;
    - "assume_same_verdict": judge, reader and answer give what they gave in the recorded turn, other parts are extractive.

    Whatever was not made from a recorded reply stands in the turn's `labels`. Turns that had failed are left out: they left
    nothing behind. `seconds` are those of the replay; the model's own stand with each of the turn's calls. `config.overlap` is
    left aside: it decides nothing, and asks at a hit what was perhaps never asked.

    A part of your own replays if it keeps what it asks as `chat`, as the kit's do; another one, a retriever and the embedder
    run as they are. Raises InputError for an unknown choice.
    """
    return list(Replay(session, config=config, models=models, on_unknown=on_unknown, days=days))


class Replay:
    """A session on its way through other settings, as `replay` describes it: each turn is yielded when it has been asked.

    `recorded` are the turns that are asked again, and `lab` is the fork that they are asked of.
    """

    def __init__(
        self,
        session: Session,
        *,
        config: Config | None = None,
        models: Models | None = None,
        on_unknown: OnUnknown = "stop",
        days: int = 0,
    ):
        if on_unknown not in _CHOICES:
            raise InputError(f"on_unknown must be one of {', '.join(_CHOICES)} (got {on_unknown!r})")
        self.recorded = [turn for turn in session.turns if not turn.failure]
        self._later = timedelta(days=days)
        start = session.start
        self._aside = _Aside(on_unknown, offline(start.table.embedder))
        parts = _without_network(models or start.models, Cassette.from_turns(self.recorded), self._aside)
        self.lab = start.fork(replace(config or start.config, overlap=False), models=parts)

    def __iter__(self) -> Iterator[Turn]:
        return (self._ask_again(turn) for turn in self.recorded)

    def _ask_again(self, recorded: Turn) -> Turn:
        self._aside.begin(recorded)
        turn = self.lab.ask(recorded.question, at=recorded.at + self._later, remember=recorded.row is not None)
        if self._aside.stopped:  # the engine goes on without a part that fails, and a replay told to stop must not
            raise UnknownPromptError(f"turn {recorded.number}: {self._aside.stopped}")
        return replace(turn, labels=(*turn.labels, *dict.fromkeys(self._aside.labels)))


def compare(recorded: Sequence[Turn], replayed: Sequence[Turn]) -> list[dict[str, tuple[Any, Any]]]:
    """Return for each pair of turns what differs, as {name: (recorded, replayed)}: hit, answer, recalled, kind, labels, cache."""

    def seen(turn: Turn) -> dict[str, Any]:
        cache = next((view.rows for view in turn.segments_after if view.name == "cache"), ())
        return {**{name: getattr(turn, name) for name in _COMPARED}, "cache": cache}

    pairs = [(seen(one), seen(other)) for one, other in zip(recorded, replayed, strict=True)]
    return [{name: (one[name], other[name]) for name in one if one[name] != other[name]} for one, other in pairs]


def _without_network(models: Models, cassette: Cassette, aside: _Aside) -> Models:
    """Return `models` with each part that prompts a chat in a wrapper, its chat replaced by the cassette."""
    parts = {}
    for name in _PARTS:
        part = getattr(models, name)
        if hasattr(part, "chat"):
            part = copy.copy(part)
            part.chat = cassette.around(part.chat.model)
            parts[name] = _Recorded(part, getattr(aside.offline, name), aside)
    return replace(models, **parts)


class _Aside:
    """What happens beside the recorded replies of one turn: who stands in, and the labels that say so."""

    def __init__(self, on_unknown: OnUnknown, offline_models: Models):
        self.on_unknown = on_unknown
        self.offline = offline_models
        self.begin(None)

    def begin(self, turn: Turn | None) -> None:
        self.turn = turn
        self.labels: list[str] = []
        self.stopped: UnknownPromptError | None = None

    def instead(self, error: UnknownPromptError, part: str, extractive: Callable[[], Any], recorded: Any = None) -> Any:
        """Return what stands in for a reply that was never had, and label it."""
        if self.on_unknown == "stop":
            self.stopped = self.stopped or error
            raise error
        if self.on_unknown == "assume_same_verdict" and recorded is not None:
            self.labels.append(f"{part}: assumed as recorded, for this prompt was never sent")
            return recorded
        self.labels.append(f"{part}: extractive, for this prompt was never sent")
        return extractive()


class _Recorded:
    """A part whose chat replays, in the place of any part that prompts; each method is that of one protocol."""

    def __init__(self, part: Any, extractive: Any, aside: _Aside):
        self.part, self.extractive, self.aside = part, extractive, aside

    def judge(self, query, memory) -> Verdict:
        """Step 2."""
        try:
            return self.part.judge(query, memory)
        except UnknownPromptError as error:
            verdict = self.aside.turn.verdict and replace(self.aside.turn.verdict, calls=())
            return self.aside.instead(error, "verdict", lambda: self.extractive.judge(query, memory), verdict)

    def read(self, query, chunks) -> Reading:
        """Branch A of step 6."""
        try:
            return self.part.read(query, chunks)
        except UnknownPromptError as error:
            recall = self.aside.turn.recall
            reading = recall and replace(recall.branch_a.reading, calls=())
            return self.aside.instead(error, "reading", lambda: self.extractive.read(query, chunks), reading)

    def answer(self, query, memory) -> Stream | str:
        """Step 9. A replayed answer comes in one piece, so it may be read to its end here."""
        try:
            stream = self.part.answer(query, memory)
            return _spoken(list(stream), stream)
        except UnknownPromptError as error:
            return self.aside.instead(error, "answer", lambda: self.extractive.answer(query, memory), self.aside.turn.answer)

    def summarize(self, dialogues):
        """Step 5, a group."""
        return self._or_extractive("summary", "summarize", dialogues)

    def merge(self, old, new):
        """Step 5, the overlap."""
        return self._or_extractive("merged summary", "merge", old, new)

    def profile(self, personality, dialogues):
        """Step 5, the personality."""
        return self._or_extractive("personality", "profile", personality, dialogues)

    def _or_extractive(self, name: str, method: str, *given: Any) -> Any:
        try:
            return getattr(self.part, method)(*given)
        except UnknownPromptError as error:
            return self.aside.instead(error, name, lambda: getattr(self.extractive, method)(*given))


def _spoken(pieces: list[str], stream: Any) -> Stream:
    def again():
        yield from pieces
        return stream.call

    return Stream(again())
