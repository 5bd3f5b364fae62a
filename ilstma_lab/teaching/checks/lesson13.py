"""Five systems on one bench: how many questions settle a gap, a grader and a system of one's own, and an answer that cheats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from ilstma_lab.clock import ManualClock
from ilstma_lab.evaluation.bench import Bench
from ilstma_lab.evaluation.claims import unpaired_difference
from ilstma_lab.evaluation.datasets import RecallQuestion
from ilstma_lab.evaluation.grading import Grade
from ilstma_lab.lab import Lab
from ilstma_lab.memory.entry import Dialogue
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.teaching.exercises import Exercise, Property

WORDS, ASKED, WANTED = 150, 8, 0.75
_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_FACTS = ("264", "Passau", "blue scarf", "Copenhagen–Oslo")
_RECALL = RecallQuestion("r", "What was it?", _NOON, facts=_FACTS, label="264, Passau, blue scarf, Copenhagen–Oslo")
_NEVER = RecallQuestion("n", "And the street?", _NOON, kind="never_said", label="You never told me.")
_GENERAL = RecallQuestion("g", "How old do tortoises get?", _NOON, kind="general", label="Some reach 100 years.")
_HONEST = "I do not remember that."


@lru_cache(maxsize=1)
def _least() -> int:
    n = 1
    while True:
        gap, half = unpaired_difference(0.884, 0.849, n=n)
        if gap > half:
            return n
        n += 1


def _gives(grader: Any, question: RecallQuestion, answer: str, accuracy: float) -> bool:
    return grader.grade(question, answer).accuracy == accuracy


def _saying(count: int) -> str:
    return f"It was {', '.join(_FACTS[:count])}."


def _padded(words: int) -> str:
    """Return an answer with all facts, of so many words."""
    said = " ".join(_FACTS)
    return f"{said} {' '.join(['well'] * (words - len(said.split())))}"


def _shown(system: Callable[..., Lab], days: Sequence[int]) -> tuple[int, ...]:
    """Return the rows that a system shows where the table's dialogues are of these days."""
    moments = [_NOON + timedelta(days=day, minutes=number) for number, day in enumerate(days)]
    dialogues = [Dialogue(f"note {number}", f"kept {number}", at) for number, at in enumerate(moments)]
    table = MemoryTable.from_dialogues(dialogues, embedder=HashedEmbedder())
    lab = system(table, models=offline(table.embedder), clock=ManualClock.after(table))
    turn = lab.ask("What did I note?", remember=False)
    return next(view.rows for view in turn.answered_from if view.name == "relevant")


def _accuracy(experiment: Any) -> float:
    (system,) = experiment.systems
    return Bench(experiment, system, "facts strict").measured(system, "accuracy").band.mean


def _answers(experiment: Any) -> tuple[str, ...]:
    return tuple(record.answer for record in experiment.records)


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it is a whole number", lambda n: isinstance(n, int) and not isinstance(n, bool)),
            Property("it is more than the paper's 259", lambda n: n > 259),
            Property("with it the gap lies outside its band", lambda n: n >= _least()),
            Property("with one question less it does not", lambda n: n == _least()),
        ),
        hints=(
            "Half the width of the band shrinks as 1 / √n. By what must .059 shrink to get below .035?",
            "About (.059 / .035)² times 259. claims.unpaired_difference(0.884, 0.849, n=n) gives gap and half width exactly.",
            "Count n up from 259 until the gap is larger than the half width.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property(
                "it has a name, and returns a Grade",
                lambda grader: bool(grader.name) and isinstance(grader.grade(_RECALL, "264"), Grade),
            ),
            Property("all facts give 1", lambda grader: _gives(grader, _RECALL, _saying(4), 1.0)),
            Property(
                "half of them, or more, give .5", lambda grader: all(_gives(grader, _RECALL, _saying(n), 0.5) for n in (2, 3))
            ),
            Property("one of four gives 0", lambda grader: _gives(grader, _RECALL, _saying(1), 0.0)),
            Property("264 does not stand in 1,264", lambda grader: _gives(grader, _RECALL, "1,264 in Passau", 0.0)),
            Property(
                "never said: honesty gives 1, a claim 0",
                lambda grader: _gives(grader, _NEVER, _HONEST, 1.0) and _gives(grader, _NEVER, "Rose Street.", 0.0),
            ),
            Property("honesty does not help where rows answer", lambda grader: _gives(grader, _RECALL, _HONEST, 0.0)),
            Property("a label without facts gives 0", lambda grader: _gives(grader, _GENERAL, "100 years.", 0.0)),
            Property(f"{WORDS} words are allowed", lambda grader: _gives(grader, _RECALL, _padded(WORDS), 1.0)),
            Property(
                "one more gives 0, for honesty too",
                lambda grader: (
                    _gives(grader, _RECALL, _padded(WORDS + 1), 0.0)
                    and _gives(grader, _NEVER, f"{_HONEST} {_padded(WORDS)}", 0.0)
                ),
            ),
        ),
        hints=(
            "Look at the length first, then at question.kind, then at the facts.",
            "held = [holds(answer, fact) for fact in question.facts] is a list of True and False. What is its mean?",
            "np.mean(held or [0]) is the share: 1.0 if it is 1, .5 from .5 on, else 0.0. len(answer.split()) counts words.",
        ),
    ),
    "C": Exercise(
        properties=(
            Property("it makes a lab that answers", lambda system: bool(_shown(system, (0, 1)))),
            Property("it shows no row of an earlier day", lambda system: _shown(system, (0, 0, 1)) == (2,)),
            Property("it shows all rows of the last day, in order", lambda system: _shown(system, (0, 3, 3, 3)) == (1, 2, 3)),
            Property("more than seven, too", lambda system: _shown(system, (0, *[2] * 9)) == tuple(range(1, 10))),
        ),
        hints=(
            "self.table.last_created is a moment; .date() makes a day of it.",
            "for row in self.table gives the rows; keep row.index where row.created.date() is that day.",
        ),
    ),
    "D": Exercise(
        properties=(
            Property(f"it is a bench of the first {ASKED} questions", lambda run: len(run.records) == ASKED),
            Property("no answer failed", lambda run: not any(record.failure for record in run.records)),
            Property("it says the same to every question", lambda run: len(set(_answers(run))) == 1),
            Property(f"facts strict gives it {WANTED} or more", lambda run: _accuracy(run) >= WANTED),
        ),
        hints=(
            "Facts are looked for anywhere in the answer. Nothing says how long it may be.",
            "memory.relevant holds all rows. What if the answer is all of them?",
        ),
    ),
}
