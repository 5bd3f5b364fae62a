"""Both branches of a recall in a narrow column, one line a candidate, with the referee below."""

from __future__ import annotations

from collections.abc import Sequence

from ilstma_lab.reprs.live import press, row_press, told
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import bar
from ilstma_lab.reprs.why import Row, referee
from ilstma_lab.reprs.words import count, line, score, seconds
from ilstma_lab.retrieval.recall import BranchA, BranchB, Candidate, Chunk, Recall

_SHOWN = 5


def branches_html(recall: Recall) -> Html:
    """Return a recall as a column; rows and chunks can be pressed. A and B share one scale where both are cosines."""
    a, b = recall.branch_a, recall.branch_b
    best_a, best_b = (max([part.score for part in parts], default=0.0) for parts in (a.chunks, b.candidates))
    scale_a, scale_b = (max(best_a, best_b),) * 2 if _is_cosine(b) else (best_a, best_b)
    asks, says = referee(recall)
    ruling = tag("div", tag("p", tag("b", told(asks)), " ", told(says), "."), _alone(recall), cls="pn-ruling miss")
    return join(tag("div", _branch_a(a, scale_a or 1.0), _branch_b(b, scale_b or 1.0), cls="pn-brs"), ruling)


def _branch_a(a: BranchA, scale: float) -> Html:
    rows = [_chunk(chunk, scale, read=at < a.read, named=a.named) for at, chunk in enumerate(a.chunks)]
    engine = f"{a.engine} over chunks, then a reading" if a.engine else "chunks, then a reading"
    return _branch("a", "A", engine, a.seconds, a.error, _cut(rows, a.read, f"the reader saw {a.read}"), _named(a))


def _branch_b(b: BranchB, scale: float) -> Html:
    rows = [_candidate(candidate, scale) for candidate in b.candidates]
    won = len(b.winners)
    what = "cosine of each dialogue" if _is_cosine(b) else "score of each dialogue, its own scale"
    return _branch("b", "B", what, b.seconds, b.error, _cut(rows, won, f"top {won}"), None)


def _is_cosine(b: BranchB) -> bool:
    """Whether B's score is the plain cosine, which can be compared with A's, or a sum of parts."""
    return not b.candidates or len(b.candidates[0].scores) < 2


def _branch(role: str, name: str, what: str, spent: float, error: str, rows: list[Html], foot: Html | None) -> Html:
    head = tag(
        "div",
        tag("span", cls=f"sw is-{role}"),
        tag("b", name),
        tag("span", what, cls="dim cut"),
        tag("span", seconds(spent), cls="num dim"),
        cls="brh",
    )
    shown, more = rows[: _SHOWN + 1], rows[_SHOWN + 1 :]
    rest = tag("details", tag("summary", f"{len(more)} more"), tag("ul", *more, cls="pn-list")) if more else None
    failed = tag("p", f"{name} failed: {line(error, 300)}", cls="alarm") if error else None
    return tag(
        "div", head, failed, tag("ul", *shown, cls="pn-list") if shown else tag("p", "Nothing to compare.", cls="dim"), rest, foot
    )


def _cut(rows: Sequence[Html], at: int, words: str) -> list[Html]:
    """The rows with the line below which they did not count."""
    line_ = [tag("li", words, cls="cutline")] if 0 < at < len(rows) else []
    return [*rows[:at], *line_, *rows[at:]]


def _chunk(chunk: Chunk, scale: float, *, read: bool, named: int | None) -> Html:
    with_ = f", with {named}" if named in chunk.rows and len(chunk.rows) > 1 else ""
    name = press("show", span_of(chunk) + with_, value=f"chunk {chunk.number}", cls="pick words", title="Show this chunk")
    return tag(
        "li", name, bar(chunk.score / scale, "a"), tag("span", score(chunk.score), cls="num"), cls="cand" if read else "cand off"
    )


def span_of(chunk: Chunk) -> str:
    """Return the rows that a chunk overlaps, as words."""
    if not chunk.rows:
        return f"chunk {chunk.number}"
    first, last = chunk.rows[0], chunk.rows[-1]
    return f"row {first}" if first == last else f"rows {first}–{last}"


def _named(a: BranchA) -> Html:
    if a.named is not None:
        said = told(("The reading names ", Row(a.named, "a")))
    elif a.reading.index is not None:
        said = told(("The reading names ", Row(a.reading.index, "none"), ": no such row"))
    else:
        said = told(("The reading names no row",))
    reason = a.reading.reason or (f"it said “{a.reading.raw}”" if a.named is None and a.reading.raw else "")
    return tag("p", said, tag("span", f" · {line(reason, 200)}", cls="dim", dir="auto") if reason else None, cls="pn-named")


def _candidate(candidate: Candidate, scale: float) -> Html:
    echo = tag("span", "asks again ", cls="dim") if candidate.kind == "asked" else None
    who = tag(
        "span",
        row_press(candidate.index, "b" if candidate.won else ""),
        tag("span", echo, line(candidate.text, 80), cls="cut", dir="auto"),
        cls="who",
    )
    parts = ", ".join(f"{line(str(name), 30)} {score(value)}" for name, value in candidate.scores.items())
    number = tag("span", score(candidate.score), cls="num", title=parts or None)
    return tag("li", who, bar(candidate.score / scale, "b"), number, cls="cand" if candidate.won else "cand off")


def _alone(recall: Recall) -> Html | None:
    """What one branch alone would have recalled, where the referee changed it."""
    winners = recall.branch_b.winners
    if recall.decision != "agree" or not winners or winners == recall.recalled:
        return None
    rows = [part for row in winners for part in (" ", row_press(row, "b"))]
    return tag("p", f"B alone would have recalled {count(len(winners), 'row')}:", *rows, cls="mid")
