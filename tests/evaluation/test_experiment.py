"""Systems asked the same questions: what is recorded, what fails, what is repeated, and a run that stops at any point."""

from __future__ import annotations

import importlib
import json
import linecache
import sys
from dataclasses import replace
from threading import Event

import pytest

from ilstma_lab import ILSTMA, Config
from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.evaluation import tally
from ilstma_lab.evaluation.asking import try_out
from ilstma_lab.evaluation.bench import Bench
from ilstma_lab.evaluation.bench_tables import notes
from ilstma_lab.evaluation.cell_source import code_of
from ilstma_lab.evaluation.datasets import load_dataset, load_topic
from ilstma_lab.evaluation.experiment import first_questions, run_systems
from ilstma_lab.evaluation.fingerprint import setting_of, system_setting
from ilstma_lab.evaluation.grading import Facts, TokenF1
from ilstma_lab.evaluation.records import Record
from ilstma_lab.evaluation.rehearsed import Rehearsed
from tests.evaluation.bench_kit import EMBEDDER, Breaks, Counting, Plain, Unmade, parts, topic
from tests.models.stand_in import Scripted

FACTS = Facts("strict")
TOPICS = [topic("one"), topic("two")]


def run(systems, *, topics=TOPICS, models=None, graders=(FACTS,), **options):
    return run_systems(topics, systems, graders=graders, models=models or parts(), **options)


def untimed(experiment):
    """The records without their seconds, which no two runs share."""
    return [replace(record, seconds=0.0, seconds_after=0.0) for record in experiment.records]


# -- what is recorded --------------------------------------------------------------------------------------------------


def test_every_system_is_asked_every_question_in_order():
    found = run({"ILSTMA": ILSTMA, "plain": Plain})
    asked = [(topic.name, question.id) for topic in TOPICS for question in topic.questions]
    assert [(r.system, r.topic, r.id) for r in found.records] == [(s, *key) for s in ("ILSTMA", "plain") for key in asked]
    assert found.deterministic


def test_a_record_tells_what_the_turn_had():
    whole, one = topic(), replace(topic(), questions=topic().questions[:1])
    record = run({"ILSTMA": ILSTMA}, topics=[one]).records[0]
    assert (record.recalled[0], record.rank, record.retrieve, record.kind) == ("day0", 1, 1.0, "recall")
    assert record.hit is False
    assert record.prompt_tokens > 0
    assert record.seconds > 0
    plain = run({"plain": Plain}, topics=[whole]).records
    assert [r.retrieve for r in plain] == [1.0, 0.5, 0.0, 0.0, None, None]  # day1 stands beside day0
    assert [r.rank for r in plain] == [1, 0, 0, 0, None, None]
    assert [r.grades[FACTS.name].accuracy for r in plain] == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert {r.hit for r in plain} == {None}


def test_no_question_becomes_a_row_and_no_system_sees_anothers_touches():
    lengths = []

    class Watching(Plain):
        def ask(self, question, **options):
            turn = super().ask(question, **options)
            lengths.append((len(self.table), len(self.table.recalls)))
            return turn

    run({"ILSTMA": ILSTMA, "watching": Watching})
    assert set(lengths) == {(6, 0)}


def test_a_record_survives_json():
    for record in run({"ILSTMA": ILSTMA, "broken": Breaks}).records:
        assert Record.from_dict(json.loads(record.to_json())) == record
    with pytest.raises(FormatError, match="not a record"):
        Record.from_dict({"system": "x"})


# -- what fails --------------------------------------------------------------------------------------------------------


def test_a_failing_system_is_recorded_and_stops_no_other():
    found = run({"unmade": Unmade, "breaks": Breaks, "plain": Plain}, topics=[topic()])
    assert [bool(r.failure) for r in found.of("unmade")] == [True] * 6
    assert "no such luck" in found.of("unmade")[0].failure
    assert [bool(r.failure) for r in found.of("breaks")] == [False, True, True, False, False, False]
    assert "the second is too much" in found.of("breaks")[1].failure
    assert "out of order" in found.of("breaks")[2].failure
    assert {r.grades[FACTS.name].accuracy for r in found.records if r.failure} == {0.0}
    assert [r.retrieve for r in found.of("breaks")[1:3]] == [0.0, 0.0]
    assert not any(r.failure for r in found.of("plain"))


def test_a_failing_grader_leaves_the_answer_ungraded():
    class Absent:
        name = "absent"

        def grade(self, question, answer):
            raise ConnectionError("the teacher is ill")

    found = run({"plain": Plain}, topics=[topic()], graders=(FACTS, Absent()))
    assert {r.grades["absent"].accuracy for r in found.records} == {None}
    assert "the teacher is ill" in found.records[0].grades["absent"].reason
    assert found.records[0].grades[FACTS.name].accuracy == 1.0


# -- repeats -----------------------------------------------------------------------------------------------------------


def test_a_deterministic_system_runs_once_whatever_is_asked_for():
    found = run({"plain": Plain}, repeats=10)
    assert {r.repeat for r in found.records} == {0}
    assert found.repeats == 10


def test_a_model_is_asked_in_each_repeat_on_a_fresh_fork():
    found = run({"counting": Counting}, models=parts(chat=Scripted()), repeats=3, topics=[topic()])
    answers = [[r.answer for r in found.records if r.repeat == repeat] for repeat in range(3)]
    assert answers == [[f"answer {n}" for n in range(6)]] * 3


# -- a run that stops --------------------------------------------------------------------------------------------------


class Stop(Exception):
    """The run is killed here."""


def stopping(after: int):
    def progress(done: int, total: int) -> None:
        if done >= after:
            raise Stop

    return progress


SYSTEMS = {"ILSTMA": ILSTMA, "counting": Counting}


@pytest.mark.parametrize("after", range(1, 24, 4))
def test_stopped_anywhere_and_started_again_gives_the_same(tmp_path, after):
    path = tmp_path / "run.jsonl"
    whole = run(SYSTEMS)
    with pytest.raises(Stop):
        run(SYSTEMS, store=path, progress=stopping(after))
    again = run(SYSTEMS, store=path)
    assert untimed(again) == untimed(whole)
    assert untimed(run(SYSTEMS, store=path)) == untimed(whole)
    assert "24 records were there" in run(SYSTEMS, store=path).notes[0]


@pytest.mark.parametrize("cut", [1, 40, 400, 1500, 4000])
def test_a_torn_file_is_gone_on_with(tmp_path, cut):
    path = tmp_path / "run.jsonl"
    whole = run(SYSTEMS, store=path)
    kept = path.read_bytes()[:-cut]
    path.write_bytes(kept)
    assert untimed(run(SYSTEMS, store=path)) == untimed(whole)
    assert len(path.read_text(encoding="utf-8").splitlines()) == 25


def test_a_head_cut_short_begins_anew(tmp_path):
    path = tmp_path / "run.jsonl"
    run(SYSTEMS, store=path)
    path.write_bytes(path.read_bytes()[:30])
    assert len(run(SYSTEMS, store=path).records) == 24
    path.write_bytes(b"")
    assert len(run(SYSTEMS, store=path).records) == 24


def test_more_repeats_go_on_with_fewer(tmp_path):
    path, models = tmp_path / "run.jsonl", parts(chat=Scripted())
    run({"counting": Counting}, models=models, store=path)
    asked = []

    class Noting(Counting):
        pass

    found = run({"counting": Counting}, models=models, store=path, repeats=2, progress=lambda done, total: asked.append(done))
    assert asked[0] == 12
    assert len(found.records) == 24


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"systems": {"ILSTMA": lambda table, **more: ILSTMA(table, Config.measured(), **more)}}, "systems of ILSTMA"),
        ({"systems": {"ILSTMA": ILSTMA, "more": Plain}}, "systems of more"),
        ({"graders": (FACTS, TokenF1())}, "graders"),
        ({"topics": [topic("one", questions=3)]}, "data of one"),
        ({"topics": first_questions([topic("one")], 2)}, "data of one"),
        ({"models": parts(name="another")}, "models"),
    ],
)
def test_a_file_of_another_experiment_is_refused_with_what_differs(tmp_path, changed, said):
    path = tmp_path / "run.jsonl"
    run({"ILSTMA": ILSTMA}, topics=[topic("one")], store=path)
    before = path.read_bytes()
    given = {"systems": {"ILSTMA": ILSTMA}, "topics": [topic("one")], **changed}
    with pytest.raises(InputError, match=said):
        run(given.pop("systems"), store=path, **given)
    assert path.read_bytes() == before


def test_a_file_of_something_else_is_left_alone(tmp_path):
    path = tmp_path / "diary.txt"
    for text in ("Dear diary,\nall is well.\n", '{"key": 1}\n', "[]\n", '{"format": "x"}\nno'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(FormatError, match="another file"):
            run({"plain": Plain}, store=path)
        assert path.read_text(encoding="utf-8") == text


# -- the call ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        {"systems": {}},
        {"graders": ()},
        {"topics": []},
        {"repeats": 0},
        {"jobs": 0},
        {"jobs": 2},
        {"topics": [topic("one"), topic("one")]},
    ],
)
def test_a_bad_call_says_so(call):
    given = {"systems": {"plain": Plain}, **call}
    with pytest.raises(InputError):
        run(given.pop("systems"), **given)


def test_what_was_prepared_is_shared_and_what_is_asked_is_not():
    asked = []

    class Noting:
        name, dim = EMBEDDER.name, EMBEDDER.dim

        def embed(self, texts, kind):
            asked.extend(texts)
            return EMBEDDER.embed(texts, kind)

    embedder = Rehearsed(Noting())
    first = embedder.embed(["one", "two", "one"], "row")
    assert (first == embedder.embed(["one", "two", "one"], "row")).all()
    assert asked == ["one", "two"]
    with embedder.on_stage():
        embedder.embed(["one"], "row")
        embedder.embed(["one"], "row")
    assert asked == ["one", "two", "one", "one"]


def test_answers_of_other_processes_are_reported_as_they_come(monkeypatch):
    monkeypatch.setattr(tally, "EVERY", 0.001)
    told, heard = [], Event()

    def report(count):
        told.append(count)
        heard.set()

    with tally.reported(report) as file:
        for _ in range(3):
            heard.clear()
            tally.tick(file)
            assert heard.wait(5)
    assert told == [1, 2, 3]
    assert not file.exists()


@pytest.mark.slow
def test_processes_give_what_one_process_gives():
    systems, topics = {"ILSTMA": ILSTMA, "counting": Counting}, first_questions([load_topic("travel"), load_topic("love")], 3)
    one, two = (run_systems(topics, systems, graders=[FACTS], jobs=jobs) for jobs in (1, 2))
    assert untimed(one) == untimed(two)


@pytest.mark.slow
def test_the_whole_bench_offline():
    from ilstma_lab.evaluation.bench import Bench
    from ilstma_lab.evaluation.lineup import lineup

    systems = lineup(["all"])
    found = run_systems(load_dataset("ilstma5"), systems, graders=[FACTS], data="ilstma5", jobs=-1)
    assert not [r for r in found.records if r.failure]
    bench = Bench(found, "ILSTMA (measured)", FACTS.name)
    assert bench.measured("ILSTMA (measured)", "retrieve").band.mean > bench.measured("ILSTMA", "retrieve").band.mean
    assert all(system in bench.text() for system in systems)


def test_a_step_that_fails_though_an_answer_comes_is_said():
    class Down:
        def retrieve(self, question, table, *, now):
            raise OSError("the index is gone")

    found = run({"down": lambda table, **parts: ILSTMA(table, retriever=Down(), **parts)})
    assert {record.trouble.partition(" (")[0] for record in found.records} == {"Recall: OSError: the index is gone"}
    assert any("a step failed" in note for note in notes(Bench(found, "down", FACTS.name)))


def test_a_grader_written_in_a_cell_is_known_by_its_code():
    first, second = (in_a_cell(f"class Mine:\n    def grade(self, *_):\n        return {number}\n") for number in (1, 2))
    assert "return 1" in code_of(first)
    assert setting_of(first()).partition(";")[0] != setting_of(second()).partition(";")[0]


@pytest.mark.parametrize("edited", ["mine_lab", "mine_base"])
def test_a_store_is_refused_when_the_file_of_a_class_or_of_its_base_changes(tmp_path, monkeypatch, edited):
    def fingerprint():
        for name in ("mine_lab", "mine_base"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return system_setting(importlib.import_module("mine_lab").Mine, parts())

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    base = "from tests.evaluation.bench_kit import Plain\nSAID = 1\n\nclass Base(Plain):\n    pass\n"
    (tmp_path / "mine_base.py").write_text(base, encoding="utf-8")
    (tmp_path / "mine_lab.py").write_text("from mine_base import Base\n\nclass Mine(Base):\n    pass\n", encoding="utf-8")
    first = fingerprint()
    assert fingerprint() == first
    with (tmp_path / f"{edited}.py").open("a", encoding="utf-8") as file:
        file.write("HELPER = 2\n")
    assert fingerprint() != first


def test_a_system_that_cannot_work_is_told_of_by_its_name_before_the_run():
    class Fails(Plain):
        def ask(self, question, **options):
            raise RuntimeError("never")

    try_out({"plain": Plain, "breaks later": Breaks}, TOPICS, parts())
    for system, said in ((Unmade, "no such luck"), (Fails, "never")):
        with pytest.raises(InputError, match=f"mine fails at the first question: RuntimeError: {said}"):
            try_out({"plain": Plain, "mine": system}, TOPICS, parts())


def test_what_is_gone_on_with_is_said_at_the_start(tmp_path):
    told = []
    for _ in range(2):
        run({"plain": Plain}, store=tmp_path / "run.jsonl", say=told.append)
    assert told == ["gone on with run.jsonl: 12 records were there"]


def in_a_cell(code: str):
    """Return the class that a notebook cell with this code defines: it is in no file, and Python's line cache has it."""
    name = f"<cell {hash(code)}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    space = {"__name__": "cell"}
    exec(compile(code, name, "exec"), space)
    return space["Mine"]
