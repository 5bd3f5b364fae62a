"""Summaries: the facts that one group loses, the rule of the overlap update, and a test that catches a rule which forgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ilstma_lab.evaluation.datasets import load_topic
from ilstma_lab.evaluation.recorded import missing_facts
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.models.extractive_summary import ExtractiveSummarizer
from ilstma_lab.models.overlap import merged_text, overlap
from ilstma_lab.teaching.exercises import Exercise, Property

Lines = list[str]
Rule = Callable[[Lines, Lines, Any, float], list[Lines]]

FACTS = ("horses", "cetirizine", "Tuesday 28 July", "400 kroner")
ROWS = range(85, 90)

_OLD, _NEW = ["cello twice a week", "an aunt in Bergen", "no peanuts"], ["cello every day", "a green bicycle"]
_LIKE = np.array([[0.8, 0.1, 0.0], [0.1, 0.2, 0.1]])
_UNLIKE = np.full((2, 3), 0.2)
_TWICE = np.array([[0.8, 0.1, 0.0], [0.9, 0.2, 0.1]])


def right(old: Lines, new: Lines, likeness: Any, threshold: float) -> list[Lines]:
    """Return the sets after an update, as the kit makes them: one, or both as they were."""
    merged = merged_text(overlap(old, new, likeness, threshold=threshold))
    return [list(old), list(new)] if merged is None else [merged.splitlines()]


@lru_cache(maxsize=1)
def _lost() -> frozenset[str]:
    table = MemoryTable.from_dialogues(load_topic("travel").dialogues, embedder=HashedEmbedder(dim=16))
    summary, _ = ExtractiveSummarizer().summarize([table[row] for row in ROWS])
    return frozenset(missing_facts(summary, FACTS))


def _sets(rule: Rule, old: Sequence[str], new: Sequence[str], likeness: Any) -> list[Lines]:
    return [list(one) for one in rule(list(old), list(new), np.array(likeness, float), 0.7)]


def _agrees(rule: Rule) -> bool:
    draw = np.random.default_rng(7)
    for _ in range(200):
        n_old, n_new = draw.integers(1, 7, 2)
        old, new = [f"old {at}" for at in range(n_old)], [f"new {at}" for at in range(n_new)]
        likeness = draw.integers(0, 8, (n_new, n_old)) / 8  # few values, many ties
        if _sets(rule, old, new, likeness) != right(old, new, likeness, 0.7):
            return False
    return True


def _leaves_its_arguments(rule: Rule) -> bool:
    old, new, likeness = list(_OLD), list(_NEW), _LIKE.copy()
    rule(old, new, likeness, 0.7)
    return (old, new) == (_OLD, _NEW) and bool((likeness == _LIKE).all())


# -- rules that forget, for the tests that readers write ------------------------------------------------------------------


def _only_the_new(old: Lines, new: Lines, likeness: Any, threshold: float) -> list[Lines]:
    return [list(new)]


def _forgets_where_it_merges(old: Lines, new: Lines, likeness: Any, threshold: float) -> list[Lines]:
    return [list(new)] if np.max(likeness) >= threshold else [list(old), list(new)]


def _forgets_the_last_line(old: Lines, new: Lines, likeness: Any, threshold: float) -> list[Lines]:
    sets = right(old, new, likeness, threshold)
    return [[one for one in sets[0] if one != old[-1]]] if len(sets) == 1 and np.max(likeness[:, -1]) < threshold else sets


def _forgets_the_first_line(old: Lines, new: Lines, likeness: Any, threshold: float) -> list[Lines]:
    sets = right(old, new, likeness, threshold)
    return [[one for one in sets[0] if one != old[0]]] if len(sets) == 1 and np.max(likeness[:, 0]) < threshold else sets


def _keeps_six_lines(old: Lines, new: Lines, likeness: Any, threshold: float) -> list[Lines]:
    return [one[-6:] for one in right(old, new, likeness, threshold)]


_FORGETFUL = {
    "one that keeps the new summary alone": _only_the_new,
    "one that forgets the old set where it merges": _forgets_where_it_merges,
    "one that forgets the last old line": _forgets_the_last_line,
    "one that forgets the first old line": _forgets_the_first_line,
    "one that keeps six lines at most": _keeps_six_lines,
}


def _fails(test: Callable[[Rule], None], rule: Rule) -> bool:
    try:
        test(rule)
    except AssertionError:
        return True
    return False


EXERCISES = {
    "A": Exercise(
        properties=(
            Property("it is a list, a tuple or a set", lambda lost: isinstance(lost, list | tuple | set)),
            Property("each is one of the four facts", lambda lost: set(lost) <= set(FACTS)),
            Property("none of them stands in the summary", lambda lost: set(lost) <= _lost()),
            Property("all that are lost are there", lambda lost: set(lost) == _lost()),
        ),
        hints=(
            "A fact is lost if it stands in the dialogues and not in the summary. Compare without regard to case.",
            "`fact.casefold() in summary.casefold()` tells whether one stands there.",
            "A list comprehension over `facts` with `not in` gives the answer.",
        ),
    ),
    "B": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it returns something in place of the dots", lambda f: f(_OLD, _NEW, _LIKE, 0.7) not in (..., None)),
            Property("nothing similar: two sets, unchanged", lambda f: _sets(f, _OLD, _NEW, _UNLIKE) == [_OLD, _NEW]),
            Property("something similar: one set", lambda f: len(_sets(f, _OLD, _NEW, _LIKE)) == 1),
            Property("the new line stands in the old one's place", lambda f: _sets(f, _OLD, _NEW, _LIKE)[0][0] == _NEW[0]),
            Property("what it overwrote is gone", lambda f: _OLD[0] not in _sets(f, _OLD, _NEW, _LIKE)[0]),
            Property("the other old lines keep their order", lambda f: _sets(f, _OLD, _NEW, _LIKE)[0][1:3] == _OLD[1:]),
            Property("the other new lines follow at the end", lambda f: _sets(f, _OLD, _NEW, _LIKE)[0][3:] == _NEW[1:]),
            Property("an old line gives way once", lambda f: _sets(f, _OLD, _NEW, _TWICE) == [[_NEW[0], *_OLD[1:], _NEW[1]]]),
            Property("what it was given stays as it was", _leaves_its_arguments),
            Property("it is right for 200 random updates", _agrees),
        ),
        hints=(
            "Go through the new lines. For each, np.argmax(likeness[at]) is the nearest old line.",
            "Work on copies of old and of likeness. A place that is taken must not win again: set its column to -1.",
            "Collect new lines that found no place in `added`. At the end: [lines + added] if fewer were added than came, else "
            "[old, new].",
        ),
    ),
    "C": Exercise(
        properties=(
            Property("it is a function", callable),
            Property("it lets the right rule pass", lambda test: not _fails(test, right)),
            *(
                Property(f"it catches a rule: {says}", lambda test, rule=rule: _fails(test, rule))
                for says, rule in _FORGETFUL.items()
            ),
        ),
        hints=(
            "Make an update in which one line overlaps and several do not, and assert that each of those still stands somewhere.",
            "Put the line that overlaps in the middle: then the first and the last old line must both survive.",
            "Some rules forget only when a set grows long: let the old set have eight lines, and assert "
            "`all(line in kept for line in ...)`.",
        ),
    ),
}
