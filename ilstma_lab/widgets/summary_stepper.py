"""The summary stepper: a conversation group by group, each update part by part, and the set that a question would get."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import ipywidgets

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.retrieval import embed_once
from ilstma_lab.evaluation.summary_replay import SummaryReplay, SummaryStep
from ilstma_lab.memory.entry import Dialogue, is_blank
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models, offline
from ilstma_lab.models.extractive_summary import ExtractiveMerger
from ilstma_lab.models.overlap import lines_of
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.words import count, line
from ilstma_lab.summaries import SummarySettings
from ilstma_lab.widgets.controls import Control, slider
from ilstma_lab.widgets.explorable import Drawing, Explorable
from ilstma_lab.widgets.summary_example import example_dialogues
from ilstma_lab.widgets.summary_view import Choice, group_html, injected_html, merge_html, portrait_html, written_html

if TYPE_CHECKING:
    from ilstma_lab.engine import ILSTMA

QUESTION_CHARACTERS = 500
_STYLE = (files("ilstma_lab") / "widgets" / "static" / "summary_stepper.css").read_text(encoding="utf-8")
_USUAL = 0.7
_MERGER_LOADS = (
    "from ilstma_lab.models import offline",
    "from ilstma_lab.models.extractive_summary import ExtractiveMerger",
)
_PATIENCE = 3.0


@dataclass(frozen=True, kw_only=True)
class Words(Control):
    """A field for a line of text."""

    placeholder: str = ""

    def problem(self, value: Any) -> str:
        """Return why `value` cannot be taken, "" where it can."""
        fits = isinstance(value, str) and len(value) <= QUESTION_CHARACTERS
        return "" if fits else f"must be a text of at most {QUESTION_CHARACTERS} characters"

    def heard(self, value: str, current: str) -> str:
        """Return what the field holds, cut where it is too long."""
        return value[:QUESTION_CHARACTERS]

    def widget(self, default: str) -> ipywidgets.Widget:
        """Return the field, which reports when the reader presses Enter or leaves it."""
        words = {"description": self.label, "placeholder": self.placeholder}
        return ipywidgets.Text(value=default, continuous_update=False, **words)


@dataclass(frozen=True)
class Shown:
    """The step as far as it is known: None while it is computed; `done` groups are."""

    step: SummaryStep | None
    done: int
    choice: Choice | None = None
    waits: bool = False


class SummaryStepper(Explorable):
    """Go through a conversation group by group: what was said, the new summary, what it overwrote, what a question would get.

    `source`: a lab (its models, its group size and the embedder of its table), a table, or dialogues. All summaries are
    made again from the first group on, on a fork: nothing is written to what is given, and what it learns later is not seen;
    when its table is compacted after a row was edited or deleted, all is made again of the rows as they stand.
    With the extractive merger `similarity` is the cosine from which a line overwrites another. Groups are computed in a thread.
    Raises InputError where there is no full group.
    """

    eyebrow = "Summaries and personality, section 3.5"
    try_this = "Lower the similarity to .65. Which update is caught now, and which line is overwritten that should have stayed?"
    reset_words = "Reset"
    rows = ((("group", 1), ("written", 1)), (("merge", 1),), (("portrait", 1), ("injected", 1)))

    def __init__(self, source: ILSTMA | MemoryTable | Iterable[Dialogue], **parameters: Any):
        table, models, size, self.given = _taken(source)
        self._models_given, self.group_size = models, size
        self.models = embed_once(models)
        self.source, self._seen = table, len(table.withdrawn)
        first = SummaryReplay(table, models=self.models, group_size=size)
        usual = getattr(models.merger, "similarity", None) if isinstance(models.merger, ExtractiveMerger) else None
        self.extractive = usual is not None
        self._usual = round(usual, 2) if self.extractive else _USUAL
        self.total, self.waiting = first.total, first.waiting
        self._replays = {self._usual: first}
        self._choices: dict[tuple, Choice] = {}
        self.Parameters = _parameters(self.total, self._usual, extractive=self.extractive)
        super().__init__(**parameters)
        self.add_class("stepper")
        table.kept_by(self)

    @classmethod
    def example(cls, **parameters: Any) -> SummaryStepper:
        """Return the stepper over a short invented conversation, in which summaries do overlap."""
        return cls(example_dialogues(), **parameters)

    @property
    def presets(self) -> dict[str, Any]:
        """Similarities by name; step and question stay. There is none where another merger decides."""
        if not self.extractive:
            return {}
        named = {f"As usual, {self._usual:.2f}": self._usual, "Looser, 0.65": 0.65, "Stricter, 0.80": 0.8}
        return {name: replace(self.parameters, similarity=value) for name, value in named.items()}

    def settle(self, old: Any, new: Any) -> Any:
        """Return `new` with a step that there is."""
        return replace(new, step=min(new.step, max(self.total, 1)))

    def compute(self, p: Any) -> Shown:
        """Return the step where it is known already, with what the question would get."""
        replay = self._replays.get(p.similarity)
        done = len(replay.steps) if replay else 0
        if done < p.step:
            return Shown(None, done)
        asked = not is_blank(p.question)
        choice = self._choices.get((p.similarity, p.step, p.question)) if asked else None
        return Shown(replay.steps[p.step - 1], done, choice, waits=asked and choice is None)

    def refine(self, p: Any, result: Shown) -> Shown:
        """Make the groups up to the step and choose for the question, telling how far it is; it ends early when overtaken."""
        replay = self._replays.get(p.similarity) or SummaryReplay(self.source, models=self._models(p), group_size=self.group_size)
        self._replays[p.similarity] = replay
        while len(replay.steps) < p.step:
            replay.upto(len(replay.steps) + 1)
            with self._drawing:
                if p != self.parameters:
                    return self.compute(p)
                self._put(self.draw(p, self.compute(p)))
        if not is_blank(p.question) and (p.similarity, p.step, p.question) not in self._choices:
            cosines, chosen = replay.choose(p.question, replay.steps[p.step - 1])
            self._choices[p.similarity, p.step, p.question] = Choice(p.question, cosines, chosen)
        return self.compute(p)

    def forget(self, texts: Sequence[str] = ()) -> None:
        """Begin anew with the rows as they stand, where one was edited or deleted since; `table.compact()` calls this."""
        if len(self.source.withdrawn) == self._seen:
            return
        self.wait(_PATIENCE)
        self._seen, self.models = len(self.source.withdrawn), embed_once(self._models_given)
        self._replays, self._choices, self.total, self.waiting = {}, {}, 0, 0
        with suppress(InputError):  # no full group is left: the screen says so, once it looks for one
            first = SummaryReplay(self.source, models=self.models, group_size=self.group_size)
            self._replays[self._usual], self.total, self.waiting = first, first.total, first.waiting
        self._go(replace(self.parameters, question=""))

    def python(self) -> str:
        """Return code that builds this stepper as it stands."""
        name = type(self).__name__
        return super().python().replace(f"{name}(", f"{name}.example(", 1 if self.given == "" else 0)

    def draw(self, p: Any, result: Shown) -> Drawing:
        """Return the panels of the step."""
        style, step = tag("style", Html(_STYLE)), result.step
        threshold = p.similarity if self.extractive else None
        shared = {"sub": self._about(), "code": self._code(p)}
        if step is None:
            wait = tag("p", f"Group {result.done + 1} of {self.total} is being summarised …", cls="ss-wait")
            panels = {name: Html("") for row in self.rows for name, _ in row} | {"group": join(style, wait)}
            return Drawing(f"Group {p.step} of {self.total}: {result.done} done so far", panels=panels, **shared)
        panels = {
            "group": join(style, group_html(step, [self._entry(row) for row in step.rows])),
            "written": written_html(step),
            "merge": merge_html(step, threshold),
            "portrait": portrait_html(step),
            "injected": tag("p", "Choosing …", cls="ss-wait") if result.waits else injected_html(step, result.choice),
        }
        return Drawing(self._finding(step), panels=panels, live=_live(step), **shared)

    def text(self) -> str:
        """Return the step as plain text: the finding, the update line by line, the personality."""
        step = self.compute(self.parameters).step
        if step is None:
            return self.drawing.finding
        parts = [f"{part.kind:<11} {part.line or part.old or part.new}" for part in step.parts] or lines_of(step.written)
        told = [f"  {line(one, 160)}" for one in parts]
        return "\n".join(
            [self.drawing.finding, *told, "Personality:", *(f"  {line(one, 160)}" for one in lines_of(step.portrait))]
        )

    def _repr_mimebundle_(self, **kwargs: Any) -> dict:
        self.wait(_PATIENCE)  # so that a saved page shows the step, not that it is being computed
        return super()._repr_mimebundle_(**kwargs)

    def _models(self, p: Any) -> Models:
        if not self.extractive:
            return self.models
        return replace(self.models, merger=ExtractiveMerger(self.models.embedder, similarity=p.similarity))

    def _entry(self, row: int) -> Any:
        return self._replays[self._usual].table[row]

    def _finding(self, step: SummaryStep) -> str:
        where = f"Group {step.number} of {self.total}"
        if step.nearest is None:
            return f"{where}: the first set, {count(len(lines_of(step.written)), 'line')}"
        kinds = [part.kind for part in step.parts]
        if step.merged:
            old = kinds.count("overwritten")
            return f"{where}: {count(old, 'line')} of set {step.nearest.number} overwritten, {kinds.count('new')} added, one set"
        return f"{where}: nothing similar to set {step.nearest.number}, so two sets"

    def _about(self) -> str:
        topic = f"{line(self.source.topic, 40)}: " if self.source.topic else ""
        rest = f", {count(self.waiting, 'row')} not in a full group" if self.waiting else ""
        return f"{topic}{count(self.total, 'group')} of {self.group_size}{rest}. Summaries by: {line(self.models.name, 60)}."

    def _code(self, p: Any) -> str:
        """Return Python that makes the step again; its last line gives the parts."""
        lab, usual = self.given == "lab", p.similarity == self._usual
        loads = ["from ilstma_lab.evaluation.summary_replay import SummaryReplay"]
        made = ["table = lab.table"] if lab else []
        if self.given in ("dialogues", ""):
            loads = ["from ilstma_lab import MemoryTable", *loads]
            loads += [] if self.given else ["from ilstma_lab.widgets.summary_example import example_dialogues"]
            made = [f"table = MemoryTable.from_dialogues({self.given or 'example_dialogues()'})"]
        if not usual:
            loads = ["from dataclasses import replace", "", *loads, *_MERGER_LOADS]
            base = "lab.models" if lab else "offline(table.embedder)"
            made.append(f"models = replace({base}, merger=ExtractiveMerger(table.embedder, similarity={p.similarity}))")
        given = ["table"] + (["models=models"] if not usual else ["models=lab.models"] if lab else [])
        given += [f"group_size={self.group_size}"] if self.group_size != SummarySettings().group_size else []
        return "\n".join([*loads, "", *made, f"SummaryReplay({', '.join(given)}).upto({p.step}).parts"])


def _taken(source: Any) -> tuple[MemoryTable, Models, int, str]:
    """Return the table, the models, the group size and the name under which code shows what was given, "" for the example."""
    if isinstance(source, MemoryTable):
        return source, offline(source.embedder), SummarySettings().group_size, "table"
    if hasattr(source, "table") and hasattr(source, "models"):
        return source.table, source.models, source.config.summaries.group_size, "lab"
    if isinstance(source, str | bytes) or not isinstance(source, Iterable):
        raise InputError(f"give a lab, a table or dialogues (got {type(source).__name__}); load_dialogues(path) reads files")
    dialogues = tuple(source)
    table = MemoryTable.from_dialogues(dialogues)
    given = "" if dialogues == example_dialogues() else "dialogues"
    return table, offline(table.embedder), SummarySettings().group_size, given


def _parameters(total: int, usual: float, *, extractive: bool) -> type:
    @dataclass(frozen=True)
    class StepperParameters:
        """The group, how similar a line must be to overwrite another, and a question to choose a set for."""

        step: int = slider(1, 1, max(total, 2), 1, label="Group", about=f"of {total}")
        similarity: float = slider(
            usual, 0.3, 0.95, 0.05, label="Similarity", about="overwrites from", digits=2, shown=extractive, live=False
        )
        question: str = field(default="", metadata={"control": Words(label="Question", placeholder="Which set would it get?")})

    return StepperParameters


def _live(step: SummaryStep) -> Html:
    lines = sum(len(lines_of(one.text)) for one in step.sets)
    longest = max(len(lines_of(one.text)) for one in step.sets)
    rows = sum(len(one.rows) for one in step.sets)
    number = tag("b", len(step.sets), style="color:var(--summary-ink)")
    told = f"{'set' if len(step.sets) == 1 else 'sets'} of {count(rows, 'row')}: {count(lines, 'line')}, the longest {longest}"
    return tag("div", number, tag("span", told), cls="readout")
