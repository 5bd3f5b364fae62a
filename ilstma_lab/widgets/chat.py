"""The chat lab: talk to a memory, and see beside it what it holds, what each turn took, and why."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import traitlets

from ilstma_lab.clock import ManualClock
from ilstma_lab.errors import IlstmaError, InputError
from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.reprs.segments import budget_bar, card_html, memory_cards
from ilstma_lab.reprs.turn import exchange_html, turn_text
from ilstma_lab.reprs.words import plain
from ilstma_lab.trace import STEP_NAMES, Turn
from ilstma_lab.widgets.chat_state import SHOWN_TURNS, view_of, with_prefetch
from ilstma_lab.widgets.shell import Shell, module

if TYPE_CHECKING:
    from ilstma_lab.engine import ILSTMA
    from ilstma_lab.recorder import Event

Guess = Literal["hit", "miss"]
_PAUSE_SECONDS = 0.04  # pieces that come faster are shown together


class ChatLab(Shell):
    """A chat over `lab`, beside the five segments of its short-term memory.

    `questions` are offered as suggestions; `title` stands above (default: the table's topic). Questions from the browser
    run in a thread, so the notebook stays free; `ask` from Python returns when the turn is there. Call `refresh`
    after something else has changed the lab.
    """

    _esm = module("chat")
    view = traitlets.Dict().tag(sync=True)
    live = traitlets.Dict().tag(sync=True)
    busy = traitlets.Bool(False).tag(sync=True)
    error = traitlets.Dict().tag(sync=True)

    def __init__(self, lab: ILSTMA, *, questions: Sequence[str] | None = None, title: str = ""):
        super().__init__()
        self.lab = lab
        self._questions = tuple(questions or ())
        self._title = title
        self._guesses: dict[int, Guess] = {}
        self._one_at_a_time = threading.Lock()
        self.refresh()
        self.on_msg(self._receive)

    def ask(self, question: str, *, guess: Guess | None = None) -> Turn:
        """Ask as the composer does and return the turn. What fails is shown in the conversation, and raised."""
        if guess not in (None, "hit", "miss"):
            raise InputError(f"a guess is 'hit' or 'miss' (got {guess!r})")
        return self._run(question, partial(self.lab.ask, question), guess=guess)

    def retry(self) -> Turn:
        """Ask the question that was left unanswered once more and return the turn."""
        question, _ = self.lab.table.unanswered or ("", None)
        return self._run(question, self.lab.retry)

    def refresh(self) -> None:
        """Show the lab as it stands."""
        self.view = view_of(self.lab, questions=self._questions, title=self._title, guesses=self._guesses)

    def state(self) -> dict[str, Any]:
        """Return what is shown, as plain JSON values."""
        return {"view": self.view, "live": self.live, "busy": self.busy, "error": self.error}

    def static(self) -> Html:
        """Return the conversation and the segments as HTML without a script."""
        shown, budget = memory_cards(self.lab.memory), self.lab.memory.limits.token_budget
        talk = [exchange_html(turn, cached_by=by, meta=True) for turn, by in with_prefetch(self.lab.turns)[-SHOWN_TURNS:]]
        return page(
            head(self.view["eyebrow"], self.view["finding"], sub=self.view["sub"]),
            *(tag("div", exchange, cls="pane") for exchange in talk),
            tag("div", budget_bar(shown, budget), tag("div", *map(card_html, shown), cls="segs"), cls="pane"),
            sections=("segments", "turn"),
        )

    def text(self) -> str:
        """Return the conversation as plain text."""
        return "\n\n".join([self.view["finding"], *(turn_text(turn) for turn in self.lab.turns[-SHOWN_TURNS:])])

    # -- one question ------------------------------------------------------------------------------------------------

    def _run(self, question: str, asks: Callable[..., Turn], *, guess: Guess | None = None) -> Turn:
        if not self._one_at_a_time.acquire(blocking=False):
            raise InputError("a question is being answered: wait for its answer")
        try:
            self.busy, self.error = True, {}
            turn = asks(on_event=_Stream(self, question))
            if guess and turn.failure is None:
                self._guesses[turn.number] = guess
            if turn.failure:
                self.error = {"message": "", "question": question}
            return turn
        except Exception as error:
            self.error = {"message": _advice(error), "question": question}
            raise
        finally:
            self.live, self.busy = {}, False
            self.refresh()
            self._one_at_a_time.release()

    # -- what comes from the browser -----------------------------------------------------------------------------------

    def _receive(self, _: object, content: dict[str, Any], __: object) -> None:
        if self.busy:
            return
        match content:
            case {"do": "ask", "question": str(question), "guess": "hit" | "miss" | None as guess}:
                self._start(partial(self.ask, question, guess=guess))
            case {"do": "retry"}:
                self._start(self.retry)
            case {"do": "write"}:
                self._start(self._write)
            case {"do": "day"} if isinstance(self.lab.clock, ManualClock):
                self.lab.clock.advance(days=1)
                self.refresh()

    def _start(self, action: Callable[[], object]) -> None:
        self.busy = True  # here, not in the thread: a second click must find it so
        threading.Thread(target=self._quietly, args=(action,), daemon=True).start()

    def _quietly(self, action: Callable[[], object]) -> None:
        """Run an action whose error is shown in the widget: raised in a thread, nobody would see it."""
        try:
            action()
        except Exception as error:
            self.error = {"question": "", **self.error, "message": _advice(error)}
        finally:
            self.busy = False

    def _write(self) -> None:
        self.lab.table.write_waiting()
        self.refresh()


class _Stream:
    """Shows a turn while it runs: its steps, and the answer piece by piece."""

    def __init__(self, chat: ChatLab, question: str):
        self.chat, self.question = chat, plain(question)
        self.answer, self.steps = "", []
        self.shown_at = 0.0
        self.show("collects the question")

    def __call__(self, event: Event) -> None:
        if event.kind == "step":
            self.steps.append(event.data.number)
            self.show(f"{event.data.number} {STEP_NAMES[event.data.number]} done")
        elif event.kind == "piece":
            self.answer += event.data
            if time.monotonic() - self.shown_at > _PAUSE_SECONDS:
                self.show("answers")

    def show(self, doing: str) -> None:
        self.shown_at = time.monotonic()
        self.chat.live = {
            "question": self.question,
            "answer": plain(self.answer, 8000),
            "steps": list(self.steps),
            "doing": doing,
        }


def _advice(error: Exception) -> str:
    if isinstance(error, IlstmaError):
        return plain(str(error), 600)
    return plain(
        f"{type(error).__name__}: {error}. Your question is kept: try again, or look at the lab in a cell of its own.", 600
    )
