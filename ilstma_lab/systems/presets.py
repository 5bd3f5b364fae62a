"""Systems with settings of their own, under a name."""

from __future__ import annotations

from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.memory.table import MemoryTable


def measured_ilstma(table: MemoryTable, **parts) -> ILSTMA:
    """Return ILSTMA with `Config.measured()`."""
    return ILSTMA(table, Config.measured(), **parts)
