"""SiliconFriend: MemoryBank in the role of an empathetic companion (Zhong et al. 2023, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from ilstma_lab.clock import Clock
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import Models
from ilstma_lab.models.prompts.messages import Instructions
from ilstma_lab.systems.memorybank.bank import MemoryBank
from ilstma_lab.systems.memorybank.prompts import COMPANION
from ilstma_lab.systems.memorybank.settings import MemoryBankSettings


class SiliconFriend(MemoryBank):
    """MemoryBank as a companion: its prompt holds dated memories that fit, the portrait, the global events, the last 7 turns.

    `MemoryBankSettings(memory=False)` gives the same companion without a memory, `MemoryBankSettings(forgetting=Forgetting())`
    one that forgets: the paper's qualitative study compares them.
    """

    system: ClassVar[str] = "SiliconFriend"
    instructions: ClassVar[Instructions | None] = COMPANION


def companion(
    table: MemoryTable,
    config: MemoryBankSettings | None = None,
    *,
    models: Models | None = None,
    clock: Clock | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SiliconFriend:
    """Return a SiliconFriend to talk to at once: the offline writer writes of the days so far, `models` of later ones."""
    SiliconFriend(table, config, clock=clock).summarise(progress=progress)
    return SiliconFriend(table, config, models=models, clock=clock)
