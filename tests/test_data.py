"""The bundled conversations: what data/SOURCES.md promises of them."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from datetime import datetime

import pytest

from ilstma_lab.evaluation.datasets import FIVE_TOPICS, load_topic
from ilstma_lab.memory.entry import is_blank
from ilstma_lab.resources import data_dir, topic_dir, topics
from ilstma_lab.tokens import estimate_tokens

TOPICS = (*FIVE_TOPICS, "travel_zh")
OFFSET_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d")


def records(topic: str, name: str) -> list[dict]:
    text = (topic_dir(topic) / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line.strip()]


def text_of(row: dict) -> str:
    return f"{row['user']}\n{row['assistant']}"


def is_chinese(topic: str) -> bool:
    return topic.endswith("_zh")


def five_grams(text: str, *, of_characters: bool) -> set[tuple[str, ...]]:
    pieces = [c for c in text.lower() if c.isalnum()] if of_characters else re.findall(r"[\w']+", text.lower())
    return {tuple(pieces[at : at + 5]) for at in range(len(pieces) - 4)}


def test_the_five_topics_and_the_chinese_one_are_bundled():
    assert sorted(TOPICS) == sorted(topics())


@pytest.mark.parametrize("topic", TOPICS)
def test_dialogues_hold_what_the_schema_says_in_the_order_of_time(topic):
    rows = records(topic, "dialogues.jsonl")
    for row in rows:
        assert set(row) == {"user", "assistant", "at", "source"}
        assert not is_blank(row["user"])
        assert not is_blank(row["assistant"])
        assert OFFSET_TIME.fullmatch(row["at"])
        assert re.fullmatch(rf"{row['at'][:10]}#\d+", row["source"])
    times = [datetime.fromisoformat(row["at"]) for row in rows]
    assert times == sorted(times)
    by_day = defaultdict(list)
    for row in rows:
        day, number = row["source"].split("#")
        by_day[day].append(int(number))
    assert all(numbers == list(range(len(numbers))) for numbers in by_day.values())


@pytest.mark.parametrize("topic", TOPICS)
def test_there_is_enough_of_it(topic):
    rows, asked = records(topic, "dialogues.jsonl"), records(topic, "questions.jsonl")
    days = [datetime.fromisoformat(row["at"]).date() for row in rows]
    assert len(rows) >= 80
    assert (max(days) - min(days)).days + 1 >= 40
    kinds = Counter(question["kind"] for question in asked)
    assert len(asked) >= 16
    assert kinds["recall"] >= 12
    assert kinds["general"] >= 2
    assert kinds["never_said"] >= 2


@pytest.mark.parametrize("topic", TOPICS)
def test_questions_hold_what_the_schema_says_and_come_after_the_dialogues(topic):
    rows, asked = records(topic, "dialogues.jsonl"), records(topic, "questions.jsonl")
    times = [datetime.fromisoformat(question["asked_at"]) for question in asked]
    assert times == sorted(times)
    assert datetime.fromisoformat(rows[-1]["at"]) < times[0]
    assert [question["id"] for question in asked] == [f"{topic}-{number:02}" for number in range(1, len(asked) + 1)]
    for question in asked:
        assert set(question) == {"id", "question", "kind", "asked_at", "gold", "alt_gold", "label", "facts"}
        assert question["kind"] in ("recall", "general", "never_said")
        assert OFFSET_TIME.fullmatch(question["asked_at"])
        assert question["question"].strip()
        assert question["label"].strip()
        assert bool(question["gold"]) == bool(question["facts"]) == (question["kind"] == "recall")
        assert question["gold"] or not question["alt_gold"]


@pytest.mark.parametrize("topic", TOPICS)
def test_gold_rows_exist_and_hold_the_facts_of_the_label(topic):
    texts = {row["source"]: text_of(row).lower() for row in records(topic, "dialogues.jsonl")}
    for question in records(topic, "questions.jsonl"):
        assert not set(question["gold"]) & set(question["alt_gold"])
        assert set(question["gold"] + question["alt_gold"]) <= set(texts)
        together = "\n".join(texts[source] for source in question["gold"])
        for fact in question["facts"]:
            assert fact.lower() in together, (question["id"], fact)
            assert fact.lower() in question["label"].lower(), (question["id"], fact)


@pytest.mark.parametrize("topic", TOPICS)
def test_no_dialogue_is_made_from_another(topic):
    grams = [five_grams(text_of(row), of_characters=is_chinese(topic)) for row in records(topic, "dialogues.jsonl")]
    holders = defaultdict(list)
    for number, several in enumerate(grams):
        for gram in several:
            holders[gram].append(number)
    for number, several in enumerate(grams):
        shared = Counter(other for gram in several for other in holders[gram] if other != number)
        assert all(count < 0.05 * len(several) for count in shared.values()), (number, shared.most_common(1))


@pytest.mark.parametrize("topic", TOPICS)
def test_no_question_repeats_a_dialogue_or_another_question(topic):
    said = {text for row in records(topic, "dialogues.jsonl") for text in (row["user"], row["assistant"], text_of(row))}
    asked = [question["question"] for question in records(topic, "questions.jsonl")]
    assert said.isdisjoint(asked)
    assert len(set(asked)) == len(asked)


@pytest.mark.parametrize("topic", TOPICS)
def test_the_loader_loses_nothing(topic):
    loaded = load_topic(topic)
    assert [(d.user, d.assistant, d.source) for d in loaded.dialogues] == [
        (row["user"], row["assistant"], row["source"]) for row in records(topic, "dialogues.jsonl")
    ]
    assert [(q.id, q.kind, q.label) for q in loaded.questions] == [
        (row["id"], row["kind"], row["label"]) for row in records(topic, "questions.jsonl")
    ]


@pytest.mark.parametrize("topic", TOPICS)
def test_sources_md_states_the_counts_of_table_2(topic):
    loaded = load_topic(topic)
    tokens = sum(estimate_tokens(d.text) for d in loaded.dialogues) / len(loaded.dialogues)
    stated = (data_dir() / "SOURCES.md").read_text(encoding="utf-8")
    assert re.search(rf"\| {topic} \| {len(loaded.dialogues)} \| {len(loaded.questions)} \| {tokens:.1f} \|", stated)
