"""How good predicted probabilities of recall are: loss, its parts, calibration, and a popular score that can be gamed."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.forgetting.recall_log import RecallLog

_LEAST = 1e-6


def log_loss(recalled: np.ndarray, predicted: np.ndarray) -> float:
    """Return the mean of -ln of the probability given to what happened, in nats: the score to fit and to rank by.

    Predictions are kept within [1e-6, 1 - 1e-6], so that one surprise is not infinite. Raises InputError for empty columns.

    >>> round(log_loss([1, 0], [0.8, 0.4]), 3)
    0.367
    """
    seen, p = _pair(recalled, predicted)
    p = np.clip(p, _LEAST, 1 - _LEAST)
    return float(-np.mean(np.where(seen > 0, np.log(p), np.log1p(-p))))


@dataclass(frozen=True)
class Brier:
    """The mean squared error of probabilities and its parts: score = reliability - resolution + uncertainty + within.

    `reliability`: how far the bins' predictions lie from their shares of recalls (0 is best); `resolution`: how far the bins'
    shares lie apart (high is best); `uncertainty`: that of the overall share; `within`: what the bins hide.
    """

    score: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float


def brier(recalled: np.ndarray, predicted: np.ndarray, *, bins: int = 10) -> Brier:
    """Return the Brier score with its decomposition over `bins` equal bins of the prediction.

    Source: Murphy 1973, Journal of Applied Meteorology 12, 595-600; the fourth part after Stephenson et al. 2008, since
    predictions within one bin differ.
    """
    seen, p = _pair(recalled, predicted)
    score, rate = float(np.mean((p - seen) ** 2)), float(seen.mean())
    table = calibration(seen, p, bins=bins)
    share = table.count / len(seen)
    reliability = float(share @ (table.predicted - table.recalled) ** 2)
    resolution = float(share @ (table.recalled - rate) ** 2)
    uncertainty = rate * (1 - rate)
    return Brier(score, reliability, resolution, uncertainty, score - reliability + resolution - uncertainty)


@dataclass(frozen=True, eq=False)
class Calibration:
    """One entry a bin that holds questions: mean prediction, share recalled with its band, count; each of shape (n_bins,)."""

    predicted: np.ndarray
    recalled: np.ndarray
    low: np.ndarray
    high: np.ndarray
    count: np.ndarray

    @property
    def error(self) -> float:
        """Mean distance between prediction and share, weighted by count: the expected calibration error."""
        return float(np.average(np.abs(self.predicted - self.recalled), weights=self.count))


def calibration(recalled: np.ndarray, predicted: np.ndarray, *, bins: int = 10, level: float = 0.95) -> Calibration:
    """Return the calibration table over `bins` equal bins of the prediction, empty ones left out.

    The band is Wilson's interval of the share at `level`, for questions that are independent of each other.
    Source: Wilson 1927, Journal of the American Statistical Association 22, 209-212.
    """
    seen, p = _pair(recalled, predicted)
    if bins < 1 or not 0 < level < 1:
        raise InputError(f"need bins >= 1 and 0 < level < 1 (got {bins}, {level:g})")
    place = np.minimum((p * bins).astype(int), bins - 1)
    count = np.bincount(place, minlength=bins)
    full = count > 0
    count = count[full]
    rate = np.bincount(place, seen, bins)[full] / count
    low, high = _wilson(rate, count, NormalDist().inv_cdf(0.5 + level / 2))
    return Calibration(np.bincount(place, p, bins)[full] / count, rate, low, high, count)


def rmse_bins(log: RecallLog, predicted: np.ndarray) -> float:
    """Return RMSE(bins): questions are binned by interval, reviews and lapses, and bins compare share and mean prediction.

    With i = 1 + recalls + lapses reviews, the bins are floor(log_3.62 interval), floor(log_1.89 i), floor(log_1.73 lapses);
    no lapse is a bin of its own. sqrt(sum of count (share - prediction)^2 / all).

    Do not rank by it: a prediction that knows a bin's share scores 0 here whatever it says of each question.
    Source: open-spaced-repetition/srs-benchmark, README; its issue 303 shows the exploit.
    """
    seen, p = _pair(log.recalled, predicted)
    reviews, lapses = 1 + log.recall_times + log.lapses, log.lapses
    keys = np.column_stack(
        [
            np.floor(np.log(np.maximum(log.interval_days, 1e-9)) / np.log(3.62)),
            np.floor(np.log(reviews) / np.log(1.89)),
            np.where(lapses > 0, np.floor(np.log(np.maximum(lapses, 1)) / np.log(1.73)), -1),
        ]
    )
    _, cell = np.unique(keys, axis=0, return_inverse=True)
    count = np.bincount(cell.ravel())
    gap = np.bincount(cell.ravel(), seen - p) / count
    return float(np.sqrt(np.average(gap**2, weights=count)))


def _wilson(rate: np.ndarray, count: np.ndarray, z: float) -> tuple[np.ndarray, np.ndarray]:
    middle = (rate + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * np.sqrt(rate * (1 - rate) / count + z**2 / (4 * count**2))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def _pair(recalled: np.ndarray, predicted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    seen = np.asarray(recalled, dtype=np.float64)
    p = np.broadcast_to(np.asarray(predicted, dtype=np.float64), seen.shape)
    problems = []
    if not seen.size or seen.ndim != 1:
        problems.append("there must be at least one question, in one column")
    if not np.isin(seen, (0, 1)).all():
        problems.append("recalled must be 0 or 1")
    if not ((p >= 0) & (p <= 1)).all():
        problems.append("predictions must lie in [0, 1]")
    if problems:
        raise InputError("scores: " + "; ".join(problems))
    return seen, p
