"""Grades that a person gave, kept a line of JSON each, and given back as a grader."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.evaluation.grading import Grade

if TYPE_CHECKING:
    from ilstma_lab.evaluation.datasets import RecallQuestion

FORMAT, VERSION = "ilstma_lab grades by hand", 1
_Key = tuple[str, str, str]


class HandGrades:
    """The grades in the file `path`, which need not exist yet; a `Grader` of the name "by hand".

    A grade belongs to a question and the words of an answer, whichever system gave it. Each `keep` and `forget` is one line,
    on the disk when the call returns; the last line on an answer counts. Lines that cannot be read, such as one torn by a
    crash, are left out and counted in `unreadable`. Raises FormatError for a file of another kind, InputError where `path`
    cannot be read or written.
    """

    name = "by hand"

    def __init__(self, path: str | os.PathLike[str]):
        self.path = Path(path)
        self.unreadable = 0
        self._grades: dict[_Key, Grade] = {}
        self._read()

    def __len__(self) -> int:
        return len(self._grades)

    def __contains__(self, answered: object) -> bool:
        return _key(answered.question, answered.answer) in self._grades

    def grade(self, question: RecallQuestion, answer: str) -> Grade:
        """Return the person's grade, with accuracy None where there is none yet."""
        return self._grades.get(_key(question, answer), Grade(None, reason="not graded by hand yet"))

    def keep(self, question: RecallQuestion, answer: str, grade: Grade) -> None:
        """Write down a grade in place of an earlier one. Raises InputError for a grade without accuracy."""
        if grade.accuracy is None:
            raise InputError("a grade by hand needs an accuracy: 1, .5 or 0; forget() takes one back")
        self._write(question, answer, {"accuracy": grade.accuracy, "coherence": grade.coherence})
        self._grades[_key(question, answer)] = Grade(grade.accuracy, grade.coherence, "graded by hand")

    def forget(self, question: RecallQuestion, answer: str) -> None:
        """Take a grade back."""
        if _key(question, answer) in self._grades:
            self._write(question, answer, {"forgotten": True})
            del self._grades[_key(question, answer)]

    def _read(self) -> None:
        try:
            lines = self.path.read_text(encoding="utf-8-sig").split("\n") if self.path.exists() else []
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{self.path} cannot be read ({error}): give another file") from None
        lines = [line for line in lines if line.strip()]
        if not lines:
            return
        head = _loaded(lines[0])
        if head.get("format") != FORMAT or head.get("version") != VERSION:
            raise FormatError(f"{self.path} holds no grades by hand of version {VERSION}: give another file, or a new name")
        for line in lines[1:]:
            self._take(_loaded(line))

    def _take(self, row: dict[str, Any]) -> None:
        key = tuple(row.get(name) for name in ("id", "question", "answer"))
        if not all(isinstance(part, str) for part in key):
            self.unreadable += 1
        elif row.get("forgotten") is True:
            self._grades.pop(key, None)
        else:
            try:
                self._grades[key] = Grade(_scale(row["accuracy"]), row.get("coherence"), "graded by hand")
            except (KeyError, TypeError, InputError):
                self.unreadable += 1

    def _write(self, question: RecallQuestion, answer: str, said: dict[str, Any]) -> None:
        row = {"id": question.id, "question": question.question, "answer": answer, **said}
        try:
            with self.path.open("ab+") as file:
                size = file.seek(0, os.SEEK_END)
                lines = [] if size else [{"format": FORMAT, "version": VERSION}]
                torn = size and _last_byte(file) != b"\n"
                text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in [*lines, row])
                file.write((b"\n" if torn else b"") + text.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise InputError(f"{self.path} cannot be written ({error.strerror}): give another place") from None


def _key(question: RecallQuestion, answer: str) -> _Key:
    return question.id, question.question, answer


def _loaded(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _scale(value: Any) -> float:
    if value not in (0, 0.5, 1) or isinstance(value, bool):
        raise InputError(f"no accuracy: {value!r}")
    return float(value)


def _last_byte(file: Any) -> bytes:
    file.seek(-1, os.SEEK_END)
    return file.read(1)
