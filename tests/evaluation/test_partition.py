"""The partitioning principles: each fault alone is found, and only it; Table 2 by hand; the command."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from ilstma_lab import Dialogue, cli
from ilstma_lab.evaluation.datasets import FIVE_TOPICS, RecallQuestion, Topic, load_dataset, load_topic
from ilstma_lab.evaluation.papers import TABLES_2_AND_3
from ilstma_lab.evaluation.partition import check_overlap, check_partition, partition_table
from ilstma_lab.evaluation.table_2 import table_2
from ilstma_lab.tokens import estimate_tokens
from tests.stubs import DAY_0

LATER = DAY_0 + timedelta(days=40)
TOLD = tuple(Dialogue(f"My cat number {n} is grey.", "Noted.", DAY_0 + timedelta(days=n), f"d{n}") for n in range(3))
GENERAL = Dialogue("What is the capital of Peru?", "Lima.", DAY_0 + timedelta(days=5), "d5")
ASKED = tuple(
    RecallQuestion(f"q{n}", f"What about my cat number {n}?", LATER, gold=(f"d{n}",), label="grey", facts=("grey",))
    for n in range(3)
)
SEA = RecallQuestion("g", "Is the sea salty?", LATER, kind="general", label="Yes.")
GOOD = Topic("cats", (*TOLD, GENERAL), (*ASKED, SEA))


def broken(topic):
    return {finding.principle for finding in check_partition(topic) if not finding.holds}


def with_question(**changes):
    return replace(GOOD, questions=(replace(ASKED[0], **changes), *ASKED[1:], SEA))


def with_dialogue(**changes):
    return replace(GOOD, dialogues=(replace(TOLD[0], **changes), *TOLD[1:], GENERAL))


def test_a_good_topic_keeps_every_principle():
    assert broken(GOOD) == set()


@pytest.mark.parametrize(
    ("topic", "principles"),
    [
        (with_dialogue(assistant=" \n"), {"dialogues have two sides"}),
        (replace(GOOD, dialogues=TOLD), {"a few dialogues are general"}),
        (
            replace(GOOD, dialogues=(*TOLD, *(replace(GENERAL, source=f"p{n}") for n in range(3)))),
            {"most dialogues are personal", "a few dialogues are general"},
        ),
        (replace(GOOD, dialogues=(*TOLD, GENERAL, replace(GENERAL, user="I ask."))), {"sources are used once"}),
        (with_question(label=" "), {"questions have labels"}),
        (replace(GOOD, questions=ASKED), {"a few questions are general"}),
        (with_question(gold=("d0", "d9")), {"gold rows exist"}),
        (with_question(gold=()), {"what was said has gold, the rest none"}),
        (with_question(id="q1"), {"ids are used once"}),
        (with_question(asked_at=GENERAL.at), {"questions come after the dialogues"}),
        (with_question(question="my ＣＡＴ  number 0 is grey."), {"no question stands in a dialogue"}),
        (with_question(question="grey."), set()),
    ],
)
def test_each_fault_is_found_alone(topic, principles):
    assert broken(topic) == principles


def test_chinese_speakers_are_persons_too():
    told = [Dialogue(f"我家第{n}只猫是灰的。", "记下了。", DAY_0 + timedelta(days=n), f"d{n}") for n in range(3)]
    assert broken(replace(GOOD, dialogues=(*told, replace(GENERAL, user="秘鲁的首都是哪里？")))) == set()


def test_topics_that_share_a_dialogue_are_named():
    other = replace(GOOD, name="dogs", dialogues=(replace(TOLD[1], user="My  cat number 1 is GREY."), GENERAL))
    finding = check_overlap([GOOD, other, Topic("none", (), ())])
    assert (finding.holds, finding.said) == (False, "cats and dogs share 2")
    assert check_overlap([GOOD]).holds


def test_the_bundled_topics_keep_every_principle():
    topics = [*load_dataset("ilstma5"), load_topic("travel_zh")]
    assert {topic.name: broken(topic) for topic in topics} == {topic.name: set() for topic in topics}
    assert check_overlap(topics).holds


def test_a_topic_of_nothing_is_judged_without_an_error():
    assert "a few questions are general" in broken(Topic("none", (), ()))
    assert "0 of 1" in partition_table([Topic("none", (), ())]).text()


def test_table_2_by_hand():
    table = table_2([GOOD, replace(GOOD, name="legal", questions=(SEA,))], data="mine")
    cats, legal = table.rows
    assert (cats.dialogues, cats.questions, cats.recall, cats.general, cats.never_said) == (4, 4, 3, 1, 0)
    assert cats.tokens == pytest.approx(np.mean([estimate_tokens(d.text) for d in GOOD.dialogues]))
    assert (cats.printed, legal.printed) == (None, TABLES_2_AND_3[0])
    assert (table.total.dialogues, table.total.questions, table.total.printed) == (8, 5, None)
    frame = table.to_frame()
    assert list(frame["topic"]) == ["cats", "legal", "all"]
    assert np.isnan(frame["printed_dialogues"][0])
    assert frame["printed_tokens"][1] == 679.84


def test_table_2_of_the_five_stands_beside_the_papers_sums():
    table = table_2(load_dataset("ilstma5"))
    assert [row.topic for row in table.rows] == list(FIVE_TOPICS)
    assert (table.total.printed.dialogues, table.total.printed.questions) == (2356, 259)
    assert "679.84" in str(table)
    assert "679.84" in table._repr_html_()


def test_the_command_prints_both_tables(capsys):
    assert cli.main(["evaluate", "data", "--data", "ilstma5,travel_zh"]) == 0
    shown = capsys.readouterr().out
    assert "ilstma5: 5 topics, 491 dialogues, 120 questions" in shown
    assert "travel_zh: 1 topic, 91 dialogues" in shown
    assert shown.count("most dialogues are personal") == 2
    assert all(len(line) <= 120 for line in shown.splitlines())


def test_names_from_a_file_stay_text():
    html = table_2([replace(GOOD, name="<b>x</b>")], data="<i>")._repr_html_()
    assert "<b>x" not in html
    assert "<i>" not in html
