"""What a recording comes to: seconds, hits, and hits whose answer lacks a fact; as text and as HTML."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import RecallQuestion
from ilstma_lab.evaluation.recorded import AskedTwice, missing_facts, recorded_report
from ilstma_lab.models.call import Call
from ilstma_lab.retrieval.recall import Reading
from ilstma_lab.trace import Verdict
from tests.stubs import DAY_0, StubJudge, StubReader, asking, stub_lab

READ = Call("read", "m", (("user", "read"),), "null", 4.0, 380, 2)


def judged(hit: bool, answer: str = "") -> Verdict:
    prompt, reply = (50, 25) if hit else (90, 1)
    call = Call("judge", "m", (("user", f"judge {answer}"),), answer, prompt / 100 + reply / 10, prompt, reply)
    return Verdict(hit, answer, calls=(call,))


QUESTIONS = (
    RecallQuestion("q-1", asking(3), DAY_0, facts=("office",)),
    RecallQuestion("q-2", "Which dose?", DAY_0, label="150 micrograms", facts=("150 micrograms",)),
    RecallQuestion("q-3", "Which <b>hour</b>?", DAY_0, label="At seven.", facts=("seven",)),
    RecallQuestion("q-4", "What did I never say?", DAY_0, kind="never_said", label="You never said it."),
    RecallQuestion("q-5", asking(5), DAY_0),
)
SCRIPT = {
    "Which dose?": judged(True, "It is 150  Micrograms."),
    "Which <b>hour</b>?": judged(True, "At <i>nine</i>."),
    "What did I never say?": judged(True, "A secret."),
}


def asked() -> list[AskedTwice]:
    reader = StubReader(default=Reading(None, calls=(READ,)))
    labs = [stub_lab(8, judge=judge, reader=reader) for judge in (StubJudge(SCRIPT, default=judged(False)), StubJudge())]
    return [AskedTwice(q, *(lab.ask(q.question, at=q.asked_at, remember=False) for lab in labs)) for q in QUESTIONS]


def test_the_report_counts_and_times_what_was_asked():
    report = recorded_report(asked())
    assert (report.n, report.hits, report.judged, report.failed) == (5, 3, 4, 0)
    assert report.with_prefetch.mean == pytest.approx((4.0 + 3 * 3.0 + 5.0) / 5)
    assert report.without.mean == 4.0
    assert report.difference.mean == pytest.approx(report.with_prefetch.mean - 4.0)
    assert (report.judge_hit_seconds, report.judge_miss_seconds) == (3.0, 1.0)
    assert (report.parts.judge_seconds, report.parts.full_seconds) == (2.5, 4.0)
    assert report.tokens == pytest.approx(((2 * 382 + 3 * 75 + 91) / 5, 382))
    assert (report.speeds.prompt_per_second, report.speeds.reply_per_second) == pytest.approx((100, 10))


def test_a_hit_without_the_labels_fact_is_false_and_one_without_facts_is_left_to_the_reader():
    report = recorded_report(asked())
    assert [(hit.question.id, hit.missing) for hit in report.false_hits] == [("q-3", ("seven",))]
    assert [hit.question.id for hit in report.unchecked] == ["q-4"]
    assert (report.facts_held, report.with_facts) == ((1, 0), 3)


def test_text_and_html_say_the_same_and_escape_what_was_said():
    report = recorded_report(asked())
    text, html = str(report), report._repr_html_()
    for said in ("3 of 5 (60 %), 4 judged", "False hits, a fact of the label is missing: 1 of 2"):
        assert said in text
        assert said in html
    assert "<i>nine" not in html
    assert "&lt;i&gt;nine&lt;/i&gt;" in html
    assert "&lt;b&gt;hour&lt;/b&gt;" in html


def test_a_turn_that_failed_is_told():
    one, *others = asked()
    failure = stub_lab(2, responder=None).ask("?").failure
    broken = replace(one, full=replace(one.full, failure=failure))
    assert recorded_report([broken, *others]).failed == 1
    assert "failed turns" in str(recorded_report([broken, *others]))


def test_facts_are_compared_word_for_word_without_case_and_spacing():
    assert missing_facts("At SEVEN\n o'clock", ["seven o'clock", "nineteen"]) == ("nineteen",)
    assert missing_facts("", []) == ()


def test_nothing_asked_is_refused():
    with pytest.raises(InputError, match="nothing was asked"):
        recorded_report([])
