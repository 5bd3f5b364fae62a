"""The case studies without a browser: every number on the screen is the case's own, and buttons are messages."""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from dataclasses import replace

import pytest

from ilstma_lab import Config, Dialogue, MemoryTable
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.cases import Case, case_of
from ilstma_lab.evaluation.referee import RULES, evaluate_referee
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.models.sentences import content_words
from ilstma_lab.reprs.words import score
from ilstma_lab.retrieval.dual import DualRetriever
from ilstma_lab.retrieval.recall import BranchA, BranchB, Candidate, Chunk, Reading, Recall
from ilstma_lab.widgets import RetrievalCases
from ilstma_lab.widgets.retrieval_example import SCRIPT
from ilstma_lab.widgets.retrieval_gallery import Choice, gallery
from ilstma_lab.widgets.retrieval_view import _marked, case_html
from ilstma_lab.widgets.retrieval_words import finding
from tests.evaluation.test_referee import EMBEDDER, SAID, thinking, topic
from tests.stubs import DAY_0, StubReader, asking, stub_lab, table_of

ATTACK = "</script><img src=x onerror=alert(1)>"


def texts(markup: str) -> str:
    """The words of some HTML, tags gone."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def press(cases: RetrievalCases, **message) -> None:
    """Do what the browser does."""
    cases._gallery._handle_custom_msg(message, [])


@pytest.fixture(scope="module")
def report():
    reader = StubReader({asking(n): reading for n, reading in SAID.items()})
    return evaluate_referee([topic(), topic("second")], models=thinking(reader=reader), data="stub")


@pytest.fixture
def cases(report) -> RetrievalCases:
    return RetrievalCases(report)


@pytest.fixture(scope="module")
def example() -> RetrievalCases:
    return RetrievalCases.example(models=thinking())


# -- what is shown is the case's own -------------------------------------------------------------------------------------


def test_every_score_and_row_of_both_branches_stands_on_the_screen(cases):
    for at, case in enumerate(cases.report.cases):
        cases.show(at)
        shown = texts(cases._case.value)
        for chunk in case.recall.branch_a.chunks[:6]:
            assert score(chunk.score) in shown
        for candidate in case.recall.branch_b.candidates[:8]:
            assert f"{candidate.index} " in shown
            assert score(candidate.score) in shown
            user, assistant = case.rows[candidate.index]
            assert user in shown
            assert assistant in shown


def test_bars_are_as_long_as_their_scores_say_on_one_scale(cases):
    recall = cases.case.recall
    top = max(each.score for each in (*recall.branch_a.chunks, *recall.branch_b.candidates))
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%", cases._case.value)]
    scores = [each.score for each in (*recall.branch_a.chunks[:6], *recall.branch_b.candidates[:8])]
    assert widths == [pytest.approx(100 * max(value, 0) / top, abs=0.06) for value in scores]


def test_the_cut_line_stands_below_bs_winners_and_says_how_far_the_next_is(cases):
    candidates = cases.case.recall.branch_b.candidates
    before, after = cases._case.value.split("top 2; the next is ")
    assert after.startswith(f"{score(candidates[1].score - candidates[2].score)} behind")
    ranked = before[before.index("Branch B") :]
    assert [int(row) for row in re.findall(r'class="rc b">(\d+)', ranked)] == list(cases.case.winners)


def test_gold_is_marked_in_words_wherever_it_is_shown(cases):
    for at, case in enumerate(cases.report.cases):
        cases.show(at)
        shown_b = [candidate.index in case.gold for candidate in case.recall.branch_b.candidates[:8]]
        ranked = cases._case.value[cases._case.value.index("Branch B") :]
        assert ranked.count('class="gold">gold') == sum(shown_b)


def test_the_passage_holds_the_named_row_and_marks_the_questions_words(cases):
    cases.show("stub-1")
    case = cases.case
    assert case.named == 6
    passage = re.search(r"<blockquote.*?</blockquote>", cases._case.value, re.DOTALL)[0]
    assert '<span class="rc a">6</span>' in passage
    cases.show("stub-0")
    passage = re.search(r"<blockquote.*?</blockquote>", cases._case.value, re.DOTALL)[0]
    marked = set(re.findall(r"<mark>(.*?)</mark>", passage))
    assert {word.lower() for word in marked} == content_words(cases.case.question)


def test_chinese_pairs_are_marked_as_one_stretch():
    assert _marked("我喜欢吃桂花糕。", content_words("桂花糕在哪里买？")) == "我喜欢吃<mark>桂花糕</mark>。"
    assert _marked("tea <b>tea</b>", content_words("tea?")) == "<mark>tea</mark> &lt;b&gt;<mark>tea</mark>&lt;/b&gt;"


def test_the_verdict_names_what_was_recalled(cases):
    for at, case in enumerate(cases.report.cases):
        cases.show(at)
        verdict = re.search(r'class="says">(.*?)</p>', cases._case.value)[1]
        assert [int(row) for row in re.findall(r">(\d+)</span>", verdict)] == list(case.recall.recalled)


def test_the_tables_are_the_reports(cases):
    shown = texts(cases._tables.value)
    for rule in RULES:
        assert f"{cases.report.found(rule)} of 24" in shown
        assert f"{cases.report.bands()[rule]['rows'].mean:.2f}" in shown
    for decision, (kept, lost) in cases.report.confusion.items():
        assert f"{decision.capitalize()} {kept} {lost}" in shown


def test_d4_a_row_that_does_not_exist_is_shown_as_no_such_row(cases):
    cases.show("stub-2")
    assert cases.case.decision == "invented"
    assert '<span class="rc none">99</span>: no such row' in cases._case.value
    assert "Is there a row 99 ?" in texts(cases._case.value)


@pytest.mark.parametrize(
    ("decision", "named", "recalled", "gold", "says"),
    [
        ("agree", 1, (1,), 1, "Both searches point to a row that holds the answer"),
        ("agree", 2, (2,), 1, "They agree on the wrong one of B’s two"),
        ("agree", 1, (1,), 9, "Both searches fall for the same row"),
        ("disagree", 5, (1, 2), 1, "A’s reading is fooled, B’s ranking is not"),
        ("disagree", 5, (1, 2), 5, "A’s reading is right, and the referee takes B’s"),
        ("disagree", 5, (1, 2), 9, "Both searches are fooled, each by rows of its own"),
        ("invented", None, (1, 2), 2, "A names no real row; B’s ranking has the answer"),
        ("unread", None, (1, 2), 9, "A has nothing to say, and B’s ranking misses the answer"),
        ("disagree", 5, (1, 2), None, "The searches disagree, so B’s two are recalled"),
        ("empty", None, (), None, "There is no row to find"),
    ],
)
def test_the_finding_says_what_happened(decision, named, recalled, gold, says):
    ranked = BranchB(tuple(Candidate(row, at, 1 - at / 9, won=True) for at, row in enumerate((1, 2)))) if recalled else BranchB()
    recall = Recall("q", recalled, decision, BranchA(named=named), ranked)
    assert finding(Case("t", "1", "q", recall, gold=() if gold is None else (gold,))) == says


# -- gallery and steps ---------------------------------------------------------------------------------------------------


def test_the_gallery_has_a_tile_for_each_case_by_kind_and_gold(cases):
    groups = {group["kind"]: group for group in cases._gallery.view["groups"]}
    assert {kind: group["count"] for kind, group in groups.items()} == Counter(c.decision for c in cases.report.cases)
    for kind, group in groups.items():
        for tile in group["tiles"]:
            case = cases.report.cases[tile["at"]]
            assert (case.decision, case.found) == (kind, tile["kept"] == "kept")
    assert cases._gallery.view["lost"]["count"] == sum(not case.found for case in cases.report.cases)


def test_steps_go_through_the_filter_and_stop_at_its_end(cases):
    press(cases, do="only", kind="invented")
    press(cases, do="lost")
    wanted = [at for at, c in enumerate(cases.report.cases) if c.decision == "invented" and not c.found]
    visited = [cases.choice.at]
    while cases._gallery.view["forth"]:
        press(cases, do="step", by=1)
        visited.append(cases.choice.at)
    assert visited == wanted
    press(cases, do="step", by=1)
    assert cases.choice.at == wanted[-1]
    press(cases, do="only", kind="invented")
    press(cases, do="lost")
    assert (cases.choice.only, cases.choice.lost) == ("", False)


def test_a_tile_opens_its_case_also_outside_the_filter(cases):
    press(cases, do="only", kind="agree")
    press(cases, do="open", at=2)
    assert cases.case.id == "stub-2"
    assert all(tile["pale"] for g in cases._gallery.view["groups"] if g["kind"] != "agree" for tile in g["tiles"])


def test_h3_the_same_steps_from_python_and_from_the_browser(report):
    one, other = RetrievalCases(report), RetrievalCases(report)
    one.filter("disagree", lost=False)
    one.step(1)
    press(other, do="only", kind="disagree")
    press(other, do="step", by=1)
    assert one.state() == other.state() == json.loads(json.dumps(one.state()))
    assert one._case.value == other._case.value


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"do": "open"},
        {"do": "open", "at": 10**9},
        {"do": "open", "at": "1"},
        {"do": "only", "kind": "x"},
        {"do": "step", "by": 7},
    ],
)
def test_other_messages_are_ignored(cases, message):
    before = cases.state()
    press(cases, **message)
    assert cases.state() == before


def test_a_long_kind_sends_the_tiles_around_the_open_case(report):
    many = [replace(report.cases[0], id=str(n)) for n in range(500)]
    groups = gallery(many, Choice(at=250))["groups"]
    group = next(group for group in groups if group["count"])
    assert len(group["tiles"]) == 60
    assert (group["before"], group["after"]) == (220, 220)
    assert [tile["at"] for tile in group["tiles"] if tile["open"]] == [250]


def test_a_case_is_opened_by_its_id_or_place(report):
    assert RetrievalCases(report, case="second-4").choice.at == 16
    assert RetrievalCases(report, case=3).case.id == "stub-3"
    for wrong in ("nobody", 24, -1):
        with pytest.raises(InputError, match="no case"):
            RetrievalCases(report, case=wrong)
    with pytest.raises(InputError, match="no kind"):
        RetrievalCases(report).filter("maybe")


# -- where cases come from -----------------------------------------------------------------------------------------------


def test_topics_are_asked_offline():
    shown = RetrievalCases([topic()], models=thinking())
    assert [case.id for case in shown.report.cases] == [f"stub-{n}" for n in range(12)]
    alone = RetrievalCases(topic(), models=thinking())
    assert [case.recall.recalled for case in alone.report.cases] == [case.recall.recalled for case in shown.report.cases]


@pytest.mark.parametrize("nothing", [[], [3], ["travel"]])
def test_what_holds_no_case_is_refused(nothing):
    with pytest.raises(InputError, match=r"no case|give topics"):
        RetrievalCases(nothing)


def test_a_live_question_is_shown_without_gold_and_touches_nothing():
    lab = stub_lab(reader=StubReader({asking(3): Reading(3)}))
    shown = RetrievalCases.of(lab, asking(3))
    assert shown.case.recall.recalled == (3,)
    assert shown._gallery.view["finding"] == "Both searches point to the same row"
    assert shown._gallery.view["groups"] == []
    assert "gold" not in texts(shown._case.value)
    assert (len(lab.turns), len(lab.table.recalls), len(lab.table)) == (0, 0, 8)
    turn = lab.ask(asking(3))
    assert RetrievalCases.of(lab, turn.recall).case.recall is turn.recall
    with pytest.raises(InputError, match="blank"):
        RetrievalCases.of(lab, " ")


def test_an_empty_table_has_a_case_too():
    shown = RetrievalCases.of(stub_lab(0), "Where?")
    assert shown.case.decision == "empty"
    assert "There is no row to find" in shown.text()


def test_the_examples_scripted_readings_are_labelled_and_not_counted(example):
    scripted = [at for at, case in enumerate(example.report.cases) if case.scripted]
    assert len(scripted) == len(SCRIPT)
    assert {example.report.cases[at].decision for at in scripted} == {"invented"}
    assert example.report.confusion["invented"] == (0, 0), "the offline reader invents no row"
    assert len(example.report) == len(example.report.cases) - len(SCRIPT)
    for at in scripted:
        example.show(at)
        for shown in (example._case.value, example.static(), example.text()):
            assert "No reader gave it, and no table counts it" in texts(shown)
        assert "scripted" in example._gallery.view["eyebrow"]
    assert f"{len(SCRIPT)} scripted readings not counted" in texts(example._tables.value)


def test_measured_scores_have_their_parts_named_and_a_scale_of_their_own():
    shown = RetrievalCases(topic(), config=Config.measured(), models=thinking())
    assert "score of each dialogue: cosine, words" in texts(shown._case.value)
    widths = [float(width) for width in re.findall(r"width:([\d.]+)%", shown._case.value)]
    assert widths.count(100.0) == 2


# -- text is text --------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:a dialogue of")
@pytest.mark.parametrize("text", [ATTACK, "[x](javascript:alert(1)) `rm` C:\\x", "\u202eabc", "😀 عربى", "w" * 200_000])
def test_g6_whatever_was_said_is_shown_as_text(text):
    table = MemoryTable.from_dialogues([Dialogue(text, text, DAY_0)] * 3, embedder=HashedEmbedder(dim=64), topic=ATTACK)
    reader = StubReader(default=Reading(None, text, text))
    recall = DualRetriever(Config().retrieval, reader=reader).retrieve(text, table, now=DAY_0)
    shown = RetrievalCases([case_of(recall, table, id=ATTACK, gold=[0])], case=ATTACK)
    bundle = shown._repr_mimebundle_()
    for markup in (shown._case.value, shown._tables.value, bundle["text/html"]):
        assert "<img" not in markup
        assert "<script" not in markup
        assert "\u202e" not in markup
        assert len(markup) < 60_000
    json.dumps(shown._gallery.view)
    assert "\u202e" not in shown._gallery.view["question"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_a_number_in_brackets_inside_a_text_is_no_row(report):
    chunk = Chunk(0, (3, 4), "[3] see [4] there\n[99] and\n[4] four", 0.5)
    recall = Recall("q", (3,), "agree", BranchA((chunk,), 1, named=3), BranchB((Candidate(3, 0, 0.4, won=True),)))
    passage = re.search(r"<blockquote.*?</blockquote>", case_html(Case("t", "1", "q", recall)), re.DOTALL)[0]
    assert re.findall(r'class="rc[ a]*">(\d+)<', passage) == ["3", "4"]


def test_a_failed_branch_is_said():
    table = table_of(8)
    retriever = DualRetriever(Config().retrieval, reader=StubReader(default=ConnectionError(ATTACK)))
    shown = case_html(case_of(retriever.retrieve(asking(3), table, now=DAY_0), table))
    assert "A failed" in shown
    assert "<img" not in shown


def test_the_copied_code_and_the_state_name_the_case(cases):
    cases.show("stub-5")
    assert "case='stub-5'" in cases._foot.view["python"]
    assert json.loads(cases._foot.view["state"])["case"] == "stub-5"
    assert EMBEDDER.dim == 64


def test_what_is_no_case_step_or_question_is_refused(cases):
    for wrong in (1.5, True, None, -1, "none"):
        with pytest.raises(InputError, match="no case"):
            cases.show(wrong)
    with pytest.raises(InputError, match="a step is 1 or -1"):
        cases.step(0)
    with pytest.raises(InputError, match="give a question"):
        RetrievalCases.of(stub_lab(3), None)
    with pytest.raises(InputError, match="give a lab"):
        RetrievalCases.of(None, "Where?")
    with pytest.raises(InputError, match="give topics"):
        RetrievalCases(None)


def test_the_copied_code_runs_or_says_what_stands_for_what(report, example):
    lab = stub_lab(6)
    recall = lab.retriever.retrieve("Where?", lab.table, now=lab.clock.now())
    given = {
        "report": RetrievalCases(report),
        "topics": RetrievalCases(topic(), models=thinking()),
        "lab": RetrievalCases.of(lab, "Where?"),
        "recall": RetrievalCases.of(lab, recall),
        "example": example,
    }
    names = {"report": report, "topics": topic(), "models": thinking(), "lab": lab, "recall": recall}
    for shown in given.values():
        code = shown._foot.view["python"]
        exec(code.replace("\n\nRetrievalCases", "\n\nagain = RetrievalCases"), names)
        assert names["again"].state() == shown.state()
        assert finding(names["again"].case) == finding(shown.case)
        assert len(eval(shown._foot.view["code"].rpartition("\n")[2], names)) == len(shown.to_frame())
    assert given["report"]._foot.view["python"].endswith("# report: as evaluate_referee returns it")
    assert "RetrievalCases.of(lab, recall)  # the recall for 'Where?'" in given["recall"]._foot.view["python"]
