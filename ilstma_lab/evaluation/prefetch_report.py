"""Every prefetch policy on a data set's questions, beside four bounds, and whether the best setting holds on other topics."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.papers import MEAN_HIT_PERCENT
from ilstma_lab.evaluation.prefetch_scores import PrefetchScores, hit_band, hit_difference, prefetch_scores
from ilstma_lab.evaluation.prefetching import Match, PrefetchRun, replay_policy
from ilstma_lab.evaluation.tables import NAME_WIDTH, ends, share
from ilstma_lab.evaluation.workload import Workload
from ilstma_lab.prefetch.bounds import Bound, bounds
from ilstma_lab.protocols import Prefetcher
from ilstma_lab.terminal import fit, hang

if TYPE_CHECKING:
    import pandas as pd

_MOST_SPLITS = 40


@dataclass(frozen=True)
class PolicyComparison:
    """The runs of several policies on the same workloads; `baseline` is the demand cache, `rival` what is to be beaten."""

    data: str
    workloads: tuple[Workload, ...]
    runs: Mapping[str, tuple[PrefetchRun, ...]]
    bounds: tuple[Bound, ...]
    baseline: str
    rival: str

    @property
    def n(self) -> int:
        """How many questions some row answers."""
        return sum(len(workload) for workload in self.workloads)

    def scores(self, policy: str) -> PrefetchScores:
        """Return the scores of one policy."""
        return prefetch_scores(self.runs[policy], self.runs[self.baseline])

    def band(self, policy: str, *, by: str = "question") -> Band:
        """Return a policy's hit ratio with its band."""
        return hit_band(self.runs[policy], by=by)

    def gain(self, policy: str, *, by: str = "question") -> Band:
        """Return how much more often a policy hits than the rival, with the paired band."""
        return hit_difference(self.runs[policy], self.runs[self.rival], by=by)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a policy: its scores, and the bands of its hit ratio and of its gain over the rival."""
        import pandas as pd

        return pd.DataFrame([self._row(policy) for policy in self.runs]).set_index("policy")

    def by_kind(self) -> pd.DataFrame:
        """Return hit ratios with one column for each kind of question, its n in the name; one row a policy."""
        import pandas as pd

        kinds = sorted({access.kind for workload in self.workloads for access in workload.demands})
        found: dict[str, dict[str, float]] = {policy: {} for policy in self.runs}
        for policy, runs in self.runs.items():
            for kind in kinds:
                hits = [served.hit for run in runs for served in run.demands if served.access.kind == kind]
                found[policy][f"{kind or 'no kind'} (n = {len(hits)})"] = float(np.mean(hits))
        return pd.DataFrame.from_dict(found, orient="index")

    def text(self) -> str:
        """Return the table as text of at most 120 columns."""
        return "\n".join(self._lines())

    def _row(self, policy: str) -> dict[str, Any]:
        band, topic, gain = self.band(policy), self.band(policy, by="topic"), self.gain(policy)
        bands = {"low": band.low, "high": band.high, "topic_low": topic.low, "topic_high": topic.high}
        against = {"gain": gain.mean, "gain_low": gain.low, "gain_high": gain.high}
        return {"policy": policy, **self.scores(policy).to_dict(), **bands, **against}

    def _lines(self) -> Iterator[str]:
        topics = len(self.workloads)
        asked = f"{self.n} questions with gold, {topics} topic{'s' * (topics != 1)}"
        yield f"{fit(self.data, 40)}: {asked}; a hit: a row that answers lay in the cache"
        heads = ("hits", "band", "by topic", f"- {self.rival}", "near", "accur.", "cover.", "overp.", "pollut.", "rows", "tokens")
        yield "".join([" " * NAME_WIDTH, *(head.ljust(size) for head, size in zip(heads, _WIDTHS, strict=True))]).rstrip()
        for policy in self.runs:
            yield self._line(policy)
        yield ""
        for bound in self.bounds:
            yield from hang(f"{share(bound.ratio)}  ", f"{bound.name}. {bound.assumes}")
        yield f"The paper reports {MEAN_HIT_PERCENT:.2f} % of hits on its own questions, with a window that it does not state."
        yield f"The order of the questions ({self.workloads[0].order}) is part of the result."

    def _line(self, policy: str) -> str:
        scores, gain = self.scores(policy), self.gain(policy)
        cells = (
            share(scores.hit_ratio),
            ends(self.band(policy)),
            ends(self.band(policy, by="topic")) if len(self.workloads) > 1 else "",
            "" if policy == self.rival else f"{share(gain.mean, '+')} {ends(gain, '+')}",
            *(_number(value) for value in (scores.near_ratio, scores.accuracy, scores.coverage, scores.overprediction)),
            *(_number(value) for value in (scores.pollution, scores.rows)),
            "-" if np.isnan(scores.tokens) else f"{scores.tokens:.0f}",
        )
        padded = (cell.ljust(size) for cell, size in zip(cells, _WIDTHS, strict=True))
        return (fit(policy, NAME_WIDTH - 1).ljust(NAME_WIDTH) + "".join(padded)).rstrip()


_WIDTHS = (6, 9, 9, 17, 6, 7, 7, 7, 8, 6, 6)


def compare_policies(
    data: str,
    workloads: Sequence[Workload],
    policies: Mapping[str, Prefetcher],
    *,
    baseline: str = "demand LRU",
    rival: str = "next 3",
    k: int = 3,
    offset: int = 5,
    match: Match = "any",
) -> PolicyComparison:
    """Return every policy's runs on `workloads`, with the bounds for a cache of `k` rows and a window of `offset`.

    Raises InputError where `baseline` or `rival` is not among the policies.
    """
    if missing := {baseline, rival} - set(policies):
        raise InputError(f"no policy named {', '.join(sorted(missing))}; there are {', '.join(policies)}")
    runs = {
        name: tuple(replay_policy(workload, policy, policy=name, match=match) for workload in workloads)
        for name, policy in policies.items()
    }
    limits = bounds([workload.gold_positions for workload in workloads], k=k, offset=offset)
    return PolicyComparison(data, tuple(workloads), runs, limits, baseline, rival)


@dataclass(frozen=True)
class HeldOut:
    """One split of the topics: the setting that hit most on `chosen_on`, and what it and the rival do on the rest."""

    chosen_on: tuple[str, ...]
    setting: str
    ratio_there: float
    ratio: float
    rival: float
    n: int


@dataclass(frozen=True)
class HoldOut:
    """The splits of one data set; each question is held out in several of them, so their ratios are not independent."""

    splits: tuple[HeldOut, ...]

    @cached_property
    def ratio(self) -> float:
        """The hit ratio of the chosen settings on topics that did not choose them, the mean over splits."""
        return float(np.mean([split.ratio for split in self.splits]))

    @cached_property
    def rival(self) -> float:
        """The rival's on the same topics."""
        return float(np.mean([split.rival for split in self.splits]))

    def __str__(self) -> str:
        there = np.mean([split.ratio_there for split in self.splits])
        wins = sum(split.ratio > split.rival for split in self.splits)
        low, high = (end([split.ratio for split in self.splits]) for end in (min, max))
        chosen = max({split.setting for split in self.splits}, key=[split.setting for split in self.splits].count)
        return (
            f"Best setting chosen on some topics, tested on the rest, {len(self.splits)} splits: {share(there)} where it was "
            f"chosen, {share(self.ratio)} where it was not ({share(low)} to {share(high)}); the rival there {share(self.rival)}, "
            f"beaten in {wins} splits. Chosen most often: {chosen}."
        )


def hold_out(swept: pd.DataFrame, rival: Sequence[PrefetchRun], *, seed: int = 0) -> HoldOut:
    """Return what the best setting of a sweep is worth on topics that did not choose it.

    Every choice of three topics against the other two (of more topics: of half of them, at most 40 splits drawn by `seed`). Ties
    go to the setting that brings in fewer tokens. Raises InputError for fewer than two topics.
    """
    hits = swept.pivot(index="setting", columns="workload", values="hits")
    tokens = swept.pivot(index="setting", columns="workload", values="tokens")
    n = swept.groupby("workload", sort=False)["demands"].first()
    other = {run.workload.name: sum(served.hit for served in run.demands) for run in rival}
    return HoldOut(tuple(_held_out(hits, tokens, n, other, chosen_on) for chosen_on in _splits(list(n.index), seed)))


def _held_out(
    hits: pd.DataFrame, tokens: pd.DataFrame, n: pd.Series, rival: Mapping[str, int], chosen_on: tuple[str, ...]
) -> HeldOut:
    here, rest = list(chosen_on), [name for name in n.index if name not in chosen_on]
    ranked = hits[here].sum(axis=1) - 1e-9 * tokens[here].sum(axis=1)
    best = ranked.idxmax()
    return HeldOut(
        chosen_on,
        str(best),
        float(hits.loc[best, here].sum() / n[here].sum()),
        float(hits.loc[best, rest].sum() / n[rest].sum()),
        sum(rival[name] for name in rest) / float(n[rest].sum()),
        int(n[rest].sum()),
    )


def _splits(topics: Sequence[str], seed: int) -> list[tuple[str, ...]]:
    if len(topics) < 2:
        raise InputError("one topic cannot choose a setting for others: give a data set of several topics")
    size = -(-len(topics) // 2)
    if len(topics) <= 6:
        return list(itertools.combinations(topics, size))
    draw = np.random.default_rng(seed)
    return [tuple(draw.choice(topics, size, replace=False).tolist()) for _ in range(_MOST_SPLITS)]


def _number(value: float) -> str:
    return "-" if np.isnan(value) else share(value) if abs(value) < 10 else f"{value:.0f}"
