"""The published data sets, where they are: every gold label must lead to one row through `source`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ilstma_lab.importers import conversations, load_dialogues

FOLDER = os.environ.get("ILSTMA_LAB_DATA")
pytestmark = pytest.mark.skipif(
    not FOLDER, reason="set ILSTMA_LAB_DATA to the folder of memorybank/, scm/, locomo/, longmemeval/, formats/"
)
DATA = Path(FOLDER or ".")


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def all_of(path):
    return {name: load_dialogues(path, conversation=name) for name in conversations(path)}


def rows_of(loaded, source):
    return [d for d in loaded if source in d.source.split(",")]


@pytest.mark.parametrize("language", ["en", "cn"])
def test_memorybank(language):
    banks = all_of(DATA / "memorybank" / f"memory_bank_{language}.json")
    assert len(banks) == 15
    assert sum(len(loaded) for loaded in banks.values()) == 566
    gold = lines(DATA / "memorybank" / f"gold_{language}.jsonl")
    for label in gold:
        for turn in label["gold"] + label["alt_gold"]:
            assert len(rows_of(banks[label["user"]], f"{turn['date']}#{turn['turn']}")) == 1
    assert gold
    if language == "en":
        assert "2023-05-05 is empty" in banks["John Zhang"].notes
        assert sum(d.source.startswith("2023-04-30") for d in banks["Roland"]) == 8


def test_scm():
    for language, gold in (("zh", "gold_zh.jsonl"), ("en", "gold_en_silver.jsonl")):
        talks = all_of(DATA / "scm" / f"dialogue_{language}.json")
        assert all(loaded.synthetic_times for loaded in talks.values())
        for label in lines(DATA / "scm" / gold):
            for turn in label.get("gold_turns", [label.get("best_turn")]):
                assert len(rows_of(talks[label["id"]], str(turn))) == 1
        if language == "zh":
            assert sum(len(loaded) for loaded in talks.values()) == 187


def test_locomo():
    path = DATA / "locomo" / "locomo_dev3.json"
    talks = all_of(path)
    for sample in json.loads(path.read_text(encoding="utf-8")):
        loaded = talks[sample["sample_id"]]
        evidence = [ident.strip() for question in sample["qa"] for entry in question["evidence"] for ident in entry.split(";")]
        assert evidence
        for ident in evidence:
            assert len(rows_of(loaded, ident)) == 1
        assert all(len(d.source.split(",")) <= 2 for d in loaded)
    assert "16 session dates have no session" in talks["conv-26"].notes


def test_longmemeval():
    path = DATA / "longmemeval" / "longmemeval_s_dev12.jsonl"
    for record in lines(path):
        loaded = load_dialogues(path, conversation=record["question_id"])
        labels = [
            (session, turn)
            for session, talk in zip(record["haystack_session_ids"], record["haystack_sessions"], strict=True)
            for turn, message in enumerate(talk)
            if message.get("has_answer")
        ]
        assert labels
        for session, turn in labels:
            begins = [int(d.source.split("#")[1]) for d in loaded if d.source.split("#")[0] == session]
            begin = max(place for place in begins if place <= turn)
            assert begins.count(begin) == 1
            assert turn - begin <= 1


def test_format_samples():
    counts = {
        "memorybank_sample.json": 2,
        "openai_conversations_sample.json": 3,
        "telegram_result_sample.json": 1,
        "whatsapp_android_sample.txt": 1,
        "whatsapp_ios_sample.txt": 1,
    }
    for name, count in counts.items():
        options = {"day_first": name.endswith("ios_sample.txt")} if name.startswith("whatsapp") else {}
        assert len(load_dialogues(DATA / "formats" / name, **options)) == count
    assert len(all_of(DATA / "formats" / "sharegpt_sample.json")) == 2
