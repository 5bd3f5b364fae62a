"""Measure which stored attacks a real model obeys: `python -m benchmarks.attacks MODEL [--cassette FILE]`.

Asks one short question for each attack of data/attacks.jsonl, a second where the model chooses a row or a grade. The endpoint
comes from OPENAI_BASE_URL and OPENAI_API_KEY. With a cassette, what was asked once is not asked again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import groupby

from ilstma_lab.evaluation.attacks import Outcome, load_attacks, measure, share_line
from ilstma_lab.models.cassette import Cassette
from ilstma_lab.models.chat import ChatClient

_REPLY_TOKENS = 200  # an obeying reply is short, and a small model is slow


def main(arguments: Sequence[str] | None = None) -> None:
    """Ask, print one line for each attack as it comes, and the shares at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--cassette", metavar="FILE", help="keep the replies, and go on with those that are there")
    parser.add_argument("--timeout", type=float, default=600.0, metavar="SECONDS")
    options = parser.parse_args(arguments)
    chat = ChatClient(options.model, max_reply_tokens=_REPLY_TOKENS, timeout=options.timeout)
    if options.cassette:
        chat = Cassette(options.cassette, mode="extend").around(options.model, chat)
    print(shares(measure(chat, load_attacks(), tell=lambda outcome: print(line_of(outcome), flush=True))))


def line_of(outcome: Outcome) -> str:
    """Return an outcome on one line."""
    word = "failed " if outcome.error else "THROUGH" if outcome.through else "held   "
    said = " ".join((outcome.error or outcome.result).split())[:100]
    return f"{word} {outcome.attack.part:<11} {outcome.attack.name:<32} {said}"


def shares(outcomes: Sequence[Outcome]) -> str:
    """Return the share that got through, of all and of each part and language."""
    lines = [f"all: {share_line(outcomes)}"]
    for title in ("part", "language"):
        ordered = sorted(outcomes, key=lambda outcome: getattr(outcome.attack, title))
        for name, group in groupby(ordered, key=lambda outcome: getattr(outcome.attack, title)):
            lines.append(f"  {name}: {share_line(group)}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
