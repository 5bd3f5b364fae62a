"""Which memory pieces are forgotten: a curve, and one draw a piece that is the same at every load (MemoryBank, section 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from zlib import crc32

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.retention import ExponentialRetention
from ilstma_lab.forgetting.strength import LinearStrength
from ilstma_lab.protocols import Strength

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_CURVE = ExponentialRetention()


class InvertedStrength:
    """S of the public code's curve, in days: 5 at first, 5 / n after n recalls, for its exp(-t / 5 * n) multiplies by n.

    >>> InvertedStrength().days(np.array([1, 2, 5])).tolist()
    [5.0, 2.5, 1.0]
    """

    def days(self, recall_times: np.ndarray) -> np.ndarray:
        """Return the strength in days, same shape as `recall_times`."""
        return 5.0 / np.asarray(recall_times, np.float64)


@dataclass(frozen=True, kw_only=True)
class Forgetting:
    """When a piece is forgotten: R = exp(-t / S) falls below u, which is uniform in [0, 1) and drawn once a piece and recall.

    t: whole days since the last recall; S: 1 day at first, one more with each recall, which also puts t back to 0. u is a hash of
    `seed`, the piece and its number of recalls, so nothing is stored, and loading again changes nothing. A piece goes when
    another whole day since its own last recall has passed. It is masked, never deleted: without forgetting it is found again.

    `form`: "paper", or "inverted", exp(-t / 5 * S) as the public code has it, where a piece that is recalled MORE is forgotten
    FASTER. `draw`: "once", or "each_login", a new u on each day since the last recall, of which all must be survived. `days`:
    whether the day summaries "fade" as rows do, or are "spared", as in the public code.

    Paper note: the paper keeps a piece with probability R. Its code draws at each login, and draws multiply: after five days with
    one login each, a piece with S = 1 is there with probability exp(-1-2-3-4-5) = exp(-15), and not with exp(-5).

    >>> Forgetting().retention(np.array([5, 5, 5]), np.array([1, 2, 3])).round(3).tolist()
    [0.007, 0.082, 0.189]
    """

    form: Literal["paper", "inverted"] = "paper"
    draw: Literal["once", "each_login"] = "once"
    days: Literal["fade", "spared"] = "fade"
    seed: int = 0

    def __post_init__(self) -> None:
        allowed = {"form": ("paper", "inverted"), "draw": ("once", "each_login"), "days": ("fade", "spared")}
        for name, values in allowed.items():
            if getattr(self, name) not in values:
                raise InputError(f"{name} must be one of {', '.join(values)} (got {getattr(self, name)!r})")
        if type(self.seed) is not int:
            raise InputError(f"seed must be a whole number (got {self.seed!r})")

    @classmethod
    def of_code(cls, *, seed: int = 0) -> Forgetting:
        """Return the forgetting of the public code: inverted, drawn at each login, summaries spared; but with a seed."""
        return cls(form="inverted", draw="each_login", days="spared", seed=seed)

    @property
    def strength(self) -> Strength:
        """S, in days, of a number of recalls."""
        return LinearStrength() if self.form == "paper" else InvertedStrength()

    def retention(self, interval_days: np.ndarray, recall_times: np.ndarray) -> np.ndarray:
        """Return R of pieces that were last recalled `interval_days` ago, shapes broadcast."""
        return _CURVE.at(interval_days, self.strength.days(recall_times))

    def draws(self, pieces: np.ndarray, recall_times: np.ndarray, *, topic: str = "", login: int = 0) -> np.ndarray:
        """Return u in [0, 1) of each piece, shape (n,): `pieces` (n,) are whole numbers that name them within the `topic`."""
        start = np.uint64(crc32(topic.encode())) + np.uint64(self.seed % 2**32) * np.uint64(2**32)
        mixed = np.full(len(pieces), start, np.uint64)
        for part in (pieces, recall_times, np.full(len(pieces), login)):
            mixed = _mix(mixed ^ np.asarray(part, np.int64).astype(np.uint64))
        return (mixed >> np.uint64(11)) * 2.0**-53

    def forgotten(
        self, pieces: np.ndarray, interval_days: np.ndarray, recall_times: np.ndarray, *, topic: str = ""
    ) -> np.ndarray:
        """Return which pieces are forgotten, shape (n,), bool."""
        interval_days = np.maximum(interval_days, 0)
        if self.draw == "once":
            return self.retention(interval_days, recall_times) < self.draws(pieces, recall_times, topic=topic)
        lost = np.zeros(len(pieces), bool)
        day = 1
        while (open_ := ~lost & (interval_days >= day)).any():
            u = self.draws(pieces, recall_times, topic=topic, login=day)
            lost |= open_ & (self.retention(np.full(len(pieces), day), recall_times) < u)
            day += 1
        return lost


def _mix(values: np.ndarray) -> np.ndarray:
    """Return 64-bit numbers whose every bit depends on every bit of `values` (the finaliser of splitmix64, Steele 2014)."""
    with np.errstate(over="ignore"):
        values = values + _GOLDEN
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
