"""What a reader of the table inspector has chosen: search, filter, order, day, place, open row."""

from __future__ import annotations

from dataclasses import dataclass

from ilstma_lab.errors import InputError

FILTERS = ("all", "cached", "waiting", "told", "asked", "pending")
SORTS = ("row", "created", "last", "recalls", "S", "R")
SLIDER_DAYS = 30
SCREEN_ROWS = 18
_MOST_DAYS = 36_500
_MOST_CHARACTERS = 1_000


@dataclass(frozen=True, kw_only=True)
class Look:
    """The reader's choices; plain JSON values.

    `find` is searched in the texts and among the row numbers; `only` is one of FILTERS, `sort` one of SORTS; `days` after today
    is the day looked at; `first` is the place of the topmost row on the screen, counted from 0; `row` is open beside the rows.
    Raises InputError that lists all that is wrong.
    """

    find: str = ""
    only: str = "all"
    sort: str = "row"
    falling: bool = False
    days: int = 0
    first: int = 0
    row: int | None = None

    def __post_init__(self) -> None:
        if problems := self.problems():
            raise InputError("the inspector cannot show this: " + "; ".join(problems))

    def problems(self) -> list[str]:
        """Return what is wrong, one sentence each."""
        wrong = {
            f"find must be a text of at most {_MOST_CHARACTERS} characters": not isinstance(self.find, str)
            or len(self.find) > _MOST_CHARACTERS,
            f"only must be one of {', '.join(FILTERS)} (got {self.only!r:.40})": self.only not in FILTERS,
            f"sort must be one of {', '.join(SORTS)} (got {self.sort!r:.40})": self.sort not in SORTS,
            "falling must be True or False": not isinstance(self.falling, bool),
            f"days must be a whole number from 0 to {_MOST_DAYS:,} (got {self.days!r:.40})": not _whole(self.days, _MOST_DAYS),
            f"first must be a whole number from 0 up (got {self.first!r:.40})": not _whole(self.first),
            f"row must be the number of a row, or None (got {self.row!r:.40})": self.row is not None and not _whole(self.row),
        }
        return [problem for problem, holds in wrong.items() if holds]


def _whole(value: object, most: int = 2**63 - 1) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
