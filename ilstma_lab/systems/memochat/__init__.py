"""MemoChat: a memo of topics, summaries and dialogues, from which the model itself picks (Lu et al. 2023)."""

from __future__ import annotations

from ilstma_lab.systems.memochat.lab import MemoChat
from ilstma_lab.systems.memochat.settings import MemoChatSettings

__all__ = ["MemoChat", "MemoChatSettings"]
