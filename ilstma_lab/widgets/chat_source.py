"""Where the lab of a chat comes from: a bundled topic, a table's file, or imported dialogues; and which model thinks."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ilstma_lab.cli_chat import TALKING, clock_for, lab_over, system_of
from ilstma_lab.clock import ManualClock
from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import load_topic
from ilstma_lab.lab import Lab
from ilstma_lab.memory.entry import Dialogue
from ilstma_lab.memory.storage import TableFile
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, endpoint
from ilstma_lab.models.connection import KEY_VARIABLE
from ilstma_lab.models.unsent import OFFLINE_MODEL
from ilstma_lab.reprs.words import count, line
from ilstma_lab.resources import topics
from ilstma_lab.retrieval.dual import DualRetriever

FIRST_TOPIC = "travel"
Telling = Callable[[str, int, int], None]
"""What a long piece of work says of itself: `tell(what, done, total)`."""
Factory = Callable[[str, Telling], ILSTMA]
"""What makes a new lab over a topic, whose name is given."""

_SUGGESTED = 3
_LANGUAGES = {"zh": "Chinese"}
_beginnings: dict[str, ILSTMA] = {}


def quiet(what: str, done: int, total: int) -> None:
    """Say nothing of the work."""


@dataclass(frozen=True)
class Thinker:
    """Which model thinks: the offline parts, or `model` at an endpoint. The key is read from the environment alone."""

    model: str = ""
    base_url: str = ""

    def models(self) -> Models | None:
        """Return the parts, None for the offline ones. Raises ModelError where address or key is missing."""
        return endpoint(self.model, base_url=self.base_url or None) if self.model else None


def known_system(name: str) -> str:
    """Return `name`. Raises InputError where it is none of `TALKING`; "" is the present system, whichever it is."""
    if name and name not in TALKING:
        raise InputError(f"no system {name!r} to talk to; there are {', '.join(TALKING)}")
    return name


def topic_lab(name: str, tell: Telling = quiet) -> ILSTMA:
    """Return a new lab over a bundled topic, summarised and with its search prepared; the clock stands one day after its end.

    The first lab of a topic takes some seconds, each further one is a copy. Raises InputError for an unknown topic.
    """
    return _beginning(name, tell).fork()


def topic_label(name: str) -> str:
    """Return a topic's name as it is shown.

    >>> topic_label("travel"), topic_label("travel_zh")
    ('Travel', 'Travel, in Chinese')
    """
    about, _, language = name.partition("_")
    return about.capitalize() + (f", in {_LANGUAGES.get(language, language)}" if language else "")


def suggestions(name: str) -> tuple[str, ...]:
    """Return the first questions of a bundled topic that its dialogues answer; () for a topic that is not bundled."""
    if name not in topics():
        return ()
    return tuple(question.question for question in load_topic(name).questions if question.kind == "recall")[:_SUGGESTED]


def thought_by(lab: Lab, models: Models | None, *, system: str = "", tell: Telling = quiet) -> Lab:
    """Return a new lab over the same table with other models (None: offline ones); its short-term memory is empty.

    `system`: one of `TALKING`, where it is to be another than the present one.
    """
    if system and system != system_of(lab):
        progress = lambda *at: tell("Writing of each day", *at)  # noqa: E731
        return lab_over(lab.table, system=system, models=models, clock=lab.clock, progress=progress)
    if not isinstance(lab, ILSTMA):
        return type(lab)(lab.table, lab.config, models=models, clock=lab.clock)
    dual = type(lab.retriever) is DualRetriever
    other = ILSTMA(
        lab.table,
        lab.config,
        models=models,
        clock=lab.clock,
        retriever=None if dual else lab.retriever,
        prefetcher=lab.prefetcher,
    )
    if dual:
        other.retriever.take_index(lab.retriever)
    return other


def table_lab(path: str | os.PathLike[str]) -> ILSTMA:
    """Return a lab over a table's file, to which every turn is written; its clock runs, on from the table's end."""
    table = MemoryTable.load(path)
    return ILSTMA(table, Config.measured(), clock=clock_for(table))


def lab_of(
    dialogues: Sequence[Dialogue],
    *,
    topic: str,
    to: str | os.PathLike[str] | None = None,
    thinker: Thinker | None = None,
    tell: Telling = quiet,
) -> ILSTMA:
    """Return a lab over a new table of `dialogues`, summarised offline, kept in the file `to` where one is named.

    Nothing is written before all is ready. Raises InputError where there is no dialogue, or `to` is there already.
    """
    if not dialogues:
        raise InputError("no dialogue was found in it, so nothing was imported")
    if to is not None:
        refuse_to_replace(to)
    models = (thinker or Thinker()).models()
    table = MemoryTable.from_dialogues(dialogues, topic=topic, progress=lambda *at: tell("Embedding", *at))
    ILSTMA(table, clock=ManualClock.after(table)).summarise(progress=lambda *at: tell("Summarising in groups of five", *at))
    if to is not None:
        refuse_to_replace(to)  # another may have come while the rows were embedded
        table.save(to)
        table = MemoryTable.load(to)
    return ILSTMA(table, Config.measured(), models=models, clock=clock_for(table))


def refuse_to_replace(path: str | os.PathLike[str]) -> None:
    """Raise InputError where `path` is there already, TableFileError where a table's journal stands beside it."""
    if os.path.exists(path):
        raise InputError(f"{path} exists: give another name; nothing was written")
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        raise InputError(f"there is no folder {os.path.dirname(path)}: make it, or give a name beside the notebook")
    TableFile(path).refuse_to_bury()


def key_words() -> str:
    """Return where the key comes from, and whether there is one; never the key."""
    is_set = "is set" if os.environ.get(KEY_VARIABLE, "").strip() else "is not set"
    return (
        f"The key comes from the environment variable {KEY_VARIABLE} alone, which {is_set}. It is never shown or stored here; "
        "an endpoint on this machine needs none."
    )


def _beginning(name: str, tell: Telling) -> ILSTMA:
    """Return the lab of which all labs over this topic are copies; nothing is asked of it."""
    if name not in _beginnings:
        dialogues = load_topic(name).dialogues
        table = MemoryTable.from_dialogues(dialogues, topic=topic_label(name), progress=lambda *at: tell("Embedding", *at))
        lab = ILSTMA(table, Config.measured(), clock=ManualClock.after(table))
        lab.summarise(progress=lambda *at: tell("Summarising in groups of five", *at))
        tell("Preparing the search", 1, 1)
        lab.retriever.prepare(table)
        _beginnings[name] = lab
    return _beginnings[name]


def setup_of(lab: Lab, *, topic: str, thinker: Thinker) -> dict[str, Any]:
    """Return what the choice of memory and model shows: what there is, what is open, and what becomes of it."""
    return {
        "topics": [{"name": name, "label": topic_label(name)} for name in topics()],
        "topic": topic,
        "present": line(lab.table.topic, 60) or "the present memory",
        "systems": [{"name": name, "label": label} for name, label in TALKING.items()],
        "system": system_of(lab),
        "models": line(lab.models.name, 40),
        "offline": lab.models.name == OFFLINE_MODEL,
        "model": line(thinker.model, 200),
        "base_url": line(thinker.base_url.partition("?")[0], 200),
        "example": "http://127.0.0.1:11434/v1",
        "key": key_words(),
        "fate": _fate(lab),
    }


def _fate(lab: Lab) -> str:
    new = "Another memory, system or model makes a new lab: the conversation on the screen and short-term memory begin anew. "
    if lab.table.path:
        return f"{new}All that was said here stays in {os.path.basename(lab.table.path)}."
    if not lab.turns:
        return f"{new}Nothing was said here yet."
    said = f"The {count(len(lab.turns), 'turn')} here" if len(lab.turns) > 1 else "The turn here"
    are = "are" if len(lab.turns) > 1 else "is"
    return f"{new}{said} {are} in this kernel’s memory alone: with another memory this chat lets go of them, so export first."
