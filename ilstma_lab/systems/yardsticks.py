"""What every comparison shows beside the systems: answers that need no memory, the last dialogues, all of them, word search."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar

from ilstma_lab.clock import Clock
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.baselines import Bm25, plain_words
from ilstma_lab.lab import Lab
from ilstma_lab.memory.segments import SegmentLimits
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.models.sentences import language
from ilstma_lab.recorder import StepNotes
from ilstma_lab.running import RunningTurn

if TYPE_CHECKING:
    from ilstma_lab.memory.segments import ShortTermMemory
    from ilstma_lab.protocols import Query

_NO_HISTORY = SegmentLimits(history_turns=0)


@dataclass(frozen=True, kw_only=True)
class ConstantSettings:
    """What is answered to every question: what a model without memory would honestly say, in English and in Chinese."""

    en: str = "I do not remember that."
    zh: str = "我不记得这件事。"
    short_term: SegmentLimits = _NO_HISTORY


@dataclass(frozen=True, kw_only=True)
class LastTurnsSettings:
    """How many dialogues at the end of the table are shown: by default as many as ILSTMA's history holds."""

    turns: int = 7
    short_term: SegmentLimits = _NO_HISTORY

    def __post_init__(self) -> None:
        if self.turns < 1:
            raise InputError(f"turns must be >= 1 (got {self.turns})")


@dataclass(frozen=True, kw_only=True)
class FullContextSettings:
    """How many tokens of dialogues a prompt may hold: by default what a model with a window of 16,000 tokens reads.

    Each topic of ilstma5 fits into it, with the marks around its rows.
    """

    short_term: SegmentLimits = field(default_factory=lambda: SegmentLimits(history_turns=0, token_budget=16_000))


@dataclass(frozen=True, kw_only=True)
class PlainBm25Settings:
    """How many rows are recalled: by default as many as branch B of ILSTMA recalls."""

    rows: int = 2
    short_term: SegmentLimits = _NO_HISTORY

    def __post_init__(self) -> None:
        if self.rows < 1:
            raise InputError(f"rows must be >= 1 (got {self.rows})")


class Yardstick(Lab):
    """A lab that writes nothing of its rows: `show` puts some of them into the relevant segment, and an answer is made.

    Each question stands alone, unless `short_term` is given a history.
    """

    retrieves = False
    settings: ClassVar[type]

    def __init__(self, table: MemoryTable, config: Any = None, *, models: Models | None = None, clock: Clock | None = None):
        config = config or self.settings()
        super().__init__(table, config, limits=config.short_term, models=models, clock=clock)
        self.memory.with_personality = False

    def summarise(self, *, progress: Callable[[int, int], None] | None = None) -> int:
        """Return 0: a yardstick writes nothing of rows."""
        return 0

    @abstractmethod
    def show(self, turn: RunningTurn, step: StepNotes) -> None:
        """Put what the answer may rest on into short-term memory."""

    def _running(self, question: str, at: datetime, **options: Any) -> RunningTurn:
        return _YardstickTurn(self, question, at, **options)


class Constant(Yardstick):
    """Says the same to every question, in its language. No model is asked, also where one is given."""

    system = "Constant answer"
    settings = ConstantSettings

    def __init__(
        self,
        table: MemoryTable,
        config: ConstantSettings | None = None,
        *,
        models: Models | None = None,
        clock: Clock | None = None,
    ):
        config = config or ConstantSettings()
        models = replace(models or offline(table.embedder), name="no model", responder=_Says(config), chat=None)
        super().__init__(table, config, models=models, clock=clock)

    def show(self, turn: RunningTurn, step: StepNotes) -> None:
        """Show nothing."""
        step.note = "nothing is read"


class LastTurns(Yardstick):
    """Shows the last dialogues of the table and nothing else. Offline, the nearest of them are quoted."""

    system = "Last turns"
    settings = LastTurnsSettings

    def __init__(self, table: MemoryTable, config: LastTurnsSettings | None = None, **parts: Any):
        super().__init__(table, config, **_quoting_nearest(table, parts))

    def show(self, turn: RunningTurn, step: StepNotes) -> None:
        """Show the last `turns` rows."""
        _show_newest(turn, step, self.table.indices[-self.config.turns :].tolist())


class FullContext(Yardstick):
    """Shows all dialogues; where the token budget cuts, the newest stay, and the step's note says how many are left out.

    Offline, the nearest of all that are shown are quoted.
    """

    system = "Full context"
    settings = FullContextSettings

    def __init__(self, table: MemoryTable, config: FullContextSettings | None = None, **parts: Any):
        super().__init__(table, config, **_quoting_nearest(table, parts))

    def show(self, turn: RunningTurn, step: StepNotes) -> None:
        """Show all rows that fit."""
        _show_newest(turn, step, self.table.indices.tolist())


class PlainBm25(Yardstick):
    """Recalls the rows with the highest BM25 (`evaluation.baselines.Bm25`); a row that shares no word is not recalled.

    Asked rows count like any others. Raises MissingBaseline where the `evaluate` extra is not installed.
    """

    system = "BM25"
    settings = PlainBm25Settings
    retrieves = True

    def __init__(self, table: MemoryTable, config: PlainBm25Settings | None = None, **parts: Any):
        super().__init__(table, config, **parts)
        self._index: Bm25 | None = None
        self._seen = -1
        self._refresh()

    def show(self, turn: RunningTurn, step: StepNotes) -> None:
        """Recall the best rows."""
        self._refresh()
        if self._index is None:
            return
        scores = self._index.scores(turn.question)
        best = [at for at in self._index.ranked(turn.question)[: self.config.rows] if scores[at] > 0]
        turn.recalled = turn.live(self.table.indices[best].tolist())
        self.memory.fill_relevant(turn.recalled)
        step.wrote["scores"] = {str(row): float(scores[at]) for row, at in zip(turn.recalled, best, strict=True)}

    def _refresh(self) -> None:
        """Index the rows anew where any changed since."""
        if self._seen != len(self.table.changes):
            self._seen = len(self.table.changes)
            texts = [row.text for row in self.table]
            self._index = Bm25(texts) if any(plain_words(text) for text in texts) else None


class _YardstickTurn(RunningTurn):
    lab: Yardstick

    def reach_answer(self) -> None:
        with self.record.step(6 if self.lab.retrieves else 4) as step:
            step.read["rows"] = len(self.table)
            self.table.embed_pending()
            self.lab.show(self, step)
            self.note_rows(self.memory.relevant)
            step.wrote["relevant"] = [row.index for row in self.memory.relevant]
        self.reply()

    def finish(self) -> None:
        self.write(())
        self.push()


class _Says:
    """A responder that says what the settings say."""

    def __init__(self, settings: ConstantSettings):
        self.settings = settings

    def answer(self, query: Query, memory: ShortTermMemory) -> Iterator[str]:
        """Return the answer in the question's language."""
        return iter([self.settings.zh if language(query.text) == "zh" else self.settings.en])


def _quoting_nearest(table: MemoryTable, parts: dict[str, Any]) -> dict[str, Any]:
    return {**parts, "models": (parts.get("models") or offline(table.embedder)).quoting_nearest()}


def _show_newest(turn: RunningTurn, step: StepNotes, rows: Sequence[int]) -> None:
    """Put `rows` into the relevant segment in the order of time: as many of the newest as the token budget leaves."""
    turn.memory.fill_relevant(rows[::-1])
    shown = next(view.rows for view in turn.memory.views(turn.language) if view.name == "relevant")
    turn.memory.fill_relevant(shown[::-1])
    if cut := len(rows) - len(shown):
        budget = turn.memory.limits.token_budget
        step.note = f"{cut} of {len(rows)} dialogues are left out, the oldest: {budget:,} tokens hold no more"
