"""ILSTMA with one part left out or put in another's place: what each is good for, measured like any other system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ilstma_lab.clock import Clock
from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.evaluation.segments_off import SegmentsOff
from ilstma_lab.forgetting.rivals import AnyRetention, PowerRetention
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.models.always_miss import AlwaysMiss
from ilstma_lab.protocols import Query
from ilstma_lab.retrieval.dual import DualRetriever
from ilstma_lab.retrieval.recall import Chunk, Reading, Recall

WHOLE = "ILSTMA"


class NamesNothing:
    """A reader of branch A that names no row, so that branch B's are recalled: branch B alone."""

    reads = False

    def read(self, query: Query, chunks: Sequence[Chunk]) -> Reading:
        """Return a reading without a row."""
        return Reading(None, reason="branch A is left out")


@dataclass(frozen=True)
class BranchAAlone:
    """A retriever that recalls the row which branch A names, and none where it names none."""

    dual: DualRetriever

    def retrieve(self, question: str | Query, table: MemoryTable, *, now: datetime) -> Recall:
        """Return what both branches found, with branch A's row alone recalled."""
        found = self.dual.retrieve(question, table, now=now)
        named = found.branch_a.named
        return replace(found, recalled=() if named is None else (named,), reason="branch B is left out")

    def prepare(self, table: MemoryTable) -> int:
        """Embed what branch A still needs; return the number of chunks."""
        return self.dual.prepare(table)


@dataclass(frozen=True)
class Ablation:
    """What makes labs of ILSTMA with `config`, changed in one place: called as `ablation(table, models=..., clock=...)`.

    `without_prefetch`: no judgement, every question takes the full path. `branch`: "A" or "B" alone recalls. `segment`: this
    segment of short-term memory stays empty. `retention`: another curve in Eq. 4; `curve=False` scores by place alone, R being 1.
    """

    config: Config
    without_prefetch: bool = False
    branch: str = "both"
    segment: str = ""
    curve: bool = True
    retention: AnyRetention | None = None

    def __call__(self, table: MemoryTable, *, models: Models | None = None, clock: Clock | None = None) -> ILSTMA:
        """Return a lab over `table`."""
        models = models or offline(table.embedder)
        if self.without_prefetch:
            models = replace(models, judge=AlwaysMiss())
        if self.branch == "B":
            models = replace(models, reader=NamesNothing())
        one = BranchAAlone(DualRetriever(self.config.retrieval, reader=models.reader)) if self.branch == "A" else None
        lab = ILSTMA(table, self._config(), models=models, clock=clock, retriever=one)
        if self.segment:
            lab.memory = SegmentsOff(lab.memory, {self.segment})
        return lab

    @property
    def setting(self) -> str:
        """What is changed, for the experiment's fingerprint."""
        return repr(self)

    def _config(self) -> Config:
        usual = self.config.prefetch
        refresh, retention = usual.score_refresh if self.curve else "on_touch", self.retention or usual.retention
        return replace(self.config, prefetch=replace(usual, score_refresh=refresh, retention=retention))


def ablations(config: Config | None = None) -> Mapping[str, Callable[..., ILSTMA]]:
    """Return the whole and its ablations by name; `config` is the paper as meant by default.

    "without curve" scores the window by place alone: with the printed rule of section 3.6.2 a kept R is 1 for ever, which is the
    same. "power curve" puts a power law in the place of Eq. 1.
    """
    whole = Ablation(config or Config())
    return {
        WHOLE: whole,
        "without prefetch": replace(whole, without_prefetch=True),
        "A alone": replace(whole, branch="A"),
        "B alone": replace(whole, branch="B"),
        "without summary": replace(whole, segment="summary"),
        "without personality": replace(whole, segment="personality"),
        "without curve": replace(whole, curve=False),
        "power curve": replace(whole, retention=PowerRetention()),
    }
