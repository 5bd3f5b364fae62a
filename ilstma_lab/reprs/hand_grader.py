"""The screen of grading by hand: one question, the right answer and the answer, two scales, how far one is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ilstma_lab.reprs.live import press
from ilstma_lab.reprs.markup import Html, tag
from ilstma_lab.reprs.parts import bar, head
from ilstma_lab.reprs.words import count, line, plain, weekday

if TYPE_CHECKING:
    from ilstma_lab.evaluation.grading import Answered

SCALES = {
    "accuracy": ("How right is it?", (("1", "right"), ("0.5", "in part"), ("0", "wrong"))),
    "coherence": ("Does it read well?", (("1", "natural"), ("0.5", "uneven"), ("0", "broken"))),
}
_KINDS = {"recall": "said before", "general": "general knowledge", "never_said": "never said"}
_SHOWN = 6000


@dataclass(frozen=True)
class Desk:
    """What lies on the desk: the answer that is shown (None: all are graded), what was chosen of it, and how far one is.

    `mean`: the mean accuracy, shown at the end only. `failure`: why the last grade could not be kept.
    """

    shown: Answered | None
    chosen: dict[str, float]
    graded: int
    total: int
    place: str
    can_undo: bool
    reveal: bool
    mean: float | None = None
    failure: str = ""

    @property
    def now(self) -> str:
        """The scale that a key speaks to: the first without a choice."""
        return next((scale for scale in SCALES if scale not in self.chosen), "")


def hand_grader_html(desk: Desk) -> Html:
    """Return the screen."""
    shown = desk.shown
    return tag(
        "section",
        head(f"Grading by hand · {desk.place}", finding(desk), _acts(desk)),
        tag("div", bar(desk.graded / desk.total, "history"), cls="hg-far", aria_hidden="true"),
        tag("p", desk.failure, cls="fail hg-fail", role="alert") if desk.failure else None,
        _asked(shown, reveal=desk.reveal) if shown else None,
        tag("div", *(_scale(name, desk) for name in SCALES), _next(desk), cls="pane hg-scales") if shown else None,
        _foot(desk) if shown else None,
        cls="w",
        tabindex="0",
        aria_label="Grading by hand",
    )


def hand_grader_text(desk: Desk) -> str:
    """Return the screen as plain text."""
    lines = [f"Grading by hand, {desk.place}: {finding(desk)}"]
    if desk.failure:
        lines.append(f"not kept: {desk.failure}")
    if desk.shown:
        question = desk.shown.question
        lines += [f"question: {line(question.question, 300)}", f"label:    {line(_label(desk.shown), 300)}"]
        lines += [f"answer:   {plain(desk.shown.answer, _SHOWN)}"]
        lines += [f"system:   {line(desk.shown.system, 80)}"] if desk.reveal else []
    return "\n".join(lines)


def finding(desk: Desk) -> str:
    """Return in a sentence how far one is; the mean only when there is nothing left that it could sway."""
    if desk.shown:
        return f"{desk.graded:,} of {count(desk.total, 'answer')} graded"
    mean = f"{desk.mean:.2f}".replace("0.", ".", 1) if desk.mean is not None else "-"
    return f"All {count(desk.total, 'answer')} graded: accuracy {mean} on average (n {desk.total:,})"


def _acts(desk: Desk) -> Html:
    undo = press("undo", "Undo", off=not desk.can_undo, cls="btn", title="Take the last grade back (u)")
    if not desk.shown:
        return undo
    return tag("span", undo, press("skip", "Skip", cls="btn", title="Come back to it later (s)"), cls="hg-acts")


def _asked(shown: Answered, *, reveal: bool) -> Html:
    question = shown.question
    of = f"{_KINDS.get(question.kind, question.kind)}, asked on {weekday(question.asked_at)}"
    facts = [tag("span", line(fact, 60), cls="hg-fact") for fact in question.facts]
    return tag(
        "div",
        tag("div", tag("p", of, cls="dim"), tag("p", plain(question.question, _SHOWN), cls="hg-q")),
        tag(
            "div",
            tag("p", "The right answer", cls="dim"),
            tag("p", plain(_label(shown), _SHOWN), cls="hg-said"),
            tag("p", tag("span", "facts ", cls="dim"), *facts) if facts else None,
        ),
        tag(
            "div",
            tag("p", f"The answer of {line(shown.system, 60)}" if reveal else "The answer", cls="dim"),
            tag(
                "p", plain(shown.answer, _SHOWN) or "(no answer)", cls="hg-said hg-answer", tabindex="0", aria_label="The answer"
            ),
        ),
        cls="pane hg-asked",
    )


def _label(shown: Answered) -> str:
    question = shown.question
    return question.label or ("(it was never said)" if question.kind == "never_said" else "(the data set has no label)")


def _scale(name: str, desk: Desk) -> Html:
    words, steps = SCALES[name]
    chosen = desk.chosen.get(name)
    buttons = (
        press(name, tag("b", value.removeprefix("0") or "0"), f" {said}", value=value, aria_pressed=_flag(chosen == float(value)))
        for value, said in steps
    )
    return tag(
        "div",
        tag("span", tag("b", name.capitalize()), tag("span", f" {words}", cls="dim")),
        tag("span", *buttons, cls="segd", role="group", aria_label=name.capitalize()),
        cls="hg-scale now" if name == desk.now else "hg-scale",
    )


def _next(desk: Desk) -> Html:
    off = "accuracy" not in desk.chosen
    return press("keep", "Keep without coherence", off=off, cls="btn", title="Keep the accuracy alone (n)")


def _foot(desk: Desk) -> Html:
    keys = (("150", "grade"), ("n", "no coherence"), ("s", "skip"), ("u", "undo"), ("r", "system"))
    told = (tag("span", *(tag("kbd", key) for key in each), f" {does}") for each, does in keys)
    label = "Hide the system" if desk.reveal else "Show the system"
    return tag(
        "footer", tag("p", *told, cls="hg-keys"), press("reveal", label, cls="btn ghost", title=f"{label} (r)"), cls="hg-foot"
    )


def _flag(value: bool) -> str:
    return "true" if value else "false"
