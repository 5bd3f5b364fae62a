"""Whatever a file holds, a parser answers with dialogues or with an IlstmaError."""

from __future__ import annotations

import io
import json
import os
import re
import time
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ilstma_lab.errors import IlstmaError
from ilstma_lab.importers import FORMATS, conversations, load_dialogues
from ilstma_lab.importers.pairing import Message, exchanges
from tests.importers.mutations import other_bytes, other_lines, other_values, raw

FREE = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
QUICK = settings(max_examples=40, **FREE)
SECONDS_A_PARSER = float(os.environ.get("ILSTMA_LAB_FUZZ_SECONDS", "120"))
LINES = ("whatsapp", "jsonl", "csv")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


def survives(path, format):
    """Read the file: dialogues in order, or one of the kit's errors in one short line that names the file; soon, in any case."""
    begun, refusal = time.process_time(), path.name
    try:
        for name in conversations(path, format=format)[:3]:
            loaded = load_dialogues(path, conversation=name, format=format, day_first=True)
            assert [d.at for d in loaded] == sorted(d.at for d in loaded)
            assert not any(_CONTROLS.search(note) or len(note) > 1_100 for note in loaded.notes)
            for dialogue in loaded:
                dialogue.text.encode("utf-8")
    except IlstmaError as error:
        refusal = str(error)
    assert path.name in refusal
    assert len(refusal) < 6_000
    assert not _CONTROLS.search(refusal)
    assert time.process_time() - begun < 5


def spoilt(name, sample):
    """Return a strategy of files that once were `sample`, in the format `name`."""
    ways = other_bytes(raw(sample))
    return ways | (other_lines(sample) if name in LINES else other_values(sample).map(raw))


@pytest.mark.parametrize("name", list(FORMATS))
@settings(QUICK, max_examples=80)
@given(data=st.data())
def test_files_that_were_spoilt(name, data, save, samples):
    survives(save(data.draw(spoilt(name, samples[name]))), data.draw(st.sampled_from([None, name])))


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FORMATS, "ios", "zip"])
def test_two_minutes_of_spoilt_files_a_parser(name, save, samples):
    strategy = other_bytes(zipped(samples)) if name == "zip" else spoilt("whatsapp" if name == "ios" else name, samples[name])
    form = {"ios": "whatsapp", "zip": None}.get(name, name)

    @settings(max_examples=1_000, database=None, derandomize=False, **FREE)
    @given(content=strategy)
    def some(content):
        survives(save(content), form)

    end = time.monotonic() + SECONDS_A_PARSER
    while time.monotonic() < end:
        some()


def zipped(samples):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("photos/1.jpg", b"no picture")
        archive.writestr("result.json", json.dumps(samples["telegram"]))
    return stream.getvalue()


@QUICK
@given(data=st.data())
def test_mutated_zips(data, save, samples):
    spoilt = bytearray(zipped(samples))
    for _ in range(data.draw(st.integers(1, 3))):
        spoilt[data.draw(st.integers(4, len(spoilt) - 1))] = data.draw(st.integers(0, 255))
    survives(save(bytes(spoilt)), None)


@QUICK
@given(
    content=st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")),
    format=st.sampled_from([None, *FORMATS]),
)
def test_arbitrary_bytes(content, format, save):
    survives(save(content), format)


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
