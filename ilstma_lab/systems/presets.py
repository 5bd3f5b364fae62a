"""Systems with settings of their own, under a name."""

from __future__ import annotations

from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.systems.memorybank import MemoryBank, MemoryBankSettings


def measured_ilstma(table: MemoryTable, **parts) -> ILSTMA:
    """Return ILSTMA with `Config.measured()`."""
    return ILSTMA(table, Config.measured(), **parts)


def question_memorybank(table: MemoryTable, **parts) -> MemoryBank:
    """Return MemoryBank that searches with the question alone: as its public code, and as fits questions that stand alone."""
    return MemoryBank(table, MemoryBankSettings(context_turns=0), **parts)
