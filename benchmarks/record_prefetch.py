"""Record how long a real model takes with and without prefetch: `python -m benchmarks.record_prefetch MODEL FILE`.

Asks the questions of one topic in their order, each first of a lab that judges and prefetches, then of one that always takes the
full path. What both send is asked once. The cassette keeps each call's reply, seconds and tokens; lesson 09 reads it.
The endpoint comes from OPENAI_BASE_URL and OPENAI_API_KEY. Run it with nothing else on the machine.
"""

from __future__ import annotations

import argparse

from ilstma_lab import endpoint
from ilstma_lab.evaluation.recorded import NO_PREFIX_CACHE, ask_both
from ilstma_lab.models.cassette import Cassette


def main() -> None:
    """Record, and print one line for each question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("file", help="the cassette; one that is there is gone on with")
    parser.add_argument("--topic", default="travel")
    parser.add_argument("--judge-calls", type=int, choices=(1, 2), default=1)
    options = parser.parse_args()
    cassette = Cassette(options.file, mode="extend")
    models = endpoint(options.model, timeout=600, judge_calls=options.judge_calls, cassette=cassette, fields=NO_PREFIX_CACHE)
    for asked in ask_both(options.topic, models):
        print(asked, flush=True)


if __name__ == "__main__":
    main()
