"""Record a conversation of ten turns with a real model: `python -m benchmarks.record_chat MODEL FILE [--topic travel_zh]`.

The topic's first ten questions, in order, each answer streamed and stored as a row, as in a chat. A recording that broke off goes
on. The endpoint comes from OPENAI_BASE_URL and OPENAI_API_KEY.
"""

from __future__ import annotations

import argparse

from ilstma_lab import endpoint
from ilstma_lab.evaluation.recorded import recorded_chat
from ilstma_lab.models.cassette import Cassette


def main() -> None:
    """Record, and print one line for each turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("file", help="the cassette; one that is there is gone on with")
    parser.add_argument("--topic", default="travel")
    options = parser.parse_args()
    models = endpoint(options.model, timeout=600, cassette=Cassette(options.file, mode="extend"))
    pieces = 0

    def count(event) -> None:
        nonlocal pieces
        pieces += event.kind == "piece"

    for turn in recorded_chat(options.topic, models, on_event=count):
        failed = f" {turn.failure.message}" if turn.failure else ""
        met = "hit " if turn.hit else "miss"
        print(f"{turn.number:2} {met} {turn.seconds:5.1f} s, {pieces} pieces  {turn.answer[:80]}{failed}", flush=True)
        pieces = 0


if __name__ == "__main__":
    main()
