"""Forty turns about the travel conversation: its 24 questions in order, and between them 16 that go on, come back or repeat."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from ilstma_lab.evaluation.datasets import Topic

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
