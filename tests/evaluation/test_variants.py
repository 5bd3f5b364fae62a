"""Variants against the rest: what may be one, what is said of a wrong one in a second, the leaderboard and the card."""

from __future__ import annotations

import linecache
import re
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from ilstma_lab import ILSTMA, Config, models
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.asking import table_of
from ilstma_lab.evaluation.parts import ROLES, variant_of
from ilstma_lab.evaluation.ranked import ranked
from ilstma_lab.evaluation.variants import compare
from ilstma_lab.models.always_miss import AlwaysMiss
from ilstma_lab.prefetch.policies import standard_policies
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.retrieval.recall import BranchA, BranchB, Recall
from tests.evaluation.bench_kit import EMBEDDER, HOSTILE, Plain, topic
from tests.stubs import StubResponder, StubSummarizer

TOPICS = [topic("one"), topic("two")]


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(models, "default_embedder", lambda: EMBEDDER)


@dataclass
class Last:
    """Recalls the last row."""

    rows: int = 1

    def retrieve(self, question, table, *, now):
        text = question if isinstance(question, str) else question.text
        found = tuple(int(row) for row in table.indices[-self.rows :])
        return Recall(text, found, "empty", BranchA(), BranchB())


class Says(StubResponder):
    pass


def test_a_retriever_that_finds_nothing_does_harm():
    board = compare({"mine": Last()}, TOPICS)
    assert board.baseline == "ILSTMA (measured)"
    assert board.bench.systems == ("mine", "ILSTMA (measured)")
    assert board.gain("mine", "retrieve").band.high < 0
    assert board.verdict("mine", "retrieve") == "does harm at n = 8"
    assert board.ranked[-1] == "mine"
    assert "mine" in str(board)
    assert "mine" in board._repr_html_()


def test_the_baseline_by_another_name_cannot_be_told_from_it():
    board = compare({"mine": Config.measured()}, TOPICS)
    assert board.gain("mine").band.mean == 0
    assert board.verdict("mine") == "changes nothing at n = 12"
    assert board.finding() == "By accuracy: changes nothing at n = 12 (mine)"


def test_a_variant_that_knows_the_answers_helps():
    labels = {question.question: question.label for one in TOPICS for question in one.questions}
    board = compare({"mine": Says(labels)}, TOPICS)
    assert board.verdict("mine").startswith("helps")
    assert board.ranked[0] == "mine"


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (Last(), "retriever"),
        (standard_policies(k=3, offset=5)["next 3"], "prefetcher"),
        (AlwaysMiss(), "judge"),
        (StubSummarizer(), "summarizer"),
        (Says(), "responder"),
        (Config(), "Config"),
        (Plain, "lab"),
        (lambda table, *, models, clock: ILSTMA(table, models=models, clock=clock), "lab"),
    ],
)
def test_everything_that_can_be_a_variant_is_known_by_what_it_can_do(value, what):
    assert variant_of("mine", value, Config()).what == what
    board = compare({"mine": value}, [topic("one")], questions=2)
    assert not board.bench.failures("mine")


def test_a_class_from_a_cell_can_be_compared():
    cell = """
class Mine:
    def judge(self, query, memory):
        from ilstma_lab.trace import Verdict
        return Verdict(False, reason="never")
"""
    space = {"__name__": "__main__"}
    exec(cell, space)
    board = compare({"mine": space["Mine"]()}, [topic("one")], questions=2)
    assert "keep your cell" in board.card("mine").source


def test_the_card_has_the_class_of_a_notebook_cell_and_other_code_is_another_experiment():
    cell = """
@dataclass
class Mine:
    rows: int = 1

    def retrieve(self, question, table, *, now):
        return ranked(question, table, table.created{end})
"""
    settings = set()
    for number, end in enumerate(("", " * 2")):
        file, code = f"<cell {number}>", cell.replace("{end}", end)
        linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
        space = {"__name__": "__main__", "dataclass": dataclass, "ranked": ranked}
        exec(compile(code, file, "exec"), space)
        variant = variant_of("mine", space["Mine"](), Config())
        assert variant.source == code.lstrip("\n")
        settings.add(variant.setting)
    assert len(settings) == 2


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Last, r"Last is a class: give one of it, Last\(\)"),
        (dict, "a class must be a Lab"),
        (3, "an int is nothing that can be compared"),
        ("retriever", "a str is nothing"),
        (None, "None"),
    ],
)
def test_what_is_no_variant_says_so(value, said):
    with pytest.raises(InputError, match=said):
        compare({"mine": value}, TOPICS)


class NoTable:
    def retrieve(self, question):
        return question


class ReturnsAList:
    def retrieve(self, question, table, *, now):
        return [1, 2]


class Raises:
    def retrieve(self, question, table, *, now):
        raise KeyError("vectors")


class JudgesTrue:
    def judge(self, query, memory):
        return True


class Both:
    def judge(self, query, memory):
        """Judge."""

    def read(self, query, chunks):
        """Read."""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (NoTable(), r"NoTable.retrieve\(question\) .* write def retrieve\(self, question, table, \*, now\)"),
        (ReturnsAList(), "ReturnsAList.retrieve returned a list where a Recall is needed"),
        (Raises(), "KeyError: 'vectors'"),
        (JudgesTrue(), "JudgesTrue.judge returned a bool where a Verdict is needed"),
        (Both(), r"several parts \(judge, read\)"),
        (lambda table: ILSTMA(table), "a function that stands alone makes labs"),
        (lambda table, **parts: 1 / 0, "no lab can be made: ZeroDivisionError"),
        (lambda table, **parts: table, "not a Lab"),
    ],
)
def test_a_variant_that_cannot_work_says_what_is_wrong_before_anything_is_measured(value, said):
    seen = []
    with pytest.raises(InputError, match=said):
        compare({"fine": Config(), "mine": value}, TOPICS, progress=lambda done, total: seen.append(done))
    assert seen == []


class Part:
    """A retriever or prefetcher that returns what a test says."""

    def __init__(self, method, made):
        setattr(self, method, made)


def recalls(rows):
    return Part("retrieve", lambda question, table, *, now: Recall("", rows(table), "unread", BranchA(), BranchB()))


def keeps(rows):
    return Part("select", lambda context: Selection.of(rows(context.table)))


@dataclass(frozen=True)
class Frozen:
    def retrieve(self, question, table, *, now):
        return None


class Misspelt:
    def retreive(self, question, table, *, now):
        return None


class OfItsOwn:
    def __init__(self, weight):
        self.weight = weight

    def retrieve(self, question, table, *, now):
        return None


class Async:
    async def retrieve(self, question, table, *, now):
        return None


class Lowers:
    def retrieve(self, question, table, *, now):
        return question.lower()


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Frozen(), "returned None where a Recall is needed: does it end with a return"),
        (Misspelt(), "it has 'retreive'; is 'retrieve' meant"),
        (Misspelt, "it has 'retreive'"),
        (OfItsOwn, r"give one of it, OfItsOwn\(...\)"),
        (SimpleNamespace(retrieve=3), "its 'retrieve' is no method"),
        (Async(), "write def, not async def"),
        (Lowers(), "the question's words are question.text"),
        (recalls(lambda table: (99,)), "recalled row 99, which is not there: this table holds 6 rows, 0 to 5"),
        (recalls(lambda table: (-1,)), "recalled row -1"),
        (recalls(lambda table: ("0",)), "recalled a str where row indices are needed"),
        (recalls(lambda table: (0.0,)), "recalled a float"),
        (recalls(lambda table: (True,)), "recalled a bool"),
        (recalls(lambda table: 3), "recalled an int where a tuple"),
        (keeps(lambda table: (99,)), "chose row 99"),
        (Part("select", lambda context: [1]), r"Selection.of\(rows\) makes one"),
        (Part("retrieve", lambda question, table, *, now: ranked(question, table, np.ones(3))), r"shape \(6,\), got \(3,\)"),
        (
            Part("retrieve", lambda question, table, *, now: ranked(question, table, table.created / np.nan)),
            "look for text, for nan",
        ),
        (Part("summarize", lambda dialogues: ("text",)), "returned 1 things"),
    ],
)
def test_a_mistake_of_a_new_user_is_named(value, said):
    with pytest.raises(InputError, match=said):
        compare({"mine": value}, TOPICS)


@pytest.mark.parametrize("rows", [lambda table: table.indices[:2], lambda table: [0, 0], lambda table: ()])
def test_numpy_rows_a_row_twice_and_no_row_are_taken(rows):
    board = compare({"mine": recalls(rows)}, [topic("one")])
    assert not board.bench.failures("mine")


def test_a_part_that_fails_on_a_later_question_is_told_and_graded_0():
    @dataclass
    class Tires(Last):
        asked: int = 0

        def retrieve(self, question, table, *, now):
            self.asked += 1
            if self.asked == 4:
                raise ValueError("too tired")
            return super().retrieve(question, table, now=now)

    board = compare({"mine": Tires()}, [topic("one")])
    assert board.bench.failures("mine") == 1
    assert "1 answer failed" in str(board)
    assert "too tired" in str(board)


def test_more_rows_and_more_room_are_told_beside_the_figures():
    board = compare(
        {"all": recalls(lambda table: table.indices), "one": Last(), "hoards": keeps(lambda table: table.indices)}, TOPICS
    )
    assert re.search(r"all recalls 4\.\d rows a question, ILSTMA \(measured\) 1\.\d: more rows alone raise retrieve", str(board))
    assert "hoards keeps 6 rows in the cache, ILSTMA 3: more room alone means more hits." in str(board)
    assert not any("more rows" in remark for remark in board.card("one").remarks)


def test_ranked_recalls_the_best_and_keeps_the_order_of_the_rest():
    table = table_of(topic("one"), EMBEDDER)
    recall = ranked("which?", table, np.array([0, 5, 1, 5, 2, 3]))
    assert recall.recalled == (3, 1)
    assert [candidate.index for candidate in recall.branch_b.candidates] == [3, 1, 5, 4, 2, 0]
    assert ranked("which?", table, np.arange(6), rows=40).recalled == (5, 4, 3, 2, 1, 0)
    with pytest.raises(InputError, match="at least one row"):
        ranked("which?", table, np.arange(6), rows=0)


def test_a_variant_that_fails_at_every_question_but_the_trial_is_named():
    class Big(Plain):
        def ask(self, question, **options):
            if len(self.table) > 5:
                raise RuntimeError("too big")
            return super().ask(question, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("ilstma_lab.evaluation.variants.TRIED_ROWS", 5)
        board = compare({"big": Big}, TOPICS)
    assert board.ranked[-1] == "big"
    assert board.verdict("big") == "not measured"
    assert next(board.notes()).startswith("big failed at every question: RuntimeError: too big")
    assert "nan" not in str(board)


def test_a_leaderboard_in_a_list_is_short_and_explains_only_its_columns():
    board = compare({"two": Last(rows=2)}, TOPICS)
    assert len(repr(board)) < 200
    assert not any(metric in " ".join(board.notes()) for metric in ("hit@k", "MRR", "A alone", "tokens"))
    assert "MRR" in " ".join(board.card("two").remarks)
    assert "hit@k" not in " ".join(board.card("two").remarks)


def test_no_variant_and_an_unknown_baseline():
    with pytest.raises(InputError, match="no variant"):
        compare({}, TOPICS)
    with pytest.raises(InputError, match="nobody"):
        compare({"mine": Config()}, TOPICS, baseline="nobody")
    with pytest.raises(InputError, match="no question"):
        compare({"mine": Config()}, [replace(TOPICS[0], questions=())])


def test_a_part_starts_anew_for_each_topic():
    class Remembers(Last):
        def __init__(self):
            super().__init__()
            self.tables = []

        def retrieve(self, question, table, *, now):
            self.tables.append(table.topic)
            assert len(set(self.tables)) == 1
            return super().retrieve(question, table, now=now)

    mine = Remembers()
    board = compare({"mine": mine}, TOPICS)
    assert not board.bench.failures("mine")
    assert mine.tables == []


def test_another_variant_may_be_the_baseline_and_others_stand_beside():
    board = compare({"mine": Last(), "two": Last(2)}, [topic("one")], baseline="two", beside=["constant"])
    assert board.bench.systems == ("mine", "two", "constant answer")
    assert board.baseline == "two"


# -- the card ----------------------------------------------------------------------------------------------------------


def test_the_card_says_all_that_is_needed_to_measure_again(tmp_path):
    board = compare({"mine": Last(rows=2)}, TOPICS, date="2026-05-01")
    card = board.card("mine")
    for text in (str(card), card.to_markdown()):
        for said in ("rows=2", "ilstma", "2026-05-01", "12 questions", "def retrieve(self, question, table, *, now)", "n = 12"):
            assert said in text.replace("\\", ""), said
    assert "def retrieve" in card._repr_html_()
    assert card.save(tmp_path / "card.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert card.save(tmp_path / "card.md").read_text(encoding="utf-8").startswith("# mine")
    with pytest.raises(InputError, match="cannot be written"):
        card.save(tmp_path / "no" / "card.md")
    with pytest.raises(InputError, match="no variant 'yours'"):
        board.card("yours")


def test_g6_a_hostile_name_and_a_hostile_source_stay_text():
    @dataclass
    class Hostile(Last):
        note: str = HOSTILE

    board = compare({HOSTILE: Hostile()}, [replace(topic(HOSTILE), name=HOSTILE)])
    card = board.card(HOSTILE)
    for page in (board._repr_html_(), card._repr_html_(), card.to_html()):
        assert "<img" not in page
    outside = card.to_markdown().split("```")[::2]
    assert not any("<img" in part.replace("\\<", "") for part in outside)


def test_roles_are_the_protocols_methods():
    from ilstma_lab import protocols

    known = {"retrieve": "Retriever", "select": "Prefetcher", "judge": "HitJudge", "read": "Reader", "summarize": "Summarizer"}
    known |= {"merge": "Merger", "profile": "Profiler", "answer": "Responder"}
    assert {role.method for role in ROLES} == set(known)
    assert all(hasattr(getattr(protocols, part), method) for method, part in known.items())
