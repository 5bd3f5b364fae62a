"""Question sequences made to order: how often they return, go on to a neighbour, follow a topic or jump is set by knobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.workload import Access, Workload
from ilstma_lab.memory.entry import Dialogue
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.embedders import HashedEmbedder

TOPICS = ("garden", "music", "travel", "cooking", "health", "work", "family", "money", "books", "sports", "weather", "repairs")
BEGIN = datetime(2024, 1, 1, 9, tzinfo=UTC)

_ROWS_A_DAY = 4
_DIM = 64


@dataclass(frozen=True, kw_only=True)
class Habits:
    """How the next question follows from the last; what `returning`, `neighbour` and `topic` leave of 1 is a jump to any row.

    `returning`: to one of the `recent` rows asked for last. `neighbour`: to a row at most `reach` away. `topic`: to another row
    of the same topic, wherever it stands. `days`: the mean time between two questions, drawn from an exponential distribution.
    """

    returning: float = 0.2
    neighbour: float = 0.3
    topic: float = 0.3
    recent: int = 5
    reach: int = 3
    days: float = 1.0

    def __post_init__(self) -> None:
        chances = (self.returning, self.neighbour, self.topic)
        if not min(chances) >= 0 or not sum(chances) <= 1 + 1e-9:
            raise InputError(f"returning, neighbour and topic must be >= 0 and sum to 1 at most (got {chances}); the rest jumps")
        if min(self.recent, self.reach) < 1 or not all(isinstance(n, int) for n in (self.recent, self.reach)):
            raise InputError(f"recent and reach are whole numbers >= 1 (got {self.recent}, {self.reach})")
        if not 0 <= self.days <= 365:
            raise InputError(f"the mean time between two questions is 0 to 365 days (got {self.days})")

    @property
    def jump(self) -> float:
        """The chance of a jump."""
        return max(0.0, 1 - self.returning - self.neighbour - self.topic)


def generate(
    habits: Habits | None = None,
    *,
    rows: int = 200,
    questions: int = 100,
    topics: int = 8,
    stretch: int = 4,
    seed: int = 0,
    name: str = "generated",
) -> Workload:
    """Return a workload of `questions`, each answered by one of `rows`; the same for the same `seed`.

    The conversation stays with a topic for about `stretch` rows, turns to another, and comes back to each: to follow a topic is
    not to go to a neighbour. Rows share words with rows of their topic, and a question shares them with its row; vectors are
    hashed words. An access's `kind` is the habit that led to it: "first", "returning", "neighbour", "topic" or "jump".
    Where a habit leads nowhere (nothing else in the topic), it is a jump.
    """
    if rows < 1 or questions < 0 or stretch < 1 or not 1 <= topics <= len(TOPICS):
        raise InputError(f"need rows, stretch >= 1, questions >= 0 and 1 to {len(TOPICS)} topics")
    habits, rng = habits or Habits(), np.random.default_rng(seed)
    topic_of = _topics(rows, topics, stretch, rng)
    said = (
        Dialogue(f"{_words(topic_of, row)}.", "I will keep that in mind.", BEGIN + timedelta(days=row / _ROWS_A_DAY), f"row{row}")
        for row in range(rows)
    )
    table = MemoryTable.from_dialogues(said, embedder=HashedEmbedder(dim=_DIM), topic=name)
    moment, accesses = BEGIN + timedelta(days=rows / _ROWS_A_DAY), []
    for number, (row, habit) in enumerate(_walk(habits, topic_of, questions, rng)):
        moment += timedelta(days=float(rng.exponential(habits.days)) if number else 1.0)
        question = f"What did I say about {_words(topic_of, row)}?"
        accesses.append(Access(f"{name}-{number}", question, moment, (row,), (row,), habit))
    return Workload(name, table, tuple(accesses), order=f"drawn with seed {seed} and these habits: {habits}")


def _topics(rows: int, topics: int, stretch: int, rng: np.random.Generator) -> np.ndarray:
    """Return each row's topic number, shape (rows,): stretches of geometric length, no topic twice in a row."""
    labels: list[int] = []
    topic = int(rng.integers(topics))
    while len(labels) < rows:
        labels += [topic] * int(rng.geometric(1 / stretch))
        topic = (topic + int(rng.integers(1, max(topics, 2)))) % topics
    return np.array(labels[:rows])


def _walk(habits: Habits, topic_of: np.ndarray, questions: int, rng: np.random.Generator) -> Iterator[tuple[int, str]]:
    """Yield the row of each question and the habit that led to it."""
    every, asked = np.arange(len(topic_of)), []
    names = ("returning", "neighbour", "topic", "jump")
    chances = np.array([habits.returning, habits.neighbour, habits.topic, habits.jump])
    for _ in range(questions):
        habit = str(rng.choice(names, p=chances / chances.sum())) if asked else "first"
        goals = every
        if asked:
            last = asked[-1]
            goals = {
                "returning": np.array(list(dict.fromkeys(reversed(asked)))[: habits.recent]),
                "neighbour": every[max(0, last - habits.reach) : last + habits.reach + 1],
                "topic": every[topic_of == topic_of[last]],
                "jump": every,
            }[habit]
            if habit in ("neighbour", "topic"):
                goals = goals[goals != last]
        if not len(goals):
            habit, goals = "jump", every
        asked.append(int(rng.choice(goals)))
        yield asked[-1], habit


def _words(topic_of: np.ndarray, row: int) -> str:
    return f"{TOPICS[topic_of[row]]} matter{row}"
