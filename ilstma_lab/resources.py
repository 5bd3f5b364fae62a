"""Where lessons and data are: inside the package when it was installed from a wheel, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

from ilstma_lab.errors import InputError

_PACKAGE = Path(__file__).parent
_TOPICS = "ilstma5"


def checkout_dir() -> Path | None:
    """Return the folder of the checkout that the package runs from; None when it was installed from a wheel."""
    folder = _PACKAGE.parent
    return folder if (folder / "pyproject.toml").is_file() and (folder / "notebooks").is_dir() else None


def data_dir() -> Path:
    """Return the folder of the bundled data. Raises InputError where the installation lacks it."""
    return _bundled("data")


def notebooks_dir() -> Path:
    """Return the folder of the bundled lessons (not to work in: see `lessons.working_copy`). Raises InputError."""
    return _bundled("notebooks")


def topics() -> tuple[str, ...]:
    """Return the names of the bundled conversations, in alphabetical order."""
    return tuple(sorted(path.parent.name for path in (data_dir() / _TOPICS).glob("*/dialogues.jsonl")))


def topic_dir(topic: str) -> Path:
    """Return the folder of one bundled conversation: dialogues.jsonl and its questions. Raises InputError for an unknown name."""
    known = topics()
    if topic not in known:
        raise InputError(f"no bundled topic {topic!r}; there are: {', '.join(known) or 'none'}")
    return data_dir() / _TOPICS / topic


def cassettes_dir() -> Path:
    """Return the folder of the bundled recordings, what a real model replied and how long it took. Raises InputError."""
    return data_dir() / "cassettes"


def _bundled(name: str) -> Path:
    for folder in (_PACKAGE / f"_{name}", _PACKAGE.parent / name):
        if folder.is_dir():
            return folder
    raise InputError(
        f"the kit's {name} are not where they should be ({_PACKAGE / f'_{name}'}, or {name}/ beside the package). "
        "Install it again: pip install --force-reinstall ilstma-lab, or make lab in a checkout."
    )
