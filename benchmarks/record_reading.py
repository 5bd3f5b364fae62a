"""Record what a real model names as branch A's reader: `python -m benchmarks.record_reading MODEL FILE`.

Asks every question of ilstma5 that has gold, topic by topic, each once with few excerpts. A recording that broke off goes on
where it stopped; `ilstma-lab evaluate referee --cassette FILE --model MODEL` then tells what the referee makes of it.
The endpoint comes from OPENAI_BASE_URL and OPENAI_API_KEY.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from ilstma_lab import Config, endpoint
from ilstma_lab.evaluation.cases import SMALL_READING, Case, cases_of
from ilstma_lab.evaluation.datasets import load_dataset
from ilstma_lab.models.cassette import Cassette

_PATIENCE = 3  # failures in a row, after which the endpoint is taken to be down


def main() -> None:
    """Record, and print one line for each question and the decisions so far at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("file", help="the cassette; one that is there is gone on with")
    parser.add_argument("--data", default="ilstma5")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    options = parser.parse_args()
    failed, decisions = 0, Counter()
    for case in islice(read(options.model, Cassette(options.file, mode="extend"), options.data), options.limit):
        error = case.recall.branch_a.error
        failed = failed + 1 if error else 0
        decisions["failed" if error else case.decision] += 1
        print(line_of(case), flush=True)
        if failed == _PATIENCE:
            raise SystemExit(f"{_PATIENCE} questions in a row failed: look at the endpoint, and start again to go on")
    print(", ".join(f"{number} {decision}" for decision, number in decisions.most_common()))


def read(model: str, cassette: Cassette, data: str) -> Iterator[Case]:
    """Yield the questions of `data` as cases, as `model` reads them."""
    models = endpoint(model, timeout=600, cassette=cassette)
    config = Config(retrieval=replace(Config().retrieval, read_chunks=SMALL_READING))
    for topic in load_dataset(data):
        yield from cases_of(topic, config, models=models)


def line_of(case: Case) -> str:
    """Return a case on one line: decision, what A named of what gold, and the seconds of its calls."""
    branch_a = case.recall.branch_a
    if branch_a.error:
        return f"{case.id:<12} failed    {branch_a.error}"
    spent = sum(call.seconds for call in branch_a.reading.calls)
    kept = "kept" if case.found else "lost"
    named = case.named if case.named is not None else repr(branch_a.reading.raw[:40])
    return f"{case.id:<12} {case.decision:<9} gold {kept}  {spent:5.1f} s  A named {named}, gold {', '.join(map(str, case.gold))}"


if __name__ == "__main__":
    main()
