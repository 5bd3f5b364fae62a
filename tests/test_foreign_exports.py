"""Turns, chats, configs, cassettes and sweeps from other hands: garbage is one clear error, and no file is changed by it."""

from __future__ import annotations

import json
import os
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ilstma_lab import Config, Turn
from ilstma_lab.errors import FormatError, IlstmaError
from ilstma_lab.evaluation.prefetch_sweep import Grid, sweep
from ilstma_lab.evaluation.workload import workload_of_session
from ilstma_lab.models.cassette import Cassette
from ilstma_lab.widgets.chat_export import FORMAT, VERSION, turns_of
from tests.importers.mutations import other_bytes, other_values, raw
from tests.stubs import asking, stub_lab, table_of

FREE = {"deadline": None, "suppress_health_check": [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]}
SECONDS_A_PARSER = float(os.environ.get("ILSTMA_LAB_FUZZ_SECONDS", "120"))
REPLY = {
    "key": "a" * 64,
    "purpose": "judge",
    "model": "m",
    "reply": "yes",
    "seconds": 0.5,
    "prompt_tokens": 5,
    "reply_tokens": 1,
    "cached_tokens": 0,
    "estimated": False,
}
DEEP = "[" * 100_000 + "]" * 100_000
GARBAGE = ["", " ", "{", "[]", "[1]", "null", "5", '"text"', "NaN", "\0", "<html>", "{}", '{"version": 1}', "Ā" * 100]


@cache
def turn_dict() -> dict:
    """A turn with prompts, a recall and a prefetch, as JSON values."""
    return stub_lab(6).ask(asking(3)).to_dict()


def chat(turns: object) -> str:
    return json.dumps({"format": FORMAT, "version": VERSION, "topic": "stub", "turns": turns})


def cassette_of(text: str | bytes, folder: Path) -> Cassette:
    path = folder / "c.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    before = path.read_bytes()
    try:
        return Cassette(path)
    finally:
        assert path.read_bytes() == before


# -- turns and chats -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [*GARBAGE, '{"version": 99}', '{"version": "1"}', '{"version": [1]}'])
def test_garbage_is_no_turn_and_no_chat(text):
    for read in (Turn.from_json, turns_of):
        with pytest.raises(FormatError, match=r"turn|chat"):
            read(text)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (Turn.from_json, DEEP),
        (Turn.from_json, '{"version": 1, "x": ' + DEEP + "}"),
        (Turn.from_json, '{"version": ' + "9" * 5_000 + "}"),
        (turns_of, DEEP),
    ],
    ids=["deep", "deep inside", "digits", "deep chat"],
)
def test_deep_nesting_and_huge_numbers_are_no_turn(read, text):
    with pytest.raises(FormatError):
        read(text)


def test_a_turn_lacking_any_part_or_with_any_part_of_another_kind_is_refused_or_whole():
    for name in turn_dict():
        for value in (None, 5, "x", [], {}, [[1]], {"x": {}}):
            survives_turn({**turn_dict(), name: value})
        survives_turn({key: part for key, part in turn_dict().items() if key != name})


def survives_turn(value: object) -> None:
    """Read a turn: it reads back as it was, can be shown, or is refused."""
    for read in (lambda: Turn.from_json(raw(value).decode("utf-8", "surrogatepass")), lambda: turns_of(chat([value]))[0]):
        try:
            turn = read()
        except FormatError as error:
            assert len(str(error)) > 10  # noqa: PT017
        else:
            assert Turn.from_dict(turn.to_dict()).to_dict() == turn.to_dict()


@settings(max_examples=60, **FREE)
@given(data=st.data())
def test_a_spoilt_turn_is_refused_or_reads_back(data):
    survives_turn(data.draw(other_values(turn_dict())))


@pytest.mark.parametrize("version", [0, 2, None, "1", 1.5])
def test_another_version_of_a_chat_is_refused(version):
    with pytest.raises(FormatError, match="version"):
        turns_of(json.dumps({"format": FORMAT, "version": version, "turns": []}))


# -- configs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data", [None, 5, "text", [1], [["touch"]], {"touch": None}, {"": {}}, {"prefetch": []}, {1: 2}, {None: 1}]
)
def test_garbage_is_no_config(data):
    with pytest.raises(IlstmaError):
        Config.from_dict(data)


@pytest.mark.parametrize("data", ["", [], (), set()])
def test_what_is_empty_is_no_config(data):
    with pytest.raises(IlstmaError):
        Config.from_dict(data)


def places(value: object, path: tuple = ()):
    for name, part in value.items():
        yield (*path, name)
        if isinstance(part, dict):
            yield from places(part, (*path, name))


@pytest.mark.parametrize("preset", [Config(), Config.literal(), Config.measured()])
def test_any_parameter_of_another_kind_is_refused_or_makes_a_config_that_reads_back(preset):
    known = preset.to_dict()
    for path in places(known):
        for value in (None, "x", [], {}, [[]], -1, 10**30, float("nan"), float("inf"), 1e300, True, {"kind": "none"}):
            data = json.loads(json.dumps(known))
            holder = data
            for name in path[:-1]:
                holder = holder[name]
            holder[path[-1]] = value
            try:
                config = Config.from_dict(data)
            except IlstmaError:
                continue
            assert Config.from_dict(config.to_dict()) == config, f"{path}: {value!r}"


# -- cassettes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line", ["{", "[]", "5", "null", '"x"', "{}", "\0", '{"key": "a"}', json.dumps({**REPLY, "key": [1]}), "<html>"]
)
def test_a_cassette_names_its_bad_line(tmp_path, line):
    with pytest.raises(FormatError, match=r"line 2 is not a recorded reply: remove the line or record again"):
        cassette_of(json.dumps(REPLY) + "\n" + line + "\n", tmp_path)


def test_an_empty_cassette_holds_nothing_and_a_half_line_is_named(tmp_path):
    assert len(cassette_of("", tmp_path)) == len(cassette_of("\n \n", tmp_path)) == 0
    whole = json.dumps(REPLY)
    for end in range(2, len(whole), 7):
        with pytest.raises(FormatError, match="line 2"):
            cassette_of(whole + "\n" + whole[:end], tmp_path)


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(REPLY).encode("utf-16"),
        json.dumps({**REPLY, "reply": "à"}, ensure_ascii=False).encode("cp1252"),
        b'{"key": ' + DEEP.encode(),
        *(raw({**REPLY, name: value}) for name in ("reply", "purpose", "model") for value in (None, 5, ["x"])),
        *(raw({**REPLY, name: value}) for name in ("seconds", "prompt_tokens", "reply_tokens") for value in (None, "x", [], -1)),
        raw({**REPLY, "seconds": float("nan")}),
    ],
)
def test_b11_what_is_no_recorded_reply_is_refused(tmp_path, content):
    with pytest.raises(FormatError, match="line 1"):
        cassette_of(content, tmp_path)


def test_a_folder_is_no_cassette(tmp_path):
    with pytest.raises(IlstmaError, match="cassette"):
        Cassette(tmp_path)


# -- sweeps --------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A small workload, its settings, and the file of their sweep."""
    lab = stub_lab(8)
    start = table_of(8)
    for number in (2, 5):
        lab.ask(asking(number))
    work = workload_of_session(lab.turns, start)
    path = tmp_path_factory.mktemp("sweep") / "s.jsonl"
    grid = Grid(offset=(2,)).settings()
    sweep([work], grid, jobs=1, path=path)
    return work, grid, path.read_text("utf-8")


def goes_on(swept, content: bytes, folder: Path) -> None:
    """Go on with a file that was spoilt: the same rows as without it, or a refusal that leaves it as it was."""
    work, grid, _ = swept
    path = folder / "s.jsonl"
    path.write_bytes(content)
    try:
        frame = sweep([work], grid, jobs=1, path=path)
    except IlstmaError as error:
        assert "nothing was written" in str(error)  # noqa: PT017
        assert path.read_bytes() == content
    else:
        assert len(frame) == len(grid)


@pytest.mark.parametrize("text", ["{", "[]\n", "5\n", "null\n", "NaN\n", "\0", "<html>\n", '{"key": []}\n', "[[]]\n[[]]\n"])
def test_garbage_is_no_sweep(swept, tmp_path, text):
    goes_on(swept, text.encode(), tmp_path)
    goes_on(swept, (swept[2] + text).encode(), tmp_path)
    goes_on(swept, swept[2].encode("utf-16"), tmp_path)


@settings(max_examples=30, **FREE)
@given(data=st.data())
def test_a_spoilt_sweep_goes_on_or_is_left_alone(swept, tmp_path, data):
    goes_on(swept, data.draw(other_bytes(swept[2].encode())), tmp_path)


@pytest.mark.parametrize("case", ["deep", "folder", "text", "none"])
def test_what_only_looks_like_a_sweep_is_refused(swept, tmp_path, case):
    work, grid, text = swept
    path = tmp_path / "s.jsonl"
    row = json.loads(text.splitlines()[0])
    if case == "folder":
        path.mkdir()
    else:
        lines = {"deep": DEEP, "text": json.dumps({**row, "hits": "many"}), "none": json.dumps({**row, "hits": None})}
        path.write_text(lines[case] + "\n", encoding="utf-8")
    with pytest.raises(FormatError):
        sweep([work], grid, jobs=1, path=path)


# -- two minutes each ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("parser", ["turn", "chat", "config", "sweep"])
def test_two_minutes_of_spoilt_exports(parser, swept, tmp_path):
    def config(value: object) -> None:
        try:
            read = Config.from_dict(value)
        except IlstmaError:
            return
        assert Config.from_dict(read.to_dict()) == read

    def export(content: bytes) -> None:
        try:
            turns_of(content.decode("utf-8", "replace"))
        except FormatError:
            return

    strategy, check = {
        "turn": (other_values(turn_dict()), survives_turn),
        "chat": (other_bytes(chat([turn_dict()]).encode()), export),
        "config": (other_values(Config.measured().to_dict()).filter(lambda value: isinstance(value, dict)), config),
        "sweep": (other_bytes(swept[2].encode()), lambda content: goes_on(swept, content, tmp_path)),
    }[parser]

    @settings(max_examples=500, database=None, derandomize=False, **FREE)
    @given(value=strategy)
    def some(value):
        check(value)

    end = time.monotonic() + SECONDS_A_PARSER
    while time.monotonic() < end:
        some()
