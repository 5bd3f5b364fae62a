"""`ilstma-lab ask` and `ilstma-lab import`: one question to a memory table, and a table made from a file of dialogues."""

from __future__ import annotations

import json
from argparse import Namespace
from datetime import datetime
from pathlib import Path

from ilstma_lab import ILSTMA, Config, ManualClock, MemoryTable, SystemClock, Turn
from ilstma_lab.errors import InputError
from ilstma_lab.importers import Imported, conversations, load_dialogues
from ilstma_lab.memory.storage import TableFile
from ilstma_lab.models import endpoint
from ilstma_lab.recorder import Event
from ilstma_lab.reprs.turn import failure_line
from ilstma_lab.reprs.why import text_of, why
from ilstma_lab.reprs.words import count, seconds
from ilstma_lab.terminal import Progress, printable, say

_LONG_AGO_DAYS = 30


def ask(args: Namespace) -> int:
    """Ask one question: the answer goes to stdout as it comes, and why this memory was taken to stderr."""
    if args.base_url and not args.model:
        raise InputError("--base-url needs --model: name the language model to ask there")
    models = endpoint(args.model, base_url=args.base_url) if args.model else None
    with MemoryTable.load(args.table) as table:
        now = args.at or _now(table)
        lab = ILSTMA(table, Config.measured(), models=models, clock=ManualClock(now))
        turn = lab.ask(args.question, remember=not args.no_remember, on_event=None if args.json else _print_piece)
    print(turn.to_json(indent=1) if args.json else "")  # the end of the streamed line
    if turn.failure:
        say(f"ilstma-lab: {failure_line(turn)}")
    elif not args.json:
        _say_why(turn)
    return 1 if turn.failure else 0


def _now(table: MemoryTable) -> datetime:
    now = SystemClock().now()
    if len(table) and (now - table.last_created).days > _LONG_AGO_DAYS:
        ended, next_day = table.last_created, ManualClock.after(table).now()
        say(f"note: the table ended on {ended:%Y-%m-%d}, so by today's clock nearly all of it has faded.")
        say(f"      To go on from there: --at {next_day:%Y-%m-%d}")
    return now


def _print_piece(event: Event) -> None:
    if event.kind == "piece":
        print(printable(event.data), end="", flush=True)


def _say_why(turn: Turn) -> None:
    reason = why(turn)
    say(f"\n{'HIT' if turn.hit else 'miss'}, {seconds(turn.seconds)}, {turn.models}")
    say(f"{reason.title}: {text_of(reason.sentence)}")


def import_(args: Namespace) -> int:
    """Write a table of one conversation, its full groups summarised; with --list print the conversations instead."""
    if args.list:
        names = conversations(args.source, format=args.format)
        print(json.dumps(names, ensure_ascii=False, indent=1) if args.json else printable("\n".join(names)))
        return 0
    _check_output(Path(args.output), Path(args.source), force=args.force)
    dialogues = _read(args)
    with Progress("embedding") as progress:
        topic = dialogues.conversation if args.topic is None else args.topic
        table = MemoryTable.from_dialogues(dialogues, topic=topic, progress=progress)
    with Progress("summarising in groups of five") as progress:
        ILSTMA(table, clock=ManualClock.after(table)).summarise(progress=progress)
    table.save(args.output)
    with MemoryTable.load(args.output) as saved:
        say("preparing the search")
        ILSTMA(saved, clock=ManualClock.after(saved)).retriever.prepare(saved)
    _report(args, dialogues, table)
    return 0


def _check_output(output: Path, source: Path, *, force: bool) -> None:
    if output.exists() and source.exists() and output.samefile(source):
        raise InputError(f"{output} is the file to read: give another name for the table")
    if output.exists() and not force:
        raise InputError(f"{output} exists: give another name, or --force to replace it")
    TableFile(output).refuse_to_bury()


def _read(args: Namespace) -> Imported:
    with Progress("reading") as progress:
        dialogues = load_dialogues(
            args.source,
            conversation=args.conversation,
            format=args.format,
            user=args.user,
            day_first=args.day_first,
            drop_repeats=args.drop_repeats,
            progress=progress,
        )
    if not dialogues:
        raise InputError(f"{args.source}: {'; '.join(dialogues.notes)}. Nothing was written.")
    return dialogues


def _report(args: Namespace, dialogues: Imported, table: MemoryTable) -> None:
    made = {"file": args.output, "rows": len(table), "summaries": len(table.summaries), "topic": table.topic}
    read = {"format": dialogues.format, "conversation": dialogues.conversation, "synthetic_times": dialogues.synthetic_times}
    if args.json:
        print(json.dumps({**made, **read, "notes": dialogues.notes}, ensure_ascii=False, indent=1))
        return
    for note in dialogues.notes:
        print(printable(f"note: {note}"))
    rows, groups = count(len(table), "row"), count(len(table.summaries), "summary", "summaries")
    print(printable(f"{args.output}: {rows}, {groups}, topic {table.topic!r}, read as {dialogues.format}"))
