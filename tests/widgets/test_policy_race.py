"""The policy race: who had the row ready, question by question, from Python, picks and keys."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.prefetching import replay_policy
from ilstma_lab.evaluation.workload import Workload
from ilstma_lab.evaluation.workload_generator import Habits, generate
from ilstma_lab.prefetch.bounds import oracle_hits
from ilstma_lab.prefetch.ranking import NextRows, PreviousRows
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.widgets.light_figure import Pick
from ilstma_lab.widgets.policy_race import ORACLE, PolicyRace


@pytest.fixture(scope="module")
def workloads() -> list[Workload]:
    habits = Habits(returning=0.2, neighbour=0.5, topic=0.1)
    return [generate(habits, rows=60, questions=20, seed=seed, name=f"chat {seed}") for seed in (1, 2)]


def hits_of(lab: PolicyRace) -> dict[str, list[float]]:
    grid = next(part for part in lab.figures["served"].spec["data"] if part["uid"] == "grid")
    return dict(zip(lab.compute(lab.parameters), grid["z"].tolist(), strict=True))


def test_each_row_of_the_grid_is_that_policys_replay(workloads):
    lab = PolicyRace(workloads)
    shown = hits_of(lab)
    for name, policy in {"ILSTMA": WindowPrefetch(k=3, offset=5), "next 3": NextRows(k=3)}.items():
        assert shown[name] == [float(served.hit) for served in replay_policy(workloads[0], policy).demands]
    assert sum(shown["no prefetch"]) == 0
    assert 0 < sum(shown[ORACLE]) <= oracle_hits(workloads[0].gold_positions, 3, offset=5)


def test_the_finding_counts_up_to_the_question(workloads):
    lab = PolicyRace(workloads, question=10)
    most = max(sum(hits[:10]) for name, hits in hits_of(lab).items() if name != ORACLE)
    assert f"with {most:.0f}; a window oracle has" in lab.drawing.finding
    lab.question.value = 1
    assert lab.drawing.finding == "After 1 question no policy has hit; a window oracle has 0"
    assert "the first question: every cache is empty" in lab.drawing.panels["question"]


def test_controls_change_conversation_and_room(workloads):
    lab = PolicyRace(workloads)
    before = hits_of(lab)
    lab.topic.value = "chat 2"
    assert hits_of(lab) != before
    lab.k.value = 8
    assert lab.error is None
    assert "next 8" in hits_of(lab)
    lab.offset.value = 2
    assert lab.parameters.k == 5, "the window has room for five rows"


@pytest.mark.parametrize(
    ("figure", "pick", "place"),
    [
        ("served", Pick("click", "hit", 7, 3), (7, 3)),
        ("served", Pick("click", "hit", 99, 99), (20, 8)),
        ("race", Pick("click", "next 3", 0, 2), (1, 2)),
        ("served", Pick("step", "", -1, 0), (9, 2)),
        ("served", Pick("step", "", 0, -1), (10, 3)),
        ("race", Pick("step", "", 0, 1), (10, 1)),
    ],
)
def test_a_place_is_picked_or_stepped_to(workloads, figure, pick, place):
    lab = PolicyRace(workloads, question=10, racer=2)
    lab._pick(figure, pick)
    question, racer = place
    assert (lab.parameters.question, lab.parameters.racer) == place
    box = next(part for part in lab.figures["served"].spec["data"] if part["uid"] == "ink-box")
    assert box["x"][0] == question - 0.5
    chosen = next(part for part in lab.figures["race"].spec["data"] if part["uid"] == "chosen")
    assert chosen["name"] == list(hits_of(lab))[racer]
    assert lab.drawing.panels["question"].count('class="on"') == 1


def test_pointing_shows_a_question_and_leaving_brings_the_chosen_one_back(workloads):
    lab = PolicyRace(workloads, question=10)
    chosen = lab.drawing.finding
    lab._pick("served", Pick("hover", "hit", 3, 0))
    assert lab.drawing.finding.startswith("After 3 questions")
    lab._pick("served", Pick("leave"))
    assert lab.drawing.finding == chosen


def test_presets_keep_conversation_and_question(workloads):
    lab = PolicyRace(workloads, topic="chat 2", question=7)
    for name in lab.presets:
        lab.preset(name)
        assert (lab.parameters.topic, lab.parameters.question) == ("chat 2", 7)
        assert [name, True] in lab._screen.presets.view["presets"]
    lab.reset()
    assert (lab.parameters.topic, lab.parameters.question, lab.parameters.k) == ("chat 1", 20, 3)


def test_its_state_as_json_builds_it_again(workloads):
    lab = PolicyRace(workloads, topic="chat 2", question=4, racer=1)
    again = PolicyRace.from_state(json.dumps(lab.state()), workloads)
    assert again.state() == lab.state()
    assert again.text() == lab.text()


def test_policies_of_ones_own_come_first_and_may_take_a_name(workloads):
    lab = PolicyRace(workloads, {"mine": PreviousRows(k=3), "next 3": PreviousRows(k=3)})
    assert list(hits_of(lab))[:2] == ["mine", "next 3"]
    assert hits_of(lab)["mine"] == hits_of(lab)["next 3"]
    assert PolicyRace.from_state(lab.state(), workloads, lab.policies).text() == lab.text()


@pytest.mark.parametrize("mine", [None, {"mine": PreviousRows(k=3)}])
@pytest.mark.parametrize("single", [False, True])
def test_what_is_copied_as_python_runs(workloads, single, mine):
    lab = PolicyRace(workloads[0] if single else workloads, mine, k=4)
    given = {"workload": workloads[0]} if single else {"workloads": workloads}
    names = {**given, "policies": mine}
    exec(lab.drawing.code.rpartition("\n")[0], names)
    runs = eval(lab.drawing.code.rpartition("\n")[2], names)
    assert [served.hit for served in runs["next 4"].demands] == hits_of(lab)["next 4"]
    exec(lab.python().replace("PolicyRace(", "again = PolicyRace("), names)
    assert names["again"].state() == lab.state()


def test_g6_names_and_questions_are_text(workloads):
    evil = "<img src=x onerror=alert(1)>"
    accesses = tuple(replace(access, question=evil) for access in workloads[0].accesses)
    lab = PolicyRace(replace(workloads[0], name=evil, accesses=accesses), {evil: NextRows(k=3)})
    labels = str([part.get("text") for part in lab.figures["race"].spec["data"]])
    ticks = str(lab.figures["served"].spec["layout"]["yaxis"]["ticktext"])
    for shown in (lab.static(), lab.drawing.panels["question"], labels, ticks):
        assert "<img" not in shown
        assert "&lt;img" in shown
    assert "<img" not in str(lab.figure("race").layout.title)


def test_questions_that_no_row_answers_are_no_part_of_the_race(workloads):
    unanswered = tuple(replace(access, gold=(), recalled=()) for access in workloads[0].accesses)
    with pytest.raises(InputError, match="nothing to hit"):
        PolicyRace(replace(workloads[0], accesses=unanswered))
    lab = PolicyRace(replace(workloads[0], accesses=unanswered[:5] + workloads[0].accesses[5:]))
    assert np.shape(list(hits_of(lab).values()))[1] == 15


def test_one_conversation_of_one_question_has_a_race():
    lab = PolicyRace(generate(rows=20, questions=1, seed=3))
    assert lab.drawing.finding.startswith("After 1 question ")
    lab.question.value = 2
    assert (lab.parameters.question, lab.error) == (1, None)


def test_workloads_of_one_name_all_stand_in_the_list(workloads):
    twins = [replace(workload, name="chat") for workload in workloads]
    lab = PolicyRace(twins, topic="chat (2)")
    assert list(lab.workloads.values()) == twins
    names = {"workloads": twins}
    exec(lab.drawing.code.rpartition("\n")[0], names)
    assert names["workload"] is twins[1]


def test_the_wrong_kind_is_told_what_to_give(workloads):
    for wrong in (None, workloads[0].table):
        with pytest.raises(InputError, match="give a workload"):
            PolicyRace(wrong)
    for wrong in ([NextRows(k=3)], {"mine": None}, {1: NextRows(k=3)}):
        with pytest.raises(InputError, match="give policies by name"):
            PolicyRace(workloads, wrong)
    with pytest.raises(InputError, match="the oracle"):
        PolicyRace(workloads, {ORACLE: NextRows(k=3)})
    with pytest.raises(InputError, match=r"question must be a whole number from 1 to 20 \(got 1.5\)"):
        PolicyRace(workloads, question=1.5)
