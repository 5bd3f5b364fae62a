"""ILSTMA's Table 2 for any data set: dialogues, questions, tokens a dialogue; what the paper prints beside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from textwrap import fill
from typing import TYPE_CHECKING

from ilstma_lab.evaluation.datasets import Topic
from ilstma_lab.evaluation.papers import TABLES_2_AND_3, PaperTopic
from ilstma_lab.evaluation.plain_table import PlainTable
from ilstma_lab.reprs.words import count, line
from ilstma_lab.tokens import estimate_tokens

if TYPE_CHECKING:
    import pandas as pd

    from ilstma_lab.reprs.markup import Html

_HEADS = (
    "topic",
    "dialogues",
    "questions",
    "recall",
    "general",
    "never said",
    "tokens",
    "paper: dialogues",
    "questions",
    "tokens",
)
_NOTE = (
    "Tokens are the mean of a dialogue by the kit's estimate, no tokenizer; the paper names none, and prints tokens “per "
    "dialogue group”, read here as one dialogue. Printed figures are of the paper's own data, which is not public."
)


@dataclass(frozen=True, slots=True)
class TopicCounts:
    """One row of the table. `tokens`: the mean of a dialogue, user and assistant together; `printed`: the paper's row, if any."""

    topic: str
    dialogues: int
    questions: int
    recall: int
    general: int
    never_said: int
    tokens: float
    printed: PaperTopic | None = None


@dataclass(frozen=True)
class Table2:
    """The rows of each topic of the data set `data`, and of all together."""

    data: str
    rows: tuple[TopicCounts, ...]
    total: TopicCounts

    def to_frame(self) -> pd.DataFrame:
        """Return one row a topic, the last one for all; printed figures are nan where the paper has no such topic."""
        import pandas as pd

        rows = []
        for row in (*self.rows, self.total):
            counted = {name: getattr(row, name) for name in TopicCounts.__slots__ if name != "printed"}
            printed = {f"printed_{name}": getattr(row.printed, name, None) for name in ("dialogues", "questions", "tokens")}
            rows.append(counted | printed)
        frame = pd.DataFrame(rows)
        return frame.astype({name: float for name in frame if name.startswith("printed_")})

    def table(self) -> PlainTable:
        """Return the table as cells of text."""
        rows = (*self.rows, self.total) if len(self.rows) > 1 else self.rows
        return PlainTable(_HEADS, tuple(_cells(row) for row in rows))

    def __str__(self) -> str:
        return "\n".join([self._title(), "", self.table().text(), "", fill(_NOTE, 110)])

    def _repr_html_(self) -> Html:
        from ilstma_lab.evaluation.plain_table import tables_html

        return tables_html("ILSTMA, Table 2", self._title(), [self.table()], [_NOTE])

    def _title(self) -> str:
        named = f"{line(self.data, 40)}: " if self.data else ""
        dialogues, questions = count(self.total.dialogues, "dialogue"), count(self.total.questions, "question")
        return f"{named}{count(len(self.rows), 'topic')}, {dialogues}, {questions}"


def table_2(topics: Sequence[Topic], *, data: str = "") -> Table2:
    """Return the counts of `topics`; `data` is the name of the set."""
    rows = tuple(_counts(topic.name, [topic], _printed(topic.name)) for topic in topics)
    return Table2(data, rows, _counts("all", topics, _printed_sum(rows)))


def _counts(name: str, topics: Sequence[Topic], printed: PaperTopic | None) -> TopicCounts:
    dialogues = [dialogue for topic in topics for dialogue in topic.dialogues]
    kinds = [question.kind for topic in topics for question in topic.questions]
    tokens = sum(estimate_tokens(dialogue.text) for dialogue in dialogues) / len(dialogues) if dialogues else float("nan")
    of = {kind: kinds.count(kind) for kind in ("recall", "general", "never_said")}
    return TopicCounts(name, len(dialogues), len(kinds), **of, tokens=tokens, printed=printed)


def _printed(name: str) -> PaperTopic | None:
    return next((row for row in TABLES_2_AND_3 if name in (row.topic, row.printed)), None)


def _printed_sum(rows: Sequence[TopicCounts]) -> PaperTopic | None:
    printed = [row.printed for row in rows if row.printed]
    if len(printed) < len(TABLES_2_AND_3) or len(printed) < len(rows):
        return None
    dialogues, questions = sum(row.dialogues for row in printed), sum(row.questions for row in printed)
    return PaperTopic("all", "all", dialogues, questions, tokens=float("nan"), hit_percent=float("nan"))


def _cells(row: TopicCounts) -> tuple[str, ...]:
    ours = (f"{number:,}" for number in (row.dialogues, row.questions, row.recall, row.general, row.never_said))
    printed = row.printed
    tokens = f"{printed.tokens:.2f}" if printed and not isnan(printed.tokens) else "-"
    theirs = (f"{printed.dialogues:,}", f"{printed.questions:,}", tokens) if printed else ("-", "-", tokens)
    return (row.topic, *ours, f"{row.tokens:.1f}", *theirs)
