"""The panels of the summary stepper: a group, its summary, the update part by part, the portrait, the set for a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from ilstma_lab.evaluation.summary_replay import SummaryStep
from ilstma_lab.memory.entry import SEARCHED_CHARACTERS, MemoryEntry
from ilstma_lab.memory.records import Summary
from ilstma_lab.models.extractive_summary import LINE_CHARACTERS
from ilstma_lab.models.overlap import Part, lines_of
from ilstma_lab.models.sentences import sentences
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import bar, chip
from ilstma_lab.reprs.words import count, day, line, score
from ilstma_lab.tokens import estimate_tokens

SAID, LINE = 220, 320
"""Characters of a dialogue's side, and of a summary's line, that are shown; a cut ends in an ellipsis."""
_OPEN, _MOST, _SETS = 4, 60, 6
_NEAR = 0.5  # from here on a new line's nearest old one is worth a look
_MARKS = {"overwritten": "→", "dropped": "×", "new": "+", "added": "+", "kept": "="}
_ORDER = ("overwritten", "dropped", "new", "kept")


@dataclass(frozen=True)
class Choice:
    """The cosine of each set to a question, and the number of the set that would be injected."""

    question: str
    cosines: tuple[float, ...]
    chosen: int | None


def group_html(step: SummaryStep, entries: Sequence[MemoryEntry]) -> Html:
    """Return the dialogues of the group, each with how many of its sentences stand in the summary word for word."""
    found = [_sentences(entry, step.written) for entry in entries]
    said, kept = (sum(counts) for counts in zip(*found, strict=True))
    sub = f"{day(entries[0].created)} to {day(entries[-1].created)}, {count(said, 'sentence')}"
    shown = (_said(entry, counts if kept else None) for entry, counts in zip(entries, found, strict=True))
    return join(_title(f"The group: {count(len(entries), 'dialogue')}", sub), tag("div", *shown, cls="ss-list"))


def written_html(step: SummaryStep) -> Html:
    """Return the group's own summary and, where there is one, the old set that it meets."""
    new = lines_of(step.written)
    shown = [_title("Its new summary", f"{count(len(new), 'line')}, all that goes on"), _lines(new)]
    if step.nearest is None:
        return join(*shown, tag("p", "No set stands yet, so it meets none.", cls="mid", style="margin-top:14px"))
    old = lines_of(step.nearest.text)
    about = f"cosine {score(step.cosine)}, {count(len(old), 'line')} of {count(len(step.nearest.rows), 'row')}"
    nearest = tag("div", _title(f"The nearest old set: set {step.nearest.number}", about), style="margin-top:16px")
    return join(*shown, nearest, _lines(old, open_=_OPEN))


def merge_html(step: SummaryStep, threshold: float | None) -> Html:
    """Return the update part by part and its outcome; `threshold` is the merger's, None where it has none."""
    rule = (
        "the merger's own decision, line by line; at the right the cosine"
        if step.aligned == "merger"
        else "read off what the model wrote, by common words; at the right their share"
    )
    parts = sorted(step.parts, key=lambda part: _ORDER.index(part.kind))
    moved = sum(part.kind != "kept" for part in parts)
    rows = _folded([_part(part) for part in parts], open_=moved + _OPEN)
    table = tag("div", rows, cls="ss-parts") if parts else None
    return join(
        _title("The update, part by part", rule if parts else ""), tag("p", *_ruling(step, threshold), cls="ss-ruling"), table
    )


def portrait_html(step: SummaryStep) -> Html:
    """Return the personality as it grows: what this group added, changed, kept and dropped."""
    changes = portrait_changes(step.portrait_before, step.portrait)
    if not changes:
        return join(_title("Personality", "nothing is known yet"))
    kinds = [part.kind for part in changes]
    told = ", ".join(f"{kinds.count(kind)} {word}" for kind, word in _PORTRAIT_WORDS.items() if kind in kinds)
    rows = (_part(part, words=_PORTRAIT_WORDS) for part in changes)
    return join(_title("Personality", f"lines: {told}"), tag("div", *rows, cls="ss-parts ss-portrait"))


def injected_html(step: SummaryStep, choice: Choice | None) -> Html:
    """Return the sets as they stand after the step, by their cosine to the question, and the one that would be injected."""
    if choice is None:
        sets = [_set(one, None, on=one.number == step.into) for one in reversed(step.sets)]
        note = "Type a question: the set nearest to it is injected on a miss."
        return join(_title(f"The sets now: {len(step.sets)}", note), _few(sets))
    ranked = sorted(zip(step.sets, choice.cosines, strict=True), key=lambda pair: -pair[1])
    sets = [_set(one, cosine, on=one.number == choice.chosen) for one, cosine in ranked]
    asked = tag("p", f"“{line(choice.question, 160)}”", cls="mid", dir="auto")
    return join(_title("Injected for the question", "the set with the highest cosine"), asked, _few(sets), _card(step, choice))


def portrait_changes(before: str, after: str) -> tuple[Part, ...]:
    """Return how a portrait changed: lines that are equal were kept, lines with one heading ("Mood: ...") overwrite each other.

    >>> [(part.kind, part.line) for part in portrait_changes("Mood: glad 1\\nlikes rain", "Mood: glad 2")]
    [('overwritten', 'Mood: glad 2'), ('dropped', '')]
    """
    old, new = lines_of(before), lines_of(after)
    gone, fresh = [one for one in old if one not in new], [one for one in new if one not in old]
    heads = {one.partition(":")[0]: one for one in fresh if ":" in one}
    parts = []
    for one in old:
        successor = heads.pop(one.partition(":")[0], None) if one in gone else None
        kind = "kept" if one not in gone else "overwritten" if successor else "dropped"
        parts.append(Part(kind, one, successor or ""))
    taken = {part.new for part in parts}
    return (*parts, *(Part("new", new=one) for one in fresh if one not in taken))


_PORTRAIT_WORDS = {"new": "added", "overwritten": "changed", "kept": "kept", "dropped": "dropped"}


def ruling(step: SummaryStep, threshold: float | None) -> tuple[str, str]:
    """Return the outcome of an update, one set or two, and the reason."""
    if step.nearest is None:
        return "One set", f"It is the first, and becomes set {step.into} as it is."
    overwritten = [part for part in step.parts if part.kind == "overwritten"]
    dropped = sum(part.kind == "dropped" for part in step.parts)
    if step.merged:
        lost = f" {count(dropped, 'line')} of both stand in it no more." if dropped else ""
        places = "an old one's place" if len(overwritten) == 1 else "the places of old ones"
        said = f"{count(len(overwritten), 'new line')} took {places}; the rest is combined into set {step.into}."
        return "One set", said + lost
    both = f"Both stay as they are, set {step.nearest.number} and set {step.into}."
    nearest = max((part.similarity for part in step.parts if not isnan(part.similarity)), default=None)
    if threshold is None or nearest is None or step.aligned == "afterwards":
        return "Two sets", f"The merger found nothing similar. {both}"
    return "Two sets", f"The nearest pair of lines has a cosine of {score(nearest)}, below {score(threshold)}. {both}"


def _ruling(step: SummaryStep, threshold: float | None) -> tuple[Html, str]:
    outcome, why = ruling(step, threshold)
    return tag("b", f"{outcome}. "), why


def _title(title: str, sub: str = "") -> Html:
    return join(tag("p", title, cls="fig-title"), tag("p", sub, cls="fig-sub") if sub else None)


def _said(entry: MemoryEntry, counts: tuple[int, int] | None) -> Html:
    sides = (("user", entry.user), ("assistant", entry.assistant))
    words = (tag("p", tag("span", f"{who} ", cls="who"), line(said, SAID), dir="auto") for who, said in sides if said.strip())
    kept = tag("p", f"{counts[1]} of {count(counts[0], 'sentence')} in the summary", cls="who") if counts else None
    return tag("div", chip(entry.index), *words, kept, cls="ss-said")


def _lines(lines: Sequence[str], *, open_: int = _MOST) -> Html:
    return tag("div", _folded([tag("p", line(one, LINE), dir="auto") for one in lines], open_=open_), cls="ss-lines")


def _folded(items: list[Html], *, open_: int) -> Html:
    """The first items, and a fold with the others, of which at most `_MOST` are written out."""
    rest, unseen = items[open_:], len(items) - open_ - _MOST
    if len(rest) <= 1:
        return join(*items)
    tail = tag("p", f"… and {unseen} more", cls="dim") if unseen > 0 else None
    fold = tag("details", tag("summary", f"{len(rest)} more"), tag("div", *rest[:_MOST], tail, cls="ss-fold"), cls="ss-more")
    return join(*items[:open_], fold)


def _part(part: Part, *, words: dict[str, str] | None = None) -> Html:
    word = (words or {}).get(part.kind, part.kind)
    old, new = line(part.old, LINE), line(part.new, LINE)
    shown = {
        "overwritten": (tag("s", old, dir="auto"), tag("div", new, dir="auto")),
        "dropped": (tag("s", old or new, dir="auto"),),
        "kept": (tag("span", old, dir="auto"),),
        "new": (tag("span", new, dir="auto"),),
    }[part.kind]
    near = (
        tag("div", "nearest: ", line(part.near, 90), cls="near", dir="auto") if part.near and part.similarity >= _NEAR else None
    )
    mark = tag("span", tag("i", _MARKS[part.kind], aria_hidden="true"), word, cls="mark")
    number = "" if isnan(part.similarity) else score(part.similarity)
    return tag("div", mark, tag("div", *shown, near), tag("span", number, cls="num"), cls=f"ss-part {part.kind}")


def _set(one: Summary, cosine: float | None, *, on: bool) -> Html:
    size = f"{count(len(lines_of(one.text)), 'line')}, {count(len(one.rows), 'row')}"
    measured = (bar(max(cosine, 0.0), "summary"), tag("span", score(cosine), cls="num")) if cosine is not None else ("", "")
    note = (" · injected" if cosine is not None else " · this group") if on else ""
    return tag("div", tag("span", f"set {one.number}"), *measured, tag("span", size + note), cls="ss-set on" if on else "ss-set")


def _few(sets: list[Html]) -> Html:
    return tag("div", _folded(sets, open_=_SETS), style="margin-top:6px")


def _card(step: SummaryStep, choice: Choice) -> Html:
    if choice.chosen is None:
        return tag("div", tag("p", "Nothing is injected: no set has a text.", cls="dim"), cls="ss-card none")
    text = step.set(choice.chosen).text
    top = tag(
        "div", tag("b", f"Summary: set {choice.chosen}"), tag("span", f"{estimate_tokens(text):,} tokens", cls="dim"), cls="end"
    )
    return tag("div", top, _lines(lines_of(text), open_=6), cls="ss-card")


def _sentences(entry: MemoryEntry, written: str) -> tuple[int, int]:
    """Return how many sentences a dialogue has, and how many of them begin a line of the summary's text."""
    found = [" ".join(one.split()) for side in (entry.user, entry.assistant) for one in sentences(side[:SEARCHED_CHARACTERS])]
    return len(found), sum(one[: LINE_CHARACTERS - 1] in written for one in found)
