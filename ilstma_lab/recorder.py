"""Keeps the record of a turn while it runs: each step's time, what it read and wrote, and what failed in it."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ilstma_lab.models.call import Call
from ilstma_lab.trace import Step


@dataclass(frozen=True, slots=True)
class Event:
    """What `on_event` gets: a finished "step" (a Step), a "piece" of the answer (a str), or the finished "turn" (a Turn)."""

    kind: Literal["step", "piece", "turn"]
    data: Any


class StepNotes:
    """What one running step notes down."""

    def __init__(self) -> None:
        self.read: dict[str, Any] = {}
        self.wrote: dict[str, Any] = {}
        self.calls: list[Call] = []
        self.note = ""


@dataclass
class Recorder:
    """Steps and calls of one turn, in the order in which they ran."""

    on_event: Callable[[Event], None] | None = None
    steps: list[Step] = field(default_factory=list)
    calls: dict[int, tuple[Call, ...]] = field(default_factory=dict)

    @contextmanager
    def step(self, number: int, *, otherwise: str = "") -> Iterator[StepNotes]:
        """Time one step. If it fails, type and place are recorded; with `otherwise`, which says what then, the turn goes on."""
        notes, error, begun = StepNotes(), "", time.perf_counter()
        try:
            yield notes
        except Exception as failure:
            error = describe(failure)
            if not otherwise:
                raise
            notes.note = otherwise
        finally:
            step = Step(number, time.perf_counter() - begun, notes.read, notes.wrote, notes.note, error)
            self.steps.append(step)
            if notes.calls:
                self.calls[number] = (*self.calls.get(number, ()), *notes.calls)
            self.tell("step", step)

    def tell(self, kind: Literal["step", "piece", "turn"], data: Any) -> None:
        """Pass something on to who listens. A listener that fails is warned about and does not stop the turn."""
        if self.on_event is None:
            return
        try:
            self.on_event(Event(kind, data))
        except Exception as error:
            warnings.warn(f"on_event failed on a {kind}: {describe(error)}", RuntimeWarning, stacklevel=2)


def describe(error: BaseException) -> str:
    """Return an error's type, message and place, also where it has no message.

    >>> describe(ValueError("no row 9"))
    'ValueError: no row 9'
    """
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    return f"{text} (at {Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else text
