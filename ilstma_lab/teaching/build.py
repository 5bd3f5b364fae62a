"""One source, two notebooks: notebooks/solutions/NN_name.ipynb is written by hand, notebooks/NN_name.ipynb is made from it.

    python -m ilstma_lab.teaching.build           # strip the solutions, and write the learners' notebooks
    python -m ilstma_lab.teaching.build --check   # only say which are out of date

In a code cell tagged `solution`, the lines from "# solution" to "# end of solution" become "# your turn", and the tag becomes
`exercise`. Any other cell tagged `solution` is left out for the learner. All else is the same in both.
"""

from __future__ import annotations

import argparse
import copy
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ilstma_lab import resources

Notebook = dict[str, Any]
SOLUTION, EXERCISE = "solution", "exercise"
_WORKED = re.compile(r"^([ ]*)# solution$.*?^[ ]*# end of solution$", re.M | re.S)
_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def learner(source: Notebook) -> Notebook:
    """Return the learner's notebook made from a solution; `source` is not changed."""
    made = copy.deepcopy(source)
    made["cells"] = [
        _for_the_learner(cell) for cell in made["cells"] if SOLUTION not in _tags(cell) or _WORKED.search(_text(cell))
    ]
    return made


def stripped(notebook: Notebook) -> Notebook:
    """Return a notebook as it is committed: no outputs, counts or widgets, and of the metadata only tags and the kernel."""
    return {"cells": [_stripped(cell) for cell in notebook["cells"]], "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}


def render(notebook: Notebook) -> str:
    """Return a notebook as the text of its file."""
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def files(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file of `folder` (notebooks/) that comes from a solution, the solution itself first, with its right text."""
    for path in sorted((folder / "solutions").glob("[0-9]*.ipynb")):
        source = stripped(json.loads(path.read_text(encoding="utf-8")))
        yield path, render(source)
        yield folder / path.name, render(learner(source))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is out of date and name it; with --check only name it, and return 1 if there is any."""
    parser = argparse.ArgumentParser(
        prog="python -m ilstma_lab.teaching.build", description="Make the lessons from their solutions."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; end with 1 where something is out of date")
    check = parser.parse_args(arguments).check
    folder = resources.notebooks_dir()
    stale = [(path, text) for path, text in files(folder) if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path, text in stale:
        if not check:
            path.write_text(text, encoding="utf-8")
        print(f"{'out of date' if check else 'written'}: {path.relative_to(folder)}")
    return int(check and bool(stale))


def _for_the_learner(cell: dict[str, Any]) -> dict[str, Any]:
    if SOLUTION in _tags(cell):
        cell["source"] = _WORKED.sub(r"\1# your turn", _text(cell)).splitlines(keepends=True)
        cell["metadata"]["tags"] = [EXERCISE if tag == SOLUTION else tag for tag in _tags(cell)]
    return cell


def _stripped(cell: dict[str, Any]) -> dict[str, Any]:
    tags = _tags(cell)
    kept = {
        "cell_type": cell["cell_type"],
        "id": cell["id"],
        "metadata": {"tags": tags} if tags else {},
        "source": _text(cell).splitlines(keepends=True),
    }
    if cell["cell_type"] == "code":
        kept = {
            "cell_type": "code",
            "execution_count": None,
            "id": cell["id"],
            "metadata": kept["metadata"],
            "outputs": [],
        } | kept
    return kept


def _text(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def _tags(cell: dict[str, Any]) -> list[str]:
    return list(cell["metadata"].get("tags", []))


if __name__ == "__main__":
    sys.exit(main())
