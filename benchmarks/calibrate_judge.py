"""Calibrate the offline hit judge and print what its docstring states: `python -m benchmarks.calibrate_judge --data-dir DIR`.

The kit's six topics, and MemoryBank in both languages where the folder holds it. A user's English and Chinese conversations stay
in one fold, and so do the two travel topics. Takes a minute or two.
"""

from __future__ import annotations

import argparse
import os

import numpy as np

from ilstma_lab.evaluation.datasets import DATA_VARIABLE, load_dataset
from ilstma_lab.evaluation.judging import Judged, bands, calibrate, confusion, judge_cases, judged, out_of_fold, rejudged, roc
from ilstma_lab.models import default_embedder
from ilstma_lab.models.extractive_judge import THRESHOLD, ExtractiveJudge
from ilstma_lab.protocols import Embedder

TARGET = 0.045  # a little under what is promised, so that it holds out of fold
KIT = ("ilstma5", "travel_zh")
MEMORYBANK = ("memorybank_en", "memorybank_cn")


def judge_all(names: tuple[str, ...], *, data_dir: str | None, embedder: Embedder) -> tuple[Judged, np.ndarray, np.ndarray]:
    """Return every case with its score, and for each case its data set and its fold."""
    judge, parts, sets, folds = ExtractiveJudge(threshold=-np.inf), [], [], []
    for name in names:
        for number, topic in enumerate(load_dataset(name, data_dir=data_dir)):
            part = judged(judge_cases([topic], embedder=embedder), judge)
            parts.append(part)
            sets += [name] * len(part)
            folds += [f"user {number}" if name in MEMORYBANK else topic.name.removesuffix("_zh")] * len(part)
    return Judged.concatenated(parts), np.array(sets), np.array(folds)


def report(table: Judged, sets: np.ndarray, folds: np.ndarray) -> None:
    """Print calibration, ROC and the tables; natural cases are all but the hard ones."""
    natural = table.origin != "hard"
    plain = table.where(natural)
    print(calibrate(plain, embedder=default_embedder().name, target=TARGET, groups=folds[natural]))
    curve = roc(plain)
    print(f"ROC, area {curve.area:.3f}")
    for allowed in (0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3):
        at = np.flatnonzero(curve.false_hit_rate <= allowed)[-1]
        print(f"  false hits {curve.false_hit_rate[at]:.3f}  hits {curve.hit_rate[at]:.3f}  threshold {curve.threshold[at]:.3f}")
    outside = out_of_fold(plain, groups=folds[natural], false_hits=TARGET)
    _rows("natural, out of fold", outside, sets[natural])
    _rows(f"natural, threshold {THRESHOLD}", rejudged(plain, THRESHOLD), sets[natural])
    hard = table.origin != "natural"
    _rows(
        f"hard: the gold window with and without its gold, threshold {THRESHOLD}",
        rejudged(table.where(hard), THRESHOLD),
        sets[hard],
    )
    for kind in ("recall", "general", "never_said"):
        part = rejudged(plain, THRESHOLD).where((plain.kind == kind) & ~plain.answerable)
        print(f"false hits, {kind} questions: {confusion(part).false_hit_rate:.3f} of {len(set(part.question))}")


def _rows(title: str, table: Judged, sets: np.ndarray) -> None:
    print(f"\n{title}")
    for name, part in (("all", table), *((name, table.where(sets == name)) for name in dict.fromkeys(sets.tolist()))):
        found, by_question, by_topic = confusion(part), bands(part), bands(part, by="topic")
        right = part.right[part.hit & part.answerable].mean()
        print(f"  {name:14} {len(part):5} cases, hits that quote a gold row {right:.2f}")
        for rate, band in by_question.items():
            low, high = by_topic[rate]
            value = getattr(found, rate)
            print(f"    {rate:15} {value:.3f}  by question {band[0]:.3f}-{band[1]:.3f}  by topic {low:.3f}-{high:.3f}")


def main() -> None:
    """Judge, calibrate, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", default=os.environ.get(DATA_VARIABLE), help="the folder that holds memorybank/")
    data_dir = parser.parse_args().data_dir
    names = KIT + MEMORYBANK if data_dir else KIT
    report(*judge_all(names, data_dir=data_dir, embedder=default_embedder()))


if __name__ == "__main__":
    main()
