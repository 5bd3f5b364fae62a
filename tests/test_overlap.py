"""Recall started with the judge: the same decisions, rows and table as without, and both truly at one time."""

from __future__ import annotations

import re
import threading
from dataclasses import replace

import pytest

from benchmarks.local_endpoint import LocalEndpoint
from ilstma_lab import ILSTMA, Config, ManualClock, MemoryTable, endpoint, offline
from ilstma_lab.errors import ModelError
from ilstma_lab.evaluation.datasets import load_topic
from ilstma_lab.evaluation.timing import wasted_tokens
from ilstma_lab.models.call import Call
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.prefetch.selection import Selection
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.replay import compare
from ilstma_lab.retrieval.dual import DualRetriever
from ilstma_lab.retrieval.recall import Reading
from ilstma_lab.summaries import SummarySettings
from ilstma_lab.trace import Turn, Verdict
from tests.stubs import StubJudge, StubReader, StubResponder, asking, stub_lab, table_of

NO_SUMMARIES = SummarySettings(group_size=50)
PLAIN = Config(summaries=NO_SUMMARIES)
OVERLAP = replace(PLAIN, overlap=True)
YES = Verdict(True, "Yes.", (3,))
NOT_NEEDED = "started with the judge, not needed: the judge answered"
READ = Call("read", "stub", (("user", "read"),), "null", 0.0, 100, 10)


def order(turn) -> list[int]:
    return [step.number for step in turn.steps]


def hitting_lab(config=OVERLAP, *, verdict=YES, **options) -> ILSTMA:
    """A lab after one miss about row 3; the judge hits at "Again?", the reader has a call to show."""
    options = {"reader": StubReader(default=Reading(None, calls=(READ,))), **options}
    lab = stub_lab(8, config, judge=StubJudge({"Again?": verdict}), **options)
    lab.ask(asking(3))
    return lab


def table_state(table) -> tuple:
    rows = [(e.index, e.text, e.recall_times, e.last_recall, e.kind, e.cites) for e in table]
    return rows, table.waiting, table.recalls, table.summaries, table.unanswered


def assert_same(one: ILSTMA, other: ILSTMA) -> None:
    """Both labs have decided, recalled, cached and written the same."""
    assert all(not difference for difference in compare(one.turns, other.turns))
    assert [turn.recall and turn.recall.recalled for turn in one.turns] == [t.recall and t.recall.recalled for t in other.turns]
    assert [turn.verdict and turn.verdict.reason for turn in one.turns] == [t.verdict and t.verdict.reason for t in other.turns]
    assert table_state(one.table) == table_state(other.table)
    assert one.memory.state() == other.memory.state()


# -- the same as without -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trigger", ["miss", "every"])
def test_a_scripted_session_is_the_same_with_and_without(trigger):
    script = {"hit 0": Verdict(True, "Yes.", (3,)), "hit 1": Verdict(True, "Yes."), "hit 2": Verdict(True, "", None)}
    questions = [asking(3), "hit 0", asking(5), "hit 1", "hit 2", "My sister moved.", asking(3), "hit 0", asking(6)]
    labs = [
        stub_lab(8, Config(prefetch=WindowPrefetch(trigger=trigger), overlap=overlap), judge=StubJudge(script))
        for overlap in (False, True)
    ]
    for number, question in enumerate(questions):
        for lab in labs:
            lab.clock.advance(days=1)
            lab.ask(question, remember=number % 2 == 0)
    assert sum(turn.hit for turn in labs[0].turns) == 4
    assert_same(*labs)


def test_an_offline_session_is_the_same_with_and_without():
    topic, embedder = load_topic("travel"), HashedEmbedder(256)
    labs = []
    for overlap in (False, True):
        table = MemoryTable.from_dialogues(topic.dialogues, embedder=embedder, topic=topic.name)
        config = replace(Config.measured(), overlap=overlap)
        labs.append(ILSTMA(table, config, models=offline(embedder), clock=ManualClock.after(table)))
        for question in topic.questions[:8]:
            labs[-1].ask(question.question, at=question.asked_at)
    assert_same(*labs)


def test_a_session_at_an_endpoint_is_the_same_with_and_without():
    labs = []
    for overlap in (False, True):
        with LocalEndpoint(hits=lambda question: "Again" in question, waits={}).running() as served:
            labs.append(lab_at(served, replace(PLAIN, overlap=overlap)))
            for question in ("Again?", asking(5), "Again, please?", asking(2)):
                labs[-1].ask(question)
    assert [turn.hit for turn in labs[0].turns] == [False, True, False, True, False]
    assert_same(*labs)
    assert [wasted_tokens(lab.turns) for lab in labs] == [0, 2 * 110]


# -- what the turn shows -------------------------------------------------------------------------------------------------------


def test_steps_with_recall_ahead():
    lab = hitting_lab()
    hit, miss = lab.ask("Again?"), lab.ask(asking(5))
    assert order(lab.turns[0]) == [1, 2, 4, 6, 5, 9, 8, 7]  # the first turn is not judged, so there is nothing to overlap
    assert order(hit) == [1, 4, 2, 3, 9, 6, 8]
    assert order(miss) == [1, 4, 2, 6, 5, 9, 8, 7]


def test_a_hit_shows_what_was_spent_for_nothing_and_touches_nothing_by_it():
    lab, without = hitting_lab(), hitting_lab(PLAIN)
    turn, plain = lab.ask("Again?"), without.ask("Again?")
    assert (turn.hit, turn.recall, turn.recalled) == (True, None, (3,))
    assert (turn.step(6).note, turn.step(6).read, turn.step(6).wrote) == (NOT_NEEDED, {}, {})
    assert (turn.calls[6], turn.tokens[6], wasted_tokens([turn, plain])) == ((READ,), 110, 110)
    assert 6 not in plain.calls
    assert table_state(lab.table) == table_state(without.table)
    assert lab.memory.relevant == ()
    assert Turn.from_json(turn.to_json()) == turn
    assert NOT_NEEDED in str(turn)
    assert NOT_NEEDED in turn._repr_html_()


class Failing:
    def retrieve(self, question, table, *, now):
        raise AssertionError


def test_a14_a_recall_that_fails_ahead_is_told_as_without():
    turns = [hitting_lab(config, retriever=Failing()).ask(asking(5)) for config in (OVERLAP, PLAIN)]
    ahead, after = (turn.step(6) for turn in turns)
    assert re.fullmatch(r"AssertionError \(at test_overlap\.py:\d+\)", ahead.error)
    assert (ahead.error, ahead.note) == (after.error, after.note)
    assert [(turn.answer, turn.failure, turn.recalled, turn.recall) for turn in turns] == [("I see.", None, (), None)] * 2


def test_a_recall_that_fails_beside_a_hit_changes_nothing():
    turn = hitting_lab(retriever=Failing()).ask("Again?")
    assert (turn.hit, turn.answer, turn.failure) == (True, "Yes.", None)
    assert turn.step(6).error.startswith("AssertionError")
    assert turn.step(6).note == NOT_NEEDED


@pytest.mark.parametrize("question", ["Again?", asking(5)])
def test_a_failing_answer_keeps_the_question_and_what_was_spent(question):
    down = ModelError("down: ask again")
    lab = hitting_lab(verdict=Verdict(True, "", (3,)), responder=StubResponder({"Again?": down, asking(5): down}))
    state = lab.memory.state()
    turn = lab.ask(question)
    assert (turn.failure.kind, turn.hit, lab.memory.state()) == ("ModelError", False, state)
    assert turn.calls[6] == (READ,)
    assert lab.table.unanswered[0] == question


def test_a_failing_judge_is_a_miss_with_the_recall_that_was_started():
    lab = hitting_lab(verdict=ModelError("down"))
    turn = lab.ask("Again?")
    assert (turn.hit, order(turn)) == (False, [1, 4, 2, 6, 5, 9, 8, 7])
    assert turn.recall.recalled == turn.recalled != ()


class Watched(DualRetriever):
    """Notes which rows still waited for a vector when it was asked, and the threads that asked."""

    def retrieve(self, question, table, *, now):
        self.seen = (*getattr(self, "seen", ()), (table.pending_count, threading.current_thread() is threading.main_thread()))
        return super().retrieve(question, table, now=now)


def test_the_table_is_read_before_recall_begins():
    class Fragile(HashedEmbedder):
        broken = False

        def embed(self, texts, kind):
            if self.broken and kind == "row":
                raise ModelError("no vectors now")
            return super().embed(texts, kind)

    table = table_of(8)
    table.embedder = embedder = Fragile(dim=64)
    lab = stub_lab(table, OVERLAP, retriever=Watched(OVERLAP.retrieval, reader=StubReader()))
    lab.ask(asking(3))
    embedder.broken = True
    with pytest.warns(UserWarning, match="could not be embedded"):
        table.add(replace(next(iter(load_topic("travel").dialogues)), source="late"))
    embedder.broken = False
    assert table.pending_count == 1
    lab.ask(asking(5))
    assert lab.retriever.seen == ((0, True), (0, False))


def test_an_interrupt_waits_for_the_recall_and_leaves_the_memory_as_it_was():
    begun, ended = threading.Event(), threading.Event()

    def interrupt(query, memory):
        begun.wait(5)
        raise KeyboardInterrupt

    class Slow(DualRetriever):
        def retrieve(self, question, table, *, now):
            begun.set()
            found = super().retrieve(question, table, now=now)
            ended.set()
            return found

    lab = stub_lab(8, OVERLAP, judge=StubJudge({"Again?": interrupt}), retriever=Slow(OVERLAP.retrieval, reader=StubReader()))
    lab.ask(asking(3))
    ended.clear()
    state = lab.memory.state()
    with pytest.raises(KeyboardInterrupt):
        lab.ask("Again?")
    assert ended.is_set()
    assert lab.memory.state() == state


# -- at one time ---------------------------------------------------------------------------------------------------------------


def lab_at(server: LocalEndpoint, config: Config) -> ILSTMA:
    """A lab whose models are `server`, after a first turn, which is not judged."""
    table = table_of(8)
    models = replace(endpoint("scripted", base_url=server.base_url), embedder=table.embedder)
    lab = ILSTMA(table, config, models=models, clock=ManualClock.after(table))
    lab.ask(asking(3), remember=False)
    return lab


def test_judge_and_reading_are_served_at_one_time():
    """Each of the two is held back until the other has come: one after the other they would never be served."""
    meet = threading.Barrier(2, timeout=10).wait
    waits = {}
    with LocalEndpoint(hits=lambda question: "Again" in question, waits=waits).running() as server:
        lab = lab_at(server, OVERLAP)
        waits.update(judge=meet, read=meet)
        for question, hit, purposes in [(asking(5), False, {"judge", "read", "answer"}), ("Again?", True, {"judge", "read"})]:
            server.served.clear()
            assert lab.ask(question, remember=False).hit == hit
            served = {one.purpose: one for one in server.served}
            assert (len(server.served), set(served)) == (len(purposes), purposes)
            assert served["judge"].overlaps(served["read"])
            if not hit:
                assert max(served["judge"].ended, served["read"].ended) <= served["answer"].begun


def test_without_overlap_the_reading_begins_when_the_judge_has_ended():
    with LocalEndpoint(hits=lambda question: False, waits={}).running() as server:
        lab = lab_at(server, PLAIN)
        server.served.clear()
        lab.ask(asking(5), remember=False)
    judge, read, answer = server.served
    assert [one.purpose for one in server.served] == ["judge", "read", "answer"]
    assert judge.ended <= read.begun
    assert read.ended <= answer.begun


# -- whose trigger ---------------------------------------------------------------------------------------------------------------


class EveryTime:
    trigger = "every"

    def select(self, context):
        return Selection.of(context.recalled, note="what was recalled")


class Nothing:
    trigger = "miss"

    def select(self, context):
        return Selection(())


def test_the_trigger_is_that_of_the_prefetcher_that_was_given():
    lab = hitting_lab(PLAIN, prefetcher=EveryTime())
    turn = lab.ask("Again?")
    assert order(turn) == [1, 2, 3, 9, 8, 7]
    assert turn.segments_after[2].rows == (3,)
    lab = hitting_lab(Config(prefetch=WindowPrefetch(trigger="every"), summaries=NO_SUMMARIES), prefetcher=Nothing())
    assert order(lab.ask("Again?")) == [1, 2, 3, 9, 8]


def test_a_prefetcher_without_a_trigger_follows_the_config():
    class Plain:
        def select(self, context):
            return Selection.of(context.recalled)

    lab = hitting_lab(Config(prefetch=WindowPrefetch(trigger="every"), summaries=NO_SUMMARIES), prefetcher=Plain())
    assert 7 in order(lab.ask("Again?"))


@pytest.mark.parametrize("trigger", ["miss", "every"])
def test_a_prefetcher_that_chooses_nothing_leaves_an_empty_cache(trigger):
    nothing = Nothing()
    nothing.trigger = trigger
    lab = hitting_lab(PLAIN, prefetcher=nothing)
    for question in ("Again?", asking(5), "Again?"):
        lab.ask(question)
        assert lab.memory.cache == ()


def test_a_cache_that_was_taken_over_is_emptied_by_a_prefetcher_that_chooses_nothing():
    lab, nothing = hitting_lab(PLAIN), Nothing()
    nothing.trigger = "every"
    other = stub_lab(lab.table.fork(), judge=StubJudge({"Again?": Verdict(True, "Yes.", (3,))}), prefetcher=nothing)
    other.memory.restore(lab.memory.state())
    other._count = 1
    assert len(other.memory.cache) == 3
    assert other.ask("Again?").hit
    assert other.memory.cache == ()
