"""`ilstma-lab chat`: a conversation with a memory table in the terminal, by the same engine as everywhere."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import suppress

from ilstma_lab import ILSTMA, Config, ManualClock, MemoryTable, Turn
from ilstma_lab.clock import DAY, Clock, ShiftedClock, SystemClock
from ilstma_lab.errors import IlstmaError, InputError
from ilstma_lab.lab import Lab
from ilstma_lab.models import Models, endpoint
from ilstma_lab.recorder import Event
from ilstma_lab.reprs.segments import segments_text
from ilstma_lab.reprs.turn import failure_line, outcome, turn_text
from ilstma_lab.reprs.why import text_of, why
from ilstma_lab.reprs.words import count, seconds, weekday
from ilstma_lab.terminal import hang, printable, say

TALKING = {"ilstma": "ILSTMA", "friend": "SiliconFriend", "friend_forgets": "SiliconFriend, which forgets"}
"""The systems that one can talk to in a chat, by the name that one gives and the name that is shown."""

_COMMANDS = {
    ":why": "why the last answer came from where it did; `:why all` shows every step",
    ":segments": "the five segments of short-term memory",
    ":days N": "let N days pass",
    ":undo": "take back the last turn",
    ":retry": "ask again what was left unanswered",
    ":quit": "leave; everything is on the disk already",
}


def run(args: Namespace) -> int:
    """Talk until `:quit`, the end of the input, or Ctrl-C at the prompt; return 0."""
    if args.base_url and not args.model:
        raise InputError("--base-url needs --model: name the language model to ask there")
    models = endpoint(args.model, base_url=args.base_url) if args.model else None
    with MemoryTable.load(args.table) as table:
        chat = TerminalChat(lab_over(table, system=args.system, models=models, clock=clock_for(table)))
        chat.greet()
        for typed in _lines():
            if typed in (":quit", ":q"):
                break
            chat.take(typed)
    return 0


def lab_over(
    table: MemoryTable,
    *,
    system: str,
    models: Models | None = None,
    clock: Clock | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Lab:
    """Return a lab to talk to over `table`, of one of `TALKING`; the companion's notes on the days so far are written offline.

    Raises InputError for another name.
    """
    from ilstma_lab.systems.memorybank import Forgetting, MemoryBankSettings, companion

    if system not in TALKING:
        raise InputError(f"no system {system!r} to talk to; there are {', '.join(TALKING)}")
    if system == "ilstma":
        return ILSTMA(table, Config.measured(), models=models, clock=clock)
    settings = MemoryBankSettings(forgetting=Forgetting() if system == "friend_forgets" else None)
    return companion(table, settings, models=models, clock=clock, progress=progress)


def system_of(lab: Lab) -> str:
    """Return which of `TALKING` a lab is, "" for another."""
    from ilstma_lab.systems.memorybank import SiliconFriend

    if isinstance(lab, SiliconFriend):
        return "friend_forgets" if lab.config.forgetting else "friend"
    return "ilstma" if isinstance(lab, ILSTMA) else ""


def clock_for(table: MemoryTable) -> Clock:
    """Return a clock that runs: the system's, or from the table's last dialogue on where that is long ago or still to come."""
    now = SystemClock().now()
    if len(table) and table.last_created > now:
        return ShiftedClock(shift=table.last_created - now)
    if not len(table) or now - table.last_created <= 30 * DAY:
        return ShiftedClock()
    return ShiftedClock(shift=ManualClock.after(table).now() - now)


class TerminalChat:
    """A lab, and what is printed of it."""

    def __init__(self, lab: Lab):
        self.lab = lab

    def greet(self) -> None:
        """Say what was opened, when it is, and what waits."""
        table = self.lab.table
        who = "" if self.lab.system == "ILSTMA" else f"{self.lab.system}; "
        what = f"{table.topic or 'A table'}: {count(len(table), 'row')}"
        _say(f"{what}; {who}{self.lab.models.name}; :help lists what else there is.")
        if abs(self.lab.clock.now() - SystemClock().now()) > DAY:
            _say(f"The table ended on {weekday(table.last_created)}; the chat goes on from {weekday(self.lab.clock.now())}.")
        if table.unanswered:
            _say(f"Left unanswered: “{table.unanswered[0]}” :retry asks it again.")

    def take(self, typed: str) -> None:
        """Do what was typed; what goes wrong is said, and the chat goes on."""
        try:
            self._take(typed)
        except KeyboardInterrupt:
            _say("\nStopped. The question is kept: :retry asks it again.")
        except IlstmaError as error:
            _say(str(error))

    def _take(self, typed: str) -> None:
        command, _, rest = typed.strip().partition(" ")
        match command:
            case "":
                pass
            case ":help":
                for name, what in _COMMANDS.items():
                    _say(f"{name.ljust(12)}{what}")
            case ":why":
                self._why(whole=rest.strip() == "all")
            case ":segments":
                print(printable(segments_text(self.lab.memory)))
            case ":days":
                self._days(rest.strip())
            case ":undo":
                self._undo()
            case ":retry":
                self._tell(self.lab.retry(on_event=_show_piece))
            case _ if command.startswith(":"):
                raise InputError(f"there is no {command}; :help lists what there is")
            case _:
                self._tell(self.lab.ask(typed, on_event=_show_piece))

    def _tell(self, turn: Turn) -> None:
        print()
        if turn.failure:
            raise InputError(f"{failure_line(turn)} :retry asks again.")
        rows = " ".join(f"[{row}]" for row in turn.recalled)
        _say(f"{'HIT' if turn.hit else outcome(turn)}, {seconds(turn.seconds)}{f', rows {rows}' if rows else ''}")

    def _why(self, *, whole: bool) -> None:
        if not self.lab.turns:
            raise InputError("nothing was asked yet")
        turn = self.lab.turns[-1]
        if whole:
            print(printable(turn_text(turn)))
        else:
            reason = why(turn)
            _say(f"{reason.title}: {text_of(reason.sentence)}")

    def _undo(self) -> None:
        if self.lab.table.unanswered:
            question, _ = self.lab.table.unanswered
            self.lab.table.close_turn(None, None)
            _say(f"Let go of what was left unanswered: “{question}”")
        else:
            _say(f"Taken back: “{self.lab.undo().question}”")

    def _days(self, given: str) -> None:
        if not given.isdecimal() or not 0 < int(given) <= 36_500:
            raise InputError(":days needs a number of days, such as :days 3")
        try:
            self.lab.clock.advance(days=int(given))
            self.lab.clock.now()
        except OverflowError:
            self.lab.clock.advance(days=-int(given))
            raise InputError("time ends with the year 9999: the clock stays where it was") from None
        _say(f"It is {weekday(self.lab.clock.now())}.")


def _lines() -> Iterator[str]:
    """Yield what is typed, line by line."""
    if sys.stdin.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401  (gives `input` its editing keys)
    while True:
        try:
            yield input("> " if sys.stdin.isatty() else "")
        except (EOFError, KeyboardInterrupt):
            print()
            return


def _show_piece(event: Event) -> None:
    if event.kind == "piece":
        print(printable(event.data), end="", flush=True)


def _say(text: str) -> None:
    for row in hang("", text):
        say(row)
