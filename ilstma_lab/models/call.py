"""One prompt and its reply, as every part that has one records it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """One prompt and its reply.

    `sent` is False for offline parts: the prompt is what a language model would have been sent, and `reply` is
    what the offline part made of the same memory. `estimated` tells that tokens were counted by `tokens.estimate_tokens`.
    """

    purpose: str
    model: str
    messages: tuple[tuple[str, str], ...]
    reply: str
    seconds: float = 0.0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    cached_tokens: int = 0
    sent: bool = True
    estimated: bool = True
