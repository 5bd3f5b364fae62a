"""Why a turn answered from this memory: sentences made once, and shown as HTML, as text, or by a widget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ilstma_lab.prefetch.selection import ScoredRow, Selection
from ilstma_lab.reprs.words import count, line, score
from ilstma_lab.retrieval.recall import Recall
from ilstma_lab.trace import Turn


class Row(NamedTuple):
    """A row as it stands in a sentence; `role` gives its colour: cache, relevant, a, b, none or nothing."""

    index: int
    role: str = ""


Sentence = tuple[str | Row, ...]


@dataclass(frozen=True)
class Why:
    """The explanation of a turn. `scored` is the arithmetic that put the row into the cache, `place` its place in the window."""

    title: str
    sentence: Sentence
    scored: ScoredRow | None = None
    place: str = ""


def why(turn: Turn, *, cached_by: Selection | None = None) -> Why:
    """Return why the turn took the memory that it took; `cached_by` is the prefetch that filled the cache, where it is known."""
    if turn.system != "ILSTMA":
        return Why("Why this memory", _why_recalled(turn))
    if turn.hit:
        return _why_hit(turn, cached_by)
    return Why("Why this memory", (*_before_recall(turn), *(_after_recall(turn.recall) if turn.recall else ())))


def finding(turn: Turn) -> Sentence:
    """Return the turn in one sentence."""
    if turn.failure:
        return (f"Step {turn.failure.step} failed; the question is kept",)
    if turn.system != "ILSTMA":
        return _recalled(turn)
    if turn.hit:
        rows = named(turn.recalled, "cache")
        return ("A hit: answered from ", *rows, " at hand") if rows else ("A hit: no row was needed",)
    recall = turn.recall
    if recall is None or not turn.recalled:
        return ("A miss: no row was found",)
    rows = named(turn.recalled, "relevant")
    if recall.decision == "agree":
        if len(turn.recalled) > 1:
            return ("A miss: both searches agree, and the ranking’s ", *rows, " are recalled")
        return ("A miss: both searches point to ", *rows, ", so it alone is recalled")
    if recall.decision == "disagree":
        return (
            "A miss: the searches disagree, so ",
            *rows,
            " of the ranking are recalled" if len(turn.recalled) > 1 else " is recalled",
        )
    return ("A miss: the reading names no row, so the ranking recalls ", *rows)


def referee(recall: Recall) -> tuple[Sentence, Sentence]:
    """Return what the referee asked and what it ruled."""
    winners, taken = named(recall.branch_b.winners, "b", noun=False), named(recall.recalled, "relevant", noun=False)
    match recall.decision:
        case "agree":
            return ("Is ", Row(recall.branch_a.named, "a"), " among ", *winners, "?"), ("Yes: recall ", *taken, _alone(recall))
        case "disagree":
            return ("Is ", Row(recall.branch_a.named, "a"), " among ", *winners, "?"), ("No: recall B’s, ", *taken)
        case "invented":
            index = recall.branch_a.reading.index
            asked = ("Is there a row ", Row(index, "none"), "?") if index is not None else ("Does A name a row?",)
            return asked, ("No: recall B’s, ", *taken)
        case "unread":
            return ("Did A name a row?",), (f"It {_silence(recall)}: recall B’s, ", *taken)
        case _:
            return ("Is there a row to find?",), ("No: nothing is recalled",)


def named(indices: Iterable[int], role: str, *, noun: bool = True) -> Sentence:
    """Return "row 3" or "rows 3 41" as a part of a sentence; nothing for no rows."""
    indices = tuple(indices)
    spaced = [part for index in indices for part in (" ", Row(index, role))][1:]
    return (("row " if len(indices) == 1 else "rows ", *spaced) if noun else tuple(spaced)) if indices else ()


def text_of(sentence: Sequence[str | Row]) -> str:
    """Return a sentence as text: rows in square brackets."""
    return "".join(f"[{part.index}]" if isinstance(part, Row) else part for part in sentence)


def _recalled(turn: Turn) -> Sentence:
    """Return what another system than ILSTMA recalled: rows, and what it had written of days."""
    found = turn.step(6)
    rows, days = _shown(turn), tuple(found.wrote.get("days", ())) if found else ()
    if not rows and not days:
        return ("Nothing was recalled: answered from the other segments",)
    noted = f"what was noted of {' and '.join(map(str, days))}" if days else ""
    return ("Recalled ", *named(rows, "relevant"), " and " if rows and noted else "", noted)


def _why_recalled(turn: Turn) -> Sentence:
    found, curve = turn.step(6), turn.step(10)
    if found is None:
        return _why_unsearched(turn)
    gone = f" The curve had let go of {count(curve.wrote.get('forgotten', 0), 'piece')}." if curve and not curve.error else ""
    scores = found.wrote.get("scores")
    if not isinstance(scores, dict) or not scores:
        rows = _shown(turn)
        return (*_capital(named(rows, "relevant")), f" went into the prompt.{gone}") if rows else (f"Nothing was found.{gone}",)
    looked = f"{count(found.read.get('rows', 0), 'row')} and {count(found.read.get('days', 0), 'day')} were compared; nearest: "
    nearest: list[str | Row] = []
    for name, value in scores.items():
        piece = Row(int(name), "relevant") if str(name).isdecimal() else f"the day {line(str(name), 20)}"
        nearest += [", " if nearest else "", piece, f" {score(value)}"]
    return (looked, *nearest, f".{gone}")


def _why_unsearched(turn: Turn) -> Sentence:
    """Return why these rows or texts stood in the prompt of a system that searches no rows."""
    rows = _shown(turn)
    written = [view.name for view in turn.answered_from if view.name in ("summary", "personality") and view.text]
    if turn.step(12) and rows:
        return (*_capital(named(rows, "relevant")), " stand under the topics that were picked.")
    if written:
        return (f"No row was searched: the {' and the '.join(written)} and the last turns stand in the prompt.",)
    return ("No memory was searched: the last turns alone stand in the prompt.",)


def _shown(turn: Turn) -> tuple[int, ...]:
    """Return the rows that stood in the prompt as relevant; where that is not known, the recalled ones."""
    rows = next((view.rows for view in turn.answered_from if view.name == "relevant"), None)
    return turn.recalled if rows is None else rows


def _why_hit(turn: Turn, cached_by: Selection | None) -> Why:
    used = turn.verdict.used if turn.verdict else turn.recalled
    if used is None:
        rows = named(turn.recalled, "cache")
        return Why("Why this memory", ("The judge cannot say which rows it used, so all that were cached count: ", *rows, "."))
    if not used:
        return Why("Why no memory", ("The judge cites no row (general knowledge was enough), so no row is touched.",))
    cached = next((view.rows for view in turn.segments_before if view.name == "cache"), ())
    if not set(used) <= set(cached):
        return Why("Why this memory", (*_capital(named(used, "cache")), f" answered: {line(turn.verdict.reason, 160)}."))
    sentence = (*_capital(named(used, "cache")), f" {'was' if len(used) == 1 else 'were'} in the cache")
    scored = next((row for row in cached_by.rows if row.index == used[0]), None) if cached_by else None
    if scored is None:
        return Why("Why this memory", (*sentence, "."))
    rank = [row.index for row in cached_by.rows].index(scored.index) + 1
    return Why(
        "Why this memory",
        (*sentence, *_distance(scored, cached_by), "."),
        scored,
        f"no. {rank} of {len(cached_by.rows)} in the window",
    )


def _distance(scored: ScoredRow, selection: Selection) -> Sentence:
    if selection.centre is None:
        return ()
    if scored.distance == 0:
        return (": an earlier question recalled it",)
    apart = "next to" if scored.distance == 1 else f"{scored.distance} rows from"
    return (f": it stands {apart} row ", Row(selection.centre), ", which an earlier question recalled")


def _before_recall(turn: Turn) -> Sentence:
    cached = next((view.rows for view in turn.segments_before if view.name == "cache"), ())
    step, verdict = turn.step(2), turn.verdict
    if verdict is None:
        failed = step is not None and step.error
        return ("The judge failed, which counts as a miss. " if failed else "Nothing had been asked, so the judge was skipped. ",)
    were = " was cached" if len(cached) == 1 else " were cached"
    held = (*_capital(named(cached, "")), were) if cached else ("The cache was empty",)
    if verdict.score is not None and verdict.threshold is not None:
        return (*held, f"; the judge saw {score(verdict.score)} and needs {score(verdict.threshold)}. ")
    return (*held, f": {line(verdict.reason, 160).rstrip('.')}. " if verdict.reason else "; the judge could not answer. ")


def _after_recall(recall: Recall) -> Sentence:
    winners, taken = named(recall.branch_b.winners, "b", noun=False), named(recall.recalled, "relevant", noun=False)
    branch_a = recall.branch_a
    match recall.decision:
        case "agree":
            return (
                "A named ",
                Row(branch_a.named, "a"),
                ", B ranked ",
                *winners,
                ": the referee took ",
                *taken,
                f"{_alone(recall)}.",
            )
        case "disagree":
            return ("A named ", Row(branch_a.named, "a"), ", B ranked ", *winners, ": they disagree, so the referee took B’s.")
        case "invented":
            said = (" (", Row(branch_a.reading.index, "none"), ")") if branch_a.reading.index is not None else ()
            return ("A named no real row", *said, ", B ranked ", *winners, ": the referee took B’s.")
        case "unread":
            return (f"A {_silence(recall)}, B ranked ", *winners, ": the referee took B’s.")
        case _:
            return ("The table holds no row to find.",)


def _silence(recall: Recall) -> str:
    return "could not read" if recall.branch_a.error else "had nothing to say"


def _alone(recall: Recall) -> str:
    return " alone" if len(recall.recalled) == 1 else ""


def _capital(sentence: Sentence) -> Sentence:
    head, *rest = sentence
    return (str(head).capitalize(), *rest)
