"""Recorded replies: a session can be run again without an endpoint, and without inventing anything."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from ilstma_lab.errors import FormatError, InputError, UnknownPromptError
from ilstma_lab.memory.safely import replaced
from ilstma_lab.models.call import Call
from ilstma_lab.models.prompts.messages import SCHEMAS, Messages
from ilstma_lab.models.sentences import saying
from ilstma_lab.models.stream import Stream

if TYPE_CHECKING:
    from ilstma_lab.models.asking import Chat
    from ilstma_lab.trace import Turn

Mode = Literal["record", "extend", "replay"]
_KEPT = ("purpose", "model", "reply", "seconds", "prompt_tokens", "reply_tokens", "cached_tokens", "estimated")


class Cassette:
    """Replies by the SHA-256 of model, messages and parameters (temperature 0 and the reply's schema).

    `path`: a JSONL file, one reply a line, without keys or addresses; None keeps the replies in memory. "replay" gives only
    what is recorded; "record" asks, and appends each reply as it comes. Of two replies to one prompt the later counts.
    """

    def __init__(self, path: str | Path | None = None, *, mode: Mode = "replay"):
        if mode not in ("record", "extend", "replay"):
            raise InputError(f'mode must be "record", "extend" or "replay" (got {mode!r})')
        self.path = Path(path) if path is not None else None
        self.mode = mode
        self._replies: dict[str, dict[str, Any]] = {}
        self._prompts: dict[str, Messages] = {}
        self._lock = Lock()
        if self.path is not None and (mode == "replay" or self.path.exists()):
            self._read(self.path)

    @classmethod
    def from_turns(cls, turns: Iterable[Turn]) -> Cassette:
        """Return a cassette in memory that replays what these turns were replied; prompts that were not sent are left out."""
        cassette = cls()
        for turn in turns:
            for calls in turn.calls.values():
                for call in calls:
                    if call.sent:
                        cassette._replies[_key(call)] = _kept(call)
        return cassette

    def __len__(self) -> int:
        return len(self._replies)

    def around(self, model: str, chat: Chat | None = None) -> CassetteChat:
        """Return a chat that takes its replies from here; `chat` is needed to record."""
        if self.mode != "replay" and chat is None:
            raise InputError("a cassette that records needs a chat client to ask")
        return CassetteChat(self, model, chat)

    def find(self, model: str, messages: Messages, *, purpose: str, schema: dict | None = None) -> Call:
        """Return the recorded reply. Raises UnknownPromptError for a prompt that was never sent."""
        key = prompt_key(model, messages, schema=schema)
        kept = self._replies.get(key)
        if kept is None:
            raise UnknownPromptError(
                f"this {purpose!r} prompt was never sent to {model}: record it with an endpoint, or replay with on_unknown set"
            )
        self._prompts[key] = messages
        return Call(messages=messages, **{**kept, "purpose": purpose})

    def knows(self, model: str, messages: Messages, *, schema: dict | None = None) -> bool:
        """Return whether the reply to these messages is given from here, and not asked for."""
        if self.mode == "replay":
            return True
        return self.mode == "extend" and prompt_key(model, messages, schema=schema) in self._replies

    def add(self, call: Call, *, schema: dict | None = None) -> None:
        """Keep the reply of `call`, and append it to the file where there is one."""
        key, kept = prompt_key(call.model, call.messages, schema=schema), _kept(call)
        with self._lock:
            self._replies[key], self._prompts[key] = kept, call.messages
            if self.path is not None:
                with self.path.open("a", encoding="utf-8", newline="\n") as file:
                    file.write(json.dumps({"key": key, **kept}, ensure_ascii=False, allow_nan=False) + "\n")

    def forget(self, calls: Iterable[Call] = (), texts: Iterable[str] = ()) -> int:
        """Take the replies to `calls`, and those that say a sentence of `texts`, out of here and the file; return how many went.

        A reply goes too where its prompt held such a sentence. A file keeps no prompts, so this is known of those that were asked
        here; what another process recorded goes only where the reply itself repeats the text. Raises InputError where the file
        cannot be written; it is whole then, as it was.
        """
        holds = saying(texts)
        with self._lock:
            gone = {_key(call) for call in calls} & self._replies.keys()
            gone |= {key for key, asked in self._prompts.items() if any(holds(content) for _, content in asked)}
            gone |= {key for key, kept in self._replies.items() if holds(kept["reply"])}
            if self.path is not None and self.path.exists():
                self._leave_out(lambda line: line["key"] in gone or holds(line["reply"]))
            for key in gone:
                self._replies.pop(key, None)
                self._prompts.pop(key, None)
        return len(gone)

    def _leave_out(self, goes: Callable[[dict[str, Any]], bool]) -> None:
        lines = [line for line in self.path.read_text(encoding="utf-8-sig").split("\n") if line.strip()]
        kept = [line for line in lines if not goes(json.loads(line))]
        if len(kept) == len(lines):
            return
        try:
            with replaced(self.path) as out:
                out.writelines(f"{line}\n".encode() for line in kept)
        except OSError as error:
            raise InputError(
                f"cannot write {self.path}: {error.strerror or error}. It still holds replies that were to be forgotten: "
                "free some space or check the folder, then try again."
            ) from None

    def _read(self, path: Path) -> None:
        try:
            lines = path.read_text(encoding="utf-8-sig").split("\n")
        except FileNotFoundError:
            raise InputError(f'no cassette at {path}: check the path, or record one with mode="record"') from None
        except OSError as error:
            raise InputError(f"cannot read the cassette {path}: {error.strerror or error}") from None
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise FormatError(f"{path}, line {line} is not UTF-8: a cassette is a JSON Lines file; record again") from None
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    kept = json.loads(line)
                    self._replies[kept["key"]] = _checked({name: kept[name] for name in _KEPT})
                except (ValueError, KeyError, TypeError, RecursionError):
                    raise FormatError(f"{path}, line {number} is not a recorded reply: remove the line or record again") from None


class CassetteChat:
    """The face of a `ChatClient` whose replies come from a cassette."""

    def __init__(self, cassette: Cassette, model: str, chat: Chat | None = None):
        self.cassette = cassette
        self.model = model
        self._chat = chat

    def complete(
        self, messages: Messages, *, purpose: str, schema: dict | None = None, on_piece: Callable[[str], None] | None = None
    ) -> Call:
        """Return the recorded reply, or ask and record. Raises UnknownPromptError for an unknown prompt in replay."""
        if self.cassette.knows(self.model, messages, schema=schema):
            call = self.cassette.find(self.model, messages, purpose=purpose, schema=schema)
            if on_piece is not None:
                on_piece(call.reply)
            return call
        call = self._chat.complete(messages, purpose=purpose, schema=schema, on_piece=on_piece)
        self.cassette.add(call, schema=schema)
        return call

    def stream(self, messages: Messages, *, purpose: str) -> Stream:
        """Return the recorded reply in one piece, or the model's pieces, recorded once the last has come."""
        if self.cassette.knows(self.model, messages):
            return Stream.of(self.cassette.find(self.model, messages, purpose=purpose))
        return Stream(self._recorded(messages, purpose))

    def _recorded(self, messages: Messages, purpose: str):
        stream = self._chat.stream(messages, purpose=purpose)
        try:
            yield from stream
        finally:
            stream.close()
        self.cassette.add(stream.call)
        return stream.call


def prompt_key(model: str, messages: Messages, *, schema: dict | None = None) -> str:
    """Return the SHA-256, in hexadecimal, of what decides a reply: model, messages, temperature 0, schema."""
    asked = {"model": model, "messages": [list(message) for message in messages], "temperature": 0, "schema": schema}
    return hashlib.sha256(json.dumps(asked, ensure_ascii=False, sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()


def _key(call: Call) -> str:
    return prompt_key(call.model, call.messages, schema=SCHEMAS.get(call.purpose))


def _kept(call: Call) -> dict[str, Any]:
    return {name: value for name, value in asdict(call).items() if name in _KEPT}


def _checked(kept: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of a reply. Raises ValueError where a part is of another kind."""
    texts = all(isinstance(kept[name], str) for name in ("purpose", "model", "reply"))
    counts = all(type(kept[name]) is int and kept[name] >= 0 for name in ("prompt_tokens", "reply_tokens", "cached_tokens"))
    if not (texts and counts and 0 <= kept["seconds"] < float("inf") and isinstance(kept["estimated"], bool)):
        raise ValueError("not a reply")
    return kept
