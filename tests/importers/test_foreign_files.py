"""Chats that were cut, blown up or built to do harm: each gives dialogues or one clear line, soon and in little memory."""

from __future__ import annotations

import csv
import io
import json
import os
import random
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from ilstma_lab.errors import FormatError, IlstmaError
from ilstma_lab.importers import FORMATS, archive, conversations, load_dialogues
from tests.importers.conftest import telegram
from tests.importers.mutations import raw

MILLION = "word " * 200_000
ROOT = Path(__file__).parents[2]
JSON_FORMATS = [name for name in FORMATS if name not in ("whatsapp", "jsonl", "csv")]


def first(path, **options):
    return load_dialogues(path, conversation=conversations(path)[0], **options)


def zipped(*members: tuple[str, bytes | str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members:
            file.writestr(name, content)
    return stream.getvalue()


# -- damage ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", JSON_FORMATS)
def test_b2_a_cut_file_is_refused_and_left_as_it_is(name, save, samples):
    whole = raw(samples[name])
    for end in sorted(random.Random(name).sample(range(len(whole)), 25)):
        path = save(whole[:end])
        with pytest.raises(FormatError, match=r"^chat\.txt"):
            conversations(path, format=name)
        assert path.read_bytes() == whole[:end]


@pytest.mark.parametrize("name", ["whatsapp", "ios", "jsonl", "csv"])
def test_b2_a_cut_text_gives_what_it_still_holds_or_says_where_it_broke(name, save, samples):
    whole, format = raw(samples[name]), {"ios": "whatsapp"}.get(name, name)
    everything = len(load_dialogues(save(whole), format=format))
    for end in range(len(whole)):
        try:
            assert len(load_dialogues(save(whole[:end]), format=format, day_first=None)) <= everything
        except IlstmaError as error:
            assert str(error).startswith("chat.txt")  # noqa: PT017


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("content", [b"", b"\0" * 4_096, b"\xff" * 100, b"{}", b"[]", b"null", b"\xef\xbb\xbf", b"[[[]]]"])
def test_b2_what_holds_nothing_is_refused_in_every_format(name, content, save):
    with pytest.raises(FormatError, match=r"^chat\.txt"):
        first(save(content), format=name)


@pytest.mark.parametrize("name", list(FORMATS))
def test_f4_every_format_is_read_in_every_encoding_that_tells_its_name(name, save, samples):
    text = raw(samples[name]).decode()
    expected = first(save(text))
    for encoding in ("utf-8-sig", "utf-16", "utf-32"):
        loaded = first(save(text.encode(encoding)))
        assert (loaded, loaded.notes) == (expected, expected.notes)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_f4_wide_characters_without_a_mark_are_refused_with_what_to_do(encoding, save):
    with pytest.raises(FormatError, match=r"without its mark.*Save the file as UTF-8"):
        conversations(save('{"user": "a", "assistant": "b"}'.encode(encoding)))


@pytest.mark.parametrize("encoding", ["cp1252", "shift_jis", "gb18030", "koi8-r"])
def test_f4_an_encoding_of_one_country_is_refused_with_the_line(encoding, save):
    text = {"cp1252": "à bientôt", "koi8-r": "мир"}.get(encoding, "花")
    with pytest.raises(FormatError, match=r"chat\.txt, line 2: not UTF-8 .*Save the file as UTF-8"):
        conversations(save(f"user,assistant\n{text},b\n".encode(encoding)))


# -- size --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        {"Ivy": {"history": {"2024-01-01": [{"query": MILLION, "response": "b"}]}}},
        [{"id": "x", "dialogue": [MILLION, "b"]}],
        [{"id": "x", "conversations": [{"from": "human", "value": MILLION}]}],
        {"name": "B", "type": "personal_chat", "messages": [telegram(1, "Ana", MILLION)]},
        f"25/1/24, 09:01 - Ana: {MILLION}",
        json.dumps({"user": MILLION, "assistant": ""}),
        f"user,assistant\n{MILLION},\n",
        f'user,assistant\n"{MILLION}\n""so""",\n',
    ],
)
def test_e6_a_text_of_a_million_characters_is_read_whole(content, save):
    assert len(first(save(content))[0].user) >= 999_999
    assert csv.field_size_limit() == 131_072, "the limit belongs to the whole process"


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("jsonl", {"user": "a", "assistant": "b", "at": MILLION}),
        ("jsonl", {"user": "a", "assistant": "b", "source": [MILLION]}),
        ("sharegpt", [{"id": MILLION, "conversations": [{"from": MILLION, "value": "x"}]}]),
        ("memorybank", {MILLION: {"history": {MILLION: []}}}),
        ("locomo", [{"sample_id": MILLION, "conversation": {"speaker_a": MILLION, "speaker_b": "b", "session_1": []}}]),
        ("longmemeval", {"haystack_dates": [MILLION], "haystack_session_ids": [MILLION], "haystack_sessions": [[]]}),
        (
            "telegram",
            {"name": MILLION, "messages": [{"id": MILLION, "type": "message", "from": "A", "text": "x", "date": MILLION}]},
        ),
        ("chatgpt", [{"title": MILLION, "mapping": {MILLION: 5}, "current_node": MILLION}]),
        ("csv", f"user,assistant,{MILLION}\na\n"),
        ("jsonl", '{"' + MILLION + '": 1, "' + MILLION + '": 2}'),
    ],
)
def test_a_message_is_short_however_long_the_file_s_words_are(format, content, save):
    with pytest.raises(FormatError) as refused:
        first(save(content), format=format)
    assert len(str(refused.value)) < 1_000


def test_names_of_a_million_characters_are_listed_in_short(save):
    path = save([{"id": MILLION + str(number), "dialogue": ["a", "b"]} for number in range(3)])
    with pytest.raises(IlstmaError, match="holds 3 conversations") as refused:
        load_dialogues(path)
    assert len(str(refused.value)) < 1_000
    assert len(load_dialogues(path, conversation=conversations(path)[1])) == 1


@pytest.mark.parametrize("level", [10, 300, 600, 900, 950, 970, 985, 1_000, 100_000])
@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("jsonl", '{"user": "a", "assistant": "b", "at": DEEP, "source": DEEP}'),
        ("jsonl", '{"user": DEEP, "assistant": "b"}'),
        ("telegram", '{"name": DEEP, "id": DEEP, "messages": [{"id": DEEP, "type": "message", "from": "A", "text": DEEP}]}'),
        ("telegram", '{"id": 1, "messages": [{"id": DEEP, "type": "message", "from": "A", "text": "x", "date_unixtime": DEEP}]}'),
        ("longmemeval", '{"haystack_dates": [DEEP], "haystack_session_ids": ["s"], "haystack_sessions": [[]]}'),
        ("longmemeval", '{"haystack_dates": [""], "haystack_session_ids": [DEEP], "haystack_sessions": [[]]}'),
        ("chatgpt", '{"mapping": {}, "current_node": DEEP, "create_time": DEEP}'),
        ("memorybank", '{"Ivy": {"history": {"2024-01-01": DEEP}}}'),
        ("scm", '{"id": DEEP, "dialogue": [DEEP]}'),
        ("sharegpt", '{"id": "x", "conversations": [{"from": "human", "value": DEEP}]}'),
        ("locomo", '{"conversation": {"speaker_a": "a", "speaker_b": "b", "session_1": DEEP, "session_1_date_time": DEEP}}'),
        ("csv", "user,assistant\nDEEP,DEEP DEEP,\n"),
        ("whatsapp", "DEEP"),
    ],
)
def test_deep_nesting_is_a_message(format, content, level, save):
    with pytest.raises(FormatError, match=r"^chat\.txt"):
        first(save(content.replace("DEEP", "[" * level + "]" * level)), format=format)


_SLOW_ONCE = {
    "a key that stands twice": "{" + "".join(f'"k{n}": 1, ' for n in range(100_000)) + '"z": 1, "z": 2}',
    "a session that stands often": {
        "haystack_dates": ["2024/02/02 10:00"] * 20_000,
        "haystack_session_ids": ["s"] * 20_000,
        "haystack_sessions": [[]] * 20_000,
    },
    "days without a turn": {
        "I": {"history": {f"{year}-{month:02}-01": [] for year in range(1000, 3000) for month in range(1, 13)}}
    },
    "brackets": "[" + "1/" * 1_000_000,
    "marks of direction": "[25/1/24, 09:01:00] " + "\u200e" * 1_000_000,
    "file endings": "25/1/24, 09:01 - Ana: " + ".jpg (" * 200_000,
    "lines": "25/1/24, 09:01 - Ana: a" + "\n" * 1_000_000,
    "spaces": " " * 2_000_000 + "x",
    "conversations": [{"id": "same", "dialogue": []}] * 20_000,
}


@pytest.mark.parametrize("name", list(_SLOW_ONCE))
def test_what_grows_is_read_in_time_that_grows_no_faster(name, save, soon):
    path = save(_SLOW_ONCE[name])
    with soon(seconds=10):
        try:
            notes = first(path, day_first=True).notes
        except FormatError as error:
            notes = [str(error)]
    assert sum(map(len, notes)) < 20_000


# -- zips --------------------------------------------------------------------------------------------------------------


def bomb(gigabytes: int, name: str = "result.json") -> bytes:
    stream, block = io.BytesIO(), bytes(2**24)
    with (
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as file,
        file.open(name, "w", force_zip64=True) as member,
    ):
        for _ in range(64 * gigabytes):
            member.write(block)
    return stream.getvalue()


_IN_LITTLE_MEMORY = """
import resource, sys
sys.path.insert(0, {root!r})
from ilstma_lab.errors import FormatError
from ilstma_lab.importers import load_dialogues
resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))
try:
    load_dialogues({path!r})
except FormatError as error:
    print(error)
"""


@pytest.mark.skipif(os.name != "posix", reason="memory limits")
def test_a_zip_bomb_of_gigabytes_is_refused_before_it_unpacks(save):
    path = save(bomb(1), "bomb.zip")
    script = _IN_LITTLE_MEMORY.format(root=str(ROOT), path=str(path))
    child = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert "bomb.zip: result.json unpacks to more than" in child.stdout, child.stderr


def test_a_zip_that_packs_a_hundred_times_is_refused_and_one_of_plain_text_is_not(save):
    lists = "[" + "[]," * 6_000_000 + "[]]"
    with pytest.raises(FormatError, match=r"more than 100 times what the zip holds. If you trust it"):
        conversations(save(zipped(("a.json", lists))))
    text = "".join(f'{{"user": "{number} likes tea", "assistant": "{number * 7919} noted"}}\n' for number in range(2_000))
    assert len(load_dialogues(save(zipped(("a.jsonl", text))))) == 2_000


def test_many_parts_count_together(save, monkeypatch):
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 2**20)
    parts = [(f"conversations-{number}.json", "[" + " " * 2**18 + "]") for number in range(5)]
    with pytest.raises(FormatError, match="unpacks to more than 1 MiB"):
        conversations(save(zipped(*parts)))


def test_a_size_that_lies_gives_no_more_than_it_states(save):
    data = zipped(("a.json", json.dumps([{"id": "x", "dialogue": ["a" * 5_000, "b"]}])))
    at = data.rindex(b"PK\x01\x02") + 24
    for size in (10, 2**31):
        lying = data[:at] + struct.pack("<L", size) + data[at + 4 :]
        with pytest.raises(FormatError, match=r"chat\.txt"):
            conversations(save(lying))


def test_a_zip_in_a_zip_is_not_opened(save):
    inner = zipped(("result.json", "{}"))
    for name in ("inner.zip", "result.json"):
        with pytest.raises(FormatError, match=r"chat\.txt"):
            conversations(save(zipped((name, inner))))


def test_many_thousand_members_are_told_in_short(save, soon):
    data = zipped(*((f"{number}.json", "[]") for number in range(20_000)))
    with soon(seconds=10), pytest.raises(FormatError, match="and 19960 more") as refused:
        conversations(save(data))
    assert len(str(refused.value)) < 2_000


@pytest.mark.parametrize(
    "name",
    [
        "../../result.json",
        "/etc/result.json",
        "C:\\result.json",
        "a/../../b/_chat.txt",
        "\x1b[31m\n\u202e.json",
        "x" * 60_000 + ".json",
    ],
)
def test_a_name_in_a_zip_leads_nowhere_and_commands_nothing(name, save, samples, tmp_path):
    before = {path for folder in (tmp_path, tmp_path.parent, ROOT) for path in folder.iterdir()}
    chat = samples["whatsapp"] if name.endswith("txt") else json.dumps(samples["telegram"])
    path = save(zipped((name, chat)), "export.zip")
    assert first(path)
    with pytest.raises(FormatError) as refused:
        conversations(save(zipped((name, b"\xff")), "export.zip"))
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 1_000
    assert {path for folder in (tmp_path, tmp_path.parent, ROOT) for path in folder.iterdir()} - before == {path}


def test_a_zip_with_a_password_says_what_to_do(save, samples):
    data = bytearray(zipped(("result.json", json.dumps(samples["telegram"]))))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + flags] |= 1
    with pytest.raises(FormatError, match=r"password required.*Unpack it and give the chat's own file"):
        conversations(save(bytes(data)))


# -- ids and dates -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "source"),
    [
        ({"name": "B", "type": "personal_chat", "messages": [telegram(1, who, "x") for who in "ABAB"]}, "1"),
        ([{"user": "a", "assistant": "b", "source": "s"}] * 2, "s"),
        (
            [
                {
                    "sample_id": "c",
                    "conversation": {
                        "speaker_a": "A",
                        "speaker_b": "B",
                        "session_1_date_time": "1:56 pm on 8 May, 2023",
                        "session_1": [{"speaker": who, "dia_id": "D1:1", "text": "x"} for who in "ABAB"],
                    },
                }
            ],
            "D1:1,D1:1",
        ),
    ],
)
def test_ids_that_stand_twice_are_kept_and_told(content, source, save):
    loaded = first(save(content))
    assert [dialogue.source for dialogue in loaded] == [source, source]
    assert f"sources that more than one dialogue has: '{source}'" in loaded.notes


def test_conversations_of_one_id_can_still_be_chosen(save):
    path = save([{"id": "same", "dialogue": [str(number), ""]} for number in range(3)])
    assert [load_dialogues(path, conversation=name)[0].user for name in conversations(path)] == ["0", "1", "2"]


@pytest.mark.parametrize("value", [None, "", 0, True, [], {}, "soon", 1e300, -1e300, "2024-13-45", "2999-02-29"])
def test_c3_a_time_that_is_none_is_told_by_its_place_and_never_guessed(value, save):
    chat = {"name": "B", "type": "personal_chat", "messages": [telegram(1, "Ana", "x", date_unixtime=None, date=value)]}
    try:
        loaded = first(save(chat))
    except FormatError as error:
        assert "message 1" in str(error)  # noqa: PT017
    else:
        assert value == 0
        assert loaded[0].at.year == 1970


@pytest.mark.parametrize("at", ["0001-01-01T00:00Z", "9999-12-31T23:59:59.999999Z", "2999-01-01", "2024-02-29"])
def test_c2_any_date_that_there_is_can_be_read(at, save):
    lines = "".join(json.dumps({"user": str(number), "assistant": "", "at": at}) + "\n" for number in range(3))
    loaded = load_dialogues(save(lines))
    assert {dialogue.at for dialogue in loaded} == {loaded[0].at}
    assert loaded[0].at.isoformat()[:10] == at[:10]


@pytest.mark.parametrize(
    "content",
    [
        {"I": {"history": {"9999-12-31": [{"query": "a", "response": "b"}] * 1_441}}},
        {
            "haystack_dates": ["9999/12/31 23:59"],
            "haystack_session_ids": ["s"],
            "haystack_sessions": [[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}] * 61],
        },
        {
            "sample_id": "c",
            "conversation": {
                "speaker_a": "A",
                "speaker_b": "B",
                "session_1_date_time": "11:59 pm on 31 December, 9999",
                "session_1": [{"speaker": who, "dia_id": "D", "text": "x"} for who in "AB" * 61],
            },
        },
    ],
)
def test_turns_that_run_past_the_last_year_are_refused_with_their_place(content, save):
    with pytest.raises(
        FormatError, match=r"chat\.txt, conversation '.*', 9999-12-31 .*fall behind the year 9999. Correct its date"
    ):
        first(save(content))
