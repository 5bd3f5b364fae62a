"""The summary stepper: every line on the screen is the merger's own decision, and what is given stays as it was."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest

from ilstma_lab import ILSTMA, Config, Dialogue, ManualClock, MemoryTable
from ilstma_lab.errors import InputError, ModelError
from ilstma_lab.evaluation.summary_replay import SummaryReplay
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.models.extractive_summary import ExtractiveMerger
from ilstma_lab.summaries import SummarySettings
from ilstma_lab.widgets.summary_example import example_dialogues
from ilstma_lab.widgets.summary_stepper import QUESTION_CHARACTERS, SummaryStepper
from ilstma_lab.widgets.summary_view import portrait_changes
from tests.stubs import DAY_0, StubMerger, StubSummarizer, stub_lab, table_of

ATTACK = "</script><img src=x onerror=alert(1)>"
WORDS = HashedEmbedder(dim=256)


@pytest.fixture(scope="module")
def mara() -> MemoryTable:
    return MemoryTable.from_dialogues(example_dialogues(), topic="Mara")


@pytest.fixture
def stepper(mara) -> SummaryStepper:
    lab = SummaryStepper(mara, step=2)
    assert lab.wait(60)
    return lab


def at(lab: SummaryStepper, **values) -> SummaryStepper:
    lab.set(**values)
    assert lab.wait(60)
    assert lab.error is None
    return lab


def test_the_parts_on_the_screen_are_what_the_merger_returns(mara, stepper):
    step = SummaryReplay(mara).upto(2)
    merged, _ = ExtractiveMerger(mara.embedder).merge(step.nearest.text, step.written)
    assert "\n".join(part.line for part in step.parts) == merged == step.set(1).text
    panel = stepper.drawing.panels["merge"]
    for part in step.parts:
        assert part.kind in panel
        assert part.line in panel
    assert stepper.drawing.finding == "Group 2 of 4: 1 line of set 1 overwritten, 5 added, one set"
    assert "→</i>overwritten" in panel
    assert "+</i>new" in panel
    assert "=</i>kept" in panel


def test_one_set_or_two_and_why(stepper):
    assert "One set. " in stepper.drawing.panels["merge"]
    at(stepper, step=3)
    panel = stepper.drawing.panels["merge"]
    assert "Two sets. " in panel
    nearest = max(part.similarity for part in stepper.compute(stepper.parameters).step.parts if part.kind == "new")
    assert f"The nearest pair of lines has a cosine of {nearest:.3f}".replace("0.", ".") in panel
    assert "below .700. Both stay as they are, set 1 and set 2." in panel
    at(stepper, step=1)
    assert "It is the first" in stepper.drawing.panels["merge"]
    assert "meets none" in stepper.drawing.panels["written"]


def test_similarity_decides_what_is_overwritten(stepper):
    stepper.preset("Looser, 0.65")
    assert stepper.wait(60)
    assert "2 lines of set 1 overwritten" in stepper.drawing.finding
    at(stepper, step=4, similarity=0.8)
    assert "Ingrid" in stepper.compute(stepper.parameters).step.set(1).text
    at(stepper, similarity=0.7)
    assert "Ingrid" not in stepper.compute(stepper.parameters).step.set(1).text


def test_a_question_gets_the_set_that_the_engine_chooses(mara, stepper):
    lab = ILSTMA(mara.fork(), clock=ManualClock.after(mara))
    lab.summarise()
    for question in ("When does my train to Oslo leave?", "What ate my tomatoes?"):
        from ilstma_lab.protocols import Query

        number, cosine = lab.summaries.choose(Query(question, DAY_0, mara.embedder), lab.table)
        at(stepper, step=4, question=question)
        panel = stepper.drawing.panels["injected"]
        assert f"Summary: set {number + 1}" in panel
        assert f"{cosine:.3f}"[1:] in panel
    at(stepper, question="  ")
    assert "Type a question" in stepper.drawing.panels["injected"]


def test_the_personality_grows_by_lines(stepper):
    at(stepper, step=1)
    assert "+</i>added" in stepper.drawing.panels["portrait"]
    at(stepper, step=2)
    panel = stepper.drawing.panels["portrait"]
    assert "2 changed, 1 kept" in panel
    assert "read 5," in panel
    assert "read 10," in panel


def test_portrait_lines_added_changed_kept_and_dropped():
    before, after = "likes rain\nMood: glad 1\nasks briefly", "asks briefly\nMood: glad 2\nTurns: 3"
    assert [(part.kind, part.old, part.new) for part in portrait_changes(before, after)] == [
        ("dropped", "likes rain", ""),
        ("overwritten", "Mood: glad 1", "Mood: glad 2"),
        ("kept", "asks briefly", ""),
        ("new", "", "Turns: 3"),
    ]


def test_nothing_is_written_to_what_is_given():
    table = table_of(12)
    lab = ILSTMA(
        table, Config(summaries=SummarySettings(group_size=3)), models=offline(table.embedder), clock=ManualClock.after(table)
    )
    lab.summarise()
    before, portrait, changes = table.summaries, table.personality, len(table.changes)
    shown = at(SummaryStepper(lab), step=4, question="seagulls", similarity=0.5)
    assert (table.summaries, table.personality, len(table.changes)) == (before, portrait, changes)
    assert "4 groups of 3" in shown.drawing.sub
    assert shown.drawing.code.endswith("SummaryReplay(table, models=models, group_size=3).upto(4).parts")


@pytest.mark.parametrize("similarity", [0.7, 0.65])
@pytest.mark.parametrize("given", ["table", "lab", "dialogues"])
def test_the_code_gives_the_parts_that_are_shown(mara, given, similarity):
    names: dict = {"table": mara, "lab": ILSTMA(mara, clock=ManualClock.after(mara)), "dialogues": example_dialogues()}
    stepper = at(SummaryStepper(names[given]), step=2, similarity=similarity)
    load, _, call = stepper.drawing.code.rpartition("\n")
    exec(load, names)
    assert eval(call, names) == stepper.compute(stepper.parameters).step.parts


def test_another_merger_is_labelled_and_has_no_similarity():
    lab = SummaryStepper(stub_lab(10, summarizer=StubSummarizer(), merger=StubMerger("rows in one")), step=2)
    assert lab.wait(30)
    assert "read off what the model wrote" in lab.drawing.panels["merge"]
    assert "×</i>dropped" in lab.drawing.panels["merge"]
    assert lab.presets == {}
    assert lab.controls["similarity"].layout.display == "none"
    lab = SummaryStepper(stub_lab(10, summarizer=StubSummarizer(), merger=StubMerger(None)), step=2)
    assert lab.wait(30)
    assert "The merger found nothing similar." in lab.drawing.panels["merge"]


def test_while_a_group_is_computed_the_screen_says_so(mara, monkeypatch):
    go_on = threading.Event()
    slow = SummaryStepper.refine
    monkeypatch.setattr(SummaryStepper, "refine", lambda lab, p, result: (go_on.wait(20), slow(lab, p, result))[1])
    lab = SummaryStepper(mara, step=3)
    try:
        assert lab.drawing.finding == "Group 3 of 4: 0 done so far"
        assert "Group 1 of 4 is being summarised" in lab.static()
    finally:
        go_on.set()
    assert lab.wait(60)
    assert lab.drawing.finding.startswith("Group 3 of 4: nothing similar")


def test_a_model_that_fails_is_told_and_what_was_done_stays():
    def fail(rows):
        if rows[0].index >= 5:
            raise ModelError("the endpoint is down")
        return "a first set"

    lab = SummaryStepper(stub_lab(10, summarizer=StubSummarizer(fail)))
    assert lab.wait(30)
    lab.step.value = 2
    assert lab.wait(30)
    assert isinstance(lab.error, ModelError)
    assert "down" in lab._screen.head.view["error"]
    lab.step.value = 1
    assert lab.wait(30)
    assert (lab.error, lab.drawing.finding) == (None, "Group 1 of 2: the first set, 1 line")


def test_state_and_python_make_the_same_again(mara):
    lab = SummaryStepper(mara, step=3, question="Who's Ingrid?")
    assert lab.wait(60)
    again = SummaryStepper.from_state(json.dumps(lab.state()), mara)
    assert again.wait(60)
    assert again.state() == lab.state()
    names: dict = {"table": mara}
    load, _, call = lab.python().rpartition("\n")
    exec(load, names)
    made = eval(call, names)
    assert made.wait(60)
    assert made.state() == lab.state()
    assert made.text() == lab.text()


@pytest.mark.parametrize("words", [ATTACK, "\u202eright to left שלום", "a" * 200_000, "# *Markdown* `code` ~/path"])
def test_g6_hostile_text_stays_text_and_is_cut_with_a_mark(words):
    dialogues = [Dialogue(f"{words} number {at} on Monday.", words, DAY_0.replace(day=1 + at)) for at in range(10)]
    with pytest.warns(UserWarning, match="found by its first") if len(words) > 20_000 else _nothing():
        table = MemoryTable.from_dialogues(dialogues, embedder=WORDS, topic=words[:80])
    lab = SummaryStepper(table, step=2, question=words[:QUESTION_CHARACTERS])
    assert lab.wait(60)
    assert lab.error is None
    for shown in (lab.static(), *lab.drawing.panels.values(), lab.drawing.live):
        assert "<img" not in shown
        assert "</script" not in shown
        assert "\u202e" not in shown
    assert len(lab.static()) < 120_000
    if len(words) > 20_000:
        assert "aaa…" in lab.static()
        assert all(len(text) < 20_000 for text in (lab.text(), lab.drawing.finding, lab.drawing.sub))


class _nothing:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return False


def test_a_portrait_by_another_hand_is_escaped_too():
    table = table_of(5)
    models = replace(offline(WORDS), embedder=table.embedder)
    models = replace(models, profiler=type("P", (), {"profile": lambda self, old, rows: (ATTACK, ())})())
    lab = SummaryStepper(ILSTMA(table, models=models, clock=ManualClock.after(table)))
    assert lab.wait(30)
    assert "&lt;img src=x" in lab.drawing.panels["portrait"]


def test_what_cannot_be_stepped_through_is_refused():
    with pytest.raises(InputError, match="no full group of 5"):
        SummaryStepper(table_of(4))
    with pytest.raises(InputError, match="lab, a table or dialogues"):
        SummaryStepper("travel.json")
    with pytest.raises(InputError, match="at most 500 characters"):
        SummaryStepper(table_of(5), question="x" * 501)


def test_one_group_alone_has_one_step():
    lab = SummaryStepper(table_of(7), step=2)
    assert lab.wait(30)
    assert lab.parameters.step == 1
    assert "1 group of 5, 2 rows not in a full group" in lab.drawing.sub


def test_a_long_question_from_the_browser_is_cut():
    lab = SummaryStepper(table_of(5))
    lab.question.value = "y" * 9_000
    assert lab.wait(30)
    assert (lab.error, len(lab.parameters.question)) == (None, QUESTION_CHARACTERS)


def test_the_example_and_dialogues_need_no_table():
    lab = SummaryStepper.example(step=4)
    assert lab.wait(60)
    assert "2 lines of set 1 overwritten" in lab.drawing.finding
    names: dict = {}
    load, _, call = lab.drawing.code.rpartition("\n")
    exec(load, names)
    assert eval(call, names) == lab.compute(lab.parameters).step.parts
    load, _, call = lab.python().rpartition("\n")
    assert call == "SummaryStepper.example(step=4)"
    exec(load, names)
    assert "SummaryStepper(dialogues, step=4)" in SummaryStepper(example_dialogues()[:10], step=2).python().replace("=2", "=4")
