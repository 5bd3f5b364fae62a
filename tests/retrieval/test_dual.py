"""Step 6: two branches and a referee by index."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ilstma_lab.errors import ModelError
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.retrieval.dual import DualRetriever, RetrievalSettings, referee
from ilstma_lab.retrieval.recall import Reading
from tests.stubs import DAY_0, THINGS, StubReader, asking, said, table_of


def naming(index, raw="") -> DualRetriever:
    return DualRetriever(RetrievalSettings(), reader=StubReader(default=Reading(index, raw)))


def retrieve(retriever, question, table):
    return retriever.retrieve(question, table, now=DAY_0)


# -- the referee -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "winners", "invented", "recalled", "decision"),
    [
        (3, [3, 41], False, (3,), "agree"),
        (41, [3, 41], False, (41,), "agree"),
        (7, [3, 41], False, (3, 41), "disagree"),
        (None, [3, 41], True, (3, 41), "invented"),
        (None, [3, 41], False, (3, 41), "unread"),
        (None, [], False, (), "empty"),
        (3, [3], False, (3,), "agree"),
        (0, [0, 5], False, (0,), "agree"),
    ],
)
def test_truth_table(named, winners, invented, recalled, decision):
    assert referee(named, winners, invented=invented)[:2] == (recalled, decision)


@given(
    named=st.none() | st.integers(0, 9),
    winners=st.lists(st.integers(0, 9), min_size=1, max_size=2, unique=True),
    invented=st.booleans(),
)
def test_what_is_recalled_always_comes_from_branch_b(named, winners, invented):
    recalled, decision, reason = referee(named, winners, invented=invented)
    assert set(recalled) <= set(winners)
    assert (decision == "agree") == (named in winners)
    assert recalled == ((named,) if decision == "agree" else tuple(winners))
    assert reason


# -- both branches ---------------------------------------------------------------------------------------------------


def test_agreement_recalls_one_row_alone():
    table = table_of(8)
    recall = retrieve(naming(3), asking(3), table)
    assert (recall.recalled, recall.decision, recall.branch_a.named) == ((3,), "agree", 3)
    assert recall.branch_b.winners[0] == 3
    assert len(recall.branch_b.winners) == 2


def test_disagreement_recalls_branch_b():
    table = table_of(8)
    winners = retrieve(naming(None), asking(3), table).branch_b.winners
    loser = next(row for row in range(8) if row not in winners)
    recall = retrieve(naming(loser), asking(3), table)
    assert (recall.decision, recall.recalled) == ("disagree", winners)


@pytest.mark.parametrize("index", [8, 12, -1, 10**12])
def test_d4_an_index_that_is_no_row_is_recorded_and_branch_b_decides(index):
    recall = retrieve(naming(index, str(index)), asking(3), table_of(8))
    assert recall.decision == "invented"
    assert recall.branch_a.named is None
    assert recall.branch_a.reading.index == index
    assert recall.recalled == recall.branch_b.winners
    assert recall.recalled[0] == 3


@pytest.mark.parametrize("index", ["3.0", "3", "b3f2-uuid", 3.0, [3], {"index": 3}])
def test_d4_an_index_of_another_type_is_no_row(index):
    recall = retrieve(naming(index), asking(3), table_of(8))
    assert recall.branch_a.named is None
    assert recall.recalled == recall.branch_b.winners


def test_d5_a_deleted_row_is_no_row():
    table = table_of(8)
    table.delete(5)
    recall = retrieve(naming(5, "5"), asking(3), table)
    assert (recall.decision, recall.recalled[0]) == ("invented", 3)


def test_a_reader_that_names_nothing():
    recall = retrieve(naming(None), asking(3), table_of(8))
    assert (recall.decision, recall.recalled[0]) == ("unread", 3)


def test_f7_an_empty_table_gives_an_empty_recall():
    reader = StubReader()
    recall = retrieve(DualRetriever(RetrievalSettings(), reader=reader), "anything", table_of(0))
    assert (recall.recalled, recall.decision, reader.asked) == ((), "empty", [])


def test_f7_one_row_alone():
    recall = retrieve(naming(0), asking(0), table_of(1))
    assert (recall.recalled, recall.decision) == ((0,), "agree")


@pytest.mark.parametrize("error", [ModelError("down"), AssertionError(), RuntimeError("odd")])
def test_a14_a_failing_reader_leaves_branch_b_to_decide(error):
    recall = retrieve(DualRetriever(RetrievalSettings(), reader=StubReader(default=error)), asking(3), table_of(8))
    assert recall.recalled == recall.branch_b.winners
    assert type(error).__name__ in recall.branch_a.error
    assert recall.decision == "unread"


def test_a_failing_embedder_leaves_words():
    class Down(HashedEmbedder):
        def embed(self, texts, kind):
            if kind == "query":
                raise ModelError("no embeddings today")
            return super().embed(texts, kind)

    table = table_of(8)
    table.embedder = Down(64)
    recall = retrieve(naming(None), asking(3), table)
    assert recall.recalled[0] == 3
    assert "no embeddings today" in recall.branch_b.error
    assert "no embeddings today" in recall.branch_a.error


# -- what the trace keeps --------------------------------------------------------------------------------------------


def test_losers_keep_their_scores_and_ranks():
    recall = retrieve(naming(None), asking(3), table_of(30))
    candidates = recall.branch_b.candidates
    assert len(candidates) == 20
    assert [c.rank for c in candidates] == list(range(20))
    assert all(a.score >= b.score for a, b in pairwise(candidates))
    assert all(np.isfinite(c.score) and c.scores for c in candidates)
    assert sum(c.won for c in candidates) == 2


def test_j7_scores_stay_with_their_own_row():
    table = table_of(12)
    recall = retrieve(naming(None), asking(5), table)
    vector = table.embedder.embed([asking(5)], "query")[0]
    for candidate in recall.branch_b.candidates:
        if "cosine" in candidate.scores:
            assert candidate.scores["cosine"] == pytest.approx(float(table[candidate.index].vector @ vector), abs=1e-6)
        assert candidate.text == table[candidate.index].user


def test_the_reader_sees_marked_text_of_real_rows():
    reader = StubReader()
    table, seen = table_of(40), []
    reader.default = lambda query, chunks: seen.extend(chunks) or Reading(None)
    recall = retrieve(DualRetriever(RetrievalSettings(read_chunks=2), reader=reader), asking(3), table)
    assert len(seen) == recall.branch_a.read == 2
    for chunk in seen:
        marks = {int(mark) for mark in re.findall(r"(?:^|\n)\[(\d+)\]", chunk.text)}
        assert marks <= set(chunk.rows)
        assert all(row in table for row in chunk.rows)
    assert 3 in seen[0].rows + seen[1].rows


# -- changes of the table --------------------------------------------------------------------------------------------


def test_a1_after_delete_and_add_each_text_finds_its_own_row():
    table, retriever = table_of(6), naming(None)
    retrieve(retriever, asking(0), table)
    table.delete(2)
    new = table.add(said(7))
    for number, row in [(0, 0), (1, 1), (3, 3), (4, 4), (5, 5), (7, new)]:
        assert retrieve(retriever, asking(number), table).recalled[0] == row


def test_a2_a_deleted_rows_text_finds_another_and_no_hole():
    table, retriever = table_of(2), naming(None)
    retrieve(retriever, asking(0), table)
    table.delete(0)
    recall = retrieve(retriever, asking(0), table)
    assert recall.recalled == (1,)
    assert not any(THINGS[0] in chunk.text for chunk in recall.branch_a.chunks)


def test_a11_an_edited_row_is_found_by_its_new_text_on_both_routes():
    table, retriever = table_of(12), naming(None)
    retrieve(retriever, asking(0), table)
    table.edit(4, user="kayak paddles whitewater", assistant="rapids noted")
    recall = retrieve(retriever, "kayak paddles whitewater?", table)
    assert recall.recalled[0] == 4
    assert any("kayak paddles" in chunk.text for chunk in recall.branch_a.chunks)
    assert not any(THINGS[4] in chunk.text for chunk in recall.branch_a.chunks)


def test_g1_one_retriever_over_two_tables_does_not_mix_them():
    retriever = naming(None)
    one, two = table_of(4), table_of(0)
    two.add(said(8))
    for table, own in [(one, 1), (two, 8), (one, 2)]:
        recall = retrieve(retriever, asking(own), table)
        assert set(recall.recalled) <= set(table.indices.tolist())
        assert all(row in table for chunk in recall.branch_a.chunks for row in chunk.rows)
        shown = " ".join(chunk.text for chunk in recall.branch_a.chunks)
        assert (THINGS[8] in shown) == (table is two)


def test_h8_numpy_finds_what_faiss_finds(monkeypatch):
    table = table_of(40)
    with_faiss = retrieve(naming(None), asking(5), table).branch_a
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    without = retrieve(naming(None), asking(5), table).branch_a
    assert (with_faiss.engine, without.engine) == ("faiss", "numpy")
    scores = [[round(c.score, 5) for c in branch.chunks] for branch in (with_faiss, without)]
    assert scores[0] == scores[1]


# -- echoes ----------------------------------------------------------------------------------------------------------


def test_an_echo_never_displaces_the_row_that_it_cites():
    table = table_of(8)
    echoes = [table.add(said(3), kind="asked", cites=[3]) for _ in range(5)]
    recall = retrieve(naming(None), asking(3), table)
    assert recall.recalled[0] == 3
    assert not set(recall.recalled) & set(echoes)


def test_asked_rows_as_rows_is_the_paper_as_printed():
    from ilstma_lab import Config

    table = table_of(8)
    echo = table.add(said(3), kind="asked", cites=[3])
    printed = DualRetriever(Config.literal().retrieval, reader=StubReader())
    assert echo in retrieve(printed, asking(3), table).recalled


def test_questions_may_be_plain_text():
    assert retrieve(naming(None), asking(2), table_of(5)).question == asking(2)
