"""The best k of many scores."""

from __future__ import annotations

import numpy as np

_BLOCK = 1024


def top_k(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the positions of the `k` highest `scores` (n,), best first; ties go to the later position.

    The best k of all lie in the k blocks with the highest maxima, so only those are looked at.

    >>> top_k(np.array([0.1, 0.9, 0.5, 0.9]), 3).tolist()
    [3, 1, 2]
    """
    whole = len(scores) // _BLOCK
    if whole > k:
        peaks = scores[: whole * _BLOCK].reshape(whole, _BLOCK).max(axis=1)
        blocks = _not_below_best(peaks, k)
        inside = (blocks[:, None] * _BLOCK + np.arange(_BLOCK)).ravel()
        positions = np.concatenate([inside, np.arange(whole * _BLOCK, len(scores))])
    else:
        positions = np.arange(len(scores))
    positions = positions[_not_below_best(scores[positions], k)]
    order = np.lexsort((-positions, -scores[positions]))[:k]
    return positions[order]


def _not_below_best(values: np.ndarray, k: int) -> np.ndarray:
    """Return the positions of the `k` best of `values` and of all that equal the last of them."""
    if not 0 < k < len(values):
        return np.arange(len(values))
    return np.flatnonzero(~(values < np.partition(values, -k)[-k]))
