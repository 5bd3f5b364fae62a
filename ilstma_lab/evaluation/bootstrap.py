"""Bands around means: questions, or whole topics, are drawn again with replacement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Band:
    """A mean over questions and the ends of its 95 % bootstrap band (percentiles)."""

    mean: float
    low: float
    high: float


def bootstrap(values: np.ndarray, *, clusters: Sequence[str] | None = None, draws: int = 4000, seed: int = 0) -> list[Band]:
    """Return the band of each column's mean; `values` has shape (n_questions, n_columns).

    Without `clusters` each question is drawn by itself. With a label for each question whole clusters are drawn, for questions
    about one conversation are not independent; below about ten clusters such a band is rough, and rather too narrow.
    A column with nan gives a band of nan. The same `seed` gives the same draws, so paired columns stay paired.

    >>> bootstrap(np.array([[1.0], [1.0], [0.0], [1.0]]))
    [Band(mean=0.75, low=0.25, high=1.0)]
    """
    n, columns = values.shape
    if not n:
        return [Band(np.nan, np.nan, np.nan)] * columns
    label = np.arange(n) if clusters is None else np.unique(np.asarray(clusters, str), return_inverse=True)[1]
    size = np.bincount(label).astype(float)  # (n_clusters,)
    total = np.zeros((len(size), columns))
    np.add.at(total, label, values)
    times = np.random.default_rng(seed).multinomial(len(size), np.full(len(size), 1 / len(size)), draws)  # (draws, n_clusters)
    means = (times @ total) / (times @ size)[:, None]  # (draws, n_columns)
    ends = np.quantile(means, [0.025, 0.975], axis=0)
    return [Band(float(mean), float(low), float(high)) for mean, low, high in zip(values.mean(axis=0), *ends, strict=True)]
