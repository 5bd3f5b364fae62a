"""Forty turns about the travel conversation: its 24 questions in order, and between them 16 that go on, come back or repeat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from ilstma_lab.evaluation.datasets import Topic
from ilstma_lab.trace import SegmentView, Turn

_AGAIN = "again"
_AFTER = {  # what is asked after a question: in words of our own, or word for word
    "travel-03": (
        "Who takes the key from Milan on the thirtieth?",
        "Is Borste nine or ten years old?",
    ),
    "travel-06": ("May Emil eat peanuts and almonds, then?",),
    "travel-07": ("How much coconut milk goes into the red lentil soup?",),
    "travel-08": (
        "How much is in the pot after Tomek's two extra Sunday duties in May?",
        "By when do I replace the pen that expires?",
    ),
    "travel-09": ("And Emil's child passport, the old booklet: when does it run out?",),
    "travel-11": ("Who of us gets seasick, and where should our cabins lie?",),
    "travel-12": ("What did the ship cost, and which cabins did I book?",),
    "travel-14": (_AGAIN,),
    "travel-15": ("Does Sunniva have a cat or a horse?",),
    "travel-18": ("Is the wooden roller coaster in Tivoli the one with a brakeman?",),
    "travel-19": ("Which instrument did I tune in the church?",),
    "travel-22": ("And which of the places in Oslo has the lift?",),
    "travel-23": ("On which train did Tomek and I meet?",),
    "travel-24": ("What was my mother's name?",),
}


class Asked(NamedTuple):
    """A question and when it is asked."""

    question: str
    at: datetime


def forty_turns(topic: Topic) -> tuple[Asked, ...]:
    """Return the forty questions, in the order in which they are asked, from the travel topic of `load_topic`."""
    asked = []
    for question in topic.questions:
        asked.append(Asked(question.question, question.asked_at))
        for minutes, words in enumerate(_AFTER.get(question.id, ()), 1):
            words = question.question if words == _AGAIN else words
            asked.append(Asked(words, question.asked_at + timedelta(minutes=minutes)))
    return tuple(asked)


Flow = dict[int, tuple[tuple[str, ...], tuple[str, ...]]]
"""By step, in the order in which they ran: what it read, what it wrote."""


def flow_of(turn: Turn) -> Flow:
    """Return for each step that ran, in its order, what it read and what it wrote: names of segments, table, question, answer."""
    judged, answered = (_filled(views) for views in (turn.segments_before, turn.answered_from))
    kept = ("waiting touches",) if turn.hit else ()
    flows = {
        1: ((), ("question",)),
        2: (("question", *judged), ("verdict",)),
        3: (("verdict",), kept),
        4: (("table",), ()),
        6: (("question", "table"), ("relevant",)),
        5: (("question", "table"), ("summary", "personality")),
        9: (("verdict",) if turn.hit else ("question", *answered), ("answer",)),
        8: (("answer", "touches"), ("table",)),
        7: (("table",), ("cache",)),
    }
    return {step.number: flows[step.number] for step in turn.steps}


def wrong_flow(turns: Sequence[Turn]) -> Flow:
    """Return the flow of a turn of an engine with a fault: one of its steps reads what it should not."""
    turn = next(turn for turn in turns if not turn.hit and "cache" in _filled(turn.segments_before))
    cache = next(view for view in turn.segments_before if view.name == "cache")
    stale = tuple(cache if view.name == "cache" else view for view in turn.answered_from)
    return flow_of(replace(turn, answered_from=stale))


def _filled(views: Sequence[SegmentView]) -> tuple[str, ...]:
    return tuple(view.name for view in views if view.text)
