"""The parameters of SCM."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.memory.segments import SegmentLimits


@dataclass(frozen=True, kw_only=True)
class SCMSettings:
    """What SCM activates, and from how many tokens on it summarises and controls.

    `top`: how many turns besides the last are activated. `summary_over`: a turn of more tokens gets a summary. `flash_over`: the
    last turn enters whole up to so many tokens, else as its summary. `control_over`: above so many tokens of activated turns and
    the last, the controller works; 0 lets it work each time. `recency`: the weight of `decay` to the power of a turn's age, in
    turns, which is added to the cosine.

    Source: SCM (arXiv 2304.13343) and its public code, whose tests use `top` 6 and whose demo uses 4.
    Paper note: the paper ranks by similarity and recency, its public code by similarity alone, as here by default; the form of
    the recency term is ours.
    """

    top: int = 6
    summary_over: int = 300
    flash_over: int = 500
    control_over: int = 2500
    recency: float = 0.0
    decay: float = 0.99
    short_term: SegmentLimits = field(default_factory=lambda: SegmentLimits(history_turns=1))

    def __post_init__(self) -> None:
        if self.top < 1 or min(self.summary_over, self.flash_over, self.control_over) < 0:
            raise InputError(
                "need top >= 1, and summary_over, flash_over and control_over >= 0 "
                f"(got {self.top}, {self.summary_over}, {self.flash_over}, {self.control_over})"
            )
        if not (np.isfinite(self.recency) and self.recency >= 0 and 0 < self.decay <= 1):
            raise InputError(f"need a finite recency >= 0 and 0 < decay <= 1 (got {self.recency}, {self.decay})")
        if self.short_term.history_turns != 1:
            raise InputError(f"SCM's history holds one turn, the last (got history_turns={self.short_term.history_turns})")
