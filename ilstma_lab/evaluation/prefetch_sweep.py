"""Sweeps: many settings of the prefetch over many workloads, in several processes, and gone on with where they broke off.

The processes are joblib's, whose backend may be a Dask or Ray cluster (`joblib.parallel_config`).
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ilstma_lab.config import Config
from ilstma_lab.errors import FormatError, InputError
from ilstma_lab.evaluation.prefetching import replay_policy
from ilstma_lab.evaluation.workload import Workload
from ilstma_lab.forgetting.rivals import AnyRetention
from ilstma_lab.forgetting.strength import AnyStrength
from ilstma_lab.prefetch.score import Form, PlaceTerm
from ilstma_lab.prefetch.window import WindowPrefetch

if TYPE_CHECKING:
    import pandas as pd

Curve = tuple[AnyStrength, AnyRetention]
Progress = Callable[[int, int], None]

_BATCH = 25
_COUNTS = frozenset({"demands", "hits", "near", "issued", "useful", "tokens"})
_WORDS = frozenset({"key", "data_hash", "version"})
_BEGINNING = '{"key": "'  # of every line, so of a torn one too


@dataclass(frozen=True, kw_only=True)
class Grid:
    """The settings of a sweep: every combination of these that a window has room for. `curves` are named pairs (S, R)."""

    offset: Sequence[int] = (1, 2, 3, 5, 8, 12, 20)
    k: Sequence[int] = (3,)
    form: Sequence[Form] = ("nearness",)
    weight: Sequence[float] = (1.0,)
    trigger: Sequence[str] = ("miss",)
    include_centre: Sequence[bool] = (True,)
    curves: Mapping[str, Curve] | None = None

    def settings(self) -> dict[str, WindowPrefetch]:
        """Return the prefetchers by a name that says what each is."""
        usual = WindowPrefetch()
        curves = self.curves or {"sigmoid": (usual.strength, usual.retention)}
        axes = (self.offset, self.k, self.form, self.weight, self.trigger, self.include_centre, curves)
        found = {}
        for offset, k, form, weight, trigger, centre, curve in itertools.product(*axes):
            if k > 2 * offset + centre or (not weight and form != self.form[0]):
                continue  # no room, or the same again: without weight the form of place makes no difference
            strength, retention = curves[curve]
            name = f"k {k}, offset {offset}, {form} x {weight:g}, {curve}, on {trigger}{'' if centre else ', centre out'}"
            found[name] = replace(
                usual,
                k=k,
                offset=offset,
                place=PlaceTerm(form=form, weight=weight),
                trigger=trigger,
                include_centre=centre,
                strength=strength,
                retention=retention,
            )
        return found


def sweep(
    workloads: Sequence[Workload],
    settings: Mapping[str, WindowPrefetch],
    *,
    path: str | Path | None = None,
    jobs: int = -1,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Return one row for each setting and workload: the setting, demands, hits, rows and tokens brought in, data and version.

    With `path` each result is appended to that JSONL file as it comes, and what stands there already is not run again: results
    are known by setting, data and version of the kit. `jobs` processes, -1 for one a core. `progress(done, total)`. Raises
    FormatError where the file holds anything else, which is left as it is.
    """
    import pandas as pd

    if not workloads or not settings:
        raise InputError("a sweep needs at least one workload and one setting")
    prints = {name: _print(setting) for name, setting in settings.items()}
    wanted = {_key(prints[name], work): (name, work) for work in workloads for name in settings}
    known = {key: row for key, row in _read(path).items() if key in wanted}
    missing = [(key, settings[name], work) for key, (name, work) in wanted.items() if key not in known]
    for done, row in enumerate(_run(missing, jobs), len(known) + 1):
        known[row["key"]] = row
        _append(path, row)
        if progress:
            progress(done, len(wanted))
    rows = [{"setting": name, "workload": work.name, **prints[name], **known[key]} for key, (name, work) in wanted.items()]
    return pd.DataFrame(rows).drop(columns="key")


def _run(missing: list[tuple[str, WindowPrefetch, Workload]], jobs: int) -> Iterator[dict[str, Any]]:
    from joblib import Parallel, delayed

    batches = []
    for _, group in itertools.groupby(missing, key=lambda one: id(one[2])):
        rest = list(group)
        batches += [rest[start : start + _BATCH] for start in range(0, len(rest), _BATCH)]
    work = (delayed(_batch)([(key, setting) for key, setting, _ in batch], batch[0][2]) for batch in batches)
    for rows in Parallel(n_jobs=jobs, return_as="generator_unordered")(work):
        yield from rows


def _batch(settings: list[tuple[str, WindowPrefetch]], workload: Workload) -> list[dict[str, Any]]:
    from ilstma_lab import __version__

    source = {"data_hash": workload.data_hash, "version": __version__}
    return [{"key": key, **_measure(setting, workload), **source} for key, setting in settings]


def _measure(setting: WindowPrefetch, workload: Workload) -> dict[str, Any]:
    run = replay_policy(workload, setting)
    issued = [row for served in run.served for row in served.issued]
    return {
        "demands": len(run.demands),
        "hits": sum(served.hit for served in run.demands),
        "near": sum(served.near for served in run.demands),
        "issued": len(issued),
        "useful": sum(len(served.useful) for served in run.served),
        "tokens": sum(workload.tokens[row] for row in issued),
    }


def _print(setting: WindowPrefetch) -> dict[str, Any]:
    """Return a setting as flat JSON values, with what would build it again."""
    plain = Config(prefetch=setting).to_dict()["prefetch"]
    place, curve = plain.pop("place"), {name: plain.pop(name) for name in ("strength", "retention")}
    return {**plain, **place, **{name: json.dumps(value, sort_keys=True) for name, value in curve.items()}}


def _key(setting: dict[str, Any], workload: Workload) -> str:
    from ilstma_lab import __version__

    asked = json.dumps([setting, workload.data_hash, __version__], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()[:16]


def _read(path: str | Path | None) -> dict[str, dict[str, Any]]:
    """Return the results that the file holds; half a line at its end, left by a run that was killed, is taken off."""
    if path is None or not Path(path).exists():
        return {}
    try:
        whole, newline, torn = Path(path).read_text(encoding="utf-8").rpartition("\n")
        rows = {row["key"]: row for row in map(json.loads, filter(None, whole.split("\n")))}
        if not all(_is_result(row) for row in rows.values()) or not (
            torn == "" or _BEGINNING.startswith(torn[: len(_BEGINNING)])
        ):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise FormatError(f"{path} does not hold the results of a sweep: give another path; nothing was written") from None
    if torn:
        Path(path).write_text(whole + newline, encoding="utf-8", newline="\n")
    return rows


def _is_result(row: dict[str, Any]) -> bool:
    return all(type(row[name]) is int and row[name] >= 0 for name in _COUNTS) and all(isinstance(row[n], str) for n in _WORDS)


def _append(path: str | Path | None, row: dict[str, Any]) -> None:
    if path is not None:
        with Path(path).open("a", encoding="utf-8", newline="\n") as file:
            file.write(json.dumps(row, allow_nan=False) + "\n")
