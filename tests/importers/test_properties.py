"""Whatever a file holds, a parser answers with dialogues or with an IlstmaError."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ilstma_lab.errors import IlstmaError
from ilstma_lab.importers import FORMATS, conversations, load_dialogues
from ilstma_lab.importers.pairing import Message, exchanges

QUICK = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just([]) | st.just({})


def survives(path, format):
    with suppress(IlstmaError):
        for name in conversations(path, format=format)[:3]:
            loaded = load_dialogues(path, conversation=name, format=format, day_first=True)
            assert [d.at for d in loaded] == sorted(d.at for d in loaded)


@pytest.mark.parametrize("name", list(FORMATS))
@QUICK
@given(data=st.data())
def test_mutated_texts(name, data, save, samples):
    sample = samples[name]
    raw = bytearray((sample if isinstance(sample, str) else json.dumps(sample)).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        raw[start : start + data.draw(st.integers(0, 9))] = data.draw(
            st.binary(max_size=6) | st.sampled_from([b"\n", b'"', b"99", b":"])
        )
    survives(save(bytes(raw)), data.draw(st.sampled_from([None, name])))


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("whatsapp", "jsonl", "csv")])
@QUICK
@given(data=st.data())
def test_values_of_another_kind(name, data, save, samples):
    root = {"": copy.deepcopy(samples[name])}
    holder, key = root, ""
    while isinstance(holder[key], dict | list) and holder[key] and data.draw(st.integers(0, 5)):
        holder = holder[key]
        key = data.draw(st.sampled_from(list(holder) if isinstance(holder, dict) else range(len(holder))))
    holder[key] = data.draw(LEAVES)
    survives(save(root[""]), name)


@QUICK
@given(data=st.data())
def test_mutated_zips(data, save, samples):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", data.draw(st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))) as archive:
        archive.writestr("result.json", json.dumps(samples["telegram"]))
    raw = bytearray(stream.getvalue())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(4, len(raw) - 1))] = data.draw(st.integers(0, 255))
    survives(save(bytes(raw)), None)


@QUICK
@given(
    raw=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")),
    format=st.sampled_from([None, *FORMATS]),
)
def test_arbitrary_bytes(raw, format, save):
    survives(save(raw), format)


@QUICK
@given(said=st.lists(st.tuples(st.sampled_from("ABC"), st.sampled_from(["x", "y", " "]))))
def test_pairing_loses_and_invents_nothing(said):
    messages = [Message(who, f"{text}{i}" if text.strip() else text, None, str(i)) for i, (who, text) in enumerate(said)]
    pairs = list(exchanges(messages, "A"))
    for message in messages:
        side = [pair.user if message.speaker == "A" else pair.assistant for pair in pairs]
        assert sum(message.text in text.replace(": ", "\n").split("\n") for text in side) == 1 or not message.text.strip()
    places = [place for pair in pairs for place in pair.places]
    assert places == sorted(places, key=int)
    assert len(set(places)) == len(places)


@QUICK
@given(rows=st.lists(st.tuples(st.text(min_size=1), st.text(), st.integers(0, 10**9))))
def test_jsonl_keeps_every_text(rows, save):
    rows = [(f"u{user}", assistant, at) for user, assistant, at in rows]
    lines = "".join(json.dumps({"user": u, "assistant": a, "at": t}) + "\n" for u, a, t in rows)
    loaded = load_dialogues(save(lines), format="jsonl") if rows else []
    expected = sorted(rows, key=lambda row: row[2])
    assert [(d.user, d.assistant, int(d.at.timestamp())) for d in loaded] == expected
