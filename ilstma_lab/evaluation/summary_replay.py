"""The summaries of a table made again from its first group on, one group at a time, with what each update compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.retrieval import embed_once
from ilstma_lab.memory.records import Summary
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.models.overlap import Part, compared, lines_of
from ilstma_lab.protocols import Query
from ilstma_lab.summaries import Overlap, Summaries, SummarySettings

if TYPE_CHECKING:
    from ilstma_lab.protocols import Embedder


@dataclass(frozen=True, slots=True)
class SummaryStep:
    """What one group did: its rows and its own summary, the nearest old set, the update part by part, what stands now.

    `parts` is empty for a first set, which meets none. `aligned`: "merger" where they are what the merger itself decided on,
    "afterwards" where they were read off its result by the rule of `models.overlap.compared`. `sets` are all sets after the
    step, numbered from 1 on; `into` is the one that holds this group.
    """

    number: int
    rows: tuple[int, ...]
    written: str
    nearest: Summary | None
    cosine: float
    parts: tuple[Part, ...]
    aligned: Literal["merger", "afterwards"]
    merged: bool
    into: int
    sets: tuple[Summary, ...]
    portrait_before: str
    portrait: str

    def set(self, number: int) -> Summary:
        """Return the set with that number."""
        return next(one for one in self.sets if one.number == number)


class SummaryReplay:
    """Goes through all full groups of a table's told rows, on a fork: the table itself, its summaries included, stays as it is.

    `models`: offline ones unless given, over the table's embedder. What is computed is kept in `steps`. Raises InputError for a
    table without one full group.
    """

    def __init__(self, table: MemoryTable, *, models: Models | None = None, group_size: int = 5):
        models = _embedding_once(models or offline(table.embedder), table.embedder)
        self.table = _unsummarised(table)
        self.table.embedder = models.embedder
        self.settings = SummarySettings(group_size=group_size)
        self.summaries = Summaries(self.settings, summarizer=models.summarizer, merger=models.merger, profiler=models.profiler)
        self.total = self.table.unsummarised_count // group_size
        self.waiting = self.table.unsummarised_count % group_size
        self.steps: list[SummaryStep] = []
        self._numbers: dict[int, int] = {}
        if not self.total:
            told = self.table.unsummarised_count
            raise InputError(f"there is no full group of {group_size} yet: the table holds {told} told rows. Tell it more first")

    def upto(self, number: int) -> SummaryStep:
        """Return step `number`, from 1 to `total`, after making those before it."""
        if not 1 <= number <= self.total:
            raise InputError(f"there is no group {number}: there are {self.total}, counted from 1")
        while len(self.steps) < number:
            self._go_on()
        return self.steps[number - 1]

    def __iter__(self) -> Iterator[SummaryStep]:
        """Yield all steps, each made when it is asked for."""
        return (self.upto(number) for number in range(1, self.total + 1))

    def choose(self, question: str, step: SummaryStep) -> tuple[tuple[float, ...], int | None]:
        """Return the cosine of each set of `step` to the question, and the number of the set that would be injected."""
        table = MemoryTable(embedder=self.table.embedder, topic=self.table.topic)
        numbers = [table.set_summary(one.text, one.rows, one.at).number for one in step.sets]
        query = Query(question, step.sets[-1].at, table.embedder)
        chosen, _ = self.summaries.choose(query, table)
        cosines = (table.summary_vectors() @ query.vector).tolist()
        return tuple(cosines), None if chosen is None else step.sets[numbers.index(chosen)].number

    def _go_on(self) -> None:
        seen: list[Overlap] = []
        before = self.table.personality
        self.summaries.update(self.table, at=self._moment(), watch=seen.append)
        (found,) = seen
        parts, aligned = self._parts(found)
        sets = tuple(self._numbered(one) for one in self.table.summaries if one.text)
        into = next(one.number for one in sets if found.rows[-1] in one.rows)
        self.steps.append(
            SummaryStep(
                number=len(self.steps) + 1,
                rows=found.rows,
                written=found.new,
                nearest=self._numbered(found.nearest) if found.nearest else None,
                cosine=found.cosine,
                parts=parts,
                aligned=aligned,
                merged=found.merged is not None,
                into=into,
                sets=sets,
                portrait_before=before,
                portrait=self.table.personality,
            )
        )

    def _moment(self) -> datetime:
        """When the group became full: its last row's own time."""
        return self.table[self.table.unsummarised(self.settings.group_size)[-1]].created

    def _parts(self, found: Overlap) -> tuple[tuple[Part, ...], Literal["merger", "afterwards"]]:
        if found.nearest is None:
            return (), "merger"
        merger = self.summaries.merger
        if hasattr(merger, "parts"):
            return merger.parts(found.nearest.text, found.new), "merger"
        old, new = lines_of(found.nearest.text), lines_of(found.new)
        return compared(old, new, lines_of(found.merged) if found.merged is not None else [*old, *new]), "afterwards"

    def _numbered(self, one: Summary) -> Summary:
        """Return a set with its number from 1 on: the emptied sets of the table keep theirs."""
        return replace(one, number=self._numbers.setdefault(one.number, len(self._numbers) + 1))


def _unsummarised(table: MemoryTable) -> MemoryTable:
    """Return a fork whose rows stand in no summary, and which knows nothing of the user's ways."""
    fork = table.fork()
    for one in fork.summaries:
        fork.set_summary("", (), one.at, replaces=one.number)
    fork.set_personality("")
    return fork


def _embedding_once(models: Models, embedder: Embedder) -> Models:
    """Return the models over an embedder that embeds each text once, an extractive merger included: sets share their lines."""
    from ilstma_lab.models.extractive_summary import ExtractiveMerger

    once = embed_once(replace(models, embedder=embedder))
    if isinstance(models.merger, ExtractiveMerger):
        return replace(once, merger=ExtractiveMerger(once.embedder, similarity=models.merger.similarity))
    return once
