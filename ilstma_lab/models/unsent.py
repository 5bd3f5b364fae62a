"""How an offline part records the prompt that a language model would have been sent."""

from __future__ import annotations

from ilstma_lab.models.call import Call
from ilstma_lab.tokens import estimate_tokens

OFFLINE_MODEL = "extractive (no language model)"


def unsent(purpose: str, messages: tuple[tuple[str, str], ...], reply: str) -> Call:
    """Return the record of a prompt that was not sent, with what the offline part made of the same memory."""
    prompt_tokens = sum(estimate_tokens(content) for _, content in messages)
    return Call(purpose, OFFLINE_MODEL, messages, reply, 0.0, prompt_tokens, estimate_tokens(reply), sent=False)
