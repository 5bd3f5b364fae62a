"""What one turn read, wrote and asked, step by step: a frozen record that explains the turn without the engine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from ilstma_lab.errors import FormatError
from ilstma_lab.memory.entry import Kind
from ilstma_lab.models.call import Call
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.retrieval.recall import Recall

TURN_VERSION = 1

NINE_STEPS = {
    1: "Collect",
    2: "Judge",
    3: "Keep",
    4: "Read table",
    5: "Summary",
    6: "Recall",
    7: "Prefetch",
    8: "Write",
    9: "Answer",
}
"""The steps of ILSTMA (section 3.1), as the kit writes them everywhere."""

STEP_NAMES = {
    **NINE_STEPS,
    10: "Forget",
    11: "Control",
    12: "Pick",
    13: "Write memo",
    14: "End of session",
}
"""The nine, and those that other systems have instead."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the hit judge said: step 2.

    `used`: rows that the answer rests on; () for general knowledge, None when the judge cannot say which.
    `score` and `threshold` are given by judges that compare numbers.
    """

    hit: bool
    answer: str = ""
    used: tuple[int, ...] | None = ()
    reason: str = ""
    score: float | None = None
    threshold: float | None = None
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step as it ran. `read` and `wrote` name segments, rows and counts; `error` says what failed."""

    number: int
    seconds: float
    read: Mapping[str, Any] = field(default_factory=dict)
    wrote: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    error: str = ""

    @property
    def name(self) -> str:
        """The step's name."""
        return STEP_NAMES[self.number]


@dataclass(frozen=True, slots=True)
class SegmentView:
    """One segment of short-term memory as it stood: its rows, its text as the prompt has it, its tokens, what was cut."""

    name: str
    rows: tuple[int, ...]
    text: str
    tokens: int
    cut_tokens: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class RowView:
    """A row that the turn touched or showed, as it stood when the turn began."""

    index: int
    created: datetime
    last_recall: datetime
    recall_times: int
    user: str
    assistant: str
    source: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a turn has no answer, and what to do."""

    step: int
    kind: str
    message: str


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """One question through the nine steps.

    `recalled`: row indices, best first; on a hit, the rows that the answer used. `row`: the index of the new row,
    None where none was stored. `seconds`: from the question to the answer; what came after (writes, prefetch,
    summaries) is in `seconds_after`. `segments_before` is what the judge saw, `segments_after` what the next turn will see;
    `answered_from` is what the answer was made from. `waiting`: rows whose touches wait in the deferred write.
    """

    number: int
    question: str
    at: datetime
    hit: bool
    answer: str
    recalled: tuple[int, ...]
    steps: tuple[Step, ...]
    seconds: float
    seconds_after: float
    verdict: Verdict | None
    recall: Recall | None
    prefetch: Selection | None
    calls: Mapping[int, tuple[Call, ...]]
    segments_before: tuple[SegmentView, ...]
    answered_from: tuple[SegmentView, ...]
    segments_after: tuple[SegmentView, ...]
    rows: Mapping[int, RowView]
    waiting: tuple[int, ...]
    kind: Kind | None = None
    row: int | None = None
    table_size: int = 0
    token_budget: int = 0
    models: str = ""
    labels: tuple[str, ...] = ()
    failure: Failure | None = None
    system: str = "ILSTMA"
    version: int = TURN_VERSION

    @property
    def prompts(self) -> dict[int, str]:
        """The prompts of each step, by step number: every message with its role; offline parts show what they were not sent."""
        return {step: "\n\n".join(_show(call) for call in calls) for step, calls in self.calls.items() if calls}

    @property
    def replies(self) -> dict[int, str]:
        """The replies of each step, by step number."""
        return {step: "\n\n".join(call.reply for call in calls) for step, calls in self.calls.items() if calls}

    @property
    def tokens(self) -> dict[int, int]:
        """Prompt and reply tokens of each step, by step number."""
        return {step: sum(c.prompt_tokens + c.reply_tokens for c in calls) for step, calls in self.calls.items() if calls}

    def step(self, number: int) -> Step | None:
        """Return step `number` as it ran, or None where this turn did not run it."""
        return next((step for step in self.steps if step.number == number), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the turn as plain JSON values."""
        return _adapter().dump_python(self, mode="json")

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the turn as JSON text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=indent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Turn:
        """Return the turn that `to_dict` wrote. Raises FormatError for another version or other content."""
        version = data.get("version") if isinstance(data, Mapping) else None
        if version != TURN_VERSION:
            raise FormatError(f"a turn of version {version!r} cannot be read: this kit reads version {TURN_VERSION}")
        try:
            return _adapter().validate_python(dict(data))
        except ValueError as error:
            raise FormatError(f"not a turn: {error}") from None

    @classmethod
    def from_json(cls, text: str) -> Turn:
        """Return the turn that `to_json` wrote."""
        try:
            return cls.from_dict(json.loads(text))
        except FormatError:
            raise
        except (ValueError, RecursionError) as error:
            raise FormatError(f"not a turn: {error}") from None

    def __repr__(self) -> str:
        end = "failed" if self.failure else "hit" if self.hit else "miss"
        return f"<Turn {self.number}: {end}, rows {list(self.recalled)}, {self.seconds:.2f} s: {self.question[:60]!r}>"

    def __str__(self) -> str:
        from ilstma_lab.reprs import turn_text

        return turn_text(self)

    def _repr_html_(self) -> str:
        from ilstma_lab.reprs import turn_html

        return turn_html(self)


def _show(call: Call) -> str:
    head = "" if call.sent else f"(not sent: {call.model})\n"
    return head + "\n".join(f"[{role}]\n{content}" for role, content in call.messages)


@lru_cache(maxsize=1)
def _adapter():
    from pydantic import TypeAdapter

    return TypeAdapter(Turn)
