"""Record what systems answer with a real model: `python -m benchmarks.record_systems MODEL FILE`.

Asks the questions of one topic in their order of each system, with the same token budget. The cassette keeps each call's reply,
seconds and tokens; what it holds already is not asked again. Then prints what the recording comes to. The endpoint comes from
OPENAI_BASE_URL and OPENAI_API_KEY. Run it with nothing else on the machine.
"""

from __future__ import annotations

import argparse

from ilstma_lab import endpoint
from ilstma_lab.evaluation.recorded import NO_PREFIX_CACHE
from ilstma_lab.evaluation.recorded_systems import ask_each, recorded_systems
from ilstma_lab.evaluation.timing import model_seconds
from ilstma_lab.models.cassette import Cassette


def main() -> None:
    """Record, and print one line for each question and for each system."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("file", help="the cassette; one that is there is gone on with")
    parser.add_argument("--topic", default="travel")
    options = parser.parse_args()
    cassette = Cassette(options.file, mode="extend")
    models = endpoint(options.model, timeout=600, cassette=cassette, fields=NO_PREFIX_CACHE)
    for name, question, turn in ask_each(options.topic, models):
        print(f"{name:12} {question.id} {model_seconds(turn):5.1f} s {turn.failure or ''}", flush=True)
    for found in recorded_systems(options.topic, models):
        print(found)


if __name__ == "__main__":
    main()
