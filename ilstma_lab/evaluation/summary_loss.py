"""What summaries lose: facts of the recall questions that still stand in a summary, by the size of the groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band, bootstrap
from ilstma_lab.evaluation.datasets import Topic
from ilstma_lab.evaluation.recorded import missing_facts
from ilstma_lab.evaluation.retrieval import embed_once
from ilstma_lab.evaluation.summary_replay import SummaryReplay
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.reprs.words import count

if TYPE_CHECKING:
    import pandas as pd

SIZES = tuple(range(2, 11))
Where = Literal["written", "kept", "chosen"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A short text that an answer must hold, and the question that asks for it."""

    topic: str
    question: str
    text: str


@dataclass(frozen=True, eq=False)
class FactsKept:
    """Which facts of the gold rows stand in the summaries, by group size. Arrays have the shape (n_facts, n_sizes).

    `written`: in a summary of a gold row's own group, when it was made; `kept`: in some set, when all groups are done; `chosen`:
    in the set that is chosen for the question. `lines` are the lines of all sets for each dialogue that they hold.
    `waiting` facts are left out at every size: at one of them their gold rows stand in no full group yet.
    """

    sizes: tuple[int, ...]
    facts: tuple[Fact, ...]
    written: np.ndarray
    kept: np.ndarray
    chosen: np.ndarray
    lines: np.ndarray  # (n_sizes,)
    merges: np.ndarray  # (n_sizes,)
    waiting: int
    models: str

    def __len__(self) -> int:
        return len(self.facts)

    @property
    def questions(self) -> int:
        """How many questions ask for these facts."""
        return len({(fact.topic, fact.question) for fact in self.facts})

    def counts(self, where: Where = "kept") -> dict[int, int]:
        """Return how many facts stand there, by group size."""
        return dict(zip(self.sizes, getattr(self, where).sum(axis=0).tolist(), strict=True))

    def bands(self, where: Where = "kept") -> dict[int, Band]:
        """Return the share of facts that stand there with its 95 % band, by group size; whole questions are drawn again."""
        return dict(zip(self.sizes, bootstrap(getattr(self, where).astype(float), clusters=self._clusters()), strict=True))

    def difference(self, one: int, other: int, where: Where = "kept") -> Band:
        """Return how much larger the share is at group size `one` than at `other`, fact by fact, with its 95 % band."""
        at = [self._at(size) for size in (one, other)]
        held = getattr(self, where).astype(float)[:, at]
        return bootstrap(held[:, :1] - held[:, 1:], clusters=self._clusters())[0]

    def lost(self, size: int) -> tuple[Fact, ...]:
        """Return the facts that stand in no set at a group size."""
        gone = ~self.kept[:, self._at(size)]
        return tuple(fact for fact, lost in zip(self.facts, gone, strict=True) if lost)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a group size: n, shares with their bands, lines for each dialogue, merges."""
        import pandas as pd

        rows = []
        for number, size in enumerate(self.sizes):
            row = {"group_size": size, "n": len(self)}
            for where in ("written", "kept", "chosen"):
                band = self.bands(where)[size]
                row |= {where: band.mean, f"{where}_low": band.low, f"{where}_high": band.high}
            rows.append({**row, "lines_per_dialogue": self.lines[number], "merges": int(self.merges[number])})
        return pd.DataFrame(rows)

    def __str__(self) -> str:
        head = (
            f"{count(len(self), 'fact')} of {count(self.questions, 'question')}; summaries by: {self.models}; "
            f"{self.waiting} facts left out, not in a full group at every size"
        )
        return "\n".join([head, "size  in some set          in the chosen set    lines a dialogue  merges", *self._lines()])

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        kept, chosen = self.bands("kept"), self.bands("chosen")
        for number, size in enumerate(self.sizes):
            shares = "  ".join(f"{band.mean:4.0%} ({band.low:3.0%} to {band.high:4.0%})" for band in (kept[size], chosen[size]))
            yield f"{size:>4}  {shares}  {self.lines[number]:16.2f}  {self.merges[number]:6.0f}"

    def _clusters(self) -> list[str]:
        return [f"{fact.topic} {fact.question}" for fact in self.facts]

    def _at(self, size: int) -> int:
        if size not in self.sizes:
            raise InputError(f"group size {size} was not counted; there are {', '.join(map(str, self.sizes))}")
        return self.sizes.index(size)


@dataclass(frozen=True, slots=True)
class _Counted:
    """One topic at one group size: for each fact None while its gold rows wait for a group, else where it stands."""

    held: tuple[tuple[bool, bool, bool] | None, ...]
    lines: int
    dialogues: int
    merges: int


def facts_kept(
    topics: Sequence[Topic],
    sizes: Sequence[int] = SIZES,
    *,
    models: Models | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FactsKept:
    """Return which facts of the topics' questions stand in summaries of groups of each size (ILSTMA, section 3.5).

    A fact stands where its text does, case and spacing aside: chance finds of a short one are possible. `progress(done, total)`
    is called after each topic and size. Raises InputError where no fact can be counted.

    Paper note: the paper says that larger groups lose more, and prints no figure. Without `models` the summaries are extractive:
    six lines at most, whatever the size of the group, each a sentence that was said. A language model rewrites, and may keep
    more or less.
    """
    models, sizes = embed_once(models or offline()), tuple(sizes)
    if not topics or not sizes:
        raise InputError("give topics (load_dataset) and at least one group size")
    facts, held, waiting = [], [], 0
    counted = {(topic.name, size): None for topic in topics for size in sizes}
    for topic in topics:
        table = MemoryTable.from_dialogues(topic.dialogues, embedder=models.embedder, topic=topic.name)
        for size in sizes:
            counted[topic.name, size] = _count(table, topic, size, models)
            if progress:
                progress(sum(one is not None for one in counted.values()), len(counted))
        asked = [(asked, fact) for asked in topic.questions for fact in asked.facts]
        for (question, text), *found in zip(asked, *(counted[topic.name, size].held for size in sizes), strict=True):
            if None in found:
                waiting += 1
            else:
                facts.append(Fact(topic.name, question.id, text))
                held.append(found)
    if not facts:
        raise InputError("no fact can be counted: the topics need questions with facts, whose gold rows fill a group")
    arrays = np.array(held, bool)  # (n_facts, n_sizes, 3)
    by_size = [[counted[topic.name, size] for topic in topics] for size in sizes]
    return FactsKept(
        sizes,
        tuple(facts),
        *(arrays[:, :, place] for place in range(3)),
        lines=np.array([sum(one.lines for one in some) / sum(one.dialogues for one in some) for some in by_size]),
        merges=np.array([sum(one.merges for one in some) for some in by_size]),
        waiting=waiting,
        models=models.name,
    )


def _count(table: MemoryTable, topic: Topic, size: int, models: Models) -> _Counted:
    replay = SummaryReplay(table, models=models, group_size=size)
    steps = list(replay)
    rows = {entry.source: entry.index for entry in table}
    group_of = {row: step for step in steps for row in step.rows}
    everything = "\n".join(one.text for one in steps[-1].sets)
    held: list[tuple[bool, bool, bool] | None] = []
    for asked in topic.questions:
        gold = [rows[source] for source in asked.gold + asked.alt_gold]
        if not asked.facts or not any(row in group_of for row in gold):
            held += [None] * len(asked.facts)
            continue
        own = "\n".join(group_of[row].written for row in gold if row in group_of)
        _, number = replay.choose(asked.question, steps[-1])
        chosen = steps[-1].set(number).text if number else ""
        held += [tuple(not missing_facts(text, [fact]) for text in (own, everything, chosen)) for fact in asked.facts]
    lines = sum(len(one.text.splitlines()) for one in steps[-1].sets)
    return _Counted(tuple(held), lines, sum(len(step.rows) for step in steps), sum(step.merged for step in steps))
