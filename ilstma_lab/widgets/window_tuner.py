"""The window tuner: hit ratio over offset and k on real question sequences, with the bounds, and whether it pays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.papers import MEAN_HIT_PERCENT
from ilstma_lab.evaluation.prefetch_scores import PrefetchScores, hit_band, hit_difference, prefetch_scores
from ilstma_lab.evaluation.prefetching import PrefetchRun, replay_policy
from ilstma_lab.evaluation.timing import TimeModel
from ilstma_lab.evaluation.workload import Workload
from ilstma_lab.plots.hit_map import hit_map_spec
from ilstma_lab.plots.pays import pays_spec
from ilstma_lab.prefetch.bounds import min_hits, oracle_hits
from ilstma_lab.prefetch.policies import DemandLru, NextRows
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.protocols import Prefetcher
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.words import count
from ilstma_lab.widgets.controls import choice, slider, switch
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick
from ilstma_lab.widgets.given import workloads_of
from ilstma_lab.widgets.prefetch_words import FORMS, setting_code

OFFSETS = tuple(range(1, 21))
KS = tuple(range(1, 9))
PAPERS_K = 3
USUAL = (5, 3)
_PAPER = TimeModel.from_table4()


@dataclass(frozen=True)
class TunerParameters:
    """The prefetch's parameters and the seconds of a judgement and of the full path, at first those that Table 4 implies."""

    offset: int = slider(USUAL[0], 1, OFFSETS[-1], 1, label="Offset", about="rows each side", unit="rows")
    k: int = slider(USUAL[1], 1, KS[-1], 1, label="k", about="rows cached", unit="rows")
    weight: float = slider(1.0, 0, 4, 0.1, label="Weight of place", unit="× time")
    form: str = choice("nearness", FORMS, label="Place form")
    trigger: str = choice("miss", {"A miss": "miss", "Every question": "every"}, label="Refill after")
    include_centre: bool = switch(True, label="The recalled row may be cached")
    judge: float = slider(round(_PAPER.judge_seconds, 2), 0, 5, 0.01, label="J", about="a judgement", unit="s", digits=2)
    full: float = slider(_PAPER.full_seconds, 0.1, 60, 0.01, label="F", about="the full path", unit="s", digits=2)


@dataclass(frozen=True)
class Tuned:
    """The chosen setting's runs and scores, and the map of hit ratios as far as it is known, shape (len(KS), len(OFFSETS)).

    The bands of the hit ratio and of its gain over the next k rows take longer, and are None at first.
    """

    runs: tuple[PrefetchRun, ...]
    scores: PrefetchScores
    ratios: np.ndarray
    band: Band | None = None
    gain: Band | None = None


class WindowTuner(Explorable):
    """Drag offset, k, weight and form, and see how often the answer's row would have lain in the cache.

    `workloads`: what `workload_of` or `generate` return, one or several. Click a cell of the map to choose it, or go from cell to
    cell with the arrow keys. The map and the bands are computed in a thread; what is not known yet is a dot.
    """

    Parameters = TunerParameters
    eyebrow = "Prefetch lab, window and k"
    try_this = (
        "Find the best cell at k = 3. Is its gain over the next 3 rows larger than its band, and would you bet on it elsewhere?"
    )
    given = "workloads"
    presets: ClassVar = {
        "Paper as meant": TunerParameters(),
        "As printed": TunerParameters(form="literal", include_centre=False),
        "Time alone": TunerParameters(weight=0.0),
        "Wide": TunerParameters(offset=20),
    }
    rows = ((("map", 1),), (("pays", 390), ("numbers", 300)))

    def __init__(self, workloads: Workload | Sequence[Workload], **parameters: Any):
        self.workloads = workloads_of(workloads)
        self.n = sum(map(len, self.workloads))
        self._baselines = {k: self._replay(DemandLru(k=k)) for k in KS}
        self._rivals = {k: self._replay(NextRows(k=k)) for k in KS}
        demands = [workload.gold_positions for workload in self.workloads]
        self._oracle = {k: [sum(oracle_hits(one, k, offset=o) for one in demands) / self.n for o in OFFSETS] for k in KS}
        self._unlimited = {k: sum(oracle_hits(one, k) for one in demands) / self.n for k in KS}
        self._least = {k: sum(min_hits(one, k, bypass=True) for one in demands) / self.n for k in KS}
        self._maps: dict[tuple, np.ndarray] = {}
        super().__init__(**parameters)

    def settle(self, old: TunerParameters, new: TunerParameters) -> TunerParameters:
        """Return `new` with the first offset from there on at which the window has room for k."""
        room = (offset for offset in OFFSETS if offset >= new.offset and _has_room(offset, new.k, new.include_centre))
        return replace(new, offset=next(room))

    def picked(self, figure: str, pick: Pick, p: TunerParameters) -> TunerParameters | None:
        """Return the parameters of the cell that was picked; above the map only the offset."""
        if figure != "map":
            return None
        offset, k = (p.offset + pick.x, p.k + pick.y) if pick.kind == "step" else (pick.x, pick.y)
        if pick.kind != "step" and pick.trace != "hits, %":
            k = p.k
        offset, k = round(offset), round(k)
        return replace(p, offset=offset, k=k) if offset in OFFSETS and k in KS else None

    def compute(self, p: TunerParameters) -> Tuned:
        """Return the chosen setting's runs, with the map as far as it is known."""
        runs = self._replay(setting_of(p))
        ratios = self._map(p)
        ratios[KS.index(p.k), OFFSETS.index(p.offset)] = _ratio(runs)
        return Tuned(runs, prefetch_scores(runs, self._baselines[p.k]), ratios.copy())

    def refine(self, p: TunerParameters, result: Tuned) -> Tuned:
        """Return the result with its bands and the whole map, showing each row as it comes; it ends early when overtaken."""
        fuller = replace(result, band=hit_band(result.runs), gain=hit_difference(result.runs, self._rivals[p.k]))
        for ratios in self._rows_of_map(p):
            fuller = replace(fuller, ratios=ratios)
            with self._drawing:
                if p != self.parameters:
                    return fuller
                self._put(self.draw(p, fuller))
        return fuller

    def draw(self, p: TunerParameters, result: Tuned) -> Drawing:
        """Return map, break-even chart and numbers."""
        oracle, rival = self._oracle[p.k], _ratio(self._rivals[p.k])
        beside = {f"next {p.k}": rival, "MIN on demand": self._least[p.k], "paper": MEAN_HIT_PERCENT / 100}
        shown = hit_map_spec(
            result.ratios,
            OFFSETS,
            KS,
            chosen=(p.offset, p.k),
            room=_room(p.include_centre),
            oracle=oracle,
            beside=beside,
            usual=USUAL,
            papers_k=PAPERS_K,
        )
        model = TimeModel(p.judge, p.full)
        ratios = {"yours": result.band or result.scores.hit_ratio, f"next {p.k}": rival}
        return Drawing(
            finding=_finding(p, result, round(rival * self.n)),
            sub=self._about(),
            figures={"map": shown, "pays": pays_spec(model, ratios, chosen="yours", height=270)},
            panels={"numbers": _numbers(p, result, model, self._unlimited[p.k])},
            live=_live(result),
            code=setting_code(setting_of(p)),
        )

    def _about(self) -> str:
        names = ", ".join(workload.name for workload in self.workloads[:6]) + (" …" if len(self.workloads) > 6 else "")
        return f"{names}: {count(self.n, 'question')} with a row that answers, in order. A hit: such a row lies in the cache."

    def _replay(self, policy: Prefetcher) -> tuple[PrefetchRun, ...]:
        return tuple(replay_policy(workload, policy) for workload in self.workloads)

    def _map(self, p: TunerParameters) -> np.ndarray:
        shape = (p.weight, p.form, p.trigger, p.include_centre)
        return self._maps.setdefault(shape, np.full((len(KS), len(OFFSETS)), np.nan))

    def _rows_of_map(self, p: TunerParameters) -> Iterator[np.ndarray]:
        """Yield the map each time that one of its rows is full, the chosen k's first; cells are kept as they come."""
        ratios, room = self._map(p), _room(p.include_centre)
        for k in sorted(KS, key=lambda k: k != p.k):
            missing = np.flatnonzero(room[KS.index(k)] & np.isnan(ratios[KS.index(k)]))
            for at in missing:
                ratios[KS.index(k), at] = _ratio(self._replay(setting_of(replace(p, k=k, offset=OFFSETS[at]))))
                if p != self.parameters:
                    return
            if len(missing) or k == p.k:
                yield ratios.copy()


def setting_of(p: TunerParameters) -> WindowPrefetch:
    """Return the prefetcher that the controls describe."""
    place = PlaceTerm(form=p.form, weight=p.weight)
    return WindowPrefetch(k=p.k, offset=p.offset, include_centre=p.include_centre, trigger=p.trigger, place=place)


def _has_room(offset: int, k: int, include_centre: bool) -> bool:
    return 2 * offset + include_centre >= k


def _room(include_centre: bool) -> np.ndarray:
    return np.array([[_has_room(offset, k, include_centre) for offset in OFFSETS] for k in KS])


def _ratio(runs: Sequence[PrefetchRun]) -> float:
    return float(np.mean([served.hit for run in runs for served in run.demands]))


def _finding(p: TunerParameters, result: Tuned, rival: int) -> str:
    hits, n = round(result.scores.hit_ratio * result.scores.n), result.scores.n
    rivals = "the next row" if p.k == 1 else f"the next {p.k} rows"
    said = f"{hits} of {n} questions hit with ± {p.offset} and k = {p.k}; with {rivals} {rival}"
    gain = result.gain
    if gain is None or hits == rival:
        return said
    return said + (": the band of the difference spans 0" if gain.low <= 0 <= gain.high else ": a difference beyond its band")


def _live(result: Tuned) -> Html:
    band = result.band
    sure = f"95 % band {100 * band.low:.0f} to {100 * band.high:.0f} %" if band else "band: computing"
    ratio = tag("b", _percent(result.scores.hit_ratio), style="color:var(--cache-ink)")
    return tag("div", ratio, tag("span", f"hit, n = {result.scores.n}; {sure}"), cls="readout")


def _numbers(p: TunerParameters, result: Tuned, model: TimeModel, unlimited: float) -> Html:
    scores, gain = result.scores, result.gain
    more = f"{100 * gain.mean:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})" if gain else "computing"
    rows = (
        (f"Gain over next {p.k}", "in points, with its 95 % band", more),
        ("Unlimited oracle", "knows the questions, may choose any row", _percent(unlimited)),
        ("Hit or in history", "in the cache, or recalled in the last seven turns", _percent(scores.near_ratio)),
        ("Accuracy", "useful rows / rows brought in", _percent(scores.accuracy)),
        ("Coverage", "misses of a demand cache (LRU) that prefetch removes", _percent(scores.coverage)),
        ("Pollution", "questions that miss here, and hit in a demand cache", _percent(scores.pollution)),
        ("Brought in", "for each question", f"{scores.rows:.2f} rows, {scores.tokens:.0f} tokens"),
        ("Mean time", "of a question: J + (1 − hits) · F", f"{model.mean_seconds(scores.hit_ratio):.2f} s"),
    )
    title = tag("p", "What the cache costs and brings", cls="fig-title")
    sub = tag("p", f"± {p.offset}, k = {p.k}; point at a word for its meaning", cls="fig-sub")
    body = (
        tag("tr", tag("td", name, title=meaning), tag("td", value.replace("-", "−"), cls="num key"))
        for name, meaning, value in rows
    )
    return join(title, sub, tag("table", tag("tbody", *body), cls="grid live-numbers"))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %" if np.isfinite(share) else "–"
