"""What the two papers print, as data, each table with the place where it stands. Nothing here was measured by us."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

ILSTMA_PAPER = "ILSTMA, Information 2025, 16(4), 251"
MEMORYBANK_PAPER = "MemoryBank, arXiv 2305.10250v3"


@dataclass(frozen=True, slots=True)
class PaperTopic:
    """One topic of ILSTMA's Tables 2 and 3; `topic` is the kit's own topic of that kind, with other dialogues.

    `dialogues` and `questions` of the paper's data, `tokens` a dialogue on average, `hit_percent` the mean hit rate in percent.
    """

    topic: str
    printed: str
    dialogues: int
    questions: int
    tokens: float
    hit_percent: float


@dataclass(frozen=True, slots=True)
class PaperScores:
    """One row of ILSTMA's Table 5, each in [0, 1]; None where the paper prints a cross. `recall`: before the modification."""

    system: str
    answer: float
    retrieve: float | None
    recall: float | None
    coherence: float


@dataclass(frozen=True, slots=True)
class CompanionScores:
    """One row of MemoryBank's Table 2, each in [0, 1]; `ranking` is the mean of 1 / rank over the three models."""

    language: str
    model: str
    retrieval: float
    correctness: float
    coherence: float
    ranking: float


TABLES_2_AND_3 = (
    PaperTopic("legal", "Legal consultation", 472, 57, 679.84, 37.38),
    PaperTopic("love", "Enhance love", 532, 62, 577.91, 34.29),
    PaperTopic("travel", "Travel plan", 398, 40, 620.44, 42.81),
    PaperTopic("poetry", "Grandfather and poetry", 451, 51, 598.63, 31.57),
    PaperTopic("jewelry", "Selling jewelry", 503, 49, 654.90, 30.71),
)
"""ILSTMA, Table 2 (section 4.1.2) and Table 3 (section 4.3.1)."""

RUNS = 10
"""How many measurements each figure of ILSTMA is the mean of (section 4.2)."""

MEAN_HIT_PERCENT = 35.35
"""ILSTMA's mean hit rate over the five topics, in percent (section 4.3.1)."""

TABLE_4: Mapping[str, float] = MappingProxyType(
    {
        "ILSTMA without prefetch": 5.17,
        "ILSTMA with prefetch": 4.06,
        "MemoryBank": 4.87,
        "SCM": 4.10,
        "MemoChat": 4.31,
        "ChatRsum": 3.10,
    }
)
"""ILSTMA, Table 4 (section 4.3.2): mean seconds from the question to the answer."""

SAVING_PERCENT = 21.45
"""How much of the time prefetch saves, as the text beside Table 4 prints it."""

TABLE_5 = (
    PaperScores("ILSTMA", 0.884, 0.938, 0.663, 0.948),
    PaperScores("MemoryBank", 0.624, 0.640, None, 0.927),
    PaperScores("SCM", 0.849, 0.934, None, 0.943),
    PaperScores("MemoChat", 0.609, 0.512, None, 0.932),
    PaperScores("ChatRsum", 0.486, None, None, 0.921),
)
"""ILSTMA, Table 5 (section 4.3.3), graded by GPT-4; all systems on gpt-3.5-turbo."""

MEMORYBANK_TABLE_2 = (
    CompanionScores("English", "ChatGLM", 0.809, 0.438, 0.680, 0.498),
    CompanionScores("English", "BELLE", 0.814, 0.479, 0.582, 0.517),
    CompanionScores("English", "ChatGPT", 0.763, 0.716, 0.912, 0.818),
    CompanionScores("Chinese", "ChatGLM", 0.840, 0.418, 0.428, 0.510),
    CompanionScores("Chinese", "BELLE", 0.856, 0.603, 0.562, 0.565),
    CompanionScores("Chinese", "ChatGPT", 0.711, 0.655, 0.675, 0.758),
)
"""MemoryBank, Table 2 (section 4.2), graded by people."""
