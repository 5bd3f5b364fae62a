"""A recording's report as notebook output: what prefetch saved or cost, and the hits whose answer lacks what was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ilstma_lab.reprs.markup import Html, join, page, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.reprs.words import count, line, seconds

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bootstrap import Band
    from ilstma_lab.evaluation.recorded import HitAnswer, RecordedReport
    from ilstma_lab.evaluation.timing import TimeModel


def recorded_text(report: RecordedReport) -> str:
    """Return the report as text."""
    lines = [f"{_where(report)}: {_finding(report)}"]
    lines += [f"  {name:<34}{value}" for name, value in _figures(report)]
    for title, hits in _lists(report):
        lines.append(title)
        lines += [f"  {hit.question.id}: {line(_said(hit), 300)}" for hit in hits]
    return "\n".join(lines)


def recorded_html(report: RecordedReport) -> Html:
    """Return the report as HTML."""
    rows = (tag("tr", tag("td", tag("span", name, cls="dim")), tag("td", value)) for name, value in _figures(report))
    return page(
        head(_where(report), _finding(report)),
        tag("div", tag("table", tag("tbody", *rows), cls="grid"), cls="pane"),
        *(tag("div", tag("details", tag("summary", title), _answers(hits)), cls="pane") for title, hits in _lists(report)),
        sections=("turn",),
    )


def _where(report: RecordedReport) -> str:
    return f"Recorded, {report.model}, {count(report.n, 'question')}"


def _finding(report: RecordedReport) -> str:
    gain = report.difference
    if gain.low <= 0 <= gain.high:
        return "With prefetch or without takes about as long: the band of the difference holds 0"
    return f"Prefetch {'saves' if gain.mean < 0 else 'costs'} {abs(gain.mean):.1f} s a question"


def _figures(report: RecordedReport) -> Iterator[tuple[str, str]]:
    r, parts = report, report.parts
    yield "hits", f"{r.hits} of {r.n} ({_percent(r.hit_rate)}), {r.judged} judged"
    yield "seconds a question with prefetch", _band(r.with_prefetch)
    yield "without", _band(r.without)
    yield "difference, paired", _band(r.difference, sign="+")
    yield (
        "judgement J",
        f"{seconds(parts.judge_seconds)}: {r.judge_hit_seconds:.1f} s on a hit, {r.judge_miss_seconds:.1f} s on a miss",
    )
    yield "full path F", f"{seconds(parts.full_seconds)}, of it {parts.answer_seconds:.1f} s the answer"
    yield "prefetch pays above", f"{_even(parts)} of hits; recall overlapped with the judge: {_even(parts.overlapped())}"
    yield "from J and F at these hits", seconds(parts.mean_seconds(r.hit_rate))
    yield "tokens a question", f"{r.tokens[0]:,.0f} with prefetch, {r.tokens[1]:,.0f} without"
    yield "speeds, fitted", str(r.speeds)
    on, fresh = r.cached.on, (r.cached.fresh_with_prefetch, r.cached.fresh_without)
    yield (
        "were prefixes remembered",
        f"J {seconds(on.judge_seconds)}, F {seconds(on.full_seconds)}, pays above {_even(on)} of hits",
    )
    yield "prompts read afresh then", f"{_percent(fresh[0])} with prefetch, {_percent(fresh[1])} without"
    yield (
        "answers that hold all facts",
        f"{r.facts_held[0]} with prefetch, {r.facts_held[1]} without, of {r.with_facts} whose label has facts",
    )
    if r.failed:
        yield "failed turns", str(r.failed)


def _lists(report: RecordedReport) -> Iterator[tuple[str, Sequence[HitAnswer]]]:
    if report.false_hits:
        checked = report.hits - len(report.unchecked)
        yield f"False hits, a fact of the label is missing: {len(report.false_hits)} of {checked}", report.false_hits
    if report.unchecked:
        yield f"Hits whose label has no facts, to be read: {len(report.unchecked)}", report.unchecked


def _said(hit: HitAnswer) -> str:
    lacks = f" (lacks {', '.join(hit.missing)})" if hit.missing else ""
    return f"{hit.answer}{lacks} Label: {hit.question.label}"


def _answers(hits: Sequence[HitAnswer]) -> Html:
    return join(*(_answer(hit) for hit in hits))


def _answer(hit: HitAnswer) -> Html:
    lacks = tag("div", f"lacks {', '.join(hit.missing)}", cls="alarm") if hit.missing else None
    return tag(
        "div",
        tag("p", f"{hit.question.id} · {line(hit.question.question, 400)}", cls="q", dir="auto"),
        tag("p", line(hit.answer, 600), cls="answer", dir="auto"),
        lacks,
        tag("div", f"Label: {line(hit.question.label, 600)}", cls="dim", dir="auto"),
        cls="talk",
        style="margin-top:16px",
    )


def _band(band: Band, sign: str = "") -> str:
    return f"{band.mean:{sign}.1f} s ({band.low:{sign}.1f} to {band.high:{sign}.1f})".replace("-", "−")


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _even(parts: TimeModel) -> str:
    return _percent(parts.break_even) if parts.break_even <= 1 else "no rate"
