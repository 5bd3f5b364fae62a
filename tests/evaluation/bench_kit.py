"""Two small topics, and systems that answer as a test says, for everything that is measured on a bench."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from ilstma_lab.evaluation.datasets import RecallQuestion, Topic
from ilstma_lab.lab import Lab
from ilstma_lab.memory.segments import SegmentLimits
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.running import RunningTurn
from tests.stubs import DAY_0, asking, said

EMBEDDER = HashedEmbedder(dim=64)
ROWS = 6
LATER = DAY_0 + timedelta(days=40)
HOSTILE = "</script><img src=x onerror=alert(1)>"


def topic(name: str = "one", *, questions: int = 4) -> Topic:
    """Questions that ask for row 0, 1, ...; then one on what everybody knows, and one on what was never said."""
    asked = [
        RecallQuestion(f"{name}-{n}", asking(n), LATER, gold=(f"day{n}",), label=said(n).user, facts=(said(n).user.split()[0],))
        for n in range(questions)
    ]
    asked.append(RecallQuestion(f"{name}-g", "Is the sea salty?", LATER, kind="general", label="Yes, it is salty."))
    asked.append(RecallQuestion(f"{name}-n", "What is my shoe size?", LATER, kind="never_said", label="You never said."))
    return Topic(name, tuple(said(n) for n in range(ROWS)), tuple(asked))


def parts(**given):
    """Offline parts over hashed words, some of them replaced."""
    return replace(offline(EMBEDDER), **given)


NO_HISTORY = SegmentLimits(history_turns=0)


@dataclass(frozen=True)
class PlainSettings:
    answer: str = "guesthouse"
    short_term: SegmentLimits = NO_HISTORY


class Plain(Lab):
    """Recalls row 0 whatever is asked, and always says the same."""

    system = "plain"
    settings = PlainSettings()

    def __init__(self, table, config=None, *, models=None, clock=None):
        config = config or self.settings
        super().__init__(table, config, limits=config.short_term, models=models, clock=clock)
        self.prepared = 0

    def summarise(self, *, progress=None):
        self.prepared += 1
        return 0

    def _running(self, question, at, **options):
        return PlainTurn(self, question, at, **options)


class PlainTurn(RunningTurn):
    def reach_answer(self):
        self.recalled = (0,)
        self.memory.fill_relevant(self.recalled)
        with self.record.step(9):
            self.answered_from = self.memory.views()
            self.answer = self.lab.config.answer

    def finish(self):
        self.write(())


class Counting(Plain):
    """Its answer depends on how many questions came before."""

    system = "counting"

    def _running(self, question, at, **options):
        return CountingTurn(self, question, at, **options)


class CountingTurn(PlainTurn):
    def reach_answer(self):
        super().reach_answer()
        self.answer = f"answer {len(self.lab.turns)}"


class Unmade(Plain):
    def __init__(self, table, config=None, **options):
        raise RuntimeError(f"no such luck {HOSTILE}")


class Breaks(Plain):
    """Fails on the second question inside the turn, on the third outside of it."""

    def ask(self, question, **options):
        if question == asking(2):
            raise RuntimeError("out of order")
        return super().ask(question, **options)

    def _running(self, question, at, **options):
        return BreakingTurn(self, question, at, **options)


class BreakingTurn(PlainTurn):
    def reach_answer(self):
        if self.question == asking(1):
            raise ValueError("the second is too much")
        super().reach_answer()
