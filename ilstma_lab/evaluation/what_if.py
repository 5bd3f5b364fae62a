"""What if: a session, or one turn of it, run again on a fork with other settings, and what that changes, first things first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.errors import InputError, UnknownPromptError
from ilstma_lab.evaluation.retrieval import embed_once
from ilstma_lab.evaluation.segments_off import SegmentsOff
from ilstma_lab.evaluation.what_if_words import differences
from ilstma_lab.memory.segments import SEGMENTS
from ilstma_lab.models import Models
from ilstma_lab.models.extractive_summary import ExtractiveMerger
from ilstma_lab.protocols import Embedder
from ilstma_lab.replay import OnUnknown, Replay, Session
from ilstma_lab.trace import Turn

_TOP = 5
_PROMPTS = {2: "the judge's prompt", 6: "the reader's prompt", 9: "the answer's prompt", 5: "the summary's prompt"}


@dataclass(frozen=True)
class Change:
    """One thing that a turn did otherwise; `place` is the turn's in the session, from 0."""

    place: int
    name: str
    before: Any
    after: Any


@dataclass(frozen=True, kw_only=True)
class WhatIfResult:
    """The recorded turns and what became of them; `replayed` is shorter where an unknown prompt `stopped` the replay.

    `settings`: what was different, in words. `first`: the place in the session of the first turn here, above 0 where
    one turn was run again alone.
    """

    recorded: tuple[Turn, ...]
    replayed: tuple[Turn, ...]
    settings: tuple[str, ...]
    first: int = 0
    stopped: str = ""

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All that differs, in the order in which it came about."""
        pairs = zip(self.recorded, self.replayed, strict=False)
        return tuple(change for place, (one, other) in enumerate(pairs, self.first) for change in _changes(place, one, other))

    @property
    def flips(self) -> tuple[Change, ...]:
        """The turns that hit where they missed, or missed where they hit."""
        return tuple(change for change in self.changes if change.name == "the outcome")

    def of(self, place: int) -> tuple[Turn, Turn | None]:
        """Return the recorded and the replayed turn at a place in the session, None where the replay did not get there.

        Raises InputError for a place that this result does not hold.
        """
        at = place - self.first
        if not 0 <= at < len(self.recorded):
            raise InputError(f"this result holds the turns {self.first} to {self.first + len(self.recorded) - 1} (got {place})")
        return self.recorded[at], self.replayed[at] if at < len(self.replayed) else None

    @property
    def finding(self) -> str:
        """The consequence in one sentence."""
        from ilstma_lab.reprs.what_if import finding_of

        return finding_of(self)

    def __str__(self) -> str:
        from ilstma_lab.reprs.what_if import what_if_text

        return what_if_text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from ilstma_lab.reprs.what_if import what_if_html

        return what_if_html(self)


class WhatIfs:
    """The what-ifs of one session: its texts are embedded once for all of them, and starting points are kept.

    `turns` are those that were answered until now; a place counts among them, from 0.
    Raises InputError for anything but a session, and for one without a turn that was answered.
    """

    def __init__(self, session: Session):
        if not isinstance(session, Session):
            raise InputError(
                "what-if needs the session's beginning, which turns do not hold: call session = start_session(lab), from "
                f"ilstma_lab.replay, before the first question (got {type(session).__name__})"
            )
        self.session = session
        self.turns = tuple(turn for turn in session.turns if not turn.failure)
        self._starts: dict[tuple[int, str], ILSTMA] = {}
        if not self.turns:
            raise InputError("the session has no answered turn yet: ask the lab first")

    def run(
        self,
        *,
        config: Config | None = None,
        models: Models | None = None,
        embedder: Embedder | None = None,
        days: int = 0,
        without: Collection[str] = (),
        alone: int | None = None,
        on_unknown: OnUnknown = "stop",
        progress: Callable[[int, int], None] | None = None,
    ) -> WhatIfResult:
        """Return what becomes of the session, or of the turn at place `alone` after all that was recorded before it.

        `config`, `models`: None leaves them as they were. `embedder`: the rows are embedded again by it. `days`: each question
        is asked so many days later. `without`: segments that stay empty. What replay does at a prompt that was never sent is said
        by `on_unknown`; with "stop" the result ends there and says so. `progress(done, total)` is called before each turn.
        """
        if unknown := set(without) - set(SEGMENTS):
            raise InputError(f"there is no segment {', '.join(sorted(unknown))}; there are {', '.join(SEGMENTS)}")
        turns, first = self.turns, 0
        if alone is not None:
            if not -len(turns) <= alone < len(turns):
                raise InputError(f"there is no turn {alone}: the session has {len(turns)} that were answered, counted from 0")
            first = alone % len(turns)
            turns = turns[first : first + 1]
        start = self._start(first, embedder)
        given = _embedding_by(models or self.session.start.models, start.table.embedder)
        run = Replay(Session(start, list(turns)), config=config, models=given, on_unknown=on_unknown, days=days)
        if without:
            run.lab.memory = SegmentsOff(run.lab.memory, without)
        replayed, stopped, again = [], "", iter(run)
        try:
            for done in range(len(turns)):
                if progress:
                    progress(done, len(turns))
                replayed.append(next(again))
        except UnknownPromptError as error:
            stopped = str(error)
        settings = tuple(differences(self.session.start, config, models, embedder, days, without))
        return WhatIfResult(recorded=turns, replayed=tuple(replayed), settings=settings, first=first, stopped=stopped)

    def _start(self, place: int, embedder: Embedder | None) -> ILSTMA:
        """Return the lab as it stood before the turn at `place`, its rows embedded by `embedder`."""
        key = place, embedder.name if embedder else ""
        if key not in self._starts:
            if embedder is not None:
                start = self._start(place, None).fork()
                start.table.reembed(self._remembering(embedder))
            elif place:
                start = self._after(place)
            else:
                start = self.session.start.fork()
                start.table.embedder = self._remembering(start.table.embedder)
            self._starts[key] = start
        return self._starts[key]

    def _after(self, place: int) -> ILSTMA:
        """Return the lab after the first `place` turns, as they were recorded."""
        run = Replay(Session(self._start(0, None), list(self.turns[:place])))
        for _ in run:
            pass
        return run.lab.fork(self.session.start.config, models=self.session.start.models)

    def _remembering(self, embedder: Embedder) -> Embedder:
        known = self.session.embedders
        if embedder.name not in known:
            known[embedder.name] = embed_once(replace(self.session.start.models, embedder=embedder)).embedder
        return known[embedder.name]


def what_if(
    session: Session,
    *,
    turn: int | None = None,
    config: Config | None = None,
    models: Models | None = None,
    embedder: Embedder | None = None,
    days: int = 0,
    without: Collection[str] = (),
    on_unknown: OnUnknown = "stop",
) -> WhatIfResult:
    """Return what becomes of a session with other settings; with `turn`, of that turn alone (its place, -1 for the last).

    `session`: from `start_session(lab)`, called before the questions were asked; a place counts the answered turns, from 0.
    `embedder` embeds the rows anew, `days` moves the clock, the segments of `without` stay empty; `on_unknown` as in `replay`,
    but with "stop" the result ends there and says so. Raises InputError.
    """
    settings = {"config": config, "models": models, "embedder": embedder, "days": days, "without": without}
    return WhatIfs(session).run(alone=turn, on_unknown=on_unknown, **settings)


def _embedding_by(models: Models, embedder: Embedder) -> Models:
    """Return `models` with `embedder` in place of their own, also where summaries are compared."""
    merger = models.merger
    if isinstance(merger, ExtractiveMerger):
        merger = ExtractiveMerger(embedder, similarity=merger.similarity)
    return replace(models, embedder=embedder, merger=merger)


def _changes(place: int, recorded: Turn, replayed: Turn) -> Iterator[Change]:
    one, other = _seen(recorded), _seen(replayed)
    for name in one:
        if name in other and one[name] != other[name]:
            yield Change(place, name, one[name], other[name])


def _seen(turn: Turn) -> dict[str, Any]:
    """Return what is compared of a turn, in the order in which it came about."""
    before = {view.name: view.rows or view.text for view in turn.segments_before if view.name != "relevant"}
    prompts = {step: {name: turn.prompts[step]} if step in turn.prompts else {} for step, name in _PROMPTS.items()}
    searched: dict[str, Any] = {}
    if turn.recall:
        ranked = tuple(candidate.index for candidate in turn.recall.branch_b.candidates[:_TOP])
        searched = {**prompts[6], "A's row": turn.recall.branch_a.named, "B's ranking": ranked}
    return {
        **{f"the {name}": held for name, held in before.items()},
        **prompts[2],
        "the outcome": "hit" if turn.hit else "miss",
        **searched,
        "the rows": turn.recalled,
        "the chosen summary": next((view.text for view in turn.answered_from if view.name == "summary"), ""),
        **prompts[9],
        "the answer": turn.answer,
        **prompts[5],
        "the next cache": next((view.rows for view in turn.segments_after if view.name == "cache"), ()),
    }
