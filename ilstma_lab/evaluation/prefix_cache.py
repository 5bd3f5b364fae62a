"""What an endpoint that remembers the beginnings of prompts would do to recorded turns: fresh tokens, seconds, break-even.

Such a cache makes a prompt fast that begins like an earlier one, and leaves a prompt slow that was built anew. It shortens
judgement and full path by different amounts, so prefetch may pay without it and not with it, or the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.timing import TimeModel, time_model
from ilstma_lab.memory.segments import SEGMENTS
from ilstma_lab.models.call import Call
from ilstma_lab.tokens import estimate_tokens
from ilstma_lab.trace import Turn

VOLATILE_FIRST = SEGMENTS[::-1]
"""The segments in the order that helps a prefix cache least."""

_SEGMENT = re.compile(rf"^<({'|'.join(SEGMENTS)})>\n.*?\n</\1>$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class PrefixCache:
    """How prefixes are remembered: in whole blocks of `block_tokens`, from `least_tokens` on, of the last `prompts` prompts.

    `prompts` None remembers those of all. Endpoints also forget after minutes: recorded turns are taken to follow close on each
    other.
    """

    block_tokens: int = 1
    least_tokens: int = 0
    prompts: int | None = None

    def __post_init__(self) -> None:
        if self.block_tokens < 1 or self.least_tokens < 0 or (self.prompts is not None and self.prompts < 0):
            raise InputError("need block_tokens >= 1, least_tokens >= 0, and prompts >= 0 or None")

    def kept(self, tokens: float) -> int:
        """Return how many of a prefix of so many tokens are remembered."""
        whole = int(tokens) // self.block_tokens * self.block_tokens
        return whole if whole >= self.least_tokens else 0


LLAMA_CPP = PrefixCache(prompts=1)
"""A llama.cpp server with one slot: it compares with the prompt before, token by token."""

VLLM = PrefixCache(block_tokens=16)
"""vLLM's automatic prefix caching with its default block (docs.vllm.ai, design/prefix_caching)."""

OPENAI = PrefixCache(block_tokens=128, least_tokens=1024)
"""OpenAI's automatic caching for models before GPT-5.6, as its cookbook "Prompt Caching 201" states it."""


def fresh_tokens(calls: Sequence[Call], *, cache: PrefixCache | None = None) -> np.ndarray:
    """Return how many tokens of each prompt are read afresh when the calls follow one another, int64, shape (n_calls,).

    Without `cache` all are. Of a prompt's own count the part that its longest prefix in common with an earlier prompt has,
    by estimated tokens, is remembered; the last token never is, for the reply begins there.
    """
    whole = np.array([call.prompt_tokens for call in calls], np.int64)
    if cache is None:
        return whole
    prompts = [_text(call) for call in calls]
    remembered = []
    for number, (call, prompt) in enumerate(zip(calls, prompts, strict=True)):
        earlier = prompts[:number] if cache.prompts is None else prompts[max(0, number - cache.prompts) : number]
        common = max((common_prefix(prompt, other) for other in earlier), default=0)
        share = estimate_tokens(prompt[:common]) / max(1, estimate_tokens(prompt))
        remembered.append(cache.kept(max(0.0, min(share * call.prompt_tokens, call.prompt_tokens - 1))))
    return whole - np.array(remembered, np.int64)


def common_prefix(one: str, other: str) -> int:
    """Return how many characters both texts begin with in common.

    >>> common_prefix("judge: rows 1 2", "judge: rows 3")
    12
    """
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


@dataclass(frozen=True, slots=True)
class Speeds:
    """How long a call takes: a fixed part, tokens a second read and written, and what is left unexplained.

    `residual_seconds` is the root of the mean squared difference over the `n` calls of the fit.
    """

    fixed_seconds: float
    prompt_per_second: float
    reply_per_second: float
    residual_seconds: float
    n: int

    def seconds(self, fresh: int, reply: int) -> float:
        """Return the seconds of a call that reads `fresh` tokens and writes `reply`."""
        return self.fixed_seconds + fresh / self.prompt_per_second + reply / self.reply_per_second

    def __str__(self) -> str:
        return (
            f"{self.prompt_per_second:.0f} prompt and {self.reply_per_second:.1f} reply tokens a second, "
            f"{self.fixed_seconds:.2f} s a call, residual {self.residual_seconds:.2f} s (n = {self.n})"
        )


def fit_speeds(calls: Sequence[Call]) -> Speeds:
    """Return the speeds that explain the seconds of recorded calls best: least squares with no part below 0.

    seconds = fixed + (prompt tokens - cached tokens) / p + reply tokens / r. A part that adds nothing has a speed of inf.
    Raises InputError where the calls are too few or too alike to tell the three apart.
    """
    from scipy.optimize import nnls

    sizes = np.array([(1.0, call.prompt_tokens - call.cached_tokens, call.reply_tokens) for call in calls]).reshape(-1, 3)
    taken = np.array([call.seconds for call in calls])
    if np.linalg.matrix_rank(sizes) < 3:
        raise InputError(f"{len(calls)} calls cannot tell reading, writing and a fixed part from each other: record more")
    parts, misfit = nnls(sizes, taken)
    prompt, reply = (1 / part if part > 0 else float("inf") for part in parts[1:])
    return Speeds(float(parts[0]), float(prompt), float(reply), float(misfit / np.sqrt(len(calls))), len(calls))


def calls_of(turns: Sequence[Turn]) -> list[Call]:
    """Return the calls that were sent, in the order in which the steps ran."""
    return [call for turn in turns for calls in turn.calls.values() for call in calls if call.sent]


def served(turns: Sequence[Turn], *, speeds: Speeds, cache: PrefixCache | None = None) -> list[Turn]:
    """Return the turns with each call's seconds as `speeds` gives them, and the tokens that `cache` would have remembered."""
    calls = [call for turn in turns for calls in turn.calls.values() for call in calls]
    timed = iter(
        [
            replace(call, seconds=speeds.seconds(int(fresh), call.reply_tokens), cached_tokens=call.prompt_tokens - int(fresh))
            for call, fresh in zip(calls, fresh_tokens(calls, cache=cache), strict=True)
        ]
    )
    return [
        replace(turn, calls={step: tuple(next(timed) for _ in calls) for step, calls in turn.calls.items()}) for turn in turns
    ]


def reordered(turns: Sequence[Turn], segments: Sequence[str] = VOLATILE_FIRST) -> list[Turn]:
    """Return the turns with the segments of short-term memory in each prompt in another order; replies stay as they were."""
    if sorted(segments) != sorted(SEGMENTS):
        raise InputError(f"name each of {', '.join(SEGMENTS)} once")
    rank = {name: place for place, name in enumerate(segments)}

    def moved(text: str) -> str:
        blocks = iter(sorted(_SEGMENT.finditer(text), key=lambda block: rank[block[1]]))
        return _SEGMENT.sub(lambda _: next(blocks)[0], text)

    def sent(call: Call) -> Call:
        return replace(call, messages=tuple((role, moved(text) if role == "user" else text) for role, text in call.messages))

    return [replace(turn, calls={step: tuple(map(sent, calls)) for step, calls in turn.calls.items()}) for turn in turns]


@dataclass(frozen=True, slots=True)
class CacheEffect:
    """The times of the parts without and with a prefix cache, and the shares of prompt tokens still read afresh with it."""

    off: TimeModel
    on: TimeModel
    fresh_with_prefetch: float
    fresh_without: float

    def flips(self, hit_rate: float) -> bool:
        """Return whether prefetch saves time at `hit_rate` on one side of the switch alone."""
        return (hit_rate > self.off.break_even) != (hit_rate > self.on.break_even)


def with_prefix_cache(
    prefetched: Sequence[Turn], full: Sequence[Turn], *, speeds: Speeds, cache: PrefixCache | None = None
) -> CacheEffect:
    """Return J and F with a prefix cache off and on, for the same questions with and without prefetch.

    Both sides are reckoned with `speeds`, so that only the cache differs. Each system has the cache to itself. Default: a cache
    that forgets nothing.
    """
    cache = cache or PrefixCache()
    off, on = ([served(turns, speeds=speeds, cache=one) for turns in (prefetched, full)] for one in (None, cache))
    return CacheEffect(time_model(*off), time_model(*on), *(_fresh_share(turns) for turns in on))


def _fresh_share(turns: Sequence[Turn]) -> float:
    calls = calls_of(turns)
    return 1 - sum(call.cached_tokens for call in calls) / sum(call.prompt_tokens for call in calls)


def _text(call: Call) -> str:
    return "\n".join(f"{role}\n{content}" for role, content in call.messages)
