"""A turn while it runs: its steps and its answer as they come, and a way to stop it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ilstma_lab.errors import IlstmaError
from ilstma_lab.recorder import Event
from ilstma_lab.reprs.words import plain
from ilstma_lab.trace import STEP_NAMES

ANSWER_CHARACTERS = 8000
PAUSE_SECONDS = 0.04  # pieces that come faster are shown together


class StoppedError(IlstmaError):
    """The reader stopped the answer: nothing of the turn stays but its question, which can be asked again."""


class _Stop(BaseException):
    """Ends a turn from inside, as Ctrl-C does: the engine puts its memory back and leaves the question open."""


class Stream:
    """Shows a turn while it runs: `show(live)` gets question, answer so far, steps done and what is being done."""

    def __init__(self, question: str, show: Callable[[dict[str, Any]], None]):
        self.question, self.answer, self.steps = plain(question), "", []
        self._show, self._shown_at = show, 0.0
        self._stopping = threading.Event()
        self._answered = False
        self._put("collects the question")

    def stop(self) -> None:
        """End the turn at the model's next word, or when the step that runs is done; an answer that is whole stays."""
        if self._answered:
            return
        self._stopping.set()
        self._put("stops as soon as the model says its next word")

    def run(self, asks: Callable[..., Any]) -> Any:
        """Return `asks(on_event=self)`. Raises StoppedError where `stop` ended it."""
        try:
            return asks(on_event=self)
        except _Stop:
            raise StoppedError("stopped: nothing of this turn was kept but the question; retry() asks it again") from None

    def __call__(self, event: Event) -> None:
        """Hear of a step or a piece; raised here, `_Stop` ends the turn."""
        if event.kind == "step":
            self._answered |= event.data.number == 9 and not event.data.error
            self.steps.append(event.data.number)
            self._put(f"{event.data.number} {STEP_NAMES[event.data.number]} done")
        elif event.kind == "piece":
            self.answer += event.data
            if time.monotonic() - self._shown_at > PAUSE_SECONDS:
                self._put("answers")
        if self._stopping.is_set() and not self._answered and event.kind != "turn":
            raise _Stop

    def _put(self, doing: str) -> None:
        if self._stopping.is_set() and not doing.startswith("stops"):
            return
        self._shown_at = time.monotonic()
        answer = plain(self.answer, ANSWER_CHARACTERS)
        self._show({"question": self.question, "answer": answer, "steps": list(self.steps), "doing": doing})
