"""Measured figures beside their bounds: the two sides of a ratio take turns, so that a busy machine slows both alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Result:
    """One figure and its bound. `unit` is "times" or "ms"; `n`: repetitions of each side; `details` say what lies behind it."""

    name: str
    measured: float
    bound: float
    unit: str
    n: int
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether the figure is within its bound."""
        return self.measured <= self.bound

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return {**asdict(self), "holds": self.holds}

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "MISSED"
        lines = [f"{verdict:<6}  {self.name}: {self.measured:.3g} {self.unit}, at most {self.bound:g} (n = {self.n})"]
        lines += [f"          {name}: {value:.4g}" for name, value in self.details.items()]
        return "\n".join(lines)


def seconds(call: Callable[[], object]) -> float:
    """Return how long `call()` takes."""
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def interleaved(sides: Mapping[str, Callable[[], float]], *, n: int, warm_up: int = 3) -> dict[str, float]:
    """Return the median of what each side returns, over `n` rounds in which each runs once, after a few that do not count."""
    taken: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(warm_up + n):
        for name, side in sides.items():
            value = side()
            if number >= warm_up:
                taken[name].append(value)
    return {name: statistics.median(values) for name, values in taken.items()}
