"""ilstma_lab: learn, tune and re-invent the long- and short-term memory of a chat model."""

from ilstma_lab.clock import ManualClock, SystemClock
from ilstma_lab.config import Config
from ilstma_lab.engine import ILSTMA
from ilstma_lab.errors import IlstmaError
from ilstma_lab.importers import load_dialogues
from ilstma_lab.memory.entry import Dialogue
from ilstma_lab.memory.segments import ShortTermMemory
from ilstma_lab.memory.table import MemoryTable
from ilstma_lab.models import endpoint, offline
from ilstma_lab.retrieval.recall import Recall
from ilstma_lab.trace import Turn

__version__ = "0.1.0"

__all__ = [
    "ILSTMA",
    "Config",
    "Dialogue",
    "IlstmaError",
    "ManualClock",
    "MemoryTable",
    "Recall",
    "ShortTermMemory",
    "SystemClock",
    "Turn",
    "endpoint",
    "load_dialogues",
    "offline",
]
