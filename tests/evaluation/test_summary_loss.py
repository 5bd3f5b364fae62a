"""Facts kept by group size, and the replay of a table's summaries that it counts in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ilstma_lab import ILSTMA, Config, ManualClock
from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.datasets import RecallQuestion, Topic, load_dataset, load_topic
from ilstma_lab.evaluation.grade_text import holds
from ilstma_lab.evaluation.summary_loss import SIZES, FactsKept, facts_kept
from ilstma_lab.evaluation.summary_replay import SummaryReplay
from ilstma_lab.models import offline
from ilstma_lab.models.embedders import HashedEmbedder
from ilstma_lab.plots.spec import titles
from ilstma_lab.plots.summaries import loss_spec
from ilstma_lab.summaries import SummarySettings
from tests.stubs import DAY_0, THINGS, StubMerger, StubSummarizer, said, table_of

QUICK = offline(HashedEmbedder(dim=256))


@pytest.fixture(scope="module")
def kept() -> FactsKept:
    return facts_kept(load_dataset("ilstma5"), models=QUICK)


def test_groups_of_two_keep_most_and_of_ten_least(kept):
    assert kept.sizes == SIZES == (2, 3, 4, 5, 6, 7, 8, 9, 10)
    assert (len(kept), kept.questions, kept.waiting) == (156, 82, 16)
    counts = kept.counts()
    assert (counts[2], counts[5], counts[10]) == (111, 87, 41)
    assert kept.difference(2, 5).low > 0
    assert kept.difference(5, 10).low > 0


def test_a_fact_in_the_chosen_set_stands_in_some_set_and_so_does_one_that_was_written(kept):
    assert not (kept.chosen & ~kept.kept).any()
    assert not (kept.written & ~kept.kept)[:, kept.merges == 0].any()


def test_one_size_counted_by_hand(kept):
    size, hits, n = 5, 0, 0
    for topic in load_dataset("ilstma5"):
        groups = [topic.dialogues[at : at + size] for at in range(0, len(topic.dialogues) - size + 1, size)]
        table = [replace_entry(group) for group in groups]
        everything = "\n".join(table)
        mine = [fact for fact in kept.facts if fact.topic == topic.name]
        n += len(mine)
        hits += sum(holds(everything, fact.text) for fact in mine)
    assert (hits, n) == (kept.counts()[size], len(kept))


def replace_entry(group) -> str:
    from ilstma_lab import MemoryTable

    table = MemoryTable.from_dialogues(group, embedder=QUICK.embedder)
    return QUICK.summarizer.summarize(list(table))[0]


def test_bands_counts_frame_and_text_are_one_account(kept):
    frame = kept.to_frame().set_index("group_size")
    for size in SIZES:
        band = kept.bands()[size]
        assert band.low <= band.mean <= band.high
        assert band.mean == pytest.approx(kept.counts()[size] / len(kept)) == pytest.approx(frame.kept[size])
        assert len(kept.lost(size)) == len(kept) - kept.counts()[size]
    assert frame.lines_per_dialogue[2] == 2.0
    assert frame.lines_per_dialogue[10] == pytest.approx(0.6)
    text = str(kept)
    assert "extractive (no language model)" in text
    assert "156 facts of 82 questions" in text
    assert "nan" not in text


def test_the_figure_draws_the_bands(kept):
    spec = loss_spec(kept)
    line = next(trace for trace in spec["data"] if trace.get("uid") == "kept")
    assert line["y"] == pytest.approx([100 * kept.counts()[size] / 156 for size in SIZES])
    finding, sub, described = titles(spec)
    assert finding == "Groups of 2 keep 111 of 156 facts, groups of 10 keep 41"
    assert "156 facts of 82 questions" in sub
    assert "56 % at 5" in described


def test_facts_whose_rows_are_in_no_full_group_are_left_out_at_every_size():
    dialogues = tuple(replace(said(at), user=f"{THINGS[at]}, code K{at}{at}.") for at in range(7))
    asked = [
        RecallQuestion(id=f"q{at}", question=f"{THINGS[at]}?", asked_at=DAY_0, gold=(f"day{at}",), facts=(f"k{at}{at}",))
        for at in (0, 6)
    ]
    kept = facts_kept([Topic("stub", dialogues, tuple(asked))], (2, 5, 7), models=QUICK)
    assert [fact.text for fact in kept.facts] == ["k00"]
    assert kept.waiting == 1


@pytest.mark.parametrize("topics", [[], [Topic("none", tuple(map(said, range(5))), ())]])
def test_nothing_to_count_is_refused(topics):
    with pytest.raises(InputError):
        facts_kept(topics, (5,), models=QUICK)


def test_a_size_that_was_not_counted_is_refused(kept):
    with pytest.raises(InputError, match="group size 12"):
        kept.lost(12)


def test_progress_is_told():
    seen = []
    facts_kept([load_topic("travel")], (5, 10), models=QUICK, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 2), (2, 2)]


# -- the replay ----------------------------------------------------------------------------------------------------------


def test_the_replay_makes_the_summaries_that_a_lab_makes_and_leaves_the_table_alone():
    table = table_of(12)
    lab = ILSTMA(
        table, Config(summaries=SummarySettings(group_size=3)), models=offline(table.embedder), clock=ManualClock.after(table)
    )
    lab.summarise()
    before, portrait = table.summaries, table.personality
    replay = SummaryReplay(table, models=lab.models, group_size=3)
    steps = list(replay)
    assert (table.summaries, table.personality) == (before, portrait)
    assert [(one.text, one.rows) for one in steps[-1].sets] == [(one.text, one.rows) for one in before]
    assert steps[-1].portrait == portrait
    assert [step.rows for step in steps] == [(0, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11)]


def test_a_step_tells_the_set_that_holds_it_and_what_a_question_gets():
    table = table_of(10, dim=256)
    replay = SummaryReplay(table)
    second = replay.upto(2)
    assert len(replay.steps) == 2
    assert second.into == 2
    assert {part.kind for part in second.parts} == {"kept", "new"}
    cosines, chosen = replay.choose(THINGS[6], second)
    assert chosen == 1 + int(np.argmax(cosines)) == 2


def test_another_merger_is_aligned_afterwards_and_labelled_so():
    models = replace(offline(HashedEmbedder(dim=64)), summarizer=StubSummarizer(), merger=StubMerger("all in one"))
    step = SummaryReplay(table_of(10), models=models).upto(2)
    assert step.merged
    assert step.aligned == "afterwards"
    assert "dropped" in {part.kind for part in step.parts}


def test_too_few_rows_and_steps_out_of_range_are_refused():
    with pytest.raises(InputError, match="no full group of 5"):
        SummaryReplay(table_of(4))
    with pytest.raises(InputError, match="no group 3"):
        SummaryReplay(table_of(10)).upto(3)
