"""One case as HTML: both searches side by side, the referee between them, and the two tables below."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ilstma_lab.evaluation.cases import Case
from ilstma_lab.evaluation.referee import RefereeReport
from ilstma_lab.evaluation.referee_html import confusion_finding, confusion_table, rules_finding, rules_table
from ilstma_lab.models.extractive_reader import rows_of_chunk
from ilstma_lab.models.sentences import CJK, content_words
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.parts import bar, chip, chips, sentence
from ilstma_lab.reprs.why import named as row_chips
from ilstma_lab.reprs.why import referee
from ilstma_lab.reprs.words import line, plain, score
from ilstma_lab.retrieval.recall import Candidate, Chunk
from ilstma_lab.widgets.retrieval_words import SCRIPTED, about_a, about_b, counted

_CHUNKS, _CANDIDATES = 6, 8
_TEXT = 1500
_WORD = rf"[^\W_{CJK}]+(?:['’][^\W_{CJK}]+)*"
_PAIR = rf"(?=([{CJK}]{{2}}))"


def case_html(case: Case) -> Html:
    """Return both searches and the ruling."""
    plain_cosine = all(len(candidate.scores) < 2 for candidate in case.recall.branch_b.candidates[:1])
    tops = [_top(case.recall.branch_a.chunks), _top(case.recall.branch_b.candidates)]
    scales = [max(tops)] * 2 if plain_cosine else tops  # one scale where both are cosines
    return join(
        tag("div", _branch_a(case, scales[0]), _branch_b(case, scales[1], plain_cosine), cls="brs"),
        _referee(case),
    )


def tables_html(report: RefereeReport) -> Html:
    """Return what each rule finds, and the decisions by gold recalled or lost."""
    title, sub = confusion_finding(report)
    return tag(
        "div",
        _figure(rules_finding(report), counted(report), rules_table(report)),
        _figure(title, sub, confusion_table(report)),
        cls="tables",
    )


def _branch_a(case: Case, scale: float) -> Html:
    branch = case.recall.branch_a
    shown = next((at for at, chunk in enumerate(branch.chunks[: branch.read]) if case.named in chunk.rows), 0)
    rows = []
    for at, chunk in enumerate(branch.chunks[: max(_CHUNKS, shown + 1)]):
        if at == branch.read:
            rows.append(tag("div", f"the reader saw {branch.read}", cls="cutline"))
        rows.append(_chunk(case, chunk, scale, off=at >= branch.read))
        if at == shown and chunk.text:
            rows.append(_passage(case, chunk))
    reading, index = ("The reading names no row",), branch.reading.index
    if case.named is not None:
        reading = ("The reading names ", *row_chips([case.named], "a", noun=False))
    elif index is not None:
        reading = ("The reading names ", *row_chips([index], "none", noun=False), ": no such row")
    scripted = tag("p", SCRIPTED, cls="scripted") if case.scripted else None
    what = f"{branch.engine.upper() if branch.engine == 'faiss' else branch.engine} over chunks, then a reading".strip()
    return tag(
        "section",
        _head("a", "A", what, branch.error),
        scripted,
        *rows,
        _out(sentence(reading), about_a(case)),
        cls="br",
        aria_label="Branch A",
    )


def _branch_b(case: Case, scale: float, plain_cosine: bool) -> Html:
    branch = case.recall.branch_b
    shown = branch.candidates[:_CANDIDATES]
    rows = [_candidate(case, candidate, scale) for candidate in shown]
    cut = max((at for at, candidate in enumerate(shown) if candidate.won), default=-1) + 1
    if 0 < cut < len(rows):
        behind = f"top {len(case.winners)}; the next is {score(shown[cut - 1].score - shown[cut].score)} behind"
        rows.insert(cut, tag("div", behind, cls="cutline"))
    kept = ("The ranking keeps ", *(row_chips(case.winners, "b", noun=False) or ("nothing",)))
    measure = "cosine of each dialogue" if plain_cosine else f"score of each dialogue: {_parts_of(branch.candidates[0])}"
    return tag(
        "section",
        _head("b", "B", measure, branch.error),
        *rows,
        _out(sentence(kept), about_b(case)),
        cls="br",
        aria_label="Branch B",
    )


def _head(role: str, name: str, what: str, error: str) -> Html:
    failed = tag("p", f"{name} failed: {line(error, 300)}", cls="alarm") if error else None
    return join(tag("div", tag("span", cls=f"sw is-{role}"), tag("h3", name), tag("span", what), cls="br-head"), failed)


def _chunk(case: Case, chunk: Chunk, scale: float, *, off: bool) -> Html:
    first, last = (chunk.rows[0], chunk.rows[-1]) if chunk.rows else ("", "")
    span = f"row {first}" if first == last else f"rows {first}–{last}"
    return tag(
        "div",
        tag("span", span, _gold_mark(case.holds(chunk.rows), words=False), cls="who"),
        bar(chunk.score / scale, "a"),
        tag("span", score(chunk.score), cls="num"),
        cls="cand off" if off else "cand",
    )


def _passage(case: Case, chunk: Chunk) -> Html:
    """The chunk that the named row stands in: rows as chips, the named one underlined, words of the question marked."""
    asked = content_words(case.question)
    rows = [_row_of_chunk(case, row, text, asked) for row, text in rows_of_chunk(chunk)]
    begins = "… " if not chunk.text.startswith("[") else None
    return tag("blockquote", begins, *rows, None if chunk.text.endswith("\n") else "…", cls="passage", dir="auto")


def _row_of_chunk(case: Case, row: int, text: str, asked: frozenset[str]) -> Html:
    is_named = row == case.named
    said = tag("span", _marked(plain(text), asked), cls="named" if is_named else None)
    return join(chip(row, "a" if is_named else ""), _gold_mark(row in case.gold), " ", said, " ")


def _marked(text: str, asked: frozenset[str]) -> Html:
    """`text` with the words that it shares with the question in marks."""
    pieces, at = [], 0
    for start, stop in _shared(text, asked):
        pieces += [text[at:start], tag("mark", text[start:stop])]
        at = stop
    return join(*pieces, text[at:])


def _shared(text: str, asked: frozenset[str]) -> Iterator[tuple[int, int]]:
    """Yield where words of `asked` stand in `text`; overlapping pairs of Chinese characters become one stretch."""
    spans = [match.span() for match in re.finditer(_WORD, text) if content_words(match[0]) & asked]
    spans += [match.span(1) for match in re.finditer(_PAIR, text) if content_words(match[1]) & asked]
    start = stop = -1
    for begin, end in [*sorted(spans), (len(text) + 1, 0)]:
        if begin <= stop:
            stop = max(stop, end)
            continue
        if stop > start:
            yield start, stop
        start, stop = begin, end


def _candidate(case: Case, candidate: Candidate, scale: float) -> Html:
    user, assistant = case.rows.get(candidate.index, (candidate.text, ""))
    return tag(
        "div",
        tag("span", chip(candidate.index, "b" if candidate.won else ""), _gold_mark(candidate.index in case.gold), cls="who"),
        bar(candidate.score / scale, "b"),
        tag("span", score(candidate.score), cls="num", title=_parts_of(candidate, numbers=True)),
        tag(
            "details",
            tag("summary", line(user, _TEXT), " ", tag("span", line(assistant, _TEXT), cls="dim"), cls="cut", dir="auto"),
            cls="said",
        ),
        cls="cand" if candidate.won else "cand off",
    )


def _referee(case: Case) -> Html:
    asks, says = referee(case.recall)
    index = case.recall.branch_a.reading.index
    if case.named is not None:
        reading = chip(case.named, "a")
    else:
        reading = chip(index, "none") if index is not None else tag("span", "none", cls="rc none")
    return tag(
        "div",
        tag("div", "A", reading, cls="side"),
        tag("div", tag("p", sentence(asks), cls="asks"), tag("p", sentence(says), cls="says"), cls="verdict"),
        tag("div", "B", tag("span", chips(case.winners, "b")), cls="side"),
        cls="referee",
    )


def _figure(title: str, sub: str, table: Html) -> Html:
    return tag("div", tag("h3", title), tag("p", sub, cls="dim"), table)


def _out(said: Html, note: str) -> Html:
    return tag("p", said, tag("span", f" {note}", cls="dim") if note else None, cls="out")


def _gold_mark(is_gold: bool, *, words: bool = True) -> Html | None:
    return tag("span", "gold" if words else tag("span", "gold", cls="gone"), cls="gold") if is_gold else None


def _parts_of(candidate: Candidate, *, numbers: bool = False) -> str:
    if numbers:
        return ", ".join(f"{line(str(name), 30)} {score(value)}" for name, value in candidate.scores.items())
    return ", ".join(line(str(name), 30) for name in candidate.scores)


def _top(scored: tuple) -> float:
    return max([each.score for each in scored] + [1e-9])
