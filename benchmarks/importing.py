"""`import ilstma_lab` beside `import numpy, faiss`, each in a fresh process."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.child import run_code
from benchmarks.measure import Result, interleaved

BOUND = 1.5
_TIMED = "import time; begun = time.perf_counter(); import {}; print(time.perf_counter() - begun)"


def run(*, n: int = 15) -> Iterator[Result]:
    """Yield the ratio of the statements' seconds; the interpreter's own start is not in them."""
    names = {"ours": "ilstma_lab", "theirs": "numpy, faiss"}
    taken = interleaved(
        {side: lambda name=name: float(run_code(_TIMED.format(name))) for side, name in names.items()}, n=n, warm_up=2
    )
    details = {f"import {names[side]}, ms": 1e3 * value for side, value in taken.items()}
    yield Result("import ilstma_lab, of import numpy, faiss", taken["ours"] / taken["theirs"], BOUND, "times", n, details)
