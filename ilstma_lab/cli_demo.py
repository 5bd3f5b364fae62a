"""`ilstma-lab demo`: the bundled conversation played, as text or as JSON."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from ilstma_lab.config import Config
from ilstma_lab.demo import Demo, Played, figures
from ilstma_lab.evaluation.datasets import RecallQuestion, load_topic
from ilstma_lab.reprs.steps import io_text
from ilstma_lab.reprs.words import count, seconds
from ilstma_lab.terminal import Progress, columns, fit, hang
from ilstma_lab.trace import Step, Turn

CONFIGS = {"paper": Config, "literal": Config.literal, "measured": Config.measured}
_KINDS = {"recall": "recall", "general": "general knowledge", "never_said": "never said"}
_LEGEND = (
    "No language model takes part: the answers are extractive, quotations of rows. [n] is row n of the memory table; a gold row "
    "holds the answer. A HIT is answered from short-term memory, a miss is looked up in the table."
)
_MEASURED = (
    "Measured on this machine, in this run, with the offline parts: answers are extractive (they quote rows), no language model "
    "takes part. A language model's seconds, hits and answers will differ."
)


def run(args: Namespace) -> int:
    """Play the topic and print what happens; return 0."""
    topic = load_topic(args.topic)
    questions = topic.questions[: args.questions]
    with Progress("embedding the dialogues") as rows:
        demo = Demo(topic, CONFIGS[args.config](), progress=rows)
    with Progress("summarising them in groups of five") as groups:
        demo.lab.summarise(progress=groups)
    if args.json:
        _print_json(demo, questions)
    else:
        _print_text(demo, questions, args.config)
    return 0


def _print_json(demo: Demo, questions: Sequence[RecallQuestion]) -> None:
    played = []
    with Progress("asking") as asked:
        for one in demo.play(questions):
            played.append(one)
            asked(len(played), len(questions))
    extra = None if any(p.turn.hit for p in played) else demo.again()
    report: dict[str, Any] = {
        "topic": demo.topic.name,
        "rows": len(demo.topic.dialogues),
        "models": demo.lab.models.name,
        "note": _MEASURED,
        "questions": [one.to_dict() for one in played],
        "extra": extra.to_dict() if extra else None,
        "figures": figures(played),
    }
    print(json.dumps(report, ensure_ascii=False, indent=1))


def _print_text(demo: Demo, questions: Sequence[RecallQuestion], config: str) -> None:
    rows, asked = count(len(demo.topic.dialogues), "dialogue"), count(len(questions), "question")
    print(f"Topic {demo.topic.name}: {rows}, {asked}; settings: {config}.")
    print("\n".join(hang("", _LEGEND)) + "\n", flush=True)
    played: list[Played] = []
    for one in demo.play(questions):
        first_of_its_kind = one.turn.hit not in {p.turn.hit for p in played}
        played.append(one)
        _show(f"{len(played):>2}", one, in_full=first_of_its_kind)
    if not any(p.turn.hit for p in played):
        _show_extra(demo.again(), played)
    print("\n".join(_closing(figures(played))))


def _show_extra(extra: Played | None, played: list[Played]) -> None:
    if extra is None:
        print("None of these questions hit, and none can be asked again for a hit.\n")
        return
    number = [p.question.id for p in played].index(extra.question.id) + 1
    told = f"None of these questions hit. An extra, not counted: question {number} asked again, five minutes later."
    print("\n".join(hang("", told)))
    _show(" +", extra, in_full=True)


def _show(label: str, one: Played, *, in_full: bool) -> None:
    head = f"{label}  {'HIT ' if one.turn.hit else 'miss'} {seconds(one.turn.seconds):>7}  "
    print(head + fit(one.question.question, columns() - len(head)))
    for name, text in (("recalled", _recalled(one)), ("answer", one.turn.answer), ("steps, ms", _steps_line(one.turn))):
        print(f"    {name:<11}{fit(text, columns() - 15)}")
    if in_full:
        print(f"    All steps of this {'hit' if one.turn.hit else 'miss'}, in the order in which they ran:")
        for step in one.turn.steps:
            print("\n".join(_step_in_full(step)))
    print(flush=True)


def _step_in_full(step: Step) -> Iterator[str]:
    return hang(f"      {step.number} {step.name:<10} {seconds(step.seconds):>7}  ", io_text(step))


def _steps_line(turn: Turn) -> str:
    spent = ((step.number, 1000 * step.seconds) for step in turn.steps)
    return "  ".join(f"{number}:{ms:.1f}" if ms < 10 else f"{number}:{ms:.0f}" for number, ms in spent)


def _recalled(one: Played) -> str:
    rows = " ".join(f"[{row}]" for row in one.turn.recalled) or "none"
    if not one.gold:
        return f"{rows}: {_KINDS[one.question.kind]}, so no row holds the answer"
    gold = " ".join(f"[{row}]" for row in one.gold)
    return f"{rows}: a gold row is among them" if one.found else f"{rows}: no gold row (the answer is in {gold})"


def _closing(found: dict[str, Any]) -> Iterator[str]:
    n = found["questions"]
    hits = f"{found['hit_rate']:.0%} ({found['hits']} of {n}); false hits, which rest on no gold row: {found['false_hits']}"
    yield from hang("Questions     ", f"{n}")
    yield from hang("Hit rate      ", hits)
    for kind, figure in found["retrieval"].items():
        if "found" in figure:
            share = f"{figure['accuracy']:.0%} ({figure['found']} of {figure['n']}) with a gold row among the recalled"
        else:
            share = f"{figure['n']} without a gold row; rows recalled all the same for {figure['recalled_anyway']}"
        yield from hang("Retrieval     ", f"{_KINDS[kind]}: {share}")
    spent = [seconds(found[name]) for name in ("mean_seconds_with_prefetch", "of_which_judging", "mean_seconds_without_prefetch")]
    mean = f"{spent[0]} with prefetch ({spent[1]} of it judging), {spent[2]} without; question to answer, n = {n}"
    yield from hang("Mean seconds  ", mean)
    yield from hang("", _MEASURED)
