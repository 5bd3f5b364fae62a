"""A short invented conversation in which summaries overlap: two updates, a group that shares nothing, and one false friend."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ilstma_lab.memory.entry import Dialogue

_FIRST = datetime(2023, 3, 1, 18, tzinfo=UTC)
_SAID = (
    ("I practise the cello twice a week, on Tuesday and Friday.", "Fixed days help."),
    ("My aunt Ingrid lives in Bergen, above the old fish market.", "That sounds lively."),
    ("I am allergic to peanuts.", "Noted: no peanuts."),
    ("My train to Oslo leaves at 7:40 on Monday.", "An early start."),
    ("Lena lent me three novels by Tove Jansson.", "Good company for the train."),
    ("I now practise the cello every day, on Tuesday with Lena.", "Daily practice shows quickly."),
    ("I bought a green bicycle for 250 euros.", "Enjoy the ride."),
    ("My train to Oslo now leaves at 8:10 on Monday.", "Half an hour more sleep."),
    ("The dentist in Storgata has moved me to 14 April.", "I keep that in mind."),
    ("I paid 40 euros for a ticket to the Grieg concert.", "A good seat, I hope."),
    ("Slugs ate eleven of my tomato seedlings.", "Copper tape keeps them off."),
    ("I sowed beans and dill along the south wall.", "They like the warmth."),
    ("The compost needs turning each Saturday.", "Air keeps it sweet."),
    ("A hedgehog sleeps under the shed.", "Leave it some water."),
    ("Frost is due on 30 April, so I cover the beans.", "Fleece is enough."),
    ("My aunt Karin lives in Bergen, above the new fish market.", "Two aunts in one town."),
    ("I sold the green bicycle for 180 euros.", "A fair price."),
    ("I finished two of the novels by Tove Jansson.", "One to go."),
    ("My brother Jonas starts at the post office on 2 May.", "Wish him luck."),
    ("I ordered strings for the cello in Cologne.", "They keep their tone."),
)


def example_dialogues() -> tuple[Dialogue, ...]:
    """Return twenty dialogues, one a day: four groups of five."""
    return tuple(
        Dialogue(user, assistant, _FIRST + timedelta(days=day), f"mara#{day}") for day, (user, assistant) in enumerate(_SAID)
    )
