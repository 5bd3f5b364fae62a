"""A language model as a grader: its prompt and its reply stay beside the grade."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ilstma_lab.errors import ModelError
from ilstma_lab.evaluation.grading import ACCURACIES, Grade
from ilstma_lab.memory.entry import is_blank
from ilstma_lab.models.asking import Chat, ask_json, text_of
from ilstma_lab.models.prompts import messages
from ilstma_lab.models.prompts.messages import GradeWording

if TYPE_CHECKING:
    from ilstma_lab.evaluation.datasets import RecallQuestion

ANSWER_CHARACTERS = 6000
"""How much of an answer is graded: what runs on longer is cut."""
_REASON_CHARACTERS = 300
_SCALES: dict[GradeWording, Collection[float]] = {"lenient": ACCURACIES, "strict": (0.0, 1.0)}


@dataclass(frozen=True)
class ModelGrader:
    """Grades accuracy and coherence by asking a language model; `grade.calls` holds each prompt and raw reply.

    `wording` "lenient" gives .5 for a part of the facts, "strict" 1 or 0. A reply that cannot be read, also when asked again, or
    a model that fails, gives accuracy None with the reason, never a 0. A blank answer is 0 without asking.

    Paper note: ILSTMA (section 4.2) lets GPT-4 grade, and prints no prompt; this one is ours.
    """

    chat: Chat
    wording: GradeWording = "lenient"

    @property
    def name(self) -> str:
        """The model's name with the wording."""
        return f"{self.chat.model} {self.wording}"

    def grade(self, question: RecallQuestion, answer: str) -> Grade:
        """Return the model's grade with its reason; None where the question has no label, or no reply could be read."""
        if is_blank(answer):
            return Grade(0.0, reason="there is no answer")
        if is_blank(question.label) and question.kind != "never_said":
            return Grade(None, reason="the question has no label")
        answer, label, at = answer[:ANSWER_CHARACTERS], question.label.strip(), question.asked_at
        asked = messages.grade(question.question, answer, label=label, at=at, wording=self.wording)
        scale = _SCALES[self.wording]
        try:
            found, calls = ask_json(self.chat, asked, "grade", partial(_readable, scale=scale))
        except ModelError as error:
            return Grade(None, reason=f"{self.chat.model} failed: {error}")
        if found is None:
            return Grade(None, reason=f"the reply of {self.chat.model} could not be read", calls=calls)
        coherence = _number(found.get("coherence"))
        coherent = coherence if coherence is not None and 0 <= coherence <= 1 else None
        return Grade(_number(found["accuracy"]), coherent, text_of(found.get("reason"), _REASON_CHARACTERS), calls)


def _readable(reply: dict[str, Any], *, scale: Collection[float]) -> bool:
    return _number(reply.get("accuracy")) in scale


def _number(value: Any) -> float | None:
    """Return a number, also one written as text; None for anything else, a truth value too."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
