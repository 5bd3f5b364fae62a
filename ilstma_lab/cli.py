"""The command line: `ilstma-lab demo | ask | chat | import | evaluate | lab | app | doctor`.

Exit codes: 0 done; 1 the kit's own error, printed as one line, or trouble that the doctor found; 2 wrong usage; 130 Ctrl-C.
`doctor FILE`: 0 the table is whole, 1 it was repaired or can be, 2 it cannot be repaired.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from datetime import datetime

from ilstma_lab import IlstmaError, __version__, cli_evaluate
from ilstma_lab.errors import InputError
from ilstma_lab.memory.entry import to_instant
from ilstma_lab.terminal import printable, say, set_up_streams


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; wrong usage and --help leave through SystemExit, as argparse does it."""
    args = build_parser().parse_args(argv)
    set_up_streams(json=getattr(args, "json", False))
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: say(f"note: {message}")
        try:
            code = args.run(args)
            sys.stdout.flush()
            return code
        except IlstmaError as error:
            say(f"ilstma-lab: {' '.join(str(error).split())}")
            return 1
        except OSError as error:
            if isinstance(error, BrokenPipeError):  # whoever read the output went away, as `head` does
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            else:
                say(f"ilstma-lab: {error.strerror or error}{f': {error.filename}' if error.filename else ''}")
            return 1
        except KeyboardInterrupt:
            say("stopped")
            return 130


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands; each sets `run`, which takes the arguments and returns an exit code."""
    parser = argparse.ArgumentParser(prog="ilstma-lab", description="Long- and short-term memory of a chat model, to try out.")
    parser.add_argument("--version", action="version", version=f"ilstma-lab {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="play a bundled conversation: each question, its steps, the closing figures")
    demo.add_argument("--topic", default="travel", help="which conversation (default: travel)")
    demo.add_argument("--questions", type=_positive, metavar="N", help="only the first N questions")
    demo.add_argument(
        "--config", default="measured", choices=["paper", "literal", "measured"], help="settings (default: measured)"
    )
    demo.set_defaults(run=_demo)

    ask = commands.add_parser(
        "ask",
        help="ask a question about a conversation",
        description="Ask one question. Short-term memory begins empty each time, so the question goes the full way (a miss). "
        "The key of an endpoint is read from OPENAI_API_KEY alone.",
    )
    ask.add_argument("question")
    ask.add_argument("--table", required=True, metavar="FILE", help="the memory table, as `import` makes it")
    ask.add_argument("--model", metavar="NAME", help="a language model at the endpoint (default: extractive, offline)")
    ask.add_argument("--base-url", metavar="URL", help="the endpoint (default: OPENAI_BASE_URL)")
    ask.add_argument("--at", type=_instant, metavar="ISO", help="when it is asked, such as 2024-01-31T18:05 (default: now)")
    ask.add_argument("--no-remember", action="store_true", help="do not store the question and its answer as a row")
    ask.set_defaults(run=_ask)

    chat = commands.add_parser(
        "chat",
        help="talk to a memory table in the terminal",
        description="Talk to a memory table. Every turn is on the disk when its answer stands. :help lists the commands. The key "
        "of an endpoint is read from OPENAI_API_KEY alone.",
    )
    chat.add_argument("--table", required=True, metavar="FILE", help="the memory table, as `import` makes it")
    chat.add_argument("--model", metavar="NAME", help="a language model at the endpoint (default: extractive, offline)")
    chat.add_argument("--base-url", metavar="URL", help="the endpoint (default: OPENAI_BASE_URL)")
    chat.add_argument(
        "--system",
        default="ilstma",
        metavar="NAME",
        help="whom to talk to: ilstma (default), friend or friend_forgets (SiliconFriend)",
    )
    chat.set_defaults(run=_chat)

    imports = commands.add_parser("import", help="make a memory table from a file of dialogues")
    imports.add_argument("source", metavar="SOURCE")
    where = imports.add_mutually_exclusive_group(required=True)
    where.add_argument("-o", "--output", metavar="FILE", help="the table to write")
    where.add_argument("--list", action="store_true", help="list the conversations in SOURCE instead")
    imports.add_argument("--conversation", metavar="NAME", help="which one, where the file holds several")
    imports.add_argument("--format", metavar="NAME", help="the file's format (default: known from its content)")
    imports.add_argument("--user", metavar="NAME", help="whose turns are the user's, in a chat between people")
    imports.add_argument("--drop-repeats", action="store_true", help="leave out what an earlier dialogue says word for word")
    imports.add_argument("--day-first", action=argparse.BooleanOptionalAction, help="31/12 or 12/31, where a chat leaves it open")
    imports.add_argument("--topic", metavar="NAME", help="the table's topic (default: the conversation's name)")
    imports.add_argument("--force", action="store_true", help="replace FILE if it exists; the old one stays as FILE.bak")
    imports.set_defaults(run=_import)

    lab = commands.add_parser("lab", help="open JupyterLab on a working copy of the lessons")
    lab.add_argument("folder", nargs="?", metavar="FOLDER", help="where the working copy is kept")
    lab.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    lab.set_defaults(run=_lab)

    app = commands.add_parser("app", help="open the chat lab as a page of its own, without a notebook")
    app.add_argument("--port", type=_positive, default=8866, help="where it is served on this machine (default: 8866)")
    app.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    app.set_defaults(run=_app)

    doctor = commands.add_parser(
        "doctor",
        help="look at the installation, or at a memory table's files, and name the cures",
        description="Without FILE: the installation, the models, the widgets. With FILE: a memory table's snapshot, journal, "
        "backup, caches and lock; exit code 0 whole, 1 repaired or repairable, 2 not repairable.",
    )
    doctor.add_argument("file", nargs="?", metavar="FILE", help="look at this memory table's files alone")
    doctor.add_argument("--repair", action="store_true", help="put FILE right; what was damaged is kept beside it as .damagedN")
    doctor.add_argument("--table", metavar="FILE", help="look at this memory table too")
    doctor.set_defaults(run=_doctor)

    cli_evaluate.add_parser(commands)
    for command in (demo, ask, imports, doctor):
        command.add_argument("--json", action="store_true", help="print JSON, for a program to read")
    return parser


# -- the commands ------------------------------------------------------------------------------------------------------


def _demo(args: argparse.Namespace) -> int:
    from ilstma_lab.cli_demo import run

    return run(args)


def _ask(args: argparse.Namespace) -> int:
    from ilstma_lab.cli_table import ask

    return ask(args)


def _chat(args: argparse.Namespace) -> int:
    from ilstma_lab.cli_chat import run

    return run(args)


def _import(args: argparse.Namespace) -> int:
    from ilstma_lab.cli_table import import_

    return import_(args)


def _lab(args: argparse.Namespace) -> int:
    from ilstma_lab.lessons import open_lab

    open_lab(args.folder, browser=False if args.no_browser else None)
    return 0


def _app(args: argparse.Namespace) -> int:
    from ilstma_lab.app import serve

    return serve(port=args.port, browser=not args.no_browser)


def _doctor(args: argparse.Namespace) -> int:
    if args.file is not None:
        return _doctor_file(args)
    if args.repair:
        raise InputError("--repair needs the table's FILE: ilstma-lab doctor FILE --repair")
    from ilstma_lab.doctor import diagnose, render, to_json

    findings = diagnose(args.table)
    print(to_json(findings) if args.json else printable(render(findings)))
    return 1 if any(finding.state == "bad" for finding in findings) else 0


def _doctor_file(args: argparse.Namespace) -> int:
    from ilstma_lab.doctor_file import HOPELESS, look_at_file, repair_file
    from ilstma_lab.errors import TableFileError

    try:
        checkup = repair_file(args.file) if args.repair else look_at_file(args.file)
    except (InputError, TableFileError) as error:  # no file's path, held elsewhere, or a disk that cannot be written to
        say(f"ilstma-lab: {' '.join(str(error).split())}")
        return HOPELESS
    print(checkup.to_json() if args.json else printable(str(checkup)))
    return checkup.code


# -- arguments ---------------------------------------------------------------------------------------------------------


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of at least 1 is needed (got {text!r})")
    return int(text)


def _instant(text: str) -> datetime:
    try:
        return to_instant(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
