"""A session of everything that one does with a memory, in a process that is killed; each step is written down when it is done.

`python -m tests.memory.killed FOLDER` reads lines "SEED" from its input, runs a session for each in a process of its own, and
tells its number, and "dead" when it has ended. The protocol of session SEED is FOLDER/log-SEED: one JSON object a line, "begin"
with what the step is about to change, "done" with what it returned and a digest of the whole table.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import ilstma_lab.models
from ilstma_lab import ILSTMA, ManualClock, MemoryTable, cli, offline
from ilstma_lab.trace import Verdict
from ilstma_lab.widgets import ChatLab
from tests.memory.kit import EMBEDDER, at, said
from tests.stubs import StubJudge, StubMerger, StubProfiler, StubSummarizer

KINDS = ["add", "ask", "ask", "again", "again", "edit", "delete", "undo", "summarise", "compact", "save", "touch", "imports"]
FEWEST = 12


def digest(table: MemoryTable) -> str:
    """Return what tells one state of a table from every other."""
    head, sections = table._snapshot(vectors=False)
    whole = json.dumps([head, {name: list(rows) for name, rows in sections.items()}])
    return f"{head['seq']} {hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()}"


class Session:
    """One process's work on the table in a folder; `log` is where the protocol goes."""

    def __init__(self, folder: Path, seed: int):
        self.folder, self.seed, self.dice = folder, seed, random.Random(seed)
        self.log = os.open(folder / f"log-{seed}", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.chat = ChatLab(table=folder / "t.json") if seed % 3 == 0 else None
        table = self.chat.lab.table if self.chat else MemoryTable.load(folder / "t.json", embedder=EMBEDDER)
        table._fold_at = 6_000
        self.table = table
        self.lab = self.chat.lab if self.chat else ILSTMA(table, models=offline(EMBEDDER), clock=ManualClock.after(table))
        parts = {"judge": StubJudge(default=_knows), "summarizer": StubSummarizer(), "merger": StubMerger()}
        self.lab.models = replace(self.lab.models, **parts, profiler=StubProfiler("calm"))

    def say(self, **words: Any) -> None:
        os.write(self.log, json.dumps(words).encode() + b"\n")

    def run(self) -> None:
        for number in range(10_000):
            kind = self.dice.choice(KINDS)
            live = self.table.indices.tolist()
            if (kind == "undo" and not self.lab.turns) or (kind in ("edit", "delete", "touch") and len(live) < FEWEST):
                kind = "ask"
            done = getattr(self, kind)(f"text{self.seed}x{number}", self.dice.choice(live))
            self.say(done=kind, digest=digest(self.table), **(done or {}))

    def add(self, text: str, row: int) -> None:
        self.say(begin="add", puts={self.table.next_index: text})
        self.table.add(said(text, day=row))

    def ask(self, text: str, row: int) -> dict[str, Any]:
        self.say(begin="ask", puts={self.table.next_index: text})
        turn = self.chat.ask(text) if self.chat else self.lab.ask(text)
        assert turn.row is not None, turn.failure
        return {"row": turn.row, "answer": turn.answer, "hit": turn.hit, "chat": bool(self.chat)}

    def again(self, text: str, row: int) -> dict[str, Any]:
        return self.ask(f"again {text}", row)

    def edit(self, text: str, row: int) -> None:
        self.say(begin="edit", puts={row: text})
        self.table.edit(row, user=text)

    def delete(self, text: str, row: int) -> None:
        self.say(begin="delete", takes=[row, *self.table.hanging_on(row)[0]])
        self.table.delete(row)

    def undo(self, text: str, row: int) -> None:
        row = self.lab.turns[-1].row
        self.say(begin="undo", takes=[row, *self.table.hanging_on(row)[0]] if row in self.table else [])
        self.lab.undo()

    def summarise(self, text: str, row: int) -> None:
        self.say(begin="summarise")
        self.lab.summarise()

    def compact(self, text: str, row: int) -> None:
        self.say(begin="compact")
        self.table.compact()

    def save(self, text: str, row: int) -> None:
        self.say(begin="save")
        self.table.save()

    def touch(self, text: str, row: int) -> None:
        self.say(begin="touch")
        self.table.touch([row], at(row), deferred=self.dice.random() < 0.5)

    def imports(self, text: str, row: int) -> None:
        source = self.folder / f"source-{self.seed}.jsonl"
        lines = ({"user": f"{text} {n}", "assistant": "I see.", "at": at(n).isoformat()} for n in range(6))
        source.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.say(begin="import", imports=f"{text} 0")
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            sys.stdout = sys.stderr = nowhere
            code = cli.main(["import", str(source), "-o", str(self.folder / "imported.json"), "--force"])
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
        assert code == 0


def _knows(query, memory) -> Verdict:
    known = memory.cache[0].index if memory.cache else None
    hit = query.text.startswith("again") and known is not None
    return Verdict(hit, "Yes." if hit else "", (known,) if hit else ())


def main(folder: Path) -> None:
    """Run a session for each line of the input, each in a process of its own."""
    warnings.simplefilter("ignore")
    ilstma_lab.models.default_embedder = lambda: EMBEDDER
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            Session(folder, int(line)).run()
            os._exit(0)
        print(pid, flush=True)
        os.waitpid(pid, 0)
        print("dead", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
