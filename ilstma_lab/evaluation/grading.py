"""How right an answer is: the grade, and the graders that need no model. Each says how it came to its grade."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.grade_refusal import says_unknown
from ilstma_lab.evaluation.grade_text import holds
from ilstma_lab.memory.entry import is_blank
from ilstma_lab.models.call import Call
from ilstma_lab.models.prompts.messages import GradeWording
from ilstma_lab.models.sentences import tokens

if TYPE_CHECKING:
    from ilstma_lab.evaluation.datasets import RecallQuestion
    from ilstma_lab.protocols import Grader

ACCURACIES = (0.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class Answered:
    """What `system` answered to a question: what is graded side by side, or by hand."""

    system: str
    question: RecallQuestion
    answer: str


@dataclass(frozen=True, slots=True)
class Grade:
    """What a grader says of one answer (ILSTMA, section 4.2; MemoryBank's correctness and coherence, section 4.2).

    `accuracy`: 1 right, .5 right in part, 0 wrong, None where it could not be graded, and `reason` says why. `coherence` in
    [0, 1]: how naturally the answer responds; None where neither a model nor a person graded. `calls`: what a model was asked
    and replied. Raises InputError for other values.
    """

    accuracy: float | None
    coherence: float | None = None
    reason: str = ""
    calls: tuple[Call, ...] = ()

    def __post_init__(self) -> None:
        if self.accuracy is not None and self.accuracy not in ACCURACIES:
            raise InputError(f"accuracy must be 0, 0.5, 1 or None (got {self.accuracy!r})")
        if self.coherence is not None and not 0 <= self.coherence <= 1:
            raise InputError(f"coherence must be in [0, 1] or None (got {self.coherence!r})")


class Exact:
    """1 where the whole label stands in the answer, else 0; case, spacing, width and quotation marks do not count.

    Fit for labels of a word or two. A label that is a sentence hardly ever stands in an answer word for word.
    """

    name = "exact"

    def grade(self, question: RecallQuestion, answer: str) -> Grade:
        """Return 1 or 0; None where the question has no label."""
        if (settled := _settled(question, answer)) is not None:
            return settled
        found = holds(answer, question.label)
        return Grade(float(found), reason="the label stands in the answer" if found else "the label does not stand in the answer")


@dataclass(frozen=True)
class TokenF1:
    """Grades by the words that answer and label share: F1 of precision and recall, each Chinese character being a word.

    1 from `whole`, .5 from `half`, else 0. A third and two thirds are round numbers, not calibrated. An answer that quotes at
    length shares few of its words with a short label, and is graded low however right it is.
    """

    half: float = 1 / 3
    whole: float = 2 / 3
    name: str = "token F1"

    def __post_init__(self) -> None:
        if not 0 < self.half <= self.whole <= 1:
            raise InputError(f"need 0 < half <= whole <= 1 (got {self.half}, {self.whole})")

    def grade(self, question: RecallQuestion, answer: str) -> Grade:
        """Return 1, .5 or 0 with the F1 in `reason`; None where the question has no label."""
        if (settled := _settled(question, answer)) is not None:
            return settled
        f1 = token_f1(answer, question.label)
        accuracy = 1.0 if f1 >= self.whole else 0.5 if f1 >= self.half else 0.0
        return Grade(accuracy, reason=f"F1 {f1:.2f} (1 from {self.whole:.2f}, .5 from {self.half:.2f})")


@dataclass(frozen=True)
class Facts:
    """Grades by the facts of the label that stand in the answer: all give 1; a part gives 0 if strict, .5 if lenient.

    A label without facts is graded by token F1, and `reason` says so. What contradicts the label besides is not
    seen, and an answer that quotes everything holds every fact: look at its tokens too.
    """

    wording: GradeWording = "strict"

    @property
    def name(self) -> str:
        """The grader's name with its wording."""
        return f"facts {self.wording}"

    def grade(self, question: RecallQuestion, answer: str) -> Grade:
        """Return 1, .5 or 0 with the facts that are missing in `reason`; None where there are neither facts nor a label."""
        if not question.facts or question.kind == "never_said":
            found = TokenF1().grade(question, answer)
            by_f1 = found.reason.startswith("F1")
            return Grade(found.accuracy, reason=f"the label has no facts, so {found.reason}") if by_f1 else found
        missing = [fact for fact in question.facts if not holds(answer, fact)]
        held = len(question.facts) - len(missing)
        reason = f"{held} of {len(question.facts)} facts" + (f", missing: {'; '.join(missing)}" if missing else "")
        part = 0.5 if self.wording == "lenient" and held else 0.0
        return Grade(part if missing else 1.0, reason=reason)


def offline_graders() -> tuple[Grader, ...]:
    """Return the graders that need no model: exact, token F1, facts strict and lenient."""
    return Exact(), TokenF1(), Facts("strict"), Facts("lenient")


def token_f1(answer: str, label: str) -> float:
    """Return the harmonic mean of precision and recall of the words of `answer` in `label`, each as often as it stands there.

    >>> round(token_f1("It was Hazel", "Hazel, it seems"), 3)
    0.667
    """
    said, wanted = Counter(tokens(answer)), Counter(tokens(label))
    shared = (said & wanted).total()
    return 2 * shared / (said.total() + wanted.total()) if shared else 0.0


def _settled(question: RecallQuestion, answer: str) -> Grade | None:
    """Return the grade that needs no look at the label: of no answer, of a question about what was never said, of no label."""
    if is_blank(answer):
        return Grade(0.0, reason="there is no answer")
    if question.kind == "never_said":
        honest = says_unknown(answer)
        return Grade(float(honest), reason="it was never said, and the answer " + ("says so" if honest else "claims something"))
    if is_blank(question.label):
        return Grade(None, reason="the question has no label")
    return None
