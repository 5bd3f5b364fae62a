"""A referee's report as notebook output; its two tables also stand below the case studies."""

from __future__ import annotations

from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.referee import A_ALONE, B_FIRST, B_TWO, DECISIONS, REFEREE, RULES, UNION, RefereeReport
from ilstma_lab.evaluation.referee_text import agreement, claims, named_band
from ilstma_lab.evaluation.tables import ends
from ilstma_lab.reprs.markup import Html, join, page, tag
from ilstma_lab.reprs.parts import bar, head
from ilstma_lab.reprs.words import count, line, spelled

LABELS = {A_ALONE: "A alone", B_FIRST: "B’s first alone", REFEREE: "Referee", B_TWO: "B’s two, always", UNION: "A and B’s two"}
_ROLES = {A_ALONE: "a", B_FIRST: "b", REFEREE: "relevant", B_TWO: "b", UNION: ""}


def referee_html(report: RefereeReport) -> Html:
    """Return the report as HTML."""
    where = " · ".join(filter(None, ("Referee", line(report.data, 60), line(report.system, 60), line(report.reader, 80))))
    said = (tag("p", tag("b", f"{claim}: "), said, ".") for claim, said in claims(report))
    return page(
        head(where, rules_finding(report), sub=f"{count(len(report), 'question')} with gold; 95 % bands by question."),
        tag("div", rules_table(report), cls="pane"),
        tag("div", confusion_table(report), cls="pane"),
        tag("div", *said, cls="pane mid"),
    )


def rules_finding(report: RefereeReport) -> str:
    """Return in one sentence what the referee finds beside A alone and B's two."""
    if not len(report):
        return "No question with gold was measured"
    more, fewer = report.found(REFEREE) - report.found(A_ALONE), report.found(B_TWO) - report.found(REFEREE)
    beside_a = f"{spelled(abs(more)).lower()} {'more' if more > 0 else 'fewer'} than A alone" if more else "as many as A alone"
    beside_b = f"{spelled(fewer).lower()} fewer than B’s two" if fewer else "all that B’s two hold"
    return f"The referee finds {beside_a}, {beside_b}"


def rules_table(report: RefereeReport) -> Html:
    """Return how many questions each rule finds a gold row for, with its band, and how many rows it recalls for that."""
    bands, n = report.bands(), len(report)
    body = (_rule(rule, report.found(rule), n, bands[rule]["found"], bands[rule]["rows"].mean) for rule in RULES)
    heads = ("rule", "", "gold recalled", "95 % band", "rows each")
    return _grid(heads, body, cls="rules", label="Questions whose gold row each rule recalls")


def confusion_table(report: RefereeReport) -> Html:
    """Return decision by gold recalled or lost."""
    body = (
        tag(
            "tr",
            tag("td", decision.capitalize()),
            *(tag("td", f"{number:,}", cls="num") for number in report.confusion[decision]),
        )
        for decision in DECISIONS
    )
    return _grid(("decision", "gold recalled", "gold lost"), body, cls="confusion", label="Decisions by gold recalled or lost")


def confusion_finding(report: RefereeReport) -> tuple[str, str]:
    """Return the table's title and the line below it."""
    kept, lost = report.confusion["agree"]
    title = "Agreeing is no proof" if lost else "Here agreeing was right each time" if kept else "No agreement"
    return title, agreement(report)


def _rule(rule: str, found: int, n: int, band: Band, rows: float) -> Html:
    share = found / n if n else 0.0
    ranges = ends(band) if n else "-"
    return tag(
        "tr",
        tag("td", tag("b", LABELS[rule]) if rule == REFEREE else LABELS[rule]),
        tag("td", bar(share, _ROLES[rule]), cls="barc", title=named_band(band) if n else None),
        tag("td", tag("b", f"{found:,}"), f" of {n:,}", cls="num"),
        tag("td", ranges, cls="num dim"),
        tag("td", f"{rows:.2f}" if n else "-", cls="num"),
    )


def _grid(heads: tuple[str, ...], rows, *, cls: str, label: str) -> Html:
    first, *others = heads
    top = join(tag("th", first, scope="col"), *(tag("th", name, cls="num" if name else None, scope="col") for name in others))
    body = tag("tbody", *rows)
    return tag("table", tag("thead", tag("tr", top)), body, cls=f"grid {cls}", aria_label=label)
