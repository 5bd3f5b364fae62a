"""Start here: steps of a miss and of a hit, a hit of one's own, and what 40 days do to a score."""

from __future__ import annotations

import math
from numbers import Real

from ilstma_lab.teaching.exercises import Exercise, Property, near
from ilstma_lab.trace import Turn

_ASKED_ABOVE = (
    "How much is in the holiday kitty altogether by now, after my husband's extra shifts?",
    "How much is in the pot after Tomek's two extra Sunday duties in May?",
)
_FIRST_STRENGTH_DAYS = 5.0  # Eq. 2 at one recall
_POT = "5,860"


def _words(question: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in question.lower()).split()


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it is a set", lambda steps: isinstance(steps, set)),
            Property(
                "its members are whole numbers from 1 to 9", lambda steps: all(type(n) is int and 1 <= n <= 9 for n in steps)
            ),
            Property("no step in it runs on a hit", lambda steps: not steps & {1, 2, 3, 8, 9}),
            Property("no step that only a miss runs is missing", lambda steps: steps >= {4, 5, 6, 7}),
        ),
        hints=(
            "A turn's steps are in turn.steps; each has a number.",
            "{step.number for step in first.steps} is the set of the steps that ran in the first turn.",
            "Sets can be subtracted: one - other holds what is in one and not in the other.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is a Turn, which is what lab.ask returns", lambda turn: isinstance(turn, Turn)),
            Property("it is not the lab's first turn, which never hits", lambda turn: turn.number > 1),
            Property(
                "its words are your own, not those of a question above",
                lambda turn: _words(turn.question) not in map(_words, _ASKED_ABOVE),
            ),
            Property("it is a hit", lambda turn: turn.hit),
            Property("its answer holds the amount in the pot", lambda turn: _POT in turn.answer),
        ),
        hints=(
            "The judge compares your question with the rows in the cache: print mine.memory.cache[0].text and read it.",
            "It counts words that the question and the row share. 'holiday kitty' is not in the row; what does the row call it?",
            "Name what the row names: who, which duties, when. Then ask what the pot is.",
        ),
    ),
    "C": Exercise(
        properties=(
            Property("it is a number", lambda lost: isinstance(lost, Real)),
            Property("it is a loss, between 0 and 1: the time part cannot lose more", lambda lost: 0 < lost < 1),
            Property(
                "it is the difference between the two scores of row 92, to two digits",
                lambda lost: near(
                    lost, math.exp(-2 / _FIRST_STRENGTH_DAYS) - math.exp(-42 / _FIRST_STRENGTH_DAYS), tolerance=0.005
                ),
            ),
        ),
        hints=(
            "Make a new lab, move its clock with lab.clock.advance(days=40), and ask it the same question.",
            "{row.index: row.score for row in first.prefetch.rows} maps each row of the window to its score.",
            "Look up row 92 in both maps, and subtract the later score from the earlier.",
        ),
    ),
}
