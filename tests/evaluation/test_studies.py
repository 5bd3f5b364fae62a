"""MemoryBank's three studies, on stubs: who was asked what, with which memory, and that all of it is shown as text."""

from __future__ import annotations

import pytest

from ilstma_lab import ILSTMA
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import RecallQuestion, load_topic
from ilstma_lab.evaluation.studies import SUNDAY, recall_study, two_personalities, with_and_without_memory
from tests.evaluation.bench_kit import HOSTILE, LATER, Plain, parts, topic
from tests.stubs import StubResponder, quoting

MODELS = parts(responder=StubResponder(default=quoting))


def test_with_memory_it_knows_and_without_it_does_not():
    study = with_and_without_memory(ILSTMA, topic(), models=MODELS)
    assert [case.question for case in study.cases] == [q.question for q in topic().questions[:3]] + ["What is my shoe size?"]
    knows, blank = study.cases[0].answers
    assert "noted guesthouse harbour seagulls" in knows.answer
    assert knows.rows[0].startswith("2023-05-01: guesthouse")
    assert blank.answer == "I do not remember."
    assert blank.rows == ()
    assert study.cases[0].remark == "Label: guesthouse harbour seagulls."


def test_another_system_may_stand_for_no_memory():
    study = with_and_without_memory(ILSTMA, topic(), topic().questions[:1], without=Plain, models=MODELS)
    assert study.cases[0].answers[1].answer == "guesthouse"


def test_recall_asks_for_what_was_never_said_too():
    study = recall_study(Plain, topic(), models=MODELS)
    assert [case.remark.partition(":")[0] for case in study.cases] == ["Label"] * 3 + ["Never said"]
    assert {case.answers[0].who for case in study.cases} == {"plain"}


def test_two_people_ask_one_question():
    study = two_personalities(ILSTMA, (topic("one"), topic("two")), models=MODELS)
    (case,) = study.cases
    assert case.question == SUNDAY
    assert [said.who for said in case.answers] == ["one", "two"]
    with pytest.raises(InputError, match="two personalities"):
        two_personalities(ILSTMA, (topic(),), models=MODELS)


def test_the_bundled_topics_have_what_the_studies_ask_for():
    for name in ("love", "poetry"):
        kinds = {question.kind for question in load_topic(name).questions}
        assert {"recall", "never_said"} <= kinds


def test_a_failing_model_is_shown_as_such():
    broken = parts(responder=StubResponder(default=RuntimeError("out of words")))
    study = recall_study(ILSTMA, topic(), topic().questions[:1], models=broken)
    assert "out of words" in study.cases[0].answers[0].failure
    assert "out of words" in str(study)
    assert "out of words" in study._repr_html_()


def test_g6_what_was_said_stays_text():
    models = parts(responder=StubResponder(default=HOSTILE))
    asked = RecallQuestion("x", HOSTILE, LATER, label=HOSTILE)
    study = recall_study(ILSTMA, topic(HOSTILE), [asked], models=models)
    assert "<img" not in study._repr_html_()
    assert HOSTILE in str(study)
