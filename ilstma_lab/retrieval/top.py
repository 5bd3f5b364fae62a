"""The best k of many scores."""

from __future__ import annotations

import numpy as np

_BLOCK = 1024


def top_k(scores: np.ndarray, k: int) -> np.ndarray:
    """Return the positions of the `k` highest `scores` (n,), best first; ties go to the later position.

    The best k of all lie in the k blocks with the highest maxima, so only those are sorted.

    >>> top_k(np.array([0.1, 0.9, 0.5, 0.9]), 3).tolist()
    [3, 1, 2]
    """
    whole = len(scores) // _BLOCK
    positions = np.arange(len(scores))
    if whole > k:
        peaks = scores[: whole * _BLOCK].reshape(whole, _BLOCK).max(axis=1)
        blocks = np.flatnonzero(peaks >= np.partition(peaks, -k)[-k])
        inside = (blocks[:, None] * _BLOCK + np.arange(_BLOCK)).ravel()
        positions = np.concatenate([inside, positions[whole * _BLOCK :]])
    order = np.lexsort((-positions, -scores[positions]))[:k]
    return positions[order]
