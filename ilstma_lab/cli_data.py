"""`ilstma-lab evaluate data`: what a data set holds, beside the paper's Table 2, and whether it is cut as the paper asks."""

from __future__ import annotations

import argparse
from argparse import Namespace

from ilstma_lab.terminal import printable


def add_parser(parts: argparse._SubParsersAction) -> None:
    """Add `data` to what `evaluate` can evaluate."""
    data = parts.add_parser(
        "data",
        help="what a data set holds, and whether it is cut as the paper asks",
        description="Count dialogues, questions and tokens of each topic beside ILSTMA's Table 2, and check the paper's "
        "partitioning principles: personal dialogues with a few general ones, labels, gold rows that exist, questions that come "
        "after the dialogues and do not stand in them.",
    )
    data.add_argument("--data", default="ilstma5", metavar="NAMES", help="data sets, comma-separated (default: ilstma5)")
    data.add_argument("--data-dir", metavar="DIR", help="the folder of data sets that are not bundled (or ILSTMA_LAB_DATA)")
    data.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Print both tables for each data set."""
    from ilstma_lab.cli_evaluate import datasets
    from ilstma_lab.evaluation.partition import partition_table
    from ilstma_lab.evaluation.table_2 import table_2

    for name, topics in datasets(args).items():
        print(printable(f"{table_2(topics, data=name)}\n\n{partition_table(topics).text()}"), end="\n\n", flush=True)
    return 0
