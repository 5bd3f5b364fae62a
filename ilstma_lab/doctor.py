"""What is installed, what works, and the cure for what does not. Nothing that it looks at is changed, and no key is shown."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from ilstma_lab import resources
from ilstma_lab.errors import IlstmaError

State = Literal["ok", "warn", "bad"]

DISTRIBUTION = "ilstma-lab"
MIN_PYTHON = (3, 11)
REINSTALL = f'"{sys.executable}" -m pip install --upgrade {DISTRIBUTION}   (in a checkout: make lab)'
_OTHER_NAMES = {"faiss-cpu": ("faiss", "faiss-gpu")}  # conda-forge's and the GPU build hold the same module
_LAB_EXTENSIONS = {"ipywidgets": "@jupyter-widgets/jupyterlab-manager", "anywidget": "anywidget"}
_FAISS_PROBE = (
    "import numpy, faiss; index = faiss.IndexFlatIP(4); index.add(numpy.eye(4, dtype='float32')); "
    "assert index.search(numpy.eye(4, dtype='float32')[2:3], 1)[1][0, 0] == 2; print(faiss.__version__)"
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: "ok", "warn" (the kit works without it) or "bad", what was seen, and what to do."""

    name: str
    state: State
    detail: str
    cure: str = ""


def diagnose(table_path: str | os.PathLike[str] | None = None, *, endpoint: bool = True) -> list[Finding]:
    """Return what was found: the installation, the models, the widgets, and a table's file where one is given.

    `endpoint=False` leaves the one in OPENAI_BASE_URL alone; without that variable nothing is sent anywhere.
    """
    folder = Path(table_path).expanduser().absolute().parent if table_path is not None else Path.cwd()
    findings = [check_python(), *check_packages(), check_files(), check_embedder(), check_faiss(), *check_widgets()]
    findings += [check_endpoint(reach=endpoint), check_folder(folder)]
    if table_path is not None:
        from ilstma_lab.doctor_file import look_at_file

        findings += look_at_file(table_path).findings
    return findings


def render(findings: Sequence[Finding]) -> str:
    """Return the findings as text, a line each, with the cure under each trouble and a closing line."""
    width = max((len(finding.name) for finding in findings), default=0)
    lines = []
    for finding in findings:
        lines.append(f"{finding.state:<4}  {finding.name:<{width}}  {finding.detail}")
        if finding.cure:
            lines.append(f"{'':<6}{'':<{width}}  -> {finding.cure}")
    counts = {state: sum(finding.state == state for finding in findings) for state in ("ok", "warn", "bad")}
    lines.append(f"{counts['ok']} fine, {counts['warn']} to know about, {counts['bad']} to cure")
    return "\n".join(lines)


def to_json(findings: Sequence[Finding]) -> str:
    """Return the findings as JSON: a list of objects with name, state, detail and cure."""
    return json.dumps([asdict(finding) for finding in findings], indent=1, ensure_ascii=False)


# -- the installation --------------------------------------------------------------------------------------------------


def check_python(version: tuple[int, ...] = tuple(sys.version_info[:3])) -> Finding:
    """Return whether this Python is new enough."""
    shown = ".".join(map(str, version))
    if version >= MIN_PYTHON:
        return Finding("python", "ok", f"{shown} at {sys.executable} on {platform.system()}")
    return Finding("python", "bad", f"{shown} is too old", "Install Python 3.11 or newer, then make lab PYTHON=/path/to/it")


def check_packages() -> Iterator[Finding]:
    """Yield for each package that the kit depends on whether it is there, in the range that the tests passed with."""
    from packaging.requirements import Requirement

    for requirement in map(Requirement, _requirements()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield check_package(requirement.name, str(requirement.specifier))


def check_package(name: str, versions: str) -> Finding:
    """Return whether a package is there in the range `versions` (as pip writes it: ">=2,<3")."""
    from packaging.specifiers import SpecifierSet

    found = next(filter(None, map(_version, (name, *_OTHER_NAMES.get(name, ())))), None)
    wanted = f'"{sys.executable}" -m pip install "{name}{versions}"'
    if found is None:
        return Finding(name, "bad", f"is not installed (wanted: {versions})", wanted)
    if not SpecifierSet(versions).contains(found, prereleases=True):
        return Finding(name, "warn", f"{found} is outside {versions}, which the tests passed with", wanted)
    return Finding(name, "ok", found)


def check_files() -> Finding:
    """Return whether lessons and data came with the installation."""
    try:
        lessons, topics = resources.notebooks_dir(), resources.topics()
    except IlstmaError as error:
        return Finding("lessons and data", "bad", str(error), REINSTALL)
    count = len(list(lessons.glob("*.ipynb")))
    detail = f"{count} lessons in {lessons}, topics: {', '.join(topics) or 'none'}"
    return (
        Finding("lessons and data", "ok", detail) if count and topics else Finding("lessons and data", "warn", detail, REINSTALL)
    )


def check_folder(folder: Path) -> Finding:
    """Return whether files can be made in `folder`, where a table or the lessons would go."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return Finding("folder", "ok", f"{folder} can be written to")
    except OSError as error:
        cure = "Choose a folder that exists and that you may write to, or free some space."
        return Finding("folder", "bad", f"{folder} cannot be written to: {error.strerror or error}", cure)


# -- models and widgets ------------------------------------------------------------------------------------------------


def check_embedder() -> Finding:
    """Return whether the default embedder loads and embeds."""
    try:
        from ilstma_lab.models import default_embedder

        embedder = default_embedder()
        shape = embedder.embed(["hello", "你好"], "row").shape
    except Exception as error:  # whatever ails a package from outside
        return Finding("embedder", "bad", f"the default embedder does not work: {_say(error)}", REINSTALL)
    if shape != (2, embedder.dim):
        return Finding(
            "embedder", "bad", f"{embedder.name} gave shape {shape} for 2 texts of {embedder.dim} dimensions", REINSTALL
        )
    return Finding("embedder", "ok", f"{embedder.name}, {embedder.dim} dimensions, offline")


def check_faiss(python: str = sys.executable, *, seconds: float = 60) -> Finding:
    """Return whether faiss works, tried in a child process: a broken build may end the process that imports it."""
    try:
        done = subprocess.run([python, "-c", _FAISS_PROBE], capture_output=True, text=True, timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        detail = _say(error)
    else:
        if done.returncode == 0:
            return Finding("faiss", "ok", f"{done.stdout.strip()} imports and searches")
        last = (done.stderr.strip().splitlines() or [f"it ended its process with code {done.returncode}"])[-1]
        detail = last[:200]
    return Finding(
        "faiss", "warn", f"does not work here ({detail}); numpy searches in its place, with the same results", REINSTALL
    )


def check_widgets() -> Iterator[Finding]:
    """Yield whether the widgets' Python side can be imported and JupyterLab finds their browser side."""
    try:
        from jupyter_core.paths import jupyter_path
    except ImportError:
        yield Finding("widgets", "bad", "Jupyter is not installed", REINSTALL)
        return
    for package, extension in _LAB_EXTENSIONS.items():
        name = f"{package} in JupyterLab"
        if importlib.util.find_spec(package) is None:
            yield Finding(name, "bad", f"the package {package} cannot be imported, so widgets cannot be shown", REINSTALL)
        elif not any((Path(folder) / extension / "package.json").is_file() for folder in jupyter_path("labextensions")):
            cure = f'"{sys.executable}" -m pip install --force-reinstall {package}, then reload the page'
            yield Finding(name, "bad", f"JupyterLab does not find the extension {extension}: widgets show as text", cure)
        else:
            yield Finding(name, "ok", f"extension {extension} found")


def check_endpoint(*, reach: bool = True, seconds: float = 5) -> Finding:
    """Return whether the endpoint in OPENAI_BASE_URL answers and takes OPENAI_API_KEY; its models are listed, no more."""
    url, key = os.environ.get("OPENAI_BASE_URL", "").strip(), os.environ.get("OPENAI_API_KEY", "")
    if not url:
        return Finding("endpoint", "ok", "none is set (OPENAI_BASE_URL): the offline parts answer, and nothing is sent anywhere")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or parts.scheme not in ("http", "https"):
        cure = "Set it to one like http://127.0.0.1:8080/v1 or https://HOST/v1"
        return Finding("endpoint", "bad", "OPENAI_BASE_URL is not an address", cure)
    shown = f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"  # a name and password in the address stay out
    if not key:
        cure = "export OPENAI_API_KEY=...; a server on your own machine takes any word"
        return Finding("endpoint", "bad", f"{shown}, but OPENAI_API_KEY is not set", cure)
    if not reach:
        return Finding("endpoint", "ok", f"{shown}, key set (not shown); not contacted")
    return _reach(shown, url, key, seconds)


def _reach(shown: str, url: str, key: str, seconds: float) -> Finding:
    import openai

    try:
        with openai.OpenAI(base_url=url, api_key=key, timeout=seconds, max_retries=0) as client:
            count = len(client.models.list().data)
        return Finding("endpoint", "ok", f"{shown} answers, key accepted, models: {count}")
    except (openai.AuthenticationError, openai.PermissionDeniedError) as error:
        cure = "Set OPENAI_API_KEY to a key of this endpoint."
        return Finding("endpoint", "bad", f"{shown} refuses the key (HTTP {error.status_code})", cure)
    except openai.APIStatusError as error:
        cure = "Some servers list no models and work all the same; if chats fail, check the address: it often ends in /v1."
        return Finding("endpoint", "warn", f"{shown} answers HTTP {error.status_code} when asked for its models", cure)
    except openai.APIConnectionError as error:
        why = "in time" if isinstance(error, openai.APITimeoutError) else "at all"
        cure = (
            "Start the server, or check OPENAI_BASE_URL, the network and a proxy. Without the variable the offline parts answer."
        )
        return Finding("endpoint", "bad", f"{shown} does not answer {why}", cure)
    except Exception as error:  # a reply that is no list of models: its text may repeat the key, so only the kind is shown
        cure = "Check that OPENAI_BASE_URL is an OpenAI-compatible endpoint; it often ends in /v1."
        return Finding(
            "endpoint", "warn", f"{shown} answers, but not as an OpenAI-compatible endpoint ({type(error).__name__})", cure
        )


# -- small helpers -----------------------------------------------------------------------------------------------------


def _requirements() -> list[str]:
    """Return the declared requirements: of the installed kit, or of the checkout it runs from without being installed."""
    try:
        return importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        import tomllib

        checkout = resources.checkout_dir()
        if checkout is None:
            return []
        return tomllib.loads((checkout / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _say(error: BaseException) -> str:
    """Return an error in one line: its kind always, for some have no message."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}".rstrip(": ")[:300]
