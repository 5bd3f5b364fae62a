"""The judge of a memory without prefetch: every question takes the full path, and nothing is asked to find that out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ilstma_lab.trace import Verdict

if TYPE_CHECKING:
    from ilstma_lab.memory.segments import ShortTermMemory
    from ilstma_lab.protocols import Query


class AlwaysMiss:
    """Step 2 left out, for what is measured without prefetch."""

    def judge(self, query: Query, memory: ShortTermMemory) -> Verdict:
        """Return a miss."""
        return Verdict(hit=False, reason="no judgement: every question takes the full path")
