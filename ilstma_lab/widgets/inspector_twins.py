"""What stands in for the inspector where no widget can be shown: the same view as HTML without a script, and as text."""

from __future__ import annotations

from typing import Any

from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.reprs.parts import chip, chips, head
from ilstma_lab.widgets.inspector_look import SCREEN_ROWS

_HEADS = (("", "row"), ("wide", "user’s turn"), ("", ""), ("num", "last"), ("num", "recalls"), ("num", "S, days"), ("num", "R"))


def inspector_html(view: dict[str, Any], panel: dict[str, Any], history: dict[str, Any], *, css: str) -> Html:
    """Return finding, rows on the screen, and the open row with its history."""
    style = Html("<style>" + " ".join(css.split()) + "</style>")
    heads = tag("tr", *(tag("th", name, cls=cls or None, scope="col") for cls, name in _HEADS))
    body = [_row_html(row) for row in _on_screen(view)]
    grid = tag("table", tag("thead", heads), tag("tbody", *body), cls="grid") if body else tag("p", view["empty"], cls="dim")
    below = tag("p", _below(view), cls="dim", style="margin-top:8px")
    return page(
        style,
        head(view["eyebrow"], view["finding"], sub=view["sub"]),
        tag("div", grid, below, cls="pane"),
        _panel_html(panel, history) if panel else None,
        tag("p", tag("b", view["waiting"][0]), " ", view["waiting"][1], cls="pane") if view["waiting"] else None,
    )


def inspector_text(view: dict[str, Any], panel: dict[str, Any], history: dict[str, Any]) -> str:
    """Return finding, rows on the screen, and the open row with its history, as text."""
    lines = [view["eyebrow"], view["finding"], *filter(None, [view["sub"]])]
    shown = [_row_text(row) for row in _on_screen(view)]
    lines += (
        [f"{'row':>7}  {'last':>8}  {'recalls':>7}  {'S, days':>7}  {'R':>5}  user’s turn", *shown] if shown else [view["empty"]]
    )
    lines += [_below(view), *([" ".join(view["waiting"])] if view["waiting"] else [])]
    return "\n".join([*lines, *(_panel_text(panel, history) if panel else [])])


def _on_screen(view: dict[str, Any]) -> list[dict[str, Any]]:
    top = max(0, view["first"] - view["start"])
    return view["rows"][top : top + SCREEN_ROWS]


def _below(view: dict[str, Any]) -> str:
    day = view["day"]
    last = min(view["first"] + SCREEN_ROWS, view["found"])
    where = f"; places {view['first'] + 1:,} to {last:,}" if last else ""
    return f"{view['found_words']}{where}; looking at {day['name']}, {day['ahead']}"


def _row_html(row: dict[str, Any]) -> Html:
    marks = ", ".join(word for _, word in row["marks"])
    return tag(
        "tr",
        tag("td", chip(row["index"], row["role"], waiting=row["more"] > 0)),
        tag("td", row["text"], cls="wide cut", dir="auto"),
        tag("td", marks, cls="dim", style="white-space:nowrap"),
        *(tag("td", value, cls="num") for value in (row["last"][0], _recalls(row), row["S"], row["R"])),
    )


def _row_text(row: dict[str, Any]) -> str:
    marks = ", ".join(word for _, word in row["marks"])
    also = f"  ({marks})" if marks else ""
    return f"{row['index']:>7}  {row['last'][0]:>8}  {_recalls(row):>7}  {row['S']:>7}  {row['R']:>5}  {row['text'][:80]}{also}"


def _recalls(row: dict[str, Any]) -> str:
    return f"{row['recalls']}" + (f" + {row['more']}" if row["more"] else "")


def _panel_html(panel: dict[str, Any], history: dict[str, Any]) -> Html:
    said = [tag("p", tag("b", f"{who} "), text, dir="auto", style="white-space:pre-wrap") for who, text in panel["sides"]]
    events = [tag("li", tag("span", when, cls="dim"), tag("span", words, dir="auto")) for when, words in _events(history)]
    return tag(
        "div",
        tag("h3", f"Row {panel['row']}"),
        tag("p", " · ".join(panel["facts"]), *([" · cites", chips(panel["cites"])] if panel["cites"] else []), cls="mid"),
        tag("p", panel["warning"]) if panel["warning"] else None,
        *said,
        tag("p", panel["cut"], cls="dim") if panel["cut"] else None,
        tag("p", tag("b", history["title"]), cls="fig-title", style="margin-top:10px"),
        tag("p", history["sub"], cls="dim"),
        tag("div", history["chart"], style="max-width:320px"),
        tag("h3", "Recalled by"),
        tag("ol", *events, cls="events"),
        cls="pane",
    )


def _panel_text(panel: dict[str, Any], history: dict[str, Any]) -> list[str]:
    cites = ["cites " + " ".join(f"[{row}]" for row in panel["cites"])] if panel["cites"] else []
    return [
        f"Row {panel['row']}: " + ", ".join([*panel["facts"], *(word for _, word in panel["marks"]), *cites]),
        *filter(None, [panel["warning"]]),
        *(f"  {who}: {text}" for who, text in panel["sides"]),
        *filter(None, [panel["cut"]]),
        f"{history['title']}. {history['sub']}",
        *(f"  {when:>11}  {words}" for when, words in _events(history)),
    ]


def _events(history: dict[str, Any]) -> list[tuple[str, str]]:
    events = [(history["created"], "created")]
    events += [("", history["earlier"])] if history["earlier"] else []
    return events + [(when, f"{question} (waiting)" if waits else question) for when, question, waits in history["recalls"]]
