"""The chat lab: talk to a memory, and see beside it what it holds, what each turn took, and why."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import ipywidgets
import traitlets

from ilstma_lab.errors import InputError
from ilstma_lab.replay import start_session
from ilstma_lab.reprs.markup import Html, page, stylesheet, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.reprs.segments import budget_bar, card_html, memory_cards
from ilstma_lab.reprs.turn import exchange_html, turn_text
from ilstma_lab.reprs.words import count
from ilstma_lab.trace import Turn
from ilstma_lab.widgets.chat_desk import SKIPS, Desk, advice
from ilstma_lab.widgets.chat_export import chat_json, chat_markdown, write
from ilstma_lab.widgets.chat_import import UPLOAD_MEGABYTES, Told, read_chat
from ilstma_lab.widgets.chat_source import (
    FIRST_TOPIC,
    Factory,
    Thinker,
    known_system,
    lab_of,
    setup_of,
    suggestions,
    system_of,
    table_lab,
    thought_by,
)
from ilstma_lab.widgets.chat_source import topic_lab as bundled_topic_lab
from ilstma_lab.widgets.chat_state import SHOWN_TURNS, view_of, with_prefetch
from ilstma_lab.widgets.chat_stream import StoppedError, Stream
from ilstma_lab.widgets.player import Player
from ilstma_lab.widgets.shell import Shell, module
from ilstma_lab.widgets.what_if import WhatIf

if TYPE_CHECKING:
    from ilstma_lab.engine import ILSTMA
    from ilstma_lab.importers import Imported
    from ilstma_lab.lab import Lab
    from ilstma_lab.models import Models

Guess = Literal["hit", "miss"]
_TELLING_SECONDS = 0.1
_MOST_DAYS = 36_500
_LAST_DAY = datetime(9999, 12, 30)
_VIEW = "application/vnd.jupyter.widget-view+json"


def _static(name: str) -> str:
    return (files("ilstma_lab") / "widgets" / "static" / name).read_text(encoding="utf-8")


class ChatLab(Shell):
    """A chat over `lab`, ILSTMA or SiliconFriend, beside the five segments of its short-term memory.

    Without a lab it opens the bundled topic "travel", or the table in the file `table`, to which every turn is then written.
    `questions` are offered as suggestions; `title` stands above (default: the table's topic). `new_lab(topic, tell)` makes the
    labs of topics that are chosen. Questions from the browser run in a thread, so the notebook stays free; `ask` from Python
    returns when the turn is there. Call `refresh` after something else has changed the lab.

    `lab` is the one that is open, `session` its turns with their beginning (for replays), `player` the player of a turn, if one
    is open.
    """

    _esm = "\n".join((module("chat_parts"), _static("chat_panels.js"), _static("chat.js")))
    _css = stylesheet() + _static("chat.css")
    view = traitlets.Dict().tag(sync=True)
    live = traitlets.Dict().tag(sync=True)
    busy = traitlets.Bool(False).tag(sync=True)
    error = traitlets.Dict().tag(sync=True)
    task = traitlets.Dict().tag(sync=True)
    playing = traitlets.Int(-1).tag(sync=True)

    def __init__(
        self,
        lab: Lab | None = None,
        *,
        table: str | os.PathLike[str] | None = None,
        questions: Sequence[str] | None = None,
        title: str = "",
        new_lab: Factory = bundled_topic_lab,
    ):
        if lab is not None and table is not None:
            raise InputError("give a lab or a table's file, not both: the lab has its table")
        super().__init__()
        self._new_lab = new_lab
        self._one_at_a_time = threading.Lock()
        self._stream: Stream | None = None
        self._told_at = 0.0
        self.lab: Lab | None = None
        self.player: Player | None = None
        self._whole = ipywidgets.VBox([self])
        self._whole.add_class("chat-lab")
        if lab is not None:
            self._take(lab, questions=questions or (), title=title)
        elif table is not None:
            self._take(table_lab(table), questions=questions or (), title=title, own=True)
        else:
            offered = suggestions(FIRST_TOPIC) if questions is None else questions
            self._take(new_lab(FIRST_TOPIC, self._tell), questions=offered, title=title, topic=FIRST_TOPIC)
        self.refresh()
        self._desk = Desk(self)
        self.on_msg(self._desk.receive)

    # -- the conversation ------------------------------------------------------------------------------------------------

    def ask(self, question: str, *, guess: Guess | None = None) -> Turn:
        """Ask as the composer does and return the turn. What fails is shown in the conversation, and raised."""
        if guess not in (None, "hit", "miss"):
            raise InputError(f"a guess is 'hit' or 'miss' (got {guess!r})")
        return self._run(question, partial(self.lab.ask, question), guess=guess)

    def retry(self) -> Turn:
        """Ask the question that was left unanswered once more and return the turn."""
        question, _ = self.lab.table.unanswered or ("", None)
        return self._run(question, self.lab.retry)

    def stop(self) -> bool:
        """End the answer that is coming, from another thread, and return whether there was one; `ask` raises StoppedError.

        The turn ends when the model says its next word or a step is done. Nothing of it is kept but the question.
        """
        stream = self._stream
        if stream is not None:
            stream.stop()
        return stream is not None

    def undo(self) -> Turn | None:
        """Take back the last turn and return it; a question that was left open goes first (None). It returns to the composer."""
        with self._alone():
            turn = None
            if self.view["open"]:
                question, _ = self.lab.table.unanswered
                self.lab.table.close_turn(None, None)
            else:
                turn = self.lab.undo()
                question = turn.question
                self._guesses.pop(turn.number, None)
                if len(self.lab.turns) < self._begun:
                    self._begin_session()
            if self.playing >= len(self.lab.turns):
                self.close_below()
            self._stopped = ""
            self.error = {"message": "", "question": question}
            return turn

    def write_waiting(self) -> int:
        """Write the deferred touches into the table and return how many rows changed."""
        with self._alone():
            return self.lab.table.write_waiting()

    def skip(self, days: int) -> None:
        """Let 1 to 36,500 days pass on the lab's clock. Raises InputError for others, and where it cannot be moved so far."""
        if not self.view["clock"]["moves"]:
            raise InputError("this lab goes by the computer's clock: give clock=ManualClock.after(table) to move it")
        if not 1 <= days <= _MOST_DAYS:
            raise InputError(f"a clock goes on by 1 to {_MOST_DAYS:,} days (got {days})")
        if self.lab.clock.now().replace(tzinfo=None) > _LAST_DAY - timedelta(days=days):
            raise InputError(f"{count(days, 'day')} on, the year is past {_LAST_DAY.year}: let fewer pass")
        self.lab.clock.advance(days=days)
        self.refresh()

    def forget(self, texts: Sequence[str] = ()) -> None:
        """Show the lab as it stands, and nothing below it, where a row was deleted or edited; `table.compact()` calls this.

        The session begins anew, so earlier turns have no what-if.
        """
        if len(self.lab.table.withdrawn) > len(self.session.start.table.withdrawn):
            self._begin_session()
            self._stopped, self.live, self.error = "", {}, {}
            self.close_below()
            self.refresh()

    def refresh(self) -> None:
        """Show the lab as it stands."""
        shown = view_of(self.lab, questions=self._questions, title=self._title, guesses=self._guesses, stopped=self._stopped)
        self.view = {
            **shown,
            "skips": list(SKIPS),
            "setup": setup_of(self.lab, topic=self._topic, thinker=self._thinker),
            "megabytes": UPLOAD_MEGABYTES,
        }

    # -- which memory, which model ---------------------------------------------------------------------------------------

    def switch(
        self,
        *,
        topic: str = "",
        table: str | os.PathLike[str] | None = None,
        model: str = "",
        base_url: str = "",
        system: str = "",
    ) -> Lab:
        """Open a bundled topic or a table's file, or with neither the present memory anew, and return the new lab.

        `system`: whom to talk to, "ilstma", "friend" (SiliconFriend) or "friend_forgets"; without it, whom one talks to now.

        `model` names one at an OpenAI-compatible endpoint, whose key comes from OPENAI_API_KEY alone; without it the offline
        parts think. The present lab is let go of when the new one is there; where opening fails, it stays.
        """
        thinker = Thinker(model.strip(), base_url.strip())
        models, system = thinker.models(), known_system(system or system_of(self.lab))
        with self._alone():
            if topic:
                lab = self._in_system(self._new_lab(topic, self._tell), system, models)
                self._take(lab, topic=topic, questions=suggestions(topic), thinker=thinker)
            elif table is not None:
                self._let_go_of(table)
                self._take(self._in_system(table_lab(table), system, models), thinker=thinker, own=True)
            else:
                lab = thought_by(self.lab, models, system=system, tell=self._tell)
                kept = {"topic": self._topic, "questions": self._questions, "title": self._title, "own": self._own}
                self._take(lab, thinker=thinker, **kept)
            return self.lab

    def import_chat(
        self,
        path: str | os.PathLike[str],
        *,
        conversation: str | None = None,
        user: str | None = None,
        day_first: bool | None = None,
        format: str | None = None,
        to: str | os.PathLike[str] | None = None,
    ) -> Imported:
        """Open a chat of your own as a new memory and return its dialogues, with `notes` on how they were read.

        Arguments as for `load_dialogues`; `to` names a file for the table, which else is in memory. Raises AnswerNeededError
        where something must be chosen, FormatError for a file that is no chat; the present lab stays then.
        """
        with self._alone():
            dialogues = read_chat(Path(path), Told(conversation, user, day_first), format=format, tell=self._tell)
            lab = lab_of(dialogues, topic=dialogues.conversation, to=to, thinker=self._thinker, tell=self._tell)
            lab = self._in_system(lab, system_of(self.lab), self._thinker.models())
            self._take(lab, thinker=self._thinker, own=True)
            return dialogues

    # -- what is taken away, and what is looked at closely ---------------------------------------------------------------

    def to_json(self) -> str:
        """Return the conversation as JSON, every turn whole; `chat_export.turns_of` reads it."""
        return chat_json(self.lab)

    def to_markdown(self) -> str:
        """Return the conversation as Markdown, in which all that was said is shown as it is."""
        return chat_markdown(self.lab, with_prefetch(self.lab.turns))

    def export(self, path: str | os.PathLike[str]) -> Path:
        """Write the conversation to a new file, as its ending says: .json (every turn whole) or .md (to be read)."""
        return write(path, self.lab, self.to_markdown())

    def play(self, turn: int = -1) -> Player:
        """Show a turn, by its place in `lab.turns`, in the player below the chat, and return the player.

        Raises InputError where another system than ILSTMA is talked to.
        """
        self._need_nine_steps()
        self.player = Player(self.lab.turns, turn=turn)
        self.show_below(self.player)
        self.playing = self.player.turn
        return self.player

    def what_if(self, turn: int = -1) -> WhatIf:
        """Show below the chat what other settings would have made of a turn, by its place in `lab.turns`, and return that.

        Raises InputError for a turn that is not there, that failed, or that was asked before this chat was opened, and where
        another system than ILSTMA is talked to.
        """
        self._need_nine_steps()
        if not -len(self.lab.turns) <= turn < len(self.lab.turns):
            raise InputError(f"there is no turn {turn}: {len(self.lab.turns)} were asked, counted from 0")
        place = turn % len(self.lab.turns) - self._begun
        if place < 0:
            raise InputError(
                "this turn was asked before the chat was opened: its beginning is not known, so it cannot be run again"
            )
        lab = WhatIf(self.session, turn=place)
        self.show_below(lab)
        return lab

    def show_below(self, *widgets: ipywidgets.Widget) -> None:
        """Show widgets below the chat, in place of what was there."""
        self._whole.children = (self, *widgets)

    def close_below(self) -> None:
        """Show nothing below the chat."""
        self.player, self.playing = None, -1
        self.show_below()

    def state(self) -> dict[str, Any]:
        """Return what is shown, as plain JSON values."""
        return {"view": self.view, "live": self.live, "busy": self.busy, "error": self.error}

    def static(self) -> Html:
        """Return the conversation and the segments as HTML without a script."""
        shown, budget = memory_cards(self.lab.memory, system=self.lab.system), self.lab.memory.limits.token_budget
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

    def _repr_mimebundle_(self, **kwargs: object) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        if _VIEW in data:
            data[_VIEW] = {**data[_VIEW], "model_id": self._whole.model_id}  # the chat, and what is opened below it
        return data, metadata

    # -- inside ----------------------------------------------------------------------------------------------------------

    def _take(
        self,
        lab: Lab,
        *,
        questions: Sequence[str] = (),
        title: str = "",
        topic: str = "",
        thinker: Thinker | None = None,
        own: bool = False,
    ) -> None:
        """Make `lab` the chat's lab; one that the chat itself had opened is closed, unless its table goes on in the new one."""
        old = self.lab
        if old is not None and self._own and old.table is not lab.table:
            old.close()
        self.lab, self._own = lab, own
        self._questions, self._title, self._topic = tuple(questions), title, topic
        self._thinker = thinker or Thinker()
        self._guesses: dict[int, Guess] = {}
        self._stopped, self.error = "", {}
        self.close_below()
        lab.table.kept_by(self)
        self._begin_session()

    def _in_system(self, lab: ILSTMA, system: str, models: Models | None) -> Lab:
        """Return a lab that was opened as `system` has it, thought by `models`."""
        if not models and system in ("", system_of(lab)):
            return lab
        return thought_by(lab, models, system=system, tell=self._tell)

    def _need_nine_steps(self) -> None:
        if self.view["not_here"]:
            raise InputError(f"{self.view['not_here']} print(lab.turns[-1]) shows a turn of it")

    def _begin_session(self) -> None:
        self.session, self._begun = start_session(self.lab), len(self.lab.turns)

    def _let_go_of(self, table: str | os.PathLike[str]) -> None:
        """Free the file of the present lab where the same one is opened again: a table's file has one writer."""
        if self.lab.table.path and Path(self.lab.table.path).resolve() == Path(table).resolve():
            self.lab.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One thing at a time; when it is over, the lab is shown as it stands."""
        if not self._one_at_a_time.acquire(blocking=False):
            raise InputError("a question is being answered, or a memory opened: wait for its answer, or stop it")
        try:
            self.busy = True
            yield
        finally:
            try:
                self.live, self.busy, self.task = {}, False, {}
                self.refresh()
            finally:
                self._one_at_a_time.release()

    def _run(self, question: str, asks: Callable[..., Turn], *, guess: Guess | None = None) -> Turn:
        with self._alone():
            self._stopped, self.error = "", {}
            self._stream = stream = Stream(question, partial(setattr, self, "live"))
            try:
                turn = stream.run(asks)
            except StoppedError:
                self._stopped, self.error = stream.answer, {"message": "", "question": question}
                raise
            except Exception as error:
                self.error = {"message": advice(error), "question": question}
                raise
            finally:
                self._stream = None
            if guess and turn.failure is None:
                self._guesses[turn.number] = guess
            if turn.failure:
                self.error = {"message": "", "question": question}
            return turn

    def _tell(self, what: str, done: int, total: int) -> None:
        """Show how far a long piece of work is."""
        if done >= total or time.monotonic() - self._told_at > _TELLING_SECONDS:
            self._told_at = time.monotonic()
            words = f"{what}: {done:,} of {total:,}" if total > 1 else f"{what} …"
            self.task = {"state": "runs", "message": words, "share": done / max(total, 1)}
