"""What the browser asks of a chat: each message is one act, long ones run in a thread, and errors are shown, not raised."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ilstma_lab.errors import IlstmaError, InputError
from ilstma_lab.reprs.words import count, line, plain
from ilstma_lab.widgets.chat_import import AnswerNeededError, Told, Upload, in_the_panel, told_of
from ilstma_lab.widgets.chat_stream import StoppedError

if TYPE_CHECKING:
    from ilstma_lab.widgets.chat import ChatLab

SKIPS = (1, 7, 30)
_WHILE_BUSY = ("stop", "play", "close", "export", "upload")
_TYPES = {"json": "application/json", "md": "text/markdown"}


class Desk:
    """Takes the browser's messages for one chat. What is no message of ours is left alone."""

    def __init__(self, chat: ChatLab):
        self.chat = chat
        self.upload: Upload | None = None

    def receive(self, _: object, content: dict[str, Any], buffers: list[Any]) -> None:
        """Do what one message asks; while a question is answered, only what does not disturb it."""
        chat = self.chat
        if chat.busy and content.get("do") not in _WHILE_BUSY:
            return
        match content:
            case {"do": "ask", "question": str(question), "guess": "hit" | "miss" | None as guess}:
                self._start(partial(chat.ask, question, guess=guess))
            case {"do": "retry"}:
                self._start(chat.retry)
            case {"do": "stop"}:
                chat.stop()
            case {"do": "undo"}:
                self._start(chat.undo)
            case {"do": "write"}:
                self._start(chat.write_waiting)
            case {"do": "skip", "days": int(days)} if days in SKIPS:
                self._quietly(partial(chat.skip, days))
            case {"do": "open", "topic": str(topic), "table": str(table), "model": str(model), "base_url": str(url)}:
                system = str(content.get("system", ""))
                self._start(partial(self._in_panel, "memory", partial(self._switched, topic, table.strip(), model, url, system)))
            case {"do": "upload", "name": str(name), "size": int(size), "at": int(at)} if len(buffers) == 1:
                self._take_part(name, size, at, bytes(buffers[0]))
            case {"do": "import", "to": str(to), "answers": dict(answers)}:
                self._start(partial(self._in_panel, "import", partial(self._imported, to.strip(), told_of(answers))))
            case {"do": "export", "kind": "json" | "md" as kind}:
                text = chat.to_json() if kind == "json" else chat.to_markdown()
                chat.send({"save": text, "name": f"chat.{kind}", "type": _TYPES[kind]})
            case {"do": "play" | "what_if" as do, "turn": int(turn)} if 0 <= turn < len(chat.lab.turns):
                self._quietly(partial(chat.play if do == "play" else chat.what_if, turn))
            case {"do": "close"}:
                chat.close_below()

    def _start(self, action: Callable[[], object]) -> None:
        self.chat.busy = True  # here, not in the thread: a second click must find it so
        threading.Thread(target=self._in_thread, args=(action,), daemon=True).start()

    def _in_thread(self, action: Callable[[], object]) -> None:
        try:
            self._quietly(action)
        finally:
            self.chat.busy = False

    def _quietly(self, action: Callable[[], object]) -> None:
        """Run an action whose error is shown in the chat: raised in a thread, nobody would see it."""
        try:
            action()
        except StoppedError:
            return  # the question stands in the conversation, open
        except Exception as error:
            self.chat.error = {"question": "", **self.chat.error, "message": advice(error)}

    def _in_panel(self, panel: str, action: Callable[[], list[str]]) -> None:
        """Run what a panel asks for, and show in it what came of it: notes, a question, or what went wrong."""
        with warnings.catch_warnings(record=True) as noted:
            warnings.simplefilter("always")
            try:
                said = {"state": "done", "message": "", "notes": action()}
            except AnswerNeededError as needed:
                asked = {"conversations": list(needed.conversations), "day_first": needed.day_first}
                said = {"state": "needs", "message": plain(str(needed), 600), **asked}
            except Exception as error:
                said = {"state": "failed", "message": in_the_panel(advice(error))}
        notes = [*said.get("notes", ()), *(str(warning.message) for warning in noted)]
        self.chat.task = {**said, "panel": panel, "notes": [line(in_the_panel(note), 300) for note in notes]}

    def _switched(self, topic: str, table: str, model: str, base_url: str, system: str) -> list[str]:
        self.chat.switch(topic=topic, table=table or None, model=model, base_url=base_url, system=system)
        return []

    def _imported(self, to: str, told: Told) -> list[str]:
        if self.upload is None or self.upload.received < self.upload.size:
            raise InputError("choose a file first")
        given = {"conversation": told.conversation, "user": told.user, "day_first": told.day_first}
        dialogues = self.chat.import_chat(self.upload.path, to=to or None, **given)
        self.upload.close()
        self.upload = None
        where = f"kept in {to}" if to else "in this kernel’s memory alone"
        return [f"Read as {dialogues.format}: {count(len(dialogues), 'dialogue')}, {where}.", *dialogues.notes]

    def _take_part(self, name: str, size: int, at: int, part: bytes) -> None:
        """Take one part of a file and tell the browser how much is there, so that it sends the next."""
        try:
            if at == 0:
                self.upload, self.chat.task = None, {}  # what was sent before, and what was said of it
                self.upload = Upload(name, size)
            if self.upload is None:
                raise InputError("choose the file again")
            self.chat.send({"received": self.upload.add(at, part)})
        except Exception as error:
            self.chat.send({"received": -1})
            self.chat.task = {"state": "failed", "panel": "import", "message": advice(error), "notes": []}


def advice(error: Exception) -> str:
    """Return what to show of an error: the kit's own say what to do."""
    if isinstance(error, IlstmaError):
        return plain(str(error), 600)
    return plain(
        f"{type(error).__name__}: {error}. Your question is kept: try again, or look at the lab in a cell of its own.", 600
    )
