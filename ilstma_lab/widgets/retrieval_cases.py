"""Retrieval case studies: for each question both searches side by side, the referee between them, and what that is worth."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import ipywidgets
import traitlets

from ilstma_lab.config import Config
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.cases import Case, case_of
from ilstma_lab.evaluation.datasets import Topic
from ilstma_lab.evaluation.referee import RefereeReport, evaluate_referee
from ilstma_lab.memory.entry import is_blank
from ilstma_lab.models import Models
from ilstma_lab.reprs.markup import Html, page, tag
from ilstma_lab.reprs.parts import head
from ilstma_lab.reprs.recall import recall_text
from ilstma_lab.reprs.words import line, plain
from ilstma_lab.retrieval.recall import Recall
from ilstma_lab.widgets.frame import Frame
from ilstma_lab.widgets.light_figure import own_css
from ilstma_lab.widgets.retrieval_gallery import Choice, gallery
from ilstma_lab.widgets.retrieval_view import case_html, tables_html
from ilstma_lab.widgets.retrieval_words import KINDS, SCRIPTED, eyebrow, finding, try_this
from ilstma_lab.widgets.shell import Shell, module

if TYPE_CHECKING:
    import pandas as pd

    from ilstma_lab.engine import ILSTMA

_GIVEN = {
    "topics": "topics: as load_dataset returns them",
    "report": "report: as evaluate_referee returns it",
    "cases": "cases: as case_of returns them",
}
_CSS = (files("ilstma_lab") / "widgets" / "static" / "retrieval_cases.css").read_text(encoding="utf-8")


class CaseGallery(Shell):
    """The head and the gallery: it shows `view`, and sends what is pressed to `act`."""

    _esm = module("retrieval_cases")
    _css = Shell._css + own_css() + _CSS
    view = traitlets.Dict().tag(sync=True)

    def __init__(self, act: Any):
        super().__init__()
        self._act = act
        self.on_msg(lambda _, content, __: self._act(content))

    def static(self) -> Html:
        """Return nothing: the case studies speak for their gallery."""
        return page()

    def text(self) -> str:
        """Return the finding."""
        return self.view.get("finding", "")


class RetrievalCases(ipywidgets.VBox):
    """Cases of retrieval, one at a time: what both searches found for a question, what the referee ruled, and where gold stands.

    `cases`: topics (they are asked, with `config` and `models`; offline by default), a `RefereeReport`, or cases. `case` opens
    one, by its id or place. Below stand what each rule would have found and how far agreeing can be trusted, over all
    cases with gold. `RetrievalCases.of(lab, question)` shows one question of a running lab, `RetrievalCases.example()` a topic
    with scripted readings beside the real ones. Raises InputError where there is no case, or none of that name.
    """

    def __init__(
        self,
        cases: RefereeReport | Topic | Sequence[Topic] | Sequence[Case],
        *,
        case: int | str | None = None,
        config: Config | None = None,
        models: Models | None = None,
    ):
        self.report, given = _report(cases, config, models)
        self._made_by = ("RetrievalCases", [given, *_options(config=config, models=models)], _GIVEN[given])
        if not self.report.cases:
            raise InputError(
                "there is no case to show: give topics whose questions have gold rows, or RetrievalCases.of(lab, question)"
            )
        self.choice = Choice()
        self._gallery = CaseGallery(self._receive)
        self._case, self._tables = ipywidgets.HTML(), ipywidgets.HTML()
        self._foot = Frame("foot", lambda *_: None, name="RetrievalCases", try_this=try_this(self.report))
        self._tables.value = tables_html(self.report) if len(self.report) else ""
        super().__init__(children=[self._gallery, self._case, *([self._tables] if len(self.report) else []), self._foot])
        for name in ("ilab", "explorable", "cases"):
            self.add_class(name)
        self.show(0 if case is None else case)

    @classmethod
    def of(cls, lab: ILSTMA, question: str | Recall) -> RetrievalCases:
        """Return the case of one question, as `lab` would recall for it now, or of a recall that it made. Nothing is touched."""
        if not hasattr(lab, "retriever"):
            raise InputError(f"give a lab: RetrievalCases.of(lab, question) (got {type(lab).__name__})")
        if not isinstance(question, str | Recall):
            raise InputError(f"give a question, or a recall such as lab.turns[-1].recall (got {type(question).__name__})")
        if isinstance(question, str) and is_blank(question):
            raise InputError("the question is blank: type something to look for")
        asked = isinstance(question, str)
        recall = lab.retriever.retrieve(question, lab.table, now=lab.clock.now()) if asked else question
        about = "" if asked else f"the recall for {line(recall.question, 60)!r}"
        return cls([case_of(recall, lab.table)])._as("of", ["lab", repr(question) if asked else "recall"], about)

    @classmethod
    def example(
        cls, *, case: int | str | None = None, config: Config | None = None, models: Models | None = None
    ) -> RetrievalCases:
        """Return a bundled topic as the offline reader reads it, and scripted readings that name no real row, marked as such."""
        from ilstma_lab.widgets.retrieval_example import example_report

        return cls(example_report(config, models=models), case=case)._as("example", _options(config=config, models=models))

    # -- from Python -----------------------------------------------------------------------------------------------------

    @property
    def case(self) -> Case:
        """The case that is open."""
        return self.report.cases[self.choice.at]

    def show(self, case: int | str) -> None:
        """Open a case by its place or its id. Raises InputError where there is none."""
        known = [each.id for each in self.report.cases]
        at = known.index(case) if isinstance(case, str) and case in known else case
        if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at < len(known):
            raise InputError(f"no case {case!r}; there are {len(known)}, by place from 0 or by id: {line(', '.join(known), 80)}")
        self.choice = replace(self.choice, at=at)
        self._update()

    def filter(self, only: str = "", *, lost: bool = False) -> None:
        """Step through cases of one kind only, or only where gold is lost, and open the first of them. No argument: all."""
        if only not in ("", *KINDS):
            raise InputError(f"no kind {only!r}; there are {', '.join(KINDS)}")
        self.choice = replace(self.choice, only=only, lost=lost)
        if not self.choice.takes(self.case):
            first = replace(self.choice, at=-1).step(self.report.cases, 1)
            self.choice = replace(self.choice, at=self.choice.at if first is None else first)
        self._update()

    def step(self, by: int) -> None:
        """Open the next case (1) or the one before (-1) among those that are filtered; at the end nothing happens."""
        if by not in (1, -1):
            raise InputError(f"a step is 1 or -1 (got {by!r}): show(case) opens any case")
        at = self.choice.step(self.report.cases, by)
        if at is not None:
            self.show(at)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a case."""
        return self.report.to_frame()

    def state(self) -> dict[str, Any]:
        """Return what is open, as plain JSON values; `show` and `filter` bring it back."""
        return {"widget": "RetrievalCases", "version": 1, **asdict(self.choice), "case": self.case.id}

    def static(self) -> Html:
        """Return the open case and the tables as HTML without a script."""
        shown = self._gallery.view
        style = tag("style", Html(_CSS))
        title = head(shown["eyebrow"], shown["finding"], sub=f"“{shown['question']}”")
        body = tag("div", case_html(self.case), Html(self._tables.value), cls="ilab cases mathjax_ignore")
        return page(style, title, body, sections=("recall",))

    def text(self) -> str:
        """Return the open case and the tables as plain text."""
        case = self.case
        scripted = [SCRIPTED] if case.scripted else []
        gold = f"Gold: {', '.join(f'[{row}]' for row in case.gold)}" if case.gold else "No gold row is known"
        tables = ["", str(self.report)] if len(self.report) else []
        return "\n".join([self._gallery.view["eyebrow"], finding(case), *scripted, recall_text(case.recall), gold, *tables])

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        return {**super()._repr_mimebundle_(**kwargs), "text/plain": self.text(), "text/html": self.static()}

    # -- what is shown -----------------------------------------------------------------------------------------------------

    def _update(self) -> None:
        cases, choice = self.report.cases, self.choice
        self._case.value = case_html(self.case)
        self._gallery.view = {
            "eyebrow": eyebrow(self.case, choice.at, len(cases), self.report),
            "question": plain(self.case.question, 600),
            "finding": finding(self.case),
            "back": choice.step(cases, -1) is not None,
            "forth": choice.step(cases, 1) is not None,
            **gallery(cases, choice),
        }
        code = self._python(".to_frame()")
        self._foot.put(code=code, python=self._python(), state=json.dumps(self.state(), ensure_ascii=False))

    def _as(self, way: str, arguments: list[str], about: str = "") -> RetrievalCases:
        """Say in the code that a classmethod made these."""
        self._made_by = (f"RetrievalCases.{way}", arguments, about)
        self._update()
        return self

    def _python(self, then: str = "") -> str:
        made, arguments, about = self._made_by
        opened = [f"case={self.case.id or self.choice.at!r}"] if made != "RetrievalCases.of" and not then else []
        call = f"{made}({', '.join([*arguments, *opened])}){then}"
        return f"from ilstma_lab.widgets import RetrievalCases\n\n{call}" + (f"  # {about}" if about else "")

    def _receive(self, message: dict[str, Any]) -> None:
        """Do what was pressed; what does not fit is ignored."""
        match message:
            case {"do": "open", "at": int(at)} if 0 <= at < len(self.report.cases):
                self.show(at)
            case {"do": "step", "by": 1 | -1 as by}:
                self.step(by)
            case {"do": "only", "kind": str(kind)} if kind in KINDS:
                self.filter("" if self.choice.only == kind else kind, lost=self.choice.lost)
            case {"do": "lost"}:
                self.filter(self.choice.only, lost=not self.choice.lost)


def _options(**given: Any) -> list[str]:
    return [f"{name}={name}" for name, value in given.items() if value is not None]


def _report(given: Any, config: Config | None, models: Models | None) -> tuple[RefereeReport, str]:
    """Return the report, and the name under which code shows what was given."""
    if isinstance(given, RefereeReport):
        return given, "report"
    several = [given] if isinstance(given, Topic | Case) else list(given) if isinstance(given, Iterable) else [given]
    if several and all(isinstance(each, Topic) for each in several):
        data = line(", ".join(topic.name for topic in several), 60)
        return evaluate_referee(several, config, models=models, data=data), "topics"
    if not all(isinstance(each, Case) for each in several):
        raise InputError("give topics (load_dataset), a RefereeReport (evaluate_referee) or cases (case_of)")
    return RefereeReport("", "", "as given", tuple(several)), "cases"
