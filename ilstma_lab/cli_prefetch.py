"""`ilstma-lab evaluate prefetch`: every policy's hit ratio with bands, beside the bounds and the best setting of a sweep."""

from __future__ import annotations

import argparse
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ilstma_lab.errors import InputError
from ilstma_lab.terminal import Progress, hang, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ilstma_lab.evaluation.prefetch_report import PolicyComparison
    from ilstma_lab.evaluation.workload import Workload

_OFFSETS = (1, 2, 3, 5, 8, 12, 16, 20, 30)
_WEIGHTS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


def add_parser(parts: argparse._SubParsersAction) -> None:
    """Add `prefetch` to what can be evaluated."""
    prefetch = parts.add_parser(
        "prefetch",
        help="how often the answer's row lay in the cache, for each policy",
        description="Replay the questions of a data set in order through each prefetch policy. No model is asked: a hit is a "
        "row that answers, in the cache. A miss recalls such a row, or with --recall measured what retrieval really finds.",
    )
    prefetch.add_argument("--data", default="ilstma5", metavar="NAMES", help="data sets, comma-separated (default: ilstma5)")
    prefetch.add_argument("--data-dir", metavar="DIR", help="the folder of data sets that are not bundled (or ILSTMA_LAB_DATA)")
    prefetch.add_argument("--k", type=int, default=3, help="rows that the cache holds (default: 3)")
    prefetch.add_argument("--offset", type=int, default=5, help="rows at each side of the recalled row (default: 5)")
    prefetch.add_argument("--recall", choices=("perfect", "measured"), default="perfect", help="what a miss recalls")
    prefetch.add_argument("--by-kind", action="store_true", help="also the hit ratio for each kind of question")
    prefetch.add_argument("--judge", action="store_true", help="also what the offline judge says of ILSTMA's caches")
    prefetch.add_argument("--card", action="store_true", help="first print what the questions are like")
    prefetch.add_argument(
        "--sweep",
        metavar="FILE",
        help="choose the best of many settings on some topics and test it on the rest; results go into FILE (JSONL), which a "
        "later run goes on with",
    )
    prefetch.add_argument("--csv", type=Path, metavar="FILE", help="write the table of policies to FILE")
    prefetch.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Print a table for each data set."""
    import pandas as pd

    from ilstma_lab.cli_files import check_places
    from ilstma_lab.evaluation.datasets import load_dataset
    from ilstma_lab.evaluation.prefetch_report import compare_policies
    from ilstma_lab.evaluation.workload import with_retrieval, workload_of
    from ilstma_lab.evaluation.workload_card import workload_card
    from ilstma_lab.prefetch.policies import standard_policies

    check_places(args.sweep, args.csv and str(args.csv))
    sets = {name: load_dataset(name, data_dir=args.data_dir) for name in _names(args.data)}
    frames = []
    for name, topics in sets.items():
        if args.sweep and len(topics) < 2:
            raise InputError(f"--sweep chooses on some topics and tests on others: {name} has one")
        workloads = [workload_of(topic) for topic in topics]
        if args.recall == "measured":
            workloads = [with_retrieval(workload) for workload in workloads]
        if args.card:
            print(printable(str(workload_card(workloads))), end="\n\n")
        policies = standard_policies(k=args.k, offset=args.offset)
        found = compare_policies(name, workloads, policies, rival=f"next {args.k}", k=args.k, offset=args.offset)
        print(printable(found.text()), flush=True)
        if args.by_kind:
            print(printable(f"\n{found.by_kind().round(2).to_string()}"), flush=True)
        if args.judge:
            print(_judged(found), flush=True)
        if args.sweep:
            print(printable(_swept(name, workloads, found, args)), flush=True)
        print()
        frames.append(found.to_frame().assign(data=name))
    if args.csv and frames:
        pd.concat(frames).to_csv(args.csv)
    return 0


def _names(given: str) -> list[str]:
    names = list(dict.fromkeys(filter(None, map(str.strip, given.split(",")))))
    if not names:
        raise InputError("--data names no data set; try --data ilstma5")
    return names


def _judged(found: PolicyComparison) -> str:
    from ilstma_lab.evaluation.prefetch_judging import judged_runs, precision_recall
    from ilstma_lab.models import offline

    judge = offline().judge
    curve = precision_recall(judged_runs(found.runs["ILSTMA"], judge))
    lines = [
        "",
        "The offline judge on ILSTMA's caches: is its “hit” one, and are the hits found?",
        "threshold  precision  recall  hits",
    ]
    for threshold in (0.3, 0.35, 0.4, 0.45, 0.5, 0.6):
        precision, recall, ratio = curve.at(threshold)
        lines.append(f"{threshold:<11.2f}{precision:<11.2f}{recall:<8.2f}{ratio:.2f}")
    return "\n".join(lines)


def _swept(name: str, workloads: Sequence[Workload], found: PolicyComparison, args: Namespace) -> str:
    from ilstma_lab.evaluation.prefetch_report import hold_out
    from ilstma_lab.evaluation.prefetch_sweep import Grid, sweep

    forms, centres = ("nearness", "rescaled", "literal"), (True, False)
    grid = Grid(offset=_OFFSETS, k=(args.k,), form=forms, weight=_WEIGHTS, trigger=("miss", "every"), include_centre=centres)
    settings = grid.settings()
    with Progress(f"{name}, {len(settings)} settings") as progress:
        swept = sweep(workloads, settings, path=args.sweep, progress=progress)
    return "\n".join(hang("", str(hold_out(swept, found.runs[found.rival]))))
