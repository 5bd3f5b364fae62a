"""Data sets behind one interface: topics of dialogues, with questions whose gold rows are known by their source.

The five topics of ilstma5 are bundled. The others are read from a folder that the reader names: `data_dir` or ILSTMA_LAB_DATA.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.importers import load_dialogues
from ilstma_lab.memory.entry import Dialogue, to_moment
from ilstma_lab.resources import topic_dir

FIVE_TOPICS = ("legal", "love", "travel", "poetry", "jewelry")
DATA_VARIABLE = "ILSTMA_LAB_DATA"
Kind = Literal["recall", "general", "never_said"]


@dataclass(frozen=True)
class RecallQuestion:
    """One question of a recall set. `gold` rows jointly hold the answer, `alt_gold` rows alone also give it, by source.

    `facts` stand literally in the gold rows and in the label. `group` is the data set's own kind of question, for reports.
    """

    id: str
    question: str
    asked_at: datetime
    kind: Kind = "recall"
    gold: tuple[str, ...] = ()
    alt_gold: tuple[str, ...] = ()
    label: str = ""
    facts: tuple[str, ...] = ()
    group: str = ""

    @property
    def finds(self) -> frozenset[str]:
        """Sources of rows any of which counts as found."""
        return frozenset(self.gold + self.alt_gold)


@dataclass(frozen=True)
class Topic:
    """One conversation with the questions asked about it."""

    name: str
    dialogues: tuple[Dialogue, ...]
    questions: tuple[RecallQuestion, ...]


def load_topic(name: str) -> Topic:
    """Return one bundled topic of ilstma5, such as "travel". Raises InputError for an unknown name."""
    folder = topic_dir(name)
    questions = tuple(_bundled(row) for row in _lines(folder / "questions.jsonl"))
    return Topic(name, tuple(load_dialogues(folder / "dialogues.jsonl")), questions)


def load_dataset(name: str, *, data_dir: str | os.PathLike[str] | None = None) -> list[Topic]:
    """Return the topics of a data set: "ilstma5", one of its topics, or a key of `DATASETS` read from `data_dir`.

    Raises InputError for an unknown name or where the folder is missing, FormatError where a label leads to no row.
    """
    if name == "ilstma5":
        return [load_topic(topic) for topic in FIVE_TOPICS]
    if name in DATASETS:
        folder = _folder(name, data_dir)
        try:
            topics = DATASETS[name](folder)
        except FileNotFoundError as error:
            raise InputError(f"{folder} does not hold {name}: there is no {error.filename}") from None
        _check(name, topics)
        return topics
    try:
        return [load_topic(name)]
    except InputError as error:
        raise InputError(f"no data set {name!r}; there are: ilstma5, {', '.join(DATASETS)}, or one topic ({error})") from None


def _folder(name: str, data_dir: str | os.PathLike[str] | None) -> Path:
    place = data_dir or os.environ.get(DATA_VARIABLE)
    if not place:
        raise InputError(f"{name} is not part of the kit: name the folder that holds it, with --data-dir or {DATA_VARIABLE}")
    if not Path(place).is_dir():
        raise InputError(f"there is no folder {place} ({name} is read from it)")
    return Path(place)


def _check(name: str, topics: Sequence[Topic]) -> None:
    for topic in topics:
        known = {dialogue.source for dialogue in topic.dialogues}
        for question in topic.questions:
            if lost := question.finds - known:
                raise FormatError(f"{name}, {question.id}: no dialogue has the source {', '.join(sorted(lost))}")


def _bundled(row: dict[str, Any]) -> RecallQuestion:
    return RecallQuestion(
        id=row["id"],
        question=row["question"],
        asked_at=to_moment(row["asked_at"]),
        kind=row["kind"],
        gold=tuple(row["gold"]),
        alt_gold=tuple(row["alt_gold"]),
        label=row["label"],
        facts=tuple(row["facts"]),
        group=row["kind"],
    )


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def _day_after(dialogues: Sequence[Dialogue]) -> datetime:
    return dialogues[-1].at + timedelta(days=1)


def _memorybank(language: str) -> Callable[[Path], list[Topic]]:
    def load(folder: Path) -> list[Topic]:
        place = folder / "memorybank"
        by_user: dict[str, list[RecallQuestion]] = {}
        for row in _lines(place / f"gold_{language}.jsonl"):
            sources = [tuple(f"{g['date']}#{g['turn']}" for g in row[part]) for part in ("gold", "alt_gold")]
            question = RecallQuestion(
                id=f"{row['user_en'].strip()}-{row['q_index']}",
                question=row["question"],
                asked_at=datetime(2023, 5, 10, tzinfo=UTC),
                kind="recall" if any(sources) else "never_said",
                gold=sources[0],
                alt_gold=sources[1],
                group=row["type"],
            )
            by_user.setdefault(row["user"].strip(), []).append(question)
        bank = place / f"memory_bank_{language}.json"
        return [Topic(user, tuple(load_dialogues(bank, conversation=user)), tuple(asked)) for user, asked in by_user.items()]

    return load


def _scm_zh(folder: Path) -> list[Topic]:
    place = folder / "scm"
    answers = {row["question_id"]: row["answer"] for row in json.loads((place / "questions_zh.json").read_text(encoding="utf-8"))}
    by_topic: dict[str, list[dict[str, Any]]] = {}
    for row in _lines(place / "gold_zh.jsonl"):
        if row.get("ilstma_topic") and row["gold_turns"]:
            by_topic.setdefault(row["id"], []).append(row)
    topics = []
    for name, rows in by_topic.items():
        dialogues = tuple(load_dialogues(place / "dialogue_zh.json", conversation=name))
        asked_at = _day_after(dialogues)
        questions = tuple(
            RecallQuestion(
                id=row["question_id"],
                question=row["question"],
                asked_at=asked_at,
                gold=tuple(str(turn) for turn in row["gold_turns"]),
                label=answers.get(row["question_id"], ""),
                group=row["mode"],
            )
            for row in rows
        )
        topics.append(Topic(rows[0]["ilstma_topic"], dialogues, questions))
    return topics


_LOCOMO_KINDS = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


def _locomo(folder: Path) -> list[Topic]:
    (path,) = sorted((folder / "locomo").glob("locomo*.json"))[:1] or [folder / "locomo" / "locomo10.json"]
    topics = []
    for sample in json.loads(path.read_text(encoding="utf-8")):
        dialogues = tuple(load_dialogues(path, conversation=sample["sample_id"]))
        row_of = {turn: d.source for d in dialogues for turn in d.source.split(",")}
        asked_at = _day_after(dialogues)
        questions = []
        for number, qa in enumerate(sample["qa"]):
            turns = [turn for text in qa.get("evidence", []) for turn in re.findall(r"D\d+:\d+", text)]
            gold = tuple(dict.fromkeys(row_of[turn] for turn in turns if turn in row_of))
            if gold or qa["category"] == 5:
                adversarial = qa["category"] == 5
                questions.append(
                    RecallQuestion(
                        id=f"{sample['sample_id']}-{number}",
                        question=qa["question"],
                        asked_at=asked_at,
                        kind="never_said" if adversarial else "recall",
                        gold=() if adversarial else gold,
                        label=str(qa.get("answer", "")),
                        group=_LOCOMO_KINDS[qa["category"]],
                    )
                )
        topics.append(Topic(sample["sample_id"], dialogues, tuple(questions)))
    return topics


def _longmemeval(folder: Path) -> list[Topic]:
    (path,) = sorted((folder / "longmemeval").glob("longmemeval_s*.jsonl"))[:1] or [
        folder / "longmemeval" / "longmemeval_s.jsonl"
    ]
    topics = []
    for row in _lines(path):
        name = row["question_id"]
        dialogues = tuple(load_dialogues(path, conversation=name))
        rows = {dialogue.source for dialogue in dialogues}
        gold = []
        for session, turns in zip(row["haystack_session_ids"], row["haystack_sessions"], strict=True):
            for number, turn in enumerate(turns):
                if turn.get("has_answer"):
                    source = next((f"{session}#{at}" for at in range(number, -1, -1) if f"{session}#{at}" in rows), None)
                    gold += [source] if source else []
        question = RecallQuestion(
            id=name,
            question=row["question"],
            asked_at=datetime.strptime(re.sub(r" \(\w+\)", "", row["question_date"]), "%Y/%m/%d %H:%M").replace(tzinfo=UTC),
            kind="never_said" if name.endswith("_abs") else "recall",
            gold=() if name.endswith("_abs") else tuple(dict.fromkeys(gold)),
            label=str(row["answer"]),
            group=row["question_type"],
        )
        topics.append(Topic(name, dialogues, (question,)))
    return topics


DATASETS: dict[str, Callable[[Path], list[Topic]]] = {
    "memorybank_en": _memorybank("en"),
    "memorybank_cn": _memorybank("cn"),
    "scm_zh": _scm_zh,
    "locomo": _locomo,
    "longmemeval": _longmemeval,
}
