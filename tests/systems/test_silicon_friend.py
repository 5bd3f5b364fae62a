"""SiliconFriend: its role in both languages, what stands in its prompt, with and without memory and forgetting."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from ilstma_lab import Dialogue, ManualClock, MemoryTable
from ilstma_lab.models import offline
from ilstma_lab.models.prompted import PromptedResponder
from ilstma_lab.models.prompts import en, zh
from ilstma_lab.systems.memorybank import Forgetting, MemoryBankSettings, SiliconFriend
from ilstma_lab.systems.memorybank.prompts import COMPANION
from tests.models.stand_in import Scripted
from tests.systems.test_memorybank import EMBEDDER, START, TEXT, table_of


def friend(config: MemoryBankSettings = TEXT, *, table: MemoryTable | None = None, models=None, days: int = 4) -> SiliconFriend:
    table = table if table is not None else table_of()
    lab = SiliconFriend(table, config, models=models or offline(EMBEDDER), clock=ManualClock(START + timedelta(days=days)))
    lab.summarise()
    return lab


@pytest.mark.parametrize(
    ("language", "question", "rule"), [("en", "I am sad.", en.DATA_RULE), ("zh", "我今天很难过。", zh.DATA_RULE)]
)
def test_the_role_goes_before_the_memory_in_the_language_of_the_question(language: str, question: str, rule: str):
    turn = friend().ask(question)
    assert turn.system == "SiliconFriend"
    shown = turn.prompts[9]
    assert COMPANION[language] in shown
    assert rule in shown
    assert shown.index("<personality>") < shown.index("<summary>") < shown.index("<relevant>")


def test_memories_carry_their_dates_and_the_history_ends_after_seven_turns():
    lab = friend()
    for number in range(9):
        turn = lab.ask(f"cello lesson {number}", remember=False)
    assert len(lab.memory.history) == 7
    assert "] 2023-05-0" in turn.prompts[9].split("<relevant>")[-1]


def test_a_language_model_is_told_the_role_and_its_words_come_back():
    chat = Scripted("I am with you.")
    models = replace(offline(EMBEDDER), responder=PromptedResponder(chat), chat=None)
    assert friend(models=models).ask("I am worried about my aunt.").answer == "I am with you."
    ((_, messages),) = chat.asked
    assert messages[0] == ("system", COMPANION["en"])
    assert "My aunt in Bergen is ill, I am worried." in messages[1][1]
    assert "Reply: begin with the feeling" in messages[1][1]


def test_with_and_without_memory_and_with_forgetting_answer_differently():
    question = "Who is the cello teacher?"
    with_memory = friend().ask(question)
    without = friend(replace(TEXT, memory=False)).ask(question)
    forgetful = friend(replace(TEXT, forgetting=Forgetting()), days=90).ask(question)
    assert "Mara" in with_memory.answer
    assert "Mara" not in without.answer + without.prompts[9]
    assert "Mara" not in forgetful.answer
    assert forgetful.recalled == ()


def test_one_question_to_two_personalities():
    glad = MemoryTable.from_dialogues([Dialogue("I love my happy garden!", "Lovely.", START)], embedder=EMBEDDER)
    low = MemoryTable.from_dialogues([Dialogue("I am sad and tired.", "I am sorry.", START)], embedder=EMBEDDER)
    prompts = [friend(table=table).ask("What shall I do today?").prompts[9] for table in (glad, low)]
    assert "share the joy" in prompts[0]
    assert "begin with the feeling" in prompts[1]


def test_a_fork_keeps_the_role():
    fork = friend().fork()
    assert type(fork) is SiliconFriend
    assert COMPANION["en"] in fork.ask("Hello there").prompts[9]
