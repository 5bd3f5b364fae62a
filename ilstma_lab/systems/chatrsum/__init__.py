"""ChatRsum: one memory text, made anew of itself and the session that ends; nothing is ever retrieved."""

from ilstma_lab.systems.chatrsum.lab import ChatRsum
from ilstma_lab.systems.chatrsum.settings import ChatRsumSettings

__all__ = ["ChatRsum", "ChatRsumSettings"]
