"""What all formats share: detection, names, notes, encodings, zip files, errors that name the place."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta

import pytest

from ilstma_lab.errors import FormatError, IlstmaError, InputError
from ilstma_lab.importers import FORMATS, archive, conversations, load_dialogues

TWO_LINES = '{"user": "a", "assistant": "b"}\n{"user": "c", "assistant": "d"}\n'


def zipped(**members: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members.items():
            file.writestr(name.replace("__", "."), text)
    return stream.getvalue()


@pytest.mark.parametrize("name", list(FORMATS))
def test_every_format_is_known_from_its_content(name, save, samples):
    path = save(samples[name], "misleading.dat")
    loaded = load_dialogues(path, conversation=conversations(path)[0])
    assert loaded.format == name
    assert loaded
    assert loaded == load_dialogues(path, conversation=conversations(path)[0], format=name)
    assert [d.at for d in loaded] == sorted(d.at for d in loaded)
    assert len({d.source for d in loaded}) == len(loaded)


def test_an_unknown_format_lists_the_known_ones_and_says_how_to_force_one(save):
    for text in ("hello\nworld", "[]", '{"a": 1}', "[1, 2]"):
        with pytest.raises(FormatError, match=r'chat\.txt: not in a format .*memorybank.*whatsapp.*|format="jsonl"') as caught:
            load_dialogues(save(text))
        assert all(name in str(caught.value) for name in FORMATS)
        assert 'format="jsonl"' in str(caught.value)
    with pytest.raises(InputError, match=r"no format is called 'pdf'.*telegram"):
        load_dialogues(save("x"), format="pdf")


def test_a_conversation_is_named_without_its_spaces_and_in_any_case(save, samples):
    path = save(samples["memorybank"])
    assert conversations(path) == ["Ivy", "Oskar"]
    for wanted in ("Ivy", " Ivy ", "ivy"):
        assert load_dialogues(path, conversation=wanted).conversation == "Ivy"
    with pytest.raises(InputError, match=r"holds 2 conversations.*'Ivy', 'Oskar'"):
        load_dialogues(path)
    with pytest.raises(InputError, match=r"called 'Emily'.*'Ivy', 'Oskar'"):
        load_dialogues(path, conversation="Emily")


def test_conversations_of_one_name_are_told_apart_by_id_or_place(save, samples):
    path = save(samples["chatgpt"])
    assert conversations(path) == ["Tea [id-1]", "Tea [id-2]"]
    with pytest.raises(InputError, match="several conversations are called 'Tea'"):
        load_dialogues(path, conversation="Tea")
    assert len(load_dialogues(path, conversation="Tea [id-1]")) == len(load_dialogues(path, conversation="id-1")) == 2
    assert conversations(save([{"dialogue": ["x"]}, {"dialogue": ["y"]}])) == ["item 1", "item 2"]
    same = save([{"id": "a", "dialogue": ["x"]}, {"id": "a", "dialogue": ["y"]}])
    assert load_dialogues(same, conversation=conversations(same)[1])[0].user == "y"


def test_undated_dialogues_get_five_synthetic_times_a_day(save, samples):
    loaded = load_dialogues(save(samples["scm"]), conversation="long_2")
    assert loaded.synthetic_times
    assert any("synthetic" in note for note in loaded.notes)
    assert loaded[0].at.isoformat() == "2000-01-01T00:00:00+00:00"
    days = [d.at.date() for d in loaded]
    assert [days.count(day) for day in dict.fromkeys(days)] == [5, 5, 2]
    assert loaded[1].at - loaded[0].at == timedelta(minutes=5)


def test_progress_is_told(save):
    seen = []
    lines = "".join(json.dumps({"user": str(i), "assistant": "x"}) + "\n" for i in range(1000))
    load_dialogues(save(lines), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1000, 1000)
    assert 50 <= len(seen) <= 200


def test_arguments_that_a_format_has_no_use_for(save):
    with pytest.raises(InputError, match="Leave `user` out"):
        load_dialogues(save(TWO_LINES), user="Ana")
    assert any("day_first is not used" in note for note in load_dialogues(save(TWO_LINES), day_first=True).notes)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_f4_encodings_do_not_depend_on_the_machine(encoding, save, monkeypatch):
    monkeypatch.setenv("PYTHONUTF8", "0")
    monkeypatch.setenv("LC_ALL", "C")
    text = '{"user": "我对花生过敏", "assistant": "好 😀"}\n'
    assert [(d.user, d.assistant) for d in load_dialogues(save(text.encode(encoding)))] == [("我对花生过敏", "好 😀")]


def test_f4_another_encoding_is_refused_with_its_line(save):
    text = '{"user": "a", "assistant": "b"}\n{"user": "花生", "assistant": "b"}\n'
    with pytest.raises(FormatError, match=r"chat\.txt, line 2: not UTF-8 .*Save the file as UTF-8"):
        load_dialogues(save(text.encode("gb18030")))


def test_f2_halves_of_surrogate_pairs_are_replaced(save):
    loaded = load_dialogues(save('[{"id": "\\ud83d", "dialogue": ["hi \\ud83d", "\\ud83d\\ude00"]}]'))
    assert (loaded[0].user, loaded[0].assistant, loaded.conversation) == ("hi \ufffd", "😀", "\ufffd")
    "\n".join(loaded.notes).encode("utf-8")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('[{"id": "x", "dialogue": ["a", NaN]}]', "NaN is no JSON number"),
        ('{"Ivy": {"history": {"2024-01-01": [], "2024-01-01": []}}}', "'2024-01-01' stands twice"),
        ('[{"id": "x", "dialogue": ["a",\n "b"', "not valid JSON.*line 2 column 5"),
        ("[" * 200_000, "nested too deeply"),
        ('{"user": ' + "9" * 5000 + "}", "not valid JSON"),
        ("", "the file is empty"),
        ("\ufeff \n", "the file is empty"),
    ],
)
def test_broken_files_are_refused_by_name(text, problem, save):
    with pytest.raises(FormatError, match=rf"(?s)chat\.txt.*{problem}"):
        load_dialogues(save(text))


def test_a_path_that_cannot_be_read(tmp_path):
    for path in (tmp_path / "nothing.json", tmp_path, "a\0b", 5):
        with pytest.raises(InputError, match="cannot read"):
            load_dialogues(path)


def test_a_zip_gives_the_chat_alone_and_unpacks_nothing(save, samples, tmp_path):
    data = zipped(conversations__json=json.dumps(samples["chatgpt"]), user__json='{"email": "a@b"}', chat__html="<p>")
    assert len(load_dialogues(save(data, "export.zip"), conversation="id-1")) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["export.zip"]
    assert load_dialogues(save(zipped(_chat__txt=samples["whatsapp"]))).format == "whatsapp"


def test_a_chatgpt_export_in_parts_is_read_as_one(save, samples):
    first, second = samples["chatgpt"]
    data = zipped(**{"conversations-001__json": json.dumps([second]), "conversations-000__json": json.dumps([first])})
    assert conversations(save(data)) == ["Tea [id-1]", "Tea [id-2]"]


def test_zips_that_cannot_be_used(save, monkeypatch):
    with pytest.raises(FormatError, match=r"which file in this zip.*'a\.json', 'b\.json'"):
        load_dialogues(save(zipped(a__json="[]", b__json="[]")))
    with pytest.raises(FormatError, match="it holds nothing"):
        load_dialogues(save(zipped()))
    with pytest.raises(FormatError, match="this zip file cannot be read"):
        load_dialogues(save(zipped(a__json=TWO_LINES)[:-30]))
    monkeypatch.setattr(archive, "MAX_UNPACKED_BYTES", 2**20)
    with pytest.raises(FormatError, match="unpacks to more than 1 MiB"):
        load_dialogues(save(zipped(a__json=" " * (2**20 + 1))))


def test_all_errors_share_the_base_class(save):
    with pytest.raises(IlstmaError):
        load_dialogues(save("?"))
