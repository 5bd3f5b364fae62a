"""Grading by hand: answers one by one, in a shuffled order, without the system's name; each grade is on the disk at once."""

from __future__ import annotations

import os
import random
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import traitlets

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.grade_by_hand import HandGrades
from ilstma_lab.evaluation.grading import ACCURACIES, Grade
from ilstma_lab.reprs.hand_grader import SCALES, Desk, hand_grader_html, hand_grader_text
from ilstma_lab.reprs.markup import Html
from ilstma_lab.reprs.words import line
from ilstma_lab.widgets.drawn import Drawn, browser_part, look

if TYPE_CHECKING:
    from ilstma_lab.evaluation.grading import Answered


class HandGrader(Drawn):
    """Grade `answers` one by one: 1, .5 or 0 for accuracy, then for coherence. `grader.grades` is the `Grader` "by hand".

    `answers`: anything with system, question and answer each; what two systems answered alike is shown once. `path`: the file of
    grades, which need not exist; what it holds already is not asked again. `seed` gives the order. By keyboard: 1, 5 and 0 grade,
    n keeps the accuracy alone, s skips, u takes the last grade back, r shows the system.

    Raises InputError where there is no answer, FormatError where `path` holds something else.
    """

    _esm = browser_part("hand_grader")
    _css = look("hand_grader")
    screen = "hand-grader"
    reveal = traitlets.Bool(False, help="Whether the system's name is shown.")

    def __init__(
        self, answers: Iterable[Answered], *, path: str | os.PathLike[str], seed: int = 0, at: int = 0, reveal: bool = False
    ):
        self.answers = _shuffled(answers, seed)
        if not 0 <= at < len(self.answers):
            raise InputError(f"there is no answer {at}: {len(self.answers)} given, counted from 0")
        self.grades = HandGrades(path)
        self.seed, self.at = seed, at
        self._chosen: dict[str, float] = {}
        self._given: list[int] = []
        self._failure = ""
        self._seek(at)
        self.set_trait("reveal", reveal)
        super().__init__()
        self.observe(lambda _: self.redraw(), names="reveal")

    # -- from Python -----------------------------------------------------------------------------------------------------

    @property
    def current(self) -> Answered | None:
        """The answer that is shown; None when all are graded."""
        shown = self.answers[self.at]
        return None if shown in self.grades else shown

    @property
    def graded(self) -> int:
        """How many of the answers have a grade."""
        return sum(each in self.grades for each in self.answers)

    def grade(self, accuracy: float, coherence: float | None = None) -> None:
        """Keep the grade of the shown answer, and show the next without one. Raises InputError where there is none to grade."""
        if self.current is None:
            raise InputError("all answers are graded: undo() takes the last grade back")
        self.grades.keep(self.current.question, self.current.answer, Grade(float(accuracy), coherence))
        self._given.append(self.at)
        self._turn_to(self.at)

    def undo(self) -> None:
        """Take back the last grade that was given here, and show its answer; without one nothing happens."""
        if self._given:
            back = self.answers[self._given[-1]]
            self.grades.forget(back.question, back.answer)
            self._turn_to(self._given.pop())

    def skip(self) -> None:
        """Show the next answer without a grade; this one comes again after the others."""
        self._turn_to((self.at + 1) % len(self.answers))

    def state(self) -> dict[str, Any]:
        """Return where one stands, as plain JSON values: `HandGrader(answers, path=path, **state)` stands there again."""
        return {"seed": self.seed, "at": self.at, "reveal": self.reveal}

    def html(self) -> Html:
        """Return the screen as it is now."""
        return hand_grader_html(self._desk())

    def text(self) -> str:
        """Return the screen as plain text."""
        return hand_grader_text(self._desk())

    # -- what comes from outside -------------------------------------------------------------------------------------------

    def pressed(self, do: str, value: str) -> None:
        """Do what a button or a key says; what cannot be kept is told on the screen."""
        self._failure = ""
        try:
            match do:
                case "accuracy" | "coherence":
                    self._choose(do, value)
                case "rate":
                    self._choose(self._desk().now, value)
                case "keep" if self.current and "accuracy" in self._chosen:
                    self.grade(self._chosen["accuracy"])
                case "skip":
                    self.skip()
                case "undo":
                    self.undo()
                case "reveal":
                    self.reveal = not self.reveal
        except InputError as error:
            self._failure, self._chosen = str(error), {}
        self.redraw()

    def _choose(self, scale: str, value: str) -> None:
        """Take a choice; the second of both keeps the grade."""
        if value not in {step for step, _ in SCALES["accuracy"][1]} or not self.current or not scale:
            return
        self._chosen[scale] = float(value)
        if len(self._chosen) == len(SCALES):
            self.grade(**self._chosen)

    def _turn_to(self, start: int) -> None:
        self._chosen = {}
        self._seek(start)
        self.redraw()

    def _seek(self, start: int) -> None:
        """Stand at the first answer without a grade from `start` on, and on from the beginning."""
        order = [*range(start, len(self.answers)), *range(start)]
        self.at = next((at for at in order if self.answers[at] not in self.grades), start)

    def _desk(self) -> Desk:
        given = [self.grades.grade(each.question, each.answer).accuracy for each in self.answers]
        done = [accuracy for accuracy in given if accuracy in ACCURACIES]
        return Desk(
            shown=self.current,
            chosen=self._chosen,
            graded=len(done),
            total=len(self.answers),
            place=line(self.grades.path.name, 60),
            can_undo=bool(self._given),
            reveal=self.reveal,
            mean=float(np.mean(done)) if done else None,
            failure=self._failure,
        )


def _shuffled(answers: Iterable[Answered], seed: int) -> tuple[Answered, ...]:
    answers = () if isinstance(answers, str) or not isinstance(answers, Iterable) else tuple(answers)
    if not answers or not all(hasattr(each, part) for each in answers for part in ("system", "question", "answer")):
        raise InputError("give answers with system, question and answer, such as Answered(system, question, answer)")
    once = {(each.question.id, each.question.question, each.answer): each for each in reversed(answers)}
    order = list(reversed(once.values()))
    random.Random(seed).shuffle(order)
    return tuple(order)
