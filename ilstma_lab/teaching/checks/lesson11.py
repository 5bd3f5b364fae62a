"""Your own variant: what a band needs, whether a variant keeps to its part, and what a held-out topic lets one say."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ilstma_lab import ManualClock, MemoryTable
from ilstma_lab.config import Config
from ilstma_lab.evaluation.parts import ROLES, Role, Variant, try_out, variant_of
from ilstma_lab.evaluation.variants import BASELINE
from ilstma_lab.models import Models, offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.protocols import PrefetchContext, Query
from ilstma_lab.teaching.exercises import Exercise, Property

if TYPE_CHECKING:
    from ilstma_lab.evaluation.variants import Leaderboard

HELD_OUT = "jewelry"
VERDICTS = ("helps", "does harm", "cannot tell", "changes nothing")
_QUESTIONS = ("Which ring did I choose?", "What did we say about the weather in March?", "?")


@lru_cache(maxsize=1)
def _models() -> Models:
    return offline(HashedEmbedder())


@lru_cache(maxsize=2)
def _table(rows: int) -> MemoryTable:
    from ilstma_lab.evaluation.datasets import load_topic

    return MemoryTable.from_dialogues(load_topic("poetry").dialogues[:rows], embedder=_models().embedder, topic="poetry")


def _role(part: Any) -> Role | None:
    return next((role for role in ROLES[:2] if hasattr(type(part), role.method)), None)


def _variant(part: Any) -> Variant:
    return variant_of("mine", part, Config.measured())


def _works_on(part: Any, rows: int) -> bool:
    """Ask the engine with this part some questions; an InputError says what is wrong."""
    table = _table(rows)
    for question in _QUESTIONS:
        try_out(_variant(part), table.fork(), question, _models(), clock=ManualClock.after(table))
    return True


def _rows(part: Any, question: str) -> tuple[int, ...]:
    """Return what a fresh copy of the part recalls, or keeps at hand after row 10 was recalled."""
    table, part = _table(40).fork(), copy.deepcopy(part)
    now = ManualClock.after(table).now()
    query = Query(question, now, table.embedder)
    if _role(part).method == "retrieve":
        return tuple(part.retrieve(query, table, now=now).recalled)
    return part.select(PrefetchContext(query, (10,), table, now)).chosen


def _leaves_the_table(part: Any) -> bool:
    table = _table(40).fork()
    before = table.indices.tolist(), table.recall_times.tolist(), [table.text(at) for at in range(len(table))]
    now, part = ManualClock.after(table).now(), copy.deepcopy(part)
    query = Query(_QUESTIONS[0], now, table.embedder)
    if _role(part).method == "retrieve":
        part.retrieve(query, table, now=now)
    else:
        part.select(PrefetchContext(query, (10,), table, now))
    return before == (table.indices.tolist(), table.recall_times.tolist(), [table.text(at) for at in range(len(table))])


def _is_a_board(answer: Any) -> bool:
    from ilstma_lab.evaluation.variants import Leaderboard

    return isinstance(answer[0], Leaderboard)


def _own(board: Leaderboard) -> list[str]:
    return [name for name in board.variants if name != board.baseline]


def _fitting(board: Leaderboard) -> bool:
    """Tell whether the variant is compared with ILSTMA as measured, or with a part of its own kind."""
    kind = board.variants[_own(board)[0]].what
    return board.baseline == BASELINE or (board.baseline in board.variants and board.variants[board.baseline].what == kind)


def _may_say(answer: Any) -> bool:
    board, (verdict, n) = answer
    name = _own(board)[0]
    metric = "retrieve" if board.variants[name].what == "retriever" else "accuracy"
    return board.verdict(name, metric) == f"{verdict} at n = {n}"


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it is a number", lambda n: n == float(n)),
            Property("it takes more than 36", lambda n: n > 36),
            Property("it is right to 15", lambda n: abs(n - 36 * (0.18 / 0.07) ** 2) <= 15),
        ),
        hints=(
            "The band reaches .18 to each side. How far may it reach, if it is to end at 0?",
            "It must become .18 / .07 times as narrow. To halve a band you need four times the questions.",
            "36 * (.18 / .07) ** 2",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is an object, made of your class with ()", lambda part: not isinstance(part, type)),
            Property("it has the method retrieve, or select", lambda part: _role(part) is not None),
            Property("its method takes what it is given", lambda part: bool(_variant(part))),
            Property("it returns what its part returns, with rows that are there", lambda part: _works_on(part, 40)),
            Property("it works on a table of one row", lambda part: _works_on(part, 1)),
            Property(
                "the same question gets the same rows, whatever came before",
                lambda part: all(_rows(part, question) == _rows(part, question) for question in _QUESTIONS),
            ),
            Property("it leaves the table as it is", _leaves_the_table),
        ),
        hints=(
            "Begin with Cosine, and run the check: it passes. Then change one thing, and check again.",
            "A retriever needs one finite number a row, shape (len(table),). Look for a division by 0 on a table of one row.",
            "For a prefetcher: def select(self, context), and return Selection.of(rows) with rows that are in context.table. "
            "For chance use np.random.default_rng(seed).",
        ),
    ),
    "C": Exercise(
        properties=(
            Property("the first thing is what compare() returned", _is_a_board),
            Property(
                f"it asked all questions of {HELD_OUT}, and of no other topic",
                lambda answer: (
                    [topic.name for topic in answer[0].bench.experiment.topics] == [HELD_OUT] and answer[0].bench.n == 24
                ),
            ),
            Property("there is one variant beside the baseline", lambda answer: len(_own(answer[0])) == 1),
            Property("the baseline is ILSTMA as measured, or a part of the same kind", lambda answer: _fitting(answer[0])),
            Property(
                "your claim is one of the four verdicts, and an n", lambda answer: answer[1][0] in VERDICTS and answer[1][1] > 0
            ),
            Property("it is what the paired band says", _may_say),
        ),
        hints=(
            'compare({"mine": Mine(), "cosine": Cosine()}, "jewelry", baseline="cosine", models=models)',
            'Look at held_out.gain("mine", "retrieve"): where do low and high lie, and what is n?',
            'held_out.verdict("mine", "retrieve") says both in words; the claim is a pair such as ("cannot tell", 18).',
        ),
    ),
}
