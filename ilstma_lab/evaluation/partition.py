"""Whether a topic is cut as a test of long-term memory should be: the principles of ILSTMA (section 4.1.1) as checks.

The construction set is what is put into the table, the recall set is what is asked of it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from ilstma_lab.evaluation.grade_text import folded
from ilstma_lab.evaluation.plain_table import PlainTable
from ilstma_lab.memory.entry import is_blank
from ilstma_lab.reprs.words import count, line

if TYPE_CHECKING:
    from ilstma_lab.evaluation.datasets import RecallQuestion, Topic
    from ilstma_lab.memory.entry import Dialogue

_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|me|my|mine|myself|we|we're|we've|us|our|ours)\b|[我咱俺]", re.IGNORECASE)
_SHORTEST = 12
"""Questions of fewer characters, such as "And when?", are no sign of copying."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether `topic` keeps one principle, with the figures that decide it."""

    topic: str
    principle: str
    holds: bool
    said: str


def check_partition(topic: Topic) -> tuple[Finding, ...]:
    """Return a finding for each principle.

    From the paper: dialogues have two sides; most are personal and a few general; questions have labels; a few are general.
    Ours besides: gold rows exist, every question of what was said has one, names are used once, questions come after the last
    dialogue, and none stands verbatim in the dialogues, for it would find itself.

    Personal is a dialogue whose user speaks of "I" or "we" (English, Chinese): a sign, no reading.
    """
    return tuple(Finding(topic.name, *found) for found in (*_construction(topic.dialogues), *_recall(topic)))


def check_overlap(topics: Sequence[Topic]) -> Finding:
    """Return whether no dialogue stands in two topics, word for word."""
    texts = {topic.name: {folded(dialogue.text) for dialogue in topic.dialogues} for topic in topics}
    shared = [(one, other, len(texts[one] & texts[other])) for one, other in combinations(texts, 2)]
    found = [f"{one} and {other} share {n}" for one, other, n in shared if n]
    return Finding("all", "topics do not overlap", not found, "; ".join(found) or f"{count(len(texts), 'topic')}, none shared")


def partition_table(topics: Sequence[Topic]) -> PlainTable:
    """Return in how many topics each principle holds, and the figures of the first in which it does not."""
    findings = [finding for topic in topics for finding in check_partition(topic)]
    rows = []
    for principle in dict.fromkeys(finding.principle for finding in findings):
        of = [finding for finding in findings if finding.principle == principle]
        failed = [finding for finding in of if not finding.holds]
        shown = (failed or of)[0]
        rows.append((principle, f"{len(of) - len(failed)} of {len(of)}", f"{line(shown.topic, 24)}: {line(shown.said, 44)}"))
    overlap = check_overlap(topics)
    rows.append((overlap.principle, "yes" if overlap.holds else "no", line(overlap.said, 60)))
    return PlainTable(("principle", "topics", "such as"), tuple(rows), words=(0, 2))


def _construction(dialogues: Sequence[Dialogue]) -> Iterator[tuple[str, bool, str]]:
    one_sided = sum(is_blank(d.user) or is_blank(d.assistant) for d in dialogues)
    yield "dialogues have two sides", not one_sided, f"{one_sided} of {count(len(dialogues), 'dialogue')} have one side"
    general = sum(_FIRST_PERSON.search(folded(d.user)) is None for d in dialogues)
    said = f"{general} of {count(len(dialogues), 'dialogue')} without “I”"
    yield "most dialogues are personal", general < len(dialogues) / 2, said
    yield "a few dialogues are general", 0 < general < len(dialogues) / 2, said
    twice = _repeated(d.source for d in dialogues)
    yield "sources are used once", not twice, _named(twice, "no source stands twice")


def _recall(topic: Topic) -> Iterator[tuple[str, bool, str]]:
    asked = topic.questions
    bare = [q.id for q in asked if q.kind != "never_said" and is_blank(q.label)]
    yield "questions have labels", not bare, f"{len(bare)} of {count(len(asked), 'question')} have none"
    general = sum(q.kind == "general" for q in asked)
    yield "a few questions are general", 0 < general < len(asked) / 2, f"{general} of {count(len(asked), 'question')}"
    known = {d.source for d in topic.dialogues}
    lost = [q.id for q in asked if q.finds - known]
    yield "gold rows exist", not lost, _named(lost, f"{sum(len(q.finds) for q in asked)} named, all there")
    without = [q.id for q in asked if (q.kind == "recall") != bool(q.finds)]
    yield "what was said has gold, the rest none", not without, _named(without, "so it is")
    twice = _repeated(q.id for q in asked)
    yield "ids are used once", not twice, _named(twice, "no id stands twice")
    last = max((d.at for d in topic.dialogues), default=None)
    early = [q.id for q in asked if last is not None and q.asked_at <= last]
    yield "questions come after the dialogues", not early, _named(early, "all after the last")
    found = [q.id for q in asked if _stands_in(q, topic.dialogues)]
    yield "no question stands in a dialogue", not found, _named(found, "none verbatim")


def _stands_in(question: RecallQuestion, dialogues: Sequence[Dialogue]) -> bool:
    wanted = folded(question.question)
    return len(wanted) >= _SHORTEST and any(wanted in folded(dialogue.text) for dialogue in dialogues)


def _repeated(names: Iterator[str]) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]


def _named(names: Sequence[str], otherwise: str) -> str:
    return f"{len(names)}: {', '.join(names[:4])}" if names else otherwise
