"""JSON Lines and CSV: the kit's own plain forms."""

from __future__ import annotations

import json

import pytest

from ilstma_lab.errors import FormatError
from ilstma_lab.importers import load_dialogues


def test_c5_jsonl_times_become_one_kind_of_instant(save):
    times = ("2024-01-01T00:00:00", "2024-01-01T00:00:00Z", "2024-01-01T08:00:00+08:00", "2024-01-01")
    loaded = load_dialogues(save("".join(f'{{"user": "a", "assistant": "b", "at": "{time}"}}\n' for time in times)))
    assert {d.at.isoformat() for d in loaded} == {"2024-01-01T00:00:00+00:00"}
    assert [d.source for d in loaded] == ["line 1", "line 2", "line 3", "line 4"]


def test_jsonl_is_sorted_and_says_which_keys_it_left(save, samples):
    loaded = load_dialogues(save(samples["jsonl"], "diary.jsonl"))
    assert [(d.user, d.source) for d in loaded] == [("On the lake.", "line 3"), ("I row.", "diary 7")]
    assert loaded.conversation == "diary"
    assert "keys that are not read: mood" in loaded.notes


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"user": "a", "assistant"', "line 3: not valid JSON"),
        ("[1]", "line 3: an object is expected here"),
        ('{"user": "a"}', "line 3: 'assistant' must be a text .got nothing"),
        ('{"user": "a", "assistant": "b", "at": "noon"}', "line 3: not a point in time: 'noon'"),
        ('{"user": "a", "assistant": "b", "at": 1e999}', "line 3: not a point in time"),
        ('{"user": "a", "assistant": "b", "source": {}}', "line 3: 'source' must be"),
        ('{"user": "a", "assistant": "b", "at": NaN}', "line 3: not valid JSON: NaN"),
    ],
)
def test_a_bad_line_is_named_by_its_number(line, problem, save):
    with pytest.raises(FormatError, match=rf"chat\.txt, .*{problem}"):
        load_dialogues(save('{"user": "a", "assistant": "b", "at": 1}\n\n' + line + "\n"))


def test_only_a_newline_ends_a_line(save):
    said = "one\u2028two\x85three\x0bfour"
    line = json.dumps({"user": said, "assistant": "b"}, ensure_ascii=False)
    assert [d.user for d in load_dialogues(save(f"{line}\n{line}\n"))] == [said, said]


def test_times_are_given_to_all_or_to_none(save):
    with pytest.raises(FormatError, match="line 2: no time here"):
        load_dialogues(save('{"user": "a", "assistant": "b", "at": 1}\n{"user": "a", "assistant": "b"}\n'))


def test_blank_and_doubled_rows_are_reported(save):
    line = '{"user": "a", "assistant": "b", "source": "s"}\n'
    loaded = load_dialogues(save(line + line + '{"user": " ", "assistant": "\\u200b"}\n'))
    assert len(loaded) == 2
    assert "skipped: empty turns 1" in loaded.notes
    assert "sources that more than one dialogue has: 's'" in loaded.notes


def test_csv_with_quotes_and_semicolons(save, samples):
    loaded = load_dialogues(save(samples["csv"]))
    assert [(d.user, d.assistant, d.source) for d in loaded] == [
        ("I row; often", "Where?\nWhen?", "p7"),
        ("Hi", "Hello", "row 2"),
    ]


def test_csv_without_times_or_sources(save):
    loaded = load_dialogues(save("assistant,mood,user\nHello,3,Hi\n\n"))
    assert [(d.user, d.assistant, d.source) for d in loaded] == [("Hi", "Hello", "row 1")]
    assert loaded.synthetic_times
    assert "columns that are not read: mood" in loaded.notes


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("user,assistant\na\n", "row 1: 1 fields, but the header has 2"),
        ('user,assistant\n"a,b\n', "not valid CSV"),
        ("user,assistant,user\na,b,c\n", "stands twice in the header"),
        ("user,assistant,at\na,b,noon\n", "row 1: not a point in time"),
        ("a,b\nc,d\n", "the header must name the columns user and assistant"),
    ],
)
def test_csv_errors_name_the_row(text, problem, save):
    with pytest.raises(FormatError, match=problem):
        load_dialogues(save(text), format="csv")
