"""Savings, the measure of Ebbinghaus, and the strength that they imply under Eq. 1."""

from __future__ import annotations

import numpy as np

from ilstma_lab.errors import InputError

PROBABLE_ERROR = 0.6745
"""A probable error is this share of a standard deviation: half of all errors are smaller."""


def savings(first: np.ndarray, again: np.ndarray) -> np.ndarray:
    """Return the share of work saved in relearning: 1 - again / first, in any unit of work (seconds, repetitions).

    Source: Ebbinghaus 1885. Savings of time and of repetitions differ; compare like with like.

    >>> savings(30.77, 16.26).round(3)
    np.float64(0.472)
    """
    first, again = np.asarray(first, dtype=np.float64), np.asarray(again, dtype=np.float64)
    if not (first > 0).all():
        raise InputError("the first learning must have cost some work")
    return 1.0 - again / first


def implied_strength(retention: np.ndarray, interval_days: np.ndarray = 1.0) -> np.ndarray:
    """Return the S, in days, at which Eq. 1 gives `retention` after `interval_days`: -t / ln R. Raises InputError outside (0, 1).

    >>> implied_strength([0.310, 0.804]).round(2).tolist()
    [0.85, 4.58]
    """
    kept = np.asarray(retention, dtype=np.float64)
    if not ((kept > 0) & (kept < 1)).all():
        raise InputError("retention must lie between 0 and 1: at 0 and at 1 every small or great strength would do")
    return -np.asarray(interval_days, dtype=np.float64) / np.log(kept)


def daily_strength(work: np.ndarray) -> np.ndarray:
    """Return S after the 1st, 2nd, ... learning, in days, from the work of relearning on successive days; shape (n_days - 1,).

    What is saved on day n + 1, against the first day's work, is taken as the retention after one day with n recalls.
    Source: our reading of Ebbinghaus 1885, chapter VIII, under Eq. 1 of the ILSTMA paper.

    >>> daily_strength([158, 109, 75, 56, 37, 31]).round(2).tolist()
    [0.85, 1.55, 2.29, 3.75, 4.58]
    """
    work = np.asarray(work, dtype=np.float64)
    return implied_strength(savings(work[0], work[1:]))
