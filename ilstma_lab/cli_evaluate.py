"""`ilstma-lab evaluate retrieval`: how often the right dialogue is found, with bands, beside BM25."""

from __future__ import annotations

import argparse
import json
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ilstma_lab import cli_data, cli_prefetch, cli_referee, cli_systems
from ilstma_lab.cli_files import check_places, figure_file, save
from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.terminal import Progress, printable, say

if TYPE_CHECKING:
    from ilstma_lab.config import Config
    from ilstma_lab.evaluation.datasets import Topic
    from ilstma_lab.evaluation.report import Comparison
    from ilstma_lab.evaluation.retrieval import RetrievalReport
    from ilstma_lab.models import Models

_PRESETS = ("paper", "literal", "measured")


def add_parser(commands: argparse._SubParsersAction) -> None:
    """Add `evaluate` and what it can evaluate to the command line."""
    evaluate = commands.add_parser("evaluate", help="measure the memory on questions whose answers are known")
    parts = evaluate.add_subparsers(required=True, metavar="PART")
    retrieval = parts.add_parser(
        "retrieval",
        help="how often the dialogue that holds the answer is found",
        description="Ask every question of a data set that has gold rows, and tell how often one of them is found: by branch A's "
        "reading, by branch B's ranking, and after the referee; beside BM25. The last --config is compared with all others.",
    )
    retrieval.add_argument("--data", default="ilstma5", metavar="NAMES", help="data sets, comma-separated (default: ilstma5)")
    retrieval.add_argument("--data-dir", metavar="DIR", help="the folder of data sets that are not bundled (or ILSTMA_LAB_DATA)")
    retrieval.add_argument(
        "--config",
        nargs="+",
        default=["paper", "measured"],
        metavar="CONFIG",
        help="paper, literal, measured, or a JSON file that Config.to_dict wrote (default: paper measured)",
    )
    retrieval.add_argument("--by-kind", action="store_true", help="also a table for each kind of question")
    retrieval.add_argument("--json", dest="json_file", metavar="FILE", help="write the figures to FILE")
    retrieval.add_argument("--plot", type=figure_file, metavar="FILE", help="draw them: FILE.html, or FILE.json for plotly")
    retrieval.set_defaults(run=run)
    cli_referee.add_parser(parts)
    cli_prefetch.add_parser(parts)
    cli_data.add_parser(parts)
    cli_systems.add_parser(parts)


def run(args: Namespace) -> int:
    """Print a table for each data set, and write what was asked for."""
    from ilstma_lab.evaluation.retrieval import embed_once
    from ilstma_lab.models import offline

    check_places(args.json_file, args.plot)
    configs = {given: config_of(given) for given in args.config}
    sets = datasets(args)
    models = embed_once(offline())
    comparisons = []
    for name, topics in sets.items():
        comparisons.append(_compare(name, topics, configs, models))
        print(printable(comparisons[-1].text(by_kind=args.by_kind)), end="\n\n", flush=True)
    _write(args, comparisons)
    return 0


def datasets(args: Namespace) -> dict[str, list[Topic]]:
    """Return the data sets that --data names, by name. Raises InputError where it names none."""
    from ilstma_lab.evaluation.datasets import load_dataset

    names = list(dict.fromkeys(name.strip() for name in args.data.split(",") if name.strip()))
    if not names:
        raise InputError("--data names no data set; try --data ilstma5")
    return {name: load_dataset(name, data_dir=args.data_dir) for name in names}


def _compare(name: str, topics: Sequence[Topic], configs: dict[str, Config], models: Models) -> Comparison:
    from ilstma_lab.evaluation.report import Comparison
    from ilstma_lab.evaluation.retrieval import evaluate_retrieval

    reports = []
    for label, config in configs.items():
        with Progress(f"{name}, {label}") as progress:
            reports.append(evaluate_retrieval(topics, config, models=models, system=label, progress=progress))
    rows = sum(len(topic.dialogues) for topic in topics)
    return Comparison(name, rows, (*reports, *_baselines(topics)), favourite=reports[-1].system)


def _baselines(topics: Sequence[Topic]) -> list[RetrievalReport]:
    from ilstma_lab.evaluation.baselines import MissingBaseline
    from ilstma_lab.evaluation.retrieval import evaluate_bm25

    reports = []
    try:
        for stemmed in (False, True):
            reports.append(evaluate_bm25(topics, stemmed=stemmed))
    except MissingBaseline as error:
        say(f"note: {error}")
    return reports


def _write(args: Namespace, comparisons: Sequence[Comparison]) -> None:
    if args.json_file:
        figures = [comparison.to_dict(by_kind=args.by_kind) for comparison in comparisons]
        save(args.json_file, json.dumps(figures, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    if args.plot:
        from ilstma_lab.plots.retrieval import found_share
        from ilstma_lab.plots.template import page

        figure = found_share(comparisons)
        save(args.plot, page(figure) if args.plot.endswith(".html") else figure.to_json())


def config_of(given: str) -> Config:
    """Return a preset by its name, or the config that a JSON file holds. Raises InputError, FormatError."""
    from ilstma_lab.config import Config

    if given in _PRESETS:
        return {"paper": Config, "literal": Config.literal, "measured": Config.measured}[given]()
    try:
        data = json.loads(Path(given).read_text(encoding="utf-8-sig"))
        if not isinstance(data, dict):
            raise TypeError("an object { } of parameters is needed")
        return Config.from_dict(data)
    except OSError as error:
        raise InputError(f"--config {given}: {error.strerror}; give one of {', '.join(_PRESETS)}, or a JSON file") from None
    except (ValueError, TypeError) as error:
        raise FormatError(f"--config {given} holds no config: {error}") from None
