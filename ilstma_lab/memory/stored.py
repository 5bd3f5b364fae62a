"""Summaries, recalls and deferred touches as a snapshot or an event holds them, both ways."""

from __future__ import annotations

from typing import Any

from ilstma_lab.memory.entry import clean_text, to_instant, to_microseconds
from ilstma_lab.memory.records import GROUP, RecallRecord, Summary
from ilstma_lab.memory.values import MOST_RECALLS, indices, whole


def summary_form(summary: Summary) -> dict[str, Any]:
    """Return a summary as a snapshot holds it."""
    row = {"number": summary.number, "text": summary.text, "rows": list(summary.rows), "at": summary.at.isoformat()}
    recalled = {} if summary.last_recall is None else recalls_of(summary)
    return {**row, "stale": summary.stale, "kind": summary.kind, **recalled}


def recalls_of(summary: Summary | None) -> dict[str, Any]:
    """Return how often and when a summary was recalled, as a snapshot and an event hold it; None is one never recalled."""
    times, last = (summary.recall_times, summary.last_recall) if summary else (1, None)
    return {"recall_times": times, "last_recall": None if last is None else last.isoformat()}


def stored_summary(row: dict[str, Any]) -> Summary:
    """Return a summary as a snapshot or an event holds it. Raises KeyError, TypeError, ValueError or AttributeError."""
    kind = clean_text(row.get("kind", GROUP), name="the kind of a summary")
    stale, last = bool(row.get("stale", False)), row.get("last_recall")
    times = whole(row.get("recall_times", 1), name="a summary's recall_times", least=1, most=MOST_RECALLS)
    last = None if last is None else to_instant(last)
    number, rows = whole(row["number"], name="a summary's number"), indices(row["rows"])
    return Summary(number, clean_text(row["text"]), rows, to_instant(row["at"]), stale, kind, times, last)


def stored_recall(row: dict[str, Any]) -> RecallRecord:
    """Return a recall as a snapshot holds it. Raises KeyError, TypeError, ValueError or AttributeError."""
    question = clean_text(row.get("question", ""), name="a recall's question")
    return RecallRecord(whole(row["row"], name="a recall's row"), to_instant(row["at"]), question, bool(row.get("hit")))


def stored_wait(item: list[Any]) -> tuple[int, tuple[int, int]]:
    """Return a deferred touch as a snapshot holds it: row, recalls to add, last recall. Raises TypeError or ValueError."""
    row, count, at = item
    count = whole(count, name="the recalls that wait", least=1, most=MOST_RECALLS)
    return whole(row, name="a row that waits"), (count, to_microseconds(to_instant(at)))
