"""Who is compared: systems by their names on the command line, with the titles that tables show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.asking import Factory
from ilstma_lab.systems import SYSTEMS, YARDSTICKS, find_system

TITLES: Mapping[str, str] = MappingProxyType(
    {
        "ilstma": "ILSTMA",
        "ilstma_measured": "ILSTMA (measured)",
        "memorybank": "MemoryBank",
        "memorybank_question": "MemoryBank (question)",
        "scm": "SCM",
        "memochat": "MemoChat",
        "chatrsum": "ChatRsum",
        "constant": "constant answer",
        "last_turns": "last turns only",
        "full_context": "full context",
        "bm25": "plain BM25",
    }
)
"""What a table calls each system."""


def lineup(names: Sequence[str], *, yardsticks: bool = True) -> dict[str, Factory]:
    """Return what makes each system's labs, by its title: "all" is every system, "ablations" ILSTMA with one part left out each.

    `names`: those of `ilstma_lab.systems` or their titles, in any case, or `module:Class`. The yardsticks come last.
    Raises InputError for an unknown name.
    """
    found: dict[str, Factory] = {}
    for name in names:
        found |= _named(name)
    if not found:
        raise InputError(f"no system is named; there are all, ablations, {', '.join(TITLES)}, or module:Class of your own")
    for name in YARDSTICKS if yardsticks else ():
        found.setdefault(title_of(name), find_system(name))
    return found


def title_of(name: str) -> str:
    """Return what a table calls the system of that name: the name itself where it has no title.

    >>> title_of("memorybank"), title_of("mine:MyLab")
    ('MemoryBank', 'mine:MyLab')
    """
    return TITLES.get(name, name)


def named_in(systems: Iterable[str], given: str) -> str | None:
    """Return which of `systems` (titles) is meant by a name or title in any case; None where none is.

    >>> named_in(["SCM", "MemoryBank"], "memorybank"), named_in(["SCM"], "nobody")
    ('MemoryBank', None)
    """
    titles = {title.casefold(): title for title in systems}
    known = {name.casefold(): title for name, title in TITLES.items()}
    meant = given.casefold()
    return titles.get(meant) or titles.get(known.get(meant, "").casefold())


def _named(name: str) -> dict[str, Factory]:
    title = named_in(TITLES.values(), name)
    if title:
        name = next(each for each in TITLES if TITLES[each] == title)
    if name.casefold() == "all":
        return {title_of(each): find_system(each) for each in SYSTEMS}
    if name.casefold() == "ablations":
        from ilstma_lab.evaluation.ablations import ablations

        return dict(ablations())
    return {title_of(name): find_system(name)}
