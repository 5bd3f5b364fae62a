from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.tokens import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("one two", 2),
        ("guesthouse", 2),
        ("a" * 12, 2),
        ("a" * 13, 3),
        ("don't", 3),
        ("snake_case", 3),
        ("我对花生过敏", 6),
        ("我like花生", 4),
        ("カタカナ", 4),
        ("한국어", 3),
        ("?!", 2),
    ],
)
def test_words_marks_and_cjk(text, tokens):
    assert estimate_tokens(text) == tokens


@given(st.text(max_size=60), st.text(max_size=60))
def test_texts_beside_each_other_cost_what_they_cost_apart(first, second):
    assert estimate_tokens(f"{first} {second}") == estimate_tokens(first) + estimate_tokens(second)


@given(st.text(max_size=60), st.text(max_size=10))
def test_more_text_never_costs_less(text, more):
    assert estimate_tokens(text) <= estimate_tokens(text + more) <= estimate_tokens(text) + estimate_tokens(more)
