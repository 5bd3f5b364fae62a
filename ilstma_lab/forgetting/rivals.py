"""Rivals of Eq. 1: the retention curves that the literature on forgetting prefers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from ilstma_lab.forgetting.curve import Bounds, RetentionCurve
from ilstma_lab.forgetting.retention import ExponentialRetention

MINUTES_PER_DAY = 1440


@dataclass(frozen=True, kw_only=True)
class StretchedRetention(RetentionCurve):
    """Forgetting that slows down: R = exp(-(t / S)^shape). A shape of 1 is Eq. 1.

    Source: Rubin & Wenzel 1996, Psychological Review 103, 734-760: with shape 1/2, one of the four best of 105 functions.

    >>> StretchedRetention().at(np.array([1, 4]), 4.0).round(3).tolist()
    [0.607, 0.368]
    """

    bounds: ClassVar[Bounds] = {"shape": (0.01, 3.0)}
    free: ClassVar[tuple[str, ...]] = ("strength_days", "shape")
    kind: Literal["stretched"] = field(default="stretched", repr=False)
    shape: float = 0.5

    @staticmethod
    def formula(time: np.ndarray, *, shape: np.ndarray | float) -> np.ndarray:
        """Return exp(-time^shape)."""
        return np.exp(-(time**shape))


@dataclass(frozen=True, kw_only=True)
class PowerRetention(RetentionCurve):
    """Forgetting by a power law: R = scale (t / S)^-exponent, at most 1.

    Source: Wixted & Ebbesen 1991, Psychological Science 2, 409-415. The defaults are fitted to Ebbinghaus' seven points.

    >>> PowerRetention().at(np.array([0, 1, 31]), 1.0).round(3).tolist()
    [1.0, 0.318, 0.203]
    """

    bounds: ClassVar[Bounds] = {"scale": (0.001, 10.0), "exponent": (0.001, 5.0)}
    free: ClassVar[tuple[str, ...]] = ("scale", "exponent")
    kind: Literal["power"] = field(default="power", repr=False)
    scale: float = 0.318
    exponent: float = 0.131

    @staticmethod
    def formula(time: np.ndarray, *, scale: np.ndarray | float, exponent: np.ndarray | float) -> np.ndarray:
        """Return scale * time^-exponent; infinite at 0."""
        return scale * time**-exponent


@dataclass(frozen=True, kw_only=True)
class WickelgrenRetention(RetentionCurve):
    """A power law that is finite at once: R = start (1 + speed t / S)^-exponent.

    Source: Wickelgren 1974, Memory & Cognition 2, 775-780; Wixted & Carpenter 2007, Psychological Science 18, 133-134,
    who write m (1 + h t)^-f. The defaults are fitted to Ebbinghaus' seven points with start 1.

    >>> WickelgrenRetention().at(np.array([0, 1, 31]), 1.0).round(3).tolist()
    [1.0, 0.318, 0.203]
    """

    bounds: ClassVar[Bounds] = {"start": (0.001, 1.0), "speed": (1e-4, 1e7), "exponent": (0.001, 5.0)}
    free: ClassVar[tuple[str, ...]] = ("speed", "exponent")
    kind: Literal["wickelgren"] = field(default="wickelgren", repr=False)
    start: float = 1.0
    speed: float = 6300.0
    exponent: float = 0.131

    @staticmethod
    def formula(
        time: np.ndarray, *, start: np.ndarray | float, speed: np.ndarray | float, exponent: np.ndarray | float
    ) -> np.ndarray:
        """Return start * (1 + speed * time)^-exponent."""
        return start * (1.0 + speed * time) ** -exponent


@dataclass(frozen=True, kw_only=True)
class LogarithmicRetention(RetentionCurve):
    """Forgetting by the logarithm of time: R = after_one - slope ln(t / S), within [0, 1].

    Source: Rubin & Wenzel 1996, whose best two-parameter function it is. It reaches 0 in a finite time. The defaults are
    fitted to Ebbinghaus' seven points.

    >>> LogarithmicRetention().at(np.array([0, 1, 31]), 1.0).round(3).tolist()
    [1.0, 0.336, 0.181]
    """

    bounds: ClassVar[Bounds] = {"after_one": (0.0, 2.0), "slope": (0.0, 1.0)}
    free: ClassVar[tuple[str, ...]] = ("after_one", "slope")
    kind: Literal["logarithmic"] = field(default="logarithmic", repr=False)
    after_one: float = 0.336
    slope: float = 0.045

    @staticmethod
    def formula(time: np.ndarray, *, after_one: np.ndarray | float, slope: np.ndarray | float) -> np.ndarray:
        """Return after_one - slope * ln(time), with a time of 0 taken as the smallest number above it."""
        return after_one - slope * np.log(np.maximum(time, np.finfo(np.float64).tiny))


@dataclass(frozen=True, kw_only=True)
class EbbinghausRetention(RetentionCurve):
    """The curve that Ebbinghaus wrote: R = k / ((log10 minutes)^c + k), minutes = 1440 t / S, at least 1.

    Source: Ebbinghaus 1885, in the translation of 1913, p. 77-78, with his constants. He counts the minutes from one before the
    end of learning, so that R = 1 there, and writes savings in percent: b = 100 R.

    >>> EbbinghausRetention().at(np.array([20, 1440, 31 * 1440]) / 1440, 1.0).round(3).tolist()
    [0.57, 0.304, 0.212]
    """

    bounds: ClassVar[Bounds] = {"k": (0.01, 100.0), "c": (0.01, 10.0)}
    free: ClassVar[tuple[str, ...]] = ("k", "c")
    kind: Literal["ebbinghaus"] = field(default="ebbinghaus", repr=False)
    k: float = 1.84
    c: float = 1.25

    @staticmethod
    def formula(time: np.ndarray, *, k: np.ndarray | float, c: np.ndarray | float) -> np.ndarray:
        """Return k / (log10(1440 * time)^c + k); 1 below one minute."""
        return k / (np.log10(np.maximum(MINUTES_PER_DAY * time, 1.0)) ** c + k)


@dataclass(frozen=True, kw_only=True)
class FsrsRetention(RetentionCurve):
    """The curve of a scheduler of reviews: R = (1 + F t / S)^-decay, F = 0.9^(-1 / decay) - 1.

    R is 0.9 at t = S by construction, so S means the days until 90 %, not the days until 37 % as under Eq. 1.
    Source: FSRS-6 (open-spaced-repetition/py-fsrs, fsrs/scheduler.py), its default decay and bounds.

    >>> FsrsRetention().at(np.array([0, 1, 10]), 1.0).round(3).tolist()
    [1.0, 0.9, 0.693]
    """

    bounds: ClassVar[Bounds] = {"decay": (0.1, 0.8)}
    free: ClassVar[tuple[str, ...]] = ("strength_days",)
    kind: Literal["fsrs"] = field(default="fsrs", repr=False)
    decay: float = 0.1542

    @staticmethod
    def formula(time: np.ndarray, *, decay: np.ndarray | float) -> np.ndarray:
        """Return (1 + F * time)^-decay."""
        return (1.0 + (0.9 ** (-1.0 / decay) - 1.0) * time) ** -decay


AnyRetention = (
    ExponentialRetention
    | StretchedRetention
    | PowerRetention
    | WickelgrenRetention
    | LogarithmicRetention
    | EbbinghausRetention
    | FsrsRetention
)
