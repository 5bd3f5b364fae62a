"""The window tuner: hit ratio over offset and k on real question sequences, with the bounds, and whether it pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ilstma_lab.errors import InputError
from ilstma_lab.evaluation.bootstrap import Band
from ilstma_lab.evaluation.papers import MEAN_HIT_PERCENT
from ilstma_lab.evaluation.prefetch_scores import PrefetchScores, hit_band, hit_difference, prefetch_scores
from ilstma_lab.evaluation.prefetching import PrefetchRun, replay_policy
from ilstma_lab.evaluation.timing import TimeModel
from ilstma_lab.evaluation.workload import Workload
from ilstma_lab.plots.pays import pays_spec
from ilstma_lab.plots.prefetch import tuner_spec
from ilstma_lab.prefetch.bounds import oracle_hits
from ilstma_lab.prefetch.policies import DemandLru, NextRows
from ilstma_lab.prefetch.score import PlaceTerm
from ilstma_lab.prefetch.window import WindowPrefetch
from ilstma_lab.reprs.markup import Html, join, tag
from ilstma_lab.reprs.words import count
from ilstma_lab.widgets.controls import choice, slider, switch
from ilstma_lab.widgets.explorable import Drawing, Explorable, Pick
from ilstma_lab.widgets.score_strip import FORMS

OFFSETS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20)
KS = tuple(range(1, 9))
_PAPER = TimeModel.from_table4()


@dataclass(frozen=True)
class TunerParameters:
    """The prefetch's parameters and the seconds of a judgement and of the full path, at first those that Table 4 implies."""

    offset: int = choice(5, {str(offset): offset for offset in OFFSETS}, label="Offset, rows each side", dropdown=True)
    k: int = slider(3, 1, KS[-1], 1, label="k", about="rows cached", unit="rows")
    weight: float = slider(1.0, 0, 4, 0.1, label="Weight of place", unit="× time")
    form: str = choice("nearness", FORMS, label="Place form")
    trigger: str = choice("miss", {"A miss": "miss", "Every question": "every"}, label="Refill after")
    include_centre: bool = switch(True, label="The recalled row may be cached")
    judge: float = slider(round(_PAPER.judge_seconds, 2), 0, 5, 0.01, label="J", about="a judgement", unit="s", digits=2)
    full: float = slider(_PAPER.full_seconds, 0.1, 60, 0.01, label="F", about="the full path", unit="s", digits=2)


@dataclass(frozen=True)
class Tuned:
    """The chosen setting's runs, and the map of hit ratios as far as it is known."""

    runs: tuple[PrefetchRun, ...]
    scores: PrefetchScores
    band: Band
    gain: Band
    ratios: np.ndarray


class WindowTuner(Explorable):
    """Drag offset, k, weight and form, and see how often the answer's row would have lain in the cache.

    `workloads`: what `workload_of`, `load_workloads` or `generate` return, one or several. Click a cell of the map to choose it.
    """

    Parameters = TunerParameters
    eyebrow = "Prefetch lab, window and k"
    try_this = "Find the best cell at k = 3. Is its gain over “next 3” larger than the band, and would you bet on it elsewhere?"
    given = "workloads"
    presets: ClassVar = {
        "Paper as meant": TunerParameters(),
        "As printed": TunerParameters(form="literal", include_centre=False),
        "Place alone": TunerParameters(weight=4.0),
        "Wide": TunerParameters(offset=20),
    }
    rows = ((("tuner", 1),), (("pays", 570), ("numbers", 372)))

    def __init__(self, workloads: Workload | Sequence[Workload], **parameters: Any):
        self.workloads = (workloads,) if isinstance(workloads, Workload) else tuple(workloads)
        if not sum(len(workload) for workload in self.workloads):
            raise InputError("no question of these workloads has a row that answers it: there is nothing to hit")
        self._demands = [_positions(workload) for workload in self.workloads]
        self._baselines = {k: self._replay(DemandLru(k=k)) for k in KS}
        self._rivals = {k: self._replay(NextRows(k=k)) for k in KS}
        self._oracle: dict[tuple[int, int], float] = {}
        self._maps: dict[tuple, np.ndarray] = {}
        super().__init__(**parameters)

    def settle(self, old: TunerParameters, new: TunerParameters) -> TunerParameters:
        """Return `new` with the offset at which the window has room for k."""
        room = [offset for offset in OFFSETS if 2 * offset + new.include_centre >= new.k]
        return new if new.offset in room else replace(new, offset=room[0])

    def picked(self, figure: str, pick: Pick, p: TunerParameters) -> TunerParameters | None:
        """Return the parameters of the cell that was picked."""
        if figure != "tuner":
            return None
        at, row = OFFSETS.index(p.offset), KS.index(p.k)
        if pick.kind == "step":
            at, row = at + int(pick.x), row + int(pick.y)
        elif pick.trace == "hits, %":
            at, row = round(pick.x), round(pick.y)
        else:
            at = round(pick.x)
        if not (0 <= at < len(OFFSETS) and 0 <= row < len(KS)):
            return None
        return self.settle(p, replace(p, offset=OFFSETS[at], k=KS[row]))

    def compute(self, p: TunerParameters) -> Tuned:
        """Return the chosen setting's runs, with the map if it is known."""
        runs = self._replay(setting_of(p))
        known = self._maps.get(_shape(p))
        if known is None:
            known = np.full((len(KS), len(OFFSETS)), np.nan)
        band, gain = hit_band(runs), hit_difference(runs, self._rivals[p.k])
        ratios = known.copy()
        ratios[KS.index(p.k), OFFSETS.index(p.offset)] = band.mean
        return Tuned(runs, prefetch_scores(runs, self._baselines[p.k]), band, gain, ratios)

    def refine(self, p: TunerParameters, result: Tuned) -> Tuned:
        """Return the result with the whole map."""
        if _shape(p) not in self._maps:
            self._maps[_shape(p)] = np.array([[self._ratio(replace(p, k=k, offset=o)) for o in OFFSETS] for k in KS])
        return replace(result, ratios=self._maps[_shape(p)])

    def draw(self, p: TunerParameters, result: Tuned) -> Drawing:
        """Return map, break-even chart and numbers."""
        oracle = [self._oracle_ratio(p.k, offset) for offset in OFFSETS]
        rival = hit_band(self._rivals[p.k])
        tuner = tuner_spec(
            result.ratios,
            OFFSETS,
            KS,
            chosen=(p.offset, p.k),
            oracle=oracle,
            beside={f"next {p.k}": rival.mean},
            claimed=MEAN_HIT_PERCENT / 100,
        )
        model = TimeModel(p.judge, p.full)
        ratios = {"yours": result.band, f"next {p.k}": rival.mean, "oracle": float(oracle[OFFSETS.index(p.offset)])}
        setting = setting_of(p)
        return Drawing(
            finding=_finding(p, result),
            sub=self._about(),
            figures={"tuner": tuner, "pays": pays_spec(model, ratios, chosen="yours", height=270)},
            panels={"numbers": _numbers(p, result, model)},
            live=_live(result, model),
            code=f"from ilstma_lab.prefetch.window import WindowPrefetch\n\n{setting!r}",
        )

    def _about(self) -> str:
        names = ", ".join(workload.name for workload in self.workloads[:6]) + (" …" if len(self.workloads) > 6 else "")
        n = sum(len(workload) for workload in self.workloads)
        return f"{names}: {count(n, 'question')} with a row that answers; a hit is such a row in the cache"

    def _replay(self, policy: Any) -> tuple[PrefetchRun, ...]:
        return tuple(replay_policy(workload, policy) for workload in self.workloads)

    def _ratio(self, p: TunerParameters) -> float:
        if 2 * p.offset + p.include_centre < p.k:
            return float("nan")
        return float(np.mean([served.hit for run in self._replay(setting_of(p)) for served in run.demands]))

    def _oracle_ratio(self, k: int, offset: int) -> float:
        if (k, offset) not in self._oracle:
            hits = sum(oracle_hits(demands, k, offset=offset) for demands in self._demands)
            self._oracle[k, offset] = hits / sum(len(workload) for workload in self.workloads)
        return self._oracle[k, offset]


def setting_of(p: TunerParameters) -> WindowPrefetch:
    """Return the prefetcher that the controls describe."""
    place = PlaceTerm(form=p.form, weight=p.weight)
    return WindowPrefetch(k=p.k, offset=p.offset, include_centre=p.include_centre, trigger=p.trigger, place=place)


def _shape(p: TunerParameters) -> tuple:
    return p.weight, p.form, p.trigger, p.include_centre


def _positions(workload: Workload) -> list[tuple[int, ...]]:
    return [tuple(workload.table.position(row) for row in access.gold) for access in workload.accesses]


def _finding(p: TunerParameters, result: Tuned) -> str:
    hits, n = round(result.band.mean * result.scores.n), result.scores.n
    against = "no more than" if result.gain.mean <= 0 else "more than"
    sure = result.gain.low > 0 or result.gain.high < 0
    doubt = "" if sure or result.gain.mean == 0 else ", and the band leaves it open"
    return f"{hits} of {n} questions hit with ± {p.offset} and k = {p.k}: {against} with the next {p.k}{doubt}"


def _live(result: Tuned, model: TimeModel) -> Html:
    band = f"{100 * result.band.low:.0f} to {100 * result.band.high:.0f} % (95 %), n = {result.scores.n}"
    return tag("div", tag("b", f"{100 * result.band.mean:.1f} %"), tag("span", "hit; ", band), cls="readout")


def _numbers(p: TunerParameters, result: Tuned, model: TimeModel) -> Html:
    scores, gain = result.scores, result.gain
    seconds = model.band(result.band)
    rows = (
        ("Hits, or in the last seven turns", f"{100 * scores.near_ratio:.1f} %"),
        (f"Gain over next {p.k}, in points", f"{100 * gain.mean:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"),
        ("Accuracy: useful / brought in", f"{100 * scores.accuracy:.1f} %"),
        ("Coverage: misses of LRU removed", f"{100 * scores.coverage:.1f} %"),
        ("Pollution: misses that LRU hit", f"{100 * scores.pollution:.1f} %"),
        ("Brought in, a question", f"{scores.rows:.2f} rows, {scores.tokens:.0f} tokens"),
        ("Mean time, a question", f"{seconds.mean:.2f} s ({seconds.low:.2f} to {seconds.high:.2f})"),
    )
    title = tag("p", "What the cache costs and brings", cls="fig-title")
    sub = tag("p", "the field's words; bands are 95 %, paired where two are compared", cls="fig-sub")
    body = (tag("tr", tag("td", name), tag("td", value.replace("-", "−"), cls="num key")) for name, value in rows)
    return join(title, sub, tag("table", tag("tbody", *body), cls="grid live-numbers"))
