"""How a turn, a table, a recall and short-term memory look in a notebook, and as plain text. No widget is needed.

All that comes from a user, a file or a model is escaped; control characters are taken out of it.
"""

from ilstma_lab.reprs.recall import recall_html, recall_text
from ilstma_lab.reprs.segments import segments_html, segments_text
from ilstma_lab.reprs.table import table_html, table_text
from ilstma_lab.reprs.turn import turn_html, turn_text

__all__ = [
    "recall_html",
    "recall_text",
    "segments_html",
    "segments_text",
    "table_html",
    "table_text",
    "turn_html",
    "turn_text",
]
