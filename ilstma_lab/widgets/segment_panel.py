"""The segment panel: short-term memory against its budget, and what the next hit keeps and the next miss clears."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import traitlets

from ilstma_lab.errors import InputError
from ilstma_lab.memory.segments import ShortTermMemory
from ilstma_lab.reprs.markup import Html
from ilstma_lab.reprs.segment_panel import fate_text, finding, segment_panel_html
from ilstma_lab.reprs.segments import Card, budget_line, card_text, cards, memory_cards
from ilstma_lab.reprs.words import line
from ilstma_lab.trace import Turn
from ilstma_lab.widgets.drawn import Drawn, browser_part, look

if TYPE_CHECKING:
    from ilstma_lab.engine import ILSTMA
    from ilstma_lab.recorder import Event


class SegmentPanel(Drawn):
    """The five segments of a lab, of a ShortTermMemory, or as a Turn left them.

    `panel.after = "miss"` is the switch. A lab's panel is redrawn by `refresh`, and by each question that is asked with
    `lab.ask(question, on_event=panel.follow)`. Raises InputError for anything else.
    """

    _esm = browser_part("segment_panel")
    _css = look("segment_panel")
    screen = "segment-panel"
    after = traitlets.Enum(("hit", "miss"), "hit")

    def __init__(self, source: ILSTMA | ShortTermMemory | Turn, *, after: str = "hit"):
        self._source = source if isinstance(source, Turn) else getattr(source, "memory", source)
        if not isinstance(self._source, Turn | ShortTermMemory):
            raise InputError(f"the segment panel shows a lab, lab.memory or a Turn (got {type(source).__name__})")
        self.after = after
        super().__init__()
        if isinstance(self._source, ShortTermMemory):
            self._source.table.kept_by(self)
        self.observe(lambda _: self.redraw(), names="after")

    @property
    def cards(self) -> tuple[Card, ...]:
        """The five segments as they are shown."""
        if isinstance(self._source, ShortTermMemory):
            return memory_cards(self._source)
        turn = self._source
        scores = {row.index: row.score for row in turn.prefetch.rows} if turn.prefetch else {}
        return cards(turn.segments_after, {index: row.user for index, row in turn.rows.items()}, scores)

    @property
    def budget(self) -> int:
        """How many tokens the five may hold together."""
        return self._source.token_budget if isinstance(self._source, Turn) else self._source.limits.token_budget

    def refresh(self) -> None:
        """Show short-term memory as it stands."""
        self.redraw()

    def forget(self, texts: Sequence[str] = ()) -> None:
        """Show short-term memory as it stands; `table.compact()` calls this."""
        self.refresh()

    def follow(self, event: Event) -> None:
        """Refresh when a turn has ended: `lab.ask(question, on_event=panel.follow)`."""
        if event.kind == "turn":
            self.refresh()

    def state(self) -> dict[str, Any]:
        """Return where the switch stands, as plain JSON values: `SegmentPanel(lab, **state)`."""
        return {"after": self.after}

    def html(self) -> Html:
        """Return the screen as it is now."""
        return segment_panel_html(self.cards, self.budget, self.after, eyebrow=self._eyebrow())

    def text(self) -> str:
        """Return the segments and what becomes of them as plain text."""
        shown = self.cards
        lines = [f"{finding(shown, self.after)} ({budget_line(shown, self.budget)})"]
        for card in shown:
            lines += [*card_text(card), f"      after a {self.after}: {fate_text(card, self.after)}"]
        return "\n".join(lines)

    def pressed(self, do: str, value: str) -> None:
        """Do what a button says."""
        if do == "after" and value in ("hit", "miss"):
            self.after = value

    def _eyebrow(self) -> str:
        if isinstance(self._source, Turn):
            return f"Short-term memory after turn {self._source.number}"
        return "Short-term memory · " + (line(self._source.table.topic, 80) or "no topic")
