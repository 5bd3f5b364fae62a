"""SiliconFriend: MemoryBank in the role of an empathetic companion (Zhong et al. 2023, section 3)."""

from __future__ import annotations

from typing import ClassVar

from ilstma_lab.models.prompts.messages import Instructions
from ilstma_lab.systems.memorybank.bank import MemoryBank
from ilstma_lab.systems.memorybank.prompts import COMPANION


class SiliconFriend(MemoryBank):
    """MemoryBank as a companion: its prompt holds dated memories that fit, the portrait, the global events, the last 7 turns.

    `MemoryBankSettings(memory=False)` gives the same companion without a memory, `MemoryBankSettings(forgetting=Forgetting())`
    one that forgets: the paper's qualitative study compares them.
    """

    system: ClassVar[str] = "SiliconFriend"
    instructions: ClassVar[Instructions | None] = COMPANION
