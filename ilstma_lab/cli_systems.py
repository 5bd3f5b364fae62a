"""`ilstma-lab evaluate systems`: memory systems on the same questions, with bands, beside yardsticks and the papers' claims."""

from __future__ import annotations

import argparse
import json
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ilstma_lab.cli_files import check_places, figure_file, save
from ilstma_lab.errors import InputError
from ilstma_lab.terminal import Progress, printable, say

if TYPE_CHECKING:
    from ilstma_lab.evaluation.bench import Bench
    from ilstma_lab.models import Models
    from ilstma_lab.protocols import Grader

_GRADERS = ("facts", "exact", "f1", "model")
_FAVOURITE = ("ILSTMA (measured)", "ILSTMA")


def add_parser(parts: argparse._SubParsersAction) -> None:
    """Add `systems` to what can be evaluated."""
    systems = parts.add_parser(
        "systems",
        help="how well each memory system answers, and what it costs",
        description="Ask every question of a data set of several memory systems, each on its own fork of the same table. "
        "Offline, or with --model through an OpenAI-compatible endpoint, whose key is read from OPENAI_API_KEY alone.",
    )
    systems.add_argument(
        "--systems",
        default="all",
        metavar="NAMES",
        help="comma-separated: all, ablations, the names or titles of single systems, or module:Class of your own (default: all)",
    )
    systems.add_argument("--no-yardsticks", action="store_true", help="leave out what every comparison should be held against")
    systems.add_argument("--data", default="ilstma5", metavar="NAMES", help="data sets, comma-separated (default: ilstma5)")
    systems.add_argument("--data-dir", metavar="DIR", help="the folder of data sets that are not bundled (or ILSTMA_LAB_DATA)")
    systems.add_argument("--questions", type=_positive, metavar="N", help="only the first N questions of each topic")
    systems.add_argument("--repeats", type=_positive, default=1, metavar="N", help="runs of a system with a model (default: 1)")
    systems.add_argument(
        "--grader",
        default="facts",
        metavar="NAMES",
        help=f"comma-separated: {', '.join(_GRADERS)}; the first is the one that counts (default: facts)",
    )
    systems.add_argument("--model", help="the language model to ask; without it everything is offline")
    systems.add_argument("--base-url", metavar="URL", help="the endpoint's address (or OPENAI_BASE_URL)")
    systems.add_argument("--favourite", metavar="SYSTEM", help="which system the others are compared with, by its name or title")
    systems.add_argument(
        "--store",
        metavar="FILE",
        help="keep every answer in FILE; a run that was stopped goes on with it. A class of your own is known by its code, that "
        "of its base classes and of the files in which they stand; a change in modules that these import is not seen",
    )
    systems.add_argument("--jobs", type=_jobs, metavar="N", help="processes, a topic each (default: one a core, 1 with --model)")
    systems.add_argument("--by-kind", action="store_true", help="also a table for each kind of question")
    systems.add_argument("--json", dest="json_file", metavar="FILE", help="write the figures to FILE")
    systems.add_argument("--html", metavar="FILE", help="write the tables as a page to FILE")
    systems.add_argument(
        "--plot",
        type=figure_file,
        metavar="FILE",
        help="draw accuracy with bands (retrieve where too few answers are graded): FILE.html, or FILE.json for plotly",
    )
    systems.set_defaults(run=run)


def run(args: Namespace) -> int:
    """Print the tables of each data set, and write what was asked for."""
    from ilstma_lab.cli_evaluate import datasets
    from ilstma_lab.evaluation.asking import try_out
    from ilstma_lab.evaluation.lineup import lineup, named_in
    from ilstma_lab.models import offline

    check_places(args.json_file, args.html, args.plot, args.store)
    if args.base_url and not args.model:
        raise InputError("--base-url needs --model: name the language model to ask there")
    systems = lineup(_names(args.systems), yardsticks=not args.no_yardsticks)
    favourite = named_in(systems, args.favourite) if args.favourite else None
    if args.favourite and not favourite:
        raise InputError(f"--favourite: no system {args.favourite!r} is compared; there are {', '.join(systems)}")
    sets = datasets(args)
    if args.store and len(sets) > 1:
        raise InputError("--store keeps the answers of one data set: name one with --data")
    models = _models(args)
    graders = graders_of(args.grader, models)
    favourite = favourite or next((title for title in _FAVOURITE if title in systems), next(iter(systems)))
    try_out(systems, next(iter(sets.values())), models or offline())
    benches = []
    for name, topics in sets.items():
        benches.append(_bench(name, topics, systems, favourite, models, graders, args))
        print(printable(benches[-1].text(by_kind=args.by_kind)), end="\n\n", flush=True)
    _write(args, benches)
    return 0


def graders_of(given: str, models: Models | None) -> tuple[Grader, ...]:
    """Return the graders that --grader names. Raises InputError for an unknown one, or for "model" without a model."""
    from ilstma_lab.evaluation.grading import Exact, Facts, TokenF1

    known: Mapping[str, Callable[[], tuple[Grader, ...]]] = {
        "facts": lambda: (Facts("strict"), Facts("lenient")),
        "exact": lambda: (Exact(),),
        "f1": lambda: (TokenF1(),),
        "model": lambda: (_model_grader(models),),
    }
    names = _names(given)
    if unknown := [name for name in names if name not in known] or not names:
        raise InputError(f"--grader {given}: there are {', '.join(known)}" + (f"; not {unknown[0]}" if names else ""))
    return tuple(grader for name in names for grader in known[name]())


def _model_grader(models: Models | None) -> Grader:
    from ilstma_lab.evaluation.grade_model import ModelGrader

    if models is None or models.chat is None:
        raise InputError("--grader model needs --model: the language model that grades")
    return ModelGrader(models.chat)


def _models(args: Namespace) -> Models | None:
    from ilstma_lab.models import endpoint

    return endpoint(args.model, base_url=args.base_url) if args.model else None


def _bench(
    name: str, topics, systems, favourite: str, models: Models | None, graders: tuple[Grader, ...], args: Namespace
) -> Bench:
    from ilstma_lab.evaluation.bench import Bench
    from ilstma_lab.evaluation.experiment import first_questions, run_systems

    jobs = args.jobs or (1 if models else -1)
    with Progress(name) as progress:
        found = run_systems(
            first_questions(topics, args.questions) if args.questions else topics,
            systems,
            graders=graders,
            models=models,
            repeats=args.repeats,
            data=name,
            store=args.store,
            jobs=jobs,
            progress=progress,
            say=_say_below,
        )
    return Bench(found, favourite, graders[0].name)


def _write(args: Namespace, benches: list[Bench]) -> None:

    if args.json_file:
        figures = [bench.to_dict(by_kind=args.by_kind) for bench in benches]
        save(args.json_file, json.dumps(figures, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    if args.html:
        from ilstma_lab.reprs.bench import bench_page

        save(args.html, bench_page(benches))
    if args.plot:
        from ilstma_lab.evaluation.bench_verdict import judged_by
        from ilstma_lab.plots.bench import accuracy_bands
        from ilstma_lab.plots.template import page

        figure = accuracy_bands(benches[0], metric=judged_by(benches[0]) or "accuracy")
        save(args.plot, page(figure) if args.plot.endswith(".html") else figure.to_json())


def _say_below(note: str) -> None:
    """Print a line to stderr, on a terminal below that of the progress."""
    say(f"\n{note}" if sys.stderr.isatty() else note)


def _names(given: str) -> list[str]:
    return list(dict.fromkeys(filter(None, map(str.strip, given.split(",")))))


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of at least 1 is needed (got {text!r})")
    return int(text)


def _jobs(text: str) -> int:
    return -1 if text == "-1" else _positive(text)
