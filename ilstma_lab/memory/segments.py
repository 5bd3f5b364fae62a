"""Short-term memory: five segments and one token budget (ILSTMA, section 3.3)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from ilstma_lab.errors import InputError
from ilstma_lab.memory.entry import MemoryEntry
from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.memory.withdrawal import PERSONALITY, Source, summary_name
from ilstma_lab.models.prompts.fence import escape, fence, hang, hang_note, set_off
from ilstma_lab.prefetch.selection import ScoredRow
from ilstma_lab.tokens import estimate_tokens
from ilstma_lab.trace import SegmentView

SEGMENTS = ("personality", "summary", "cache", "history", "relevant")
CUT_ORDER = ("history", "cache", "personality", "summary", "relevant")
CUT_MARK = " […]"
_LEAST_TOKENS = 20


@dataclass(frozen=True, kw_only=True)
class SegmentLimits:
    """How much short-term memory holds: turns of history, and tokens over all five segments.

    Over budget, parts go in this order until the rest fits: the oldest turns of history, the last rows of the cache, the
    personality, the summary, the last relevant rows. The one cached and the one relevant row that are left are shortened, with a
    mark. Tokens are counted as the prompt has them, escaped; the tags around the five segments come on top.
    Source: ILSTMA, section 3.3 (seven turns); it names no budget.
    """

    history_turns: int = 7
    token_budget: int = 3000

    def __post_init__(self) -> None:
        if self.history_turns < 0 or self.token_budget < 50:
            raise InputError(f"need history_turns >= 0 and token_budget >= 50 (got {self.history_turns}, {self.token_budget})")


@dataclass(frozen=True, slots=True)
class HistoryTurn:
    """One turn in the history queue; `row` is its row in the table, None where it was not stored.

    A turn that was not stored leaves the history when something that its answer `rests_on` is deleted or edited: when that is
    named in the table's `withdrawn` from place `seen` on.
    """

    user: str
    assistant: str
    at: datetime
    row: int | None = None
    rests_on: frozenset[Source] = frozenset()
    seen: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """A text in the relevant segment that a system wrote of rows: the number of a summary of the table, of any kind."""

    number: int


class _Made(NamedTuple):
    """A segment as it was last made, and of what."""

    content: tuple
    pieces: tuple[tuple[int | None, str], ...]
    view: SegmentView


class ShortTermMemory:
    """The five segments. Rows are held by index and looked up in the table, so an edited or deleted row is so at once.

    A hit keeps all but the history. A miss clears summary and cache, fills the relevant segment, and refills the cache.
    `by_time`: prompts list what is relevant in the order of its rows, and not best first. `with_personality`: whether the
    table's personality stands in it; a system without one shows none. `last_turn_stays`: over budget, the newest turn of the
    history is shortened, with a mark, before any other segment gives way.
    """

    def __init__(self, table: MemoryTable, limits: SegmentLimits | None = None):
        self.table = table
        self.limits = limits or SegmentLimits()
        self.by_time = False
        self.with_personality = True
        self.last_turn_stays = False
        self._cache: tuple[ScoredRow, ...] = ()
        self._relevant: tuple[int | Note, ...] = ()
        self._summary: int | None = None
        self._history: deque[HistoryTurn] = deque(maxlen=self.limits.history_turns)
        self._made: dict[str, _Made] = {}

    # -- what is in it -----------------------------------------------------------------------------------------------

    @property
    def cache(self) -> tuple[MemoryEntry, ...]:
        """The prefetched rows, best first."""
        return tuple(self.table[row.index] for row in self._cache if row.index in self.table)

    @property
    def cache_scores(self) -> tuple[ScoredRow, ...]:
        """The cached rows with the scores they were chosen by."""
        return tuple(row for row in self._cache if row.index in self.table)

    @property
    def summary(self) -> str:
        """The chosen set of high-dimensional information; "" where none is chosen, or a row that it came from changed since."""
        chosen = None if self._summary is None else self.table.summary(self._summary)
        return chosen.text if chosen and not chosen.stale else ""

    @property
    def summary_number(self) -> int | None:
        """The number of the chosen summary in the table, or None."""
        return self._summary if self.summary else None

    @property
    def personality(self) -> str:
        """What is known of the user's ways, or ""."""
        return self.table.personality if self.with_personality else ""

    @property
    def history(self) -> tuple[HistoryTurn, ...]:
        """The last turns, oldest first, as their rows stand now; turns whose row, or what they rest on, was deleted are gone."""
        return tuple(self._as_it_stands(turn) for turn in self._history if self._stands(turn))

    def _stands(self, turn: HistoryTurn) -> bool:
        if turn.row is not None:
            return turn.row in self.table
        return turn.rests_on.isdisjoint(self.table.withdrawn[turn.seen :])

    def _as_it_stands(self, turn: HistoryTurn) -> HistoryTurn:
        if turn.row is None:
            return turn
        return HistoryTurn(*self.table.sides(turn.row), turn.at, turn.row)

    @property
    def cache_shown(self) -> tuple[MemoryEntry, ...]:
        """The rows of the cache that stand in a prompt: those that the token budget left."""
        shown = next(view.rows for view in self.views() if view.name == "cache")
        return tuple(row for row in self.cache if row.index in shown)

    @property
    def relevant(self) -> tuple[MemoryEntry, ...]:
        """The recalled rows, best first; only on a miss."""
        return tuple(self.table[row] for row in self._relevant if row in self.table)

    @property
    def notes(self) -> tuple[Summary, ...]:
        """What other systems recall beside rows or in their place: texts written of rows, none of which changed since."""
        found = (self.table.summary(item.number) for item in self._relevant if isinstance(item, Note))
        return tuple(note for note in found if note and note.text and not note.stale)

    def sources(self) -> frozenset[Source]:
        """Return all that the segments show: rows, what was written of rows by its name, what turns without a row rest on."""
        written = {self.summary, self.personality, *(note.text for note in self.notes)} - {""}
        turns = [turn for turn in self._history if self._stands(turn)]
        return frozenset().union(
            (row.index for row in self._cache),
            (item for item in self._relevant if not isinstance(item, Note)),
            (turn.row for turn in turns if turn.row is not None),
            *(turn.rests_on for turn in turns if turn.row is None),
            (summary_name(one.number) for one in self.table.written if one.text in written),
            [PERSONALITY] if self.table.personality in written else (),
        )

    def standing(self, state: tuple) -> tuple:
        """Return a `state` without turns of the history that stand no more, the others as they stand now."""
        *segments, history = state
        return *segments, tuple(self._as_it_stands(turn) for turn in history if self._stands(turn))

    def forget(self) -> None:
        """Let go of what stands no more: turns of the history, and segments as they were last made."""
        self.restore(self.standing(self.state()))
        self._made = {}
        _tokens.cache_clear()
        estimate_tokens.cache_clear()

    # -- what a turn does to it --------------------------------------------------------------------------------------

    def begin_turn(self) -> None:
        """Empty the relevant segment: the judge must not see the last turn's."""
        self._relevant = ()

    def clear_for_miss(self) -> None:
        """Clear summary and cache."""
        self._summary = None
        self._cache = ()

    def fill_relevant(self, rows: Sequence[int | Note]) -> None:
        """Put the recalled rows in, and notes where a system recalls such."""
        self._relevant = tuple(rows)

    def choose_summary(self, number: int | None) -> None:
        """Put the table's summary `number` in; None leaves the segment empty."""
        self._summary = number

    def fill_cache(self, rows: Sequence[ScoredRow]) -> None:
        """Put the prefetched rows in, best first."""
        self._cache = tuple(rows)

    def push(self, turn: HistoryTurn) -> None:
        """Add a finished turn to the history; the oldest leaves a full queue."""
        self._history.append(turn)

    def set_history(self, turns: Sequence[HistoryTurn]) -> None:
        """Put these turns into the history in place of those that it holds."""
        self._history = deque(turns, maxlen=self.limits.history_turns)

    def state(self) -> tuple:
        """Return what the segments hold, to be put back by `restore`."""
        return self._cache, self._relevant, self._summary, tuple(self._history)

    def restore(self, state: tuple) -> None:
        """Put back what `state` returned, here or in the memory of a fork."""
        self._cache, self._relevant, self._summary, history = state
        self.set_history(history)

    # -- what the prompt gets ----------------------------------------------------------------------------------------

    def render(self, language: str = "en", *, segments: Sequence[str] = SEGMENTS) -> str:
        """Return the segments as fenced text, from the most stable to the most volatile, within the token budget."""
        return "\n".join(view.text for view in self.views(language) if view.name in segments and view.text)

    def views(self, language: str = "en") -> tuple[SegmentView, ...]:
        """Return each segment as it goes into a prompt: rows, text, tokens, and what was cut."""
        for name, content in self._contents().items():
            known = self._made.get(name)
            if known is None or known.content != (language, content):  # a turn looks three times, mostly at the same
                pieces = self._pieces(name, content, language)
                view = _view(name, self._shown(name, pieces), _cost(pieces))
                self._made[name] = _Made((language, content), pieces, view)
        made = [self._made[name] for name in SEGMENTS]
        if sum(segment.view.tokens for segment in made) <= self.limits.token_budget:
            return tuple(segment.view for segment in made)
        parts = {name: list(self._made[name].pieces) for name in SEGMENTS}
        self._fit(parts)
        return tuple(_view(name, self._shown(name, parts[name]), self._made[name].view.tokens) for name in SEGMENTS)

    def _shown(self, name: str, pieces: Sequence[tuple[int | None, str]]) -> Sequence[tuple[int | None, str]]:
        """Return the pieces of a segment in the order of a prompt; what was cut is missing at their end."""
        if name != "relevant" or not self.by_time:
            return pieces
        last_rows = [max(rows, default=-1) for rows in self._relevant_rows()]
        return [pieces[at] for at in sorted(range(len(pieces)), key=last_rows.__getitem__)]

    def _contents(self) -> dict[str, tuple]:
        """Return what each segment holds, (row, texts) by (row, texts), so that two states can be compared."""
        rows = self.table
        turns = ((turn.row, (turn.user, turn.assistant)) for turn in self._history if self._stands(turn))
        return {
            "personality": ((None, (self.personality,)),) if self.personality else (),
            "summary": ((None, (self.summary,)),) if self.summary else (),
            "cache": tuple((row.index, rows.sides(row.index)) for row in self._cache if row.index in rows),
            "history": tuple((row, said if row is None else rows.sides(row)) for row, said in turns),
            "relevant": self._relevant_contents(),
        }

    def _relevant_contents(self) -> tuple[tuple[int | None, tuple[str, ...]], ...]:
        live = self._live_relevant()
        return tuple((None, (item.text,)) if isinstance(item, Summary) else (item, self.table.sides(item)) for item in live)

    def _relevant_rows(self) -> list[tuple[int, ...]]:
        """Return for each piece of the relevant segment the rows that it holds or was written of."""
        return [item.rows if isinstance(item, Summary) else (item,) for item in self._live_relevant()]

    def _live_relevant(self) -> list[int | Summary]:
        notes, found = {note.number: note for note in self.notes}, []
        for item in self._relevant:
            if isinstance(item, Note):
                found += [notes[item.number]] if item.number in notes else []
            elif item in self.table:
                found.append(item)
        return found

    def _pieces(self, name: str, content: tuple, language: str) -> tuple[tuple[int | None, str], ...]:
        """Return the rows of a segment with the text that a prompt gets of each: dated, except in the history."""
        user, assistant = ("用户", "助手") if language == "zh" else ("User", "Assistant")
        pieces = []
        for row, texts in content:
            if len(texts) == 1:
                pieces.append((row, hang_note(texts[0]) if name == "relevant" else set_off(texts[0])))
                continue
            said = f"{user}: {hang(texts[0])}\n{assistant}: {hang(texts[1])}"
            pieces.append((row, said if name == "history" else f"[{row}] {self.table.day_of(row)}\n{said}"))
        return tuple(pieces)

    def _fit(self, parts: dict[str, list[tuple[int | None, str]]]) -> None:
        over = sum(_cost(pieces) for pieces in parts.values()) - self.limits.token_budget
        for name in CUT_ORDER:
            pieces, last_turn = parts[name], name == "history" and self.last_turn_stays
            while over > 0 and len(pieces) > (last_turn or name in ("cache", "relevant")):
                over -= _tokens(pieces.pop(0 if name == "history" else -1)[1])
            over -= _shorten_last(pieces, over) if last_turn else 0
        for name in ("cache", "relevant"):
            over -= _shorten_last(parts[name], over)

    def __str__(self) -> str:
        from ilstma_lab.reprs import segments_text

        return segments_text(self)

    def _repr_html_(self) -> str:
        from ilstma_lab.reprs import segments_html

        return segments_html(self)


def _view(name: str, pieces: Sequence[tuple[int | None, str]], whole: int) -> SegmentView:
    tokens = _cost(pieces)
    text = fence(name, "\n".join(piece for _, piece in pieces)) if pieces else ""
    rows = tuple(row for row, _ in pieces if row is not None)
    return SegmentView(name, rows, text, tokens, cut_tokens=max(0, whole - tokens))


def _shorten_last(pieces: list[tuple[int | None, str]], over: int) -> int:
    """Take `over` tokens off the last piece, all of it where little would be left, and return by how many tokens that is less."""
    if over <= 0 or not pieces:
        return 0
    row, text = pieces.pop()
    room = _tokens(text) - over
    if room <= _LEAST_TOKENS:
        return _tokens(text)
    pieces.append((row, shorten(text, room)))
    return over


def shorten(text: str, tokens: int) -> str:
    """Return the start of `text` that fits into `tokens`, with a mark where it was cut.

    >>> shorten("one two three four five six", 5)
    'one two […]'
    """
    if _tokens(text) <= tokens:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if _tokens(text[:middle] + CUT_MARK) <= tokens:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + CUT_MARK


def _cost(pieces: Sequence[tuple[int | None, str]]) -> int:
    return sum(_tokens(text) for _, text in pieces)


@lru_cache(maxsize=1024)
def _tokens(text: str) -> int:
    return estimate_tokens(escape(text))  # as the prompt has it: a "<" costs three
