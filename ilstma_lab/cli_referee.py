"""`ilstma-lab evaluate referee`: what the referee keeps of what both searches find, with bands, beside other rules."""

from __future__ import annotations

import argparse
import json
from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from ilstma_lab.terminal import Progress, printable

if TYPE_CHECKING:
    from ilstma_lab.config import Config
    from ilstma_lab.models import Models


def add_parser(parts: argparse._SubParsersAction) -> None:
    """Add `referee` to what `evaluate` can evaluate."""
    referee = parts.add_parser(
        "referee",
        help="what the referee between both searches keeps and loses",
        description="Ask every question of a data set that has gold rows of both searches. Tell how often they agree, disagree, "
        "or the reading names no real row, and how often A alone, B alone, the referee and B's two rows hold the answer; and "
        "what the nearest summary in the query would change. The referee rules as the paper has it in each config.",
    )
    referee.add_argument("--data", default="ilstma5", metavar="NAMES", help="data sets, comma-separated (default: ilstma5)")
    referee.add_argument("--data-dir", metavar="DIR", help="the folder of data sets that are not bundled (or ILSTMA_LAB_DATA)")
    referee.add_argument(
        "--config", nargs="+", default=["paper", "measured"], metavar="CONFIG", help="as for `evaluate retrieval`"
    )
    referee.add_argument("--cassette", metavar="FILE", help="branch A as benchmarks/record_reading.py recorded it; needs --model")
    referee.add_argument("--model", metavar="NAME", help="the model that was recorded")
    referee.add_argument("--json", dest="json_file", metavar="FILE", help="write the figures to FILE")
    referee.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Print a report for each data set and config, and write what was asked for."""
    from ilstma_lab.cli_evaluate import config_of, datasets
    from ilstma_lab.cli_files import check_places, save
    from ilstma_lab.evaluation.referee import evaluate_referee
    from ilstma_lab.evaluation.retrieval import embed_once

    check_places(args.json_file)
    configs = {given: config_of(given) for given in args.config}
    sets = datasets(args)
    models = embed_once(_models(args))
    figures = []
    for name, topics in sets.items():
        for label, config in configs.items():
            with Progress(f"{name}, {label}") as progress:
                report = evaluate_referee(
                    topics,
                    _recorded(config) if args.cassette else config,
                    models=models,
                    data=name,
                    system=label,
                    with_summary=not args.cassette,  # what was joined with a summary was not recorded
                    progress=progress,
                )
            figures.append(report.to_dict())
            print(printable(str(report)), end="\n\n", flush=True)
    if args.json_file:
        save(args.json_file, json.dumps(figures, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    return 0


def _models(args: Namespace) -> Models:
    from ilstma_lab.errors import InputError
    from ilstma_lab.models import endpoint, offline
    from ilstma_lab.models.cassette import Cassette

    if bool(args.cassette) != bool(args.model):
        raise InputError("--cassette and --model go together: the recording, and the name of the model that was recorded")
    return endpoint(args.model, cassette=Cassette(args.cassette)) if args.cassette else offline()


def _recorded(config: Config) -> Config:
    from ilstma_lab.evaluation.cases import SMALL_READING

    return replace(config, retrieval=replace(config.retrieval, read_chunks=SMALL_READING))
