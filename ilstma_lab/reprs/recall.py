"""A recall as notebook output: both branches side by side on one scale, and the referee."""

from __future__ import annotations

from ilstma_lab.reprs.markup import Html, join, page, tag
from ilstma_lab.reprs.parts import bar, chip, chips, head, sentence
from ilstma_lab.reprs.why import Row, Sentence, named, referee, text_of
from ilstma_lab.reprs.words import count, line, score, seconds
from ilstma_lab.retrieval.recall import BranchA, BranchB, Candidate, Chunk, Recall

_CHUNKS = 5
_CANDIDATES = 6


def recall_html(recall: Recall) -> Html:
    """Return a recall as HTML."""
    scale = max([c.score for c in recall.branch_a.chunks] + [c.score for c in recall.branch_b.candidates] + [1e-9])
    spent = tag("span", seconds(recall.seconds), cls="mid num")
    return page(
        head("Recall · " + line(recall.question, 140), sentence(_finding(recall)), spent),
        tag("div", _branch_a(recall.branch_a, scale), _branch_b(recall.branch_b, scale), cls="brs"),
        _referee(recall),
        sections=("recall",),
    )


def recall_text(recall: Recall) -> str:
    """Return a recall as text."""
    a, b = recall.branch_a, recall.branch_b
    asks, says = referee(recall)
    return "\n".join(
        [
            f"Recall: {text_of(_finding(recall))} ({seconds(recall.seconds)})",
            f"Q  {line(recall.question, 400)}",
            f"A  chunks, then a reading ({seconds(a.seconds)})",
            *(
                f"   {score(c.score):>6}  {_span(c)}{'' if at < a.read else '  (not read)'}"
                for at, c in enumerate(a.chunks[:_CHUNKS])
            ),
            f"   {text_of(_named_by(a))}" + (f"  {line(a.reading.reason, 120)}" if a.reading.reason else ""),
            f"B  {_measure(b)} of each dialogue ({seconds(b.seconds)})",
            *(
                f"   {score(c.score):>6}  [{c.index}]{' *' if c.won else '  '} {line(c.text, 70)}"
                for c in b.candidates[:_CANDIDATES]
            ),
            *(f"   {name} failed: {line(error, 300)}" for name, error in (("A", a.error), ("B", b.error)) if error),
            f"Referee: {text_of(asks)} {text_of(says)}",
        ]
    )


def _finding(recall: Recall) -> Sentence:
    taken = named(recall.recalled, "relevant")
    match recall.decision:
        case "agree":
            return ("Both branches point to ", *taken)
        case "disagree":
            return ("The branches disagree: ", *taken, " recalled")
        case "invented":
            return ("A names no real row: ", *taken, " recalled")
        case "unread":
            return ("A has nothing to say: ", *taken, " recalled")
        case _:
            return ("There is no row to find",)


def _branch_a(a: BranchA, scale: float) -> Html:
    rows = [_chunk(a, at, chunk, scale) for at, chunk in enumerate(a.chunks[:_CHUNKS])]
    if 0 < a.read < len(rows):
        rows.insert(a.read, tag("div", f"the reader saw {a.read}", cls="cutline"))
    return tag(
        "div",
        _head("a", "A", "nearest chunks, then a reading", a.seconds, a.error),
        *rows,
        _more(len(a.chunks) - _CHUNKS),
        _reading(a),
        cls="br",
    )


def _chunk(a: BranchA, at: int, chunk: Chunk, scale: float) -> Html:
    row = tag(
        "div",
        tag("span", _span(chunk)),
        bar(chunk.score / scale, "a"),
        tag("span", score(chunk.score), cls="num"),
        cls="cand" if at < a.read else "cand off",
    )
    holds = a.named in chunk.rows if a.named is not None else at == 0
    first = next((n for n, c in enumerate(a.chunks[:_CHUNKS]) if a.named in c.rows), None) if a.named is not None else 0
    return join(row, tag("div", _passage(chunk, a.named), cls="passage", dir="auto")) if holds and at == first else row


def _passage(chunk: Chunk, named: int | None) -> str:
    """The chunk's text from where the named row begins in it."""
    start = chunk.text.find(f"[{named}]") if named is not None else -1
    return line("… " + chunk.text[start:] if start > 0 else chunk.text, 320)


def _measure(b: BranchB) -> str:
    """What branch B's score is: the plain cosine, or a sum of parts."""
    return "score" if b.candidates and len(b.candidates[0].scores) > 1 else "cosine"


def _reading(a: BranchA) -> Html:
    said = a.reading.reason or (f"it said “{a.reading.raw}”" if a.named is None and a.reading.raw else "")
    return tag("p", sentence(_named_by(a)), tag("span", f" · {line(said, 160)}", cls="dim") if said else None, cls="out")


def _named_by(a: BranchA) -> Sentence:
    if a.named is not None:
        return ("The reading names ", Row(a.named, "a"))
    return (
        ("The reading names ", Row(a.reading.index, "none"), ": no such row")
        if a.reading.index is not None
        else ("The reading names no row",)
    )


def _branch_b(b: BranchB, scale: float) -> Html:
    shown = b.candidates[:_CANDIDATES]
    rows = [_candidate(candidate, scale) for candidate in shown]
    cut = sum(candidate.won for candidate in shown)
    if 0 < cut < len(rows):
        gap = shown[cut - 1].score - shown[cut].score
        rows.insert(cut, tag("div", f"top {cut}; the next is {score(gap)} behind", cls="cutline"))
    kept = tag("p", sentence(("The ranking keeps ", *(named(b.winners, "b", noun=False) or ("nothing",)))), cls="out")
    return tag(
        "div",
        _head("b", "B", f"{_measure(b)} of each dialogue", b.seconds, b.error),
        *rows,
        _more(len(b.candidates) - _CANDIDATES),
        kept,
        cls="br",
    )


def _candidate(candidate: Candidate, scale: float) -> Html:
    echo = tag("span", " asks again", cls="dim") if candidate.kind == "asked" else None
    parts = ", ".join(f"{line(str(name), 30)} {score(value)}" for name, value in candidate.scores.items())
    return tag(
        "div",
        tag("span", chip(candidate.index, "b" if candidate.won else ""), echo),
        bar(candidate.score / scale, "b"),
        tag("span", score(candidate.score), cls="num", title=parts or None),
        tag("span", line(candidate.text, 160), cls="cut", dir="auto"),
        cls="cand" if candidate.won else "cand off",
    )


def _head(role: str, name: str, what: str, spent: float, error: str) -> Html:
    failed = tag("p", f"{name} failed: {line(error, 300)}", cls="alarm") if error else None
    return join(
        tag(
            "div", tag("span", cls=f"sw is-{role}"), tag("h3", name), what, tag("span", seconds(spent), cls="num"), cls="br-head"
        ),
        failed,
    )


def _referee(recall: Recall) -> Html:
    asks, says = referee(recall)
    reading = recall.branch_a.named
    left = tag("div", "A", chip(reading, "a") if reading is not None else tag("span", "none", cls="rc none"), cls="side")
    verdict = tag("div", tag("p", sentence(asks), cls="asks"), tag("p", sentence(says), cls="says"), cls="verdict")
    right = tag("div", "B", tag("span", chips(recall.branch_b.winners, "b")), cls="side")
    reason = tag("p", line(recall.reason, 300), cls="dim", style="grid-column:1/-1;padding-top:8px") if recall.reason else None
    return tag("div", left, verdict, right, reason, cls="referee")


def _span(chunk: Chunk) -> str:
    if not chunk.rows:
        return f"chunk {chunk.number}"
    first, last = chunk.rows[0], chunk.rows[-1]
    return f"row {first}" if first == last else f"rows {first}–{last}"


def _more(number: int) -> Html | None:
    return tag("p", f"{count(number, 'candidate')} more, in the recall’s own fields", cls="dim") if number > 0 else None
