"""What a case comes to, in words: the finding, and what stands below each search."""

from __future__ import annotations

from ilstma_lab.evaluation.cases import Case
from ilstma_lab.evaluation.referee import RefereeReport
from ilstma_lab.reprs.words import count, line, spelled

KINDS = {
    "agree": "A’s row is one of B’s: it alone is recalled",
    "disagree": "it is not: B’s two are recalled",
    "invented": "no such row: B’s two",
    "unread": "no row named: B’s two",
}
"""The kinds of case in their order, and the referee's rule for each."""

SCRIPTED = "Scripted: this reading was written by hand. No reader gave it, and no table counts it."


def finding(case: Case) -> str:
    """Return what happened in one sentence."""
    if case.decision == "empty":
        return "There is no row to find"
    if not case.gold:
        return _WITHOUT_GOLD[case.decision]
    named, ranked = case.named is not None and case.holds([case.named]), case.holds(case.winners)
    match case.decision:
        case "agree":
            if case.found:
                return "Both searches point to a row that holds the answer"
            return "They agree on the wrong one of B’s two" if ranked else "Both searches fall for the same row"
        case "disagree" if named:
            return "Each search finds the answer" if ranked else "A’s reading is right, and the referee takes B’s"
        case "disagree":
            return "A’s reading is fooled, B’s ranking is not" if ranked else "Both searches are fooled, each by rows of its own"
    silent = "A names no real row" if case.decision == "invented" else "A has nothing to say"
    return f"{silent}; B’s ranking has the answer" if ranked else f"{silent}, and B’s ranking misses the answer"


_WITHOUT_GOLD = {
    "agree": "Both searches point to the same row",
    "disagree": "The searches disagree, so B’s two are recalled",
    "invented": "A names no real row, so B’s two are recalled",
    "unread": "A has nothing to say, so B’s two are recalled",
}


def about_a(case: Case) -> str:
    """Return why A named its row, and whether it could have named a gold one."""
    reading = case.recall.branch_a.reading
    said = line(reading.reason, 160) or (f"it said “{line(reading.raw, 120)}”" if case.named is None and reading.raw else "")
    return "; ".join(filter(None, (said, _gold_in_a(case))))


def about_b(case: Case) -> str:
    """Return how many of B's rows hold the answer, and where it stands if none does."""
    if not case.gold or not case.winners:
        return ""
    right = sum(row in case.gold for row in case.winners)
    if right:
        return "both hold the answer" if right == 2 else "one of them is right" if len(case.winners) > 1 else "it is right"
    candidates = case.recall.branch_b.candidates
    place = next((candidate for candidate in candidates if candidate.index in case.gold), None)
    where = (
        f"gold row {place.index} stands at place {place.rank + 1}" if place else f"gold is not among the best {len(candidates)}"
    )
    return f"{'neither is' if len(case.winners) == 2 else 'none is'} right; {where}"


def eyebrow(case: Case, place: int, total: int, report: RefereeReport | None) -> str:
    """Return where one is: the data, the case's place, its gold rows."""
    gold = f"gold row{'s' * (len(case.gold) > 1)} {', '.join(map(str, case.gold[:6]))}" if case.gold else ""
    data = line(report.data, 60) if report else ""
    where = f"case {place + 1} of {total:,}" if total > 1 else "one question"
    parts = ("Retrieval", data, line(case.topic, 60) if case.topic != data else "", where, gold)
    return " · ".join((*filter(None, parts), *(["scripted"] if case.scripted else [])))


def try_this(report: RefereeReport | None) -> str:
    """Return what to do next."""
    if report is None or not len(report):
        return "Open the text of the row below the cut. Would you have recalled it?"
    lost = report.confusion["agree"][1]
    if lost > 1:
        return f"Press Agree and Gold lost: {spelled(lost).lower()} agreements are wrong. What do both searches fall for?"
    return "Press Gold lost and step through. Which search had the answer, and why was it not taken?"


def counted(report: RefereeReport) -> str:
    """Return what the tables count: how many questions, read by whom."""
    scripted = sum(case.scripted for case in report.cases)
    left = f"; {count(scripted, 'scripted reading')} not counted" if scripted else ""
    return f"gold row recalled, over {count(len(report), 'question')}; A’s reader: {line(report.reader, 60)}{left}"


def _gold_in_a(case: Case) -> str:
    if not case.gold:
        return ""
    if case.named is not None and case.holds([case.named]):
        return "it holds the answer"
    return "a gold row was shown, and not named" if case.seen else "no gold row was in what the reader saw"
