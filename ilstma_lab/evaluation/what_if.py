"""What if: a session, or one turn of it, run again on a fork with other settings, and what that changes, first things first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.errors import InputError, UnknownPromptError
from ilstma_lab.evaluation.retrieval import embed_once
from ilstma_lab.memory.segments import SEGMENTS, ShortTermMemory
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
    """The what-ifs of one session: texts are embedded once for all of them, and starting points are kept.

    Raises InputError for anything but a session, and for one without a turn that was answered.
    """

    def __init__(self, session: Session):
        if not isinstance(session, Session):
            raise InputError(
                "what-if needs the session's beginning, which turns do not hold: call session = start_session(lab), from "
                f"ilstma_lab.replay, before the first question (got {type(session).__name__})"
            )
        self.session = session
        self._vectors: dict[str, Embedder] = {}
        self._starts: dict[tuple[int, str], ILSTMA] = {}
        if not self.turns:
            raise InputError("the session has no answered turn yet: ask the lab first")

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The recorded turns, without those that failed."""
        return tuple(turn for turn in self.session.turns if not turn.failure)

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
            first = range(len(turns))[alone]
            turns = turns[first : first + 1]
        start = self._start(first, embedder)
        given = _embedding_by(models or self.session.start.models, start.table.embedder)
        run = Replay(Session(start, list(turns)), config=config, models=given, on_unknown=on_unknown, days=days)
        if without:
            run.lab.memory = _Without(run.lab.memory, without)
        replayed, stopped, again = [], "", iter(run)
        try:
            for done in range(len(turns)):
                if progress:
                    progress(done, len(turns))
                replayed.append(next(again))
        except UnknownPromptError as error:
            stopped = str(error)
        settings = tuple(_differences(self.session.start, config, models, embedder, days, without))
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
        if embedder.name not in self._vectors:
            self._vectors[embedder.name] = embed_once(replace(self.session.start.models, embedder=embedder)).embedder
        return self._vectors[embedder.name]


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

    `session`: from `start_session(lab)`, called before the questions were asked. `embedder` embeds the rows anew, `days` moves
    the clock, the segments of `without` stay empty; `on_unknown` as in `replay`, but with "stop" the result ends there and
    says so. For many what-ifs of one session, `WhatIfs(session).run(...)` embeds each text once. Raises InputError.
    """
    settings = {"config": config, "models": models, "embedder": embedder, "days": days, "without": without}
    return WhatIfs(session).run(alone=turn, on_unknown=on_unknown, **settings)


class _Without(ShortTermMemory):
    """A short-term memory in which some segments stay empty."""

    def __init__(self, memory: ShortTermMemory, without: Collection[str]):
        super().__init__(memory.table, memory.limits)
        self._without = frozenset(without)
        self.restore(memory.state())

    def restore(self, state: tuple) -> None:
        """Put back what `state` returned, but for the segments that stay empty."""
        empty = {"cache": (0, ()), "relevant": (1, ()), "summary": (2, None), "history": (3, ())}
        parts = dict(enumerate(state)) | {at: nothing for name, (at, nothing) in empty.items() if name in self._without}
        super().restore(tuple(parts.values()))

    @property
    def personality(self) -> str:
        """What is known of the user's ways, or ""."""
        return "" if "personality" in self._without else self.table.personality

    def fill_cache(self, rows) -> None:
        """Put the prefetched rows in, unless the cache stays empty."""
        super().fill_cache(() if "cache" in self._without else rows)

    def fill_relevant(self, rows) -> None:
        """Put the recalled rows in, unless the segment stays empty."""
        super().fill_relevant(() if "relevant" in self._without else rows)

    def choose_summary(self, number: int | None) -> None:
        """Put a summary in, unless the segment stays empty."""
        super().choose_summary(None if "summary" in self._without else number)

    def push(self, turn) -> None:
        """Add a finished turn, unless the history stays empty."""
        if "history" not in self._without:
            super().push(turn)


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


def _differences(
    start: ILSTMA, config: Config | None, models: Models | None, embedder: Embedder | None, days: int, without: Collection[str]
) -> Iterator[str]:
    """Yield what differs from the recorded settings, in words."""
    if config is not None:
        yield from _in_words(dict(_flat(start.config)), dict(_flat(config)))
    if models is not None and models.name != start.models.name:
        yield f"the model {models.name}"
    if embedder is not None and embedder.name != start.table.embedder.name:
        yield f"the embedder {embedder.name}"
    if days:
        yield f"the clock {abs(days)} {'day' if abs(days) == 1 else 'days'} {'on' if days > 0 else 'back'}"
    yield from (f"no {name}" for name in SEGMENTS if name in without)


_WORDS = {
    "short_term.history_turns": "a history of {} turns",
    "short_term.token_budget": "{} tokens",
    "retrieval.narrow": "narrowing: {}",
    "prefetch.offset": "offset {}",
    "prefetch.place.form": "{} place",
    "prefetch.place.weight": "weight of place {}",
    "prefetch.retention": "the {} curve",
    "prefetch.strength": "{}",
}
_RANKING = "retrieval.dialogues."


def _in_words(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    changed = {name: value for name, value in new.items() if name != "overlap" and (name not in old or old[name] != value)}
    ranking = [name.removeprefix(_RANKING) for name in changed if name.startswith(_RANKING)]
    if len(ranking) > 1:
        plain = all(new[_RANKING + name] == 0 for name in ("words", "sentences", "preceding", "days"))
        yield "B by plain cosine" if plain else f"B with other {', '.join(ranking)}"
        changed = {name: value for name, value in changed.items() if not name.startswith(_RANKING)}
    for name, value in changed.items():
        shown = f"{value:g}" if isinstance(value, float) else str(value)
        yield _WORDS.get(name, f"{name.rpartition('.')[2].replace('_', ' ')} = {{}}").format(shown)


def _flat(part: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each parameter by its path; a curve counts as one."""
    for each in fields(part):
        name, value = f"{path}{each.name}", getattr(part, each.name)
        if name == "prefetch.strength":
            yield name, _strength_in_words(value)
        elif name == "prefetch.retention":
            yield name, getattr(value, "kind", type(value).__name__)
        elif is_dataclass(value):
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


def _strength_in_words(strength: Any) -> str:
    ends = [("S(1)", "first_days"), ("S(∞)", "limit_days")]
    known = [f"{name} = {getattr(strength, field):g} days" for name, field in ends if hasattr(strength, field)]
    return " and ".join(known) or str(strength)
